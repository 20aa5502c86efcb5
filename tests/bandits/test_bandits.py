"""Rewards, gaps and noise of bandits, the paper's instance and the other families."""

import inspect
import math

import numpy as np
import pytest
from scipy import stats

from soids import SparseLinearBandit, paper_instance
from soids.bandits import FAMILIES
from soids.designs import exploratory_design, popart_design

HORIZON = 400
DRAWN = [  # the others: test_contextual_bandits, and test_data
    "correlated", "hao", "hypercube", "jang", "lattimore", "paper", "popart_hard", "popart_sphere",
    "sphere",
]  # fmt: skip


def make(family, seed=0, **settings):
    """A member of a family, small unless set otherwise."""
    wanted = inspect.signature(FAMILIES[family]).parameters
    if "horizon" in wanted:
        settings.setdefault("horizon", HORIZON)
    settings.setdefault("dimension", 20)
    return FAMILIES[family](seed=seed, **settings)


@pytest.mark.parametrize("dimension", [20, 40, 100])
@pytest.mark.parametrize("seed", [0, 9])
def test_the_papers_instance_is_as_the_paper_says(dimension, seed):
    bandit = paper_instance(dimension, seed)
    sparsity = dimension // 10
    drawn = np.random.default_rng(seed).uniform(-1, 1, (200, dimension))
    assert np.array_equal(bandit.actions, drawn)
    assert bandit.theta.tolist() == [10 / sparsity] * sparsity + [0.0] * (dimension - sparsity)
    assert bandit.noise == 1.0


def test_means_and_gaps_are_what_their_names_say():
    bandit = SparseLinearBandit([[1, 2], [3, 4], [0, 1]], [2, -1])
    assert bandit.means.tolist() == [0.0, 2.0, -1.0]
    assert bandit.gaps.tolist() == [2.0, 0.0, 3.0]


def test_the_arrays_of_a_bandit_are_read_only():
    actions, theta = np.eye(2), np.ones(2)
    bandit = SparseLinearBandit(actions, theta)
    actions[0, 0] = theta[0] = 7.0
    assert bandit.means.tolist() == [1.0, 1.0]
    for array in (bandit.actions, bandit.theta):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), np.ones(3)), r"actions must have shape \(K, 3\), .* got \(2, 2\)"),
        ((np.eye(2), []), r"theta must have shape \(d,\) .* got \(0,\)"),
        ((np.eye(2), np.eye(2)), r"theta must have shape \(d,\) .* got \(2, 2\)"),
        ((np.eye(2), [1, np.nan]), r"theta\[1\] must be finite .* got nan"),
        (([[1, np.inf]], [1, 2]), r"actions\[0, 1\] must be finite .* got inf"),
        ((np.empty((0, 2)), [1, 2]), "actions must hold at least one action"),
        ((np.eye(2), [1, 2], -1.0), "noise must be at least 0, got -1"),
        ((np.eye(2), [1, 2], "loud"), "noise must be a real number, got 'loud'"),
        ((np.eye(2), [1, 2], 1.0, 2), "degrees must be above 2, got 2"),
        ((np.eye(2), [1, 2], 1.0, np.nan), "degrees must be finite .* got nan"),
    ],
)
def test_invalid_bandits_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SparseLinearBandit(*arguments)


@pytest.mark.parametrize("dimension", [9, 20.0, "20", True])
def test_the_papers_instance_needs_ten_features(dimension):
    with pytest.raises(ValueError, match=f"dimension must be .*, got {dimension!r}"):
        paper_instance(dimension, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, None])
def test_the_papers_instance_needs_a_seed(seed):
    with pytest.raises(ValueError, match=f"seed must be .*, got {seed!r}"):
        paper_instance(20, seed)


def test_the_papers_instance_can_be_varied():
    bandit = paper_instance(8, seed=1, sparsity=2, radius=3.0, actions=5, noise=0.5, degrees=4)
    assert bandit.actions.shape == (5, 8)
    assert bandit.theta.tolist() == [1.5, 1.5] + [0.0] * 6
    assert (bandit.noise, bandit.degrees) == (0.5, 4.0)


def test_the_truth_holds_settings_of_policies():
    bandit = SparseLinearBandit([[2, 0, 0], [0, -4, 1]], [3, 0, -4], noise=0.5)
    assert bandit.truth == {
        "sparsity": 2, "radius": 7.0, "noise": 0.5, "norm": 5.0, "support": [0, 2],
        "reward_bound": 28.0,
    }  # fmt: skip
    assert np.abs(bandit.means).max() <= bandit.truth["reward_bound"]


def test_gaussian_noise_is_the_generators_own():
    bandit = SparseLinearBandit(np.eye(2), [1, 2], noise=0.5)
    drawn = bandit.draw_noise(9, np.random.default_rng(3))
    assert np.array_equal(drawn, 0.5 * np.random.default_rng(3).standard_normal(9))


def test_heavy_tails_keep_the_standard_deviation():
    count, degrees = 200_000, 6.0
    bandit = SparseLinearBandit(np.eye(2), [1, 2], noise=0.5, degrees=degrees)
    drawn = bandit.draw_noise(count, np.random.default_rng(0))
    kurtosis = 3.0 + 6.0 / (degrees - 4.0)
    assert abs((drawn**2).mean() - 0.25) < 4.0 * 0.25 * math.sqrt((kurtosis - 1.0) / count)
    scaled = drawn / 0.5 / math.sqrt((degrees - 2.0) / degrees)
    assert stats.kstest(scaled, stats.t(degrees).cdf).pvalue > 0.01


def test_noise_is_drawn_by_a_generator():
    with pytest.raises(ValueError, match="rng must be a numpy Generator"):
        SparseLinearBandit(np.eye(2), [1, 2]).draw_noise(9, 0)
    with pytest.raises(ValueError, match="horizon must be at least 1, got 0"):
        SparseLinearBandit(np.eye(2), [1, 2]).draw_noise(0, np.random.default_rng(0))


@pytest.mark.parametrize("family", DRAWN)
def test_a_seed_determines_the_instance(family):
    one, same, other = make(family, 4), make(family, 4), make(family, 5)
    assert np.array_equal(one.actions, same.actions)
    assert np.array_equal(one.theta, same.theta)
    assert not (
        np.array_equal(one.actions, other.actions) and np.array_equal(one.theta, other.theta)
    )


@pytest.mark.parametrize("family", DRAWN)
def test_every_family_has_features_in_the_unit_cube_and_two_that_matter(family):
    bandit = make(family)
    assert np.abs(bandit.actions).max() <= 1.0
    assert bandit.truth["sparsity"] == 2
    assert bandit.gaps.min() == 0.0


@pytest.mark.parametrize("family", DRAWN)
def test_every_family_needs_a_seed_and_features(family):
    with pytest.raises(ValueError, match=r"seed must be .*, got -1"):
        make(family, seed=-1)
    with pytest.raises(ValueError, match=r"dimension must be .*, got 0"):
        make(family, dimension=0)
    with pytest.raises(ValueError, match="noise must be at least 0, got -1"):
        make(family, noise=-1.0)


def test_a_small_cube_has_all_its_corners():
    bandit = make("hypercube", dimension=5, actions=32)
    assert len(np.unique(bandit.actions, axis=0)) == 32
    assert np.unique(bandit.actions).tolist() == [-1.0, 1.0]
    assert make("hypercube", dimension=5, actions=31).actions.shape == (31, 5)


def test_coefficients_of_the_cube_and_the_sphere_are_equal_in_size():
    for family in ("hypercube", "sphere"):
        bandit = make(family, sparsity=4, radius=6.0)
        sizes = np.abs(bandit.theta[bandit.theta != 0.0])
        assert sizes.tolist() == [1.5] * 4
    assert np.allclose(np.linalg.norm(bandit.actions, axis=1), 1.0)


def test_correlated_columns_are_correlated_and_uniform():
    bandit = make("correlated", rho=0.8, actions=20_000)
    entry = bandit.actions[:, 3]
    assert stats.kstest(entry, stats.uniform(-1, 2).cdf).pvalue > 0.01
    # Uniform margins of normals with correlation r have correlation 6/pi asin(r/2).
    for lag in (1, 3):
        expected = 6.0 / math.pi * math.asin(0.8**lag / 2.0)
        measured = np.corrcoef(bandit.actions[:, 2], bandit.actions[:, 2 + lag])[0, 1]
        assert abs(measured - expected) < 4.0 / math.sqrt(20_000)


@pytest.mark.parametrize("rho", [1.0, -0.1, "high"])
def test_a_correlation_lies_between_zero_and_one(rho):
    with pytest.raises(ValueError, match=f"rho must .*, got {rho!r}".replace("1.0", "1")):
        make("correlated", rho=rho)


def test_several_bandits_at_once_by_hand():
    bandit = make("lattimore", dimension=6, sparsity=2, horizon=300)
    signal = 0.1  # sqrt(6 / (2 300))
    assert bandit.actions.shape == (9, 6)
    assert (bandit.actions[:, :3].sum(axis=1) == 1.0).all()
    assert (bandit.actions[:, 3:].sum(axis=1) == 1.0).all()
    assert np.allclose(np.sort(bandit.theta), [0, 0, 0, 0, signal, signal])
    assert np.count_nonzero(bandit.theta[:3]) == 1
    # One action is right in both blocks, four in one of them, four in none.
    assert np.allclose(np.sort(bandit.gaps), [0.0] + [signal] * 4 + [2 * signal] * 4)


def test_cheap_actions_beside_costly_ones_by_hand():
    bandit = make("hao", dimension=8, sparsity=2, horizon=1000, strength=2.5 * 2 ** (2 / 3))
    cheap, costly = bandit.actions[:14], bandit.actions[14:]
    assert np.allclose(np.sort(bandit.gaps[:14]), [0.0] + [0.25] * 12 + [0.5])
    assert np.allclose(np.unique(bandit.gaps[14:]), [1.0, 1.5])  # 0.25 - (-1 +- 0.25)
    assert (np.abs(cheap).sum(axis=1) == 1.0).all()
    assert (cheap[:, -1] == 0.0).all()
    assert np.array_equal(costly.T @ costly / 8, np.eye(8))
    assert exploratory_design(bandit.actions).value == pytest.approx(1.0, rel=1e-4)


def test_signals_have_the_size_of_the_proofs():
    s, kappa, horizon, noise = 3, 0.5, 1000, 2.0
    settings = {"dimension": 9, "sparsity": s, "kappa": kappa, "horizon": horizon, "noise": noise}
    hao, jang = make("hao", **settings), make("jang", **settings)
    assert np.abs(hao.theta[:-1]).max() == pytest.approx(2.0 * 1.5 ** (-2 / 3) / 10.0)
    assert np.abs(jang.theta[:-1]).max() == pytest.approx(2.0 * 0.5 ** (-2 / 3) * 3000 ** (-1 / 3))
    for bandit, entries in ((hao, 2), (jang, 4)):
        assert bandit.theta[-1] == -1.0
        assert bandit.truth["sparsity"] == s
        best = bandit.actions[bandit.gaps.argmin()]
        assert np.count_nonzero(best) == entries
        assert bandit.means.max() == pytest.approx(2.0 * np.abs(bandit.theta[:-1]).max())
        costly = bandit.actions[bandit.actions[:, -1] == 1.0]
        assert np.array_equal(np.unique(np.abs(costly[:, :-1])), [0.5])
        assert len(np.unique(bandit.actions, axis=0)) == len(bandit.actions)


def test_popart_case_one_has_the_constants_of_its_paper():
    bandit = FAMILIES["popart_hard"](dimension=10, seed=0)
    # In the names of their result files for d = 10: H_* = 19.49, 1 / C_min = 1569.21.
    assert math.sqrt(popart_design(bandit.actions).value) == pytest.approx(19.49, abs=0.01)
    assert 1.0 / exploratory_design(bandit.actions).value == pytest.approx(1569.21, rel=1e-3)
    gaps = np.sort(bandit.gaps)
    root = 1.0 / math.sqrt(10.0)
    assert np.allclose(gaps, [0.0] + [root] * 8 + [1.0])
    assert bandit.theta[0] == 1.0
    assert bandit.noise == 0.1


def test_popart_case_two_is_on_the_sphere():
    bandit = FAMILIES["popart_sphere"](seed=0)
    assert bandit.actions.shape == (90, 30)
    assert np.allclose(np.linalg.norm(bandit.actions, axis=1), 1.0)
    assert np.sort(bandit.theta)[-2:].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("lattimore", {"dimension": 9}, "dimension must be a multiple of the sparsity 2, got 9"),
        ("lattimore", {"dimension": 60, "sparsity": 4}, "make 50,625 actions, more than"),
        ("lattimore", {"dimension": 4, "sparsity": 3}, r"sparsity must be in 1\.\.2, got 3"),
        ("lattimore", {"strength": 0.0}, "strength must be above 0, got 0"),
        ("jang", {"dimension": 200}, "dimension 200 and sparsity 2 make 79,060 actions"),
        ("jang", {"sparsity": 1}, "sparsity must be at least 2, got 1"),
        ("hao", {"kappa": 0.0}, "kappa must be above 0, got 0"),
        ("hao", {"price": -1.0}, "price must be above 0, got -1"),
        ("hao", {"horizon": 0}, "horizon must be at least 1, got 0"),
        ("sphere", {"sparsity": 21}, r"sparsity must be in 1\.\.20, got 21"),
        ("hypercube", {"actions": 0}, "actions must be at least 1, got 0"),
        ("correlated", {"radius": 0.0}, "radius must be above 0, got 0"),
    ],
)
def test_invalid_settings_are_refused(family, settings, message):
    with pytest.raises(ValueError, match=message):
        make(family, **settings)
