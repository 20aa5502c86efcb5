"""Tables of a diagnosis: rows are there if they say something."""

import numpy as np
import pytest

from soids import SOIDS, LinTS, SparseLinearBandit, Uniform, paper_instance
from soids.output.diagnosis_tables import bars, of_features, of_rounds, series
from soids.simulation.diagnosis import diagnose


def test_rows_without_content_are_left_out():
    bandit = paper_instance(10, seed=0)
    dense = series(diagnose(bandit, LinTS(10), 5, seed=0))
    assert not {"learning rate", "term of the learning rate", "distinct supports"} & set(dense)
    silent = diagnose(bandit, Uniform(10), 5, seed=0)
    assert list(series(silent)) == ["regret so far", "probability of the choice"]
    assert len(of_rounds(silent, "title").rows) == 2


@pytest.mark.parametrize("gain", ["full", "shannon"])
def test_the_gain_of_the_policy_has_a_row_if_it_is_another_one(gain):
    rows = series(diagnose(paper_instance(10, seed=0), SOIDS(10, gain=gain), 5, seed=0))
    assert ("information gain, the policy's" in rows) == (gain == "shannon")


def test_the_features_that_matter_come_first_and_not_all_of_many():
    bandit = SparseLinearBandit(np.eye(12), np.ones(12), 0.5)
    seen = diagnose(bandit, SOIDS(12), 5, seed=0)
    rows = of_features(seen, seen.beliefs).rows
    assert [row[0] for row in rows[:10]] == list(range(10))
    assert rows[10][1] == "and 2 more that matter"


def test_bars_rise_with_the_probability_and_are_no_wider_than_the_screen():
    assert bars(np.linspace(0.0, 1.0, 8)) == "▁▂▃▄▅▆▇█"
    assert len(bars(np.zeros(1001))) == 40
