"""Experiments as data: what a file asks for, and one clear line about what is wrong with it."""

import functools
import tomllib
from pathlib import Path

import pytest

from realdata import DATA, FILES, needs
from soids.bandits import FAMILIES
from soids.bandits.data import PLACE
from soids.experiments.shipped import shipped
from soids.policies import POLICIES
from soids.simulation.experiment import parse_experiment, read_experiment
from soids.simulation.trial import Player, Problem, Trial
from some_files import FILE, read_in


@pytest.fixture
def read(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("class Policy(")
    monkeypatch.syspath_prepend(tmp_path)
    return functools.partial(read_in, tmp_path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "marked.toml").write_text(FILE, encoding="utf-8-sig")
    experiment = read_experiment(tmp_path / "marked.toml")
    assert experiment.text == FILE
    assert len(experiment.problems) == 2


def test_lists_are_sweeps_of_problems_and_of_policies(read):
    experiment = read(FILE)
    assert [problem.title for problem in experiment.problems] == [
        "dimension = 20",
        "dimension = 40",
    ]
    labels = [player.label for player in experiment.players[0]]
    assert labels == ["SOIDS", "LinUCB, alpha = 1", "LinUCB, alpha = 3", "ESTC"]
    assert len(experiment.trials()) == 2 * 2 * 4


def test_a_setting_may_depend_on_the_bandits(read):
    for players, exploration in zip(read(FILE).players, (5, 10), strict=True):
        assert players[-1].settings == {"exploration": exploration}


def test_large_problems_come_first_then_seed_by_seed(read):
    order = [(t.problem.settings["dimension"], t.seed) for t in read(FILE).trials()]
    assert order == [(40, 0)] * 4 + [(40, 1)] * 4 + [(20, 0)] * 4 + [(20, 1)] * 4


def test_quick_and_full_play_what_the_file_says(read):
    quick = read(FILE, quick=True)
    assert {problem.horizon for problem in quick.problems} == {7}
    assert quick.seeds == (0,)
    assert read(FILE, full=True).players[0][-1].label == "Late"
    with pytest.raises(ValueError, match=r"\[quick\] is missing"):
        read(FILE.partition("[quick]")[0], quick=True)


def test_settings_that_are_nearly_equal_keep_their_labels_apart(read):
    text = FILE.replace("[1.0, 3.0]", "{ by = 'dimension', 20 = [0.1234567, 0.1234568], 40 = 1 }")
    first, second = read(text).players
    assert [p.label for p in first if p.policy == "linucb"] == [
        "LinUCB, alpha = 0.1234567",
        "LinUCB, alpha = 0.1234568",
    ]
    assert [p.label for p in second if p.policy == "linucb"] == ["LinUCB"]


def test_seeds_may_be_listed_and_horizons_swept(read):
    experiment = read(FILE.replace("seeds = 2", "seeds = [5, 3]").replace("= 50\n", "= [10, 20]\n"))
    assert experiment.seeds == (5, 3)
    assert read(FILE.replace("seeds = 2", "seeds = { from = 7, to = 9 }")).seeds == (7, 8, 9)
    titles = [problem.title for problem in experiment.problems]
    assert titles[:2] == ["dimension = 20, horizon = 10", "dimension = 40, horizon = 10"]


def test_several_bandits_are_told_apart_by_title_or_family(read):
    text = """
    horizon = 5
    seeds = 1
    [[bandit]]
    family = "paper"
    dimension = 20
    [[bandit]]
    title = "again"
    family = "paper"
    dimension = [20, 30]
    [policies]
    Uniform = { policy = "uniform" }
    """
    titles = [problem.title for problem in read(text).problems]
    assert titles == ["paper", "again, dimension = 20", "again, dimension = 30"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = 2", "seeds = ", "two.toml must be TOML: .*line 4"),
        ("seeds = 2", "", "two.toml: seeds is missing"),
        ("seeds = 2", "seeds = 0", "seeds must be"),
        ("seeds = 2", "seeds = [1, 1]", "without repetition, got \\[1, 1\\]"),
        ("seeds = 2", "seeds = []", "without repetition"),
        ("seeds = 2", "seeds = { from = 3, to = 2 }", "seeds.to must be"),
        ("seeds = 2", "seeds = { from = 3 }", "two.toml: to is missing"),
        ("seeds = 2", "seeds = { from = 3, till = 4 }", "seeds has the keys from, to, got 'till'"),
        ("seeds = 2", "seeds = 2\nhorizn = 3", "got 'horizn': did you mean 'horizon'"),
        ("horizon = 50", "horizon = 0", "horizon must be"),
        ("horizon = 50", "horizon = []", "a sweep must hold at least one value"),
        ("horizon = 50", 'horizon = "long"', "horizon must be .* got 'long'"),
        ('family = "paper"', "", "bandit: family is missing"),
        ('family = "paper"', 'family = "papier"', "got 'papier': did you mean 'paper'"),
        ('family = "paper"', "family = 3", "family must be one of"),
        (
            "dimension = [20, 40]",
            "dimension = [20, 40]\nnoise = -1.0",
            "bandit dimension = 20: noise must",
        ),
        ("dimension = [20, 40]", "dimensions = 20", "got 'dimensions': did you mean 'dimension'"),
        ("dimension = [20, 40]", "", "two.toml: bandit: dimension is missing"),
        (
            '"estc", ',
            '"popart", ',
            "ESTC: reward_bound is missing: add it to told, or as a setting$",
        ),
        ("[bandit]", "[[bandit]]\n[bandits]", "two.toml: the file has the keys"),
        ('policy = "soids", ', "", "policies.SOIDS: policy is missing"),
        ('"soids"', '"sods"', "policies.SOIDS: policy must be .* did you mean 'soids'"),
        ('"soids"', '"no.such:Policy"', "No module named 'no'"),
        ('"soids"', '"math:Policy"', "has no attribute 'Policy'"),
        ('"soids"', "7", "policy must be"),
        ('"sparsity", "noise"', '"sparsities"', "told must list sparsity.*did you mean 'sparsity'"),
        ('["sparsity", "noise"]', '"noise"', "told must be a list"),
        (
            '"sparsity", "noise"',
            '"support"',
            "SOIDS: soids can be told .* and noise, got 'support'$",
        ),
        ('["sparsity", "noise"]', '["noise"], noise = 2.0', "noise must be told or set, not both"),
        ("alpha = [1.0, 3.0]", "alpha = [1.0, -3.0]", "policies.LinUCB, alpha = -3: alpha must"),
        ("alpha = [1.0, 3.0]", "alhpa = 1.0", "got 'alhpa': did you mean 'alpha'"),
        ("alpha = [1.0, 3.0]", "alpha = []", "a sweep must hold at least one value"),
        ("20 = 5, 40 = 10", "20 = 5", "exploration must say what it is for dimension = 40"),
        ('by = "dimension"', 'by = "dimenson"', "did you mean 'dimension'"),
        ("slow = true", 'slow = "yes"', "policies.Late: slow must be True or False"),
        ('{ policy = "uniform", slow = true }', '"uniform"', "policies.Late must be a table"),
        ("[quick]", "[quick]\nhorizons = 3", "quick has the keys"),
        ("[quick]", "[plot]\n[quick]", "two.toml: the file has the keys .* got 'plot'"),
        (
            "[quick]",
            '[figure]\nx = "dimenson"\n[quick]',
            "figure: x must be .* did you mean 'dimension'",
        ),
        (
            "[quick]",
            '[figure]\nx = "dimension"\nbounds = "no"\n[quick]',
            "figure: bounds must be True or False",
        ),
        ("[quick]", "[figure]\nbounds = true\n[quick]", "bounds belongs to .* got x = 'round'"),
        (
            "[quick]",
            '[figure]\nx = "alpha"\nbounds = true\n[quick]',
            "bounds need an x that is a setting of the bandit, got 'alpha'",
        ),
        (
            "[quick]",
            '[figure]\nx = "dimension"\nscale = "log"\n[quick]',
            "scale belongs to a figure of curves",
        ),
        ("[quick]", '[figure]\nscale = "loc"\n[quick]', "scale must be .* did you mean 'log'"),
        ("[quick]", "[figure]\nx = 3\n[quick]", "figure: x must be a text, got 3"),
        (
            "[quick]",
            '[figure]\npolicy = "ESTC"\n[quick]',
            "a figure has .* did you mean 'policies'",
        ),
        ("[quick]", "[figure]\npolicies = []\n[quick]", "policies must be a list of labels"),
        ("[quick]", '[figure]\npolicies = "ESTC"\n[quick]', "policies must be a list of labels"),
        (
            "[quick]",
            '[[figure]]\n[[figure]]\nname = "b"\npolicies = ["SOID"]\n[quick]',
            "figure 2: policies must list labels of .policies., got 'SOID': did you mean 'SOIDS'",
        ),
        (
            "[quick]",
            '[figure]\npolicies = ["ESTC", "ESTC"]\n[quick]',
            "policies must each have a place of their own, got 'ESTC' twice",
        ),
        (
            "[quick]",
            '[figure]\npolicies = ["ESTC", "LinUCB", "Late"]\n[quick]',
            "policies.SOIDS is in no figure: list it",
        ),
        ("[quick]", "[[figure]]\n[[figure]]\n[quick]", "figures must each have a name"),
        ("[quick]", '[figure]\nname = "a/b"\n[quick]', "figure: name must be letters"),
        ("[bandit]", "figure = 3\n[bandit]", "figure: a figure must be a table, got 3"),
        ("[bandit]", "figure = []\n[bandit]", "figure must be a table or several"),
        (
            "LinUCB = {",
            '"LinUCB, alpha = 1" = { policy = "uniform" }\nLinUCB = {',
            "label .* twice",
        ),
        ("alpha = [1.0, 3.0]", "alpha = [1.0, 1.0]", "got 'LinUCB, alpha = 1' twice"),
        ("[20, 40]", "[20, 20]", "bandits must each have a title .* 'dimension = 20' twice"),
        ("alpha = [1.0, 3.0]", "alpha = nan", "policies.LinUCB: alpha: must be a number"),
        ("alpha = [1.0, 3.0]", "alpha = 2020-01-01", "alpha: must be a number"),
        ("[20, 40]", "[20, nan]", "bandit: dimension: must be a number"),
        ('"soids"', '"broken:Policy"', "policies.SOIDS: policy 'broken:Policy' .*never closed"),
        ('"soids"', '"strangers:Unmakable"', "policies.SOIDS: ZeroDivisionError: oh"),
        ("[20, 40]", "[20, 40]\nhorizon = 7", "bandit: horizon belongs to the top of the file"),
        ('title = "Two sizes"', "title = 3", "two.toml: title must be a text, got 3"),
        ('"soids"', '"strangers:Mute"', "must be an object with observe, Mute has no such method"),
        (
            "[quick]",
            '[figure]\nx = "family"\n[quick]',
            r"x must be one of round, dimension, alpha \(settings .* values\), got 'family'$",
        ),
        (
            "[20, 40]\n",
            '[20, 40]\ndegrees = [3.0, "no"]\n[figure]\nx = "degrees"\n',
            "x must be a positive number everywhere, degrees is also 'no'",
        ),
        (
            'Late = { policy = "uniform", slow = true }',
            'Late = { policy = "linucb", noise = [1.0, "no"] }\n[figure]\nx = "noise"',
            "x must be a positive number everywhere, noise is also 'no'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_place(read, old, new, message):
    assert FILE.count(old) >= 1
    with pytest.raises(ValueError, match=message) as caught:
        read(FILE.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("told = ['sparsity', 'noise', 'radius']", "soids_paper can be told sparsity and noise"),
        ("told = ['noise']", "sparsity is missing: add it to told, or as a setting$"),
        ("told = ['sparsity'], sampler = 'exact'", None),
    ],
)
def test_what_a_policy_can_be_told_is_said(read, settings, message):
    text = FILE.replace('"soids", told = ["sparsity", "noise"]', f"'soids_paper', {settings}")
    if message is None:
        assert read(text).players[0][0].told == ("sparsity",)
        return
    with pytest.raises(ValueError, match=f"policies.SOIDS: {message}"):
        read(text)


def test_only_quick_has_a_note_of_its_size(read):
    assert read(FILE).note == read(FILE, full=True).note == ""
    assert read(FILE, quick=True).note == "T = 7, 1 seed (--quick)"
    several = FILE.replace("horizon = 7\nseeds = 1", "horizon = [7, 1000]\nseeds = 3")
    assert read(several, quick=True).note == "3 seeds (--quick)"


def test_what_is_slow_is_checked_in_any_case(read):
    with pytest.raises(ValueError, match=r"policies\.Late: policy is missing"):
        read(FILE.replace('{ policy = "uniform", slow', "{ slow"))


def test_the_example_of_the_documentation_can_be_played(monkeypatch, tmp_path):
    docs = Path(__file__).parents[2] / "docs"
    example = (docs / "running.md").read_text().partition("```toml")[2].partition("```")[0]
    policy = (docs / "adapters.md").read_text().partition("```python")[2].partition("```")[0]
    (tmp_path / "mine.py").write_text(policy)
    monkeypatch.syspath_prepend(tmp_path)
    for flags in ({}, {"quick": True}, {"full": True}):
        parse_experiment(tomllib.loads(example), "example", **flags).check()


def test_no_policy_at_all_is_refused():
    table = {"horizon": 5, "seeds": 1, "bandit": {"family": "paper", "dimension": 20}}
    with pytest.raises(ValueError, match="at least one policy"):
        parse_experiment({**table, "policies": {}}, "empty")
    slow = {"Late": {"policy": "uniform", "slow": True}}
    with pytest.raises(ValueError, match="with --full only"):
        parse_experiment({**table, "policies": slow}, "late")


def test_a_trials_name_says_what_decides_its_outcome_and_nothing_else():
    problem = Problem("paper", {"dimension": 20}, 50, "a title")
    player = Player("linucb", (), {"alpha": 1.0}, "a label")
    trial = Trial(problem, player, 7)
    renamed = Trial(
        Problem("paper", {"dimension": 20}, 50), Player("linucb", (), {"alpha": 1.0}), 7
    )
    assert trial == renamed
    assert trial.name == renamed.name
    assert trial.name.startswith("paper-dimension=20-T=50/linucb-")
    others = [
        Trial(problem, player, 8),
        Trial(problem, Player("linucb", (), {"alpha": 2.0}), 7),
        Trial(problem, Player("linucb", ("noise",), {"alpha": 1.0}), 7),
        Trial(Problem("paper", {"dimension": 20}, 51), player, 7),
        Trial(Problem("paper", {"dimension": 30}, 50), player, 7),
    ]
    assert len({trial.name, *(other.name for other in others)}) == 6


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=needs(FILES[data]) if (data := Path(one).name) in FILES else ())
        for one in shipped()
    ],
)
@pytest.mark.parametrize("quick", [False, True])
def test_every_shipped_experiment_can_be_played(name, quick, monkeypatch):
    monkeypatch.setenv(PLACE, str(DATA))
    read_experiment(shipped()[name], quick, full=True).check()


def test_every_policy_is_in_the_table_of_baselines_or_in_one_of_changing_actions():
    tables = [name for name in shipped() if name == "baselines" or name.startswith("contextual")]
    problems = [players for name in tables for players in read_experiment(shipped()[name]).players]
    assert {player.policy for players in problems for player in players} == set(POLICIES)


def test_every_family_can_be_named():
    assert set(FAMILIES) >= {"paper", "hypercube", "correlated", "lattimore", "jang"}


def test_what_a_world_does_not_know_cannot_be_told():
    table = {
        "horizon": 5,
        "seeds": 1,
        "bandit": {"family": "oh", "dimension": 10},
        "policies": {"A": {"policy": "popart", "exploration": 3, "told": ["reward_bound"]}},
    }
    with pytest.raises(ValueError, match=r"policies\.A: told must be one of .* 'reward_bound'"):
        parse_experiment(table, "contextual").check()


@pytest.mark.parametrize("wrong", [{"horizon": 0}, {"seeds": "3"}])
def test_quick_does_not_hide_what_is_wrong_with_the_rest(wrong):
    table = {
        "horizon": 10, "seeds": 2, "bandit": {"family": "paper", "dimension": 20},
        "policies": {"A": {"policy": "uniform"}}, "quick": {"horizon": 5, "seeds": 1},
    }  # fmt: skip
    parse_experiment(table, "name", quick=True)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        parse_experiment({**table, **wrong}, "name", quick=True)
