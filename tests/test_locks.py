"""The locks pin every package by hash, and none of them has a licence that binds its users."""

import re
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|PSF|Python Software Foundation|Zlib|CC0|MPL|Mozilla|ISC|Kiwi)\b"
)  # MPL binds changes of its own files alone
BINDING = re.compile(r"\b(A|L)?GPL|General Public|Commons Clause|SSPL|BUSL|proprietary", re.I)


def entries(lock):
    """The packages of a lock, each with its lines."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def name_of(entry):
    return entry.partition("==")[0]


def licence_of(name):
    """What a package says of its licence: an expression, classifiers, or the first line of it."""
    known = metadata.metadata(name)
    classifiers = [one for one in known.get_all("Classifier") or [] if one.startswith("License")]
    said = [known.get("License-Expression"), *classifiers]
    if not any(said):
        said = [(known.get("License") or "").partition("\n")[0]]
    return " | ".join(filter(None, said))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_one_version_and_a_hash(lock):
    for entry in entries(lock):
        assert re.match(r"[\w.-]+==[\w.!+-]+( ; [^-]*)? +--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_a_licence_that_permits_use(lock):
    looked_at = 0
    for name in map(name_of, entries(lock)):
        try:
            licence = licence_of(name)
        except metadata.PackageNotFoundError:  # of another system
            continue
        looked_at += 1
        assert PERMISSIVE.search(licence), f"{name}: {licence!r} is not known"
        assert not BINDING.search(licence), f"{name}: {licence!r}"
    assert looked_at > 20
