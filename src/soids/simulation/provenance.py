"""Where results come from: the code and the versions that made them."""

import hashlib
import importlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import soids

ONLOOKERS = ("cli", "experiments", "output", "gym.py")  # these have no part in our play
LIBRARIES = ("soids", "numpy", "scipy", "numba")


@cache
def versions() -> dict[str, str]:
    """Versions of all that a result may depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


@cache
def fingerprint(policy: str) -> str:
    """A hash of the code that plays: ours, and the module of a policy that is not ours."""
    package = Path(soids.__file__).parent
    files = [
        path
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ONLOOKERS
    ]
    module = policy.partition(":")[0] if ":" in policy else None
    if module is not None:
        source = importlib.import_module(module).__file__
        files += [] if source is None else [Path(source)]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
