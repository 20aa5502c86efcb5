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

from soids.arrays import Floats, Ints, as_number, as_share
from soids.logs import Entry, KeptLog, Log, LogError, rewarded
from soids.logs.records import ROUNDING, located
from soids.offpolicy.comparison import Difference, difference
from soids.offpolicy.models import fit_model
from soids.offpolicy.overlap import FLOOR
from soids.offpolicy.reports import Report, Rounds, report_on
from soids.offpolicy.targets import Candidate, Target
from soids.spelling import as_names

OnRound = Callable[[str], None]  # called for each round that is read, with the name of the stage


class Evaluation(NamedTuple):
    """The estimates of several policies on one log."""

    log: str
    trained: int  # rounds on which policies were trained
    rounds: int  # all others, on which they are evaluated
    unrewarded: int  # decisions without a reward, which are left out
    mean_reward: float  # of the rounds of the evaluation
    reports: tuple[Report, ...]
    confidence: float  # of all intervals
    kept: tuple[Rounds, ...]  # the numbers of each round, policy by policy

    @property
    def reliable(self) -> bool:
        """Whether every policy has an interval."""
        return all(report.reliable for report in self.reports)

    @property
    def title(self) -> str:
        """The rounds that count, and how many decisions do not."""
        return f"Mean reward on {self.rounds:,} rounds of {self.log}{left_out(self.unrewarded)}"

    def terms(self, label: str) -> dict[str, Floats | Ints]:
        """Per round: its line in the log, reward, weight, and the terms of each estimate of a
        policy, which is their mean.
        """
        rounds = self.kept[self._place(label)]
        return {
            "line": rounds.lines, "reward": rounds.rewards, "weight": rounds.weights,
            **rounds.terms(),
        }  # fmt: skip

    def differences(self, baseline: str | None = None) -> tuple[Difference, ...]:
        """How much more each policy earns than one of them, in the same rounds; without a
        ``baseline`` than the first.
        """
        base = 0 if baseline is None else self._place(baseline)
        of_base = self.reports[base], self.kept[base], self.confidence
        return tuple(
            difference(report, rounds, *of_base)
            for place, (report, rounds) in enumerate(zip(self.reports, self.kept, strict=True))
            if place != base
        )

    def _place(self, label: str) -> int:
        labels = [report.label for report in self.reports]
        if label not in labels:
            raise ValueError(f"the policy must be one of {', '.join(labels)}, got {label!r}")
        return labels.index(label)

    def __str__(self) -> str:
        lines = [self.title]
        for report in self.reports:
            lines += [f"{report.label}: {estimate}" for estimate in report.estimates]
            lines += [f"{report.label}: {remark}" for remark in (*report.doubts, *report.remarks)]
        return "\n".join([*lines, *map(str, self.differences())])


def left_out(unrewarded: int) -> str:
    """How many decisions have no reward; nothing if each has one.

    >>> left_out(1200)
    ' (1,200 decisions without a reward are left out)'
    """
    return f" ({unrewarded:,} decisions without a reward are left out)" if unrewarded else ""


def evaluate(
    log: Log, candidates: Sequence[Candidate] = (), *, train: float = 0.5, confidence: float = 0.95,
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
    log = KeptLog(log)
    train, confidence = as_share(train, "train"), as_share(confidence, "confidence")
    floor = as_number(floor, "floor", 1.0)
    if not candidates or not all(isinstance(one, Candidate) for one in candidates):
        raise ValueError(
            "candidates must be a list of at least one Candidate, as in evaluate(log, "
            "[NAMED['logged'], NAMED['uniform'], learned('soids', SOIDS, rng)]), "
            f"got {candidates!r:.60}"
        )
    as_names([one.label for one in candidates], "labels of candidates")
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
    seen, places = np.frombuffer(rewards), np.frombuffer(lines, np.int64)
    kept = [
        Rounds(places, seen, *np.frombuffer(terms).reshape(-1, 4).T.copy()) for terms in all_terms
    ]
    why = model if isinstance(model, str) else ""
    reports = [
        report_on(one.label, rounds, why, confidence, floor, log.unit)
        for one, rounds in zip(candidates, kept, strict=True)
    ]
    return Evaluation(
        log.name, trained, total - trained, unrewarded, float(seen.mean()), tuple(reports),
        confidence, tuple(kept),
    )  # fmt: skip


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
        elif not (isinstance(masses, float | np.floating) and 0.0 <= masses <= 1.0 + ROUNDING):
            raise ValueError(
                "the target must return probabilities, of all actions in an array or of the chosen "
                f"one as a float, got {masses!r:.60}"
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
