"""Decide again and again, with many features and few samples."""

from soids.bandits import SparseLinearBandit, paper_instance
from soids.policies import POLICIES
from soids.policies.checkpoint import load, save
from soids.policies.committing import ESTC, PopArt
from soids.policies.confidence import FrequentistIDS, LinUCB
from soids.policies.elimination import PopArtElimination
from soids.policies.estimation import E2D
from soids.policies.greedy_lasso import DRLassoBandit, SALassoBandit, ThresholdedLassoBandit
from soids.policies.lasso import Greedy
from soids.policies.linear import LinTS, OracleThompson
from soids.policies.otcs import OTCS
from soids.policies.per_arm import LassoBandit, MCPBandit
from soids.policies.soids import FGTS, SOIDS, SparseIDS, Thompson
from soids.policies.uniform import Uniform
from soids.policies.variational import VBThompson
from soids.regression.forecaster import Forecaster
from soids.simulation.play import Trace, play

__all__ = [
    "E2D",
    "ESTC",
    "FGTS",
    "OTCS",
    "POLICIES",
    "SOIDS",
    "DRLassoBandit",
    "Forecaster",
    "FrequentistIDS",
    "Greedy",
    "LassoBandit",
    "LinTS",
    "LinUCB",
    "MCPBandit",
    "OracleThompson",
    "PopArt",
    "PopArtElimination",
    "SALassoBandit",
    "SparseIDS",
    "SparseLinearBandit",
    "Thompson",
    "ThresholdedLassoBandit",
    "Trace",
    "Uniform",
    "VBThompson",
    "load",
    "paper_instance",
    "play",
    "save",
]
