"""Power laws of time and memory along an axis, fitted by least squares on the logarithms."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.growth.measure import Point
from benchmarks.growth.sizes import AXES
from soids.arrays import Floats

QUANTITIES = ("milliseconds", "megabytes")  # fields of Point


class Fit(NamedTuple):
    """A power law along an axis: quantity = scale * size**exponent."""

    axis: str
    quantity: str
    beyond: int
    points: int
    exponent: float
    error: float  # standard error of the exponent
    scale: float

    def in_words(self) -> str:
        """The exponent and, from three points on, its standard error.

        >>> Fit("rewards", "milliseconds", 100, 7, -0.001, 0.02, 1.0).in_words()
        '0.00 ± 0.02'
        >>> Fit("rewards", "milliseconds", 100, 7, -0.02, 0.01, 1.0).in_words()
        '−0.02 ± 0.01'
        """
        error = "" if math.isnan(self.error) else f" ± {self.error:.2f}"
        return f"{self.exponent:z.2f}{error}".replace("-", "−")


def fits(points: Iterable[Point]) -> Iterator[Fit]:
    """The power laws along each axis that has two points or more above ``beyond``."""
    found = list(points)
    for axis in dict.fromkeys(point.axis for point in found):
        upper = [one for one in found if one.axis == axis and one.size > AXES[axis].beyond]
        for quantity in QUANTITIES:
            values = np.array([getattr(one, quantity) for one in upper], dtype=np.float64)
            if len(upper) > 1 and (values > 0.0).all():
                sizes = np.array([one.size for one in upper], dtype=np.float64)
                law = power_law(sizes, values)
                yield Fit(axis, quantity, AXES[axis].beyond, len(upper), *law)


def power_law(sizes: Floats, values: Floats) -> tuple[float, float, float]:
    """Exponent, its standard error and scale.

    >>> exponent, error, scale = power_law(np.array([1.0, 10.0, 100.0]), np.array([2.0, 6.0, 20.0]))
    >>> round(exponent, 3), round(error, 3), round(scale, 3)
    (0.5, 0.013, 1.965)
    """
    x, y = np.log(sizes), np.log(values)
    off = x - x.mean()
    exponent = float(off @ y / (off @ off))
    height = float(y.mean() - exponent * x.mean())
    left = y - height - exponent * x
    spare = len(x) - 2
    error = math.sqrt(float(left @ left) / spare / float(off @ off)) if spare else math.nan
    return exponent, error, math.exp(height)
