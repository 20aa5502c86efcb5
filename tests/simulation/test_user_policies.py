"""Modules of users are found for a time, and nothing of Python's own settings is changed."""

import importlib
import sys

import pytest

from soids.simulation.trial import policy_called
from soids.simulation.user_policies import HOMES, modules_in

VERBS = "    choose = observe = print\n"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders with a module of the same name, and an empty working directory."""
    for name in ("one", "two"):
        package = tmp_path / name / "ours_in_parts"
        package.mkdir(parents=True)
        (tmp_path / name / "ours.py").write_text(f"class Policy:\n    home = {name!r}\n{VERBS}")
        (package / "__init__.py").write_text("")
        (package / "part.py").write_text(f"from ours import Policy\nPolicy.part = {name!r}\n")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield tmp_path
    with modules_in(""):  # which forgets them
        assert not HOMES


def home_in(folder):
    with modules_in(str(folder)):
        return policy_called("ours:Policy").home


def test_each_folder_has_its_own_modules(folders):
    before = sys.path[:], sys.meta_path[:]
    assert [home_in(folders / name) for name in ("one", "two", "one")] == ["one", "two", "one"]
    assert (sys.path, sys.meta_path) == before


def test_a_module_is_loaded_once_for_a_folder(folders):
    with modules_in(str(folders / "one")):
        first = policy_called("ours:Policy")
    with modules_in(str(folders / "one")):
        assert policy_called("ours:Policy") is first


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_part_of_a_package_may_import_a_sibling_of_the_package(folders, name):
    with modules_in(str(folders / name)):
        made = policy_called("ours_in_parts.part:Policy")
    assert (made.home, made.part) == (name, name)


def test_afterwards_nothing_more_is_found_there(folders):
    with modules_in(str(folders / "one")), pytest.raises(ValueError, match="No module named"):
        policy_called("theirs:Policy")
    (folders / "one" / "theirs.py").write_text("")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("theirs")


def test_the_working_directory_comes_last(folders):
    (folders / "here" / "ours.py").write_text(f"class Policy:\n    home = 'here'\n{VERBS}")
    (folders / "here" / "json.py").write_text("raise AssertionError('not this one')")
    assert home_in(folders / "one") == "one"
    assert home_in("") == "here"
    del sys.modules["ours"]


def test_an_error_leaves_no_finder_behind(folders):
    before = sys.meta_path[:]
    with pytest.raises(ZeroDivisionError), modules_in(str(folders / "one")):
        raise ZeroDivisionError
    assert sys.meta_path == before
