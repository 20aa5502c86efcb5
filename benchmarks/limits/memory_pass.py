"""One pass over data: what no kernel that must touch them can be faster than."""

from numba import njit

from soids.arrays import Floats


@njit(cache=True, fastmath={"reassoc", "nsz"})  # in any order, so that several are added at once
def read_and_write(read: Floats, written: Floats) -> float:
    """Sum the numbers of one array (n,), and make zeros of those of the other (m,)."""
    total = 0.0
    for i in range(read.size):
        total += read[i]
    for i in range(written.size):
        written[i] = 0.0
    return total
