"""Where the relaxed posterior must warn: it may be improper, or have a runaway mode."""

import warnings

import numpy as np
import pytest

from soids.evidence import Evidence, Menu
from soids.posteriors import Relaxed, Tuning

STEEP = 2.0  # optimism that outgrows the spike after a few rounds


def rewarded(actions, rounds):
    """Rewards of the first feature, for actions played in turn."""
    menu, evidence = Menu(np.array(actions, dtype=float)), Evidence.empty(2)
    for t in range(rounds):
        action = menu.actions[t % len(menu.actions)]
        evidence = evidence.add(menu, action, float(action[0]))
    return evidence


SEEN = rewarded([[1, 0], [0, 1], [-1, 1]], rounds=60)
UNSEEN = rewarded([[1, 1], [-1, -1]], rounds=60)


@pytest.mark.parametrize(("noise", "evidence"), [(1.0, UNSEEN), (None, UNSEEN), (None, SEEN)])
def test_a_rate_that_outgrows_the_spike_is_lowered(noise, evidence):
    posterior, rng = Relaxed(2, noise=noise), np.random.default_rng(0)
    with pytest.warns(RuntimeWarning, match="rate lowered"):
        system = posterior.update(None, evidence, Tuning(1.0, STEEP, 50, 1), rng)
    assert system.target.rate < STEEP
    assert np.abs(system.thetas).max() < 1e6


def test_a_rate_that_known_noise_holds_back_is_kept():
    posterior, rng = Relaxed(2, noise=1.0), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system = posterior.update(None, SEEN, Tuning(1.0, STEEP, 50, 1), rng)
    assert system.target.rate == STEEP


def test_a_runaway_mode_is_announced():
    evidence = rewarded([[1, 0], [0, 1]], rounds=2)
    with pytest.warns(RuntimeWarning, match="runaway mode"):
        Relaxed(2, noise=1.0).warn_of_runaway(evidence, rate=1.0)
