"""A diagnosis as a figure: one panel a question, rounds from left to right."""

from typing import TYPE_CHECKING, Any

import numpy as np

from soids.arrays import Floats
from soids.plots.canvas import number_ticks, styled
from soids.plots.looks import HUES
from soids.posteriors.smc import ALIVE
from soids.simulation.diagnosis import Beliefs, Diagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, _, ORANGE, GREY, _ = HUES
MOST = 20  # features in a figure
PALE = "#d9d9d9"
TINTS = {"data-rich": GREEN, "data-poor": ORANGE, "cap": RED}


def draw_diagnosis(seen: Diagnosis, title: str) -> "Figure":
    """All panels that the policy gives reason for."""
    with styled():
        from matplotlib.figure import Figure

        rows = 2 if seen.beliefs is None else 4
        figure = Figure(figsize=(10.0, 2.4 * rows + 0.4), layout="constrained")
        figure.suptitle(title, weight="bold")
        grid = figure.subplots(rows, 2, sharex=True)
        if seen.beliefs is None:
            draw_outside(grid, seen)
        else:
            draw_inside(grid, seen, seen.beliefs)
        for axes in grid.flat:
            axes.set_xlim(1, max(2, len(seen.trace.chosen)))
        for axes in grid[-1]:
            axes.set_xlabel("round")
    return figure


def draw_inside(grid: Any, seen: Diagnosis, beliefs: Beliefs) -> None:
    """The panels of a policy with a posterior."""
    (regret, inclusion), (error, cloud), (square, cubic), (rate, learned) = grid
    draw_regret(regret, seen)
    draw_error(error, seen, beliefs)
    draw_cloud(cloud, seen, beliefs)
    draw_ratio(square, seen.trace.ratio, beliefs.square_bound, "2-ratio", "2 d")
    draw_ratio(cubic, beliefs.cubed, beliefs.cubic_bound, "3-ratio", "54 k R / C_min")
    draw_rate(rate, seen.trace.rate, beliefs)
    draw_learned(learned, seen, beliefs)
    for axes in grid.flat:
        number_ticks(axes)
    draw_inclusion(inclusion, seen, beliefs)  # whose ticks are names, not numbers


def draw_outside(grid: Any, seen: Diagnosis) -> None:
    """The panels of a policy without."""
    (regret, expectation), (choices, probability) = grid
    draw_regret(regret, seen)
    draw_expectation(expectation, seen)
    draw_choices(choices, seen)
    draw_probability(probability, seen)
    for axes in grid.flat:
        number_ticks(axes)


def rounds(values: Floats) -> Floats:
    """The rounds of a series, counted from 1."""
    return np.arange(1.0, len(values) + 1.0)


def plot(axes: "Axes", values: Floats, colour: str, label: str | None = None) -> None:
    """One series over the rounds."""
    axes.plot(rounds(values), values, color=colour, linewidth=1.2, label=label)


def say(axes: "Axes", text: str) -> None:
    """Words in place of a drawing."""
    axes.text(0.5, 0.5, text, ha="center", transform=axes.transAxes, color=GREY)


def explain(axes: "Axes") -> None:
    """A legend that lets what is under it shine through."""
    axes.legend(edgecolor="none", framealpha=0.7)


def draw_regret(axes: "Axes", seen: Diagnosis) -> None:
    """The true regret so far."""
    plot(axes, seen.trace.regret.cumsum(), BLUE)
    axes.set_title("Regret so far")
    axes.set_ylim(bottom=0.0)


def draw_inclusion(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The probability that a feature matters: above the line those that do, below it the features
    that are most often held to.
    """
    axes.set_title("Probability that a feature matters, dark is 1")
    if not seen.selects:
        say(axes, "this posterior does not select features")
        return
    matter = seen.support[: MOST // 2]
    rank = np.argsort(-beliefs.inclusion.mean(axis=0), kind="stable")
    others = rank[~np.isin(rank, seen.support)][: MOST - len(matter)]
    features = [*matter, *others]
    axes.imshow(
        beliefs.inclusion[:, features].T, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto",
        interpolation="nearest",  # or neighbours would blend
        extent=(0.5, len(beliefs.inclusion) + 0.5, len(features) - 0.5, -0.5),
    )  # fmt: skip
    axes.axhline(len(matter) - 0.5, color=RED, linewidth=1.0)
    axes.set_yticks(range(len(features)), [str(feature) for feature in features], size=6.5)
    axes.grid(visible=False)


def draw_error(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """How far the belief's mean is from the truth."""
    plot(axes, beliefs.error, BLUE)
    axes.axhline(float(np.abs(seen.bandit.theta).sum()), color=GREY, linewidth=0.6, linestyle=":",
                 label="length of the truth")  # fmt: skip
    axes.set_title("l1 distance of the mean to the truth")
    axes.set_ylim(bottom=0.0)
    explain(axes)


def draw_cloud(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The effective size, and the rounds in which the cloud was resampled."""
    plot(axes, beliefs.effective, BLUE, "effective size")
    if seen.selects:
        plot(axes, beliefs.supports.astype(np.float64), ORANGE, "different supports")
    resampled = np.flatnonzero(beliefs.surviving < ALIVE * seen.particles) + 1
    if len(resampled):
        axes.plot(resampled, np.zeros(len(resampled)), "|", color=RED, label="resampled",
                  clip_on=False)  # fmt: skip
    axes.axhline(0.5 * seen.particles, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_title(f"The cloud of {seen.particles}")
    axes.set_ylim(0.0, 1.02 * seen.particles)
    explain(axes)


def draw_ratio(axes: "Axes", ratio: Floats, bound: Floats, name: str, formula: str) -> None:
    """An information ratio against what the lemma says it is at most."""
    axes.set_title(f"Information ratio: {name}")
    positive = np.where(np.isfinite(ratio) & (ratio > 0.0), ratio, np.nan)  # zero has no logarithm
    if not np.isnan(positive).all():
        axes.set_yscale("log")
    plot(axes, positive, BLUE, name)
    axes.plot(rounds(positive), positive, ".", color=BLUE, markersize=2.0)  # rounds on their own
    if np.isfinite(bound).any():
        plot(axes, bound, RED, f"bound, {formula}")
    explain(axes)


def draw_rate(axes: "Axes", rate: Floats, beliefs: Beliefs) -> None:
    """The learning rate, tinted by the term in force."""
    axes.set_title("Learning rate")
    if not rate.any():
        say(axes, "this posterior is not optimistic")
        return
    plot(axes, rate, BLUE)
    axes.set_yscale("log")
    names = np.array(beliefs.regime)
    for name, tint in TINTS.items():
        where = names == name
        if where.any():
            axes.fill_between(
                rounds(rate), 0.0, 1.0, where=where, color=tint, alpha=0.15, linewidth=0.0,
                step="mid", transform=axes.get_xaxis_transform(), label=name,
            )  # fmt: skip
    if any(names != ""):
        explain(axes)


def draw_learned(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """What is believed of sparsity, length and noise, over the truth."""
    truth = seen.bandit.truth
    shown = (
        ("number of features", beliefs.features, truth["sparsity"] if seen.selects else 0, BLUE),
        ("l1 norm", beliefs.norm, truth["radius"], ORANGE),
        ("noise", beliefs.noise, truth["noise"], GREEN),
    )
    for label, believed, true, colour in shown:
        if true > 0:
            plot(axes, believed / true, colour, label)
    axes.axhline(1.0, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_title("Believed over true")
    axes.set_yscale("log")
    explain(axes)


def draw_expectation(axes: "Axes", seen: Diagnosis) -> None:
    """The regret that a policy without posterior feared, if it says so, beside the true one."""
    plot(axes, seen.trace.regret, PALE, "true")
    if not np.isnan(seen.paid).all():
        plot(axes, seen.paid, BLUE, "feared")
    axes.set_title("Regret of a round")
    axes.set_yscale("symlog")
    explain(axes)


def draw_choices(axes: "Axes", seen: Diagnosis) -> None:
    """What was played, the best action on top of the list."""
    ranks = np.argsort(np.argsort(seen.bandit.gaps, kind="stable"), kind="stable") + 1
    played = ranks[seen.trace.chosen].astype(np.float64)
    axes.plot(rounds(played), played, ".", color=BLUE, markersize=2.0)
    axes.set_title("Rank of the action played, 1 is the best")
    axes.set_yscale("log")
    axes.set_ylim(1.2 * len(ranks), 0.8)


def draw_probability(axes: "Axes", seen: Diagnosis) -> None:
    """How sure the policy was of its choice."""
    axes.plot(rounds(seen.paid), seen.trace.probability, ".", color=BLUE, markersize=2.0)
    axes.set_title("Probability of the action played")
    axes.set_ylim(-0.02, 1.02)
