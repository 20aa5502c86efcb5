"""Explore the Sparsity Then Commit: an exploratory design, then the action best by the lasso."""

import math
from dataclasses import dataclass

from soids.arrays import Floats
from soids.designs import Design, exploratory_design
from soids.evidence import Evidence
from soids.policies.explore_then_commit import ExploreThenCommit, Sample
from soids.policies.policy import Family, Menu
from soids.regression.lasso import hao_lasso
from soids.regression.scaled_lasso import Sums, scaled_noise


@dataclass(frozen=True, kw_only=True)
class ESTCRule(ExploreThenCommit):
    """Explore the Sparsity Then Commit (Hao, Lattimore, Wang 2020): best design, then the lasso.

    ``exploration`` is the number of rounds to explore, or else their Theorem 4.2 decides, from
    ``horizon``, ``sparsity``, ``reward_bound`` (on the size of mean rewards) and ``noise``. The
    scaled lasso estimates the noise in the penalty if it is not given. The actions must span the
    space.
    """

    noise: float | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration is None and self.noise is None:
            raise ValueError("noise must be given, or else exploration")

    def _design(self, menu: Menu) -> Design:
        design = exploratory_design(menu.actions)
        if design.value == 0.0:
            raise ValueError(
                f"actions must span all {self.dimension} dimensions to be explored, these do not"
            )
        return design

    def _theory(self, menu: Menu, horizon: int, sparsity: int, reward_bound: float) -> float:
        c_min = self._design(menu).value / menu.largest**2  # as if actions were in [-1, 1]^d
        per_error = sparsity * (self.noise or 0.0) * horizon / (reward_bound * c_min)
        rounds: float = (2.0 * per_error**2 * math.log(2 * self.dimension)) ** (1 / 3)
        return rounds

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        evidence = Evidence.empty(self.dimension)
        for menu, chosen, reward, _ in samples:
            evidence = evidence.note(menu.actions[chosen], reward)
        size = max((menu.largest for menu, *_ in samples), default=0.0)
        noise = scaled_noise(Sums.of(evidence)) if self.noise is None else self.noise
        return hao_lasso(evidence, noise, size)


ESTC = Family(ESTCRule)
