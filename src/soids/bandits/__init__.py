"""Families of bandits, by name."""

from collections.abc import Callable

from soids.bandits.bandit import Bandit, Offer, SparseLinearBandit
from soids.bandits.clicks import ClickBandit, clicks
from soids.bandits.contextual import ContextualBandit, ariu, bastani, chakraborty, kim_paik, oh
from soids.bandits.data import genotypes, mushroom, riboflavin
from soids.bandits.hard import hao, jang, lattimore, popart_hard, popart_sphere
from soids.bandits.levels import clinic, products
from soids.bandits.random_actions import correlated, hypercube, paper_instance, sphere
from soids.bandits.warfarin import warfarin

FAMILIES: dict[str, Callable[..., Bandit]] = {
    "paper" if family is paper_instance else family.__name__: family
    for family in (
        ariu, bastani, chakraborty, clicks, clinic, correlated, genotypes, hao, hypercube, jang,
        kim_paik, lattimore, mushroom, oh, paper_instance, popart_hard, popart_sphere, products,
        riboflavin, sphere, warfarin,
    )
}  # fmt: skip

__all__ = [
    "FAMILIES", "Bandit", "ClickBandit", "ContextualBandit", "Offer", "SparseLinearBandit",
    "clicks", "paper_instance",
]  # fmt: skip
