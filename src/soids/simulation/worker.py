"""What a worker does: play one trial on one thread."""

import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from soids.bandits.data import data_in
from soids.kernels.threads import one_thread
from soids.simulation.board import EVERY, Board
from soids.simulation.feedback import Feedback
from soids.simulation.play import play
from soids.simulation.provenance import fingerprint, versions
from soids.simulation.store import Outcome
from soids.simulation.trial import Trial
from soids.simulation.user_policies import modules_in

ALONE = threading.Lock()  # limits on threads hold for the whole process, and so for one trial
WARM: set[str] = set()  # policies that have compiled in this process, before a clock was started


@dataclass(frozen=True)
class Failure:
    """A trial that could not be played to its end."""

    reason: str  # in one line
    details: str = field(default="", compare=False, repr=False)  # the traceback


@dataclass(frozen=True)
class Post:
    """Where a worker finds what it needs, and where it notes its progress."""

    folder: str = ""  # of the experiment, beside which policies of the user may be
    board: Board | None = None
    data: str = ""  # folder of real data, if it is not that of the environment


def perform(trial: Trial, post: Post, row: int) -> Outcome | Failure:
    """Play a trial; an error of its policy is an outcome like any other."""
    try:
        with undisturbed(), modules_in(post.folder), data_in(post.data):
            return played(trial, post.board, row)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a policy may raise SystemExit, or one of its own
        return Failure(in_one_line(error), traceback.format_exc())


def in_one_line(error: BaseException) -> str:
    """An error and the place at which it was raised."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"{line} ({Path(place.filename).name}, line {place.lineno})"


@contextmanager
def undisturbed() -> Iterator[None]:
    """Conditions of a worker: one trial at a time, one thread, and no warnings of failing policies,
    since such failures are what experiments are for.
    """
    with ALONE, one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def played(trial: Trial, board: Board | None, row: int) -> Outcome:
    """The outcome of a trial, by the clock of this thread alone."""
    problem, player = trial.problem, trial.player
    bandit = problem.make(trial.seed)
    kind = repr((player.policy, player.settings))
    if kind not in WARM:
        play(bandit, player.make(bandit, problem.horizon), min(3, problem.horizon), trial.seed)
        WARM.add(kind)
    total = 0.0

    def note(t: int, regret: float) -> None:
        nonlocal total
        total += regret
        if board is not None and ((t + 1) % EVERY == 0 or t + 1 == problem.horizon):
            board.note(row, t + 1, total)

    policy, feedback = player.make(bandit, problem.horizon), Feedback(**problem.feedback)
    began = time.thread_time()
    trace = play(bandit, policy, problem.horizon, trial.seed, note, feedback=feedback)
    seconds = time.thread_time() - began
    return Outcome(trace, seconds, fingerprint(player.policy), versions())
