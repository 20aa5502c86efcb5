"""The report on one policy: estimates, their per-round terms, and reasons to doubt them."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.offpolicy.estimators import (
    Estimate,
    direct,
    doubly_robust,
    ips,
    robust_terms,
    snips,
    snips_terms,
)
from soids.offpolicy.overlap import Overlap, overlap


class Rounds(NamedTuple):
    """What the estimators need of each round, for one policy."""

    lines: Ints  # (n,)  of the log
    rewards: Floats  # (n,)
    weights: Floats  # (n,)
    unseen: Floats  # (n,)  mass on actions that the log never tries, NaN where it is unknown
    predicted: Floats  # (n,)  rewards of the chosen actions by the model, NaN where there is none
    expected: Floats  # (n,)  the model's mean reward under the policy, NaN where there is none

    @property
    def modelled(self) -> bool:
        """Whether the model says something of every round."""
        return not bool(np.isnan(self.expected).any())

    def terms(self) -> dict[str, Floats]:
        """The terms (n,) of each estimate, which is their mean."""
        _, rewards, weights, _, predicted, expected = self
        found = {"IPS": weights * rewards}
        if weights.any():
            value, influences = snips_terms(weights, rewards)
            found["SNIPS"] = value + influences
        if self.modelled:
            found["DM"] = expected
            found["DR"] = robust_terms(weights, rewards, predicted, expected)
        return found


class Report(NamedTuple):
    """The estimates of one policy."""

    label: str
    estimates: tuple[Estimate, ...]
    overlap: Overlap
    doubts: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def reliable(self) -> bool:
        """Whether some estimate has an interval."""
        return any(estimate.low is not None for estimate in self.estimates)


def report_on(
    label: str, rounds: Rounds, unmodelled: str, confidence: float, floor: float, unit: str
) -> Report:
    """The estimates of a policy's mean reward; ``unmodelled`` says why there is no model."""
    _, rewards, weights, unseen, predicted, expected = rounds
    is_known = not np.isnan(unseen).any() or np.nansum(unseen) > 0.0
    seen = overlap(weights, np.nan_to_num(unseen) if is_known else None)
    where = f", {unit} {rounds.lines[seen.largest_at]}"
    doubts, remarks = seen.doubts(floor), [remark + where for remark in seen.remarks()]
    estimates = [ips(weights, rewards, confidence), snips(weights, rewards, confidence)]
    if rounds.modelled:
        robust = doubly_robust(weights, rewards, predicted, expected, confidence)
        estimates += [direct(expected), robust]
    else:
        why = unmodelled or "only what was chosen has a probability"
        remarks.append(f"no DM and DR: {why}")
    if doubts:
        estimates = [one.without_interval("; ".join(doubts)) for one in estimates]
    return Report(label, tuple(estimates), seen, tuple(doubts), tuple(remarks))
