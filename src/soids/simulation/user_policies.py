"""Where the policies of users are found, which experiments name as ``module:Class``.

Their modules are code. They are imported only within ``modules_in``, which whoever runs an
experiment file or passes ``--trust`` enters, and never from a folder of results.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

MANIFEST, COPY = "manifest.json", "experiment.toml"  # which show that a folder holds results
IMPORTS = ContextVar("IMPORTS", default=False)  # whether modules of users may be imported
HOMES: dict[str, str] = {}  # the folder in which each module of a user was found


class Beside:
    """Finds modules as if a folder came first in ``sys.path``, and the working directory last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None:  # part of a package, which knows its own place
            return None
        first = [self.folder] if self.folder else []
        searched = [one for one in (*first, *sys.path, "") if not holds_results(one)]
        spec = PathFinder.find_spec(name, searched, target)
        if spec is not None and spec.origin is not None:
            home = Path(spec.origin).parents[spec.submodule_search_locations is not None]
            if str(home) == self.folder:
                HOMES[name] = self.folder
        return spec


@contextmanager
def modules_in(folder: str) -> Iterator[None]:
    """Let Python find modules in a folder; an empty name stands for the working directory alone.

    Modules that were found in another folder before are loaded anew, because two experiments may
    use the same names. Within the context a module may import its siblings at any time, afterwards
    only those that are loaded.
    """
    for name in [name for name, home in HOMES.items() if home != folder]:
        del HOMES[name]
        for loaded in [one for one in sys.modules if one.partition(".")[0] == name]:
            del sys.modules[loaded]
    finder = Beside(folder)
    sys.meta_path.insert(0, finder)
    token = IMPORTS.set(True)
    try:
        yield
    finally:
        IMPORTS.reset(token)
        sys.meta_path.remove(finder)


def holds_results(folder: str) -> bool:
    """Whether a folder is one that a run has written to, from which nothing is imported."""
    return Path(folder, MANIFEST).is_file() and Path(folder, COPY).is_file()
