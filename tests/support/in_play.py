"""Every policy in the middle of a run, and all that can be seen of its next rounds."""

from functools import partial

import numpy as np
import pytest

from members import make, members

# Few data make the relaxed posterior and PopArt warn, by design; here they are among others.
few_data = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning", "ignore:.*coefficient:RuntimeWarning"
)
every_policy = pytest.mark.parametrize("family", members())
# How an action is drawn from a law has nothing to do with the posterior behind it.
every_way_to_act = pytest.mark.parametrize(
    "family", [one for one in members() if one.values[0].args[1] in (None, "subset")]
)

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (10, 4))
GIVEN = {"sparsity": 1, "radius": 2.0, "noise": 0.5, "exploration": 26}
LATE = 28  # rounds: explorations are over
early_and_late = pytest.mark.parametrize("rounds", [3, LATE])
soids, thompson = partial(make, "soids", None), partial(make, "thompson", None)


def reward_of(decision):
    return float(2.0 * decision.action[1] + 0.5 * np.sin(decision.round))


def play_on(policy, rng, rounds=3, **options):
    """All that can be seen of some more rounds."""
    seen = []
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng, **options)
        seen.append((repr(decision), decision.probabilities.tobytes()))
        policy.observe(decision, reward_of(decision))
    return seen


def in_play(family, rounds=LATE):
    """A policy that has not thought of its last reward yet, and the generator it plays with."""
    policy, rng = family(4, **GIVEN), np.random.default_rng(1)
    play_on(policy, rng, rounds)
    return policy, rng


def refreshed(family, rounds=LATE):
    """A policy that has thought of all rewards."""
    policy, rng = in_play(family, rounds)
    policy.refresh(rng)
    return policy, rng


def drawn_by(policy, uniforms, **options):
    """The indices that these uniform numbers decide on, each from the same state."""
    state, indices = policy.state, []
    for uniform in uniforms:
        policy.state = state
        indices.append(policy.decide(ACTIONS, float(uniform), **options).index)
    policy.state = state
    return np.array(indices)
