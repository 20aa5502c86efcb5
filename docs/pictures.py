"""The pictures of docs/sampler.md, written beside this script in about a minute."""

import math
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

from referee.envelope import bumps, highest_lines
from soids import SparseLinearBandit, paper_instance
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.posteriors import SpikeSlab, smc
from soids.posteriors.target import Target
from soids.rates import Progress, experiment

PIECES = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7"]
SPARSE, RUNAWAY, GREY, PALE = "#0072b2", "#d55e00", "#555555", "#c8c8c8"

ETA, SLAB_VARIANCE, SHARE = 0.5, 10.0, 0.1  # the paper's experiments
AGAINST = math.log((1.0 - SHARE) / SHARE)  # log prior odds against a feature, in nats
DIMENSION, ROUNDS = 100, 50


def random_evidence(bandit: SparseLinearBandit, rounds: int, rng: np.random.Generator) -> Evidence:
    """Rewards of actions played at random."""
    evidence, menu = Evidence.empty(bandit.theta.size), Menu(bandit.actions)
    for index in rng.integers(len(bandit.actions), size=rounds):
        reward = float(bandit.means[index] + bandit.noise * rng.standard_normal())
        evidence = evidence.add(menu, bandit.actions[index], reward)
    return evidence


class Conditional(NamedTuple):
    """One coordinate given the others: lines, their roof, and the mixture under it."""

    heights: Floats  # (K,)  of the lines at zero
    slopes: Floats  # (K,)
    roof: tuple[Floats, Floats, Floats]  # heights, slopes, and the kinks between them
    table: Floats  # (n, 5)  log mass, slope, precision, low, high of each bump
    log_atom: float  # log mass at zero

    def shares(self) -> Floats:  # (n + 1,)
        """The probability of each bump, and of the atom."""
        log_masses = np.array([*self.table[:, 0], self.log_atom])
        return np.exp(log_masses - logsumexp(log_masses))

    def density(self, row: int, x: Floats) -> Floats:
        """One bump of the conditional, as if nothing cut it."""
        _, slope, precision, low, high = self.table[row]
        grid = np.linspace(low, high, 1001)
        whole = np.trapezoid(np.exp(slope * grid - 0.5 * precision * grid**2), grid)
        return self.shares()[row] * np.exp(slope * x - 0.5 * precision * x**2) / whole


def conditional(target: Target, others: Floats, j: int) -> Conditional:
    """What the referee draws coordinate ``j`` from; ``others`` is zero there."""
    prior, tilt = target.prior, target.tilts[0]
    power = target.eta / prior.noise.scale
    heights, slopes = others @ target.columns, target.columns[j]
    roof = highest_lines(heights, slopes, np.argsort(slopes))
    slope = power * (target.moment[j] - target.gram.dense()[j] @ others) - target.drift[j]
    precision = power * target.gram.diagonal[j] + prior.values.slab_precision
    slack = prior.radius.high - np.abs(others).sum()
    odds = prior.log_odds[np.count_nonzero(others)]
    table = bumps(roof, tilt, slope, precision, -slack, slack, odds)
    return Conditional(heights, slopes, roof, table, tilt * heights.max())


def small_example() -> Conditional:
    """The third of four coordinates, after twelve rounds with eight actions."""
    rng = np.random.default_rng(54)
    bandit = SparseLinearBandit(rng.uniform(-1, 1, (8, 4)), np.array([1.0, -0.7, 0.0, 0.0]))
    evidence = random_evidence(bandit, 12, rng)
    posterior = SpikeSlab(4, sparsity=2, radius=3.0, noise=1.0, slab_variance=2.0)
    target = Target.of(evidence, posterior.prior(evidence), ETA, rate=0.3)
    return conditional(target, np.array([0.0, 0.0, 0.0, -0.18]), 2)


def draw_envelope(parts: Conditional, path: Path) -> None:
    """Lines and roof above, the mixture of cut Gaussians and the atom below."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(9, 6.2), sharex=True, height_ratios=[1.0, 1.2], layout="constrained"
    )
    x = np.linspace(parts.table[0, 3], parts.table[-1, 4], 600)
    shares = parts.shares()
    for height, slope in zip(parts.heights, parts.slopes, strict=True):
        above.plot(x, height + slope * x, color=PALE, lw=1)
    heights, slopes, kinks = parts.roof
    for row, colour in zip(range(len(heights)), PIECES, strict=True):
        inside = np.linspace(*parts.table[row, 3:], 200)
        density = parts.density(row, inside)
        above.plot(inside, heights[row] + slopes[row] * inside, color=colour, lw=3.5)
        below.fill_between(inside, density, color=colour, alpha=0.8, lw=0)
        below.plot(x, parts.density(row, x), color=colour, lw=1.2, ls=(0, (1, 2)))
        if shares[row] > 0.02:
            centre = inside @ density / density.sum()
            below.annotate(
                f"{shares[row]:.0%}", (centre, 0.3 * density.max()), color="white", ha="center",
                weight="bold",
            )  # fmt: skip
    for kink in kinks[1:-1]:
        above.axvline(kink, color=GREY, lw=0.7, ls=":")
        below.axvline(kink, color=GREY, lw=0.7, ls=":")
    below.plot([0, 0], [0, 0.36], color="black", lw=2.5)
    below.plot(0, 0.36, "o", color="black", ms=8)
    below.annotate(f"atom at zero: {shares[-1]:.0%}", (0.65, 0.353), va="center")
    below.annotate("dotted: the bumps, if nothing cut them", (0.72, 0.19), color=GREY)
    above.annotate("the best reward: the highest of the lines", (-2.0, 2.3), weight="bold")
    above.annotate("one line per action", (-2.7, -0.35), color=GREY)
    above.set_ylabel("reward")
    below.set_ylabel("density given the others")
    below.set_xlabel("value of the coordinate")
    below.set_ylim(0.0, 0.4)
    below.set_xlim(x[0], x[-1])
    figure.savefig(path, dpi=100)
    plt.close(figure)


class Mode(NamedTuple):
    """A mode of the optimistic posterior at several log prior odds against a feature."""

    against: Floats  # (n,)
    log_masses: Floats  # (n,)
    sizes: Floats  # (n,)  mean number of features
    best: Floats  # (n,)  mean best reward
    lengths: Floats  # (n,)  mean l1 norm

    def at(self, odds: float) -> tuple[float, ...]:
        """Log mass, size, best reward and length, between the odds visited."""
        order = np.argsort(self.against)
        return tuple(float(np.interp(odds, self.against[order], y[order])) for y in self[1:])


def unbounded_target() -> Target:
    """What the paper's settings believe after random actions, with exact zeros for spikes."""
    bandit = paper_instance(DIMENSION, seed=0)
    evidence = random_evidence(bandit, ROUNDS, np.random.default_rng(0))
    sparsity = round(SHARE * DIMENSION)
    prior = SpikeSlab(
        DIMENSION, sparsity=sparsity, radius=math.inf, noise=1.0, slab_variance=SLAB_VARIANCE
    ).prior(evidence)
    rate = experiment(Progress(ROUNDS, DIMENSION, sparsity))
    return Target.of(evidence, prior._replace(smallest=1), ETA, rate)


def support_mass(target: Target, support: list[int]) -> float:
    """The log mass of one support: a Gaussian integral for each arm."""
    precision = target.eta * target.gram.dense()[np.ix_(support, support)]
    precision += target.prior.values.slab_precision * np.eye(len(support))
    slopes = (target.eta * target.moment - target.drift)[support, None]
    whitened = np.linalg.solve(
        np.linalg.cholesky(precision), slopes + target.tilts[0] * target.columns[support]
    )
    log_volume = 0.5 * (len(support) * math.log(2 * math.pi) - np.linalg.slogdet(precision)[1])
    log_odds = target.prior.log_odds[: len(support)].sum()
    return float(log_odds + log_volume + logsumexp(0.5 * (whitened**2).sum(axis=0)))


def followed(
    target: Target, theta: Floats, log_mass: float, steps: Floats, count: int, rng
) -> Mode:
    """The mode that starts at theta, from the first of these odds on.

    The log mass falls by the mean number of features as the log odds against one rise by one nat,
    so its value at one of them gives all others. Moves know the log-sum-exp; the true maximum's
    share in it is an average of weights.
    """
    thetas = np.tile(theta, (count, 1))
    rows = []
    for against in steps:
        odds = target.prior.log_odds + AGAINST - against
        there = target._replace(prior=target.prior._replace(log_odds=odds))
        cloud = smc.placed(there, thetas, thetas != 0.0, np.ones(count))
        seen = []
        for sweep in range(40):
            cloud = smc.moved(cloud, rng)
            if sweep >= 10:
                size, length = cloud.included.sum(axis=1), np.abs(cloud.thetas).sum(axis=1)
                seen.append([np.exp(cloud.log_correction), size, cloud.rewards.max(axis=1), length])
        thetas = cloud.thetas
        rows.append(np.mean(seen, axis=(0, 2)))
    truth, sizes, best, lengths = np.transpose(rows)
    falls = -0.5 * (sizes[1:] + sizes[:-1]) * np.diff(steps)
    log_masses = log_mass + np.concatenate([[0.0], np.cumsum(falls)]) + np.log(truth)
    return Mode(steps, log_masses, sizes, best, lengths)


def two_modes() -> tuple[Mode, Mode]:
    """The sparse mode, from single features up; the runaway mode, from all features down."""
    target, rng = unbounded_target(), np.random.default_rng(1)
    every = list(range(DIMENSION))
    high, low = AGAINST + 8.0, AGAINST - 9.0
    single = logsumexp([support_mass(target, [j]) for j in every]) + AGAINST - high
    full = support_mass(target, every) + DIMENSION * (AGAINST - low)
    one = np.eye(DIMENSION)[0]
    sparse = followed(target, one, single, np.linspace(high, AGAINST - 0.5, 35), 32, rng)
    far = SLAB_VARIANCE * target.tilts[0] * target.columns[:, 0]
    runaway = followed(target, far, full, np.linspace(low, AGAINST + 1.8, 28), 4, rng)
    return sparse, runaway


def nats_gained(rounds: Floats) -> Floats:
    """What optimism adds to the log mass of a slab coordinate that the data do not see."""
    rates = np.array([experiment(Progress(int(t), DIMENSION, SHARE * DIMENSION)) for t in rounds])
    mean_square = 1.0 / 3.0  # of an action uniform on [-1, 1]
    return 0.5 * (rates * rounds) ** 2 * SLAB_VARIANCE * mean_square


def draw_runaway(sparse: Mode, runaway: Mode, path: Path) -> None:
    """The mass of the two modes by the odds against a feature, and what optimism adds by rounds."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 4.4), width_ratios=[1.25, 1.0], layout="constrained"
    )
    (low, few, modest, short), (high, many, huge, long) = sparse.at(AGAINST), runaway.at(AGAINST)
    bandit = paper_instance(DIMENSION, seed=0)
    for mode, colour in ((sparse, SPARSE), (runaway, RUNAWAY)):
        shown = (mode.against > AGAINST - 0.6) & (mode.against < AGAINST + 2.3)
        left.plot(mode.against[shown], mode.log_masses[shown], color=colour, lw=3)
    left.annotate(
        f"runaway mode: {many:.0f} features,\nbest reward {huge:.0f}, ‖θ‖₁ = {long:.0f}\n"
        f"(the ball ends at {np.abs(bandit.theta).sum():.0f})",
        (AGAINST + 0.2, high + 2.0), color=RUNAWAY,
    )  # fmt: skip
    left.annotate(
        f"sparse mode: {few:.0f} features, best reward\n"
        f"{modest:.1f} (true {bandit.means.max():.1f}), ‖θ‖₁ = {short:.0f}",
        (AGAINST - 0.6, 5.0), color=SPARSE,
    )  # fmt: skip
    left.annotate(
        "", (AGAINST, low), (AGAINST, high), arrowprops={"arrowstyle": "<->", "color": GREY}
    )
    left.annotate(
        f"{high - low:.0f} nats\nat β = {SHARE:g}",
        (AGAINST - 0.06, 0.5 * (low + high)), color=GREY, ha="right", va="center",
    )  # fmt: skip
    left.set_ylim(bottom=0.0)
    left.set_xlabel("log prior odds against a feature, log (1 − β)/β")
    left.set_ylabel("log mass of the mode")
    left.set_title(f"Two modes (d = {DIMENSION}, t = {ROUNDS})", loc="left")

    rounds = np.arange(1.0, 201.0)
    gained = nats_gained(rounds)
    right.plot(rounds[:100], gained[:100], color=RUNAWAY, lw=3)
    right.plot(rounds[99:], gained[99:], color=RUNAWAY, lw=1.5, ls=":")
    right.axhline(AGAINST, color=GREY, lw=1.2)
    for d in (20, 40, 100):
        right.plot(d, gained[d - 1], "o", color=RUNAWAY, ms=7)
        right.annotate(
            f"t = d = {d}", (d, gained[d - 1]), (-8, 4),
            textcoords="offset points", ha="right",
        )  # fmt: skip
    right.annotate("gain by optimism,\n(tλ)² ρ₁ E[a²] / 2", (1.1, 4.9), color=RUNAWAY)
    right.annotate("prior odds, log (1 − β)/β", (1.1, AGAINST + 0.12), color=GREY)
    right.set_xscale("log")
    right.set_xticks([1, 3, 10, 30, 100], labels=["1", "3", "10", "30", "100"])
    right.minorticks_off()
    right.set_xlim(1, 200)
    right.set_ylim(0, 9)
    right.set_xlabel("rounds t")
    right.set_ylabel("nats per feature")
    right.set_title("A feature the data do not see", loc="left")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    """Write both pictures."""
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    folder = Path(__file__).parent
    draw_envelope(small_example(), folder / "envelope.png")
    draw_runaway(*two_modes(), folder / "runaway.png")


if __name__ == "__main__":
    main()
