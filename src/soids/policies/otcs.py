"""Online-to-confidence-set conversion: optimism over a set that a sparse forecaster implies."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from soids.arrays import as_positive, as_share
from soids.evidence import Evidence
from soids.information import TwoPoint
from soids.policies.linucb import Bounds
from soids.policies.policy import Family, Generator, Information, Menu, Outcome, Past, Plan, Rule
from soids.policies.prediction import Coefficients, Prediction
from soids.posteriors import Belief, Posterior, Subset
from soids.records import check_dimension
from soids.regression import conversion
from soids.regression.forecaster import Forecaster, Foresight
from soids.regression.ridge import Ellipsoid
from soids.spelling import check_choice

ENDLESS = 1e100  # minus the log evidence, if every particle has a support too large for the prior

Width = Callable[[float, int, int, float, float, float], float]
WIDTHS: dict[str, Width | None] = {
    "aps2012": conversion.aps_width,
    "clerico": conversion.clerico_width,
    "likelihood_ratio": None,  # comes from the forecaster itself
    "rescaled": conversion.clerico_width,
    "unit_ball": conversion.clerico_width,
}


class Converted(NamedTuple):
    """What OTCS has learned beyond the evidence."""

    foresight: Foresight
    predictions: Evidence  # each round's prediction in place of its reward

    def validate(self) -> None:
        """Its parts say what must hold for them."""


@dataclass(frozen=True, kw_only=True)
class OTCSRule(Rule[Converted]):
    """Optimism over the confidence set of an online forecaster (Abbasi-Yadkori et al. 2012).

    ``radius`` bounds the parameter's l1 norm and ``norm`` its l2 norm (the radius, if not given).
    ``posterior`` is the prior of the forecaster. The set holds the parameter at all times with
    probability ``1 - delta`` if each reward comes before the next choice, as its ``width`` says:

    - ``"likelihood_ratio"`` uses the forecaster's evidence. It needs no bound on mean rewards, and
      holds with every prior whose posterior is sampled by sequential Monte Carlo.
    - ``"clerico"`` is Theorem 4.7 of Clerico et al. (2025) as we reconstruct it, for mean rewards
      up to ``B = radius * feature_bound / noise`` times the noise. ``eta``, the power of the
      likelihood, is the largest that B allows, unless a smaller one is given.
    - ``"rescaled"`` is the same theorem in the unit ``max(radius * feature_bound, noise)``, which
      also stands for the noise: then B is 1 and ``eta`` is 1/2.
    - ``"unit_ball"`` is the same width for B = 1 and ``eta`` 1/2 whatever the radius is: our
      reconstruction of the paper's experiments. It holds only if B is at most 1.
    - ``"aps2012"`` is the width of Abbasi-Yadkori et al. up to the round ``horizon``.

    All but the first are derived for the subset prior. ``"rescaled"`` and ``"unit_ball"`` accept
    another one without a guarantee; the others refuse it. ``factor`` multiplies a width; below 1
    there is no guarantee.
    """

    checks: ClassVar[dict[str, Any]] = {"radius": as_positive, "eta": as_share}

    dimension: int = field(kw_only=False)
    sparsity: int
    radius: float
    noise: float = 1.0
    norm: float | None = None
    feature_bound: float = 1.0
    posterior: str | Any = "subset"
    width: str = "likelihood_ratio"
    factor: float = 1.0
    eta: float | None = None
    horizon: int | None = None
    ridge: float = 1.0
    delta: float = 0.01
    particles: int = 100
    sweeps: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm is not None and self.norm > self.radius:
            raise ValueError(
                f"norm must be at most the radius of {self.radius:g}, as no l2 norm exceeds the "
                f"l1 norm, got {self.norm:g}"
            )
        check_choice(self.width, "width", WIDTHS)
        self._check_width()
        self._check_prior(self.forecaster.model)

    @cached_property
    def forecaster(self) -> Forecaster:
        """The forecaster, whose prior knows what the policy knows if the prior is a name."""
        known: dict[str, Any] = {}
        if isinstance(self.posterior, str):
            known = {"sparsity": self.sparsity, "radius": self.radius, "noise": self.unit()}
        return Forecaster(
            self.dimension, posterior=self.posterior, eta=self.power(), particles=self.particles,
            sweeps=self.sweeps, **known,
        )  # fmt: skip

    def start(self) -> Converted:
        nothing = Evidence.empty(self.dimension)
        return Converted(Foresight(nothing), nothing)

    def check(self, past: Past, menu: Menu) -> None:
        if self.width != "likelihood_ratio" and menu.largest > self.feature_bound:
            raise ValueError(
                f"actions must have features of at most feature_bound = {self.feature_bound:g} in "
                f"size, got {menu.largest:g}"
            )
        if self.width == "aps2012" and past.decisions == self.horizon:
            text = f"the horizon of {self.horizon} rounds is over: from here on the set of aps2012 "
            text += "is not guaranteed to hold the parameter"
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def check_mind(self, mind: Converted, past: Past) -> None:
        seen = mind.foresight.evidence, mind.predictions
        check_dimension(self.dimension, mind=(len(one.moment) for one in seen))
        self.forecaster.check_foresight(mind.foresight)

    def think(self, mind: Converted, past: Past, menu: Menu | None, rng: Generator) -> Converted:
        return mind._replace(foresight=self.forecaster.updated(mind.foresight, rng))

    def law(self, mind: Converted, past: Past, menu: Menu) -> Plan:
        bounds = Bounds.on(self.ellipsoid(mind), menu)
        index = int(bounds.upper.argmax())
        info = Information.of(float(bounds.regret[index]), float(bounds.gain[index]), self.noise)
        return Plan(TwoPoint(index, index, 0.0, info.ratio), info)

    def learn(self, mind: Converted, past: Past, outcomes: Sequence[Outcome]) -> Converted:
        foresight, predictions = mind
        for decision, _, reward in outcomes:
            prediction = float(decision.action @ foresight.mean())
            predictions = predictions.note(decision.action, prediction)
            foresight = foresight.noted(decision.action, reward)
        return Converted(foresight, predictions)

    def coefficients(self, mind: Converted, past: Past) -> Coefficients:
        return Coefficients.under(self._belief(mind).particles())

    def predict(self, mind: Converted, past: Past, menu: Menu) -> Prediction:
        belief = self._belief(mind)
        return Prediction.of(belief.rewards_on(menu), belief.particles().weights)

    def _belief(self, mind: Converted) -> Belief:
        """The belief of the forecaster, which begins with the first reward."""
        if mind.foresight.belief is None:
            raise ValueError(f"{self.name} expects nothing before the first reward: observe one")
        return mind.foresight.belief

    def ellipsoid(self, mind: Converted) -> Ellipsoid:
        """Where the parameter may be, given all choices so far."""
        foresight, predictions = mind
        seen, formula = predictions, WIDTHS[self.width]
        budget = self.ridge * self.largest_norm() ** 2
        if formula is None:
            seen = foresight.believed or Evidence.empty(self.dimension)
            unlikely = math.log(1.0 / self.delta) - self.forecaster.log_evidence_of(foresight)
            budget += 2.0 * self.noise**2 * min(unlikely, ENDLESS)
        else:
            known = self.reach(), self.power(), self.delta
            width = formula(predictions.rounds, self.dimension, self.sparsity, *known)
            budget += self.unit() ** 2 * (self.factor * width)
        return conversion.around_predictions(seen, self.ridge, budget)

    def largest_norm(self) -> float:
        """The bound on the parameter's l2 norm."""
        if self.norm is not None:
            return self.norm
        is_unit = self.width == "unit_ball"
        return min(self.radius, self.noise / self.feature_bound) if is_unit else self.radius

    def unit(self) -> float:
        """The unit of rewards in the width, which the forecaster takes for the noise."""
        largest = self.radius * self.feature_bound
        return max(largest, self.noise) if self.width == "rescaled" else self.noise

    def reach(self) -> float:
        """The bound on mean rewards that the width assumes, in its unit."""
        return 1.0 if self.width == "unit_ball" else self.radius * self.feature_bound / self.unit()

    def power(self) -> float:
        """The power of the likelihood in force."""
        if self.width == "likelihood_ratio":
            return 1.0
        return self._largest_power() if self.eta is None else self.eta

    def _largest_power(self) -> float:
        """The largest power of the likelihood that the width allows."""
        if self.width != "aps2012":
            return conversion.admissible_power(self.reach())
        if self.horizon is None:
            raise ValueError("horizon must be given for the width aps2012, or eta, got neither")
        return conversion.exp_concave_power(self.reach(), self.horizon, self.delta / 3.0)

    def _check_width(self) -> None:
        """Refuse settings that the width does not allow."""
        if self.width == "likelihood_ratio":
            for name, given, neutral in (("eta", self.eta, None), ("factor", self.factor, 1.0)):
                if given != neutral:
                    raise ValueError(
                        f"{name} must be left out for a likelihood ratio, which is 1, got {given}"
                    )
        elif self.eta is None or (self.width == "aps2012" and self.horizon is None):
            return
        elif self.eta > (largest := self._largest_power()):
            raise ValueError(
                f"eta must be at most {largest:g} for the width {self.width} where mean rewards "
                f"reach {self.reach():g} times the noise, got {self.eta:g}: leave it out, or take "
                "the width unit_ball or rescaled"
            )

    def _check_prior(self, model: Posterior) -> None:
        """Refuse a prior for which the width is not derived."""
        subset = Subset(self.dimension, self.sparsity, self.radius, self.noise)
        if self.width in ("aps2012", "clerico") and model != subset:
            raise ValueError(
                f"posterior must be 'subset' for the width {self.width}, with the policy's own "
                f"sparsity, radius and noise, got {self.posterior!r}: take the width "
                "likelihood_ratio"
            )
        if model.noise != self.unit():
            raise ValueError(
                f"posterior must have the noise {self.unit():g} of the width {self.width}, got "
                f"{self.posterior!r}"
            )
        if self.width != "likelihood_ratio":
            return
        if not model.estimates_evidence:
            raise ValueError(
                "posterior must estimate its evidence for the width likelihood_ratio, as 'subset' "
                f"and 'relaxed' do, got {self.posterior!r}"
            )
        if model.in_ball and model.radius is None:
            raise ValueError(
                "posterior must have a radius for the width likelihood_ratio, got "
                f"{self.posterior!r}: a prior that is fitted to the rewards has no evidence"
            )


OTCS = Family(OTCSRule)
