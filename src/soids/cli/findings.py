"""A diagnosis on the screen: a table of rounds, histories of features, and plain words."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from soids.arrays import Floats
from soids.simulation.diagnosis import SURE, Beliefs, Diagnosis, Findings

BARS, PLAIN_BARS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
WIDTH = 40  # of the history of a feature
OTHERS = 3  # features shown that do not matter in truth, at most
MATTERING = 10  # and that do
IN_FORCE = {
    "cap": "at its cap",
    "data-rich": "that of rich data",
    "data-poor": "that of poor data",
}


def series(seen: Diagnosis) -> dict[str, Floats | list[str]]:
    """All that is known of a round, by the name that readers see."""
    trace, beliefs = seen.trace, seen.beliefs
    truth = seen.bandit.truth
    feared = "regret, expected" if beliefs is not None else "regret, feared"
    rows: dict[str, Any] = {
        "regret so far": trace.regret.cumsum(),
        feared: seen.paid,
        "information, nats": seen.learned,
        "2-ratio": trace.ratio,
        "probability of choice": trace.probability,
    }
    if beliefs is not None:
        rows |= {
            "at most": beliefs.square_bound,
            "3-ratio": beliefs.cubed,
            "at most ": beliefs.cubic_bound,
            f"effective size, of {seen.particles}": beliefs.effective,
            "before resampling": beliefs.surviving,
            "different parameters": beliefs.distinct,
            "different supports": beliefs.supports,
            f"features, true {truth['sparsity']}": beliefs.features,
            f"l1 norm, true {truth['radius']:.3g}": beliefs.norm,
            f"noise, true {truth['noise']:.3g}": beliefs.noise,
            "mean to truth, l1": beliefs.error,
            "learning rate": trace.rate,
            "term of the rate": [name.removeprefix("data-") for name in beliefs.regime],
        }
        order = ["2-ratio", "at most", "3-ratio", "at most "]
        rest = [name for name in rows if name not in order]
        rows = {name: rows[name] for name in [*rest[:3], *order, *rest[3:]]}
        if not trace.rate.any():
            del rows["learning rate"]
        if not seen.selects:
            del rows["different supports"], rows[f"features, true {truth['sparsity']}"]
    return {name: values for name, values in rows.items() if tells_something(values)}


def tells_something(values: Any) -> bool:
    """Whether a series has anything in it."""
    if isinstance(values, list):
        return any(values)
    return not np.isnan(values).all()


def shown_rounds(horizon: int) -> list[int]:
    """1, 10, 100, ... and the last.

    >>> shown_rounds(2000), shown_rounds(100)
    ([1, 10, 100, 1000, 2000], [1, 10, 100])
    """
    powers = (10**power for power in range(len(str(horizon))))
    return sorted({*(power for power in powers if power < horizon), horizon})


def tabulate(seen: Diagnosis, title: str) -> Table:
    """The rounds 1, 10, 100, ... side by side, and the median over all."""
    rounds = shown_rounds(len(seen.trace.chosen))
    table = Table(title=escape(title), box=box.SIMPLE, pad_edge=False)
    table.add_column("round", no_wrap=True)
    for number in rounds:
        table.add_column(str(number), justify="right")
    table.add_column("median", justify="right")
    for name, values in series(seen).items():
        cells = [written_short(values[number - 1]) for number in rounds]
        middle = "" if isinstance(values, list) else written_short(middle_of(values))
        table.add_row(name.strip(), *cells, middle)
    return table


def middle_of(values: Floats) -> float:
    """The median of what is a number."""
    return float(np.nanmedian(values))


def written_short(value: Any) -> str:
    """A number as a table shows it."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e5 else f"{value:.3g}"


def histories(seen: Diagnosis, beliefs: Beliefs, plain: bool) -> Table:
    """How the probability that a feature matters went, for those that do and the next best."""
    table = Table(
        title="Probability that a feature matters, over the rounds",
        box=box.SIMPLE, pad_edge=False, show_header=False,
    )  # fmt: skip
    table.add_column(justify="right")
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    strength = beliefs.inclusion.mean(axis=0)
    others = np.setdiff1d(np.argsort(-strength, kind="stable"), seen.support, assume_unique=True)
    strongest = [j for j in others[:OTHERS] if strength[j] > 0.005]
    for j in [*seen.support[:MATTERING], *strongest]:
        history = beliefs.inclusion[:, j]
        matters = "matters" if j in seen.support else ""
        table.add_row(str(j), bars(history, plain), f"{history[-1]:.2f}", matters)
    hidden = len(seen.support) - MATTERING
    if hidden > 0:
        table.add_row("", f"and {hidden} more that matter", "", "")
    return table


def bars(history: Floats, plain: bool = False) -> str:
    """A history of probabilities in one line.

    >>> bars(np.array([0.0, 0.5, 1.0])), bars(np.array([0.0, 1.0]), plain=True)
    ('▁▅█', '.@')
    """
    ramp = PLAIN_BARS if plain else BARS
    parts = np.array_split(history, min(WIDTH, len(history)))
    return "".join(ramp[min(int(part.mean() * len(ramp)), len(ramp) - 1)] for part in parts)


def remarks(seen: Diagnosis, findings: Findings, same: dict[str, Any]) -> Iterator[str]:
    """What there is to say in plain words."""
    yield reproduced(same, len(seen.trace.chosen))
    if seen.beliefs is None:
        yield f"This policy has no posterior to look into; it played {findings.actions} actions."
        return
    if findings.resampled is not None:
        yield (
            f"The effective size was below half in {times(findings.thin)}; the cloud was resampled "
            f"in {times(findings.resampled)}, and took a reward in by several steps in "
            f"{times(findings.tempered)}."
        )
    if seen.selects:
        yield discovery(seen, findings)
    yield from lemmas(seen, seen.beliefs, findings)
    if findings.regimes:
        shares = [f"{IN_FORCE[name]} in {times(n)}" for name, n in findings.regimes.items()]
        yield f"The learning rate was {', '.join(shares)}."


def times(count: int | None) -> str:
    """So many rounds.

    >>> times(0), times(1), times(20)
    ('no round', '1 round', '20 rounds')
    """
    return f"{count or 'no'} round{'s' if count and count > 1 else ''}"


def reproduced(same: dict[str, Any], horizon: int) -> str:
    """Whether the stored trial came out again, and why it may not have."""
    if same["reproduced"]:
        return f"Played again: all {horizon} rounds are as stored, to the last bit."
    why = (
        "the code is the same, so the machine or a library is not, or a budget_ms was spent in "
        "another time"
        if same["same_code"]
        else "they were played by other code than what is installed now"
    )
    first = same["choices_differ_from"]
    what = (
        "choices are as stored, other numbers are not"
        if first is None
        else f"choices differ from those stored from round {first} on"
    )
    return f"Played again: {what}; {why}."


def discovery(seen: Diagnosis, findings: Findings) -> str:
    """Whether, and when, what matters was found."""
    if findings.found is None:
        found = f"The support was never held to matter as a whole (inclusion above {SURE})"
    else:
        found = f"The support was found (inclusion above {SURE}) in round {findings.found}"
        if findings.lost:
            found += f", and was in doubt again in {times(findings.lost)}"
    wrong = findings.intruders or "no"
    plural = "" if findings.intruders == 1 else "s"
    return f"{found}; in the end {wrong} other feature{plural} seemed to matter."


def lemmas(seen: Diagnosis, beliefs: Beliefs, findings: Findings) -> Iterator[str]:
    """Whether the ratios kept to their bounds, and what these rest on."""
    if findings.square_excess is None:
        yield "No lemma bounds the information ratio of this policy."
        return
    yield f"The 2-ratio was above its bound 2 d in {times(findings.square_excess)}."
    if findings.cubic_excess is None:
        yield "No lemma bounds the 3-ratio of this policy."
    elif not np.isfinite(beliefs.cubic_bound).any():
        yield "The 3-ratio has no bound: the actions do not span the space, so C_min is 0."
    else:
        densest, sparsity = int(beliefs.densest.max()), len(seen.support)
        sparse = (
            f"{densest} here, no more than the sparsity {sparsity}, as the paper assumes"
            if densest <= sparsity
            else f"{densest} here, more than the sparsity {sparsity} that the paper assumes"
        )
        yield (
            f"The 3-ratio was above its bound 54 k R / C_min in {times(findings.cubic_excess)}; R "
            "is the largest reward believed possible, over the noise, and k the features of the "
            f"densest action that may be best: {sparse}."
        )
