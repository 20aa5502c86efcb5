"""``rounds``: CPU time of a round, ``choose`` and ``observe``, of some policies.

With ``--beside`` another commit, whose packages lie in a folder ``src``, plays the same rounds in a
process of its own. Both play a few rounds in turn, and all rounds several times: the least time of
each few rounds is that which other programs on the machine disturbed least.
"""

import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import soids
from soids.arrays import Floats

FEW, ROUNDS = 25, 1000
HERE = Path(soids.__file__).parents[1]
POLICIES = {
    "SOIDS, d = 100": "SOIDS(100)",
    "SOIDS, d = 20": "SOIDS(20)",
    "Thompson, d = 100": "Thompson(100)",
    "LinUCB, d = 100": "LinUCB(100, norm=3.2)",
    "Uniform, d = 100": "Uniform(100)",
}
PLAYED = """
import sys, time
import numpy as np
from soids import SOIDS, LinUCB, Thompson, Uniform, paper_instance

policy = eval(sys.argv[1])
bandit, noise = paper_instance(policy.dimension, 0), np.random.default_rng(1).standard_normal(10**4)
means, turn = bandit.actions @ bandit.theta, 0

def play(rounds):
    global turn
    began = time.process_time()
    for _ in range(rounds):
        decision = policy.choose(bandit.actions, rng)
        policy.observe(decision, float(means[decision.index] + noise[turn]))
        turn += 1
    return time.process_time() - began

rng = np.random.default_rng(0)
play(120)  # nothing is compiled while time is measured
for line in sys.stdin:
    if line == "again\\n":
        policy, rng, turn = eval(sys.argv[1]), np.random.default_rng(0), 0
    print(0.0 if line == "again\\n" else play(int(line)), flush=True)
"""


def milliseconds(policy: str, sources: list[Path], runs: int) -> Floats:
    """The time of a round by the packages in each of some folders."""
    command = [sys.executable, "-c", PLAYED, policy]
    players = [
        subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(source)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for source in sources
    ]  # fmt: skip
    times = np.empty((len(players), runs, ROUNDS // FEW))
    for run in range(runs):
        for one in players:
            asked(one, "again")
        for few in range(ROUNDS // FEW):
            for place in np.roll(np.arange(len(players)), run + few):
                times[place, run, few] = asked(players[place], str(FEW))
    for one in players:
        one.communicate()
    least: Floats = 1e3 / ROUNDS * times.min(axis=1).sum(axis=1)
    return least


def asked(player: "subprocess.Popen[str]", line: str) -> float:
    """What a process answers to a line."""
    assert player.stdin is not None
    assert player.stdout is not None
    player.stdin.write(f"{line}\n")
    player.stdin.flush()
    if not (answer := player.stdout.readline()):
        raise click.ClickException("a process that played rounds has ended")
    return float(answer)


@click.command()
@click.option(
    "--runs", type=click.IntRange(min=1), default=5, show_default=True,
    help="Number of times that the same rounds are played.",
)  # fmt: skip
@click.option(
    "--beside", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder src of another commit, which plays the same rounds.",
)  # fmt: skip
def rounds(runs: int, beside: Path | None) -> None:
    """Measure a round of some policies with 200 actions."""
    table = Table(title=f"CPU time of a round, mean over {ROUNDS:,} rounds, K = 200")
    table.add_column("policy")
    for head in ("ms", "ms, beside", "ratio") if beside else ("ms",):
        table.add_column(head, justify="right")
    for name, policy in POLICIES.items():
        found = milliseconds(policy, [HERE, beside] if beside else [HERE], runs)
        cells = [f"{time:.4f}" for time in found]
        table.add_row(name, *cells, *[f"{found[0] / found[1]:.3f}"] * bool(beside))
    Console().print(table)
