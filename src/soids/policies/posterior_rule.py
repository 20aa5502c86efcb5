"""What SOIDS, FGTS, sparse IDS and Thompson sampling share: a posterior and a way to act on it."""

import math
import warnings
from abc import ABC, abstractmethod
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
    obedient,
)
from soids.policies.appraisal import GAINS, Appraiser
from soids.policies.coverage import check_coverage, check_fixed, warn_of_large
from soids.policies.explanation import Explanation, explain
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision, Information
from soids.posteriors import (
    POSTERIORS,
    Belief,
    Gaussian,
    Langevin,
    Tuning,
    as_posterior,
)
from soids.posteriors.cloud import Cloud
from soids.rates import Progress, Rate, as_rate
from soids.spelling import meant

TOLD = ("sparsity", "radius", "noise")
OWN: tuple[type[Any], ...] = tuple(POSTERIORS.values())


class Memory(NamedTuple):
    """What a policy holds beyond its ledger."""

    belief: Belief | None = None  # as of the last choice
    believed: Evidence | None = None  # the evidence it stands for
    rate: float = 0.0  # and the learning rate
    ratios: float = 0.0  # sum of the 2-ratios of the policies played
    root_ratios: float = 0.0  # sum of the square roots of their 3-ratios
    recent: tuple[Menu, ...] = ()  # the last contexts over which the ratio is averaged
    played: Mixture | None = None  # the distribution over actions of the last choice


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
            "tell the radius",
            RuntimeWarning,
            stacklevel=3,
        )


class Outlook(NamedTuple):
    """What a belief holds of the actions on offer."""

    menu: Menu
    rewards: Floats  # (M, K)
    weights: Floats  # (M,)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    noise: float
    elsewhere: Callable[[], tuple[tuple[Floats, Floats], ...]]  # the two in other contexts


def inquire(outlook: Outlook) -> Mixture:
    """Pay the least regret per unit of information, here or on average over contexts."""
    others = outlook.elsewhere()
    if not others:
        return minimise_ratio(outlook.regret, outlook.gain)
    regrets, gains = zip(*others, (outlook.regret, outlook.gain), strict=True)
    return minimise_contextual_ratio(regrets, gains)


def obey(outlook: Outlook) -> Mixture:
    """Follow one sampled parameter."""
    return Spread(obedient(outlook.rewards, outlook.weights, outlook.menu.actions))


class PosteriorPolicy(ABC):
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
            if isinstance(self.model, Gaussian | Langevin):
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
        self.ledger = Ledger(self.dimension, self.sets, self.discount)
        self.memory = Memory()

    __repr__ = as_called

    def _default_rate(self) -> str:
        if not self.optimistic:
            return "zero"
        # A radius that is told holds optimism back; without one, less is better (docs/defaults.md).
        radius = self._told("radius")
        bounded = radius is not None and radius < math.inf
        heeded = not isinstance(self.model, OWN) or self.model.heeds_radius
        return "balanced" if bounded and heeded else "cautious"

    def _told(self, name: str) -> Any:
        """A setting as the posterior was told it; None is to be learned."""
        return getattr(self.model if isinstance(self.model, OWN) else self, name)

    def _find_model(self) -> Any:
        told = {name: getattr(self, name) for name in TOLD}
        return as_posterior(self.posterior, self.dimension, **told)

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        if self.action_bound is not None:
            check_fixed(menu, self.ledger.menu, self.action_bound)
        elif menu is not self.ledger.menu:
            warn_of_large(self, menu)
        if self._told("radius") is None and menu is not self.ledger.menu:
            warn_of_uneven(menu.actions)
        rate = self._learning_rate(menu)
        belief = self._update(rate, rng)
        appraiser = Appraiser.of(belief, GAINS[self.gain], self.ledger.pending.values())
        rewards, unit, old = belief.rewards_on(menu), appraiser.noise, self.memory
        regret, gain = appraiser.appraise(rewards)
        elsewhere = partial(appraiser.elsewhere, old.recent)
        mixture = self._mixture(
            Outlook(menu, rewards, appraiser.weights, regret, gain, unit, elsewhere)
        )
        index = mixture.draw(rng.random())
        paid, learned = mixture.mean(regret), mixture.mean(gain) / unit**2
        ratio, cubed = (information_ratio(paid / unit, learned, power) for power in (2, 3))
        self.memory = Memory(
            belief, self.ledger.evidence, rate,
            old.ratios + (ratio if learned > 0.0 else 0.0),  # no gain at all has no finite ratio
            old.root_ratios + (math.sqrt(cubed) if learned > 0.0 else 0.0),
            (*old.recent, menu)[1 - self.contexts :] if self.contexts > 1 else (),
            mixture,
        )  # fmt: skip
        info = Information(paid, learned, ratio, rate)
        if self.budget_ms is not None and isinstance(belief, Cloud):
            info = info._replace(effective=belief.effective_size(), behind=belief.behind())
        return self.ledger.enter(menu, index, mixture.probability(index), info)

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        self.ledger.settle(decision, reward)

    def inclusion(self) -> Floats:  # (d,)
        """The probability that each feature matters, given all rewards so far."""
        return self._current_belief().particles().inclusion()

    def explain(self, decision: Decision, names: Sequence[str] | None = None) -> Explanation:
        """Why this action: its expected cost and lesson, and the features that speak for it.

        With ``names`` (d,) the sentence calls features by theirs.
        """
        self.ledger.check_own(decision)
        belief = self.memory.belief
        if belief is None or decision.round != self.ledger.decisions:
            belief = self._current_belief()
        return explain(decision, Appraiser.of(belief, GAINS[self.gain], ()), names)

    @abstractmethod
    def _mixture(self, outlook: Outlook) -> Mixture:
        """The distribution over actions to draw from."""

    def _learning_rate(self, menu: Menu) -> float:
        progress = Progress(
            self.ledger.evidence.rounds, self.dimension, self._sparsity(),
            self.memory.ratios, self.memory.root_ratios, menu.actions, self.action_bound,
        )  # fmt: skip
        return as_number(self._rate(progress), "rate", 0.0)

    def _sparsity(self) -> float:
        """The sparsity as told, or as believed."""
        sparsity, belief = self._told("sparsity"), self.memory.belief
        if sparsity is not None:
            return float(sparsity)
        return 1.0 if belief is None else max(1.0, float(belief.particles().inclusion().sum()))

    def _update(self, rate: float, rng: np.random.Generator) -> Belief:
        memory, evidence = self.memory, self.ledger.evidence
        if memory.belief is None:
            told = self._told("noise")
            noise = 1.0 if told is None else told
        elif memory.believed is evidence and memory.rate == rate:
            return memory.belief
        else:
            noise = memory.belief.noise()
        seconds = math.inf if self.budget_ms is None else 0.001 * self.budget_ms
        tuning = Tuning(self.eta, rate / noise, self.particles, self.sweeps, seconds)
        updated: Belief = self.model.update(memory.belief, evidence, tuning, rng)
        return updated

    def _current_belief(self) -> Belief:
        """The belief for all evidence so far; drawn aside, so that asking changes nothing."""
        menu = self.ledger.menu or Menu(np.zeros((1, self.dimension)))
        aside = np.random.default_rng(self.ledger.decisions)
        return self._update(self._learning_rate(menu), aside)
