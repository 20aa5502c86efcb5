"""How things are where a peer's library is not installed."""

import sys

import pytest


def hide(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a library be not there, nor what was made of it."""
    for name in list(sys.modules):
        if name.startswith(f"{library}.") or name == f"benchmarks.peers.from_{library}":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
