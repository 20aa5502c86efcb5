"""A diagnosis on the screen: a table of rounds, the inclusion of features, and remarks."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from soids.arrays import Floats
from soids.simulation.diagnosis import Beliefs, Diagnosis
from soids.simulation.findings import SURE, Findings

BARS, PLAIN_BARS = "▁▂▃▄▅▆▇█", ".:-=+*#@"
WIDTH = 40  # of the history of a feature
OTHERS = 3  # features shown that do not matter in truth, at most
MATTERING = 10  # and that do
IN_FORCE = {
    "cap": "its cap of one half",
    "data-rich": "the data-rich term",
    "data-poor": "the data-poor term",
}


def series(seen: Diagnosis) -> dict[str, Floats | list[str]]:
    """All that is known of a round, by the name that readers see."""
    trace, beliefs = seen.trace, seen.beliefs
    expected = "surrogate regret" if beliefs is not None else "upper bound on the regret"
    rows: dict[str, Any] = {
        "regret so far": trace.regret.cumsum(),
        expected: seen.surrogate_regret,
        "probability of the choice": trace.probability,
    }
    if beliefs is not None:
        rows = with_beliefs(rows, seen, beliefs)
    return {name: values for name, values in rows.items() if has_content(values)}


def with_beliefs(rows: dict[str, Any], seen: Diagnosis, beliefs: Beliefs) -> dict[str, Any]:
    """The same with the rows of a policy that has a posterior."""
    trace, truth = seen.trace, seen.bandit.truth
    gains = {
        "information gain, surrogate": beliefs.surrogate_gain,
        "information gain, true": beliefs.true_gain,
        "information gain, the policy's": seen.information_gain,
    }
    if np.allclose(seen.information_gain, beliefs.surrogate_gain, rtol=1e-9, atol=0.0):
        del gains["information gain, the policy's"]
    ratios = {
        "2-ratio": trace.ratio,
        "bound on the 2-ratio": beliefs.square_bound,
        "3-ratio": beliefs.cubed,
        "bound on the 3-ratio": beliefs.cubic_bound,
    }
    features = f"features, true {truth['sparsity']}"
    cloud = {
        f"effective size, of {seen.particles}": beliefs.effective,
        "effective size before resampling": beliefs.surviving,
        "distinct parameters": beliefs.distinct,
        "distinct supports": beliefs.supports,
        features: beliefs.features,
        f"l1 norm, true {truth['radius']:.3g}": beliefs.norm,
        f"noise, true {truth['noise']:.3g}": beliefs.noise,
        "l1 error of the mean": beliefs.error,
        "learning rate": trace.rate,
        "term of the learning rate": [name.removeprefix("data-") for name in beliefs.regime],
    }
    if not trace.rate.any():
        del cloud["learning rate"]
    if not seen.selects:
        del cloud["distinct supports"], cloud[features]
    probability = rows.pop("probability of the choice")
    return rows | gains | ratios | {"probability of the choice": probability} | cloud


def has_content(values: Any) -> bool:
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
    """The rounds 1, 10, 100, ... side by side, and the median over all rounds."""
    rounds = shown_rounds(len(seen.trace.chosen))
    table = Table(title=escape(title), box=box.SIMPLE, pad_edge=False)
    table.add_column("round", no_wrap=True)
    for number in rounds:
        table.add_column(str(number), justify="right")
    table.add_column("median", justify="right")
    for name, values in series(seen).items():
        cells = [written_short(values[number - 1]) for number in rounds]
        middle = "" if isinstance(values, list) else written_short(float(np.nanmedian(values)))
        table.add_row(name, *cells, middle)
    return table


def written_short(value: Any) -> str:
    """A number as a table shows it."""
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.3g}"


def histories(seen: Diagnosis, beliefs: Beliefs, plain: bool) -> Table:
    """The inclusion probability of the features that matter, and of the next best, over time."""
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
    """The findings in sentences."""
    yield reproduced(same, len(seen.trace.chosen))
    beliefs = seen.beliefs
    if beliefs is None:
        yield f"This policy has no posterior to look into; it played {findings.actions} actions."
        return
    if findings.resampled is not None:
        yield (
            f"The effective size was below half in {rounds(findings.thin)}; the cloud was "
            f"resampled in {rounds(findings.resampled)}, and took a reward in by several steps in "
            f"{rounds(findings.tempered)}."
        )
    if seen.selects:
        yield discovery(findings)
    yield from lemmas(seen, beliefs, findings)
    yield gains(beliefs)
    if findings.regimes:
        shares = [f"{IN_FORCE[name]} in {rounds(n)}" for name, n in findings.regimes.items()]
        yield f"The learning rate was {', '.join(shares)}."


def rounds(count: int | None) -> str:
    """A number of rounds in words.

    >>> rounds(0), rounds(1), rounds(20)
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


def discovery(findings: Findings) -> str:
    """Whether, and when, the support was found."""
    if findings.found is None:
        found = f"The support was never included as a whole (inclusion above {SURE})"
    else:
        found = f"The support was found (inclusion above {SURE}) in round {findings.found}"
        if findings.lost:
            found += f", and was in doubt again in {rounds(findings.lost)}"
    wrong = findings.intruders or "no"
    plural = "" if findings.intruders == 1 else "s"
    return f"{found}; in the end {wrong} other feature{plural} seemed to matter."


def lemmas(seen: Diagnosis, beliefs: Beliefs, findings: Findings) -> Iterator[str]:
    """Whether the ratios kept to their bounds, and what these rest on."""
    if findings.square_excess is None:
        yield "No lemma bounds the information ratio of this policy."
        return
    yield f"The 2-ratio was above its bound 2 d in {rounds(findings.square_excess)}."
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
            f"The 3-ratio was above its bound 54 k R / C_min in {rounds(findings.cubic_excess)}; R "
            "is the largest reward in the cloud, over the noise, and k the number of features of "
            f"the densest action that may be best: {sparse}."
        )


def gains(beliefs: Beliefs) -> str:
    """How the true information gain compares with the surrogate one."""
    some, times = beliefs.surrogate_gain > 0.0, ""
    if some.any():
        middle = float(np.median(beliefs.true_gain[some] / beliefs.surrogate_gain[some]))
        times = f"In the median round the true information gain was {middle:.3g} times as large. "
    return (
        "The surrogate information gain was at most the true one, as it must be (Proposition "
        f"SIG-TIG). {times}They differ by half the squared error of the posterior mean on the "
        "actions played."
    )
