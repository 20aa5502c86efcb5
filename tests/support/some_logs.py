"""Logs in memory and on disk, for tests."""

import json
import time

import numpy as np

from soids.logs import Entry, LogWriter


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


def log_each(path, ids, seed):
    """Log all ids in some order, each by a writer of its own; how many were written and refused."""
    written = refused = 0
    for name in np.random.default_rng(seed).permutation(ids).tolist():
        while True:
            try:
                with LogWriter(path) as log:
                    log.decide(name, actions=2, chosen=0, propensity=0.5, reward=1.0)
                written += 1
            except BlockingIOError:  # another process has it
                time.sleep(0.001)
                continue
            except ValueError as error:
                refused += f"id must be new, {name!r} was logged already" in str(error)
            break
    return written, refused
