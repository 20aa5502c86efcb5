"""What SOIDS, FGTS, sparse IDS and Thompson sampling share: a posterior and a way to act on it.

|                                | plain posterior | optimistic posterior |
|--------------------------------|-----------------|----------------------|
| follow one sampled parameter   | Thompson        | FGTS                 |
| minimise the information ratio | SparseIDS       | SOIDS                |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from soids import information
from soids.arrays import LARGEST, Floats, as_number
from soids.evidence import SETS, Evidence
from soids.policies.appraisal import GAINS, Appraiser
from soids.policies.coverage import check_coverage, check_fixed, warn_of_large
from soids.policies.enlarging import Embedding
from soids.policies.explanation import Explanation, explain
from soids.policies.feature_sizes import FeatureSizes
from soids.policies.layout import Layout
from soids.policies.outliers import warn_of_outlier
from soids.policies.pending_information import Awaited, awaited
from soids.policies.policy import (
    Decision,
    Generator,
    Information,
    Menu,
    Outcome,
    Past,
    Plan,
    Rule,
    Waiting,
)  # fmt: skip
from soids.policies.prediction import Coefficients, Prediction
from soids.policies.settings import assign
from soids.posteriors import Belief, Posterior, Tuning, as_posterior
from soids.posteriors.logistic import Logistic
from soids.posteriors.particle_system import ParticleSystem
from soids.rates import Progress, Rate, as_rate
from soids.records import are_alike, check_arrays, check_dimension, check_numbers
from soids.regression.common import Common, separated
from soids.regression.scaled_lasso import Sums, scaled_noise
from soids.spelling import check_choice


class Mind(NamedTuple):
    """What a rule with a posterior has learned beyond the evidence."""

    belief: Belief | None = None  # as of the last thought
    believed: Evidence | None = None  # the evidence that it stands for
    rate: float = 0.0  # and its learning rate
    ratios: float = 0.0  # sum of the 2-ratios of the laws that were played
    root_ratios: float = 0.0  # sum of the square roots of their 3-ratios
    recent: tuple[Menu, ...] = ()  # the last contexts, over which the ratio is averaged
    awaited: Awaited | None = None  # what the belief expects of pending rewards
    warned: bool = False  # whether an impossible reward was reported
    layout: Layout | None = None  # what the columns of the actions are
    sizes: FeatureSizes | None = None  # and how large, if the radius has to suit them
    seen: Menu | None = None  # the last action set that showed both
    common: Common | None = None  # what the belief leaves out: the level, effects of contexts

    def validate(self) -> None:
        if (self.belief is None) != (self.believed is None):
            raise ValueError("a belief must have its evidence")
        check_numbers(self, "ratios root_ratios", 0.0, math.inf)
        check_numbers(self, "rate", 0.0, LARGEST)


class Outlook(NamedTuple):
    """What a belief expects of the actions on offer."""

    menu: Menu
    appraiser: Appraiser
    rewards: Floats  # (M, K)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    past: Past
    recent: tuple[Menu, ...]  # other contexts


@dataclass(frozen=True, kw_only=True)
class PosteriorRule(Rule[Mind]):
    """Choose by a posterior over the parameter: by the least information ratio, or by a draw.

    What is None is learned, or left out.
    """

    optimistic: ClassVar[bool] = False
    minimises_ratio: ClassVar[bool] = False  # else it follows one sampled parameter
    proven: ClassVar[tuple[str, ...]] = ()  # the rates for which a theorem covers the policy
    bounded_ratios: ClassVar[tuple[int, ...]] = (2,)  # powers whose ratio Lemma IR_bound bounds

    dimension: int = field(kw_only=False)
    sparsity: int | None = None
    radius: float | None = None  # of an l1 ball that holds the parameter
    noise: float | None = None  # standard deviation
    posterior: str | Any = "subset"  # a name with settings, or an object with ``update``
    rate: str | float | Rate | None = None
    eta: float = 1.0  # power of the likelihood
    gain: str = "full"  # or "conditional" (Hao et al. 2021), or "shannon" (at most a reward's)
    particles: int = 100
    sweeps: int = 2
    budget_ms: float | None = None
    sets: int = SETS  # over which optimism sums: a uniform sample of those offered
    contexts: int = 1  # over which the information ratio is averaged: the last ones
    discount: float = 1.0  # below one, no guarantee holds
    action_bound: float | None = None  # holds the policy to what Theorems 2 and 3 assume
    intercept: bool = True  # whether rewards may have a base level of any size
    rewards: str = "real"  # or "binary": all are 0 or 1, by a logistic model with a base level

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.rewards, "rewards", ("real", "binary"))
        if self.rewards == "binary":
            self._check_binary()
            assign(self, intercept=False)  # it has a level of its own
        if self.discount > 1.0:
            raise ValueError(f"discount must be at most 1, got {self.discount!r}")
        if self.rate is None:
            assign(self, rate=self._default_rate())
        elif not isinstance(self.rate, str) and not callable(self.rate):
            assign(self, rate=as_number(self.rate, "rate", 0.0))
        as_rate(self.rate)
        check_choice(self.gain, "gain", GAINS)
        if not self.model.takes_budget and self.budget_ms is not None:  # the model is checked, too
            raise ValueError(
                f"budget_ms must be left out for {type(self.model).__name__}, which has no moves "
                f"to put off, got {self.budget_ms!r}"
            )
        check_coverage(self)

    @cached_property
    def model(self) -> Posterior:
        """The posterior itself."""
        known = {name: getattr(self, name) for name in ("sparsity", "radius", "noise")}
        if self.rewards == "binary":
            return Logistic(self.dimension, **known)
        return as_posterior(self.posterior, self.dimension, **known)

    def _check_binary(self) -> None:
        """Refuse settings of the linear model."""
        for name in ("posterior", "action_bound"):
            default = type(self).__dataclass_fields__[name].default
            if (given := getattr(self, name)) != default:
                raise ValueError(
                    f"{name} must be left out beside rewards='binary', got {given!r}: it is a "
                    "setting of the linear model"
                )

    def _default_rate(self) -> str:
        # A radius that is given limits optimism; without one, less is better (docs/defaults.md).
        radius = math.inf if self.model.radius is None else self.model.radius
        bounded = "balanced" if radius < math.inf and self.model.in_ball else "cautious"
        return bounded if self.optimistic else "zero"

    def start(self) -> Mind:
        return Mind()

    def check(self, past: Past, menu: Menu) -> None:
        if self.action_bound is not None:
            check_fixed(menu, past.menu, self.action_bound)
        elif menu is not past.menu:
            warn_of_large(self, menu)

    def check_mind(self, mind: Mind, past: Past) -> None:
        others = [mind.seen, None if mind.awaited is None else mind.awaited.menu]
        menus = [*mind.recent, *(menu for menu in others if menu is not None)]
        widths = [menu.actions.shape[1] for menu in menus]
        widths += [] if mind.layout is None else [len(mind.layout.owners)]
        widths += [] if mind.sizes is None else [len(mind.sizes.counts)]
        if mind.belief is None or mind.believed is None:
            widths += [] if mind.awaited is None else [0]  # nothing is awaited without beliefs
        else:
            widths.append(len(mind.believed.moment))
            widths += [] if mind.common is None else [len(mind.common.centre)]
            directions = self._nothing if mind.common is None else mind.common.directions
            rest, common = separated(mind.believed, directions)
            if not are_alike(common, mind.common):
                raise ValueError("what actions have in common must be that of the evidence")
            self.check_belief(mind.belief, rest, Tuning(self.eta, 0.0, 2, self.sweeps))
            if mind.awaited is not None:
                size = len(mind.belief.particles().weights)
                check_arrays(mind.awaited, {"M": size}, directions="P M")
        check_dimension(self.dimension, mind=widths)

    def check_belief(self, belief: Any, believed: Evidence, tuning: Tuning) -> None:
        """Refuse a belief from a file that the model cannot have formed of this evidence."""
        self.model.check_belief(belief, believed, tuning)

    def think(self, mind: Mind, past: Past, menu: Menu | None, rng: Generator) -> Mind:
        evidence = past.evidence
        if menu is not None and menu is not mind.seen:
            mind = self._looked_at(mind, menu)
        if mind.belief is not None and mind.believed is evidence:
            return mind
        rate = self._learning_rate(mind, evidence, menu)
        noise = self._noise(evidence) if mind.belief is None else mind.belief.noise()
        seconds = math.inf if self.budget_ms is None else 0.001 * self.budget_ms
        layout = mind.layout
        own_odds = None if layout is None else layout.own_odds
        directions = self._nothing if layout is None else layout.directions
        rest, common = separated(evidence, directions)
        tuning = Tuning(self.eta, rate / noise, self.particles, self.sweeps, seconds, own_odds)
        is_same_model = mind.believed is None or mind.believed.centred == evidence.centred
        before = mind.belief if is_same_model else None  # its particles fit other sums
        belief = self.model.update(before, rest, tuning, rng)
        return mind._replace(
            belief=belief, believed=evidence, rate=rate, awaited=None, common=common
        )

    def merged(self, thought: Mind, before: Mind, now: Mind) -> Mind | None:
        if now.belief is not before.belief:
            return None
        return now._replace(
            belief=thought.belief, believed=thought.believed, rate=thought.rate,
            common=thought.common, awaited=None,
        )  # fmt: skip

    def law(self, mind: Mind, past: Past, menu: Menu) -> Plan:
        belief = formed(mind)
        appraiser, resolved = Appraiser.of(belief, GAINS[self.gain], mind.common), None
        rewards = appraiser.rewards_on(menu)
        pending = awaited(mind.awaited, appraiser, past.pending, menu, rewards)
        if pending is not None:
            appraiser = appraiser._replace(directions=pending.directions)
            resolved = pending.resolved
        regret, gain = appraiser.appraise(rewards, resolved=resolved)
        unit = appraiser.noise
        mixture = self._mixture(Outlook(menu, appraiser, rewards, regret, gain, past, mind.recent))
        info = Information.of(mixture.mean(regret), mixture.mean(gain) / unit**2, unit, mind.rate)
        if self.budget_ms is not None and isinstance(belief, ParticleSystem):
            info = info._replace(effective=belief.effective_size(), behind=belief.behind())
        return Plan(mixture, info, (pending, unit))

    def chosen(self, mind: Mind, plan: Plan, decision: Decision, uniform: float | None) -> Mind:
        regret, gain, ratio = plan.info[:3]
        pending, noise = plan.notes
        ratios, root_ratios, recent = mind.ratios, mind.root_ratios, mind.recent
        if gain > 0.0:  # no gain at all has no finite ratio
            cubed = information.information_ratio(regret / noise, gain, 3.0)
            ratios, root_ratios = ratios + ratio, root_ratios + math.sqrt(cubed)
        if self.contexts > 1:
            recent = (*recent, decision.menu)[1 - self.contexts :]
        return mind._replace(ratios=ratios, root_ratios=root_ratios, recent=recent, awaited=pending)

    def learn(self, mind: Mind, past: Past, outcomes: Sequence[Outcome]) -> Mind:
        belief, believed = mind.belief, mind.believed
        if mind.warned or belief is None or believed is None:
            return mind
        found = warn_of_outlier(belief, believed, mind.common, outcomes)
        return mind._replace(warned=True) if found else mind

    def forget(self, mind: Mind, lost: Sequence[Waiting]) -> Mind:
        return mind._replace(awaited=None)  # anew, from the decisions that still wait

    def inclusion(self, mind: Mind) -> Floats:  # (d,)
        return formed(mind).particles().inclusion()

    def enlarged(self, mind: Mind, embedding: Embedding) -> Mind:
        return Mind(ratios=mind.ratios, root_ratios=mind.root_ratios)

    def coefficients(self, mind: Mind, past: Past) -> Coefficients:
        return Coefficients.under(formed(mind).particles())

    def predict(self, mind: Mind, past: Past, menu: Menu) -> Prediction:
        appraiser = Appraiser.of(formed(mind), GAINS[self.gain], mind.common)
        level, _ = appraiser.deviation(menu.actions[0])
        return Prediction.of(appraiser.rewards_on(menu), appraiser.weights, level)

    def explain(self, mind: Mind, decision: Decision, names: Sequence[str]) -> Explanation:
        appraiser = Appraiser.of(formed(mind), GAINS[self.gain], mind.common)
        return explain(decision, appraiser, names)

    @property
    def _nothing(self) -> Floats:  # (0, d)
        """No direction that all actions have in common."""
        return np.empty((0, self.dimension))

    def _looked_at(self, mind: Mind, menu: Menu) -> Mind:
        """The mind after a look at the columns of an action set."""
        layout, sizes = mind.layout, mind.sizes
        if self.intercept:
            layout = Layout.after(layout, menu)
        if self.model.radius is None:
            sizes = FeatureSizes.after(sizes, menu)
        return mind._replace(layout=layout, sizes=sizes, seen=menu)

    def _mixture(self, outlook: Outlook) -> information.Mixture:
        """The distribution over actions to draw from."""
        if not self.minimises_ratio:
            weights, actions = outlook.appraiser.weights, outlook.menu.actions
            masses = information.probability_matching(outlook.rewards, weights, actions)
            return information.Spread(masses)
        others = outlook.appraiser.elsewhere(outlook.recent)
        if not others:
            return information.minimise_ratio(outlook.regret, outlook.gain)
        regrets, gains = zip(*others, (outlook.regret, outlook.gain), strict=True)
        return information.minimise_contextual_ratio(regrets, gains)

    def _learning_rate(self, mind: Mind, evidence: Evidence, menu: Menu | None) -> float:
        actions = np.zeros((1, self.dimension)) if menu is None else menu.actions
        progress = Progress(
            evidence.rounds, self.dimension, self.known_sparsity(mind.belief), mind.ratios,
            mind.root_ratios, actions, self.action_bound,
        )  # fmt: skip
        return as_number(as_rate(self.rate)(progress), "rate", 0.0)

    def _noise(self, evidence: Evidence) -> float:
        """The noise before any belief: as given, or as the rewards so far suggest."""
        if evidence.tally is not None:
            return math.sqrt(evidence.tally.rate * (1.0 - evidence.tally.rate))
        return self.model.noise or scaled_noise(Sums.of(evidence)) or 1.0

    def known_sparsity(self, belief: Belief | None) -> float:
        """The sparsity as given, or as believed."""
        if self.model.sparsity is not None:
            return float(self.model.sparsity)
        return 1.0 if belief is None else max(1.0, float(belief.particles().inclusion().sum()))


def formed(mind: Mind) -> Belief:
    """The belief of a mind that has thought."""
    if mind.belief is None:
        raise ValueError("beliefs must be formed before a law is asked for: refresh the policy")
    return mind.belief
