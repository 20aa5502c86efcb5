"""Comparison of actions given row by row with actions stored feature by feature."""

from soids.kernels.compiler import njit


@njit(cache=True, nogil=True)
def is_transposed(rows, columns):
    """Whether ``rows`` (K, d) are the transpose of ``columns`` (d, K); NaN equals nothing."""
    for j in range(rows.shape[1]):
        column, different = columns[j], 0  # to count needs no branch, and is faster
        for k in range(rows.shape[0]):
            different += rows[k, j] != column[k]
        if different > 0:
            return False
    return True
