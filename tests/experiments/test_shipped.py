"""Shipped experiments are data of the package."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from soids.experiments.shipped import MANIFEST, find, last_run, played_experiment, shipped


def test_shipped_files_are_in_the_package_and_at_the_top():
    folder = Path(str(files("soids") / "experiments"))
    top = Path(__file__).parents[2] / "experiments"
    assert {"figure1", "baselines", "contextual/lasso_bandit"} & shipped().keys()
    for name, path in shipped().items():
        assert path == folder / f"{name}.toml"
        assert (top / f"{name}.toml").samefile(path)


def test_a_file_comes_before_a_shipped_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find("figure1") == shipped()["figure1"]
    (tmp_path / "figure1").write_text("")
    assert find("figure1") == Path("figure1")


@pytest.mark.parametrize("text", ["", "[1]", "{}", json.dumps({"name": "a", "quick": False})])
def test_a_manifest_that_is_damaged_is_no_run(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    assert last_run(tmp_path) in ({}, {"name": "a", "quick": False})
    with pytest.raises(ValueError, match="must be a folder that soids run has written to"):
        played_experiment(tmp_path)
