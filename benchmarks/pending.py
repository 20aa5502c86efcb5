"""``pending``: what decisions that wait for their rewards cost in memory and in time, at d = 100,
K = 200.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, LinUCB, Uniform, paper_instance
from soids.policies.policy import Decision, Policy

DIMENSION = 100
WAITING, CALLS = 100_000, 2_000
POLICIES: dict[str, Callable[[], Policy]] = {
    "SOIDS": lambda: SOIDS(DIMENSION),
    "LinUCB": lambda: LinUCB(DIMENSION, norm=10.0),
}


def megabytes(waiting: int, changing: bool) -> float:
    """Memory of a policy whose decisions all wait, from one action set or from as many."""
    policy, rng = Uniform(DIMENSION), np.random.default_rng(0)
    actions = np.array(paper_instance(DIMENSION, 0).actions)
    gc.collect()
    tracemalloc.start()
    try:
        for turn in range(waiting):
            actions[0, 0] = turn if changing else 0.0
            policy.decide(actions, rng.random())
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / 1e6
    finally:
        tracemalloc.stop()


def milliseconds(make: Callable[[], Policy], waiting: int, calls: int) -> tuple[float, float]:
    """Processor time of ``decide``, and of ``choose`` after a reward, while decisions wait."""
    policy, rng, actions = make(), np.random.default_rng(0), paper_instance(DIMENSION, 0).actions

    def reward(decision: Decision) -> float:
        return float(decision.action[:10].sum() + rng.standard_normal())

    for _ in range(200):
        decision = policy.choose(actions, rng)
        policy.observe(decision, reward(decision))
    queue = [policy.choose(actions, rng) for _ in range(waiting)]
    state = policy.state
    deciding = choosing = 0.0
    for uniform in rng.random(calls):
        policy.state = state
        began = time.process_time()
        policy.decide(actions, uniform)
        deciding += time.process_time() - began
    policy.state = state
    for _ in range(calls // 10):
        began = time.process_time()
        queue.append(policy.choose(actions, rng))
        choosing += time.process_time() - began
        policy.observe(oldest := queue.pop(0), reward(oldest))
    return 1e3 * deciding / calls, 1e4 * choosing / calls


@click.command()
def pending() -> None:
    """Measure the memory of 100,000 pending decisions, and the time of a decision beside 200."""
    table = Table(title="Pending decisions at d = 100, K = 200, default settings")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("limit", justify="right")
    for changing in (False, True):
        sets = "a new action set each" if changing else "one action set"
        held = megabytes(WAITING, changing)
        table.add_row(f"{WAITING:,} pending, {sets}", f"{held:.0f} MB", "200 MB")
    for name, make in POLICIES.items():
        for waiting in (0, 200):
            deciding, choosing = milliseconds(make, waiting, CALLS)
            table.add_row(f"{name}.decide, {waiting} pending", f"{deciding:.3f} ms", "0.12 ms")
            table.add_row(f"{name}.choose after a reward, {waiting} pending", f"{choosing:.3f} ms")
    Console().print(table)
