"""The rows of the reproduced tables: policies, what they are told of the truth, and settings."""

from typing import Any, NamedTuple

import numpy as np

from soids.bandits import SparseLinearBandit
from soids.policies import POLICIES
from soids.policies.ledger import KeptPolicy

DIMENSIONS = (20, 40, 100)
PROBLEM = ("sparsity", "radius", "noise")


class Row(NamedTuple):
    """A policy as it enters a table; ``varying`` settings are one for each dimension."""

    label: str
    policy: str
    told: tuple[str, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012  never changed
    varying: dict[str, tuple[Any, ...]] = {}  # noqa: RUF012

    def make(self, bandit: SparseLinearBandit, horizon: int) -> KeptPolicy:
        """The policy, ready to play the bandit."""
        truth = {
            "sparsity": np.count_nonzero(bandit.theta),
            "radius": float(np.abs(bandit.theta).sum()),
            "noise": bandit.noise,
            "norm": float(np.linalg.norm(bandit.theta)),
            "support": np.flatnonzero(bandit.theta).tolist(),
            "reward_bound": float(np.abs(bandit.theta).sum()),  # features lie in [-1, 1]
            "horizon": horizon,
        }
        place = DIMENSIONS.index(len(bandit.theta))
        policy: KeptPolicy = POLICIES[self.policy](
            len(bandit.theta),
            **{name: truth[name] for name in self.told},
            **self.settings,
            **{name: values[place] for name, values in self.varying.items()},
        )
        return policy


SOIDS = Row("SOIDS", "soids", PROBLEM)
FLOOR = Row("Thompson, told the support", "oracle_thompson", ("support", "noise"))
ESTC = Row("ESTC, 50 / 100 / 100 rounds", "estc", ("noise",), {}, {"exploration": (50, 100, 100)})
LINUCB = Row("LinUCB, theorem's radius", "linucb", ("noise", "norm"))
# A power of 1/2 is allowed for mean rewards in [-1, 1]; here they reach 10.
OTCS = Row(
    "OTCS as in the paper", "otcs", (*PROBLEM, "norm"), {"width": "clerico", "eta": 0.5}
)  # fmt: skip

UNTOLD = Row("SOIDS, told nothing", "soids")
THEOREM2 = Row("SOIDS, theorem 2", "soids", PROBLEM, {"rate": "theorem2", "eta": 0.25})

FIGURE1 = (
    SOIDS,
    UNTOLD,
    Row("SOIDS, paper's settings", "soids", PROBLEM, {"rate": "experiment", "eta": 0.5}),
    THEOREM2,
    Row("SOIDS, theorem 3", "soids", PROBLEM, {"rate": "theorem3", "eta": 0.25}),
    OTCS,
    ESTC,
    LINUCB,
    FLOOR,
)

BASELINES = (
    SOIDS,
    UNTOLD,
    THEOREM2,
    Row("FGTS", "fgts", PROBLEM),
    Row("sparse IDS", "sparse_ids", PROBLEM),
    Row("Thompson", "thompson", PROBLEM),
    Row("E2D", "e2d", PROBLEM),
    FLOOR,
    Row("LinTS, empirical Bayes", "lints", ("noise",)),
    Row("LinTS, variance 1", "lints", ("noise",), {"variance": 1.0}),
    Row("LinUCB, radius 1", "linucb", (), {"alpha": 1.0}),
    Row("LinUCB, radius 3", "linucb", (), {"alpha": 3.0}),
    LINUCB,
    Row("frequentist IDS, radius 1", "frequentist_ids", (), {"alpha": 1.0}),
    Row("frequentist IDS, theorem's", "frequentist_ids", ("noise", "norm")),
    Row("OTCS, likelihood ratio", "otcs", (*PROBLEM, "norm")),
    OTCS,
    Row("OTCS, Clerico et al.", "otcs", (*PROBLEM, "norm"), {"width": "clerico"}),
    Row("OTCS, APS 2012", "otcs", (*PROBLEM, "norm", "horizon"), {"width": "aps2012"}),
    ESTC,
    Row(
        "Warm-PopArt, 100 / 200 / 400", "popart", ("noise", "reward_bound"), {},
        {"exploration": (100, 200, 400)},
    ),
    Row(
        "elimination, 100 / 200 / 400", "popart_elimination", ("noise", "reward_bound"), {},
        {"exploration": (100, 200, 400)},
    ),
    Row("greedy lasso", "greedy", ("noise",)),
    Row("uniform", "uniform"),
)  # fmt: skip

TABLES = {"figure1": FIGURE1, "baselines": BASELINES}
