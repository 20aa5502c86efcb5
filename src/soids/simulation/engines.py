"""Where trials are played: processes of this machine, or a cluster.

An engine yields (trial, outcome) in any order. A worker that dies is replaced and its trials are
played again; a policy that raises is a ``Failure`` among the outcomes. Closing the generator stops
all workers at once.
"""

import importlib
import logging
import os
import re
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky import ProcessPoolExecutor
from loky.backend import resource_tracker

from soids.simulation.store import Outcome
from soids.simulation.trial import Trial
from soids.simulation.worker import Failure, Post, perform

Played = Generator[tuple[Trial, Outcome | Failure], None, None]

DEATHS = 3  # workers lost, without a trial finished, before we give up
PATIENCE = 20  # seconds for a scheduler to answer
AHEAD = 2  # trials handed to each worker, so that none waits for the next
SILENCE = "ignore:resource_tracker"  # warnings of loky's process that clears up
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


ADDRESS = re.compile(r"(tcp|tls|ws|wss)://.+:\d+")  # of a scheduler


class EngineError(RuntimeError):
    """No worker is left to play, or none was there to begin with."""


def on_processes(trials: Sequence[Trial], post: Post, workers: int) -> Played:
    """Play on processes of this machine, one thread each.

    If one dies, all trials that may have killed it are played again at the end, one by one, so
    that the one that kills fails alone.
    """
    start_tracker()
    waiting, suspects = deque(enumerate(trials)), deque[tuple[int, Trial]]()
    finished = deaths = 0
    while waiting or suspects:
        alone = not waiting
        queue, crew = (suspects, 1) if alone else (waiting, min(workers, len(waiting)))
        pool = ProcessPoolExecutor(
            crew, initializer=follow, initargs=(os.getpid(),), env=ONE_THREAD
        )
        playing: dict[Any, tuple[int, Trial]] = {}
        try:
            while queue or playing:
                while queue and len(playing) < (1 if alone else AHEAD * crew):
                    row, trial = queue.popleft()
                    playing[pool.submit(perform, trial, post, row)] = row, trial
                for future in wait(playing, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    _, trial = playing.pop(future)
                    finished += 1
                    yield trial, outcome
        except BrokenProcessPool as error:
            deaths += 1
            if not finished and deaths == DEATHS:
                raise EngineError(f"{deaths} workers died, and no trial is finished") from error
            if alone:
                ((_, trial),) = playing.values()
                yield trial, Failure("its worker died, out of memory?")
            else:
                suspects.extend(playing.values())
        finally:
            pool.shutdown(kill_workers=True)  # they would play their trials to the end


def start_tracker() -> None:
    """Start loky's process that clears up after workers, with its warnings off.

    Where workers are killed, it warns at exit of what is gone already, or not yet. A new process
    gets the warning options of this one as its ``-W``.
    """
    sys.warnoptions.append(SILENCE)
    try:
        resource_tracker.ensure_running()
    finally:
        sys.warnoptions.remove(SILENCE)


def follow(master: int) -> None:
    """Make a worker leave Ctrl-C to its master, and die if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == master:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def on_dask(trials: Sequence[Trial], post: Post, scheduler: str) -> Played:
    """Play on the workers of a Dask cluster, which need soids and what else the policies need.

    Trials whose workers died several times are played again at the end, one by one: some of them
    only shared a worker with the one that kills.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise EngineError('the engine needs Dask: pip install "soids[dask]"') from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # losses are reported here
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    playing: dict[Any, Trial] = {}

    def submit(trial: Trial) -> Any:
        # A cluster shares neither the file of progress nor the folder of data.
        future = client.submit(perform, trial, Post(post.folder), 0, retries=DEATHS, pure=False)
        playing[future] = trial
        return future

    suspects = []
    with client:
        try:
            for future in distributed.as_completed([*map(submit, trials)], loop=client.loop):
                trial, outcome = playing.pop(future), outcome_of(future, distributed.KilledWorker)
                if outcome is None:
                    suspects.append(trial)
                else:
                    yield trial, outcome
            for trial in suspects:
                outcome = outcome_of(submit(trial), distributed.KilledWorker)
                yield trial, outcome or Failure("its workers died, out of memory?")
        finally:
            client.cancel(list(playing))


def outcome_of(future: Any, death: type[Exception]) -> Outcome | Failure | None:
    """What came back from a cluster; None if too many workers died of it, or beside it."""
    try:
        return future.result()  # type: ignore[no-any-return]
    except death:
        return None
    except Exception as error:  # what travels between machines may be lost in many ways
        line = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise EngineError(f"the cluster was lost: {line}") from error
