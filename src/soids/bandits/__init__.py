"""Bandits to play against, by family."""

from collections.abc import Callable

from soids.bandits.bandit import Bandit, Offer, SparseLinearBandit
from soids.bandits.contextual import (
    ContextualBandit,
    ariu,
    bastani,
    chakraborty,
    kim_paik,
    oh,
)
from soids.bandits.data import genotypes
from soids.bandits.drawn import correlated, hypercube, paper_instance, sphere
from soids.bandits.hard import hao, jang, lattimore, popart_hard, popart_sphere

FAMILIES: dict[str, Callable[..., Bandit]] = {
    "ariu": ariu,
    "bastani": bastani,
    "chakraborty": chakraborty,
    "correlated": correlated,
    "genotypes": genotypes,
    "hao": hao,
    "hypercube": hypercube,
    "jang": jang,
    "kim_paik": kim_paik,
    "lattimore": lattimore,
    "oh": oh,
    "paper": paper_instance,
    "popart_hard": popart_hard,
    "popart_sphere": popart_sphere,
    "sphere": sphere,
}

__all__ = [
    "FAMILIES",
    "Bandit",
    "ContextualBandit",
    "Offer",
    "SparseLinearBandit",
    "paper_instance",
]
