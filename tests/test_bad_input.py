"""Whatever is wrong with an argument, it is named, and the policy goes on as if nothing had been
said.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from soids import POLICIES, SOIDS
from soids.evidence import Menu
from soids.policies.decision import Offered
from soids.policies.policy import Family
from soids.posteriors import SpikeSlab, Subset

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (5, 3))
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dimension": 0}, r"dimension must be in 1\.\.10000000, got 0"),
        ({"dimension": -2}, r"dimension must be in 1\.\.10000000, got -2"),
        ({"dimension": 3.0}, "dimension must be a whole number, got 3.0: use 3"),
        ({"dimension": "3"}, "dimension must be a whole number, got '3'"),
        ({"dimension": 10**9}, r"dimension must be in 1\.\.10000000, got 1000000000"),
        ({"dimension": True}, "dimension must be a whole number, got True"),
        ({"dimension": None}, "dimension must be a whole number, got None"),
        ({"sparsity": 0}, "sparsity must be in 1..3, got 0"),
        ({"sparsity": 4}, "sparsity must be in 1..3, got 4"),
        ({"sparsity": 1.5}, "sparsity must be a whole number, got 1.5"),
        ({"sparsity": True}, "sparsity must be a whole number, got True"),
        ({"radius": 0.0}, "radius must be above 0, got 0"),
        ({"radius": -1.0}, "radius must be above 0, got -1"),
        ({"radius": -INF}, "radius must be finite .* got -inf"),
        ({"radius": NAN}, "radius must be finite .* got nan"),
        ({"radius": "inf"}, "radius must be a real number, got 'inf'"),
        ({"radius": 1e300}, r"radius must be finite and at most 1e\+12 in size, got 1e\+300"),
        ({"radius": np.ones(2)}, "radius must be a real number"),
        ({"radius": INF}, "radius must be finite for a prior uniform in a ball"),
        ({"noise": 0.0}, "noise must be at least 1e-12, got 0"),
        ({"noise": -0.5}, "noise must be at least 1e-12, got -0.5"),
        ({"noise": 1j}, "noise must be a real number, got 1j"),
        ({"noise": INF}, "noise must be finite .* got inf"),
        ({"noise": 1e-200}, "noise must be"),
        ({"eta": -1.0}, "eta must be at least 0, got -1"),
        ({"eta": NAN}, "eta must be finite .* got nan"),
        ({"eta": "1"}, "eta must be a real number, got '1'"),
        ({"rate": -0.1}, "rate must be at least 0, got -0.1"),
        ({"rate": INF}, "rate must be finite .* got inf"),
        ({"rate": "theorem1"}, "rate must be .* one of balanced, .* got 'theorem1': did you mean"),
        ({"gain": "half"}, "gain must be one of full, conditional, shannon, got 'half'"),
        ({"gain": "shanon"}, "gain must be one of .* got 'shanon': did you mean 'shannon'"),
        ({"gain": ["full"]}, "gain must be one of"),
        ({"posterior": "laplace"}, "posterior must be an object or one of .* got 'laplace'"),
        ({"posterior": "spike_slab(0.5)"}, "posterior must be as spike_slab.slab_variance = 0.5"),
        ({"posterior": "spike_slab(slab_variance = 0.5"}, "posterior must be as spike_slab"),
        ({"posterior": "spike_slab(slab_variance = 2} #)"}, "posterior must be as spike_slab"),
        ({"posterior": f"spike_slab(slab_variance = {3000 * '['})"}, "posterior must be as"),
        ({"posterior": "spikeslab"}, "one of .* got 'spikeslab': did you mean 'spike_slab'"),
        ({"posterior": "spike slab"}, "posterior must be an object or one of .* got 'spike slab'"),
        ({"posterior": "spike_slab(slab_variance = 'a')"}, "slab_variance must be a real number"),
        ({"posterior": "spike_slab(slab = 2)"}, "has the settings slab_variance, spread, got"),
        ({"posterior": "spike_slab(spread = True)"}, "values as in TOML .true, 0.5., got 'spike"),
        ({"posterior": "spike_slab(spread = true)"}, "spread must be a real number, got True$"),
        ({"posterior": "spike_slab(spread = 0)"}, "spread must be at least 0.05, got 0"),
        (
            {"posterior": "spike_slab(spread = 0.25)", "sparsity": 1},
            "spread needs sparsity and a finite radius, .* sparsity=1 and radius=None",
        ),
        (
            {"posterior": "spike_slab(spread = 0.5)", "sparsity": 1, "radius": 1e-170},
            "spread times radius over sparsity must be at least 1e-12, got 5e-171",
        ),
        (
            {"posterior": "spike_slab(spread = 0.25)", "sparsity": 1, "radius": INF},
            "spread needs sparsity and a finite radius, .* sparsity=1 and radius=inf",
        ),
        (
            {
                "posterior": "spike_slab(spread = 0.25, slab_variance = 2)",
                "sparsity": 1,
                "radius": 1,
            },
            "slab_variance must be left out beside a spread, got 2",
        ),
        ({"posterior": "spike_slab(noise = 2)"}, "noise must be given to the policy, got"),
        ({"posterior": "broad(slab = 2)"}, "posterior broad has no settings of its own, got"),
        ({"posterior": "subset(spread = 0.25)"}, r"got 'spread' \(a setting of spike_slab\)"),
        ({"posterior": Subset(4)}, "posterior must be for dimension 3, got 4"),
        ({"posterior": 3.5}, "posterior must be an object with a method update, got 3.5"),
        ({"posterior": Subset}, "posterior must be"),
        (
            {"posterior": Subset(3), "radius": 2.0},
            "radius must be given to the posterior .* 2.0",
        ),
        ({"posterior": None}, "posterior must be an object with a method update, got None"),
        ({"posterior": {"spread": 0.5}}, "got {'spread': 0.5}: write .spike_slab.spread = 0.25"),
        ({"particles": 1}, "particles must be at least 2, got 1"),
        ({"particles": 50.0}, "particles must be a whole number, got 50.0: use 50"),
        ({"sweeps": 0}, "sweeps must be at least 1, got 0"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SOIDS(**{"dimension": 3, **settings})


@pytest.mark.parametrize("family", [one for one in POLICIES.values() if isinstance(one, Family)])
def test_an_unknown_setting_names_the_policy_and_the_nearest_setting(family):
    with pytest.raises(TypeError, match=rf"^{family!r} has the settings .* got 'flor'.*'floor'"):
        family(3, flor=0.1)
    with pytest.raises(TypeError, match=rf"^{family!r} cannot be made: .* 'dimension'$"):
        family()


def test_settings_are_given_by_name():
    message = (
        r"^SOIDS cannot be made: too many positional arguments: give settings by their names, "
        r"as in sparsity=\.\.\.$"
    )
    with pytest.raises(TypeError, match=message):
        SOIDS(20, 3)
    with pytest.raises(TypeError, match=r"too many positional arguments$"):
        SOIDS.paper(20, 3, 1.0, "exact", None, False, 7)  # of these all may be given by place


def test_an_unknown_setting_of_a_preset_names_the_preset():
    with pytest.raises(TypeError, match=r"^SOIDS\.paper has .*, got 'sparsty': did you mean 'spar"):
        SOIDS.paper(20, sparsty=2)


def played(**settings):
    """A policy in mid-play, a decision whose reward has not come, and its generator."""
    policy, rng = SOIDS(3, **settings), np.random.default_rng(0)
    for reward in (1.0, -1.0, 0.5):
        policy.observe(policy.choose(ACTIONS, rng), reward)
    return policy, policy.choose(ACTIONS, rng), rng


class Interrupted:
    """A policy in mid-play, and a twin that hears no nonsense."""

    def __init__(self, **settings):
        self.policy, self.open, self.rng = played(**settings)
        self.twin = played(**settings)
        self.before = self.policy.state

    def assert_unmoved(self):
        assert self.policy.state is self.before
        futures = []
        for policy, decision, rng in ((self.policy, self.open, self.rng), self.twin):
            policy.observe(decision, 2.0)
            following = policy.choose(ACTIONS, rng)
            futures.append((following.index, following.info, following.probabilities.tolist()))
        assert futures[0] == futures[1]


def spoiled(value, index=(1, 2)):
    actions = ACTIONS.copy()
    actions[index] = value
    return actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (spoiled(NAN), r"actions\[1, 2\] must be finite .* got nan: drop or impute it"),
        (spoiled(INF), r"actions\[1, 2\] must be finite .* got inf: drop or impute it"),
        (spoiled(-1e300), r"actions\[1, 2\] must be .* got -1e\+300: rescale it"),
        (spoiled(1e13), r"actions\[1, 2\] must be .* at most 1e\+12 .*: rescale it"),
        (ACTIONS[:, :2], r"actions must have shape \(K, 3\), .* got \(5, 2\)"),
        (ACTIONS.T, r"actions must have shape \(K, 3\), .* got \(3, 5\)"),
        (ACTIONS[0], r"actions must have shape \(K, 3\), .* got \(3,\)"),
        (ACTIONS[None], r"actions must have shape \(K, 3\), .* got \(1, 5, 3\)"),
        (1.0, r"actions must have shape \(K, 3\), .* got \(\)"),
        ([], r"actions must have shape \(K, 3\), .* got \(0,\)"),
        (np.empty((0, 3)), r"actions must hold at least one action, got shape \(0, 3\)"),
        (np.empty((4, 0)), r"actions must have shape \(K, 3\), .* got \(4, 0\)"),
        ([[1, 2, 3], [4, 5]], "actions must be a rectangular array of numbers"),
        (ACTIONS + 0j, "actions must hold real numbers, got an array of type complex128"),
        (ACTIONS.astype(object), "actions must hold real numbers, got an array of type object"),
        (ACTIONS.astype(str), "actions must hold real numbers, got an array of type <U"),
        ("actions", "actions must hold real numbers, got an array of type <U"),
        (None, "actions must hold real numbers, got an array of type object"),
        ([[10**400, 0, 0]], "actions must hold real numbers, got an array of type object"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_actions_that_make_no_sense_are_refused_and_forgotten(actions, message):
    interrupted = Interrupted()
    with pytest.raises(ValueError, match=message):
        interrupted.policy.choose(actions, interrupted.rng)
    interrupted.assert_unmoved()


@pytest.mark.parametrize("rng", [0, None, np.random.RandomState(0), np.random, "seed"])
def test_randomness_comes_from_a_generator(rng):
    interrupted = Interrupted()
    with pytest.raises(
        ValueError, match=r"rng must be .* \(np\.random\.default_rng\(seed\)\), got"
    ):
        interrupted.policy.choose(ACTIONS, rng)
    interrupted.assert_unmoved()


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (NAN, "reward must be finite .* got nan"),
        (INF, "reward must be finite .* got inf"),
        (-INF, "reward must be finite .* got -inf"),
        (1e300, r"reward must be finite and at most 1e\+12 in size, got 1e\+300"),
        (10**400, "reward must be finite"),
        (Fraction(10**400), "reward must be finite"),
        ("1.0", "reward must be a real number, got '1.0'"),
        (None, "reward must be a real number, got None"),
        (1 + 0j, r"reward must be a real number, got \(1\+0j\)"),
        ([1.0], r"reward must be a real number, got \[1.0\]"),
        (np.array([1.0]), "reward must be a real number, got array"),
        (np.array("1"), "reward must be a real number, got array"),
    ],
    ids=str,
)
@pytest.mark.parametrize("listed", [False, True], ids=["alone", "in a list"])
def test_a_reward_that_makes_no_sense_is_refused_and_forgotten(reward, message, listed):
    interrupted = Interrupted()
    decision = interrupted.open
    with pytest.raises(ValueError, match=message):
        interrupted.policy.observe(
            [decision] if listed else decision, [reward] if listed else reward
        )
    interrupted.assert_unmoved()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda d: (None, 1.0), "decision must be what choose returned, got None"),
        (lambda d: (d.index, 1.0), "decision must be what choose returned, got"),
        (lambda d: (d.action, [1.0]), "decision must be what choose returned"),
        (lambda d: ("abc", "abc"), "decision must be what choose returned, got 'abc'"),
        (lambda d: ([d, 7], [1.0, 1.0]), "decision must be what choose returned, got 7"),
        (lambda d: ([d], 1.0), "reward must be a list beside a list of decisions"),
        (lambda d: ([d], [1.0, 2.0]), r"reward must hold one number a decision \(1\), got 2"),
        (lambda d: ([d], []), r"reward must hold one number a decision \(1\), got 0"),
        (lambda d: ([d, d], [1.0, 2.0]), "decision of round 4 is listed twice: list it once"),
        (lambda d: (replace(d, round=2), 1.0), "decision of round 2 has its reward already"),
        (lambda d: (replace(d, round=5), 1.0), "one of the 4 this policy made, got round 5"),
        (lambda d: (replace(d, round=0), 1.0), "one of the 4 this policy made, got round 0"),
        (
            lambda d: (replace(d, offered=Offered(Menu(np.ones((9, 2))))), 1.0),
            "must be for dimension 3, got 2",
        ),
        (lambda d: ([d], np.ones((1, 1))), "reward must be a real number, got array"),
        (lambda d: ([d], np.array(1.0)), "reward must"),
        (lambda d: (played(noise=3.0)[1], 1.0), "decision must be"),
        (lambda d: (replace(d, index=d.index + 1), 1.0), "must be this policy's own"),
        (lambda d: (replace(d, index=d.index - 1), 1.0), "must be this policy's own"),
        (lambda d: (replace(d, probability=0.5 * d.probability), 1.0), "must be this policy's own"),
        (
            lambda d: (replace(d, offered=Offered(Menu(2.0 * d.menu.actions))), 1.0),
            "must be this policy's own",
        ),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_forgotten(arguments, message):
    interrupted = Interrupted()
    with pytest.raises(ValueError, match=message):
        interrupted.policy.observe(*arguments(interrupted.open))
    interrupted.assert_unmoved()


def test_one_bad_reward_spoils_its_whole_list():
    policy, rng = SOIDS(3), np.random.default_rng(0)
    decisions = [policy.choose(ACTIONS, rng) for _ in range(3)]
    state = policy.state
    with pytest.raises(ValueError, match="reward must be finite"):
        policy.observe(decisions, [1.0, 2.0, NAN])
    assert policy.state is state
    policy.observe(decisions, [1.0, 2.0, 3.0])
    assert policy.evidence.rounds == 3


def test_a_reward_is_observed_once():
    policy, decision, _ = played()
    policy.observe(decision, 1.0)
    state = policy.state
    message = "round 4 has its reward already, or was given up: observe or forget it once"
    with pytest.raises(ValueError, match=message):
        policy.observe(decision, 1.0)
    with pytest.raises(ValueError, match=message):
        policy.forget(decision)
    assert policy.state is state


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (NAN, "rate must be finite .* got nan"),
        (-0.1, "rate must be at least 0, got -0.1"),
        (INF, "rate must be finite .* got inf"),
        ("high", "rate must be a real number, got 'high'"),
        (None, "rate must be a real number, got None"),
    ],
)
def test_a_rate_function_is_watched(returned, message):
    answers = {"now": 0.1}
    policy, decision, rng = played(rate=lambda progress: answers["now"])
    policy.observe(decision, 2.0)  # else there is nothing new to think about
    state, answers["now"] = policy.state, returned
    with pytest.raises(ValueError, match=message):
        policy.choose(ACTIONS, rng)
    with pytest.raises(ValueError, match=message):
        policy.inclusion()
    assert policy.state is state
    answers["now"] = 0.1
    policy.choose(ACTIONS, rng)


@pytest.mark.parametrize("decision", [None, 3, "first"])
def test_only_decisions_are_explained(decision):
    interrupted = Interrupted()
    with pytest.raises(ValueError, match=f"decision must be .*, got {decision!r}"):
        interrupted.policy.explain(decision)
    interrupted.assert_unmoved()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.array])
def test_numbers_of_any_kind_told_to_a_posterior_become_floats(kind):
    told = SpikeSlab(3, sparsity=1, radius=kind(2.0), noise=kind(1.0), spread=kind(0.5))
    assert told == SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, spread=0.5)
    assert {type(value) for value in (told.radius, told.noise, told.spread)} == {float}
