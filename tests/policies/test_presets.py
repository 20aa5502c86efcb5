"""The settings of the paper by name: its experiments, and what its theorems cover."""

import warnings

import numpy as np
import pytest

from soids import FGTS, POLICIES, SOIDS, SparseLinearBandit, load, paper_instance, play, save
from soids.rates import Progress, experiment, theorem2
from soids.simulation.trial import Player

PRESETS = [name for name in POLICIES if name.startswith(("soids_", "fgts_"))]
KNOWN = {"sparsity": 2, "radius": 8.0, "noise": 1.0}


def made(name, **changed):
    """A preset for twenty features, with what it must know."""
    known = {"sparsity": 2, "noise": 1.0} if name.endswith("paper") else KNOWN
    return POLICIES[name](20, **(known | changed))


def scaled(bandit, actions, rewards):
    """The same problem with actions and rewards in other units."""
    theta = bandit.theta * rewards / actions
    return SparseLinearBandit(actions * bandit.actions, theta, rewards * bandit.noise)


def test_the_paper_preset_has_the_paper_s_prior_power_and_schedule():
    policy = SOIDS.paper(20, 2, noise=3.0)
    prior = policy.rule.model.prior(policy.evidence)
    assert 1.0 / prior.values.slab_precision == pytest.approx(10.0 * 3.0**2)
    assert prior.values.spike_scale == pytest.approx(0.1 * 3.0)
    share = policy.rule.model.sparsity / policy.rule.model.dimension
    assert share == 0.1
    assert (policy.rule.eta, policy.rule.gain) == (0.5, "full")
    decision = policy.choose(paper_instance(20, 0).actions, np.random.default_rng(0))
    assert decision.info.rate == experiment(Progress(0, 20, 2))
    assert policy.rule.model.noise == 3.0


@pytest.mark.parametrize(("steps", "adapts"), [(None, False), (40, True)])
def test_the_langevin_sampler_takes_so_many_steps_a_round(steps, adapts):
    policy = SOIDS.paper(20, 2, sampler="langevin", steps=steps, adapts=adapts)
    assert policy.rule.model.steps * policy.rule.sweeps == (steps or 25)
    assert policy.rule.model.adapts is adapts
    assert policy.rule.model.relaxed == SOIDS.paper(20, 2).rule.model


@pytest.mark.parametrize("kind", [SOIDS, FGTS])
@pytest.mark.parametrize("theorem", ["theorem2", "theorem3"])
@pytest.mark.parametrize(("actions", "rewards"), [(1.0, 8.0), (4.0, 1.0), (0.5, 16.0)])
def test_choices_do_not_depend_on_the_units_of_actions_and_rewards(kind, theorem, actions, rewards):
    """Units are powers of two, so that rounding differs nowhere."""
    unit = SparseLinearBandit(paper_instance(20, 0).actions, 0.5 * np.eye(20)[0], 0.25)
    traces = [
        play(bandit, getattr(kind, theorem)(20, 2, **known), 40, seed=0)
        for bandit, known in [
            (unit, {"radius": 0.5, "noise": 0.25}),
            (
                scaled(unit, actions, rewards),
                {
                    "radius": 0.5 * rewards / actions,
                    "noise": 0.25 * rewards,
                    "action_bound": actions,
                },
            ),
        ]
    ]
    assert np.array_equal(traces[0].chosen, traces[1].chosen)
    assert np.allclose(traces[0].rate, traces[1].rate, rtol=1e-12)
    assert np.array_equal(rewards * traces[0].regret, traces[1].regret)


def test_radius_ten_is_radius_one_with_rewards_divided_by_ten():
    bandit = paper_instance(20, 0)
    small = SparseLinearBandit(bandit.actions, bandit.theta / 10.0, bandit.noise / 10.0)
    mine = play(bandit, SOIDS.theorem2(20, 2, radius=10, noise=1), 200, seed=0)
    theirs = play(small, SOIDS.theorem2(20, 2, radius=1, noise=0.1), 200, seed=0)
    assert np.array_equal(mine.chosen, theirs.chosen)
    assert np.allclose(mine.rate, theirs.rate, rtol=1e-12)


def test_the_rate_of_theorem_2_is_that_of_actions_in_the_unit_cube():
    actions = 3.0 * paper_instance(20, 0).actions
    policy = SOIDS.theorem2(20, 2, radius=10, noise=1, action_bound=3.0)
    assert (policy.rule.noise, policy.rule.radius) == (30.0, 10.0)
    decision = policy.choose(actions, np.random.default_rng(0))
    assert decision.info.rate == theorem2(Progress(0, 20, 2, actions=actions / 3.0))


def test_much_noise_is_the_unit_of_the_theorems():
    policy = SOIDS.theorem2(20, 2, radius=0.5, noise=4.0, action_bound=2.0)
    assert (policy.rule.noise, policy.rule.radius) == (4.0, 2.0)  # the ball of the theorem: 4 / 2


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_saved_and_goes_on_bit_for_bit(name, tmp_path):
    bandit, rng = paper_instance(20, 0), np.random.default_rng(0)
    policy = made(name, **({} if name.endswith("paper") else {"radius": 10.0}))
    for _ in range(5):
        decision = policy.choose(bandit.actions, rng)
        policy.observe(decision, float(bandit.means[decision.index]))
    save(policy, tmp_path / "policy")
    twin = load(tmp_path / "policy")
    assert repr(twin) == repr(policy)
    ahead, same = (np.random.default_rng(1) for _ in range(2))
    for _ in range(3):
        mine, theirs = policy.choose(bandit.actions, ahead), twin.choose(bandit.actions, same)
        assert (mine.index, *mine.info) == (theirs.index, *theirs.info)
        assert np.array_equal(mine.probabilities, theirs.probabilities)


@pytest.mark.parametrize("name", PRESETS)
def test_an_experiment_file_knows_a_preset_by_name(name):
    names = ("sparsity", "noise") if name.endswith("paper") else ("sparsity", "radius", "noise")
    policy = Player(name, names, {}).make(paper_instance(20, 0), 10)
    assert policy.rule.sparsity == 2


@pytest.mark.parametrize("name", [name for name in PRESETS if "theorem" in name])
def test_a_theorem_s_preset_holds_its_user_to_one_set_of_actions(name):
    policy, rng = made(name), np.random.default_rng(0)
    actions = paper_instance(20, 0).actions
    with pytest.raises(ValueError, match=r"at most action_bound = 1 in size, got 2"):
        policy.choose(2.0 * np.eye(20), rng)
    policy.choose(actions, rng)
    policy.choose(actions.copy(), rng)  # the same numbers are the same actions
    with pytest.raises(ValueError, match="the same in every round"):
        policy.choose(actions[:50], rng)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta": 1.0}, "eta must be 0.25"),
        ({"noise": 7.0}, "noise must be at least the largest mean reward.*= 8.*got 7"),
        ({"sparsity": None}, "sparsity must be given"),
        ({"radius": None}, "radius must be given"),
        ({"noise": None}, "noise must be given"),
        ({"discount": 0.9}, "discount must be 1"),
        ({"posterior": "ample"}, "posterior must be 'subset'"),
        ({"gain": "shannon"}, "gain must be 'full'"),
        ({"budget_ms": 5.0}, "budget_ms must be left out"),
        ({"intercept": True}, "intercept must be False"),
        ({"rate": "balanced"}, "rate must be one of theorem2, rich, theorem3, theorem3_rich"),
        ({"rate": "theorem3", "sparsity": 11}, "at most half the dimension 20"),
    ],
)
def test_what_no_theorem_covers_is_refused_under_an_action_bound_and_warned_of_without(
    settings, message
):
    covered = {"sparsity": 2, "radius": 8.0, "noise": 8.0, "rate": "theorem2", "eta": 0.25}
    covered["intercept"] = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SOIDS(20, **covered)
    with pytest.raises(ValueError, match=message):
        SOIDS(20, **(covered | settings), action_bound=1.0)
    if "rate" not in settings or settings["rate"] != "balanced":
        with pytest.warns(RuntimeWarning, match=message):
            SOIDS(20, **(covered | settings))


def test_of_fgts_only_the_data_rich_half_is_covered():
    assert FGTS.theorem2(20, 2, radius=1.0, noise=1.0).rule.rate == "rich"
    assert FGTS.theorem3(20, 2, radius=1.0, noise=1.0).rule.rate == "theorem3_rich"
    with pytest.warns(RuntimeWarning, match="rate must be one of rich, theorem3_rich"):
        FGTS(20, sparsity=2, radius=1.0, noise=1.0, rate="theorem2", eta=0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SOIDS.paper(20, 21), "sparsity must be"),
        (lambda: SOIDS.paper(20, 2, noise=0.0), "noise must be"),
        (lambda: SOIDS.paper(20, 2, sampler="nuts"), "sampler must be 'exact' or 'langevin'"),
        (lambda: SOIDS.paper(20, 2, steps=50), "steps must be left out for the exact sampler"),
        (lambda: SOIDS.paper(20, 2, adapts=True), "adapts must be left out for the exact"),
        (lambda: SOIDS.paper(20, 2, sampler="langevin", steps=0), "steps must be"),
        (lambda: SOIDS.theorem2(20, 2, radius=0.0, noise=1.0), "radius must be"),
        (lambda: SOIDS.theorem2(20, 2, radius=np.inf, noise=1.0), "radius must be"),
        (lambda: SOIDS.theorem2(20, 2, radius=1.0, noise=-1.0), "noise must be"),
        (lambda: SOIDS.theorem2(20, 2, radius=1.0, noise=1.0, action_bound=0.0), "action_bound"),
        (lambda: SOIDS.theorem3(20, 11, radius=1.0, noise=1.0), "at most half the dimension"),
    ],
)
def test_a_wrong_argument_of_a_preset_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_theorem_s_rate_alone_warns_of_actions_outside_of_its_units():
    known = {"sparsity": 2, "radius": 8.0, "noise": 8.0, "eta": 0.25}
    policy = SOIDS(20, **known, rate="theorem2", intercept=False)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.choose(np.eye(20), rng)
    with pytest.warns(RuntimeWarning, match="without the theorem: mean rewards may reach"):
        policy.choose(2.0 * np.eye(20), rng)
