"""The bounds of Theorems 1 and 3 on a trial that was played, and what they assume that it lacks.

Theorem 1 is evaluated on the learning rates, surrogate regrets and surrogate information gains of
the trial, Theorem 3 on its information ratios. Both bound the expected regret: each number here is
one draw of what a theorem takes the expectation of, with the particles in place of the posterior.
Where an assumption fails, the number is what the formula gives, and nothing is proven.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from soids import theory
from soids.arrays import Floats
from soids.policies.appraisal import GAINS
from soids.policies.coverage import ETA, RICH, ROUNDING, THEOREM3
from soids.policies.posterior_rule import PosteriorRule
from soids.posteriors import Subset
from soids.rates import RATES, complexity
from soids.simulation.diagnosis import Beliefs, Diagnosis
from soids.simulation.feedback import PROMPT
from soids.simulation.ratios import exploration
from soids.theory.sparse_optimal_action import has_sparse_optimal_actions

REACH = 1.2564  # largest 2 rate gap at which the lemma on gaps counts the regret twice
PROGRAMS = 500  # linear programs by which Definition 1 is checked, at most
GIVEN = ("sparsity", "radius", "noise")


class Guarantees(NamedTuple):
    """The theorems on one trial, in units of reward; None where a formula gives no number."""

    unit: float  # the noise that the policy was given, or believes in the end
    widest: float  # gap that the radius and the actions allow
    trivial: float  # rounds times the widest gap
    theorem1: theory.Tally | None
    theorem1_true: theory.Tally | None  # with the true information gain
    theorem3: theory.Bound | None
    ratios: float  # sum of the 2-ratios of rounds 1 .. T-1
    root_ratios: float  # sum of the square roots of their 3-ratios
    unmet1: list[str]  # assumptions of Theorem 1 that fail
    unmet3: list[str]
    call: str | None  # what a theorem covers on this problem; None if nothing
    sparse: bool | None  # Definition 1, on which the call depends; None if not known

    def described(self) -> dict[str, Any]:
        """The same for programs: each bound has its value beside its terms."""
        kinds = theory.Tally | theory.Bound
        return {
            name: one._asdict() | {"value": one.value} if isinstance(one, kinds) else one
            for name, one in self._asdict().items()
        }


class Terms(NamedTuple):
    """What the formulas are evaluated on: as the policy was given, but no less than is true."""

    policy: PosteriorRule
    beliefs: Beliefs
    given: dict[str, float | None]  # sparsity, radius and noise, if the policy knows them
    sparsity: int
    radius: float
    unit: float
    widest: float
    c_min: float  # that the learning rate goes by
    action_bound: float
    sparse: bool | None  # Definition 1; None if not known

    @property
    def adapts(self) -> bool:
        """Whether the learning rate is one of Theorem 3's, which depend on the history."""
        return self.policy.rate in THEOREM3

    @property
    def gap(self) -> float | None:
        """The widest gap in the theorem's units; None where the units are not the theorem's."""
        gap = self.widest / self.unit
        return gap if 0.0 < gap <= theory.WIDEST_GAP * (1.0 + ROUNDING) else None


def guarantees(seen: Diagnosis) -> Guarantees | None:
    """The theorems on a trial; None for a policy without a posterior."""
    terms, horizon = terms_of(seen), len(seen.trace.chosen)
    if terms is None:
        return None
    ratios, root_ratios = (float(sums[-1]) for sums in sums_of_ratios(seen, terms.beliefs))
    common = list(unmet(seen, terms))
    return Guarantees(
        terms.unit, terms.widest, horizon * terms.widest,
        tally(seen, terms.beliefs.surrogate_gain, terms),
        tally(seen, terms.beliefs.true_gain, terms),
        bound(seen, terms, horizon, ratios, root_ratios), ratios, root_ratios,
        [*common, *unmet_by_rates(seen.trace.rate, terms)],
        [*common, *unmet_by_theorem3(seen, terms, not common)],
        call(seen, terms), terms.sparse,
    )  # fmt: skip


def terms_of(seen: Diagnosis) -> Terms | None:
    """The settings of a policy with a posterior, and what follows from the actions."""
    policy, beliefs = seen.rule, seen.beliefs
    if policy is None or beliefs is None:
        return None
    truth, actions = seen.bandit.truth, seen.bandit.actions
    given = {name: getattr(policy.model, name, getattr(policy, name)) for name in GIVEN}
    radius = given["radius"] or 0.0
    radius = max(truth["radius"], radius if math.isfinite(radius) else 0.0)
    sparsity = max(1, int(truth["sparsity"]), int(given["sparsity"] or 0))
    c_min, size = exploration(actions)
    most = policy.action_bound or max(1.0, size)
    return Terms(
        policy, beliefs, given, sparsity, float(radius), float(beliefs.noise[-1]),
        float(radius * np.ptp(actions, axis=0).max()), c_min * (size / most) ** 2, most,
        has_sparse_optimal_actions(actions, sparsity, programs=PROGRAMS).holds,
    )  # fmt: skip


def sums_of_ratios(seen: Diagnosis, beliefs: Beliefs) -> tuple[Floats, Floats]:  # (T,) each
    """The sums that Theorem 3 is about, by the paper's information gain, before each round."""
    regret, gain = seen.surrogate_regret / beliefs.noise, beliefs.surrogate_gain
    informed = gain > 0.0  # without a gain there is no regret but for rounding
    square = np.where(informed, regret**2 / np.where(informed, gain, 1.0), 0.0)
    roots = np.sqrt(square * regret)
    return np.cumsum(square) - square, np.cumsum(roots) - roots


def call(seen: Diagnosis, terms: Terms) -> str | None:
    """What a theorem covers on this problem, for the true noise; None if the problem forbids it."""
    if math.isfinite(seen.bandit.degrees) or seen.feedback != PROMPT:
        return None
    problem = terms.policy.dimension, terms.sparsity, terms.radius, seen.bandit.noise
    theorem = 3 if terms.adapts and 2 * terms.sparsity <= terms.policy.dimension else 2
    return theory.covered_call(*problem, terms.action_bound, theorem=theorem, sparse=terms.sparse)


# The formulas


def cost(terms: Terms, horizon: int) -> float:
    """What Theorem 1 divides by the last learning rate."""
    problem = terms.policy.dimension, terms.sparsity, horizon
    if not terms.adapts:
        return complexity(*problem)
    slowest = max(1.0, theory.slowest(*problem))
    return theory.adaptive_complexity(*problem, rise=slowest, peak=slowest)


def tally(seen: Diagnosis, gains: Floats, terms: Terms) -> theory.Tally | None:
    """Theorem 1 in units of reward; none if a rate is zero."""
    rates, regrets = seen.trace.rate, seen.surrogate_regret / terms.unit
    if not rates.all():
        return None
    found = theory.tally(cost(terms, len(rates)), rates, gains, regrets, terms.gap)
    found = found._replace(additive=2.0 if terms.adapts else 0.0)
    return theory.Tally(*(terms.unit * term for term in found))


def bound(
    seen: Diagnosis, terms: Terms, horizon: int, ratios: float, root_ratios: float
) -> theory.Bound | None:
    """Theorem 3 in units of reward; none if a rate is zero, or half of the features may matter."""
    if 2 * terms.sparsity > terms.policy.dimension or not seen.trace.rate.all():
        return None
    both = terms.policy.rate not in RICH and terms.c_min > 0.0
    problem = terms.policy.dimension, terms.sparsity, horizon
    found = theory.theorem3(*problem, ratios, root_ratios, terms.c_min if both else None)
    return theory.Bound(*(terms.unit * term for term in found))


def so_far(seen: Diagnosis) -> dict[str, Floats]:  # (T,) each
    """The bounds of Theorems 1 and 3 as if each round had been the last, where they exist."""
    terms, rates = terms_of(seen), seen.trace.rate
    if terms is None or not rates.all():
        return {}
    rounds = range(1, len(rates) + 1)
    factor = 2.0 if terms.gap is None else theory.gap_factor(rates, terms.gap)
    regret = factor * seen.surrogate_regret / terms.unit
    gain = 3.0 / 32.0 * terms.beliefs.surrogate_gain / rates
    costs = np.array([cost(terms, horizon) for horizon in rounds])
    additive = 2.0 if terms.adapts else 0.0
    found = {"Theorem 1": terms.unit * (costs / rates + (regret - gain).cumsum() + additive)}
    sums = zip(rounds, *sums_of_ratios(seen, terms.beliefs), strict=True)
    bounds = [bound(seen, terms, *each) for each in sums]
    if bounds[0] is not None:
        found["Theorem 3"] = np.array([one.value for one in bounds if one is not None])
    return found


# The assumptions


def unmet(seen: Diagnosis, terms: Terms) -> Iterator[str]:
    """What both theorems assume and the trial does not have, each with what it has instead."""
    policy, bandit = terms.policy, seen.bandit
    truth, largest = bandit.truth, terms.radius * float(np.abs(bandit.actions).max())
    if policy.eta != ETA:
        yield f"eta must be {ETA}, it is {policy.eta:g}"
    if not isinstance(policy.model, Subset):
        yield f"the posterior must have the prior 'subset', it is {policy.posterior!r}"
    learned = [name for name, most in terms.given.items() if most is None]
    if learned:
        yield f"{', '.join(learned)} must be given to the policy"
    for name, most in terms.given.items():
        if most is not None and truth[name] > most * (1.0 + ROUNDING):
            yield f"the {name} given must be at least the true {truth[name]:g}, it is {most:g}"
    if "noise" not in learned and terms.unit < largest * (1.0 - ROUNDING):
        yield (
            f"the noise given must be at least {largest:.4g}, the radius times the largest entry "
            f"of an action, it is {terms.unit:.4g}"
        )
    if math.isfinite(bandit.degrees):
        yield f"the noise must be sub-Gaussian, it is Student's t of {bandit.degrees:g} degrees"
    if seen.feedback != PROMPT:
        yield "each reward must come before the next choice, some come later"
    if policy.discount != 1.0:
        yield f"all rewards must count the same, the discount is {policy.discount:g}"
    if policy.budget_ms is not None:
        yield "the particles must be those of all rewards, with budget_ms they may lag behind"


def unmet_by_rates(rates: Floats, terms: Terms) -> Iterator[str]:
    """What Theorem 1 assumes of the learning rates, and these do not have."""
    rate = terms.policy.rate
    if not rates.all():
        yield "the learning rates must be positive, here the posterior is not optimistic"
        return
    if rates.max() > 0.5:
        yield f"the learning rates must be at most 1/2, the largest is {rates.max():.3g}"
    rises = np.flatnonzero(rates[1:] > rates[:-1] * (1.0 + ROUNDING))
    if rises.size:
        yield f"the learning rates must never rise, one does in round {rises[0] + 2}"
    if terms.adapts and GAINS[terms.policy.gain].noisy:
        yield f"the 2-ratio must have a bound, that of gain={terms.policy.gain!r} has none"
    if callable(rate):
        yield "the learning rates must not depend on rewards, a function's may"
    elif rate in RATES and terms.given["sparsity"] is None:
        yield "the learning rates must not depend on rewards, these follow the sparsity learned"


def unmet_by_theorem3(seen: Diagnosis, terms: Terms, in_units: bool) -> Iterator[str]:
    """What Theorem 3 assumes beyond that, and the trial does not have."""
    policy = terms.policy
    proven = [rate for rate in policy.proven if rate in THEOREM3]
    if not proven:
        yield f"the policy must be SOIDS or FGTS, it is {policy.name}"
    elif policy.rate not in proven:
        yield f"the rate must be {' or '.join(map(repr, proven))}, it is {policy.rate!r}"
    if policy.gain != "full":
        yield f"the gain must be 'full', the paper's, it is {policy.gain!r}"
    if 2 * terms.sparsity > policy.dimension:
        yield f"the sparsity must be at most d / 2, it is {terms.sparsity} of {policy.dimension}"
    reach = 2.0 * float(seen.trace.rate[1:].max(initial=0.0)) * terms.widest / terms.unit
    if in_units and policy.rate in proven and reach > REACH:
        yield f"2 rate gap must be at most {REACH} from round 2 on, it reaches {reach:.3g}"
    if policy.rate not in RICH and terms.sparse is not True:
        state = "fails for these actions" if terms.sparse is False else "could not be decided"
        yield f"optimal actions must be sparse, Definition 1 {state}"
