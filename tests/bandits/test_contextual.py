"""Bandits whose actions change every round: distributions of contexts, parameters, same noise."""

import numpy as np
import pytest
from scipy.sparse import eye_array

from command_line import called
from soids import SOIDS, LinTS, Uniform, play
from soids.bandits import FAMILIES, ContextualBandit, Offer, SparseLinearBandit
from soids.cli import main
from soids.simulation.diagnosis import diagnose

FAMILIES_HERE = ["ariu", "bastani", "chakraborty", "kim_paik", "oh"]
SMALL = {"bastani": {"covariates": 8, "sparsity": 2}}


def make(family, seed=0, **settings):
    """A member of a family, small unless set otherwise."""
    return FAMILIES[family](seed, **SMALL.get(family, {"dimension": 12, "sparsity": 3}) | settings)


def contexts(bandit, rounds, seed=0):
    """The actions of many rounds, (T, K, d)."""
    world = np.random.default_rng(seed)
    return np.array([offer.actions for offer in bandit.rounds(rounds, world)])


every_family = pytest.mark.parametrize("family", FAMILIES_HERE)


@pytest.mark.parametrize(
    ("family", "arms", "dimension", "sparsity", "noise"),
    [
        ("ariu", 2, 1000, 20, 1.0),
        ("bastani", 2, 200, 10, 0.05),
        ("chakraborty", 10, 1000, 5, 1.0),
        ("kim_paik", 100, 100, 5, 0.05),
        ("oh", 20, 100, 5, 0.5),
    ],
)
def test_the_settings_are_those_of_the_papers(family, arms, dimension, sparsity, noise):
    bandit = FAMILIES[family](3)
    offer = next(bandit.rounds(1, np.random.default_rng(0)))
    assert offer.actions.shape == (arms, dimension) == (arms, bandit.dimension)
    assert (bandit.truth["sparsity"], bandit.noise) == (sparsity, noise)
    assert offer.means == pytest.approx(offer.actions @ bandit.theta)


@every_family
def test_the_seed_determines_the_parameter_and_the_generator_the_actions(family):
    one, same, other = make(family, 4), make(family, 4), make(family, 5)
    assert np.array_equal(one.theta, same.theta)
    assert not np.array_equal(one.theta, other.theta)
    assert np.array_equal(contexts(one, 5), contexts(other, 5))
    assert not np.array_equal(contexts(one, 5), contexts(one, 5, seed=1))


@every_family
def test_rounds_differ_and_a_longer_run_begins_like_a_shorter_one(family):
    bandit = make(family)
    long = contexts(bandit, 12)
    assert len({actions.tobytes() for actions in long}) == 12
    assert np.array_equal(contexts(bandit, 7), long[:7])
    short, whole = (play(bandit, LinTS(bandit.dimension), n, seed=1) for n in (7, 12))
    for one, another in zip(short, whole, strict=True):
        assert np.array_equal(one, another[:7])


@every_family
def test_the_random_numbers_do_not_depend_on_the_policy(family):
    seen = []

    class Note:
        def __init__(self, index):
            self.index, self.menus, self.rewards = index, [], []
            seen.append(self)

        def choose(self, actions, rng):
            rng.random(self.index * 1000)
            self.menus.append(actions.copy())
            return self.index

        def observe(self, decision, reward):
            self.rewards.append(reward)

    bandit = make(family)
    traces = [play(bandit, Note(index), 20, seed=3) for index in (0, 1)]
    assert np.array_equal(seen[0].menus, seen[1].menus)
    noise = [
        np.array(one.rewards) - [menu[one.index] @ bandit.theta for menu in one.menus]
        for one in seen
    ]
    assert noise[0] == pytest.approx(noise[1], abs=1e-12)
    best = np.max(np.array(seen[0].menus) @ bandit.theta, axis=1)
    mean = np.array(seen[0].menus)[:, 0] @ bandit.theta
    assert traces[0].regret == pytest.approx(best - mean)


@every_family
def test_learning_beats_guessing(family):
    bandit = make(family)
    learned, guessed = (
        play(bandit, policy, 300, seed=0).regret[150:].sum()
        for policy in (LinTS(bandit.dimension), Uniform(bandit.dimension))
    )
    assert learned < 0.4 * guessed


@pytest.mark.parametrize(
    ("family", "low", "high"), [("kim_paik", 0, 1), ("oh", 0, 1), ("ariu", 1, 2)]
)
def test_coefficients_are_uniform_where_they_matter(family, low, high):
    found = np.concatenate(
        [theta[theta != 0.0] for theta in (make(family, seed).theta for seed in range(300))]
    )
    assert low < found.min() < low + 0.02
    assert high - 0.02 < found.max() < high
    error = 4.0 * np.sqrt(1.0 / 12.0 / len(found))  # of the mean of a uniform number
    assert abs(found.mean() - (low + high) / 2.0) < error


def correlations(pairs):
    """The correlation of two columns, and four standard errors of it if it is not near 1."""
    return np.corrcoef(pairs)[0, 1], 4.0 / np.sqrt(pairs.shape[1])


@pytest.mark.parametrize("family", ["kim_paik", "oh", "ariu"])
def test_a_feature_is_correlated_between_actions_and_with_no_other_feature(family):
    settings = {"length": 1e9} if family == "ariu" else {}
    drawn = contexts(make(family, actions=3, correlation=0.6, **settings), 4000)
    between, error = correlations(drawn[:, :2, 5].T)
    assert abs(between - 0.6) < error
    within, error = correlations(drawn[:, 0, 4:6].T)
    assert abs(within) < error
    assert abs(drawn[:, 2, 1].std() - 1.0) < 4.0 / np.sqrt(2 * 4000)


@pytest.mark.parametrize(("design", "far"), [("equicorrelated", 0.4), ("autoregressive", 0.4**3)])
def test_features_are_correlated_within_an_action_and_not_between(design, far):
    drawn = contexts(make("chakraborty", design=design, correlation=0.4), 4000)
    for pair, wanted in (((4, 5), 0.4), ((4, 7), far)):
        found, error = correlations(drawn[:, 0][:, pair].T)
        assert abs(found - wanted) < error
    between, error = correlations(drawn[:, :2, 5].T)
    assert abs(between) < error
    for feature in (0, 9):
        assert abs(drawn[:, 1, feature].std() - 1.0) < 4.0 / np.sqrt(2 * 4000)


def test_signals_are_ones_or_of_length_one():
    assert sorted(make("chakraborty").theta)[-3:] == [1.0, 1.0, 1.0]
    for signal in ("uniform", "gaussian"):
        theta = make("chakraborty", signal=signal).theta
        assert np.linalg.norm(theta) == pytest.approx(1.0)
        assert np.count_nonzero(theta) == 3
    assert (make("chakraborty", signal="uniform").theta >= 0.0).all()


def test_long_actions_are_shrunk_and_short_ones_left():
    free, bound = (contexts(make("ariu", length=length), 50) for length in (1e9, 3.5))
    lengths = np.linalg.norm(free, axis=2)
    assert np.linalg.norm(bound, axis=2) == pytest.approx(np.minimum(lengths, 3.5))
    assert np.array_equal(bound[lengths < 3.5], free[lengths < 3.5])
    assert (lengths > 3.5).any()
    assert (lengths < 3.5).any()


def test_uniform_contexts_fill_the_cube_and_elliptical_ones_half_the_dimension():
    cube = contexts(make("oh", contexts="uniform"), 500)
    assert -1.0 <= cube.min() < -0.99
    assert 0.99 < cube.max() <= 1.0
    flat = contexts(make("oh", contexts="elliptical"), 3)
    assert [np.linalg.matrix_rank(actions) for actions in flat] == [6, 6, 6]
    assert np.linalg.matrix_rank(np.vstack(flat)) == 12  # another half every round


def test_every_arm_holds_the_truncated_context_in_its_own_block():
    bandit = make("bastani", arms=3, largest=0.7)
    drawn = contexts(bandit, 200).reshape(200, 3, 3, 8)
    for arm in range(3):
        assert np.array_equal(drawn[:, arm, arm], drawn[:, 0, 0])
        assert not np.delete(drawn[:, arm], arm, axis=1).any()
    assert 0.69 < np.abs(drawn).max() <= 0.7
    assert not (np.abs(drawn) == 0.7).any()  # truncated, not clipped
    assert np.count_nonzero(bandit.theta.reshape(3, 8), axis=1).tolist() == [2, 2, 2]


@every_family
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"sparsity": 0}, r"sparsity must be in 1\..*, got 0"),
        ({"noise": -1.0}, "noise must be at least 0, got -1"),
    ],
)
def test_every_family_checks_its_settings(family, settings, message):
    with pytest.raises(ValueError, match=message):
        make(family, **settings)


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        ("oh", {"contexts": "round"}, "contexts must be one of gaussian, .*, got 'round'"),
        ("oh", {"actions": 0}, "actions must be at least 1, got 0"),
        ("kim_paik", {"correlation": 1.0}, r"correlation must lie in \[0, 1\), got 1"),
        ("ariu", {"length": 0.0}, "length must be above 0, got 0"),
        ("chakraborty", {"signal": "two"}, "signal must be one of ones, .*, got 'two'"),
        ("chakraborty", {"design": "none"}, "design must be one of equi.*, got 'none'"),
        ("bastani", {"largest": -1.0}, "largest must be above 0, got -1"),
        ("bastani", {"arms": 0}, "arms must be at least 1, got 0"),
    ],
)
def test_a_setting_of_one_family_is_checked(family, settings, message):
    with pytest.raises(ValueError, match=message):
        make(family, **settings)


def test_a_custom_bandit_takes_a_function():
    sets = [np.eye(2), -np.eye(2)]
    bandit = ContextualBandit(lambda rng: sets[rng.integers(2)], [1.0, 0.0], noise=0.0)
    trace = play(bandit, SOIDS(2, noise=0.1), 40, seed=0)
    assert trace.regret[20:].sum() == 0.0
    with pytest.raises(ValueError, match="draw must be a function"):
        ContextualBandit(sets, [1.0, 0.0])
    with pytest.raises(ValueError, match=r"actions must have shape \(K, 3\)"):
        play(ContextualBandit(lambda rng: np.eye(2), np.ones(3)), Uniform(3), 2, seed=0)


def test_actions_may_be_sparse_matrices():
    bandit = ContextualBandit(lambda rng: eye_array(2), [1.0, 0.0], noise=0.0)
    assert play(bandit, Uniform(2), 20, seed=0).reward.tolist() == [
        1.0 - index for index in play(bandit, Uniform(2), 20, seed=0).chosen
    ]


def test_inspect_refuses_changing_actions_in_one_line(tmp_path):
    file, out = tmp_path / "contexts.toml", tmp_path / "out"
    file.write_text(
        'horizon = 5\nseeds = 1\n[bandit]\nfamily = "bastani"\ncovariates = 6\nsparsity = 2\n'
        '[policies]\nLinTS = { policy = "lints" }\n'
    )
    done = called(main, "run", file, "--out", out, "--workers", 1)
    assert done.exit_code == 0, done.output
    seen = called(main, "inspect", out)
    assert seen.exit_code == 1
    assert "same actions in every round to be watched, got ContextualBandit(12" in seen.output
    assert len(seen.output.strip().splitlines()) == 1


def test_noise_may_depend_on_the_action():
    offer = Offer(np.eye(2), np.array([1.0, 3.0]), np.array([0.5, -0.5]))
    assert [offer.reward(k) for k in (0, 1)] == [1.5, 2.5]
    assert [offer.regret(k) for k in (0, 1)] == [2.0, 0.0]
    assert offer._replace(noise=0.25).reward(1) == 3.25


def test_a_fixed_action_set_is_offered_without_a_copy():
    bandit = SparseLinearBandit(np.eye(3), [1.0, 0.0, 0.0])
    for offer in bandit.rounds(3, np.random.default_rng(0)):
        assert offer.actions is bandit.actions


def test_a_bandit_with_too_few_rounds_is_refused():
    class Short(ContextualBandit):
        def rounds(self, horizon, rng):
            return super().rounds(horizon - 1, rng)

    with pytest.raises(ValueError, match="shorter"):
        play(Short(lambda rng: np.eye(2), np.ones(2)), Uniform(2), 5, seed=0)


def test_diagnosis_needs_a_fixed_action_set():
    with pytest.raises(
        ValueError, match="same actions in every round to be watched, got ContextualBandit"
    ):
        diagnose(make("oh"), SOIDS(12), 5, seed=0)
