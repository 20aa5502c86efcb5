"""What SOIDS, FGTS, sparse IDS and Thompson sampling share: a posterior and a way to act on it."""

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Floats, as_count, as_number, as_radius
from soids.evidence import SETS, Evidence, Menu
from soids.information import (
    Mixture,
    Spread,
    information_ratio,
    minimise_contextual_ratio,
    minimise_ratio,
    probability_matching,
)
from soids.policies.appraisal import GAINS, Appraiser
from soids.policies.awaited import Awaited, awaited
from soids.policies.coverage import check_coverage, check_fixed, warn_of_large
from soids.policies.decision import Decision, Information
from soids.policies.explanation import Explanation, explain
from soids.policies.past import Past
from soids.policies.policy import Plan, Rule
from soids.posteriors import (
    Belief,
    Posterior,
    Tuning,
    as_posterior,
)
from soids.posteriors.particle_system import ParticleSystem
from soids.rates import Progress, Rate, as_rate
from soids.spelling import meant

KNOWABLE = ("sparsity", "radius", "noise")


class Mind(NamedTuple):
    """What a rule with a posterior has learned beyond the evidence."""

    belief: Belief | None = None  # as of the last thought
    believed: Evidence | None = None  # the evidence that it stands for
    rate: float = 0.0  # and its learning rate
    ratios: float = 0.0  # sum of the 2-ratios of the laws that were played
    root_ratios: float = 0.0  # sum of the square roots of their 3-ratios
    recent: tuple[Menu, ...] = ()  # the last contexts, over which the ratio is averaged
    awaited: Awaited | None = None  # what the belief expects of rewards under way


def warn_of_uneven(actions: Floats) -> None:
    """Say so if features differ so much in size that no one radius can be learned for all.

    A handful of actions says little of the size of a feature. Among few, the largest values differ
    by luck, and so do the squares of what is rarely not zero: both must speak for it.
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
    """What a belief holds of the actions on offer."""

    menu: Menu
    belief: Belief
    rewards: Floats  # (M, K)
    weights: Floats  # (M,)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    noise: float
    past: Past
    elsewhere: Callable[[], tuple[tuple[Floats, Floats], ...]]  # the two in other contexts


def least_ratio(outlook: Outlook) -> Mixture:
    """Pay the least regret per unit of information, here or on average over contexts."""
    others = outlook.elsewhere()
    if not others:
        return minimise_ratio(outlook.regret, outlook.gain)
    regrets, gains = zip(*others, (outlook.regret, outlook.gain), strict=True)
    return minimise_contextual_ratio(regrets, gains)


def follow_draw(outlook: Outlook) -> Mixture:
    """Follow one sampled parameter."""
    return Spread(probability_matching(outlook.rewards, outlook.weights, outlook.menu.actions))


class PosteriorRule(Rule[Mind]):
    """Choose by a posterior over the parameter; the subclasses only set its two choices.

    ``sparsity``, ``radius`` (of an l1 ball that holds the parameter) and ``noise`` (standard
    deviation) are learned if not given. ``posterior`` is a name, with settings in brackets if need
    be, or an object with an ``update`` method; ``rate`` a name, a number or a function of
    ``Progress``; ``gain`` is "full" (the paper's), "conditional" (Hao et al. 2021) or "shannon" (no
    more than a noisy reward can tell). Where actions change with the context, optimism sums over
    the different ``sets`` offered so far, or a uniform sample of so many, and the information ratio
    is averaged over the last ``contexts``, one being the set on offer alone.
    With a ``discount`` below one, old rewards count less and less; the guarantees are then void.
    An ``action_bound`` (of the features of actions in size) holds the policy to what Theorems 2 and
    3 assume: all else is refused.
    """

    optimistic: ClassVar[bool]
    proven: ClassVar[tuple[str, ...]] = ()  # the rates for which a theorem covers the policy
    default_gain: ClassVar[str] = "full"
    bounded_ratios: ClassVar[tuple[int, ...]] = ()  # powers whose ratio Lemma IR_bound bounds

    def __init__(
        self,
        dimension: int,
        *,
        sparsity: int | None = None,
        radius: float | None = None,
        noise: float | None = None,
        posterior: str | Any = "subset",
        rate: str | float | Rate | None = None,
        eta: float = 1.0,
        gain: str | None = None,
        particles: int = 100,
        sweeps: int = 2,
        budget_ms: float | None = None,
        sets: int = SETS,
        contexts: int = 1,
        discount: float = 1.0,
        action_bound: float | None = None,
    ) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.sparsity = None if sparsity is None else as_count(sparsity, "sparsity", 1, dimension)
        self.radius = None if radius is None else as_radius(radius)
        self.noise = None if noise is None else as_number(noise, "noise", SMALLEST)
        self.posterior = posterior
        self.model = self._find_model()
        self.rate = self._default_rate() if rate is None else rate
        if not isinstance(self.rate, str) and not callable(self.rate):
            self.rate = as_number(self.rate, "rate", 0.0)
        self.eta = as_number(eta, "eta", 0.0)
        self.gain = self.default_gain if gain is None else gain
        self.particles = as_count(particles, "particles", 2)
        self.sweeps = as_count(sweeps, "sweeps")
        self.budget_ms = None
        if budget_ms is not None:
            self.budget_ms = as_number(budget_ms, "budget_ms", 0.0, strict=True)
            if isinstance(self.model, Posterior) and not self.model.takes_budget:
                raise ValueError(
                    f"budget_ms must be left out for {type(self.model).__name__}, which has no "
                    f"moves to put off, got {budget_ms!r}"
                )
        self._rate = as_rate(self.rate)
        if not isinstance(self.gain, str) or self.gain not in GAINS:
            raise ValueError(f"gain must be one of {', '.join(GAINS)}{meant(gain, GAINS)}")
        self.sets, self.contexts = as_count(sets, "sets"), as_count(contexts, "contexts")
        self.discount = as_number(discount, "discount", 0.0, strict=True)
        if self.discount > 1.0:
            raise ValueError(f"discount must be at most 1, got {discount!r}")
        self.action_bound = None
        if action_bound is not None:
            self.action_bound = as_number(action_bound, "action_bound", 0.0, strict=True)
        check_coverage(self)

    def _default_rate(self) -> str:
        if not self.optimistic:
            return "zero"
        # A radius that is given limits optimism; without one, less is better (docs/defaults.md).
        radius = self.given("radius")
        bounded = radius is not None and radius < math.inf
        has_effect = not isinstance(self.model, Posterior) or self.model.in_ball
        return "balanced" if bounded and has_effect else "cautious"

    def given(self, name: str) -> Any:
        """A setting as the posterior was told it; None is to be learned."""
        return getattr(self.model if isinstance(self.model, Posterior) else self, name)

    def _find_model(self) -> Any:
        known = {name: getattr(self, name) for name in KNOWABLE}
        return as_posterior(self.posterior, self.dimension, **known)

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
        if mind.belief is None:
            given = self.given("noise")
            noise = 1.0 if given is None else given
        else:
            noise = mind.belief.noise()
        seconds = math.inf if self.budget_ms is None else 0.001 * self.budget_ms
        tuning = Tuning(self.eta, rate / noise, self.particles, self.sweeps, seconds)
        belief = self.model.update(mind.belief, evidence, tuning, rng)
        return Mind(belief, evidence, rate, mind.ratios, mind.root_ratios, mind.recent)

    def law(self, mind: Mind, past: Past, menu: Menu) -> Plan:
        belief = formed(mind)
        rewards = belief.rewards_on(menu)
        under_way = awaited(mind.awaited, belief, past.pending, menu, rewards)
        directions, resolved = (None, None)
        if under_way is not None:
            directions, resolved = under_way.directions, under_way.resolved
        appraiser = Appraiser.of(belief, GAINS[self.gain], directions)
        regret, gain = appraiser.appraise(rewards, resolved=resolved)
        unit = appraiser.noise
        elsewhere = partial(appraiser.elsewhere, mind.recent)
        mixture = self._mixture(
            Outlook(menu, belief, rewards, appraiser.weights, regret, gain, unit, past, elsewhere)
        )
        paid, learned = mixture.mean(regret), mixture.mean(gain) / unit**2
        info = Information(paid, learned, information_ratio(paid / unit, learned), mind.rate)
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
        raise NotImplementedError(f"{type(self).__name__} must have a method _mixture")

    def _learning_rate(self, mind: Mind, evidence: Evidence, menu: Menu | None) -> float:
        actions = np.zeros((1, self.dimension)) if menu is None else menu.actions
        progress = Progress(
            evidence.rounds, self.dimension, self.known_sparsity(mind.belief), mind.ratios,
            mind.root_ratios, actions, self.action_bound,
        )  # fmt: skip
        return as_number(self._rate(progress), "rate", 0.0)

    def known_sparsity(self, belief: Belief | None) -> float:
        """The sparsity as given, or as believed."""
        sparsity = self.given("sparsity")
        if sparsity is not None:
            return float(sparsity)
        return 1.0 if belief is None else max(1.0, float(belief.particles().inclusion().sum()))


def formed(mind: Mind) -> Belief:
    """The belief of a mind that has thought."""
    if mind.belief is None:
        raise ValueError("beliefs must be formed before a law is asked for: refresh the policy")
    return mind.belief
