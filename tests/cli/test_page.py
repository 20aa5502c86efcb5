"""Where tables are printed."""

from soids.cli.page import WIDE, page


def test_what_is_no_terminal_is_wide_unless_someone_says_how_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert page().width == WIDE
    monkeypatch.setenv("COLUMNS", "60")
    assert page().width == 60
