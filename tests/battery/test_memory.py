"""Memory does not grow with the rounds, except by the rewards that are waited for."""

import tracemalloc

import numpy as np
import pytest

from soids import SOIDS, LinUCB, Uniform

SETTLED = 10_000  # rounds after which memory must be flat
SLACK = 400_000  # bytes: Python keeps up to 2000 freed tuples of each length for later use
A_DECISION = 1000  # bytes that a pending decision may take


def grown(policy, rounds, settled, forgets):
    """Bytes that are held at the end beyond those held after ``settled`` rounds.

    Action sets change, and every fifth reward is lost.
    """
    rng, dimension = np.random.default_rng(0), policy.dimension
    sets = [rng.uniform(-1, 1, (3, dimension)) for _ in range(200)]
    tracemalloc.start()
    try:
        for turn in range(rounds):
            if turn == settled:
                before = tracemalloc.get_traced_memory()[0]
            fresh = turn % 2 == 0
            actions = rng.uniform(-1, 1, (3, dimension)) if fresh else sets[turn % 200]
            decision = policy.choose(actions, rng)
            if turn % 5:
                policy.observe(decision, float(decision.action[0] + rng.standard_normal()))
            elif forgets:
                policy.forget(decision)
        del decision, actions
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("policy", "least", "most"),
    [
        (Uniform(2), 3000, 1_000_000),
        (LinUCB(2, norm=1.0), 3000, 1_000_000),
        (SOIDS(2, particles=10, sets=5), 1200, 50_000),
    ],
    ids=["uniform", "linucb", "soids"],
)
def test_memory_is_flat_if_lost_rewards_are_forgotten(policy, least, most, cases):
    rounds = cases(sample=least, whole=most)
    assert grown(policy, rounds, min(SETTLED, rounds // 2), forgets=True) < SLACK


def test_decisions_that_are_never_forgotten_take_a_bounded_part_of_memory_each():
    policy = Uniform(2)
    bytes_grown = grown(policy, 1000, 500, forgets=False)
    assert len(policy.pending) == 200
    assert 100 * 100 < bytes_grown < A_DECISION * 100
    policy.forget(policy.pending)
    assert not policy.pending
