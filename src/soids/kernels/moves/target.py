"""What the moves read: the target, the same for all particles, and one particle."""

from typing import NamedTuple

from soids.arrays import Floats, Ints
from soids.kernels.cholesky import Precision
from soids.kernels.gram_rows import Rows


class PriorNumbers(NamedTuple):
    """A prior in numbers (docs/sampler.md section 2)."""

    log_odds: Floats  # (s,)  log prior density ratio of growing a support of size k by one feature
    smallest: int  # size of the smallest support
    slab_precision: float
    spike_scale: float  # zero: exact zeros
    uniform_in_ball: bool
    lean: float  # by which the slab raises or lowers slopes; zero if it has one bump
    own_odds: Floats  # (d,)  log prior odds of each feature, besides those of the size


class TargetArrays(NamedTuple):
    """A target in arrays (docs/sampler.md section 1)."""

    gram: Rows
    moment: Floats  # (d,)
    drift: Floats  # (d,)
    columns: Floats  # (d, N)  actions of all sets, feature by feature
    starts: Ints  # (B + 1,)  where each set begins
    tilts: Floats  # (B,)  how strongly the best reward of each set is favoured
    prior: PriorNumbers


class Particle(NamedTuple):
    """One particle; moves write to its parameter."""

    theta: Floats  # (d,)
    precision: Precision  # given the arms
    radius: float  # of the l1 ball that holds the parameter, possibly infinite
    log_volume: float  # log of 2 R if values are uniform in the ball, else zero
    own_odds: Floats  # (d,)  log prior odds of each feature, besides those of the size


class ActionSet(NamedTuple):
    """The actions of one set among those of all sets."""

    columns: Floats  # (d, N)  actions of all sets
    first: int
    last: int  # exclusive
    tilt: float  # zero: no optimism, so that there is only one arm
