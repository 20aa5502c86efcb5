"""Bandits made of data: what was measured, the truth beside it, and where it is looked for."""

import numpy as np
import pytest
from click.testing import CliRunner

from realdata import DATA, needs_genotypes
from soids.bandits import FAMILIES
from soids.bandits.data import GENOTYPES, PLACE
from soids.cli import main
from soids.simulation.trial import Player, Problem, Trial

genotypes = FAMILIES["genotypes"]
EXPERIMENT = """
horizon = 3
seeds = 2
[bandit]
family = "genotypes"
replicate = [1, 2]
[policies]
Uniform = { policy = "uniform" }
"""


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setenv(PLACE, str(DATA))


@needs_genotypes
def test_genotypes_have_the_known_effects(data):
    bandit = genotypes(0)
    assert bandit.actions.shape == (574, 1001)
    assert bandit.truth["support"] == [402, 652, 772]  # 403, 653, 773 in susieR's vignette
    np.testing.assert_allclose(bandit.theta[[402, 652, 772]], [1.189, -0.832, 1.399], atol=1e-3)
    assert bandit.noise**2 == pytest.approx(6.29, abs=0.005)
    assert genotypes(0, replicate=2).noise ** 2 == pytest.approx(1.65, abs=0.005)


@needs_genotypes
def test_columns_are_centred_and_some_are_equal(data):
    actions = genotypes(0).actions
    np.testing.assert_allclose(actions.mean(axis=0), 0.0, atol=1e-12)
    assert len(np.unique(actions, axis=1).T) == 903


@needs_genotypes
def test_the_seed_is_of_the_luck_alone(data):
    one, other = genotypes(0), genotypes(1)
    assert np.array_equal(one.actions, other.actions)
    assert np.array_equal(one.theta, other.theta)


def test_without_a_folder_the_remedy_is_named(monkeypatch):
    monkeypatch.delenv(PLACE, raising=False)
    with pytest.raises(ValueError, match=f"name their folder by --data or {PLACE}"):
        genotypes(0)


def test_a_folder_without_the_data_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    with pytest.raises(ValueError, match=f"a folder with the file {GENOTYPES}, got"):
        genotypes(0)


def test_a_file_that_is_something_else_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    (tmp_path / GENOTYPES).parent.mkdir()
    np.savez(tmp_path / GENOTYPES, Y=np.zeros(3))
    with pytest.raises(ValueError, match="must be the archive of susieR's genotypes"):
        genotypes(0)
    (tmp_path / GENOTYPES).write_text("lost")
    with pytest.raises(ValueError, match="must be the archive of susieR's genotypes"):
        genotypes(0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"replicate": 3}, r"replicate must be in 1\.\.2, got 3"), ({"seed": -1}, "seed must be")],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        genotypes(**{"seed": 0, **settings})


def test_a_recipe_says_nothing_of_where_the_data_are():
    trial = Trial(Problem("genotypes", {"replicate": 1}, 3), Player("uniform", (), {}), 0)
    assert trial.recipe["bandit"] == {"family": "genotypes", "replicate": 1}


@needs_genotypes
def test_run_plays_genotypes_with_workers_that_find_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, "")
    file = tmp_path / "real.toml"
    file.write_text(EXPERIMENT)
    out = tmp_path / "out"
    asked = ["run", str(file), "--out", str(out), "--workers", "1"]
    missing = CliRunner().invoke(main, asked)
    assert missing.exit_code == 2
    assert f"name their folder by --data or {PLACE}" in missing.output
    done = CliRunner().invoke(main, [*asked, "--data", str(DATA)])
    assert done.exit_code == 0, done.output
    lines = (out / "regret.csv").read_text().splitlines()
    assert len(lines) == 5
    assert str(DATA) not in "".join(
        path.read_text(errors="ignore") for path in out.rglob("*") if path.is_file()
    )
