"""The pictures of docs/sampler.md; ``python docs/pictures.py`` writes them beside itself, in a
minute.

Numbers first, then ink: ``conditional`` and ``climb`` compute, ``draw_*`` draw.
"""

import math
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

from soids import SparseLinearBandit, paper_instance
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.kernels.envelope import bumps, highest_lines
from soids.posteriors import SpikeSlab, smc
from soids.posteriors.target import Target, Tuning
from soids.rates import Progress, experiment

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"]
SPARSE, RUNAWAY, INK, PALE = "#0072b2", "#d55e00", "#333333", "#bbbbbb"

ETA, SLAB, SHARE = 0.5, 10.0, 0.1  # the paper's experiments
PRICE = math.log((1.0 - SHARE) / SHARE)  # what a feature costs, in nats
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

    @property
    def log_total(self) -> float:
        return float(logsumexp([*self.table[:, 0], self.log_atom]))

    def density(self, row: int, x: Floats) -> Floats:
        """One bump of the normalised conditional, at points of its interval."""
        log_mass, slope, precision, low, high = self.table[row]
        nodes, weights = np.polynomial.legendre.leggauss(60)
        nodes = low + 0.5 * (high - low) * (nodes + 1.0)
        area = 0.5 * (high - low) * weights @ np.exp(slope * nodes - 0.5 * precision * nodes**2)
        bump: Floats = np.exp(slope * x - 0.5 * precision * x**2 + log_mass - self.log_total)
        return bump / area


def conditional(target: Target, theta: Floats, j: int) -> Conditional:
    """What the referee draws coordinate ``j`` from, given the others."""
    prior, tilt = target.prior, target.tilts[0]
    others = np.where(np.arange(theta.size) == j, 0.0, theta)
    heights, slopes = others @ target.columns, target.columns[j]
    roof = highest_lines(heights, slopes, np.argsort(slopes))
    power = target.eta / prior.noise.scale
    slope = power * (target.moment[j] - target.gram[j] @ others) - target.drift[j]
    precision = power * target.gram[j, j] + prior.slab_precision
    slack = prior.radius.high - np.abs(others).sum()
    odds = prior.log_odds[np.count_nonzero(others)]
    table = bumps(roof, tilt, slope, precision, -slack, slack, odds)
    return Conditional(heights, slopes, roof, table, tilt * heights.max())


def small_example() -> Conditional:
    """One of four coordinates, after twelve rounds with nine actions."""
    rng = np.random.default_rng(3)
    bandit = SparseLinearBandit(rng.uniform(-1, 1, (9, 4)), np.array([1.0, -0.7, 0.0, 0.0]))
    evidence = random_evidence(bandit, 12, rng)
    posterior = SpikeSlab(4, sparsity=2, radius=3.0, noise=1.0, slab_variance=2.0)
    cloud = posterior.update(None, evidence, Tuning(ETA, 0.25, 100, 10), rng)
    return conditional(cloud.target, cloud.thetas[0], 1)


def draw_envelope(path: Path) -> None:
    """Lines and roof above, the mixture of cut Gaussians below."""
    parts = small_example()
    low, high = parts.table[0, 3], parts.table[-1, 4]
    x = np.linspace(low, high, 800)
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(9, 6), sharex=True, height_ratios=[1.0, 1.15], layout="constrained"
    )
    for height, slope in zip(parts.heights, parts.slopes, strict=True):
        above.plot(x, height + slope * x, color=PALE, lw=0.9)
    heights, slopes, _ = parts.roof
    for row, (height, slope) in enumerate(zip(heights, slopes, strict=True)):
        colour = COLOURS[row % len(COLOURS)]
        left, right = parts.table[row, 3:]
        inside = np.linspace(left, right, 300)
        above.plot(inside, height + slope * inside, color=colour, lw=3)
        below.plot(x, parts.density(row, x), color=colour, lw=0.9, ls=":")
        below.fill_between(inside, parts.density(row, inside), color=colour, alpha=0.75, lw=0)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    """Write both pictures."""
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    folder = Path(__file__).parent
    draw_envelope(folder / "envelope.png")


if __name__ == "__main__":
    main()
