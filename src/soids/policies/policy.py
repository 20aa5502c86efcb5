"""A policy: a rule that says how to choose, and the code that all rules share.

The policy holds the rule's mind and the past, and draws the actions. Rules import all that they
need from here.
"""

import inspect
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.random import Generator

from soids.arrays import Floats, Ints, as_generator, as_number, as_table, is_immutable
from soids.evidence import Evidence, Menu
from soids.information import Mixture
from soids.policies.decision import Decision, Floored, Information, Offered, as_floor, check_law
from soids.policies.enlarging import as_embedding
from soids.policies.explanation import Explanation
from soids.policies.names import NAMELESS, check_features, feature_names, names_of
from soids.policies.others import Round, learned, rounds_in, rounds_of
from soids.policies.past import Decided, Outcome, Past
from soids.policies.pending import Waiting
from soids.policies.prediction import Coefficients, Prediction
from soids.policies.rule import Plan, Rule, check_state
from soids.policies.settings import check_call, parameters_of, settings_of
from soids.tally import Tally

__all__ = [
    "Decision", "Family", "Generator", "Information", "Menu", "Outcome", "Past", "Plan", "Policy",
    "Rule", "State", "Waiting",
]  # fmt: skip

Floor = float | Floats | None
Indices = Sequence[int | str] | Ints  # or names
NOTHING: tuple[int, ...] = ()  # of the actions is excluded
BY_NOW = "By what is believed now, after later choices: "  # of decisions that are not the last


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
        past = Past.empty(rule.dimension, rule.sets)
        if rule.rewards == "binary":
            tally = Tally.empty(rule.dimension)
            past = past._replace(evidence=past.evidence._replace(tally=tally))
        self._state = State(rule.start(), past)
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
        check_state(self.rule, self._minds, state.mind, state.past)
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
        self, actions: object, rng: Generator, *, floor: Floor = None, excluded: Indices = NOTHING,
        names: Sequence[str] | None = None,
    ) -> Decision:  # fmt: skip
        """Choose one of the actions (K, d) on offer that are not ``excluded`` (by index or name).

        ``floor`` is a probability in all, spread evenly, or the least probability of each action.
        ``names`` (K,) are those of the actions; a data frame has them in its index.
        """
        as_generator(rng)
        with self._changing:
            mind, past, _ = self._state
            offered, floors = self._asked(past, actions, excluded, floor, names)
            mind = self.rule.think(mind, past, offered.menu, rng)
            return self._drawn(mind, offered, rng.random(), floors)

    def decide(
        self, actions: object, uniform: float, *, floor: Floor = None, excluded: Indices = NOTHING,
        names: Sequence[str] | None = None,
    ) -> Decision:  # fmt: skip
        """Choose as ``choose`` does, by the last beliefs, with a given number in [0, 1).

        Sampled beliefs are those of the last ``refresh`` or ``choose``; sums of rewards are those
        of now.
        """
        uniform = as_number(uniform, "uniform", 0.0)
        if uniform >= 1.0:
            raise ValueError(f"uniform must lie in [0, 1), got {uniform!r}")
        with self._changing:
            state = self._state
            offered, floors = self._asked(state.past, actions, excluded, floor, names)
            mind = state.mind if state.has_thought else self._mind_for(state, offered.menu)
            return self._drawn(mind, offered, uniform, floors)

    def law(
        self, actions: object, *, floor: Floor = None, excluded: Indices = NOTHING,
        names: Sequence[str] | None = None,
    ) -> Floats:  # (K,)  # fmt: skip
        """The exact distribution of the next choice; it leaves no trace.

        If rewards have come since the last ``refresh`` or ``choose``, beliefs are formed for this
        answer alone, from random numbers of their own.
        """
        state = self._state
        offered, floors = self._asked(state.past, actions, excluded, floor, names)
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
            mind, past, has_thought = self._state
            past, outcomes = past.settled(decision, reward, self.rule.discount, self.rule.intercept)
            self._state = State(self.rule.learn(mind, past, outcomes), past, has_thought)

    def learn(
        self, actions: object, index: object, reward: object, *, probability: object = 1.0,
        names: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """Learn from a choice of someone else, made with this probability, or from many at once.

        Many are an ``index`` and a ``reward`` for each round (n,), beside one action set (K, d) or
        a set for each round (n, K, d). An index may be one of the ``names`` (K,) of the actions.
        """
        self._learn_rounds(rounds_in(actions, index, reward, probability, names))

    def learn_from(self, log: object) -> None:
        """Learn from all decisions of a log that have a reward: ``soids.logs.read_log(path)``."""
        self._learn_rounds(rounds_of(log))

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

    def predict(self, actions: object, *, names: Sequence[str] | None = None) -> Prediction:
        """The mean reward of each action (K, d), given all rewards so far, and its deviation."""
        state = self._state
        offered = self._offer(state.past, actions, NOTHING, names)
        predicted = self.rule.predict(self._mind_for(state, offered.menu), state.past, offered.menu)
        return predicted._replace(names=offered.names.actions)

    def coefficients(self, names: Sequence[str] | None = None) -> Coefficients:
        """The coefficient of each feature, given all rewards so far.

        Features have the ``names`` (d,), or those in the data frames of actions so far.
        """
        state = self._state
        mind = self._mind_for(state, state.past.menu)
        found = self.rule.coefficients(mind, state.past)
        known = state.past.features
        return found._replace(names=tuple(feature_names(names, known, self.dimension)))

    def explain(self, decision: Decision, names: Sequence[str] | None = None) -> Explanation:
        """Why this action, and not the one that is expected to earn most of all others.

        The beliefs are those of the last ``choose`` or ``refresh`` if the decision is the last one;
        else they are those of now, and the sentence begins with that. It calls features by their
        ``names`` (d,), or as the data frame of the actions did.
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
        known = decision.offered.names.features or state.past.features
        names = feature_names(names, known, self.dimension)
        told = self.rule.explain(mind, decision, names)
        return told if is_last else told._replace(sentence=f"{BY_NOW}{told.sentence}")

    def enlarged(
        self, dimension: int, columns: Sequence[int] | Ints | None = None, **settings: Any
    ) -> "Policy":
        """A policy for more features, such as those of another arm, that has learned the same.

        The old features stand at ``columns`` (d,) of the new ones: at the first, if not given. The
        ``settings`` replace those of this policy. Beliefs are formed anew.
        """
        embedding, kind = as_embedding(self.dimension, dimension, columns), type(self.rule)
        floor = settings.pop("floor", self.floor)
        known = settings_of(self.rule) | settings | {"dimension": dimension}
        check_call(self.rule.name, signature_of(kind), (), known)
        mind, past, _ = self._state
        policy = Policy(kind(**known), floor=floor)
        policy.state = State(self.rule.enlarged(mind, embedding), embedding.past(past))
        return policy

    def _offer(
        self, past: Past, actions: object, excluded: Indices, names: Sequence[str] | None
    ) -> Offered:
        """The actions on offer and their names, checked."""
        known = names_of(actions, names)
        if known is NAMELESS:
            return self._offered(past, actions, excluded)
        if known.actions is not None:
            excluded = known.places(excluded, len(known.actions))
        offered = self._offered(past, actions, excluded).named(known)
        check_features(known, past.features)
        return offered

    def _offered(self, past: Past, actions: object, excluded: Indices) -> Offered:
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
        self,
        past: Past,
        actions: object,
        excluded: Indices,
        floor: Floor,
        names: Sequence[str] | None,
    ) -> tuple[Offered, Floats | None]:
        """The actions on offer and their floors (n,), checked before anything changes."""
        offered = self._offer(past, actions, excluded, names)
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

    def _learn_rounds(self, rounds: Iterator[Round]) -> None:
        """Learn from rounds of others: from all, or from none if there is an error."""
        with self._changing:
            mind, past, has_thought = self._state
            self._state = State(*learned(self.rule, mind, past, rounds), has_thought)


class Family:
    """A constructor of policies, from the settings of a rule and a ``floor``: ``SOIDS``."""

    def __init__(self, rule: type[Rule[Any]]) -> None:
        self.rule, self.__doc__ = rule, rule.__doc__
        self.__signature__ = signature_of(rule)

    def __call__(self, *args: Any, floor: float | Floats = 0.0, **settings: Any) -> Policy:
        check_call(repr(self), self.__signature__, args, settings)
        return Policy(self.rule(*args, **settings), floor=floor)

    def __repr__(self) -> str:
        return self.rule.__name__.removesuffix("Rule")


def signature_of(rule: type[Rule[Any]]) -> inspect.Signature:
    """The signature of a constructor of policies with this kind of rule."""
    floor = inspect.Parameter("floor", inspect.Parameter.KEYWORD_ONLY, default=0.0)
    parameters = [*parameters_of(rule).values(), floor]
    return inspect.Signature(parameters, return_annotation=Policy)
