"""``cold``: what the first use of soids costs, before anything is compiled and afterwards.

A new copy of the package is used by two processes, one after the other. Times are those of the
processor, so that other work on the machine counts less.
"""

import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

import soids
from soids.output.table import Table, as_csv

STEPS = ("import", "first decision", "second decision", "whole process")
USE = """
import json, time
moments = [time.process_time()]
import soids
moments.append(time.process_time())
import numpy as np
policy, rng = soids.SOIDS(20), np.random.default_rng(0)
actions = rng.uniform(-1.0, 1.0, (200, 20))
for _ in range(2):
    decision = policy.choose(actions, rng)
    policy.observe(decision, 1.0)
    moments.append(time.process_time())
print(json.dumps(moments))
"""


def use(folder: Path) -> list[float]:
    """CPU seconds of each step, in a process that imports soids from a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", USE]
    printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    start, *moments = json.loads(printed.stdout)
    return [b - a for a, b in zip([start, *moments], moments, strict=False)] + [moments[-1]]


def new_copy(folder: Path) -> None:
    """Copy the package as pip installs it: with bytecode, but without compiled kernels."""
    copy = folder / "soids"
    shutil.copytree(Path(soids.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(copy, quiet=1)


@click.command()
def cold() -> None:
    """Measure the CPU seconds of the import and of the first two decisions, in a new copy of the
    package and once more; prints CSV.
    """
    with tempfile.TemporaryDirectory() as name:
        new_copy(Path(name))
        first, later = use(Path(name)), use(Path(name))
    times = [(f"{one:.2f}", f"{other:.2f}") for one, other in zip(first, later, strict=True)]
    rows = [(step, *both) for step, both in zip(STEPS, times, strict=True)]
    click.echo(as_csv(Table(("step", "first", "later"), rows)), nl=False)
