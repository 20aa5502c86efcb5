"""Paired differences between policies that are evaluated on the same rounds.

Every estimate is a mean of per-round terms, so the difference of two estimates is the mean of the
differences of their terms, and the spread of these is its error: what both policies do alike
cancels, as it does not between two intervals. The terms are, with v the SNIPS estimate itself,
    IPS    w r
    SNIPS  v + n w (r - v) / (sum of w), by the delta method, up to O(1/n)
    DM     expected
    DR     expected + w (r - predicted)
"""

from typing import NamedTuple

from soids.arrays import Floats
from soids.offpolicy.estimators import Estimate, direct, mean_difference
from soids.offpolicy.reports import Report, Rounds


class Difference(NamedTuple):
    """How much more one policy earns than another, by each estimator that both have."""

    label: str
    baseline: str
    estimates: tuple[Estimate, ...]

    def __str__(self) -> str:
        name = f"{self.label} minus {self.baseline}"
        return "\n".join(f"{name}: {estimate}" for estimate in self.estimates)


def difference(
    report: Report, rounds: Rounds, baseline: Report, its_rounds: Rounds, confidence: float
) -> Difference:
    """The difference of two policies; it has no interval where one of the estimates has none."""
    ours, theirs = known_terms(rounds), known_terms(its_rounds)
    found = []
    for method in ours:
        if method not in theirs:
            continue
        terms = ours[method] - theirs[method]
        if method == "DM":
            found.append(direct(terms))
            continue
        estimate = mean_difference(method, terms, confidence)
        for one in (report, baseline):
            by_method = {part.method: part for part in one.estimates}
            if by_method.get(method, by_method["IPS"]).low is None:
                estimate = estimate.without_interval(f"{one.label} has none")
        found.append(estimate)
    return Difference(report.label, baseline.label, tuple(found))


def known_terms(rounds: Rounds) -> dict[str, Floats]:
    """The terms of each estimate; the rewards of the logging policy stand for a missing DR, as they
    are unbiased themselves.
    """
    terms = rounds.terms()
    if (rounds.weights == 1.0).all():
        terms.setdefault("DR", rounds.rewards)
    return terms
