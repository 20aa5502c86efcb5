"""An experiment file for tests, and reading it from a folder."""

import textwrap

from soids.simulation.experiment import read_experiment

FILE = """
title = "Two sizes"
horizon = 50
seeds = 2

[bandit]
family = "paper"
dimension = [20, 40]

[policies]
SOIDS = { policy = "soids", told = ["sparsity", "noise"] }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }
ESTC = { policy = "estc", exploration = { by = "dimension", 20 = 5, 40 = 10 } }
Late = { policy = "uniform", slow = true }

[quick]
horizon = 7
seeds = 1
"""


def read_in(folder, text, **flags):
    """The experiment of this text, checked."""
    path = folder / "two.toml"
    path.write_text(textwrap.dedent(text))
    experiment = read_experiment(path, **flags)
    experiment.check()
    return experiment
