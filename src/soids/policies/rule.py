"""What tells one policy from another: a rule, which says how to choose, and its answer, a plan.

What a rule has learned beyond the evidence is its mind, an immutable value.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator

from soids.arrays import Floats
from soids.evidence import SETS, Menu
from soids.information import Mixture
from soids.policies.decision import SILENT, Decision, Information
from soids.policies.enlarging import Embedding
from soids.policies.explanation import Explanation
from soids.policies.past import Outcome, Past
from soids.policies.pending import Waiting
from soids.policies.prediction import Coefficients, Prediction
from soids.policies.settings import check_settings

Mind = TypeVar("Mind")


class Plan(NamedTuple):
    """The answer of a rule: its law over the actions on offer, and what it expects of it."""

    mixture: Mixture
    info: Information = SILENT
    notes: Any = None  # what the rule computed and needs again once an action is drawn


class Rule(Generic[Mind]):
    """All that distinguishes one policy from another: a frozen dataclass of settings.

    ``law`` is all that a rule must have. No method changes the rule or its arguments.
    """

    dimension: int
    sets = SETS  # number of action sets that the evidence remembers
    discount = 1.0  # weight of a round after one more
    intercept = False  # whether a base level of the rewards enters the model once it shows
    rewards = "real"  # or "binary": all are 0 or 1
    learns_from_others: ClassVar[bool] = True  # False if it must make its choices itself
    needs_sets: ClassVar[bool] = False  # whether rewards are learned from with the whole action set
    minds: ClassVar[tuple[type, ...]] = ()  # kinds of mind, if not only that of ``start``
    checks: ClassVar[Mapping[str, Any]] = {}  # of settings, beside the common ones
    settings: ClassVar[str] = ""  # the names of those that users may set, if not all

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def name(self) -> str:
        """What error messages and checkpoints call the policy."""
        return type(self).__name__.removesuffix("Rule")

    @property
    def takes_exclusions(self) -> bool:
        """Whether actions may be excluded; not if a rule knows them by their place in the list."""
        return True

    def start(self) -> Mind:
        """The mind before the first round."""
        return None  # type: ignore[return-value]

    def check(self, past: Past, menu: Menu) -> None:
        """Refuse, or warn of, an action set."""

    def check_mind(self, mind: Mind, past: Past) -> None:
        """Refuse a mind from a file that this rule cannot have beside this past."""

    def think(self, mind: Mind, past: Past, menu: Menu | None, rng: Generator) -> Mind:
        """Bring the mind up to the evidence: the only random step, and the only costly one."""
        return mind

    def merged(self, thought: Mind, before: Mind, now: Mind) -> Mind | None:
        """What was thought about ``before``, with what has changed until ``now``; None drops it."""
        return thought if now is before else None

    def law(self, mind: Mind, past: Past, menu: Menu) -> Plan:
        """The distribution over the actions on offer; deterministic."""
        raise NotImplementedError(f"{type(self).__name__} must have a method law")

    def chosen(self, mind: Mind, plan: Plan, decision: Decision, uniform: float | None) -> Mind:
        """The mind after a choice, drawn by a uniform number, or by none if the floor drew it."""
        return mind

    def learn(self, mind: Mind, past: Past, outcomes: Sequence[Outcome]) -> Mind:
        """The mind after rewards, beside the evidence, which holds them already."""
        return mind

    def forget(self, mind: Mind, lost: Sequence[Waiting]) -> Mind:
        """The mind after decisions whose rewards will never come."""
        return mind

    def inclusion(self, mind: Mind) -> Floats:  # (d,)
        """The probability that each feature matters."""
        raise ValueError(f"{self.name} forms no belief about features: SOIDS and Thompson do")

    def enlarged(self, mind: Mind, embedding: Embedding) -> Mind:
        """The mind for more features, beside the evidence, which has them already."""
        raise ValueError(
            f"{self.name} cannot go on with more features: build a new one, and let it learn"
        )

    def coefficients(self, mind: Mind, past: Past) -> Coefficients:
        """What is known of each feature's coefficient."""
        raise ValueError(f"{self.name} estimates no coefficients: SOIDS, LinTS and LinUCB do")

    def predict(self, mind: Mind, past: Past, menu: Menu) -> Prediction:
        """The mean reward of each action, without a deviation unless a rule knows one."""
        mean = self.coefficients(mind, past).reward_on(menu, past.evidence)
        return Prediction(mean, np.full(len(mean), np.nan))

    def explain(self, mind: Mind, decision: Decision, names: Sequence[str]) -> Explanation:
        """Why an action was chosen."""
        raise ValueError(f"{self.name} forms no belief to explain a choice by: SOIDS does")
