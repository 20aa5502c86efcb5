"""Policies evaluated on one log, side by side, with what speaks against believing it.

The log is read several times and never held: of each round a few numbers stay in memory. A
log that grows meanwhile is read as far as it went at first.
"""

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, as_number, as_share
from soids.logs import Entry, Log, LogError, rewarded
from soids.logs.records import ROUNDING, located
from soids.offpolicy.estimators import Estimate, direct, doubly_robust, ips, snips
from soids.offpolicy.models import RewardModel, fit_model
from soids.offpolicy.overlap import FLOOR, Overlap, overlap
from soids.offpolicy.targets import Candidate, Fixed, Target

OnRound = Callable[[str], None]  # is told what a round is read for


class Report(NamedTuple):
    """What can be said of one policy."""

    label: str
    estimates: tuple[Estimate, ...]
    overlap: Overlap
    doubts: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def reliable(self) -> bool:
        """Whether some estimate comes with an interval."""
        return any(estimate.low is not None for estimate in self.estimates)


class Evaluation(NamedTuple):
    """What a log says of some policies."""

    log: str
    trained: int  # rounds that those who learn were given
    rounds: int  # all others, by which everyone is evaluated
    unrewarded: int  # decisions whose reward never came, left out
    mean_reward: float  # of the rounds evaluated
    reports: tuple[Report, ...]

    @property
    def reliable(self) -> bool:
        """Whether there is an interval for everyone."""
        return all(report.reliable for report in self.reports)

    def __str__(self) -> str:
        lines = [f"Mean reward on {self.rounds:,} rounds of {self.log}"]
        for report in self.reports:
            lines += [f"{report.label}: {estimate}" for estimate in report.estimates]
            lines += [f"{report.label}: {remark}" for remark in (*report.doubts, *report.remarks)]
        return "\n".join(lines)


def evaluate(
    log: Log,
    candidates: Sequence[Candidate],
    *,
    train: float = 0.5,
    confidence: float = 0.95,
    floor: float = FLOOR,
    on_round: OnRound = lambda stage: None,
) -> Evaluation:
    """Estimate what each policy would have earned in place of the one that made the log.

    If one of them learns, all are evaluated on what follows the first share ``train`` of the
    rounds; else on the whole log. Below ``floor`` effective rounds no interval is given.

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
    total, unrewarded = survey(log, on_round)
    trained = int(train * total) if any(one.learns for one in candidates) else 0
    if trained == total or (trained == 0 and any(one.learns for one in candidates)):
        raise LogError(f"{log.name}: {total} rounds with a reward are too few to train on a share")

    def training(label: str) -> Iterator[tuple[Entry, float]]:
        return watched(islice(rewarded(log), trained), f"training {label}", on_round)

    def testing(stage: str) -> Iterator[tuple[Entry, float]]:
        return watched(islice(rewarded(log), trained, total), stage, on_round)

    targets = [one.prepare(training(one.label) if one.learns else ()) for one in candidates]
    model = fit_model(testing("fitting the model"))
    tallies = [Tally() for _ in targets]
    rewards, lines = array("d"), array("q")
    for place, (entry, reward) in enumerate(testing("evaluating")):
        promised = None if isinstance(model, str) else model.predict(place, entry.features)
        rewards.append(reward)
        lines.append(entry.line)
        for target, tally in zip(targets, tallies, strict=True):
            tally.note(entry, placed(target, entry, log), promised)
    seen = np.frombuffer(rewards)
    reports = []
    for one, target, tally in zip(candidates, targets, tallies, strict=True):
        report = tally.report(one.label, target, seen, model, confidence, floor)
        where = f", {log.unit} {lines[report.overlap.largest_at]}"
        remarks = [remark + where for remark in report.overlap.remarks()]
        reports.append(report._replace(remarks=(*remarks, *report.remarks)))
    return Evaluation(
        log.name, trained, total - trained, unrewarded, float(seen.mean()), tuple(reports)
    )


def survey(log: Log, on_round: OnRound) -> tuple[int, int]:
    """How many decisions have a reward, and how many have none; all of the log is checked."""
    total = unrewarded = 0
    for entry in log:
        on_round("checking the log")
        total += entry.reward is not None
        unrewarded += entry.reward is None
    if total == 0:
        raise LogError(f"{log.name}: none of {unrewarded} decisions has a reward")
    return total, unrewarded


def watched(
    rounds: Iterator[tuple[Entry, float]], stage: str, on_round: OnRound
) -> Iterator[tuple[Entry, float]]:
    """The same rounds, each of which is told of."""
    for one in rounds:
        on_round(stage)
        yield one


def placed(target: Target, entry: Entry, log: Log) -> Floats | float:
    """What a target says of an entry; what is wrong with that is said with its place."""
    with located(log.name, log.unit, entry.line):
        masses = target(entry)
        if isinstance(masses, np.ndarray):
            check_law(masses, entry.offered)
        return masses


def check_law(masses: Floats, offered: int | None) -> None:
    """Refuse what is no distribution over the actions on offer."""
    if offered is not None and masses.shape != (offered,):
        raise ValueError(f"the target must have {offered} probabilities, got {masses.shape}")
    if masses.min() < 0.0 or abs(float(masses.sum()) - 1.0) > ROUNDING:
        raise ValueError(
            f"the target's probabilities must sum to 1, got {masses.sum():.6g}, "
            f"the least {masses.min():.3g}"
        )


class Tally:
    """What is kept of the rounds for one target."""

    def __init__(self) -> None:
        self.weights = array("d")
        self.unseen = array("d")  # not a number where the log does not say what it never does
        self.predicted, self.expected = array("d"), array("d")
        self.whole = True  # the masses of all actions are known in every round

    def note(self, entry: Entry, masses: Floats | float, promised: Floats | None) -> None:
        """Add a round."""
        whole = masses if isinstance(masses, np.ndarray) else None
        chosen = float(masses if whole is None else whole[entry.chosen])
        self.weights.append(chosen / entry.propensity)
        if whole is not None and entry.probabilities is not None:
            self.unseen.append(float(whole[entry.probabilities == 0.0].sum()))
        elif entry.propensity >= 1.0 - ROUNDING:  # nothing is left for all the others
            self.unseen.append(1.0 - chosen)
        else:
            self.unseen.append(math.nan)
        self.whole = self.whole and whole is not None
        if whole is not None and promised is not None:
            self.predicted.append(float(promised[entry.chosen]))
            self.expected.append(float(whole @ promised))

    def report(
        self,
        label: str,
        target: Target,
        rewards: Floats,
        model: RewardModel | str,
        confidence: float,
        floor: float,
    ) -> Report:
        """What the rounds say of the target."""
        weights = np.frombuffer(self.weights)
        unseen = np.frombuffer(self.unseen)
        says = not np.isnan(unseen).any() or np.nansum(unseen) > 0.0
        seen = overlap(weights, np.nan_to_num(unseen) if says else None)
        doubts = seen.doubts(floor)
        estimates = [ips(weights, rewards, confidence), snips(weights, rewards, confidence)]
        remarks = []
        if isinstance(model, str) or not self.whole:
            why = model if isinstance(model, str) else "only what was chosen has a probability"
            remarks.append(f"no DM and DR: {why}")
        else:
            predicted, expected = np.frombuffer(self.predicted), np.frombuffer(self.expected)
            robust = doubly_robust(weights, rewards, predicted, expected, confidence)
            estimates += [direct(expected), robust]
        if isinstance(target, Fixed) and target.estimated:
            remarks.append(
                f"its probabilities are frequencies of {target.draws} draws a set, whose error the "
                "rounds of a set share and no interval holds"
            )
        if doubts:
            estimates = [one.without_interval("; ".join(doubts)) for one in estimates]
        return Report(label, tuple(estimates), seen, tuple(doubts), tuple(remarks))
