"""One sparse parameter for all arms, a lasso anew in every round: three published policies.

Penalties are the ``alpha`` of scikit-learn, beside half the mean square, as in the authors' code;
an intercept is not penalised. The authors' constants are in units of reward. A ``penalty`` that is
not given is their constant over the noise of their own experiments, times the noise that the scaled
lasso estimates. Of several best actions one is drawn. ``t`` counts rewards.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.information import Spread, greedy
from soids.policies.enlarging import Embedding, Menus
from soids.policies.policy import Family, Generator, Menu, Outcome, Past, Plan, Rule
from soids.policies.prediction import Coefficients
from soids.records import check_arrays, check_dimension, check_numbers
from soids.regression.lasso import lasso
from soids.regression.scaled_lasso import Sums, scaled_noise
from soids.regression.thresholded import large, least_squares_on

PATIENCE = 100  # rewards after which a policy warns if all coefficients are zero


class Estimate(NamedTuple):
    """What a rule has learned: an estimate of the parameter."""

    theta: Floats  # (d,)  what it acts on
    lasso: Floats  # (d,)  where the next lasso begins
    rounds: float = 0  # number of rewards it was estimated from
    pseudo: Evidence | None = None  # mean contexts and pseudo-rewards, if it imputes them
    noise: float = 0.0  # as estimated, if the penalty is not given

    def validate(self) -> None:
        check_arrays(self, theta="d", lasso="d")
        check_numbers(self, "rounds noise", 0.0)


@dataclass(frozen=True)
class LassoRule(Rule[Estimate]):
    """Act on the latest estimate; a rule adds how to estimate and how to act."""

    least: ClassVar[int] = 5  # an estimate needs more rewards than this, as in the authors' code
    per_noise: ClassVar[float] = 1.0  # the penalty, if it is not given, over the noise

    dimension: int

    @property
    def given(self) -> float | None:
        """The constant of the penalty, in units of reward, if it is given."""
        return getattr(self, "penalty", None)

    def start(self) -> Estimate:
        zeros = np.zeros(self.dimension)
        return Estimate(zeros, zeros)

    def check_mind(self, mind: Estimate, past: Past) -> None:
        pseudo = [] if mind.pseudo is None else [len(mind.pseudo.moment)]
        check_dimension(self.dimension, theta=[len(mind.theta)], pseudo=pseudo)

    def think(self, mind: Estimate, past: Past, menu: Menu | None, rng: Generator) -> Estimate:
        return self._estimated(mind, past.evidence)

    def law(self, mind: Estimate, past: Past, menu: Menu) -> Plan:
        return Plan(greedy(menu.actions @ mind.theta))

    def enlarged(self, mind: Estimate, embedding: Embedding) -> Estimate:
        pseudo = mind.pseudo and embedding.evidence(mind.pseudo, Menus(embedding))
        theta, latest = embedding.rows(mind.theta), embedding.rows(mind.lasso)
        return mind._replace(theta=theta, lasso=latest, pseudo=pseudo)

    def coefficients(self, mind: Estimate, past: Past) -> Coefficients:
        return Coefficients.of(mind.theta)

    def _estimated(self, mind: Estimate, evidence: Evidence) -> Estimate:
        """The mind with an estimate from all rewards so far."""
        if evidence.rounds <= max(mind.rounds, self.least):
            return mind
        penalty, noise = self.given, 0.0
        if penalty is None:
            noise = scaled_noise(Sums.of(evidence), mind.noise, mind.lasso)
            penalty = self.per_noise * noise
        theta, latest = self._estimate(evidence, mind.lasso, penalty)
        warn_of_zeros(self.name, theta, mind.rounds, evidence.rounds)
        return Estimate(theta, latest, evidence.rounds, mind.pseudo, noise)

    def _estimate(self, evidence: Evidence, start: Floats, penalty: float) -> tuple[Floats, Floats]:
        """The parameter to act on, and the lasso that it is made of, (d,) each, by the constant of
        the penalty.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class SALassoBanditRule(LassoRule):
    """The sparsity-agnostic lasso bandit (Oh, Iyengar, Zeevi 2021): greedy on the lasso.

    The penalty in round t is ``penalty * sqrt((4 log t + 2 log d) / t)``; the authors' 0.4, for
    noise 0.5, is 0.8 times the noise if ``penalty`` is not given.
    """

    per_noise = 0.8

    penalty: float | None = None
    intercept: bool = True  # whether rewards may have a base level of any size

    def _estimate(self, evidence: Evidence, start: Floats, penalty: float) -> tuple[Floats, Floats]:
        t = evidence.rounds
        decay = math.sqrt((4.0 * math.log(t) + 2.0 * math.log(self.dimension)) / t)
        theta = warm_lasso(evidence, penalty * decay, start)
        return theta, theta


@dataclass(frozen=True, kw_only=True)
class ThresholdedLassoBanditRule(LassoRule):
    """The thresholded lasso bandit (Ariu, Abe, Proutiere 2022): greedy on least squares over the
    features whose lasso coefficients are large; any action if there are none.

    The penalty in round t is ``penalty * sqrt(2 log t log d / t)``; four times it is a threshold.
    The authors' 0.02, for noise 1, is 0.02 times the noise if ``penalty`` is not given.
    """

    least = 0
    per_noise = 0.02

    penalty: float | None = None
    intercept: bool = True  # whether rewards may have a base level of any size

    def _estimate(self, evidence: Evidence, start: Floats, penalty: float) -> tuple[Floats, Floats]:
        t = max(evidence.rounds, 2)  # a single reward would go unpenalised
        decay = math.sqrt(2.0 * math.log(t) * math.log(max(self.dimension, 2)) / t)
        latest = warm_lasso(evidence, penalty * decay, start)
        return least_squares_on(evidence, large(latest, penalty * decay)), latest


@dataclass(frozen=True, kw_only=True)
class DRLassoBanditRule(LassoRule):
    """The doubly robust lasso bandit (Kim & Paik 2019): a lasso of pseudo-rewards on the mean of
    all actions on offer, so that every arm is learned of whichever was played.

    Choices are uniform in the first ``uniform`` rounds, then with probability
    ``chance * sqrt((log t + log d) / t)``, and else greedy. Pseudo-rewards are at most ``clip`` in
    size (the authors' 3), or three times the root mean square of the rewards if that is not given.
    The penalty is ``penalty * sqrt((log t + log d) / t)`` (the authors' 0.5; 0.3 times the noise of
    the pseudo-rewards if it is not given). Nothing can be learned from actions that never change,
    as their mean is always the same.
    """

    needs_sets = True
    per_noise = 0.3

    penalty: float | None = None
    chance: float = 1.0
    uniform: int = 9
    clip: float | None = None

    def think(self, mind: Estimate, past: Past, menu: Menu | None, rng: Generator) -> Estimate:
        return mind if mind.pseudo is None else self._estimated(mind, mind.pseudo)

    def law(self, mind: Estimate, past: Past, menu: Menu) -> Plan:
        t = past.decisions + 1
        share = 1.0 if t <= self.uniform else min(1.0, self.chance * self._decay(t))
        best = greedy(menu.actions @ mind.theta).masses
        return Plan(Spread(share / len(best) + (1.0 - share) * best))

    def learn(self, mind: Estimate, past: Past, outcomes: Sequence[Outcome]) -> Estimate:
        pseudo = Evidence.empty(self.dimension) if mind.pseudo is None else mind.pseudo
        mind = self._estimated(mind, pseudo)
        clip = self.clip or 3.0 * math.sqrt(past.evidence.energy / max(past.evidence.rounds, 1.0))
        for decision, menu, reward in outcomes:
            assert menu is not None  # a rule that needs action sets gets them
            place, probability = decision.place, decision.probability
            filled = pseudo_reward(menu, place, probability, reward, mind.theta)
            filled = min(max(filled, -clip), clip)
            pseudo = pseudo.note(menu.actions.mean(axis=0), filled)
        return mind._replace(pseudo=pseudo)

    def _estimate(self, evidence: Evidence, start: Floats, penalty: float) -> tuple[Floats, Floats]:
        theta = warm_lasso(evidence, penalty * self._decay(evidence.rounds), start)
        return theta, theta

    def _decay(self, t: float) -> float:
        return math.sqrt((math.log(t) + math.log(self.dimension)) / t)


def warn_of_zeros(name: str, theta: Floats, before: float, rounds: float) -> None:
    """Warn once, when enough rewards have come and no feature seems to matter."""
    if before < PATIENCE <= rounds and not theta.any():
        text = f"every coefficient is zero after {rounds:.0f} rewards, so {name} draws any action: "
        text += "if it stays so, give a smaller penalty or features with larger effects"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def warm_lasso(evidence: Evidence, penalty: float, start: Floats) -> Floats:  # (d,)
    """The lasso, from an estimate that is near."""
    weights = np.full(len(start), evidence.rounds * penalty)
    return lasso(evidence.played, evidence.moment, weights, start)


SALassoBandit = Family(SALassoBanditRule)
ThresholdedLassoBandit = Family(ThresholdedLassoBanditRule)
DRLassoBandit = Family(DRLassoBanditRule)


def pseudo_reward(
    menu: Menu, index: int, probability: float, reward: float, theta: Floats
) -> float:
    """The mean reward of all actions on offer: imputed, and corrected by what was seen of one.

    >>> pseudo_reward(Menu(np.eye(2)), 0, 0.25, reward=2.0, theta=np.array([1.0, 3.0]))
    4.0
    """
    imputed = menu.actions @ theta
    surprise = reward - imputed[index]
    return float(imputed.mean() + surprise / (len(imputed) * probability))
