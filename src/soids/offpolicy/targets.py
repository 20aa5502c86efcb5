"""The policies that can be evaluated: the logging policy, simple ones, one whose probabilities are
in the log, and policies of ours, which first learn from a part of the log.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.logs import Entry
from soids.policies.policy import Policy

Rounds = Iterable[tuple[Entry, float]]
Target = Callable[[Entry], Floats | float]  # probabilities (K,), or only that of the chosen action
REMEMBERED = 64  # action sets whose laws are kept


class Candidate(NamedTuple):
    """A policy to evaluate, and how it comes to its probabilities."""

    label: str
    prepare: Callable[[Rounds], Target]  # given the training rounds
    learns: bool = False

    @property
    def policy(self) -> Policy | None:
        """The policy that learned for the last evaluation, if there is one; it may go on."""
        return getattr(self.prepare, "policy", None)


def logged(entry: Entry) -> Floats | float:
    """The policy that made the log."""
    return entry.propensity if entry.probabilities is None else entry.probabilities


def uniform(entry: Entry) -> Floats:
    """Every action on offer with the same probability."""
    count = offered(entry)
    return np.full(count, 1.0 / count)


def recorded(entry: Entry) -> Floats | float:
    """The policy whose probabilities are in the log, as its target."""
    if entry.target is None:
        raise ValueError(
            "target must be there to be evaluated: a field of that name, or the one that is named "
            "as such, holds its probabilities"
        )
    return entry.target


def offered(entry: Entry) -> int:
    """The number of actions on offer, which must be known."""
    if entry.offered is None:
        raise ValueError("the number of actions must be in the log for this, it is not")
    return entry.offered


def best_constant(rounds: Rounds) -> Target:
    """Always the same index: the one with the best mean reward in the training rounds, by SNIPS."""
    pay, weight = dict[int, float](), dict[int, float]()
    for entry, reward in rounds:
        pay[entry.chosen] = pay.get(entry.chosen, 0.0) + reward / entry.propensity
        weight[entry.chosen] = weight.get(entry.chosen, 0.0) + 1.0 / entry.propensity
    best = max(pay, key=lambda index: pay[index] / weight[index])

    def always(entry: Entry) -> Floats:
        count = offered(entry)
        if best >= count:
            raise ValueError(f"action {best} was best before, {count} are on offer here")
        masses: Floats = np.eye(1, count, best)[0]
        return masses

    return always


NAMED: dict[str, Candidate] = {
    "logged": Candidate("logged", lambda rounds: logged),
    "uniform": Candidate("uniform", lambda rounds: uniform),
    "target": Candidate("target", lambda rounds: recorded),
    "best-constant": Candidate("best-constant", best_constant, learns=True),
}


def learned(label: str, make: Callable[[int], Any], rng: np.random.Generator) -> Candidate:
    """A policy, made for a dimension, that learns from a part of the log and then stays so.

    After an evaluation ``policy`` of the candidate is the policy that was valued.
    """
    return Candidate(label, Learner(make, rng), learns=True)


class Learner:
    """Makes a policy, lets it learn, and keeps it."""

    def __init__(self, make: Callable[[int], Any], rng: np.random.Generator) -> None:
        self.make, self.rng = make, rng
        self.policy: Policy | None = None

    def __call__(self, rounds: Rounds) -> Target:
        self.policy = trained(rounds, self.make)
        self.policy.refresh(self.rng)
        return Fixed(self.policy)


def trained(rounds: Rounds, make: Callable[[int], Any]) -> Policy:
    """A policy that has learned from choices that it did not make."""
    waiting = iter(rounds)
    first = next(waiting, None)
    if first is None:
        raise ValueError("there must be rounds to learn from: raise the share to train on")
    policy = make(first[0].features.shape[1])
    if not isinstance(policy, Policy):
        raise ValueError(
            f"{type(policy).__name__} cannot learn from choices that it did not make, as "
            "it is not a policy of soids: evaluate it by rejection (--mode rejection)"
        )
    try:
        policy.learn_from(entry for entry, _ in chain([first], waiting))
    except ValueError as error:
        if policy.rule.learns_from_others:
            raise
        raise ValueError(f"{error}: evaluate it by rejection (--mode rejection)") from None
    return policy


class Fixed:
    """A policy as it was after its last reward: the law of its next choice, for any action set."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.known: dict[int, tuple[Floats, Floats]] = {}  # action sets and laws, by identity

    def __call__(self, entry: Entry) -> Floats:  # (K,)
        actions = entry.features
        if id(actions) not in self.known:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            self.known[id(actions)] = actions, self.policy.law(actions)
        return self.known[id(actions)][1]
