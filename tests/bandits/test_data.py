"""Bandits made of data: the measured values, the known effects, and the data folder."""

import gzip

import numpy as np
import pytest

from command_line import called
from realdata import (
    DATA,
    FILES,
    needs,
    needs_genotypes,
    needs_mushroom,
    needs_riboflavin,
    needs_warfarin,
)
from soids import LinTS, Uniform, play
from soids.bandits import FAMILIES
from soids.bandits.data import GENOTYPES, PLACE, RIBOFLAVIN
from soids.bandits.warfarin import CATEGORICAL, NUMERIC
from soids.cli import main
from soids.simulation.experiment import parse_experiment
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
def test_the_bandit_does_not_depend_on_the_seed(data):
    one, other = genotypes(0), genotypes(1)
    assert np.array_equal(one.actions, other.actions)
    assert np.array_equal(one.theta, other.theta)


# Doses of warfarin


@needs_warfarin
def test_patients_and_doses_are_as_in_the_literature(data):
    bandit = FAMILIES["warfarin"](0)
    assert bandit.means.shape == (5528, 3)
    assert bandit.dimension == 297
    shares = 100.0 * (bandit.means == 0.0).mean(axis=0)
    assert shares == pytest.approx([33.2, 54.1, 12.7], abs=0.05)
    strict = FAMILIES["warfarin"](0, low=20.999, high=49.001)
    assert 100.0 * (strict.means == 0.0).mean(axis=0) == pytest.approx([27, 61.2, 11.8], abs=0.05)
    assert set(np.unique(bandit.means)) == {-1.0, 0.0}


@needs_warfarin
def test_a_linear_rule_doses_two_patients_of_three_rightly(data):
    bandit = FAMILIES["warfarin"](0)
    folds, right = np.arange(5528) % 10, np.zeros(5528)
    for fold in range(10):
        train, test = folds != fold, folds == fold
        known, wanted = bandit.contexts[train], bandit.means[train]
        gram = known.T @ known + 10.0 * np.eye(99)
        guess = bandit.contexts[test] @ np.linalg.solve(gram, known.T @ wanted)
        right[test] = bandit.means[test][np.arange(test.sum()), guess.argmax(axis=1)] == 0.0
    assert 0.66 < right.mean() < 0.69  # 67.0 % with another encoding


@needs_warfarin
def test_the_seed_determines_the_order_of_the_patients(data):
    one, same, other = (FAMILIES["warfarin"](seed) for seed in (3, 3, 4))
    assert np.array_equal(one.contexts, same.contexts)
    assert not np.array_equal(one.contexts, other.contexts)
    sums = [np.sort(bandit.contexts @ np.arange(99.0)) for bandit in (one, other)]
    assert sums[0] == pytest.approx(sums[1])


@needs_warfarin
def test_no_feature_is_a_consequence_of_the_dose(data):
    used = [*NUMERIC, *CATEGORICAL]
    for forbidden in ("Dose of Warfarin", "Subject", "INR on"):
        assert not any(forbidden in name for name in used)
    names = FAMILIES["warfarin"](0).names
    assert len(names) == 99
    assert {"Age", "CYP2C9 consensus = *1/*3", "VKORC1 -1639 consensus = A/A"} < set(names)
    assert not any("Dose of Warfarin" in name or "Subject" in name for name in names)


@needs_warfarin
def test_every_feature_is_finite_and_of_moderate_size(data):
    bandit = FAMILIES["warfarin"](0)
    assert np.abs(bandit.contexts).max() < 10.0
    assert (bandit.contexts[:, 0] == 1.0).all()
    assert bandit.contexts.any(axis=0).all()


@needs_warfarin
def test_patients_are_played_each_once_and_no_more(data):
    bandit = FAMILIES["warfarin"](0)
    trace = play(bandit, Uniform(297), 60, seed=0)
    assert trace.regret.tolist() == (-trace.reward).tolist()
    with pytest.raises(ValueError, match=r"horizon must be at most 5528, .* cases, got 5529"):
        play(bandit, Uniform(297), 5529, seed=0)


# Mushrooms


@needs_mushroom
def test_mushrooms_are_edible_or_not(data):
    bandit = FAMILIES["mushroom"](0)
    assert bandit.contexts.shape == (8124, 117)
    assert (bandit.contexts.sum(axis=1) == 22.0).all()
    assert "stalk-root missing" in bandit.names
    eat, leave = bandit.means.T
    assert (eat == 1.0).sum() == 4208
    assert (eat == -3.0).sum() == 3916
    assert not leave.any()


@needs_mushroom
def test_only_eating_a_poisonous_one_has_a_random_reward(data):
    bandit = FAMILIES["mushroom"](0)
    offers = list(bandit.rounds(2000, np.random.default_rng(0)))
    eaten = np.array([offer.reward(0) for offer in offers])
    edible = bandit.means[:2000, 0] == 1.0
    assert (eaten[edible] == 1.0).all()
    assert set(eaten[~edible]) == {1.0, -7.0}
    assert abs(eaten[~edible].mean() + 3.0) < 4.0 * 4.0 / np.sqrt((~edible).sum())
    assert not any(offer.reward(1) for offer in offers)


@needs_mushroom
def test_mushrooms_can_be_learned(data):
    bandit = FAMILIES["mushroom"](0)
    learned, guessed = (
        play(bandit, policy, 300, seed=0).regret[150:].sum()
        for policy in (LinTS(234), Uniform(234))
    )
    assert learned < 0.3 * guessed


# Riboflavin


@needs_riboflavin
def test_strains_are_actions_and_their_production_is_the_reward(data):
    bandit = FAMILIES["riboflavin"](0, noise=0.0)
    assert bandit.actions.shape == (71, 4088)
    assert bandit.actions.mean(axis=0) == pytest.approx(0.0, abs=1e-9)
    assert bandit.actions.std(axis=0) == pytest.approx(1.0)
    trace = play(bandit, Uniform(4088), 20, seed=0)
    assert trace.reward == pytest.approx(bandit.means[trace.chosen])
    assert trace.regret == pytest.approx(bandit.means.max() - bandit.means[trace.chosen])
    with np.load(DATA / RIBOFLAVIN, allow_pickle=False) as archive:
        assert bandit.means == pytest.approx(archive["y"] - archive["y"].mean())


# Where data are


@pytest.mark.parametrize("family", FILES)
def test_without_a_folder_the_remedy_is_named(family, monkeypatch):
    monkeypatch.delenv(PLACE, raising=False)
    with pytest.raises(ValueError, match=f"name their folder by --data or {PLACE}"):
        FAMILIES[family](0)


@pytest.mark.parametrize("family", FILES)
def test_a_folder_without_the_data_is_refused(family, monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    with pytest.raises(ValueError, match=f"a folder with {FILES[family]}, got"):
        FAMILIES[family](0)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("riboflavin", "must be the archive of riboflavin"),
        ("mushroom", r"must be a table \(CSV, compressed by gzip\)"),
        ("warfarin", r"must be a table \(CSV, compressed by gzip\)"),
    ],
)
def test_data_that_are_something_else_are_refused(family, message, monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    (tmp_path / FILES[family]).parent.mkdir()
    (tmp_path / FILES[family]).write_text("lost")
    with pytest.raises(ValueError, match=message):
        FAMILIES[family](0)


@pytest.mark.parametrize(
    ("family", "column"), [("mushroom", "poisonous"), ("warfarin", "Therapeutic Dose of Warfarin")]
)
def test_a_table_without_its_columns_is_refused(family, column, monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    (tmp_path / FILES[family]).parent.mkdir()
    with gzip.open(tmp_path / FILES[family], "wt") as file:
        file.write("# a comment\none,two\n1,2\n")
    with pytest.raises(ValueError, match=f"must have the column '{column}'"):
        FAMILIES[family](0)


@pytest.mark.parametrize(
    "family", [pytest.param(one, marks=needs(file)) for one, file in FILES.items()]
)
def test_a_seed_is_checked(family, data):
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        FAMILIES[family](-1)


@needs_warfarin
def test_edges_must_be_in_order(data):
    with pytest.raises(ValueError, match="high must be above low, 50, got 49"):
        FAMILIES["warfarin"](0, low=50.0)


@needs_warfarin
def test_a_horizon_beyond_the_patients_is_refused_before_anything_is_played(data):
    table = {
        "horizon": 6000,
        "seeds": 1,
        "bandit": {"family": "warfarin"},
        "policies": {"Uniform": {"policy": "uniform"}},
    }
    with pytest.raises(ValueError, match="bandit warfarin: horizon must be at most 5528"):
        parse_experiment(table, "long").check()


def test_a_file_that_is_something_else_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    (tmp_path / GENOTYPES).parent.mkdir()
    np.savez(tmp_path / GENOTYPES, Y=np.zeros(3))
    with pytest.raises(ValueError, match="must be the archive of susieR's genotypes"):
        genotypes(0)
    np.savez(tmp_path / GENOTYPES, X=np.eye(3), true_coef=np.ones(3), residual_variance=np.ones(2))
    with pytest.raises(ValueError, match=r"must be the archive of susieR's genotypes, got shapes"):
        genotypes(0)
    half = (tmp_path / GENOTYPES).read_bytes()
    (tmp_path / GENOTYPES).write_bytes(half[: len(half) // 2])
    with pytest.raises(ValueError, match=r"must be the archive of susieR's .* not a zip file"):
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


def test_a_recipe_does_not_contain_the_data_folder():
    trial = Trial(Problem("genotypes", {"replicate": 1}, 3), Player("uniform", (), {}), 0)
    assert trial.recipe["bandit"] == {"family": "genotypes", "replicate": 1}


@needs_genotypes
def test_run_plays_genotypes_with_workers_that_find_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, "")
    file = tmp_path / "real.toml"
    file.write_text(EXPERIMENT)
    out = tmp_path / "out"
    asked = ["run", file, "--out", out, "--workers", 1]
    missing = called(main, *asked)
    assert missing.exit_code == 2
    assert f"name their folder by --data or {PLACE}" in missing.output
    done = called(main, *asked, "--data", DATA)
    assert done.exit_code == 0, done.output
    lines = (out / "regret.csv").read_text().splitlines()
    assert len(lines) == 5
    assert str(DATA) not in "".join(
        path.read_text(errors="ignore") for path in out.rglob("*") if path.is_file()
    )
