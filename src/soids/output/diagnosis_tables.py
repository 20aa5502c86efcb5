"""A diagnosis as tables: rounds, features, where the regret lies, and the theorems' bounds."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from soids.arrays import Floats
from soids.files import as_plain
from soids.output.table import Table
from soids.simulation.diagnosis import Beliefs, Diagnosis
from soids.simulation.guarantees import Guarantees
from soids.simulation.losses import Losses
from soids.theory import Bound

BARS, PLAIN_BARS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
WIDTH = 40  # of the history of a feature
MATTERING, OTHERS = 10, 3  # maximum numbers of features shown that matter, and that do not
LABELS = {  # of the rows of the first table
    "so_far": "regret so far",
    "surrogate_regret": "surrogate regret",
    "surrogate_gain": "information gain, surrogate",
    "true_gain": "information gain, true",
    "information_gain": "information gain, the policy's",
    "ratio": "2-ratio",
    "square_bound": "bound on the 2-ratio",
    "cubed": "3-ratio",
    "cubic_bound": "bound on the 3-ratio",
    "probability": "probability of the choice",
    "effective": "effective size, of {particles}",
    "surviving": "effective size before resampling",
    "distinct": "distinct parameters",
    "supports": "distinct supports",
    "features": "features, true {sparsity}",
    "norm": "l1 norm, true {radius:.3g}",
    "noise": "noise, true {noise:.3g}",
    "error": "l1 error of the mean",
    "rate": "learning rate",
    "regime": "term of the learning rate",
}


def tables(
    seen: Diagnosis, losses: Losses, bounds: Guarantees | None, title: str, plain: bool = False
) -> Iterator[Table]:
    """All tables of a diagnosis; ``plain`` keeps to ASCII."""
    yield of_rounds(seen, title)
    if seen.beliefs is not None and seen.selects:
        yield of_features(seen, seen.beliefs, plain)
    yield of_stretches(losses)
    if losses.exploring is not None:
        yield of_purposes(losses)
    yield of_actions(losses)
    if bounds is not None:
        yield of_bounds(bounds, losses.regret, len(seen.trace.chosen))


def short(value: Any) -> str:
    """A number as a table shows it; nothing for what is not known.

    >>> short(1234.5), short(0.01234), short(math.nan)
    ('1,234', '0.0123', '')
    """
    if isinstance(value, str):
        return value
    if value is None or math.isnan(value):
        return ""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"


def shown_rounds(horizon: int) -> list[int]:
    """1, 10, 100, ... and the last.

    >>> shown_rounds(2000), shown_rounds(100)
    ([1, 10, 100, 1000, 2000], [1, 10, 100])
    """
    powers = (10**power for power in range(len(str(horizon))))
    return sorted({*(power for power in powers if power < horizon), horizon})


def series(seen: Diagnosis) -> dict[str, Any]:
    """The rows of the first table, by the names that readers see; without those that are empty."""
    labels, columns = dict(LABELS), seen.columns | {"so_far": seen.trace.regret.cumsum()}
    if seen.beliefs is None:
        labels["surrogate_regret"] = "upper bound on the regret"
    else:
        columns["regime"] = [name.removeprefix("data-") for name in seen.beliefs.regime]
        if np.allclose(seen.information_gain, seen.beliefs.surrogate_gain, rtol=1e-9, atol=0.0):
            del labels["information_gain"]
    if not seen.trace.rate.any():
        del labels["rate"]
    if not seen.selects:
        del labels["supports"], labels["features"]
    shown = {label: columns[name] for name, label in labels.items() if name in columns}
    facts = {**seen.bandit.truth, "particles": seen.particles}
    return {label.format(**facts): one for label, one in shown.items() if any(map(short, one))}


def of_rounds(seen: Diagnosis, title: str) -> Table:
    """The rounds 1, 10, 100, ... side by side, and the median over all rounds."""
    rounds = shown_rounds(len(seen.trace.chosen))
    rows = []
    for name, values in series(seen).items():
        middle = "" if isinstance(values, list) else short(float(np.nanmedian(values)))
        rows.append((name, *(short(values[number - 1]) for number in rounds), middle))
    return Table(("round", *map(str, rounds), "median"), rows, title)


def of_features(seen: Diagnosis, beliefs: Beliefs, plain: bool = False) -> Table:
    """The inclusion probability of the features that matter, and of the next best, over time."""
    histories, others = beliefs.inclusion.T, beliefs.others(seen.support)[:OTHERS]
    rows: list[tuple[object, ...]] = []
    for j in [*seen.support[:MATTERING], *(j for j in others if histories[j].mean() > 0.005)]:
        last, matters = f"{histories[j, -1]:.2f}", "matters" if j in seen.support else ""
        rows.append((j, bars(histories[j], plain), last, matters))
    hidden = len(seen.support) - MATTERING
    if hidden > 0:
        rows.append(("", f"and {hidden} more that matter", "", ""))
    heads = ("feature", "over the rounds", "at the end", "in truth")
    return Table(heads, rows, "Probability that a feature matters", labels=2)


def bars(history: Floats, plain: bool = False) -> str:
    """A history of probabilities in one line.

    >>> bars(np.array([0.0, 0.5, 1.0])), bars(np.array([0.0, 1.0]), plain=True)
    ('▁▅█', '.@')
    """
    ramp = PLAIN_BARS if plain else BARS
    parts = np.array_split(history, min(WIDTH, len(history)))
    return "".join(ramp[min(int(part.mean() * len(ramp)), len(ramp) - 1)] for part in parts)


def paid(part: float, whole: float) -> tuple[str, str]:
    """A part of the regret, and its share of the whole if there is any."""
    return short(part), f"{part / whole:.0%}" if whole > 0.0 else ""


def of_stretches(losses: Losses) -> Table:
    """The regret of the first 10 rounds, of those up to 30, 100, 300, ..."""
    heads = ("rounds", "regret", "share", "a round", "exploring rounds", "their regret")
    rows = [
        (
            f"{one.first} to {one.last}", *paid(one.regret, losses.regret),
            short(one.regret / (one.last - one.first + 1)), one.exploring,
            short(one.regret_exploring),
        )
        for one in losses.stretches
    ]  # fmt: skip
    known = 4 if losses.exploring is None else 6  # columns
    return Table(heads[:known], [row[:known] for row in rows], "Regret by rounds")


def of_purposes(losses: Losses) -> Table:
    """The regret of exploring, and of playing the action that seemed best though it was not."""
    parts = {
        "exploring: not of the highest posterior mean": losses.exploring,
        "committed, to a wrong action": losses.mistaken,
        "committed, to the best action": losses.right,
    }
    rows = [
        (label, one.rounds, *paid(one.regret, losses.regret), f"{one.gain:.3g} nats")
        for label, one in parts.items()
        if one is not None
    ]
    heads = ("action played", "rounds", "regret", "share", "information gain")
    return Table(heads, rows, "Regret by purpose")


def of_actions(losses: Losses) -> Table:
    """The actions that cost most in all."""
    rows: list[tuple[object, ...]] = [
        (one.action, short(one.gap), one.played, *paid(one.regret, losses.regret))
        for one in losses.actions
    ]
    if losses.others:
        rest = losses.regret - sum(one.regret for one in losses.actions)
        name = f"{losses.others} other{'s' * (losses.others > 1)}"
        rows.append((name, "", "", *paid(rest, losses.regret)))
    rows.append(("the best", "0", losses.best_played, *paid(0.0, losses.regret)))
    return Table(("action", "gap", "rounds", "regret", "share"), rows, "Regret by actions")


def of_bounds(found: Guarantees, regret: float, horizon: int) -> Table:
    """The bounds beside the regret, each with its terms and whether it is proven."""
    rows = [("regret of this run", "", "", short(regret))]
    for name, bound, unmet in (
        ("Theorem 1", found.theorem1, found.unmet1),
        ("  by the true gain", found.theorem1_true, found.unmet1),
        ("Theorem 3", found.theorem3, found.unmet3),
    ):
        if bound is None:
            why = "a learning rate is zero" + ", or s > d / 2" * (name == "Theorem 3")
            rows.append((name, "", why, "none"))
            continue
        if isinstance(bound, Bound):
            sums = f"ratios {short(found.ratios)}, roots {short(found.root_ratios)}"
            terms = f"{bound.regime}; {sums}"
        else:
            first, second, third, last = map(short, bound)
            terms = f"{first} + {second} - {third}" + f" + {last}" * (bound.additive > 0.0)
        rows.append((name, "not proven" if unmet else "proven", terms, short(bound.value)))
    most = f"{horizon:,} rounds, gaps of at most {short(found.widest)}"
    rows.append(("trivial", "", most, short(found.trivial)))
    title = "Bounds on the expected regret, from what happened in this run"
    return Table(("", "for this run", "terms", "bound"), rows, title, labels=3)


def of_every_round(seen: Diagnosis) -> Table:
    """Every series, a line for each round, for programs; what is not finite is left empty."""
    flat: dict[str, Any] = {"round": np.arange(1, len(seen.trace.chosen) + 1)}
    for name, values in seen.columns.items():
        several = {f"{name}_{j}": column for j, column in enumerate(values.T) if values.ndim > 1}
        flat |= several or {name: values}
    return Table(tuple(flat), list(zip(*map(as_plain, flat.values()), strict=True)))
