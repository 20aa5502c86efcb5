"""The bugs that `mutants.py` plants have their place in the code, and their tests are there."""

from imports import importers
from mutants import ROOT, problems


def test_every_bug_has_one_place_in_the_code_and_every_test_that_judges_is_there():
    assert not problems()


def test_importers_are_found_through_others_with_their_distance():
    distances = importers(found("ridge.py"), [ROOT / "src", ROOT / "tests"])
    assert distances[found("ridge.py")] == 0
    assert distances[found("test_ridge.py")] == 1 < distances[found("test_play.py")]
    assert found("arrays.py") not in distances


def found(name):
    (path,) = (path for folder in ("src/soids", "tests") for path in (ROOT / folder).rglob(name))
    return path
