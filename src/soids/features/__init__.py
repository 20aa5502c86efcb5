"""Features of actions: from columns of data to contexts, from contexts to actions."""

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
    "Encoder",
    "disjoint",
    "disjoint_names",
    "hybrid",
    "hybrid_names",
    "shared",
    "shared_names",
]
