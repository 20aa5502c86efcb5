"""Comparing actions given row by row with those kept feature by feature."""

from numba import njit


@njit(cache=True, nogil=True)
def is_transposed(rows, columns):
    """Whether ``rows`` (K, d) are the transpose of ``columns`` (d, K); NaN is like nothing.

    Counting the differences of a feature is faster than asking after each: it needs no branch.
    """
    count, dimension = rows.shape
    for j in range(dimension):
        column = columns[j]
        different = 0
        for k in range(count):
            different += rows[k, j] != column[k]
        if different > 0:
            return False
    return True
