"""What the shipped figures say of themselves is what is played."""

import re

import numpy as np
import pytest

from soids.evidence import Evidence
from soids.experiments.shipped import shipped
from soids.policies.posterior_rule import PosteriorRule
from soids.policies.soids import SOIDSRule
from soids.posteriors import Langevin, Relaxed
from soids.posteriors.langevin import BURN_IN
from soids.simulation.experiment import read_experiment

PAPER = ("SOIDS, exact sampler", "SOIDS, Langevin sampler", "OTCS", "ESTC", "LinUCB")
UNCOVERED = "covered by no theorem"
SIZES = (20, 40, 100)


@pytest.fixture(scope="module")
def figure1():
    return read_experiment(shipped()["figure1"], full=True)


@pytest.fixture(scope="module", params=range(3), ids=lambda place: f"d={SIZES[place]}")
def drawn(request, figure1):
    """A problem of figure 1, its bandit, and the rules of the policies of the first figure."""
    problem = figure1.problems[request.param]
    bandit = problem.make(0)
    shown = figure1.figures[0].among(figure1.players[request.param])
    rules = {one.label: one.make(bandit, problem.horizon).rule for one in shown}
    return problem, bandit, rules


def test_the_first_figure_is_the_papers(figure1):
    first = figure1.figures[0]
    assert (first.policies, first.x, first.scale) == (PAPER, "round", "linear")
    assert [problem.settings["dimension"] for problem in figure1.problems] == list(SIZES)
    assert {(problem.family, problem.horizon) for problem in figure1.problems} == {("paper", 1000)}
    assert figure1.seeds == tuple(range(10))


def test_the_theorems_have_a_figure_with_full_only(figure1):
    assert [figure.name for figure in figure1.figures] == ["", "beyond", "theorems"]
    short = read_experiment(shipped()["figure1"])
    assert [figure.name for figure in short.figures] == ["", "beyond"]


def test_the_instances_are_the_papers(drawn):
    problem, bandit, _ = drawn
    d = problem.settings["dimension"]
    assert bandit.theta.tolist() == [100.0 / d] * (d // 10) + [0.0] * (d - d // 10)
    assert bandit.noise == 1.0
    assert bandit.actions.shape == (200, d)
    assert np.abs(bandit.actions).max() <= 1.0
    assert np.abs(bandit.actions).mean() == pytest.approx(0.5, abs=0.02)
    assert not np.array_equal(problem.make(1).actions, bandit.actions)


@pytest.mark.parametrize("label", PAPER[:2])
def test_soids_has_the_papers_settings(drawn, label):
    problem, _, policies = drawn
    d, policy = problem.settings["dimension"], policies[label]
    assert type(policy) is SOIDSRule
    assert (policy.eta, policy.rate, policy.gain) == (0.5, "experiment", "full")
    model = policy.model
    assert isinstance(model, Langevin if "Langevin" in label else Relaxed)
    assert model.sparsity / d == 0.1  # beta
    relaxed = model.relaxed if isinstance(model, Langevin) else model
    assert relaxed.scales(Evidence.empty(d)) == pytest.approx((10.0, 0.1))  # rho_1, rho_0


def test_the_baselines_have_the_papers_settings(drawn):
    problem, bandit, policies = drawn
    d = problem.settings["dimension"]
    otcs, estc, linucb = (policies[label] for label in PAPER[2:])
    assert otcs.power() == 0.5
    assert estc.exploration == {20: 50, 40: 100, 100: 100}[d]
    assert linucb.alpha is None
    assert otcs.width == "unit_ball"
    assert isinstance(otcs.forecaster.model, Relaxed)
    assert otcs.forecaster.model.sparsity / d == 0.1  # beta
    assert otcs.reach() == 1.0
    assert linucb.norm == pytest.approx(np.linalg.norm(bandit.theta))
    assert otcs.radius == pytest.approx(10.0)


def test_the_caption_gives_the_values_that_are_ours(figure1, drawn):
    *_, policies = drawn
    caption = figure1.figures[0].caption
    exact, langevin, otcs, _, linucb = (policies[label] for label in PAPER)
    assert exact.particles == langevin.particles == otcs.particles
    assert f"SOIDS has {exact.particles} particles." in caption
    assert f"with {otcs.particles} particles" in caption
    model = langevin.model
    assert f"takes {model.steps} steps a round, of {model.step:g} over the largest" in caption
    assert not model.adapts
    assert "adapts the inclusion probabilities, ours here does not" in caption
    assert f"start again with {BURN_IN + 1} times the steps" in caption
    assert (otcs.delta, otcs.ridge) == (linucb.delta, linucb.ridge)
    assert f"delta = {linucb.delta:g} and ridge {linucb.ridge:g}" in caption
    assert f"as eta = 1/{1 / otcs.power():g} needs (here the bounds are 10)" in caption
    assert otcs.radius == pytest.approx(10.0)
    assert otcs.largest_norm() == 1.0


def rows(name):
    """Every row of a shipped experiment, with the rule of its policy."""
    experiment = read_experiment(shipped()[name], full=True)
    for problem, players in zip(experiment.problems, experiment.players, strict=True):
        bandit = problem.make(experiment.seeds[0])
        for player in players:
            yield player, player.make(bandit, problem.horizon).rule


@pytest.mark.filterwarnings("ignore:rate .* without the theorem")
@pytest.mark.parametrize(
    "name",
    [
        "figure1",
        "rates",
        "priors",
        "langevin_steps",
        "regimes",
        "regimes_horizon",
        "hard_instances",
    ],
)
def test_rows_with_the_name_of_a_theorem_or_of_the_paper_are_presets_or_say_what_differs(name):
    for player, policy in rows(name):
        label = player.label
        assert label != "SOIDS"
        if not isinstance(policy, PosteriorRule):
            continue
        preset = "_" in player.policy and player.policy.startswith("soids_")
        by_theorem = isinstance(policy.rate, str) and policy.rate.startswith("theorem")
        assert by_theorem == ("theorem" in label.replace("theory", ""))
        assert (by_theorem and not preset) == (UNCOVERED in label)
        if policy.rate == "experiment" and not preset:
            assert "theory's prior" in label or "subset" in label
        if policy.posterior == "spike_slab(spread = 0.25)":
            assert policy.posterior in label
        assert ("Shannon gain" in label) == (policy.gain == "shannon")


@pytest.mark.parametrize("name", ["equal_knowledge", "equal_knowledge_hard"])
def test_all_of_a_figure_have_the_same_prior_and_knowledge(name):
    experiment = read_experiment(shipped()[name])
    assert experiment.seeds == tuple(range(60000, 60100))
    built = list(rows(name))
    assert len(experiment.figures) == 2
    for figure in experiment.figures:
        found = [(player, policy) for player, policy in built if figure.shows(player)]
        assert {player.told for player, _ in found} == {("sparsity", "radius", "noise")}
        assert len({policy.posterior for _, policy in found}) == 1
        assert {player.policy for player, _ in found} == {"soids", "fgts", "thompson", "sparse_ids"}
        assert figure.policies[0].startswith("SOIDS")
        for player, policy in found:
            default = type(policy)(policy.dimension).gain
            assert policy.gain == ("shannon" if "Shannon gain" in player.label else default)


@pytest.mark.parametrize("name", shipped())
def test_captions_speak_of_nothing_that_a_picture_lacks(name):
    for figure in read_experiment(shipped()[name], full=True).figures:
        assert not re.search(r"\b(rows?|differences|level line)\b", figure.caption, re.IGNORECASE)


def test_the_langevin_steps_are_those_of_the_caption(figure1):
    experiment = read_experiment(shipped()["langevin_steps"])
    (figure,) = experiment.figures
    assert figure.x == "steps"
    wanted, last = [25, 50, 100, 250, 1000], 0
    for players in experiment.players:
        settings = [player.settings for player in players if "steps" in player.settings]
        steps = [one["steps"] for one in settings if not one.get("adapts", False)]
        assert steps == [one["steps"] for one in settings if one.get("adapts", False)]
        assert steps == wanted[: len(steps)]
        last = steps[-1]
        assert [player.label for player in players if "steps" not in player.settings] == [
            "exact sampler"
        ]
    assert max(player.settings.get("steps", 0) for player in experiment.players[0]) == 1000
    assert f"At d = 100 at most {last} steps" in " ".join(figure.caption.split())
    langevin = next(p for p in figure1.players[0] if p.label == "SOIDS, Langevin sampler")
    bandit = figure1.problems[0].make(0)
    assert f"Figure 1 has {langevin.make(bandit, 1000).rule.model.steps} and" in figure.caption
