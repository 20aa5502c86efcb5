"""``replay``: CPU time of ``soids replay``, whole and for the laws of policies alone.

The logs have 50 actions of 20 features: one set with a name; the same set in every line; and a new
set in every line. Policies learn from the first half and are evaluated on the rest. With
``--beside`` the same logs are given to another commit, whose packages lie in a folder ``src``.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import soids
from soids.logs import LogWriter

ACTIONS, DIMENSION, SPARSITY = 50, 20, 3
KINDS = ("one set", "same in every line", "new in every line")
POLICIES = ("soids", "thompson", "linucb", "dr_lasso_bandit")
SETTINGS = {"linucb": ("--set", "norm=2")}
HERE = Path(soids.__file__).parents[1]
TIMED = """
import sys, time
from soids.cli import main
from soids.offpolicy.targets import Fixed
from soids.policies.policy import Policy

spent = []

def timed(law):
    def measured(*arguments):
        began = time.process_time()
        found = law(*arguments)
        spent.append(time.process_time() - began)
        return found
    return measured

if hasattr(Policy, "law"):
    Policy.law = timed(Policy.law)
else:  # before policies had a law, it was found by draws
    Fixed._masses = timed(Fixed._masses)
try:
    main(sys.argv[1:])
finally:
    print(len(spent), sum(spent), time.process_time(), file=sys.stderr)
"""


class Times(NamedTuple):
    """The cost of a replay, in seconds of CPU time."""

    number: int  # of laws
    laws: float
    whole: float


def write_log(path: Path, kind: str, rounds: int) -> None:
    """Decisions of the uniform policy; three features matter, and the noise is 1."""
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (ACTIONS, DIMENSION))
    masses = [1.0 / ACTIONS] * ACTIONS
    with LogWriter(path, sets={"all": actions} if kind == KINDS[0] else None) as log:
        for turn in range(rounds):
            if kind == KINDS[2]:
                actions = rng.uniform(-1.0, 1.0, actions.shape)
            chosen = int(rng.integers(ACTIONS))
            reward = float(actions[chosen, :SPARSITY].sum() + rng.standard_normal())
            offered = "all" if kind == KINDS[0] else actions
            log.decide(turn, actions=offered, chosen=chosen, probabilities=masses, reward=reward)


def times(path: Path, policy: str, source: Path) -> Times:
    """The times of ``soids replay`` in a process of its own, by the packages in a folder."""
    words = [str(path), "--policy", policy, *SETTINGS.get(policy, ()), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", TIMED, "replay", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise click.ClickException(f"{policy}: {done.stderr}")
    count, laws, whole = done.stderr.splitlines()[-1].split()
    return Times(int(count), float(laws), float(whole))


@click.command()
@click.option(
    "--rounds", type=click.IntRange(min=10), default=10_000, show_default=True,
    help="Number of decisions in a log.",
)  # fmt: skip
@click.option(
    "--policy", "policies", multiple=True, default=POLICIES, show_default=True,
    help="Policy to evaluate; the option may be repeated.",
)  # fmt: skip
@click.option(
    "--beside", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder src of another commit, which is measured on the same logs.",
)  # fmt: skip
def replay(rounds: int, policies: tuple[str, ...], beside: Path | None) -> None:
    """Measure the replay of logs to policies that learn."""
    table = Table(title=f"soids replay on {rounds:,} decisions with {ACTIONS} actions, CPU time")
    for head in ("actions", "policy", "laws", "laws, s", "whole, s"):
        table.add_column(head, justify="left" if head in ("actions", "policy") else "right")
    for head in ("laws, s, beside", "factor", "whole, s, beside", "factor") if beside else ():
        table.add_column(head, justify="right")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in KINDS:
            path = Path(scratch) / f"{kind}.jsonl"
            write_log(path, kind, rounds)
            for policy in policies:
                own = times(path, policy, HERE)
                cells = [kind, policy, f"{own.number:,}", f"{own.laws:.4f}", f"{own.whole:.1f}"]
                if beside is not None:
                    other = times(path, policy, beside)
                    cells += [f"{other.laws:.4f}", f"{other.laws / max(own.laws, 1e-9):.1f}"]
                    cells += [f"{other.whole:.1f}", f"{other.whole / own.whole:.1f}"]
                table.add_row(*cells)
            table.add_section()
    Console().print(table)
