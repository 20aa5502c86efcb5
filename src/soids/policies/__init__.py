"""The policies, by the names that the command line and experiment files use."""

from soids.policies.posterior import FGTS, SOIDS, SparseIDS, Thompson

POLICIES = {"soids": SOIDS, "fgts": FGTS, "sparse_ids": SparseIDS, "thompson": Thompson}
