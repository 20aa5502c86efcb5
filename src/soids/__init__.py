"""Decide again and again, with many features and few samples."""

import soids.working_folder  # noqa: F401  before anything else is imported

# isort: split
from soids.bandits import SparseLinearBandit, paper_instance
from soids.experiments.run import Results, reproduce, run
from soids.policies import POLICIES
from soids.policies.checkpoint import load, save
from soids.policies.e2d import E2D
from soids.policies.estc import ESTC
from soids.policies.fgts import FGTS
from soids.policies.frequentist_ids import FrequentistIDS
from soids.policies.greedy import Greedy
from soids.policies.lasso_per_arm import LassoBandit, MCPBandit
from soids.policies.lasso_shared import DRLassoBandit, SALassoBandit, ThresholdedLassoBandit
from soids.policies.lints import LinTS, OracleThompson
from soids.policies.linucb import LinUCB
from soids.policies.otcs import OTCS
from soids.policies.popart import PopArt
from soids.policies.popart_elimination import PopArtElimination
from soids.policies.soids import SOIDS
from soids.policies.sparse_ids import SparseIDS
from soids.policies.thompson import Thompson
from soids.policies.uniform import Uniform
from soids.policies.vb_thompson import VBThompson
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
    "Results",
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
    "reproduce",
    "run",
    "save",
]
