"""Features of actions: columns of data encoded as contexts, and contexts combined with arms."""

from soids.features.blocks import (
    disjoint,
    disjoint_names,
    hybrid,
    hybrid_names,
    shared,
    shared_names,
)
from soids.features.encoder import Encoder

__all__ = [
    "Encoder", "disjoint", "disjoint_names", "hybrid", "hybrid_names", "shared", "shared_names",
]  # fmt: skip
