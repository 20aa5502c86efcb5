"""The part of an experiment that can be played here, or that was asked for."""

import importlib
from collections.abc import Collection
from dataclasses import replace

from soids.simulation.experiment import Experiment

PEERS = "benchmarks.peers."


def without_absent(experiment: Experiment) -> tuple[Experiment, list[str]]:
    """The experiment without the peers whose library is not installed, and the reasons."""
    policies = {player.policy for players in experiment.players for player in players}
    reasons = {policy: absence(policy) for policy in policies}
    players = tuple(
        tuple(player for player in players if not reasons[player.policy])
        for players in experiment.players
    )
    return replace(experiment, players=players), sorted(set(reasons.values()) - {""})


def absence(policy: str) -> str:
    """Why a peer cannot be played here; empty if it can."""
    if not policy.startswith(PEERS):
        return ""
    try:
        importlib.import_module(policy.partition(":")[0])
    except ImportError as error:
        return str(error)
    return ""


def of_dimensions(experiment: Experiment, dimensions: Collection[int]) -> Experiment:
    """The part of an experiment on problems of these dimensions."""
    kept = [
        place
        for place, problem in enumerate(experiment.problems)
        if problem.settings["dimension"] in dimensions
    ]
    return replace(
        experiment,
        problems=tuple(experiment.problems[place] for place in kept),
        players=tuple(experiment.players[place] for place in kept),
    )
