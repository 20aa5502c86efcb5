"""Whom to evaluate: the logging policy, simple ones, one that the log has the numbers of, or a
policy of ours that first learns from a part of the log and then stays as it is.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_count
from soids.logs import Entry
from soids.policies.committing import ESTC, PopArt
from soids.policies.elimination import PopArtElimination
from soids.policies.greedy_lasso import Estimate
from soids.policies.ledger import KeptPolicy, Ledger
from soids.policies.otcs import Converted
from soids.policies.per_arm import LassoBandit
from soids.policies.policy import Decision
from soids.policies.posterior import Memory

Rounds = Iterable[tuple[Entry, float]]
Target = Callable[[Entry], Floats | float]  # masses (K,), or only that of what was chosen
SCHEDULED = (ESTC, PopArt, PopArtElimination, LassoBandit)  # heed what they planned to try
FORMED = (Memory, Estimate, Converted)  # memories of policies that think when asked to choose
REMEMBERED = 64  # sets of actions whose masses are kept


class Candidate(NamedTuple):
    """Someone to evaluate: how it is called, and how its choices come about."""

    label: str
    prepare: Callable[[Rounds], Target]  # from the rounds to learn from
    learns: bool = False


def logged(entry: Entry) -> Floats | float:
    """The policy that made the log."""
    return entry.propensity if entry.probabilities is None else entry.probabilities


def uniform(entry: Entry) -> Floats:
    """Every action on offer with the same probability."""
    count = offered(entry)
    return np.full(count, 1.0 / count)


def told(entry: Entry) -> Floats | float:
    """The policy whose probabilities the log has as its target."""
    if entry.target is None:
        raise ValueError(
            "target must be there to be evaluated: a field of that name, or the one that is named "
            "as such, holds its probabilities"
        )
    return entry.target


def offered(entry: Entry) -> int:
    """How many actions were on offer, which must be known."""
    if entry.offered is None:
        raise ValueError("the number of actions must be in the log for this, it is not")
    return entry.offered


def best_constant(rounds: Rounds) -> Target:
    """Always the same place in the list: the one that paid best, by SNIPS, where it was learned."""
    pay, weight = dict[int, float](), dict[int, float]()
    for entry, reward in rounds:
        pay[entry.chosen] = pay.get(entry.chosen, 0.0) + reward / entry.propensity
        weight[entry.chosen] = weight.get(entry.chosen, 0.0) + 1.0 / entry.propensity
    best = max(pay, key=lambda index: pay[index] / weight[index])

    def always(entry: Entry) -> Floats:
        count = offered(entry)
        if best >= count:
            raise ValueError(f"action {best} was best before, {count} are on offer here")
        masses = np.zeros(count)
        masses[best] = 1.0
        return masses

    return always


NAMED: dict[str, Candidate] = {
    "logged": Candidate("logged", lambda rounds: logged),
    "uniform": Candidate("uniform", lambda rounds: uniform),
    "target": Candidate("target", lambda rounds: told),
    "best-constant": Candidate("best-constant", best_constant, learns=True),
}


def learned(
    label: str, make: Callable[[int], Any], rng: np.random.Generator, draws: int = 100
) -> Candidate:
    """A policy, made for a dimension, that learns from a part of the log and then stays so."""
    as_count(draws, "draws")

    def prepare(rounds: Rounds) -> "Fixed":
        return Fixed(instructed(rounds, make, rng), rng, draws)

    return Candidate(label, prepare, learns=True)


def instructed(rounds: Rounds, make: Callable[[int], Any], rng: np.random.Generator) -> KeptPolicy:
    """A policy that has learned from choices that it did not make."""
    policy: Any = None
    for entry, reward in rounds:
        actions = entry.features
        if policy is None:
            policy = make(actions.shape[1])
            check_teachable(policy)
        menu = policy.ledger.offer(actions, rng)
        decision = policy.ledger.enter(menu, entry.chosen, entry.propensity)
        policy.observe(decision, reward)
    if policy is None:
        raise ValueError("there must be rounds to learn from: raise the share to train on")
    kept: KeptPolicy = policy
    return kept


def check_teachable(policy: object) -> None:
    """Refuse a policy that cannot learn from choices of others."""
    if not isinstance(getattr(policy, "ledger", None), Ledger):
        why = "it keeps no ledger of ours"
    elif isinstance(policy, SCHEDULED):
        why = "it tries actions by a plan of its own"
    else:
        return
    raise ValueError(
        f"{type(policy).__name__} cannot learn from choices that it did not make, as {why}: "
        "evaluate it by rejection (--mode rejection)"
    )


class Fixed:
    """A policy as it was after its last lesson: the law of its next choice, whatever the set.

    No draw leaves a trace, so that all of them are of the same round. Only the belief is kept that
    was formed for a set, as forming it takes most of the time.
    """

    def __init__(self, policy: KeptPolicy, rng: np.random.Generator, draws: int) -> None:
        self.policy, self.rng, self.draws = policy, rng, draws
        self.known: dict[int, tuple[Floats, Floats]] = {}  # sets and masses, by identity
        self.estimated = False  # whether some masses are frequencies of draws
        self.memory, self.decisions = policy.memory, policy.ledger.decisions

    def __call__(self, entry: Entry) -> Floats:  # (K,)
        actions = entry.features
        if id(actions) not in self.known:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            self.known[id(actions)] = actions, self._masses(actions)
        return self.known[id(actions)][1]

    def _masses(self, actions: Floats) -> Floats:  # (K,)
        """What the policy says of itself; else what its draws show.

        A draw comes with its probability. When those of the actions drawn so far add up to one,
        nothing is missing; when that does not happen the frequencies are unbiased all the same.
        """
        own = getattr(self.policy, "probabilities", None)
        if callable(own):
            masses: Floats = np.asarray(own(actions, self.rng), dtype=np.float64)
            return masses
        if isinstance(self.memory, FORMED):
            _, after = self._drawn(actions)
            self.memory = with_belief(self.memory, after)
        shown: dict[int, set[float]] = {}
        counts = np.zeros(len(actions))
        for _ in range(self.draws):
            drawn, _ = self._drawn(actions)
            counts[drawn.index] += 1.0
            shown.setdefault(drawn.index, set()).add(drawn.probability)
            if all(len(said) == 1 for said in shown.values()):
                masses = np.zeros(len(actions))
                masses[list(shown)] = [min(said) for said in shown.values()]
                if abs(masses.sum() - 1.0) < 1e-9:
                    return masses
        self.estimated = True
        return counts / self.draws

    def _drawn(self, actions: Floats) -> tuple[Decision, Any]:
        """A choice that is not played, and the memory that it would have left."""
        policy, ledger = self.policy, self.policy.ledger
        policy.memory, ledger.decisions = self.memory, self.decisions
        decision = policy.choose(actions, self.rng)
        after = policy.memory
        del ledger.pending[decision.round]
        policy.memory, ledger.decisions = self.memory, self.decisions
        return decision, after


def with_belief(memory: Any, after: Any) -> Any:
    """A memory that has thought of all rewards, as the one after a choice has, but not chosen."""
    if not isinstance(memory, Memory):
        return after  # these only think
    return memory._replace(belief=after.belief, believed=after.believed, rate=after.rate)
