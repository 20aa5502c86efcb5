"""A diagnosis as a figure: one panel a question, rounds from left to right."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from soids.arrays import Floats
from soids.output.figures.canvas import number_ticks, styled
from soids.output.figures.looks import HUES
from soids.posteriors.smc import ALIVE
from soids.simulation.diagnosis import Beliefs, Diagnosis
from soids.simulation.guarantees import guarantees, so_far

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line = tuple[str, Floats, str]  # label, values (T,), colour
BLUE, RED, GREEN, _, ORANGE, GREY, _ = HUES
MOST = 20  # features in a figure
PALE = "#d9d9d9"
ROUNDING = 1e-12  # a ratio below this share of the largest one is zero but for rounding
TINTS = {"data-rich": GREEN, "data-poor": ORANGE, "cap": RED}


def draw_diagnosis(seen: Diagnosis, title: str) -> "Figure":
    """All panels that make sense for the policy."""
    with styled():
        from matplotlib.figure import Figure

        rows = 2 if seen.beliefs is None else 5
        figure = Figure(figsize=(12.5, 2.4 * rows + 0.4), layout="constrained")
        figure.suptitle(title, weight="bold")
        grid = figure.subplots(rows, 2, sharex=True)
        if seen.beliefs is None:
            draw_without_beliefs(grid, seen)
        else:
            draw_with_beliefs(grid, seen, seen.beliefs)
        for axes in grid.flat:
            axes.set_xlim(1, max(2, len(seen.trace.chosen)))
            if axes.get_legend_handles_labels()[1]:
                lay_legend(axes)
            if not axes.images:  # whose ticks are features
                number_ticks(axes)
        for axes in grid[-1]:
            axes.set_xlabel("round")
    return figure


def lay_legend(axes: "Axes") -> None:
    """A legend on the right, outside the axes, where it hides no curve."""
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, edgecolor="none",
        handlelength=1.2, fontsize=7.5,
    )  # fmt: skip


def draw_with_beliefs(grid: Any, seen: Diagnosis, beliefs: Beliefs) -> None:
    """The panels of a policy with a posterior."""
    (regret, bounds), (gain, inclusion), (error, particles), (square, cubic), (rate, means) = grid
    total, truth, flat = seen.trace.regret.cumsum(), seen.bandit.truth, np.ones_like(beliefs.error)
    explored = np.where(beliefs.exploring, seen.trace.regret, 0.0).cumsum()
    lines = [("in all", total, BLUE), ("of exploring rounds", explored, ORANGE)]
    panel(regret, "Regret so far", lines, limits=(0.0, None))
    panel(bounds, "Bounds on the regret so far", [("regret", total, BLUE), *bounds_on(seen)], "log")
    lines = [("true", beliefs.true_gain, ORANGE), ("surrogate", beliefs.surrogate_gain, BLUE)]
    panel(gain, "Information gain, nats", lines, "log")
    draw_inclusion(inclusion, seen, beliefs)
    norm = np.abs(seen.bandit.theta).sum() * flat
    lines = [("", beliefs.error, BLUE), ("norm of the true one", norm, GREY)]
    panel(error, "l1 distance of the mean to the true parameter", lines, limits=(0.0, None))
    draw_particles(particles, seen, beliefs)
    draw_ratio(square, seen.trace.ratio, beliefs.square_bound, "2-ratio", "2 d")
    draw_ratio(cubic, beliefs.cubed, beliefs.cubic_bound, "3-ratio", "54 k R / C_min")
    draw_rate(rate, seen.trace.rate, np.array(beliefs.regime))
    learned = [
        ("number of features", beliefs.features, truth["sparsity"] if seen.selects else 0, BLUE),
        ("l1 norm", beliefs.norm, truth["radius"], ORANGE),
        ("noise", beliefs.noise, truth["noise"], GREEN),
    ]
    lines = [(label, mean / true, colour) for label, mean, true, colour in learned if true > 0]
    panel(means, "Posterior mean over true value", [*lines, ("", flat, GREY)], "log")


def draw_without_beliefs(grid: Any, seen: Diagnosis) -> None:
    """The panels of a policy without a posterior."""
    (regret, expected), (choices, probability) = grid
    panel(regret, "Regret so far", [("", seen.trace.regret.cumsum(), BLUE)], limits=(0.0, None))
    lines = [("true", seen.trace.regret, PALE)]
    if not np.isnan(seen.surrogate_regret).all():
        lines.append(("upper bound of the policy", seen.surrogate_regret, BLUE))
    panel(expected, "Regret of a round", lines, "symlog")
    ranks = np.argsort(np.argsort(seen.bandit.gaps, kind="stable"), kind="stable") + 1
    dots(choices, ranks[seen.trace.chosen].astype(np.float64))
    panel(choices, "Rank of the action played, 1 is the best", [], "log", (1.2 * len(ranks), 0.8))
    dots(probability, seen.trace.probability)
    panel(probability, "Probability of the action played", [], limits=(-0.02, 1.02))


def panel(
    axes: "Axes", title: str, lines: Sequence[Line], scale: str = "linear",
    limits: tuple[float, float | None] | None = None,
) -> None:  # fmt: skip
    """Lines over the rounds; grey ones are references, and dotted."""
    axes.set_title(title)
    for label, values, colour in lines:
        shown = np.where(values > 0.0, values, np.nan) if scale == "log" else values
        style = (":", 0.6) if colour == GREY else ("-", 1.2)
        axes.plot(
            rounds(values), shown, color=colour, label=label or None, linestyle=style[0],
            linewidth=style[1],
        )  # fmt: skip
    axes.set_yscale(scale)
    if limits is not None:
        axes.set_ylim(*limits)


def rounds(values: Floats) -> Floats:
    """The rounds of a series, counted from 1."""
    return np.arange(1.0, len(values) + 1.0)


def dots(axes: "Axes", values: Floats) -> None:
    """A dot a round, which shows rounds on their own."""
    axes.plot(rounds(values), values, ".", color=BLUE, markersize=2.0)


def say(axes: "Axes", text: str) -> None:
    """Words in place of a drawing."""
    axes.text(0.5, 0.5, text, ha="center", transform=axes.transAxes, color=GREY)


def bounds_on(seen: Diagnosis) -> list[Line]:
    """The theorems' bounds as if each round had been the last, and the trivial one."""
    found, bounds = guarantees(seen), so_far(seen)
    if found is None:
        return []
    lines = [("trivial", found.widest * rounds(seen.trace.regret), GREY)]
    for name, colour, unmet in (
        ("Theorem 1", RED, found.unmet1), ("Theorem 3", GREEN, found.unmet3)
    ):  # fmt: skip
        if name in bounds:
            lines.append((f"{name}, not proven" if unmet else name, bounds[name], colour))
    return lines


def draw_inclusion(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The inclusion probabilities: of features that matter, and below the line of others."""
    axes.set_title("Probability that a feature matters, dark is 1")
    if not seen.selects:
        say(axes, "this posterior does not select features")
        return
    matter = seen.support[: MOST // 2]
    features = [*matter, *beliefs.others(seen.support)[: MOST - len(matter)]]
    axes.imshow(
        beliefs.inclusion[:, features].T, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto",
        interpolation="nearest",  # or neighbours would blend
        extent=(0.5, len(beliefs.inclusion) + 0.5, len(features) - 0.5, -0.5),
    )  # fmt: skip
    axes.axhline(len(matter) - 0.5, color=RED, linewidth=1.0)
    axes.set_yticks(range(len(features)), [str(feature) for feature in features], size=6.5)
    axes.grid(visible=False)


def draw_particles(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The effective size, and the rounds in which the particles were resampled."""
    lines = [("effective size", beliefs.effective, BLUE)]
    if seen.selects:
        lines.append(("distinct supports", beliefs.supports.astype(np.float64), ORANGE))
    half = np.full_like(beliefs.effective, 0.5 * seen.particles)
    title, limits = f"Effective size of {seen.particles} particles", (0.0, 1.02 * seen.particles)
    panel(axes, title, [*lines, ("", half, GREY)], limits=limits)
    resampled = np.flatnonzero(beliefs.surviving < ALIVE * seen.particles) + 1
    if len(resampled):
        axes.plot(resampled, np.zeros(len(resampled)), "|", color=RED, label="resampled",
                  clip_on=False)  # fmt: skip


def draw_ratio(axes: "Axes", ratio: Floats, bound: Floats, name: str, formula: str) -> None:
    """An information ratio beside the lemma's bound on it."""
    finite = np.where(np.isfinite(ratio), ratio, 0.0)
    positive = np.where(finite > ROUNDING * finite.max(), finite, np.nan)  # the rest is zero
    lines = [(name, positive, BLUE)]
    if np.isfinite(bound).any():
        lines.append((f"bound, {formula}", bound, RED))
    panel(axes, f"Information ratio: {name}", lines, "log")
    dots(axes, positive)


def draw_rate(axes: "Axes", rate: Floats, regimes: Any) -> None:
    """The learning rate, tinted by the term in force."""
    if not rate.any():
        axes.set_title("Learning rate")
        say(axes, "this posterior is not optimistic")
        return
    panel(axes, "Learning rate", [("", rate, BLUE)], "log")
    for name, tint in TINTS.items():
        where = regimes == name
        if where.any():
            axes.fill_between(
                rounds(rate), 0.0, 1.0, where=where, color=tint, alpha=0.15, linewidth=0.0,
                step="mid", transform=axes.get_xaxis_transform(), label=name,
            )  # fmt: skip
