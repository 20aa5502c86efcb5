"""Panels made up for tests of numbers, figures and reports."""

import numpy as np

from soids.simulation.figures import Figure
from soids.simulation.results import Panel, Part, Runs


def runs(final, seeds=None, horizon=50, seconds=0.1) -> Runs:
    """Runs whose regret grows evenly towards ``final`` (N,)."""
    final = np.asarray(final, dtype=float)
    rounds = np.arange(1, horizon + 1)
    return Runs(
        seeds=np.arange(len(final)) if seeds is None else np.asarray(seeds),
        rounds=rounds,
        regret=final[:, None] * rounds / horizon,
        seconds=np.full(len(final), seconds),
    )


def random_panels(dimensions=(20, 40, 100), policies=("SOIDS", "LinUCB", "LinUCB, radius 1"),
                  seeds=10, horizon=50) -> list[Panel]:  # fmt: skip
    """Policies each four times worse than the one before, that get worse with the dimension."""
    rng = np.random.default_rng(0)
    return [
        Panel(
            f"dimension = {d}",
            {"family": "paper", "dimension": d, "horizon": horizon},
            {
                policy: runs(d * 4.0**rank * rng.gamma(9.0, 1.0 / 9.0, seeds), horizon=horizon)
                for rank, policy in enumerate(policies)
            },
        )
        for d in dimensions
    ]


def part(panels, **settings) -> Part:
    """One figure of all that was played."""
    return Part(Figure(**{"title": "t", **settings}), panels, panels)


def stepped_panels(values=(25, 50, 100), dimensions=(20, 40)) -> list[Panel]:
    """A policy whose regret falls with its number of steps beside one that takes none."""
    level = {d: runs(d + np.linspace(-1.0, 1.0, 8)) for d in dimensions}
    return [
        Panel(
            f"dimension = {d}, steps = {value}",
            {"family": "paper", "dimension": d, "horizon": 50, "steps": value},
            {"exact": level[d], "Langevin": runs((d + 100.0 / value) * np.linspace(0.9, 1.1, 8))},
            frozenset({"exact"}),
        )
        for d in dimensions
        for value in values
    ]


NASTY = ("a_b & 50 % $x$ <b>bold</b>", "{x}^2 ~ #1 \\frac", "quote \" ' `", "[first] | second")


def odd_panels() -> dict[str, list[Panel]]:
    """What experiments come to when they are cut short, or are about something else."""
    problem = {"family": "paper", "dimension": 20, "horizon": 50}
    partly = random_panels()
    del partly[1].runs["SOIDS"]
    partly[2].runs["LinUCB"] = runs([5.0, 6.0], seeds=[3, 7])
    partly[0].runs["LinUCB"] = runs(np.zeros(0))
    empty = random_panels()
    empty[1].runs.clear()
    return {
        "one seed": random_panels(seeds=1),
        "two seeds": random_panels(seeds=2),
        "one policy": random_panels(policies=("SOIDS",)),
        "one panel": random_panels(dimensions=(20,)),
        "twelve panels": random_panels(dimensions=tuple(range(10, 130, 10))),
        "many policies": random_panels(policies=tuple(f"policy {i}" for i in range(9))),
        "nasty labels": random_panels(policies=NASTY),
        "one round": random_panels(horizon=1),
        "no regret": [Panel("none", problem, {"SOIDS": runs(np.zeros(3))})],
        "constant regret": [
            Panel("same", problem, {"SOIDS": runs([3.0] * 4), "LinUCB": runs([9.0] * 4)})
        ],
        "some missing": partly,
        "an empty panel": empty,
    }
