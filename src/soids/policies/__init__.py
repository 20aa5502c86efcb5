"""The policies, by the names that the command line and experiment files use."""

from typing import Any

from soids.policies.committing import ESTC, PopArt
from soids.policies.confidence import FrequentistIDS, LinUCB
from soids.policies.elimination import PopArtElimination
from soids.policies.estimation import E2D
from soids.policies.greedy_lasso import DRLassoBandit, SALassoBandit, ThresholdedLassoBandit
from soids.policies.lasso import Greedy
from soids.policies.linear import LinTS, OracleThompson
from soids.policies.otcs import OTCS
from soids.policies.per_arm import LassoBandit, MCPBandit
from soids.policies.posterior import FGTS, SOIDS, SparseIDS, Thompson
from soids.policies.uniform import Uniform
from soids.policies.variational import VBThompson

POLICIES: dict[str, type[Any]] = {
    "soids": SOIDS,
    "fgts": FGTS,
    "sparse_ids": SparseIDS,
    "thompson": Thompson,
    "e2d": E2D,
    "linucb": LinUCB,
    "frequentist_ids": FrequentistIDS,
    "otcs": OTCS,
    "lints": LinTS,
    "oracle_thompson": OracleThompson,
    "estc": ESTC,
    "popart": PopArt,
    "popart_elimination": PopArtElimination,
    "lasso_bandit": LassoBandit,
    "mcp_bandit": MCPBandit,
    "dr_lasso_bandit": DRLassoBandit,
    "sa_lasso_bandit": SALassoBandit,
    "thresholded_lasso_bandit": ThresholdedLassoBandit,
    "vb_thompson": VBThompson,
    "greedy": Greedy,
    "uniform": Uniform,
}
