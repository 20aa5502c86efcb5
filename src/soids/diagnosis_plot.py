"""A diagnosis as a figure: one panel a question, rounds from left to right."""

import io
from typing import TYPE_CHECKING

import numpy as np

from soids.arrays import Floats
from soids.posteriors.smc import ALIVE
from soids.simulation.diagnosis import SURE, Beliefs, Diagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
GREY, PALE = "#555555", "#c8c8c8"
TINTS = {"data-rich": GREEN, "data-poor": ORANGE, "cap": RED}


def draw(seen: Diagnosis, title: str) -> "Figure":
    """All panels that the policy gives reason for."""
    from matplotlib.figure import Figure  # dear to import, and an extra

    beliefs = seen.beliefs
    rows = 2 if beliefs is None else 4
    figure = Figure(figsize=(10.0, 2.6 * rows), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(rows, 2, sharex=True)
    panels = iter(axes.flat)
    draw_regret(next(panels), seen)
    if beliefs is None:
        draw_expectation(next(panels), seen)
        draw_choices(next(panels), seen)
        draw_probability(next(panels), seen)
    else:
        draw_inclusion(next(panels), seen, beliefs)
        draw_error(next(panels), seen, beliefs)
        draw_cloud(next(panels), seen, beliefs)
        draw_ratio(next(panels), seen.trace.ratio, beliefs.square_bound, "2-ratio", "2 d")
        draw_ratio(next(panels), beliefs.cubed, beliefs.cubic_bound, "3-ratio", "54 k R / C_min")
        draw_rate(next(panels), seen.trace.rate, beliefs)
        draw_learned(next(panels), seen, beliefs)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlim(1, len(seen.trace.chosen))
    for axis in axes[-1]:
        axis.set_xlabel("round")
    return figure


def rendered(figure: "Figure", kind: str) -> bytes:
    """The figure as the content of a file, the same for the same numbers."""
    buffer = io.BytesIO()
    undated = {"CreationDate": None} if kind == "pdf" else {}
    figure.savefig(buffer, format=kind, dpi=150, metadata=undated)
    return buffer.getvalue()


def rounds(values: Floats) -> Floats:
    """The rounds of a series, counted from 1."""
    return np.arange(1.0, len(values) + 1.0)


def plot(axis: "Axes", values: Floats, colour: str, label: str | None = None) -> None:
    """One series over the rounds."""
    axis.plot(rounds(values), values, color=colour, linewidth=1.2, label=label)


def say(axis: "Axes", text: str) -> None:
    """Words in place of a drawing."""
    axis.text(0.5, 0.5, text, ha="center", transform=axis.transAxes, color=GREY)


def explain(axis: "Axes") -> None:
    """A legend that lets what is under it shine through."""
    axis.legend(edgecolor="none", framealpha=0.7)


def draw_regret(axis: "Axes", seen: Diagnosis) -> None:
    """The true regret so far."""
    plot(axis, seen.trace.regret.cumsum(), BLUE)
    axis.set_title("Regret so far", loc="left")
    axis.set_ylim(bottom=0.0)


def draw_inclusion(axis: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The probability that each feature matters; those that do in truth stand out."""
    axis.set_title("Probability that a feature matters", loc="left")
    if not seen.selects:
        say(axis, "this posterior does not select features")
        return
    matters = np.isin(np.arange(len(seen.bandit.theta)), seen.support)
    for mask, colour, label in ((~matters, PALE, "others"), (matters, BLUE, "matter in truth")):
        for column, series in enumerate(beliefs.inclusion.T[mask]):
            axis.plot(rounds(series), series, color=colour, linewidth=0.8,
                      label=None if column else label)  # fmt: skip
    axis.axhline(SURE, color=GREY, linewidth=0.6, linestyle=":")
    axis.set_ylim(-0.02, 1.02)
    explain(axis)


def draw_error(axis: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """How far the belief's mean is from the truth."""
    plot(axis, beliefs.error, BLUE)
    axis.axhline(float(np.abs(seen.bandit.theta).sum()), color=GREY, linewidth=0.6, linestyle=":",
                 label="length of the truth")  # fmt: skip
    axis.set_title("l1 distance of the mean to the truth", loc="left")
    axis.set_ylim(bottom=0.0)
    explain(axis)


def draw_cloud(axis: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The effective size, and the rounds in which the cloud was resampled."""
    plot(axis, beliefs.effective, BLUE, "effective size")
    if seen.selects:
        plot(axis, beliefs.supports.astype(np.float64), ORANGE, "different supports")
    resampled = np.flatnonzero(beliefs.surviving < ALIVE * seen.particles) + 1
    if len(resampled):
        axis.plot(resampled, np.zeros(len(resampled)), "|", color=RED, label="resampled",
                  clip_on=False)  # fmt: skip
    axis.axhline(0.5 * seen.particles, color=GREY, linewidth=0.6, linestyle=":")
    axis.set_title(f"The cloud of {seen.particles}", loc="left")
    axis.set_ylim(0.0, 1.02 * seen.particles)
    explain(axis)


def draw_ratio(axis: "Axes", ratio: Floats, bound: Floats, name: str, formula: str) -> None:
    """An information ratio against what the lemma says it is at most."""
    axis.set_title(f"Information ratio: {name}", loc="left")
    positive = np.where(np.isfinite(ratio) & (ratio > 0.0), ratio, np.nan)
    if not np.isnan(positive).all():
        axis.set_yscale("log")
    plot(axis, positive, BLUE, name)
    if np.isfinite(bound).any():
        plot(axis, bound, RED, f"bound, {formula}")
    explain(axis)


def draw_rate(axis: "Axes", rate: Floats, beliefs: Beliefs) -> None:
    """The learning rate, tinted by the term in force."""
    axis.set_title("Learning rate", loc="left")
    if not rate.any():
        say(axis, "this posterior is not optimistic")
        return
    plot(axis, rate, BLUE)
    axis.set_yscale("log")
    names = np.array(beliefs.regime)
    for name, tint in TINTS.items():
        where = names == name
        if where.any():
            axis.fill_between(
                rounds(rate), 0.0, 1.0, where=where, color=tint, alpha=0.15, linewidth=0.0,
                step="mid", transform=axis.get_xaxis_transform(), label=name,
            )  # fmt: skip
    if any(names != ""):
        explain(axis)


def draw_learned(axis: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """What is believed of sparsity, length and noise, over the truth."""
    truth = seen.bandit.truth
    shown = (
        ("number of features", beliefs.features, truth["sparsity"] if seen.selects else 0, BLUE),
        ("l1 norm", beliefs.norm, truth["radius"], ORANGE),
        ("noise", beliefs.noise, truth["noise"], GREEN),
    )
    for label, believed, true, colour in shown:
        if true > 0:
            plot(axis, believed / true, colour, label)
    axis.axhline(1.0, color=GREY, linewidth=0.6, linestyle=":")
    axis.set_title("Believed over true", loc="left")
    axis.set_yscale("log")
    explain(axis)


def draw_expectation(axis: "Axes", seen: Diagnosis) -> None:
    """The regret that a policy without posterior feared, if it says so, beside the true one."""
    plot(axis, seen.trace.regret, PALE, "true")
    if not np.isnan(seen.paid).all():
        plot(axis, seen.paid, BLUE, "feared")
    axis.set_title("Regret of a round", loc="left")
    axis.set_yscale("symlog")
    explain(axis)


def draw_choices(axis: "Axes", seen: Diagnosis) -> None:
    """What was played, the best action on top of the list."""
    ranks = np.argsort(np.argsort(seen.bandit.gaps, kind="stable"), kind="stable") + 1
    played = ranks[seen.trace.chosen].astype(np.float64)
    axis.plot(rounds(played), played, ".", color=BLUE, markersize=2.0)
    axis.set_title("Rank of the action played, 1 is the best", loc="left")
    axis.set_yscale("log")
    axis.set_ylim(1.2 * len(ranks), 0.8)


def draw_probability(axis: "Axes", seen: Diagnosis) -> None:
    """How sure the policy was of its choice."""
    axis.plot(rounds(seen.paid), seen.trace.probability, ".", color=BLUE, markersize=2.0)
    axis.set_title("Probability of the action played", loc="left")
    axis.set_ylim(-0.02, 1.02)
