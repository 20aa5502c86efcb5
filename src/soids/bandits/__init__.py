"""Bandits to play against, by family."""

from collections.abc import Callable

from soids.bandits.bandit import SparseLinearBandit
from soids.bandits.data import genotypes
from soids.bandits.drawn import correlated, hypercube, paper_instance, sphere
from soids.bandits.hard import hao, jang, lattimore, popart_hard, popart_sphere

FAMILIES: dict[str, Callable[..., SparseLinearBandit]] = {
    "correlated": correlated,
    "genotypes": genotypes,
    "hao": hao,
    "hypercube": hypercube,
    "jang": jang,
    "lattimore": lattimore,
    "paper": paper_instance,
    "popart_hard": popart_hard,
    "popart_sphere": popart_sphere,
    "sphere": sphere,
}

__all__ = ["FAMILIES", "SparseLinearBandit", "paper_instance"]
