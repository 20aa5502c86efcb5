"""Learning from choices of others: one round, a table of rounds, or a log.

No beliefs are formed on the way, and the sums over rounds are taken block by block.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import as_number, as_table
from soids.policies.decision import Offered
from soids.policies.names import check_features, names_of
from soids.policies.past import Outcome, Past, as_reward
from soids.policies.pending import Waiting
from soids.policies.rule import Rule

BLOCK = 1024  # rounds whose action sets are in memory at once


class Round(NamedTuple):
    """A choice of someone else, unchecked."""

    actions: Any  # (K, d)
    index: Any  # or name
    reward: Any
    probability: Any = 1.0
    names: Any = None  # (K,)
    place: str = ""  # of the round in its table or log


def rounds_in(
    actions: Any, index: Any, reward: Any, probability: Any, names: Any
) -> Iterator[Round]:
    """One round, or the rounds of a table, with one action set (K, d) or a set for each."""
    if np.ndim(index) == 0:
        yield Round(actions, index, reward, probability, names)
        return
    count = len(index)
    is_list = isinstance(actions, list | tuple) and len(actions) > 0
    has_own = len(np.shape(actions[0] if is_list else actions)) == (2 if is_list else 3)
    columns = {"index": index, "reward": reward}
    columns |= {"actions": actions} if has_own else {}
    columns |= {"probability": probability} if np.ndim(probability) else {}
    for name, column in columns.items():
        got = len(column) if hasattr(column, "__len__") else repr(column)
        if got != count:
            raise ValueError(f"{name} must hold one for each index ({count}), got {got}")
    for row, one in enumerate(zip(*columns.values(), strict=True)):
        found = dict(zip(columns, one, strict=True))
        yield Round(
            found.get("actions", actions), found["index"], found["reward"],
            found.get("probability", probability), names, f", in row {row}",
        )  # fmt: skip


def rounds_of(log: Any) -> Iterator[Round]:
    """The rounds of a log that have a reward."""
    name, unit = getattr(log, "name", "the log"), getattr(log, "unit", "line")
    for entry in log if hasattr(log, "__iter__") else [log]:
        if not hasattr(entry, "propensity"):
            raise ValueError(
                f"log must be a log, such as soids.logs.read_log(path), got {log!r:.60}"
            )
        if entry.reward is not None:
            place = f", in {unit} {entry.line} of {name}"
            known = entry.features, entry.chosen, entry.reward, entry.propensity
            yield Round(*known, place=place)


def learned(rule: Rule[Any], mind: Any, past: Past, rounds: Iterable[Round]) -> tuple[Any, Past]:
    """The mind and the past of a rule after choices of others and their rewards."""
    if not rule.learns_from_others:
        raise ValueError(
            f"{rule.name} cannot learn from choices that it did not make, as it tries "
            "actions by a plan of its own"
        )
    waiting = iter(rounds)
    while found := list(islice(checked(waiting, past), BLOCK)):
        outcomes, features = [one for one, _ in found], found[-1][1]
        past = past.with_others(outcomes, rule.discount, rule.intercept)
        past = past._replace(features=features)
        mind = rule.learn(mind, past, outcomes)
    return mind, past


def checked(
    rounds: Iterable[Round], past: Past
) -> Iterator[tuple[Outcome, tuple[str, ...] | None]]:
    """The next rounds as outcomes, and the names of features after each; an action set that comes
    again is converted once.
    """
    turn, shown, offered, features = past.decisions, None, None, past.features
    for actions, index, reward, probability, names, place in rounds:
        turn += 1
        with located(place):
            if offered is None or actions is not shown:
                table = as_table(actions, len(past.evidence.moment))
                shown, offered = actions, Offered(past.find(table)).named(names_of(actions, names))
                check_features(offered.names, features)
                features = offered.names.features or features
            chosen = offered.names.place(index, offered.count)
            share = as_number(probability, "probability", 0.0, strict=True)
            if share > 1.0:
                raise ValueError(f"probability must be at most 1, got {share:g}")
            action, name = offered.menu.actions[chosen].copy(), offered.name(chosen)
            waiting = Waiting(turn, chosen, share, action, chosen, turn, name)
            yield Outcome(waiting, offered.menu, as_reward(reward, turn, past.evidence)), features


@contextmanager
def located(place: str) -> Iterator[None]:
    """Add the place of a round to an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error}{place}") from None
