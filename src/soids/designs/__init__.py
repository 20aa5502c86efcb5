"""Experimental designs: distributions over actions from which every feature can be learned.

With ``Q = sum_k mu_k a_k a_k'`` for a distribution mu over actions, each design minimises the
largest ``tr(P Q^-1)`` over a set of matrices P:

- exploratory: all P of trace one, which gives ``1 / C_min``;
- PopArt: the diagonal ones among them, which gives ``H_*^2 <= 1 / C_min``;
- optimal: the moments ``a_k a_k'`` of the actions themselves.

Each comes with a certified bound on what any design can reach.
"""

from soids.designs.exploratory import (
    Design,
    c_min,
    exploratory_design,
    optimal_design,
    popart_design,
)

__all__ = ["Design", "c_min", "exploratory_design", "optimal_design", "popart_design"]
