"""A policy: a rule that says how to choose, and the code that all rules share.

What a rule has learned beyond the evidence is its mind, an immutable value. The policy holds the
mind and the past, and draws the actions. Rules import all that they need from here.
"""

import inspect
import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, final

import numpy as np
from numpy.random import Generator

from soids.arrays import Floats, Ints, as_count, as_generator, as_number, as_table, is_immutable
from soids.evidence import SETS, Evidence, Menu
from soids.information import Mixture
from soids.policies.decision import (
    SILENT,
    Decision,
    Floored,
    Information,
    Offered,
    as_floor,
    check_law,
)  # fmt: skip
from soids.policies.explanation import Explanation
from soids.policies.past import Decided, Outcome, Past
from soids.policies.pending import Waiting
from soids.policies.settings import check_call, check_settings, parameters_of, settings_of

__all__ = [
    "Decision", "Family", "Generator", "Information", "Menu", "Outcome", "Past", "Plan", "Policy",
    "Rule", "State", "Waiting",
]  # fmt: skip

Mind = TypeVar("Mind")
Floor = float | Floats | None
Indices = Sequence[int] | Ints
NOTHING: tuple[int, ...] = ()  # of the actions is excluded
BY_NOW = "By what is believed now, after later choices: "  # of decisions that are not the last


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

    def explain(self, mind: Mind, decision: Decision, names: Sequence[str] | None) -> Explanation:
        """Why an action was chosen."""
        raise ValueError(f"{self.name} forms no belief to explain a choice by: SOIDS does")


class State(NamedTuple):
    """All that a policy has learned; a value, so that a copy is an assignment."""

    mind: Any
    past: Past
    has_thought: bool = False  # whether the rule ever brought its mind up to the evidence


@final
class Policy:
    """Choose among actions, learn from rewards: the methods of every policy.

    ``state`` is immutable; to try something and undo it, keep the old one and assign it again. With
    a ``floor`` every action on offer has at least its share of that probability: ``floor=0.02`` is
    two percent in all.

    All methods may be called by several threads. Those that change the state wait for each other;
    the others read the state once, and never wait. ``refresh`` only waits to store its result.
    """

    def __init__(self, rule: Rule[Any], *, floor: float | Floats = 0.0) -> None:
        self.rule = rule
        self.floor = as_floor(floor)
        self._state = State(rule.start(), Past.empty(rule.dimension, rule.sets))
        kind = type(self._state.mind)  # None says nothing of what a rule will form
        self._minds = rule.minds or (object if kind is type(None) else kind,)
        self._shown: tuple[object, Offered] | None = None  # immutable actions, as offered
        self._assigned = object()  # another one whenever a state is assigned
        self._make_locks()

    def _make_locks(self) -> None:
        self._changing = threading.RLock()  # held while the state changes, by one method at a time
        self._thinking = threading.RLock()  # held by ``refresh``, before the other one

    def __getstate__(self) -> dict[str, Any]:
        locks = "_changing", "_thinking"
        return {name: value for name, value in vars(self).items() if name not in locks}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._make_locks()

    def __repr__(self) -> str:
        settings = [f"{name}={value!r}" for name, value in settings_of(self.rule).items()]
        floor = [f"floor={self.floor!r}"] if np.any(self.floor) else []
        return f"{self.rule.name}({', '.join(settings + floor)})"

    @property
    def state(self) -> State:
        """All that is learned; that of another policy with the same settings may be assigned."""
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        if not isinstance(state, State) or not isinstance(state.past, Past):
            raise ValueError(f"state must be what policy.state was, got {type(state).__name__}")
        dimension = len(state.past.evidence.moment)
        if dimension != self.dimension:
            raise ValueError(f"state must be for dimension {self.dimension}, got {dimension}")
        if not isinstance(state.mind, self._minds):
            kinds = " or ".join(kind.__name__ for kind in self._minds)
            raise ValueError(
                f"state must be that of a policy like this {self.rule.name}, whose mind is a "
                f"{kinds}, got {type(state.mind).__name__}"
            )
        with self._changing:
            self._state, self._assigned = state, object()

    @property
    def dimension(self) -> int:
        """The number of features of an action."""
        return self.rule.dimension

    @property
    def evidence(self) -> Evidence:
        """The sums of all rewards so far."""
        return self._state.past.evidence

    @property
    def pending(self) -> list[Waiting]:
        """The decisions that wait for their reward, oldest first; each can be observed."""
        return list(self._state.past.pending)

    def choose(
        self, actions: object, rng: Generator, *, floor: Floor = None, excluded: Indices = NOTHING
    ) -> Decision:
        """Choose one of the actions (K, d) on offer that are not ``excluded`` (by their indices).

        ``floor`` is a probability in all, spread evenly, or the least probability of each action.
        """
        as_generator(rng)
        with self._changing:
            mind, past, _ = self._state
            offered, floors = self._asked(past, actions, excluded, floor)
            mind = self.rule.think(mind, past, offered.menu, rng)
            return self._drawn(mind, offered, rng.random(), floors)

    def decide(
        self, actions: object, uniform: float, *, floor: Floor = None, excluded: Indices = NOTHING
    ) -> Decision:
        """Choose as ``choose`` does, by the last beliefs, with a given number in [0, 1).

        Sampled beliefs are those of the last ``refresh`` or ``choose``; sums of rewards are those
        of now.
        """
        uniform = as_number(uniform, "uniform", 0.0)
        if uniform >= 1.0:
            raise ValueError(f"uniform must lie in [0, 1), got {uniform!r}")
        with self._changing:
            state = self._state
            offered, floors = self._asked(state.past, actions, excluded, floor)
            mind = state.mind if state.has_thought else self._mind_for(state, offered.menu)
            return self._drawn(mind, offered, uniform, floors)

    def law(
        self, actions: object, *, floor: Floor = None, excluded: Indices = NOTHING
    ) -> Floats:  # (K,)
        """The exact distribution of the next choice; it leaves no trace.

        If rewards have come since the last ``refresh`` or ``choose``, beliefs are formed for this
        answer alone, from random numbers of their own.
        """
        state = self._state
        offered, floors = self._asked(state.past, actions, excluded, floor)
        plan = self._plan(self._mind_for(state, offered.menu), state.past, offered.menu)
        mixture = plan.mixture if floors is None else Floored(plan.mixture, floors)
        return offered.spread(mixture)

    def refresh(self, rng: Generator) -> None:
        """Think about all rewards so far, ahead of the next choice, if there were actions yet.

        Other threads may choose and observe meanwhile: their choices and rewards are kept, and so
        are the new beliefs. These are dropped if other beliefs were formed or another state was
        assigned meanwhile, or if the rule cannot merge them with what choices and rewards changed.
        """
        as_generator(rng)
        with self._thinking:
            with self._changing:
                (mind, past, _), assigned = self._state, self._assigned
            if past.menu is None:
                return
            thought = self.rule.think(mind, past, past.menu, rng)
            with self._changing:
                now = self._state
                if self._assigned is not assigned:
                    return
                if thought is mind:
                    self._state = now._replace(has_thought=True)
                elif (merged := self.rule.merged(thought, mind, now.mind)) is not None:
                    self._state = State(merged, now.past, True)

    def observe(self, decision: Decided | Sequence[Decided], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        with self._changing:
            self._learn(self._state.past, decision, reward)

    def learn(
        self, actions: object, index: int, reward: float, *, probability: float = 1.0
    ) -> None:
        """Learn from a choice of someone else, made with this probability."""
        if not self.rule.learns_from_others:
            raise ValueError(
                f"{self.rule.name} cannot learn from choices that it did not make, as it tries "
                "actions by a plan of its own"
            )
        probability = as_number(probability, "probability", 0.0, strict=True)
        if probability > 1.0:
            raise ValueError(f"probability must be at most 1, got {probability:g}")
        with self._changing:
            past = self._state.past
            offered = self._offer(past, actions, NOTHING)
            index = as_count(index, "index", 0, offered.count - 1)
            past = past.after(offered, index, probability, self.rule.needs_sets)
            self._learn(past, past.pending[past.decisions], reward)

    def forget(self, decision: Decided | Sequence[Decided]) -> None:
        """Give up on the reward of a decision, or of a list of them: it will never come."""
        with self._changing:
            mind, past, has_thought = self._state
            past, lost = past.without(decision)
            self._state = State(self.rule.forget(mind, lost), past, has_thought)

    @property
    def mind(self) -> Any:
        """What the rule has learned, brought up to all rewards so far; asking leaves no trace."""
        state = self._state
        return self._mind_for(state, state.past.menu)

    def inclusion(self) -> Floats:  # (d,)
        """The probability that each feature matters, given all rewards so far."""
        return self.rule.inclusion(self.mind)

    def explain(self, decision: Decision, names: Sequence[str] | None = None) -> Explanation:
        """Why this action: its expected regret and information gain, and the features behind it.

        The beliefs are those of the last ``choose`` or ``refresh`` if the decision is the last one;
        else they are those of now, and the sentence begins with that. It calls features by their
        ``names`` (d,).
        """
        state = self._state
        state.past.check_own(decision)
        if not isinstance(decision, Decision):
            raise ValueError(
                "decision must be what choose returned to be explained, got a pending one, which "
                "no longer has its action set"
            )
        is_last, mind = decision.round == state.past.decisions, state.mind
        if not is_last or not state.has_thought:
            mind = self._mind_for(state, state.past.menu)
        told = self.rule.explain(mind, decision, names)
        return told if is_last else told._replace(sentence=f"{BY_NOW}{told.sentence}")

    def _offer(self, past: Past, actions: object, excluded: Indices) -> Offered:
        """The actions on offer, checked; an action set that is known already is the same object."""
        if excluded is not NOTHING and np.size(excluded):
            if self.rule.takes_exclusions:
                table = as_table(actions, self.dimension)
                return Offered.without(table, excluded, past.find)
            raise ValueError(
                f"excluded must be empty for {self.rule.name}, which knows arms by their place in "
                f"the list, got {excluded!r}"
            )
        shown = self._shown
        if shown is not None and actions is shown[0] and shown[1].menu is past.menu:
            return shown[1]  # what the comparison of an array with itself would find
        offered = Offered(past.find(as_table(actions, self.dimension)))
        self._shown = (actions, offered) if is_immutable(actions) else None
        return offered

    def _mind_for(self, state: State, menu: Menu | None) -> Any:
        """The mind brought up to the evidence, aside, so that asking changes nothing."""
        mind, past, _ = state
        return self.rule.think(mind, past, menu, np.random.default_rng(past.decisions))

    def _asked(
        self, past: Past, actions: object, excluded: Indices, floor: Floor
    ) -> tuple[Offered, Floats | None]:
        """The actions on offer and their floors (n,), checked before anything changes."""
        offered = self._offer(past, actions, excluded)
        self.rule.check(past, offered.menu)
        return offered, offered.floors(self.floor if floor is None else as_floor(floor))

    def _plan(self, mind: Any, past: Past, menu: Menu) -> Plan:
        """The answer of the rule, checked: users write rules, too."""
        plan: Any = self.rule.law(mind, past, menu)
        if not isinstance(plan, Plan):
            raise ValueError(
                f"law of {self.rule.name} must return a Plan, such as "
                f"Plan(Spread(probabilities)), got {type(plan).__name__}"
            )
        check_law(self.rule.name, plan.mixture, len(menu.actions))
        return plan

    def _drawn(
        self, mind: Any, offered: Offered, uniform: float, floors: Floats | None
    ) -> Decision:
        """Draw an action by the law of a mind, and remember that."""
        past = self._state.past
        plan = self._plan(mind, past, offered.menu)
        mixture: Mixture = plan.mixture
        left: float | None = uniform
        if floors is not None:
            mixture = Floored(mixture, floors)
            left = mixture.left(uniform)
        place = mixture.draw(uniform)
        index, probability = offered.index(place), mixture.probability(place)
        past = past.after(offered, index, probability, self.rule.needs_sets)
        decision = Decision(index, probability, past.decisions, plan.info, offered, mixture)
        self._state = State(self.rule.chosen(mind, plan, decision, left), past, True)
        return decision

    def _learn(self, past: Past, decision: Decided | Sequence[Decided], reward: object) -> None:
        past, outcomes = past.settled(decision, reward, self.rule.discount, self.rule.intercept)
        mind = self.rule.learn(self._state.mind, past, outcomes)
        self._state = State(mind, past, self._state.has_thought)


class Family:
    """A constructor of policies, from the settings of a rule and a ``floor``: ``SOIDS``."""

    def __init__(self, rule: type[Rule[Any]]) -> None:
        self.rule, self.__doc__ = rule, rule.__doc__
        floor = inspect.Parameter("floor", inspect.Parameter.KEYWORD_ONLY, default=0.0)
        parameters = [*parameters_of(rule).values(), floor]
        self.__signature__ = inspect.Signature(parameters, return_annotation=Policy)

    def __call__(self, *args: Any, floor: float | Floats = 0.0, **settings: Any) -> Policy:
        check_call(repr(self), self.__signature__, args, settings)
        return Policy(self.rule(*args, **settings), floor=floor)

    def __repr__(self) -> str:
        return self.rule.__name__.removesuffix("Rule")
