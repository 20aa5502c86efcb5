"""Logs in memory and on disk, for tests."""

import json

import numpy as np

from soids.logs import Entry


class Listed:
    """A log in memory."""

    name, unit = "list", "line"

    def __init__(self, entries):
        self.entries = entries

    def __iter__(self):
        return iter(self.entries)


def made_log(rounds=600, *, seed=0, probabilities=None, noise=0.3):
    """Rounds of five actions in three dimensions, the first of which pays."""
    rng = np.random.default_rng(seed)
    actions = np.array([[1.0, 0, 0], [0.5, 1, 0], [0, 0, 1], [-0.5, 1, 1], [0.2, -1, 0]])
    law = np.full(5, 0.2) if probabilities is None else np.array(probabilities)
    chosen = rng.choice(5, rounds, p=law)
    rewards = actions[chosen, 0] + noise * rng.standard_normal(rounds)
    return Listed([
        Entry(str(i), actions, int(k), float(law[k]), float(reward), law, line=i + 2)
        for i, (k, reward) in enumerate(zip(chosen, rewards, strict=True))
    ])  # fmt: skip


def write_lines(path, *records):
    """A file with a line for each record; texts are lines as they are."""
    lines = [one if isinstance(one, str) else json.dumps(one) + "\n" for one in records]
    path.write_text("".join(lines), encoding="utf-8")
    return path
