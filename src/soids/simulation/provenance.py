"""Where results come from: the code and the versions that made them."""

import hashlib
import importlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

ONLOOKERS = ("cli", "experiments", "output", "gym.py")  # these have no part in our play
LIBRARIES = ("soids", "numpy", "scipy", "numba")


@cache
def versions() -> dict[str, str]:
    """Versions of all that a result may depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def fingerprint(policy: str) -> str:
    """A hash of the code that plays: ours, and the module of a policy that is not ours."""
    digest = hashlib.sha256(our_code())
    module, colon, _ = policy.partition(":")
    source = importlib.import_module(module).__file__ if colon else None
    if source is not None:
        digest.update(Path(source).read_bytes())
    return digest.hexdigest()[:12]


@cache
def our_code() -> bytes:
    """The text of all modules that have a part in a result."""
    package = Path(__file__).parents[1]
    return b"".join(
        path.read_bytes()
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ONLOOKERS
    )
