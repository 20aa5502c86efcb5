"""Rows compared with columns, number by number."""

import numpy as np
import pytest

from compiled import plain
from soids.kernels.transposed import is_transposed

either = pytest.mark.parametrize("compare", [is_transposed, plain(is_transposed)])


@either
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 16), (2, 35)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_number_makes_the_difference_wherever_it_is(compare, shape, dtype):
    rows = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    columns = np.ascontiguousarray(rows.T, dtype=np.float64)
    assert compare(rows, columns)
    for where in np.ndindex(shape):
        changed = rows.copy()
        changed[where] = np.nextafter(changed[where], dtype(np.inf))
        assert not compare(changed, columns)


@either
def test_nan_is_like_nothing(compare):
    rows = np.array([[np.nan]])
    assert not compare(rows, rows)
