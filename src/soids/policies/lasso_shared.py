"""One sparse parameter for all arms, a lasso anew in every round: three published policies.

Penalties are the ``alpha`` of scikit-learn and glmnet, beside half the mean square, as in the
authors' own code; no intercept is fitted. Where the authors take the first of several best actions,
one of them is drawn. ``t`` counts rewards, ``d`` the dimension.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Floats, as_count, as_number
from soids.evidence import Evidence, Menu
from soids.information import Mixture, Spread, greedy
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision
from soids.regression.thresholded import large, least_squares_on
from soids.regression.weighted_lasso import weighted_lasso

SILENCE = 5  # rewards from which nothing is estimated yet: the authors' code


class Estimate(NamedTuple):
    """What a policy holds beyond its ledger."""

    theta: Floats  # (d,)  what it acts on
    lasso: Floats  # (d,)  where the next lasso begins
    rounds: float = 0  # rewards it was estimated from
    pseudo: Evidence | None = None  # mean contexts and pseudo-rewards, if it imputes them


class Estimating(ABC):
    """A policy that acts on the latest estimate; the subclasses say how to estimate and to act."""

    def __init__(self, dimension: int, *, penalty: float) -> None:
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension
        self.penalty = as_number(penalty, "penalty", SMALLEST)
        zeros = np.zeros(self.dimension)
        self.memory = Estimate(zeros, zeros)

    __repr__ = as_called

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        mixture = self._mixture(menu, self.theta())
        index = mixture.draw(rng.random())
        return self.ledger.enter(menu, index, mixture.probability(index))

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        self.ledger.settle(decision, reward)

    def theta(self) -> Floats:  # (d,)
        """The parameter as estimated from all rewards so far."""
        evidence = self._evidence()
        if evidence.rounds > max(self.memory.rounds, self._silence()):
            theta, lasso = self._estimate(evidence)
            self.memory = self.memory._replace(theta=theta, lasso=lasso, rounds=evidence.rounds)
        return self.memory.theta

    def _evidence(self) -> Evidence:
        return self.ledger.evidence

    def _silence(self) -> int:
        return SILENCE

    def _mixture(self, menu: Menu, theta: Floats) -> Mixture:
        return greedy(menu.actions @ theta)

    def _lasso(self, evidence: Evidence, penalty: float) -> Floats:  # (d,)
        weights = np.full(self.dimension, evidence.rounds * penalty)
        return weighted_lasso(evidence.played, evidence.moment, weights, self.memory.lasso)

    @abstractmethod
    def _estimate(self, evidence: Evidence) -> tuple[Floats, Floats]:
        """The parameter to act on, and the lasso that it is made of, (d,) each."""


class SALassoBandit(Estimating):
    """The sparsity-agnostic lasso bandit (Oh, Iyengar, Zeevi 2021): greedy on the lasso.

    The penalty in round t is ``penalty * sqrt((4 log t + 2 log d) / t)``.

    >>> policy, rng = SALassoBandit(2, penalty=0.1), np.random.default_rng(0)
    >>> for _ in range(30):
    ...     decision = policy.choose(rng.standard_normal((5, 2)), rng)
    ...     policy.observe(decision, reward=float(decision.action[1]))
    >>> policy.theta()[1] > 0.8
    np.True_
    """

    def __init__(self, dimension: int, *, penalty: float = 0.4) -> None:
        super().__init__(dimension, penalty=penalty)

    def _estimate(self, evidence: Evidence) -> tuple[Floats, Floats]:
        t = evidence.rounds
        decay = math.sqrt((4.0 * math.log(t) + 2.0 * math.log(self.dimension)) / t)
        lasso = self._lasso(evidence, self.penalty * decay)
        return lasso, lasso


class ThresholdedLassoBandit(Estimating):
    """The thresholded lasso bandit (Ariu, Abe, Proutiere 2022): greedy on least squares over the
    features whose lasso coefficients are large; any action if there are none.

    The penalty in round t is ``penalty * sqrt(2 log t log d / t)``; four times it is a threshold.
    """

    def __init__(self, dimension: int, *, penalty: float = 0.02) -> None:
        super().__init__(dimension, penalty=penalty)

    def _silence(self) -> int:
        return 0

    def _estimate(self, evidence: Evidence) -> tuple[Floats, Floats]:
        t = max(evidence.rounds, 2)  # a single reward would go unpenalised
        decay = math.sqrt(2.0 * math.log(t) * math.log(max(self.dimension, 2)) / t)
        lasso = self._lasso(evidence, self.penalty * decay)
        return least_squares_on(evidence, large(lasso, self.penalty * decay)), lasso


class DRLassoBandit(Estimating):
    """The doubly robust lasso bandit (Kim & Paik 2019): a lasso of pseudo-rewards on the mean of
    all actions on offer, so that every arm is learned of whichever was played.

    Choices are uniform in the first ``uniform`` rounds, then with probability
    ``chance * sqrt((log t + log d) / t)``, and else greedy. Pseudo-rewards are clipped to
    ``clip`` in size. The penalty is ``penalty * sqrt((log t + log d) / t)``. It cannot learn if the
    same actions are on offer in every round: their mean never changes.
    """

    def __init__(
        self,
        dimension: int,
        *,
        penalty: float = 0.5,
        chance: float = 1.0,
        uniform: int = 9,
        clip: float = 3.0,
    ) -> None:
        super().__init__(dimension, penalty=penalty)
        self.chance = as_number(chance, "chance", 0.0)
        self.uniform = as_count(uniform, "uniform", 0)
        self.clip = as_number(clip, "clip", 0.0, strict=True)

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        theta, pseudo = self.theta(), self._evidence()
        for settled, value in self.ledger.settle(decision, reward):
            filled = pseudo_reward(settled, value, theta)
            filled = min(max(filled, -self.clip), self.clip)
            pseudo = pseudo.note(settled.menu.actions.mean(axis=0), filled)
        self.memory = self.memory._replace(pseudo=pseudo)

    def _evidence(self) -> Evidence:
        pseudo = self.memory.pseudo
        return Evidence.empty(self.dimension) if pseudo is None else pseudo

    def _mixture(self, menu: Menu, theta: Floats) -> Mixture:
        t = self.ledger.decisions + 1
        share = 1.0 if t <= self.uniform else min(1.0, self.chance * self._decay(t))
        best = greedy(menu.actions @ theta).masses
        return Spread(share / len(best) + (1.0 - share) * best)

    def _estimate(self, evidence: Evidence) -> tuple[Floats, Floats]:
        lasso = self._lasso(evidence, self.penalty * self._decay(evidence.rounds))
        return lasso, lasso

    def _decay(self, t: float) -> float:
        return math.sqrt((math.log(t) + math.log(self.dimension)) / t)


def pseudo_reward(decision: Decision, reward: float, theta: Floats) -> float:
    """The mean reward of all actions on offer: imputed, and corrected by what was seen of one.

    >>> from soids.policies.policy import SILENT
    >>> decision = Decision(0, 0.25, 1, SILENT, Menu(np.eye(2)))
    >>> pseudo_reward(decision, reward=2.0, theta=np.array([1.0, 3.0]))
    4.0
    """
    imputed = decision.menu.actions @ theta
    surprise = reward - imputed[decision.index]
    return float(imputed.mean() + surprise / (len(imputed) * decision.probability))
