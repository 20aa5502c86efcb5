"""The policies, by the names that the command line and experiment files use."""

from collections.abc import Callable
from typing import Any

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

POLICIES: dict[str, Callable[..., Any]] = {
    "soids": SOIDS,
    "soids_paper": SOIDS.paper,
    "soids_theorem2": SOIDS.theorem2,
    "soids_theorem3": SOIDS.theorem3,
    "fgts": FGTS,
    "fgts_paper": FGTS.paper,
    "fgts_theorem2": FGTS.theorem2,
    "fgts_theorem3": FGTS.theorem3,
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
