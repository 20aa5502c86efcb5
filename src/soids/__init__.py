"""Decide again and again, with many features and few samples."""

from soids.bandits import SparseLinearBandit, paper_instance
from soids.policies import POLICIES
from soids.policies.checkpoint import load, save
from soids.policies.posterior import FGTS, SOIDS, SparseIDS, Thompson
from soids.simulation.play import Trace, play

__all__ = [
    "FGTS",
    "POLICIES",
    "SOIDS",
    "SparseIDS",
    "SparseLinearBandit",
    "Thompson",
    "Trace",
    "load",
    "paper_instance",
    "play",
    "save",
]
