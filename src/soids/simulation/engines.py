"""Where trials are played: processes of this machine, or a cluster.

An engine takes trials and hands out (trial, outcome) as they come, in any order. A worker that
dies is replaced and its trials are played again; a policy that raises is a ``Failure`` among the
outcomes. Closing the generator stops all workers at once.
"""

import os
import signal
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky import ProcessPoolExecutor

from soids.simulation.store import Outcome
from soids.simulation.trial import Trial
from soids.simulation.worker import Failure, Post, perform

Played = Generator[tuple[Trial, Outcome | Failure], None, None]

DEATHS = 3  # workers lost in a row, without a trial between them, before we give up
ONE_THREAD = {
    name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
}  # fmt: skip


class EngineError(RuntimeError):
    """There is nobody left to play, or nobody to begin with."""


def on_processes(trials: Sequence[Trial], post: Post, workers: int | None = None) -> Played:
    """Play on processes of this machine, one thread each; as many as cores unless told."""
    left = dict(enumerate(trials))
    deaths = 0
    while left:
        pool = ProcessPoolExecutor(
            workers or os.cpu_count(), initializer=follow, initargs=(os.getpid(),), env=ONE_THREAD
        )
        try:
            futures = {pool.submit(perform, trial, post, row): row for row, trial in left.items()}
            for future in as_completed(futures):
                outcome = future.result()
                yield left.pop(futures.pop(future)), outcome  # kept by nobody here
                deaths = 0
        except BrokenProcessPool as error:
            deaths += 1
            if deaths == DEATHS:
                raise EngineError(
                    f"{deaths} workers died in a row, out of memory? Try fewer --workers"
                ) from error
        finally:
            pool.shutdown(kill_workers=True)  # they would play their trials to the end


def follow(master: int) -> None:
    """Make a worker leave Ctrl-C to its master, and die if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == master:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def on_dask(trials: Sequence[Trial], post: Post, scheduler: str) -> Played:
    """Play on the workers of a Dask cluster, which need soids installed and nothing else."""
    distributed = import_distributed()
    try:
        client = distributed.Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    with client:
        # Progress within a trial goes through a file that a cluster does not share.
        futures = {
            client.submit(perform, trial, Post(post.folder), row, retries=DEATHS, pure=False): trial
            for row, trial in enumerate(trials)
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                trial = futures.pop(future)
                try:
                    yield trial, future.result()
                except distributed.KilledWorker as error:
                    yield trial, Failure(f"its workers died: {error}".partition("\n")[0])
        finally:
            client.cancel(list(futures))


def import_distributed() -> Any:
    """Dask, or how to get it."""
    try:
        import distributed
    except ImportError:
        raise EngineError('the engine needs Dask: pip install "soids[dask]"') from None
    return distributed
