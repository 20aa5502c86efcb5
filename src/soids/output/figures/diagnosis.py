"""A diagnosis as a figure: one panel a question, rounds from left to right."""

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
    (regret, bounds), (gain, inclusion), (error, cloud), (square, cubic), (rate, learned) = grid
    draw_regret(regret, seen)
    draw_bounds(bounds, seen)
    draw_gain(gain, beliefs)
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
    """A legend, half transparent."""
    axes.legend(edgecolor="none", framealpha=0.7)


def draw_regret(axes: "Axes", seen: Diagnosis) -> None:
    """The true regret so far, and the part of it that was paid for exploring."""
    regret = seen.trace.regret
    plot(axes, regret.cumsum(), BLUE, "in all")
    axes.set_title("Regret so far")
    axes.set_ylim(bottom=0.0)
    if seen.beliefs is not None:
        explored = np.where(seen.beliefs.exploring, regret, 0.0).cumsum()
        plot(axes, explored, ORANGE, "of exploring rounds")
        explain(axes)


def draw_bounds(axes: "Axes", seen: Diagnosis) -> None:
    """The theorems as if each round had been the last, beside the regret so far."""
    axes.set_title("Bounds on the regret so far")
    found, bounds = guarantees(seen), so_far(seen)
    regret = seen.trace.regret.cumsum()
    plot(axes, np.where(regret > 0.0, regret, np.nan), BLUE, "regret")
    if found is not None:
        trivial = found.widest * rounds(regret)
        axes.plot(rounds(regret), trivial, color=GREY, linewidth=0.8, linestyle=":",
                  label="trivial")  # fmt: skip
        for name, colour, unmet in (
            ("Theorem 1", RED, found.unmet1),
            ("Theorem 3", GREEN, found.unmet3),
        ):
            if name in bounds:
                plot(axes, bounds[name], colour, f"{name}, not proven" if unmet else name)
    axes.set_yscale("log")
    explain(axes)


def draw_gain(axes: "Axes", beliefs: Beliefs) -> None:
    """The surrogate information gain beside the true one."""
    axes.set_title("Information gain, nats")
    for values, colour, name in (
        (beliefs.true_gain, ORANGE, "true"),
        (beliefs.surrogate_gain, BLUE, "surrogate"),
    ):
        plot(axes, np.where(values > 0.0, values, np.nan), colour, name)
    if beliefs.true_gain.any():
        axes.set_yscale("log")
    explain(axes)


def draw_inclusion(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The inclusion probabilities: above the line of the features that matter, below it of those
    others that have the largest ones.
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
    """How far the posterior mean is from the true parameter."""
    plot(axes, beliefs.error, BLUE)
    axes.axhline(float(np.abs(seen.bandit.theta).sum()), color=GREY, linewidth=0.6, linestyle=":",
                 label="l1 norm of the true parameter")  # fmt: skip
    axes.set_title("l1 distance of the mean to the true parameter")
    axes.set_ylim(bottom=0.0)
    explain(axes)


def draw_cloud(axes: "Axes", seen: Diagnosis, beliefs: Beliefs) -> None:
    """The effective size, and the rounds in which the cloud was resampled."""
    plot(axes, beliefs.effective, BLUE, "effective size")
    if seen.selects:
        plot(axes, beliefs.supports.astype(np.float64), ORANGE, "distinct supports")
    resampled = np.flatnonzero(beliefs.surviving < ALIVE * seen.particles) + 1
    if len(resampled):
        axes.plot(resampled, np.zeros(len(resampled)), "|", color=RED, label="resampled",
                  clip_on=False)  # fmt: skip
    axes.axhline(0.5 * seen.particles, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_title(f"Effective size of {seen.particles} particles")
    axes.set_ylim(0.0, 1.02 * seen.particles)
    explain(axes)


def draw_ratio(axes: "Axes", ratio: Floats, bound: Floats, name: str, formula: str) -> None:
    """An information ratio beside the lemma's bound on it."""
    axes.set_title(f"Information ratio: {name}")
    finite = np.where(np.isfinite(ratio), ratio, 0.0)
    positive = np.where(finite > ROUNDING * finite.max(), finite, np.nan)  # the rest is zero
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
    """The posterior means of sparsity, l1 norm and noise over the true values."""
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
    axes.set_title("Posterior mean over true value")
    axes.set_yscale("log")
    explain(axes)


def draw_expectation(axes: "Axes", seen: Diagnosis) -> None:
    """The regret of each round, and the policy's upper bound on it if it has one."""
    plot(axes, seen.trace.regret, PALE, "true")
    if not np.isnan(seen.surrogate_regret).all():
        plot(axes, seen.surrogate_regret, BLUE, "upper bound of the policy")
    axes.set_title("Regret of a round")
    axes.set_yscale("symlog")
    explain(axes)


def draw_choices(axes: "Axes", seen: Diagnosis) -> None:
    """The rank of the actions played, the best one on top."""
    ranks = np.argsort(np.argsort(seen.bandit.gaps, kind="stable"), kind="stable") + 1
    played = ranks[seen.trace.chosen].astype(np.float64)
    axes.plot(rounds(played), played, ".", color=BLUE, markersize=2.0)
    axes.set_title("Rank of the action played, 1 is the best")
    axes.set_yscale("log")
    axes.set_ylim(1.2 * len(ranks), 0.8)


def draw_probability(axes: "Axes", seen: Diagnosis) -> None:
    """The probability with which the action was drawn."""
    axes.plot(
        rounds(seen.surrogate_regret), seen.trace.probability, ".", color=BLUE, markersize=2.0
    )
    axes.set_title("Probability of the action played")
    axes.set_ylim(-0.02, 1.02)
