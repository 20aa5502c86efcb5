"""A policy of one's own, in one file and one line of registration: all that soids does with its own
policies it does with this one.
"""

import subprocess
import sys
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from soids import (
    POLICIES,
    SOIDS,
    LinTS,
    LinUCB,
    SALassoBandit,
    SparseLinearBandit,
    Thompson,
    Uniform,
    load,
    play,
    save,
)  # fmt: skip
from soids.arrays import Floats
from soids.information import Spread, TwoPoint, greedy
from soids.offpolicy import NAMED, evaluate, learned, replay
from soids.policies.decision import Floored
from soids.policies.policy import Family, Plan, Policy, Rule, State
from soids.records import check_arrays
from soids.simulation.experiment import parse_experiment
from soids.simulation.store import read_outcome
from soids.simulation.trial import Trial
from soids.simulation.worker import Post, perform
from some_logs import made_log


@dataclass(frozen=True)
class ToyRule(Rule[tuple]):
    """Any action with probability ``share``, else the best by a perturbed ridge regression."""

    dimension: int
    _: KW_ONLY
    share: float = 0.2

    def start(self):
        return np.zeros(self.dimension), 0.0

    def think(self, mind, past, menu, rng):
        seen = past.evidence
        if seen.rounds == mind[1]:
            return mind
        gram = seen.gram + np.eye(self.dimension)
        theta = np.linalg.solve(gram, seen.moment + 0.1 * rng.standard_normal(self.dimension))
        return theta, float(seen.rounds)

    def law(self, mind, past, menu):
        best = greedy(menu.actions @ mind[0]).masses
        return Plan(Spread(self.share / len(best) + (1.0 - self.share) * best))


Toy = Family(ToyRule)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(POLICIES, "toy", Toy)


ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 3))
BANDIT = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0], 0.3)
TABLE = {
    "horizon": 40,
    "seeds": 2,
    "bandit": {"family": "paper", "dimension": 10},
    "policies": {"Toy": {"policy": "toy", "share": [0.1, 0.5]}},
}


def reward_of(decision):
    return float(decision.action[1])


def play_on(policy, rng, rounds=5):
    seen = []
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        seen.append((repr(decision), decision.probabilities.tolist()))
        policy.observe(decision, reward_of(decision))
    return seen


linucb = partial(LinUCB, norm=3.0)
binary = partial(SOIDS, rewards="binary")


def test_it_plays_and_learns():
    trace = play(BANDIT, Toy(3, share=0.1), 200, seed=0)
    assert trace.regret[100:].mean() < 0.15 * BANDIT.gaps.mean()
    assert trace.probability.min() >= 0.1 / 8 - 1e-12


def test_it_has_all_verbs():
    policy, rng = Toy(3), np.random.default_rng(0)
    play_on(policy, rng)
    policy.refresh(rng)
    law, state = policy.law(ACTIONS), policy.state
    assert sorted(law)[:7] == pytest.approx([0.2 / 8] * 7)
    assert np.array_equal(policy.decide(ACTIONS, 0.999).probabilities, law)
    assert policy.law(ACTIONS, floor=0.5) == pytest.approx(0.5 / 8 + 0.5 * law)
    without = policy.law(ACTIONS, excluded=[int(law.argmax())])
    assert without[law.argmax()] == 0.0
    assert without.sum() == pytest.approx(1.0)
    policy.forget(policy.pending)
    assert policy.pending == []
    policy.learn(ACTIONS, 3, 1.0)
    assert policy.evidence.rounds == state.past.evidence.rounds + 1
    assert repr(Toy(3, floor=0.1)) == "Toy(dimension=3, share=0.2, floor=0.1)"
    with pytest.raises(ValueError, match=r"^Toy forms no belief about features"):
        policy.inclusion()


def test_an_experiment_names_it_like_any_other(registered):
    trials = parse_experiment(TABLE, "toys").trials()
    assert len(trials) == 4
    for trial in trials:
        outcome = perform(Trial.of(trial.recipe), Post(), 0)
        bandit = trial.problem.make(trial.seed)
        expected = play(bandit, Toy(10, share=trial.player.settings["share"]), 40, trial.seed)
        assert np.array_equal(outcome.trace.chosen, expected.chosen)
        assert np.array_equal(outcome.trace.probability, expected.probability)


def test_workers_of_a_run_find_it_beside_the_experiment(tmp_path):
    """They are processes of their own, and know what is registered in theirs."""
    (tmp_path / "toy.py").write_text(
        Path(__file__).read_text().replace("from some_logs import made_log\n", "")
    )
    file, out = tmp_path / "toys.toml", tmp_path / "out"
    file.write_text(
        'title = "Toys"\nhorizon = 40\nseeds = 2\n[bandit]\nfamily = "paper"\ndimension = 10\n'
        '[policies]\nToy = { policy = "toy:Toy", share = 0.5 }\n'
    )
    command = [sys.executable, "-m", "soids", "run", str(file), "--out", str(out)]
    answer = subprocess.run([*command, "--workers", "1"], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    paths = sorted(out.rglob("*.npz"))
    assert len(paths) == 2
    for path in paths:
        recipe, outcome = read_outcome(path)
        bandit = Trial.of(recipe).problem.make(recipe["seed"])
        expected = play(bandit, Toy(10, share=0.5), 40, recipe["seed"])
        assert np.array_equal(outcome.trace.chosen, expected.chosen)


def test_it_is_evaluated_on_a_log():
    log, rng = made_log(2000), np.random.default_rng(0)
    own, before = evaluate(log, [learned("toy", Toy, rng), NAMED["logged"]]).reports
    assert own.estimates[3].low > before.estimates[1].high
    found = replay(log, "toy", Toy, rng)
    assert found.reliable
    assert found.estimate.low > before.estimates[1].high


def test_it_is_saved_and_goes_on_bit_for_bit(registered, tmp_path):
    policy, rng = Toy(3, share=0.4, floor=0.1), np.random.default_rng(0)
    play_on(policy, rng)
    waiting = policy.choose(ACTIONS, rng)
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    assert repr(again) == repr(policy)
    seen = []
    for one in (policy, again):
        one.observe(waiting, 1.0)
        seen.append(play_on(one, np.random.default_rng(1)))
    assert seen[0] == seen[1]


IN_ONE_FILE = """
class Mind(NamedTuple):
    theta: Floats  # (d,)

    def validate(self):
        check_arrays(self, theta="d")

@dataclass(frozen=True)
class OwnRule(Rule[Mind]):
    dimension: int

    def start(self):
        return Mind(np.zeros(self.dimension))

    def think(self, mind, past, menu, rng):
        return Mind(past.evidence.moment + 0.1 * rng.standard_normal(self.dimension))

    def law(self, mind, past, menu):
        return Plan(greedy(menu.actions @ mind.theta))

Own = Family(OwnRule)
"""


def test_a_file_of_policies_may_have_a_mind_of_its_own_kind(monkeypatch, tmp_path):
    """A checkpoint finds the records of the package by their qualified names."""
    module = ModuleType("soids.policies.own")
    module.__dict__.update(
        NamedTuple=NamedTuple, dataclass=dataclass, np=np, Rule=Rule, Plan=Plan, Family=Family,
        greedy=greedy, Floats=Floats, check_arrays=check_arrays,
    )  # fmt: skip
    exec(IN_ONE_FILE, module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(POLICIES, "own", module.Own)
    policy = module.Own(3)
    play_on(policy, np.random.default_rng(0))
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    assert type(again.state.mind) is module.Mind
    assert play_on(policy, np.random.default_rng(1)) == play_on(again, np.random.default_rng(1))


def test_without_its_line_it_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"policy must be one that POLICIES lists .* got Toy"):
        save(Toy(3), tmp_path / "policy")
    assert list(tmp_path.iterdir()) == []


class Kept(NamedTuple):
    """What a rule of others may keep, as long as it is not saved."""

    count: int


def test_a_mind_that_could_not_be_read_again_is_not_saved(registered, tmp_path):
    policy = Toy(3)
    policy.state = policy.state._replace(mind=Kept(3))
    with pytest.raises(ValueError, match=r"only soids' own records can be saved, got Kept"):
        save(policy, tmp_path / "policy")
    assert list(tmp_path.iterdir()) == []


def test_a_law_is_all_that_a_rule_must_have():
    class Lawless(Rule[None]):
        dimension = 3

    with pytest.raises(NotImplementedError, match="Lawless must have a method law"):
        Policy(Lawless()).law(ACTIONS)
    Lawless.law = lambda self, mind, past, menu: Plan(Spread(np.full(8, 1 / 8)))
    policy, rng = Policy(Lawless()), np.random.default_rng(0)
    play_on(policy, rng)
    assert policy.evidence.rounds == 5
    assert policy.mind is None


EVEN = np.full(8, 1 / 8)
ADD_UP = "must be 8 probabilities that add up to 1, got "
POINTS = r"must have both actions in 0\.\.7 and a share in \[0, 1\], got actions "


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (EVEN, r"must return a Plan, such as Plan\(Spread\(probabilities\)\), got ndarray"),
        (Spread(EVEN), "must return a Plan, such as .*, got Spread"),
        (None, "must return a Plan, such as .*, got NoneType"),
        (Plan(EVEN), "must return a Plan of a distribution, such as .*, got a Plan of ndarray"),
        (Plan(Spread([1 / 8] * 8)), f"{ADD_UP}no array but list"),
        (Plan(Spread(EVEN[:2])), rf"{ADD_UP}an array of shape \(2,\)"),
        (Plan(Spread(np.array(["a"] * 8))), f"{ADD_UP}an array of type <U1"),
        (Plan(Spread(np.array([0.4, -0.6, 1.2, 0, 0, 0, 0, 0]))), f"{ADD_UP}one of -0.6"),
        (Plan(Spread(np.array([np.nan, 1, 0, 0, 0, 0, 0, 0]))), f"{ADD_UP}one of nan"),
        (Plan(Spread(np.array([np.inf, 1, 0, 0, 0, 0, 0, 0]))), f"{ADD_UP}a sum of inf"),
        (Plan(Spread(20 * EVEN)), f"{ADD_UP}a sum of 20"),
        (Plan(Spread(EVEN * (1 + 2e-9))), f"{ADD_UP}a sum of 1.000000002"),
        (Plan(Floored(Spread(2 * EVEN), 0.5 * EVEN)), f"{ADD_UP}a sum of 2"),
        (Plan(Floored(Spread(EVEN), -0.5 * EVEN)), "must have no negative floor, got -0.0625"),
        (Plan(Floored(Spread(EVEN), 2.0 * EVEN)), f"{ADD_UP}a sum of 2"),
        (Plan(TwoPoint(0, 8, 0.5, 1.0)), f"{POINTS}0 and 8, share 0.5"),
        (Plan(TwoPoint(-1, 7, 0.5, 1.0)), f"{POINTS}-1 and 7, share 0.5"),
        (Plan(TwoPoint(0, 7, 1.5, 1.0)), f"{POINTS}0 and 7, share 1.5"),
        (Plan(TwoPoint(0, 7, np.nan, 1.0)), f"{POINTS}0 and 7, share nan"),
    ],
    ids=str,
)
def test_a_law_that_is_no_distribution_is_refused_before_it_is_drawn_from(answer, message):
    policy, state, rng = answering(answer)
    whole = rf"^law of Answer {message}[^\n]*$"
    for ask in (
        lambda: policy.law(ACTIONS),
        lambda: policy.law(ACTIONS, floor=0.5),
        lambda: policy.choose(ACTIONS, rng),
        lambda: policy.decide(ACTIONS, 0.5),
    ):
        with pytest.raises(ValueError, match=whole):
            ask()
    assert policy.state is state


@pytest.mark.parametrize(
    "law",
    [
        Spread(EVEN * (1 + 5e-10)),
        Spread(np.eye(8, dtype=int)[3]),
        TwoPoint(7, 7, 0.0, np.nan),
        Floored(TwoPoint(0, 7, 1.0, np.inf), 0.5 * EVEN),
    ],
    ids=str,
)
def test_a_law_that_rounding_leaves_near_one_is_played(law):
    policy, _, rng = answering(Plan(law))
    assert policy.choose(ACTIONS, rng).probabilities == pytest.approx(policy.law(ACTIONS))


def test_a_law_is_over_the_actions_that_are_not_excluded():
    policy, _, rng = answering(Plan(Spread(EVEN)))
    with pytest.raises(ValueError, match=r"^law of Answer must be 6 probabilities .*\(8,\)$"):
        policy.choose(ACTIONS, rng, excluded=[0, 1])


def played_state(policy):
    actions, rng = np.eye(8)[:, : policy.dimension], np.random.default_rng(0)
    policy.observe(policy.choose(actions, rng), 1.0)
    return policy.state


OTHERS = "state must be that of a policy like this"


@pytest.mark.parametrize(
    ("family", "state", "message"),
    [
        (SOIDS, 3, "state must be what policy.state was, got int$"),
        (SOIDS, (None, None, False), "state must be what policy.state was, got tuple$"),
        (SOIDS, State(None, None), "state must be what policy.state was, got State$"),
        (SOIDS, played_state(SOIDS(7)), "state must be for dimension 3, got 7$"),
        (SOIDS, played_state(linucb(3)), f"{OTHERS} SOIDS, whose mind is a Mind, got Bounded$"),
        (SOIDS, SALassoBandit(3).state, f"{OTHERS} SOIDS, whose mind is a Mind, got Estimate$"),
        (linucb, SOIDS(3).state, f"{OTHERS} LinUCB, whose mind is a Bounded or NoneType, got Mind"),
        (Uniform, SOIDS(3).state, f"{OTHERS} Uniform, whose mind is a NoneType, got Mind$"),
        (SOIDS, binary(3).state, f"{OTHERS} SOIDS, with rewards='real', got one of binary rewards"),
        (binary, SOIDS(3).state, f"{OTHERS} SOIDS, with rewards='binary', got one of real rewards"),
        (SOIDS, played_state(LinTS(3)), f"{OTHERS} SOIDS, with the same settings: belief must be"),
        (
            SOIDS,
            played_state(Thompson(3, sparsity=2)),
            f"{OTHERS} SOIDS, with the same settings: the target of the particles must be",
        ),
        (Toy, Uniform(3).state, f"{OTHERS} Toy, whose mind is a tuple, got NoneType$"),
    ],
)
def test_a_state_of_another_kind_of_policy_is_refused_when_it_is_assigned(family, state, message):
    policy = family(3)
    before = played_state(policy)
    with pytest.raises(ValueError, match=f"^{message}"):
        policy.state = state
    assert policy.state is before


@pytest.mark.parametrize("family", [SOIDS, linucb, Uniform, Toy])
def test_a_state_is_assigned_to_a_policy_of_its_kind(family):
    """Also to a new one, and back."""
    first, policy = family(3).state, family(3)
    for state in (played_state(family(3)), first):
        policy.state = state
        assert policy.state is state


def test_a_rule_that_starts_with_none_may_form_a_mind_of_any_kind():
    policy, state, _ = answering(Plan(Spread(EVEN)))
    for mind in (3.5, None):
        policy.state = state._replace(mind=mind)
        assert policy.mind == mind


def answering(answer):
    class Answer(Rule[None]):
        dimension = 3

        def law(self, mind, past, menu):
            return answer

    policy = Policy(Answer())
    return policy, policy.state, np.random.default_rng(0)
