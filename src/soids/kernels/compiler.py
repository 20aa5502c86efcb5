"""The compiler of the kernels: Numba, with a folder for compiled code that can be written.

Numba keeps compiled code beside the kernels or in the user's cache folder, and refuses to import
them if it can write to neither. Here a private folder for temporary files comes next, and then no
folder: each process compiles. A folder elsewhere starts with what is compiled beside the kernels,
so code that was compiled while an image was built is used where the package cannot be written.
"""

import gc
import multiprocessing
import os
import shutil
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import cache as once
from glob import escape
from pathlib import Path
from typing import Any

from numba import config
from numba import njit as numba_njit
from numba.core import event

# Numba reads settings from a file in the working folder, which may be anyone's: it could name a
# folder of compiled code, which Numba executes. Variables of the environment count as ever.
config._config_fname = ""
config.reload_config()  # type: ignore[no-untyped-call]

LONG = "sweep_rows"  # the kernels that take long to compile
SELDOM = (50_000, 20, 50)  # thresholds of the garbage collector
NOTICE = "soids compiles its sampler{}, which takes up to a minute.\n"
NOT_KEPT = (
    "compiled code cannot be kept, so every process that uses soids compiles for up to a minute: "
    "set NUMBA_CACHE_DIR to a folder that can be written"
)


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel when it is first called, and keep the result for later processes."""
    options["no_cfunc_wrapper"] = True  # an entry point for C, which nobody needs and takes time
    compiled: Any = numba_njit
    settings: Any = config

    def decorated(kernel: Callable[..., Any]) -> Any:
        if not cache or settings.DISABLE_JIT:
            return compiled(**options)(kernel)
        try:
            kept = compiled(cache=True, **options)(kernel)
        except RuntimeError:  # no folder that Numba knows can be written
            folder = private_folder()
            if folder is None:
                warn_once()
                return compiled(**options)(kernel)
            before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
            try:
                kept = compiled(cache=True, **options)(kernel)
            finally:
                settings.CACHE_DIR = before
        if not settings.CACHE_DIR:  # a folder that the user names has only what was compiled for it
            copy_compiled(Path(kernel.__code__.co_filename).parent / "__pycache__", folder_of(kept))
        return kept

    return decorated


def folder_of(kernel: Any) -> Path | None:
    """Where the compiled code of a kernel is kept, if it is."""
    folder = kernel.stats.cache_path if hasattr(kernel, "stats") else None
    return None if folder is None else Path(folder)


@once
def private_folder() -> Path | None:
    """A folder for temporary files of this user that nobody else can write, or None.

    Numba executes what it reads, so a folder made by somebody else is refused.
    """
    user = os.getuid() if hasattr(os, "getuid") else None  # on Windows each user has a folder
    try:
        folder = Path(tempfile.gettempdir()) / ("soids" if user is None else f"soids-{user}")
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if user is None or (status.st_uid == user and not others) else None


@once
def copy_compiled(source: Path, target: Path | None) -> None:
    """Copy kernels to the folder in use that it does not have: their code, and then their index."""
    if target is None or target == source or not source.is_dir():
        return
    for index in source.glob("*.nbi"):
        if (target / index.name).exists():
            continue
        for file in (*source.glob(f"{escape(index.stem)}.*.nbc"), index):
            scrap = target / f"{file.name}.{os.getpid()}"
            try:
                shutil.copyfile(file, scrap)
                scrap.replace(target / file.name)
            except OSError:  # they are compiled anew
                return


@once
def warn_once() -> None:
    """Say that nothing is kept, and the remedy."""
    warnings.warn(NOT_KEPT, RuntimeWarning, stacklevel=2)


class Compilations(event.Listener):
    """Counts the kernels that are compiled, and announces the first that takes long.

    Meanwhile garbage is collected less often, and not among what was there before: with Numba's
    millions of small objects this saves a seventh of the time.
    """

    def __init__(self) -> None:
        self.count = 0
        self.under_way = 0  # a kernel compiles those that it calls
        self.thresholds: tuple[int, int, int] | None = None  # of the collector, while it is eased
        self.is_announced = False

    def on_start(self, event: Any) -> None:
        if not is_ours(event):
            return
        self.count += 1
        self.under_way += 1
        if self.under_way == 1 and gc.get_freeze_count() == 0:
            self.thresholds = gc.get_threshold()
            gc.freeze()
            gc.set_threshold(*SELDOM)
        kernel = event.data["dispatcher"]
        if kernel.__name__ == LONG and not self.is_announced and is_watched():
            self.is_announced = True
            sys.stderr.write(NOTICE.format(" once" if folder_of(kernel) else ""))

    def on_end(self, event: Any) -> None:
        if not is_ours(event):
            return
        self.under_way -= 1
        if self.under_way == 0 and self.thresholds is not None:
            gc.set_threshold(*self.thresholds)
            gc.unfreeze()
            self.thresholds = None


def is_ours(event: Any) -> bool:
    """Whether an event is about a kernel of this package."""
    return str(event.data["dispatcher"].py_func.__module__).startswith("soids.")


def is_watched() -> bool:
    """Whether a person waits for this process at a terminal; nobody watches a worker."""
    return (
        multiprocessing.current_process().name == "MainProcess"
        and threading.current_thread() is threading.main_thread()
        and sys.stderr is not None
        and sys.stderr.isatty()
    )


compilations = Compilations()
event.register("numba:compile", compilations)  # type: ignore[no-untyped-call]
