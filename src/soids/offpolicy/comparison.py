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
    ours, theirs = rounds.terms(), its_rounds.terms()
    known = {estimate.method: estimate for estimate in baseline.estimates}
    found = []
    for one in report.estimates:
        if one.method not in ours or one.method not in theirs:
            continue
        terms = ours[one.method] - theirs[one.method]
        if one.method == "DM":
            found.append(direct(terms))
            continue
        estimate = mean_difference(one.method, terms, confidence)
        for label, part in ((report.label, one), (baseline.label, known[one.method])):
            if part.low is None:
                estimate = estimate.without_interval(f"{label} has none")
        found.append(estimate)
    return Difference(report.label, baseline.label, tuple(found))
