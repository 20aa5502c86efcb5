"""Rewards that come late, in batches or never: laws, fairness, and policies that bear it."""

import numpy as np
import pytest
from click.testing import CliRunner

from members import make
from soids import POLICIES, SOIDS, SparseLinearBandit, Thompson, paper_instance, play
from soids.cli import main
from soids.simulation.experiment import parse_experiment
from soids.simulation.feedback import PROMPT, Feedback, delays
from soids.simulation.trial import Player, Problem, Trial

pytestmark = pytest.mark.filterwarnings("ignore:every coefficient is:RuntimeWarning")

ACTIONS = np.vstack([np.eye(3), -np.eye(3)])
BANDIT = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0], 0.3)
UNIFORM = np.random.default_rng(0).random(20_000)


class Note:
    """Plays in turn, and notes what it is told and when."""

    def __init__(self):
        self.made, self.told = 0, []

    def choose(self, actions, rng):
        self.made += 1
        return (self.made - 1) % len(actions)

    def observe(self, decision, reward):
        self.told.append((self.made, decision, reward))


def told(feedback, horizon=30, seed=0):
    """When a policy was told what, as (rounds played, index, reward); and the trace."""
    policy = Note()
    trace = play(BANDIT, policy, horizon, seed, feedback=feedback)
    return policy.told, trace


# Laws


def test_a_geometric_delay_has_its_mean_and_no_memory():
    drawn = delays("geometric(20)", UNIFORM)
    deviation = np.sqrt(20.0 * 21.0)  # of waiting with a mean of 20
    assert abs(drawn.mean() - 20.0) < 4.0 * deviation / np.sqrt(len(drawn))
    assert drawn.min() == 0.0
    share = (drawn >= 10).mean()
    assert abs(share - (20 / 21) ** 10) < 4.0 * 0.5 / np.sqrt(len(drawn))


def test_a_uniform_delay_takes_every_value_alike():
    values, counts = np.unique(delays("uniform(2, 5)", UNIFORM), return_counts=True)
    assert values.tolist() == [2, 3, 4, 5]
    assert np.abs(counts / len(UNIFORM) - 0.25).max() < 4.0 * np.sqrt(0.1875 / len(UNIFORM))


def test_a_fixed_delay_is_fixed_and_none_is_none():
    assert set(delays("fixed(7)", UNIFORM)) == {7.0}
    assert set(delays("geometric(0)", UNIFORM)) == {0.0}
    assert PROMPT.handed_over(5, np.random.default_rng(0)).tolist() == [1, 2, 3, 4, 5]


def test_the_share_that_is_lost_is_as_told():
    handed = Feedback(loss=0.3).handed_over(20_000, np.random.default_rng(0))
    assert abs((handed == 0).mean() - 0.3) < 4.0 * np.sqrt(0.21 / 20_000)


def test_what_is_lost_has_nothing_to_do_with_how_late_it_is():
    plain, lossy = (
        Feedback("geometric(20)", loss=loss).handed_over(20_000, np.random.default_rng(0))
        - np.arange(1, 20_001)
        for loss in (0.0, 0.5)
    )
    kept = lossy >= 0
    assert np.array_equal(lossy[kept], plain[kept])
    deviation = np.sqrt(20.0 * 21.0)  # of the delay
    assert abs(plain[kept].mean() - 20.0) < 4.0 * deviation / np.sqrt(kept.sum())


# In the loop


def test_a_fixed_delay_counts_the_rounds_played_meanwhile():
    seen, trace = told(Feedback(delay="fixed(4)"), horizon=12)
    assert [made for made, _, _ in seen] == list(range(5, 13))
    assert [reward for _, _, reward in seen] == trace.reward[:8].tolist()  # the last four: never


def test_a_batch_is_handed_over_when_it_is_full():
    seen, trace = told(Feedback(batch=5), horizon=12)
    assert [made for made, _, _ in seen] == [5] * 5 + [10] * 5
    assert [reward for _, _, reward in seen] == trace.reward[:10].tolist()


def test_what_is_lost_is_never_told():
    seen, trace = told(Feedback(loss=0.5), horizon=200)
    assert 60 < len(seen) < 140
    assert {reward for _, _, reward in seen} < set(trace.reward)


def test_every_reward_goes_with_its_own_decision():
    seen, trace = told(Feedback(delay="uniform(0, 9)", batch=3, loss=0.2), horizon=100)
    rewards = dict(zip(trace.reward, trace.chosen, strict=True))
    assert all(rewards[reward] == index for _, index, reward in seen)
    assert len(seen) > 50
    assert all(made % 3 == 0 for made, _, _ in seen)


def test_the_world_and_the_mind_do_not_notice_the_post():
    plain, late = (told(feedback)[1] for feedback in (PROMPT, Feedback("geometric(5)", 2, 0.3)))
    for one, other in zip(plain, late, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_all_policies_wait_alike_and_a_longer_run_begins_like_a_shorter_one():
    feedback = Feedback(delay="geometric(5)", loss=0.2)
    moments = [[(made, reward) for made, _, reward in told(feedback, n)[0]] for n in (40, 80)]
    assert moments[1][: len(moments[0])] == moments[0]
    post = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[2])
    wanted = feedback.handed_over(40, post)
    assert len(moments[0]) == ((wanted > 0) & (wanted <= 40)).sum()


def test_prompt_feedback_is_no_feedback():
    bandit = paper_instance(10, seed=0)
    plain = play(bandit, Thompson(10), 20, seed=1)
    prompt = play(bandit, Thompson(10), 20, seed=1, feedback=Feedback(delay="fixed(0)", batch=1))
    assert all(np.array_equal(*pair) for pair in zip(plain, prompt, strict=True))


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "feedback",
    [Feedback(delay="geometric(5)"), Feedback(batch=10), Feedback(loss=0.3),
     Feedback(delay="uniform(0, 8)", batch=5, loss=0.1)],
    ids=["delayed", "batched", "lost", "all three"],
)  # fmt: skip
def test_every_policy_learns_from_what_reaches_it(name, feedback):
    policy = make(name, None, 3, support=(1,), noise=0.3, exploration=120)
    trace = play(BANDIT, policy, 200, seed=0, feedback=feedback)
    waits_for_all = name == "popart_elimination" and feedback.loss > 0.0  # of a phase's rewards
    # The doubly robust lasso learns from the mean of the actions, which never changes here.
    if name not in ("uniform", "dr_lasso_bandit") and not waits_for_all:
        assert trace.regret[-30:].mean() < 0.5 * BANDIT.gaps.mean()
    assert np.isfinite(trace.probability).all()


# In files

TABLE = {
    "horizon": 20,
    "seeds": 1,
    "bandit": {"family": "paper", "dimension": 10},
    "policies": {"Uniform": {"policy": "uniform"}},
}


def test_a_recipe_speaks_of_feedback_only_where_there_is_some():
    plain = parse_experiment(TABLE, "plain").trials()[0]
    assert "feedback" not in plain.recipe
    late = parse_experiment(TABLE | {"feedback": {"delay": "fixed(3)"}}, "late").trials()[0]
    assert late.recipe == plain.recipe | {"feedback": {"delay": "fixed(3)"}}
    assert late.name != plain.name
    assert Trial.of(late.recipe) == late
    assert Trial.of(plain.recipe) == plain
    known = Trial(Problem("paper", {"dimension": 20}, 50), Player("linucb", (), {"alpha": 1.0}), 7)
    assert known.name == "paper-dimension=20-T=50/linucb-81a9a8cfefe9/007"


def test_feedback_can_be_swept():
    table = TABLE | {"feedback": {"delay": "fixed(3)", "batch": [1, 5]}, "figure": {"x": "batch"}}
    problems = parse_experiment(table, "swept").problems
    assert [problem.title for problem in problems] == ["paper, batch = 1", "paper, batch = 5"]
    assert [problem.feedback["batch"] for problem in problems] == [1, 5]


@pytest.mark.parametrize(
    ("feedback", "message"),
    [
        ({"delay": "late"}, r'feedback: delay must be as "fixed\(5\)", .* got \'late\''),
        ({"delay": 5}, r"feedback: delay must be as .* got 5"),
        ({"delay": "fixed(-1)"}, "feedback: delay must be as"),
        ({"delay": "fixed(1.5)"}, "feedback: delay must be as"),
        ({"delay": "fixed(1, 2)"}, "feedback: delay must be as"),
        ({"delay": "fixed(.)"}, "feedback: delay must be as"),
        ({"delay": "geometric()"}, "feedback: delay must be as"),
        ({"delay": "uniform(5, 2)"}, "feedback: delay must have its smaller number first"),
        ({"batch": 0}, "feedback: batch must be at least 1, got 0"),
        ({"loss": 1.0}, r"feedback: loss must lie in \[0, 1\), got 1"),
        ({"lost": 0.1}, "feedback has the keys delay, batch, loss, got 'lost'"),
        (3, "feedback must be a table, got 3"),
    ],
)
def test_feedback_that_makes_no_sense_is_refused(feedback, message):
    with pytest.raises(ValueError, match=message):
        parse_experiment(TABLE | {"feedback": feedback}, "wrong")


def test_run_and_inspect_play_the_same_feedback(tmp_path):
    file, out = tmp_path / "late.toml", tmp_path / "out"
    file.write_text(
        'horizon = 12\nseeds = 1\n[bandit]\nfamily = "paper"\ndimension = 10\n'
        '[policies]\nLinTS = { policy = "lints" }\n'
        '[feedback]\ndelay = "geometric(3)"\nbatch = 2\nloss = [0.0, 0.2]\n'
    )
    done = CliRunner().invoke(main, ["run", str(file), "--out", str(out), "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "loss = 0.2" in done.output
    seen = CliRunner().invoke(main, ["inspect", str(out), "--problem", "paper, loss = 0.2"])
    assert seen.exit_code == 0, seen.output
    assert "not the same" not in seen.output
    again = CliRunner().invoke(
        main, ["inspect", str(out), "--problem", "paper, loss = 0.2", "--json"]
    )
    assert '"reproduced": true' in again.output


def test_a_batch_that_never_ends_is_refused():
    with pytest.raises(ValueError, match=r"^batch must be at most the horizon \(30\)"):
        play(BANDIT, make("uniform", None, 3), 30, seed=0, feedback=Feedback(batch=31))
    with pytest.raises(ValueError, match=r"^feedback must be a Feedback"):
        play(BANDIT, make("uniform", None, 3), 30, seed=0, feedback="fixed(5)")


@pytest.mark.parametrize("contexts", [1, 3])
def test_choices_that_wait_for_rewards_are_not_made_again(contexts):
    """What twelve rewards under way will tell has not to be asked for again; what they told when
    all have come makes no difference any more.
    """
    policy = SOIDS(20, sparsity=2, radius=10.0, noise=1.0, contexts=contexts)
    bandit, rng = paper_instance(20, 0), np.random.default_rng(0)
    made = [policy.choose(bandit.actions, rng) for _ in range(12)]
    assert len({one.index for one in made}) >= 8
    # Each pending reward counts, of a repeated action or not: there were 11 at the last choice.
    assert len(policy.state.mind.awaited.directions) == 11
    gains = [one.info.gain for one in made]
    assert gains[-1] < 0.8 * gains[0]
    policy.observe(made, [float(bandit.means[one.index]) for one in made])
    assert policy.mind.awaited is None


def test_batches_cost_soids_no_more_than_thompson():
    """Paper's instance, d = 20, twenty rewards at a time, 120 rounds, six seeds: 170 and 170; 505
    before choices knew what waits.
    """
    told = {"sparsity": 2, "radius": 10.0, "noise": 1.0}
    paid = [
        np.mean([
            play(paper_instance(20, seed), policy(20, **told), 120, seed,
                 feedback=Feedback(batch=20)).regret.sum()
            for seed in range(6)
        ])
        for policy in (SOIDS, Thompson)
    ]  # fmt: skip
    assert paid[0] < 1.25 * paid[1]
