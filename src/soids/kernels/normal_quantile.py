"""Quantiles of the normal distribution: Wichura's algorithm AS 241 (1988), good to rounding.

In each of three regions it is a quotient of two polynomials.
"""

import math

import numpy as np

from soids.kernels.compiler import njit

COEFFICIENTS = np.array([
    # centre
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
    13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
    5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
    # middle
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684,
    3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
    1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008,
    0.6897673349851, 1.6763848301838038, 2.053191626637759, 1.0,
    # end
    2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124,
    0.29656057182850487, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
    2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133,
    0.014875361290850615, 0.1369298809227358, 0.599832206555888, 1.0,
]).reshape(3, 2, 8)  # fmt: skip


@njit(cache=True)
def quotient(region, x):
    """The quotient of the two polynomials of a region."""
    top, base = 0.0, 0.0
    for i in range(COEFFICIENTS.shape[2]):
        top = top * x + COEFFICIENTS[region, 0, i]
        base = base * x + COEFFICIENTS[region, 1, i]
    return top / base


@njit(cache=True)
def normal_quantile(share):
    """The point below which a standard normal has the given share of its mass, ``0 < share < 1``.

    >>> round(float(normal_quantile(0.975)), 6)
    1.959964
    """
    off = share - 0.5
    if abs(off) <= 0.425:
        return off * quotient(0, 0.180625 - off * off)
    depth = math.sqrt(-math.log(share if off < 0.0 else 1.0 - share))
    point = quotient(1, depth - 1.6) if depth <= 5.0 else quotient(2, depth - 5.0)
    return -point if off < 0.0 else point
