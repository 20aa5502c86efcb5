"""Off-policy evaluation of several policies on one log, with the reasons to doubt the estimates.

A long log is read several times, and only a few numbers of each round stay in memory. If a log
grows meanwhile, the rounds of the first reading count.
"""

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, as_number, as_share
from soids.logs import Entry, KeptLog, Log, LogError, rewarded
from soids.logs.records import ROUNDING, located
from soids.offpolicy.estimators import Estimate, direct, doubly_robust, ips, snips
from soids.offpolicy.models import RewardModel, fit_model
from soids.offpolicy.overlap import FLOOR, Overlap, overlap
from soids.offpolicy.targets import Candidate, Target

OnRound = Callable[[str], None]  # called for each round that is read, with the name of the stage


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


class Evaluation(NamedTuple):
    """The estimates of several policies on one log."""

    log: str
    trained: int  # rounds on which policies were trained
    rounds: int  # all others, on which they are evaluated
    unrewarded: int  # decisions without a reward, which are left out
    mean_reward: float  # of the rounds of the evaluation
    reports: tuple[Report, ...]

    @property
    def reliable(self) -> bool:
        """Whether every policy has an interval."""
        return all(report.reliable for report in self.reports)

    def __str__(self) -> str:
        lines = [f"Mean reward on {self.rounds:,} rounds of {self.log}"]
        for report in self.reports:
            lines += [f"{report.label}: {estimate}" for estimate in report.estimates]
            lines += [f"{report.label}: {remark}" for remark in (*report.doubts, *report.remarks)]
        return "\n".join(lines)


def evaluate(
    log: Log, candidates: Sequence[Candidate], *, train: float = 0.5, confidence: float = 0.95,
    floor: float = FLOOR, on_round: OnRound = lambda stage: None,
) -> Evaluation:  # fmt: skip
    """Estimate the mean reward that each policy would have had in place of the logging policy.

    If one of the policies learns, the first share ``train`` of the rounds is for training and all
    are evaluated on the rest, else on the whole log. Below ``floor`` effective rounds no interval
    is given.

    >>> import pandas
    >>> from soids.logs import FrameLog
    >>> from soids.offpolicy import NAMED
    >>> frame = pandas.DataFrame({"reward": [0, 1, 1, 0], "propensity": [0.5] * 4})
    >>> found = evaluate(FrameLog(frame), [NAMED["logged"]], floor=1)
    >>> found.reports[0].estimates[0].value
    0.5
    >>> print(found)
    Mean reward on 4 rounds of the frame
    logged: IPS 0.5 (-0.4187 to 1.419)
    logged: SNIPS 0.5 (-0.4187 to 1.419)
    logged: no DM and DR: the log does not say what was on offer
    """
    train, confidence = as_share(train, "train"), as_share(confidence, "confidence")
    floor = as_number(floor, "floor", 1.0)
    if not candidates or not all(isinstance(one, Candidate) for one in candidates):
        raise ValueError(
            f"candidates must be a list of at least one Candidate, such as NAMED['uniform'] or "
            f"learned(...), got {candidates!r}"
        )
    log = KeptLog(log)
    total, unrewarded = survey(log, on_round)
    any_learns = any(one.learns for one in candidates)
    trained = int(train * total) if any_learns else 0
    if trained == total or (any_learns and trained == 0):
        raise LogError(f"{log.name}: {total} rounds with a reward are too few to train on a share")

    def rounds(stage: str, first: int, end: int) -> Iterator[tuple[Entry, float]]:
        for one in islice(rewarded(log), first, end):
            on_round(stage)
            yield one

    targets = [
        one.prepare(rounds(f"training {one.label}", 0, trained) if one.learns else ())
        for one in candidates
    ]
    model = fit_model(rounds("fitting the model", trained, total))
    all_terms = [array("d") for _ in targets]
    rewards, lines = array("d"), array("q")
    for place, (entry, reward) in enumerate(rounds("evaluating", trained, total)):
        predicted = None if isinstance(model, str) else model.predict(place, entry.features)
        rewards.append(reward)
        lines.append(entry.line)
        for target, terms in zip(targets, all_terms, strict=True):
            terms.extend(terms_of(entry, masses_of(target, entry, log), predicted))
    seen, reports = np.frombuffer(rewards), []
    for one, terms in zip(candidates, all_terms, strict=True):
        rows = np.frombuffer(terms).reshape(-1, 4).T.copy()
        report = report_on(one.label, rows, seen, model, confidence, floor)
        where = f", {log.unit} {lines[report.overlap.largest_at]}"
        remarks = [remark + where for remark in report.overlap.remarks()]
        reports.append(report._replace(remarks=(*remarks, *report.remarks)))
    mean = float(seen.mean())
    return Evaluation(log.name, trained, total - trained, unrewarded, mean, tuple(reports))


def survey(log: Log, on_round: OnRound) -> tuple[int, int]:
    """The numbers of decisions with and without a reward, after a check of the whole log."""
    total = unrewarded = 0
    for entry in log:
        on_round("checking the log")
        total += entry.reward is not None
        unrewarded += entry.reward is None
    if total == 0:
        raise LogError(f"{log.name}: none of {unrewarded} decisions has a reward")
    return total, unrewarded


def masses_of(target: Target, entry: Entry, log: Log) -> Floats | float:
    """The probabilities of a target in a round, checked; errors name the place in the log."""
    with located(log.name, log.unit, entry.line):
        masses, count = target(entry), entry.offered
        if isinstance(masses, np.ndarray):
            if count is not None and masses.shape != (count,):
                raise ValueError(f"the target must have {count} probabilities, got {masses.shape}")
            if not (masses.min() >= 0.0 and abs(float(masses.sum()) - 1.0) <= ROUNDING):  # or NaN
                raise ValueError(
                    "the target's probabilities must not be negative and must sum to 1, "
                    f"got the sum {masses.sum():.6g} and the least {masses.min():.3g}"
                )
        return masses


def terms_of(
    entry: Entry, masses: Floats | float, predicted: Floats | None
) -> tuple[float, float, float, float]:
    """What the estimators need of a round and a target; NaN where it is unknown.

    These are the weight of the round, the target's mass on actions that the log never tries, and
    the model's rewards of the chosen action and under the target.
    """
    whole = masses if isinstance(masses, np.ndarray) else None
    chosen = float(masses if whole is None else whole[entry.chosen])
    unseen = modelled = expected = math.nan
    if whole is not None and predicted is not None:
        modelled, expected = float(predicted[entry.chosen]), float(whole @ predicted)
    if whole is not None and entry.probabilities is not None:
        unseen = float(whole[entry.probabilities == 0.0].sum())
    elif entry.propensity >= 1.0 - ROUNDING:  # all other actions have probability zero
        unseen = 1.0 - chosen
    return chosen / entry.propensity, unseen, modelled, expected


def report_on(
    label: str, terms: Floats, rewards: Floats, model: RewardModel | str, confidence: float,
    floor: float,
) -> Report:  # fmt: skip
    """The estimates of a target's mean reward from its terms (4, n)."""
    weights, unseen, predicted, expected = terms
    is_known = not np.isnan(unseen).any() or np.nansum(unseen) > 0.0
    seen = overlap(weights, np.nan_to_num(unseen) if is_known else None)
    doubts, remarks = seen.doubts(floor), list[str]()
    estimates = [ips(weights, rewards, confidence), snips(weights, rewards, confidence)]
    if isinstance(model, str):
        remarks.append(f"no DM and DR: {model}")
    elif np.isnan(expected).any():
        remarks.append("no DM and DR: only what was chosen has a probability")
    else:
        robust = doubly_robust(weights, rewards, predicted, expected, confidence)
        estimates += [direct(expected), robust]
    if doubts:
        estimates = [one.without_interval("; ".join(doubts)) for one in estimates]
    return Report(label, tuple(estimates), seen, tuple(doubts), tuple(remarks))
