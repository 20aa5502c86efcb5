"""Quantiles of the normal distribution, against mpmath."""

import mpmath
import numpy as np
import pytest

from soids.kernels.normal_quantile import normal_quantile


@pytest.mark.parametrize("share", [1e-300, 1e-30, 1e-11, 0.01, 0.0749, 0.0751, 0.3, 0.5, 0.75, 0.9])
def test_quantiles_are_exact_to_rounding_on_both_sides(share):
    with mpmath.workdps(340):
        exact = -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(share))
    assert normal_quantile(share) == pytest.approx(float(exact), rel=2e-15, abs=1e-17)


def test_quantiles_are_odd_and_grow():
    shares = np.linspace(0.001, 0.999, 999)
    points = np.array([normal_quantile(share) for share in shares])
    assert (np.diff(points) > 0.0).all()
    np.testing.assert_allclose(points, -points[::-1], rtol=1e-12, atol=1e-14)
