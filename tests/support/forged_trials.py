"""Forges the files of trials, and reads them as the commands do.

python tests/support/forged_trials.py FIRST LAST     two lines of JSON for each case
"""

import io
import json
import sys
import tracemalloc
import warnings

import rounding  # noqa: F401  before NumPy

# isort: split
import numpy as np
from click.testing import CliRunner

from forger import ROOM, changed, each, flipped, some
from soids.cli import main as command
from soids.experiments.folder import prepare
from soids.simulation import store
from soids.simulation.experiment import read_experiment
from soids.simulation.store import Store, read_outcome
from soids.simulation.worker import Post, perform

FILE = """
horizon = 20
seeds = 2
bandit = { family = "paper", dimension = 10, actions = 6 }
feedback = { delay = "fixed(1)" }
policies.SOIDS = { policy = "soids", particles = 10, told = ["sparsity"] }
policies.LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }
policies.Uniform = { policy = "uniform" }
"""
SEVERAL = 50  # cases of which one is also drawn and played again


def played(folder):
    """Results in a folder, and the files of their trials."""
    (folder / "small.toml").write_text(FILE)
    experiment = read_experiment(folder / "small.toml")
    prepare(folder / "results", experiment)
    store = Store(folder / "results" / "trials")
    for trial in experiment.trials():
        store.write(trial, perform(trial, Post(), 0))
    return {store.path(trial): store.path(trial).read_bytes() for trial in experiment.trials()}


def forged(rng, content):
    """A file that was made from an honest one."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    document = json.loads(arrays.pop("description").tobytes())
    how = changed(rng, document, arrays)
    text, buffer = json.dumps(document).encode(), io.BytesIO()
    if rng.random() < 0.1:
        return flipped(rng, text, arrays), "flipped"
    if rng.random() < 0.05:
        arrays[some(rng, sorted(arrays))], how = np.zeros(10**7), "bomb"
    save = some(rng, (np.savez, np.savez_compressed))
    save(buffer, description=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue(), how


def verdict_on(path, content, folder, thoroughly):
    """What becomes of a forged trial: a refusal, or an outcome that can be shown."""
    verdict = "refused"
    tracemalloc.start()
    try:
        read_outcome(path)
        verdict = "shown"
    except ValueError as error:
        if str(path) not in str(error):
            verdict = f"NAMELESS {error}"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    allowed = max(store.DENSEST * len(content), store.ROOM)
    if peak > 2 * allowed + ROOM:  # the bytes that were unpacked, and the arrays made of them
        return f"MEMORY {peak:,} bytes for {len(content):,}"
    asked = [["table", folder]]
    if thoroughly:
        asked += [["plot", folder], ["inspect", path, "--json"]]
    for words in asked:
        answer = CliRunner().invoke(command, [str(word) for word in words])
        if answer.exception is not None and not isinstance(answer.exception, SystemExit):
            return f"TRACEBACK {words[0]} {answer.exception!r}"
    return verdict


def main(first, last):
    """Read the forged trials of some numbers."""
    warnings.simplefilter("ignore")
    known = {}

    def judge(number, folder):
        if not known:
            known.update(played(folder))
        rng = np.random.default_rng([31, number])
        path = some(rng, sorted(known))
        content, how = forged(rng, known[path])
        path.write_bytes(content)
        try:
            verdict = verdict_on(path, content, folder / "results", number % SEVERAL == 0)
        finally:
            path.write_bytes(known[path])
        return f"{path.parent.name}: {how}", verdict

    each(first, last, judge)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
