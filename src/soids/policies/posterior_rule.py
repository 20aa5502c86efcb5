"""What SOIDS, FGTS, sparse IDS and Thompson sampling share: a posterior and a way to act on it."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from soids.arrays import Floats, as_number
from soids.evidence import SETS, Evidence, Menu
from soids.information import (
    Mixture,
    Spread,
    information_ratio,
    minimise_contextual_ratio,
    minimise_ratio,
    probability_matching,
)  # fmt: skip
from soids.policies.appraisal import GAINS, Appraiser
from soids.policies.awaited import Awaited, awaited
from soids.policies.coverage import check_coverage, check_fixed, warn_of_large
from soids.policies.decision import Decision, Information
from soids.policies.explanation import Explanation, explain
from soids.policies.past import Past
from soids.policies.policy import Plan, Rule
from soids.policies.settings import assign, check_choice
from soids.posteriors import Belief, Posterior, Tuning, as_posterior
from soids.posteriors.particle_system import ParticleSystem
from soids.rates import Progress, Rate, as_rate


class Mind(NamedTuple):
    """What a rule with a posterior has learned beyond the evidence."""

    belief: Belief | None = None  # as of the last thought
    believed: Evidence | None = None  # the evidence that it stands for
    rate: float = 0.0  # and its learning rate
    ratios: float = 0.0  # sum of the 2-ratios of the laws that were played
    root_ratios: float = 0.0  # sum of the square roots of their 3-ratios
    recent: tuple[Menu, ...] = ()  # the last contexts, over which the ratio is averaged
    awaited: Awaited | None = None  # what the belief expects of pending rewards


def warn_of_uneven(actions: Floats) -> None:
    """Say so if features differ so much in size that no one radius can be learned for all.

    Fewer than ten actions say little of the size of a feature. Among few, the largest values differ
    by chance, as do the squares of features that are mostly zero: both must differ.
    """
    actions = actions[:, actions.any(axis=0)]
    if len(actions) < 10 or not actions.size:
        return
    largest, squares = np.abs(actions).max(axis=0), (actions**2).mean(axis=0)
    if largest.max() > 10.0 * largest.min() and squares.max() > 100.0 * squares.min():
        warnings.warn(
            "features differ more than ten times in size: rescale them to comparable sizes, or "
            "give the radius",
            RuntimeWarning,
            stacklevel=5,
        )


class Outlook(NamedTuple):
    """What a belief expects of the actions on offer."""

    menu: Menu
    appraiser: Appraiser
    rewards: Floats  # (M, K)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    past: Past
    recent: tuple[Menu, ...]  # other contexts


class PosteriorRule(Rule[Mind]):
    """Choose by a posterior over the parameter: by the least information ratio, or by a draw.

    The attributes are settings. A rule makes fields of those that users may set, and the others
    keep the values that they have here.
    """

    optimistic: ClassVar[bool] = False
    minimises_ratio: ClassVar[bool] = False  # else it follows one sampled parameter
    proven: ClassVar[tuple[str, ...]] = ()  # the rates for which a theorem covers the policy
    bounded_ratios: ClassVar[tuple[int, ...]] = (2,)  # powers whose ratio Lemma IR_bound bounds

    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None
    posterior: Any = "subset"
    rate: str | float | Rate | None = None
    eta: float = 1.0
    gain: str = "full"
    particles: int = 100
    sweeps: int = 2
    budget_ms: float | None = None
    contexts: int = 1
    action_bound: float | None = None
    intercept: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.discount > 1.0:
            raise ValueError(f"discount must be at most 1, got {self.discount!r}")
        if self.rate is None:
            assign(self, rate=self._default_rate())
        elif not isinstance(self.rate, str) and not callable(self.rate):
            assign(self, rate=as_number(self.rate, "rate", 0.0))
        as_rate(self.rate)
        check_choice(self.gain, "gain", GAINS)
        model = self.model
        if self.budget_ms is not None and isinstance(model, Posterior) and not model.takes_budget:
            raise ValueError(
                f"budget_ms must be left out for {type(model).__name__}, which has no moves to put "
                f"off, got {self.budget_ms!r}"
            )
        check_coverage(self)

    @cached_property
    def model(self) -> Any:
        """The posterior itself."""
        return as_posterior(
            self.posterior, self.dimension, sparsity=self.sparsity, radius=self.radius,
            noise=self.noise,
        )  # fmt: skip

    def _default_rate(self) -> str:
        if not self.optimistic:
            return "zero"
        # A radius that is given limits optimism; without one, less is better (docs/defaults.md).
        radius = self.given("radius")
        bounded = radius is not None and radius < math.inf
        has_effect = not isinstance(self.model, Posterior) or self.model.in_ball
        return "balanced" if bounded and has_effect else "cautious"

    def given(self, name: str) -> Any:
        """A setting as given to the posterior; None is to be learned."""
        return getattr(self.model if isinstance(self.model, Posterior) else self, name)

    def start(self) -> Mind:
        return Mind()

    def check(self, past: Past, menu: Menu) -> None:
        if self.action_bound is not None:
            check_fixed(menu, past.menu, self.action_bound)
        elif menu is not past.menu:
            warn_of_large(self, menu)
        if self.given("radius") is None and menu is not past.menu:
            warn_of_uneven(menu.actions)

    def think(self, mind: Mind, past: Past, menu: Menu | None, rng: np.random.Generator) -> Mind:
        evidence = past.evidence
        if mind.belief is not None and mind.believed is evidence:
            return mind
        rate = self._learning_rate(mind, evidence, menu)
        noise = self.given("noise") or 1.0 if mind.belief is None else mind.belief.noise()
        seconds = math.inf if self.budget_ms is None else 0.001 * self.budget_ms
        tuning = Tuning(self.eta, rate / noise, self.particles, self.sweeps, seconds)
        before = mind.belief
        if mind.believed is not None and mind.believed.centred != evidence.centred:
            before = None  # another model
        belief = self.model.update(before, evidence, tuning, rng)
        return Mind(belief, evidence, rate, mind.ratios, mind.root_ratios, mind.recent)

    def law(self, mind: Mind, past: Past, menu: Menu) -> Plan:
        belief = formed(mind)
        rewards = belief.rewards_on(menu)
        if past.evidence.centred:
            rewards = rewards - (belief.particles().thetas @ past.evidence.centre)[:, None]
        appraiser, resolved = Appraiser.of(belief, GAINS[self.gain]), None
        under_way = awaited(mind.awaited, appraiser, past.pending, menu, rewards)
        if under_way is not None:
            appraiser = appraiser._replace(directions=under_way.directions)
            resolved = under_way.resolved
        regret, gain = appraiser.appraise(rewards, resolved=resolved)
        unit = appraiser.noise
        mixture = self._mixture(Outlook(menu, appraiser, rewards, regret, gain, past, mind.recent))
        cost, nats = mixture.mean(regret), mixture.mean(gain) / unit**2
        info = Information(cost, nats, information_ratio(cost / unit, nats), mind.rate)
        if self.budget_ms is not None and isinstance(belief, ParticleSystem):
            info = info._replace(effective=belief.effective_size(), behind=belief.behind())
        return Plan(mixture, info, under_way)

    def chosen(self, mind: Mind, plan: Plan, decision: Decision, uniform: float | None) -> Mind:
        regret, gain, ratio = plan.info[:3]
        belief, believed, rate, ratios, root_ratios, recent, _ = mind
        if gain > 0.0:  # no gain at all has no finite ratio
            cubed = information_ratio(regret / formed(mind).noise(), gain, 3.0)
            ratios, root_ratios = ratios + ratio, root_ratios + math.sqrt(cubed)
        if self.contexts > 1:
            recent = (*recent, decision.menu)[1 - self.contexts :]
        return Mind(belief, believed, rate, ratios, root_ratios, recent, plan.notes)

    def inclusion(self, mind: Mind) -> Floats:  # (d,)
        return formed(mind).particles().inclusion()

    def explain(self, mind: Mind, decision: Decision, names: Sequence[str] | None) -> Explanation:
        return explain(decision, Appraiser.of(formed(mind), GAINS[self.gain]), names)

    def _mixture(self, outlook: Outlook) -> Mixture:
        """The distribution over actions to draw from."""
        if not self.minimises_ratio:
            weights, actions = outlook.appraiser.weights, outlook.menu.actions
            return Spread(probability_matching(outlook.rewards, weights, actions))
        others = outlook.appraiser.elsewhere(outlook.recent)
        if not others:
            return minimise_ratio(outlook.regret, outlook.gain)
        regrets, gains = zip(*others, (outlook.regret, outlook.gain), strict=True)
        return minimise_contextual_ratio(regrets, gains)

    def _learning_rate(self, mind: Mind, evidence: Evidence, menu: Menu | None) -> float:
        actions = np.zeros((1, self.dimension)) if menu is None else menu.actions
        progress = Progress(
            evidence.rounds, self.dimension, self.known_sparsity(mind.belief), mind.ratios,
            mind.root_ratios, actions, self.action_bound,
        )  # fmt: skip
        return as_number(as_rate(self.rate)(progress), "rate", 0.0)

    def known_sparsity(self, belief: Belief | None) -> float:
        """The sparsity as given, or as believed."""
        sparsity = self.given("sparsity")
        if sparsity is not None:
            return float(sparsity)
        return 1.0 if belief is None else max(1.0, float(belief.particles().inclusion().sum()))


@dataclass(frozen=True)
class FreeRule(PosteriorRule):
    """A rule whose users may set everything.

    ``sparsity``, ``radius`` (of an l1 ball that holds the parameter) and ``noise`` (standard
    deviation) are learned if not given. ``posterior`` is a name, with settings in brackets if need
    be, or an object with an ``update`` method; ``rate`` a name, a number or a function of
    ``Progress``; ``gain`` is "full" (the paper's), "conditional" (Hao et al. 2021) or "shannon" (at
    most what a noisy reward can tell). Where actions change with the context, optimism sums over
    the different action sets offered so far, or a uniform sample of ``sets`` of them. The
    information ratio is averaged over the last ``contexts``; one is the set on offer alone.
    With a ``discount`` below one, old rewards count less and less; the guarantees are then void.
    An ``action_bound`` (on the size of features) holds the policy to what Theorems 2 and 3 assume:
    all else is refused.
    """

    dimension: int
    _: KW_ONLY
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None
    posterior: str | Any = "subset"
    rate: str | float | Rate | None = None
    eta: float = 1.0
    gain: str = "full"
    particles: int = 100
    sweeps: int = 2
    budget_ms: float | None = None
    sets: int = SETS
    contexts: int = 1
    discount: float = 1.0
    action_bound: float | None = None
    intercept: bool = False


def formed(mind: Mind) -> Belief:
    """The belief of a mind that has thought."""
    if mind.belief is None:
        raise ValueError("beliefs must be formed before a law is asked for: refresh the policy")
    return mind.belief
