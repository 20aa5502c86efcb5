"""Where results come from: the code and the versions that made them."""

import hashlib
import importlib
import platform
from functools import cache
from importlib.metadata import version
from modulefinder import ModuleFinder
from pathlib import Path

ONLOOKERS = ("cli", "experiments", "output", "gym.py")  # these have no part in our play
LIBRARIES = ("soids", "numpy", "scipy", "numba")


@cache
def versions() -> dict[str, str]:
    """Versions of all that a result may depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def fingerprint(policy: str) -> str:
    """A hash of the code that plays: ours, and that of a policy that is not ours."""
    digest = hashlib.sha256(our_code())
    module, colon, _ = policy.partition(":")
    for source in sources(module) if colon else ():
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def sources(module: str) -> list[Path]:
    """The file of an imported module, and those in its folder that it imports, in any depth."""
    own = importlib.import_module(module).__file__
    if own is None:
        return []
    path, name = Path(own), module.removesuffix(".__init__")
    parts = name.count(".") + (path.name == "__init__.py")
    folder = path.parents[parts]
    if not {"site-packages", "dist-packages"}.isdisjoint(folder.parts):
        return [path]
    finder = ModuleFinder([str(folder)], excludes=["soids"])
    finder.import_hook(name)
    files = (getattr(one, "__file__", None) for one in finder.modules.values())
    found = {Path(file) for file in files if file is not None}
    return [path, *sorted(found - {path})]


@cache
def our_code() -> bytes:
    """The text of all modules that have a part in a result."""
    package = Path(__file__).parents[1]
    return b"".join(
        path.read_bytes()
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ONLOOKERS
    )
