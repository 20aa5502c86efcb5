import sys
from pathlib import Path

from click.testing import CliRunner

from soids.cli import main
from soids.simulation.warmup import Warmth


def answer(monkeypatch, warmth):
    """The result of the command, with what was compiled given."""
    module = sys.modules["soids.cli.warmup"]  # its name in soids.cli is that of the command
    monkeypatch.setattr(module, "warm_up", lambda follow: follow("soids") or warmth)
    return CliRunner().invoke(main, ["warmup"])


def test_warmup_says_how_long_it_took_and_where_the_code_is(monkeypatch):
    result = answer(monkeypatch, Warmth(98, 31.44, Path("cache")))
    assert result.exit_code == 0
    assert result.stdout == "Compiled 98 functions, in 31.4 s.\nThe compiled code is in cache.\n"


def test_warmup_says_if_there_was_nothing_to_compile(monkeypatch):
    result = answer(monkeypatch, Warmth(0, 1.2, Path("cache")))
    assert result.stdout.startswith("All had been compiled, in 1.2 s.\n")


def test_warmup_fails_if_compiled_code_cannot_be_kept(monkeypatch):
    result = answer(monkeypatch, Warmth(98, 31.44, None))
    assert result.exit_code == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in result.stderr
