"""SOIDS, and the paper's settings by name, which FGTS shares."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from soids.arrays import as_count, as_flag, as_number
from soids.policies.coverage import ETA, THEOREM2, THEOREM3
from soids.policies.policy import Family, Policy
from soids.policies.posterior_rule import PosteriorRule
from soids.policies.settings import check_call
from soids.theory import reward_unit

STEPS = 25  # Langevin steps in a round; the paper gives no number


def preset(method: Callable[..., Policy]) -> Callable[..., Policy]:
    """A method of a family whose error messages name the family: ``SOIDS.paper``."""

    @functools.wraps(method)
    def checked(self: Family, *args: Any, **settings: Any) -> Policy:
        signature = inspect.signature(functools.partial(method, self))
        check_call(f"{self!r}.{method.__name__}", signature, args, settings)
        return method(self, *args, **settings)

    return checked


class Optimistic(Family):
    """The constructors of the two algorithms with an optimistic posterior: the paper's by name."""

    rule: type[PosteriorRule]

    @preset
    def paper(
        self, dimension: int, sparsity: int, noise: float = 1.0, sampler: str = "exact",
        steps: int | None = None, adapts: bool = False,
    ) -> Policy:  # fmt: skip
        """The settings of the paper's experiments: relaxed prior, eta 1/2, its own schedule.

        The prior is the paper's: each feature is Gaussian of ten times the noise variance with
        probability s / d, else Laplace with a tenth of the noise as its scale. ``sampler`` is
        "exact", or "langevin" with ``steps`` steps a round (25 if not given; the paper gives no
        number). If it ``adapts``, inclusion probabilities follow the steps (Hao et al. 2021).
        """
        as_count(sparsity, "sparsity", 1, dimension)
        as_flag(adapts, "adapts")
        if sampler not in ("exact", "langevin"):
            raise ValueError(f"sampler must be 'exact' or 'langevin', got {sampler!r}")
        posterior, sweeps = "relaxed", 2
        if sampler == "langevin":
            count = as_count(STEPS if steps is None else steps, "steps")
            posterior = f"langevin(steps = {count}, adapts = {str(adapts).lower()})"
            sweeps = 1
        elif adapts or steps is not None:
            name, value = ("adapts", adapts) if adapts else ("steps", steps)
            raise ValueError(
                f"{name} must be left out for the exact sampler, got {value!r}: it is a setting of "
                "sampler='langevin'"
            )
        return self(
            dimension, sparsity=sparsity, noise=noise, posterior=posterior, rate="experiment",
            eta=0.5, gain="full", sweeps=sweeps, intercept=False,
        )  # fmt: skip

    @preset
    def theorem2(
        self, dimension: int, sparsity: int, radius: float, noise: float, action_bound: float = 1.0
    ) -> Policy:
        """The algorithm of Theorem 2 (of FGTS, its data-rich half), in the units of your rewards.

        At most ``sparsity`` features matter, the l1 norm of the true parameter is at most
        ``radius``, the noise is ``noise``-sub-Gaussian, and no feature of an action exceeds
        ``action_bound`` in size. The policy refuses what it can see to be outside of the theorem,
        such as another set of actions. You must check three assumptions: optimal actions are
        sparse (Definition 1; ``soids bound --actions FILE`` says), each reward comes before the
        next choice, and particles stand for the exact posterior.
        """
        return self._covered(THEOREM2, dimension, sparsity, radius, noise, action_bound)

    @preset
    def theorem3(
        self, dimension: int, sparsity: int, radius: float, noise: float, action_bound: float = 1.0
    ) -> Policy:
        """The algorithm of Theorem 3 (of FGTS, its data-rich half), in the units of your rewards.

        All is as for ``theorem2``, but the rate follows the information ratios of what was played.
        """
        return self._covered(THEOREM3, dimension, sparsity, radius, noise, action_bound)

    def _covered(
        self, rates: Sequence[str], dimension: int, sparsity: int, radius: float, noise: float,
        action_bound: float,
    ) -> Policy:  # fmt: skip
        """The theorem's algorithm: its units are such that no mean reward exceeds one."""
        as_number(noise, "noise", 0.0, strict=True)
        as_number(action_bound, "action_bound", 0.0, strict=True)
        unit = reward_unit(radius, action_bound, noise)
        rate = next(rate for rate in rates if rate in self.rule.proven)
        return self(
            dimension, sparsity=sparsity, radius=unit / action_bound, noise=unit,
            posterior="subset", rate=rate, eta=ETA, gain="full", action_bound=action_bound,
            intercept=False,
        )  # fmt: skip


@dataclass(frozen=True)
class SOIDSRule(PosteriorRule):
    """Sparse Optimistic Information Directed Sampling: optimistic, least information ratio.

    >>> import numpy as np
    >>> policy = SOIDS(dimension=3, sparsity=1, radius=1.0, noise=0.1)
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(10):
    ...     decision = policy.choose(np.eye(3), rng)
    ...     policy.observe(decision, reward=float(decision.index == 2))
    >>> int(policy.inclusion().argmax())
    2
    """

    optimistic = True
    minimises_ratio = True
    proven = (*THEOREM2, *THEOREM3)
    bounded_ratios = (2, 3)


SOIDS = Optimistic(SOIDSRule)
