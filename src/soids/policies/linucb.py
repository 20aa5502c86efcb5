"""Acting on an ellipsoid that holds the parameter: optimism, and what it pays to shrink it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Floats, as_number, as_share
from soids.evidence import Menu
from soids.information import information_ratio, minimise_ratio
from soids.kernels.lengths import lengths_of
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision, Information
from soids.regression.ridge import Ellipsoid, ridge, self_normalised_radius

SLACK = 1.0 + 1e-9  # what rounding may do to a length


class Bounds(NamedTuple):
    """What an ellipsoid says of the actions on offer, (K,) each."""

    lower: Floats  # least reward that any parameter inside gives
    upper: Floats
    lengths: Floats

    @classmethod
    def on(cls, ellipsoid: Ellipsoid, menu: Menu) -> "Bounds":
        middle, lengths = menu.actions @ ellipsoid.centre, ellipsoid.lengths(menu.actions)
        reach = ellipsoid.radius * lengths
        return cls(middle - reach, middle + reach, lengths)

    def regret(self) -> Floats:
        """The most that each action can fall short of the best."""
        regret: Floats = self.upper.max() - self.lower
        return regret

    def gain(self) -> Floats:
        """What each action teaches of the parameter, in nats, as of a ridge regression."""
        gain: Floats = 0.5 * np.log1p(self.lengths**2)
        return gain

    def info(self, index: int, noise: float) -> Information:
        """What one action is feared to cost, and expected to teach."""
        regret, gain = float(self.regret()[index]), float(self.gain()[index])
        return Information(regret, gain, information_ratio(regret / noise, gain), 0.0)


class Confident(ABC):
    """A policy that holds the ellipsoid of Abbasi-Yadkori, Pal, Szepesvari (2011); the subclasses
    say how to act on it.

    ``norm`` bounds the parameter's l2 norm; ``delta`` is the probability that the ellipsoid ever
    fails. With ``alpha`` the radius is that number at all times, and neither is needed.
    """

    memory = None

    def __init__(
        self,
        dimension: int,
        *,
        noise: float = 1.0,
        norm: float | None = None,
        ridge: float = 1.0,
        delta: float = 0.01,
        alpha: float | None = None,
    ) -> None:
        if norm is None and alpha is None:
            raise ValueError(
                "norm must be told (a bound on the parameter's l2 norm), or alpha given (a fixed "
                "radius), got neither"
            )
        if norm is not None and alpha is not None:
            raise ValueError(f"norm must be left out beside a fixed radius alpha, got {norm!r}")
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension
        self.noise = as_number(noise, "noise", SMALLEST)
        self.norm = None if norm is None else as_number(norm, "norm", 0.0)
        self.ridge = as_number(ridge, "ridge", SMALLEST)
        self.delta = as_share(delta, "delta")
        self.alpha = None if alpha is None else as_number(alpha, "alpha", 0.0)

    __repr__ = as_called

    @abstractmethod
    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        self.ledger.settle(decision, reward)

    def ellipsoid(self) -> Ellipsoid:
        """Where the parameter may be, by all rewards so far."""
        centre, factor = ridge(self.ledger.evidence, self.ridge)
        if self.alpha is not None:
            return Ellipsoid(centre, factor, self.alpha)
        norm = self.norm or 0.0
        radius = self_normalised_radius(factor, self.ridge, self.noise, norm, self.delta)
        return Ellipsoid(centre, factor, radius)


class LinUCB(Confident):
    """Optimism over the ellipsoid: LinUCB, or OFUL.

    Lengths only ever shrink, so those of earlier rounds are bounds, and few have to be found anew.

    >>> policy, rng = LinUCB(2, norm=1.0, noise=0.1), np.random.default_rng(0)
    >>> for _ in range(50):
    ...     decision = policy.choose(np.eye(2), rng)
    ...     policy.observe(decision, reward=float(decision.index))
    >>> decision.index
    1
    """

    _bounded: tuple[Menu, Floats] | None = None  # the last menu, and (K,) what no length exceeds

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        ellipsoid = self.ellipsoid()
        if self._bounded is None or self._bounded[0] is not menu:
            self._bounded = menu, SLACK * ellipsoid.lengths(menu.actions)
        index, length = most_hopeful(ellipsoid, menu, self._bounded[1])
        regret, gain = 2.0 * ellipsoid.radius * length, 0.5 * math.log1p(length**2)
        info = Information(regret, gain, information_ratio(regret / self.noise, gain), 0.0)
        return self.ledger.enter(menu, index, 1.0, info)


def most_hopeful(ellipsoid: Ellipsoid, menu: Menu, bounds: Floats) -> tuple[int, float]:
    """The action with the largest upper bound, and its length; the ``bounds`` (K,) on all lengths
    are lowered where one was found.

    An action is looked at only if no length known so far rules it out. What is found depends
    neither on the bounds nor on who else was looked at.
    """
    middle: Floats = menu.actions @ ellipsoid.centre
    upper = middle + ellipsoid.radius * bounds
    lengths = np.full(len(upper), np.nan)
    count = 1
    while np.isnan(lengths[index := int(upper.argmax())]):
        count = min(4 * count, len(upper))
        likely = upper.argpartition(-count)[-count:]
        lengths[likely] = lengths_of(likely, menu.actions, ellipsoid.factor)
        upper[likely] = middle[likely] + ellipsoid.radius * lengths[likely]
        bounds[likely] = SLACK * lengths[likely]
    return index, float(lengths[index])


class FrequentistIDS(Confident):
    """The information ratio of a confidence set (Kirschner & Krause 2018), minimised exactly.

    Regret is the most that an action can fall short of the best inside the ellipsoid. The gain is
    what it teaches of the parameter (``"full"``), or of the optimistic action's reward alone
    (``"directed"``).
    """

    def __init__(
        self,
        dimension: int,
        *,
        noise: float = 1.0,
        norm: float | None = None,
        ridge: float = 1.0,
        delta: float = 0.01,
        alpha: float | None = None,
        gain: str = "full",
    ) -> None:
        super().__init__(dimension, noise=noise, norm=norm, ridge=ridge, delta=delta, alpha=alpha)
        if not isinstance(gain, str) or gain not in ("full", "directed"):
            raise ValueError(f"gain must be one of full, directed, got {gain!r}")
        self.gain = gain

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        ellipsoid = self.ellipsoid()
        bounds = Bounds.on(ellipsoid, menu)
        regret, gain = bounds.regret(), bounds.gain()
        if self.gain == "directed":
            gain = directed_gain(ellipsoid, bounds, menu)
        mixture = minimise_ratio(regret, gain)
        index = mixture.draw(rng.random())
        paid, learned = mixture.mean(regret), mixture.mean(gain)
        info = Information(paid, learned, information_ratio(paid / self.noise, learned), 0.0)
        return self.ledger.enter(menu, index, mixture.probability(index), info)


def directed_gain(ellipsoid: Ellipsoid, bounds: Bounds, menu: Menu) -> Floats:  # (K,)
    """What each action teaches of the optimistic action's reward, in nats.

    Half the log of the factor by which a rank-one update of the precision shrinks its variance.
    """
    hopeful = int(bounds.upper.argmax())
    if bounds.lengths[hopeful] == 0.0:
        return np.zeros(len(menu.actions))
    rows = ellipsoid.whitened(menu.actions)
    shared = rows @ rows[hopeful] / bounds.lengths[hopeful]
    gain: Floats = -0.5 * np.log1p(-(shared**2) / (1.0 + bounds.lengths**2))
    return gain
