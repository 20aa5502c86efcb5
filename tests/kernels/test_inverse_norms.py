"""Lengths one by one, against the inverse of the precision."""

import numpy as np
import pytest

from compiled import plain
from soids.kernels.inverse_norms import lengths_of


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kernel", [lengths_of, plain(lengths_of)])
def test_lengths_are_norms_in_the_inverse_of_the_precision(kernel, order):
    rng = np.random.default_rng(0)
    factor = np.asarray(np.tril(rng.standard_normal((5, 5))) + 4.0 * np.eye(5), order=order)
    actions = np.asarray(rng.standard_normal((7, 5)), order=order)
    inverse = np.linalg.inv(factor @ factor.T)
    chosen = np.array([6, 0, 3])
    expected = [np.sqrt(actions[k] @ inverse @ actions[k]) for k in chosen]
    assert kernel(chosen, actions, factor) == pytest.approx(expected)


def test_company_changes_no_bit():
    rng = np.random.default_rng(1)
    factor = np.tril(rng.standard_normal((9, 9))) + 5.0 * np.eye(9)
    actions = rng.standard_normal((40, 9))
    together = lengths_of(np.arange(40), actions, factor)
    alone = [lengths_of(np.array([k]), actions, factor)[0] for k in range(40)]
    assert together.tolist() == alone
