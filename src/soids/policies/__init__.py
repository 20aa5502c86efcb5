"""The policies, by the names that the command line and experiment files use."""

from typing import Any

from soids.policies.posterior import FGTS, SOIDS, SparseIDS, Thompson

POLICIES: dict[str, type[Any]] = {
    "soids": SOIDS,
    "fgts": FGTS,
    "sparse_ids": SparseIDS,
    "thompson": Thompson,
}
