"""One policy against one bandit: the loop, and what it leaves behind."""

import math
import operator
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from soids.arrays import LARGEST, Floats, Ints, as_count
from soids.bandits.bandit import Bandit, check_world
from soids.policies.decision import NEAR_ONE, SILENT, Decision, Information
from soids.policies.policy import Family
from soids.records import check_arrays, check_kinds, check_numbers
from soids.simulation.feedback import PROMPT, Feedback


class Chooser(Protocol):
    """A policy: one of ours, or one that chooses a bare index and gets it back with its reward."""

    def choose(self, actions: Floats, rng: np.random.Generator) -> Any: ...

    def observe(self, decision: Any, reward: object) -> None: ...


class Trace(NamedTuple):
    """What happened, round by round, (T,) each."""

    chosen: Ints  # index of the action
    reward: Floats
    regret: Floats  # true, of the action played
    probability: Floats
    ratio: Floats  # information ratio of the policy played
    rate: Floats  # its learning rate

    def validate(self) -> None:
        """Refuse a trace from a file that no play leaves; NaN is what a policy does not say."""
        check_kinds(Trace, self._asdict())
        check_arrays(self, chosen="T", reward="T", regret="T")
        said = self._replace(**{name: np.nan_to_num(getattr(self, name)) for name in self._fields})
        check_arrays(
            said, {"T": len(self.chosen)}, "ratio rate", probability="T", ratio="T", rate="T"
        )
        check_numbers(self, "chosen", 0)
        check_numbers(self, "reward", -LARGEST, LARGEST)
        if not np.abs(self.regret).sum() <= LARGEST:
            raise ValueError(f"regret must add up to at most {LARGEST:g}")
        check_numbers(said, "probability", 0.0, 1.0 + NEAR_ONE)


def play(
    bandit: Bandit, policy: Chooser, horizon: int, seed: int,
    on_round: Callable[[int, float], None] | None = None, *, feedback: Feedback = PROMPT,
) -> Trace:  # fmt: skip
    """Let the policy act for the horizon; ``on_round`` gets each round and its regret.

    Actions, noise and delays of round t depend on the seed only, not on what the policy does, so
    that policies are compared on the same random numbers. The policy has a stream of its own.

    >>> from soids import SOIDS, paper_instance
    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> trace = play(bandit, SOIDS(dimension=20, sparsity=2, radius=10.0), horizon=30, seed=0)
    >>> trace.regret.shape
    (30,)
    """
    check_world(bandit)
    check_verbs(policy)
    if not isinstance(feedback, Feedback):
        raise ValueError(f"feedback must be a Feedback, as Feedback(batch=5), got {feedback!r}")
    horizon = as_count(horizon, "horizon")
    streams = np.random.SeedSequence(as_count(seed, "seed", 0)).spawn(3)
    world, mind, post = (np.random.default_rng(stream) for stream in streams)
    handed_over = feedback.handed_over(horizon, post)
    due = defaultdict[int, list[tuple[Decision, float]]](list)
    chosen = np.empty(horizon, dtype=np.int64)
    facts = np.empty((5, horizon))
    for t, offer in zip(range(horizon), bandit.rounds(horizon, world), strict=True):
        decision = policy.choose(offer.actions, mind)
        index, probability, info = read_decision(decision, len(offer.actions))
        reward, regret = offer.reward(index), offer.regret(index)
        if 0 < handed_over[t] <= horizon:
            due[int(handed_over[t])].append((decision, reward))
        for known in due.pop(t + 1, ()):
            policy.observe(*known)
        chosen[t] = index
        facts[:, t] = reward, regret, probability, info.ratio, info.rate
        if on_round is not None:
            on_round(t, regret)
    return Trace(chosen, *facts)


def check_verbs(policy: object) -> None:
    """Refuse what cannot choose and observe."""
    if isinstance(policy, type | Family):
        raise ValueError(f"policy must be an object such as SOIDS(dimension=20), got {policy!r}")
    for verb in ("choose", "observe"):
        if not callable(getattr(policy, verb, None)):
            kind = type(policy).__name__
            raise ValueError(f"policy must be an object with {verb}, {kind} has no such method")


def read_decision(decision: object, actions: int) -> tuple[int, float, Information]:
    """The index, its probability and the information of a decision; a bare index has no more."""
    if isinstance(decision, Decision):
        return decision.index, decision.probability, decision.info
    try:
        index = operator.index(decision)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"choose must return a Decision or an index, got {decision!r}") from None
    if not 0 <= index < actions:
        raise ValueError(f"choose must return an index in 0..{actions - 1}, got {index}")
    return index, math.nan, SILENT
