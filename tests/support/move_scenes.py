"""Small targets and particles that the moves of the sampler are tested on."""

import math

import numpy as np
from scipy.special import expit, softmax

from soids.evidence import Menu
from soids.gram import Gram
from soids.kernels.cholesky import Precision, precision_factor
from soids.kernels.moves.target import Particle, PriorNumbers
from soids.kernels.truncated_normal import invert_mass, log_mass
from soids.posteriors.prior import Prior
from soids.posteriors.target import Target
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import Slab, UniformInBall


def staged(rng, dimension=6, rounds=8, slab_precision=0.0, slab_centre=0.0):
    """Two action sets, another with no weight, and a first feature that no action has shown."""
    played = rng.uniform(-1.0, 1.0, (rounds, dimension))
    played[:, 0] = 0.0
    rewards = played.sum(axis=1) + rng.standard_normal(rounds)
    values = Slab(slab_precision, centre=slab_centre) if slab_precision else UniformInBall()
    smallest = 0 if slab_precision else 1
    log_odds, radius = np.log(rng.random(4)), Span(3.0, 3.0)
    noise = Noise(math.inf, 1.0)
    prior = Prior(log_odds, smallest, 4, values, radius, noise, np.zeros(dimension))
    columns, starts = rng.uniform(-1.0, 1.0, (dimension, 9)), np.array([0, 4, 6, 9])
    menus = tuple(Menu(part.T) for part in np.split(columns, starts[1:-1], axis=1))
    return Target(
        prior, 1.0, 0.3, Gram.of(played.T @ played), played.T @ rewards, rewards @ rewards, rounds,
        drift=0.3 * played.sum(axis=0), tilts=np.array([1.5, 0.0, 0.9]), menus=menus,
        columns=columns, starts=starts,
    )  # fmt: skip


def sparse_thetas(rng, particles=30, dimension=6, radius=3.0):  # (M, d)
    """Parameters with one to three active features, inside the ball."""
    sizes = rng.integers(1, 4, particles)
    thetas = rng.standard_normal((particles, dimension))
    thetas[rng.random((particles, dimension)).argsort(axis=1).argsort(axis=1) >= sizes[:, None]] = 0
    reach = radius * rng.random(particles)
    return thetas * (reach / np.abs(thetas).sum(axis=1))[:, None]


def particle(theta, power, gram, slab, radius, volume=0.0, own_odds=None):
    """A particle as the moves see it."""
    own_odds = np.zeros(theta.size) if own_odds is None else own_odds
    return Particle(theta, Precision(power, gram, slab), radius, volume, own_odds)


def numbers(log_odds, smallest, own_odds, lean=0.0):
    """What flips and glides need of a prior."""
    return PriorNumbers(log_odds, smallest, 0.0, 0.0, True, lean, own_odds)


def slopes_of(stage, power):
    """The gradient of the log density at zero."""
    return power * stage.moment - stage.drift


def inside(odds, active, eager):
    """How likely a coordinate is not zero after a flip: drawn anew, or by Metropolis if eager."""
    if not eager:
        return expit(odds)
    return 1.0 - math.exp(min(0.0, -odds)) if active else math.exp(min(0.0, odds))


def upright(theta):
    """How features lean if the slab has but one bump."""
    return np.zeros(theta.size), 0.0


def log_masses(slope, lean, precision, low, high):
    """The log masses of the bumps of a slab, the one that leans upwards first."""
    return [log_mass(slope + side, precision, low, high) for side in {lean: 0, -lean: 0}]


def inverted(slope, lean, precision, low, high, share):
    """The point with such a share of the bumps' mass before it, one after the other, and how much
    that bump leans.
    """
    masses = softmax(log_masses(slope, lean, precision, low, high))
    if share >= masses[0] and lean > 0.0:
        share, masses, lean = share - masses[0], masses[1:], -lean
    return invert_mass(slope + lean, precision, low, high, share / masses[0]), lean


POWER, SLAB = 2.0, 0.4


def joint_law(gram, slopes, support, slab=SLAB):
    """Precision, mean and log mass of the values on a support."""
    precision = POWER * gram.rows[np.ix_(support, support)] + slab * np.eye(len(support))
    mean = np.linalg.solve(precision, slopes[support])
    return precision, mean, 0.5 * (slopes[support] @ mean - np.linalg.slogdet(precision)[1])


def scene(seed):
    """A gram, slopes, actions and a parameter with features 1, 3 and 4."""
    rng = np.random.default_rng(seed)
    stage, theta = staged(rng), np.array([0.0, 0.4, 0.0, -0.2, 0.7, 0.0])
    return (
        stage.gram.all_rows(),
        slopes_of(stage, POWER),
        stage.columns,
        theta,
        rng.standard_normal(4),
    )


def factored(theta, gram):
    """The active features, and the factor of their values' precision."""
    active = np.flatnonzero(theta)
    return active, precision_factor(active, Precision(POWER, gram, SLAB))[0]
