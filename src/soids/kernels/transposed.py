"""Comparing actions given row by row with those kept feature by feature."""

from numba import njit

TILE = 16  # features at a time: the lines of memory that their columns lie in stay at hand


@njit(cache=True, nogil=True)
def is_transposed(rows, columns):
    """Whether ``rows`` (K, d) are the transpose of ``columns`` (d, K); NaN is like nothing."""
    count, dimension = rows.shape
    for first in range(0, dimension, TILE):
        last = min(first + TILE, dimension)
        different = 0
        for k in range(count):
            for j in range(first, last):
                different += rows[k, j] != columns[j, k]
        if different > 0:
            return False
    return True
