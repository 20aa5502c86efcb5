"""The benchmark samplers: densities, chains, ratios, and what the command prints and refuses."""

import csv
import itertools
import json
import math
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from rich.console import Console

from benchmarks.__main__ import main
from benchmarks.problems import DATA, NOISE, pose
from benchmarks.samplers import walks
from benchmarks.samplers.chains import GOOD, WATCHED, Chains, Walk, mixing_of
from benchmarks.samplers.command import tabulated
from benchmarks.samplers.density import relaxed_log_density
from benchmarks.samplers.figure import draw_samplers
from benchmarks.samplers.measurement import Effort, Measurement, measure, ratios
from command_line import called, words
from soids.evidence import Evidence, Menu
from soids.kernels.moves.sweep import CHAIN, PINNED_CHAIN
from soids.posteriors import Relaxed, smc
from soids.posteriors.target import Target

TINY = Effort(sweeps=40, draws=20, groups=1, peer_groups=1, patience=1)


run = partial(called, main, "samplers")


# The pace of our chains


@pytest.mark.parametrize(
    ("problem", "pace"), [((60, 100, "chosen"), PINNED_CHAIN), ((60, 100, "random"), CHAIN)]
)
def test_glides_set_the_pace_where_a_bandit_chose_the_data(problem, pace):
    posed, rng = pose(*problem, "default", seed=0), np.random.default_rng(0)
    starts = walks.wide_starts(posed, 100, rng)
    cloud = smc.placed(posed.target("subset"), starts, starts != 0.0, np.full(100, NOISE**2))
    assert walks.adapted(cloud, rng)[1] == pace


# Density


def small_target(menus=2, dimension=4):
    rng = np.random.default_rng(0)
    evidence = Evidence.empty(dimension)
    for menu in [Menu(rng.uniform(-1, 1, (5, dimension))) for _ in range(menus)]:
        for _ in range(6):
            action = menu.actions[rng.integers(5)]
            evidence = evidence.add(menu, action, float(action.sum() + rng.standard_normal()))
    prior = Relaxed(dimension, sparsity=1, noise=0.5).prior(evidence)
    return Target.of(evidence, prior, 0.5, 0.2)


def summed_over_labels(target, theta):
    """The log density of our particles, for every choice of labels, and its log-sum-exp."""
    labels = np.array(list(itertools.product([False, True], repeat=len(theta))))
    count = len(labels)
    thetas = np.tile(theta, (count, 1))
    cloud = smc.placed(target, thetas, labels, np.full(count, 0.25))
    return np.logaddexp.reduce(cloud.log_density + cloud.log_correction)


@pytest.mark.parametrize("menus", [1, 2])
def test_the_density_given_to_others_is_ours_with_the_labels_summed_out(menus):
    target = small_target(menus)
    thetas = np.random.default_rng(1).laplace(scale=0.5, size=(20, 4))
    theirs = np.array([relaxed_log_density(theta, target, target.gram.dense()) for theta in thetas])
    ours = np.array([summed_over_labels(target, theta) for theta in thetas])
    np.testing.assert_allclose(theirs - theirs[0], ours - ours[0], rtol=0, atol=1e-9)


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is a peer: make peers")
def test_the_density_is_the_same_in_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    target = small_target()
    theta = np.random.default_rng(1).standard_normal(4)
    there = relaxed_log_density(
        jax.numpy.asarray(theta), target, jax.numpy.asarray(target.gram.dense()), jax.numpy
    )
    assert float(there) == pytest.approx(
        relaxed_log_density(theta, target, target.gram.dense()), abs=1e-9
    )


# Chains


def noise_walk(rng, correlation=0.0, watched=5, groups=2, offsets=0.0):
    """Autoregressive chains with a known effective size, which cost a second a draw and group."""
    state = np.zeros((4 * groups, watched))

    def more(draws):
        rewards = np.empty((draws, *state.shape))
        for n in range(draws):
            shock = np.sqrt(1.0 - correlation**2) * rng.standard_normal(state.shape)
            state[:] = correlation * state + shock
            rewards[n] = state + offsets
        return Chains(rewards, np.zeros((draws, 4 * groups)), np.full(groups, float(draws)))

    return Walk(np.full(groups, 100.0), more)


def test_time_per_effective_sample_is_that_of_a_chain_of_known_correlation():
    mixing = mixing_of(noise_walk(np.random.default_rng(0), correlation=0.5), 4000, patience=1)
    # (1 - c) / (1 + c) effective samples a draw, and a group makes four a second. The smallest of
    # five estimates, each with an error of some 3 %, lies below the truth.
    np.testing.assert_allclose(mixing.milliseconds, 1000.0 / 4.0 * 3.0, rtol=0.12)
    np.testing.assert_allclose(mixing.of_squares, 1000.0 / 4.0 * 5.0 / 3.0, rtol=0.12)
    share = np.divide(mixing.in_all, mixing.milliseconds)
    np.testing.assert_allclose(share, 4100.0 / 3200.0)
    assert max(mixing.rhats) < GOOD
    assert mixing.efficiency == 1.0


def test_squares_tell_what_draws_are_worth_whose_errors_cancel():
    mixing = mixing_of(noise_walk(np.random.default_rng(0), correlation=-0.5), 4000, patience=1)
    np.testing.assert_allclose(mixing.milliseconds, 1000.0 / 4.0 / 3.0, rtol=0.12)
    np.testing.assert_allclose(mixing.of_squares, 1000.0 / 4.0 * 5.0 / 3.0, rtol=0.12)


def test_chains_grow_until_they_agree():
    assert mixing_of(noise_walk(np.random.default_rng(0)), 2000, patience=8).draws == 2000
    slow = mixing_of(noise_walk(np.random.default_rng(0), correlation=0.9), 500, patience=64)
    assert slow.draws > 500
    assert max(slow.rhats) < GOOD


def test_patience_ends():
    apart = np.arange(8.0)[:, None]
    mixing = mixing_of(noise_walk(np.random.default_rng(0), offsets=apart), 100, patience=4)
    assert mixing.draws == 400
    assert min(mixing.rhats) > 1.1


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.5])
def test_weights_cost_effective_samples(correlation):
    rng = np.random.default_rng(0)
    plain = noise_walk(rng, correlation)

    def more(draws):
        found = plain.more(draws)
        halves = np.where(rng.random(found.log_weights.shape) < 0.5, 0.0, -np.inf)
        return found._replace(log_weights=halves)

    mixing = mixing_of(Walk(plain.adaptation, more), 4000, 1)
    assert mixing.efficiency == pytest.approx(0.5, abs=0.02)
    # A draw's own variance doubles, what it shares with later draws does not. The smallest of five
    # estimates, each with an error of some 3 %, lies below the truth.
    variance = 2.0 + 2.0 * correlation / (1.0 - correlation)
    np.testing.assert_allclose(mixing.milliseconds, 1000.0 / 4.0 * variance, rtol=0.12)
    of_squares = 2.0 + 2.0 * correlation**2 / (1.0 - correlation**2)
    np.testing.assert_allclose(mixing.of_squares, 1000.0 / 4.0 * of_squares, rtol=0.12)


# Samplers


@pytest.mark.parametrize("data", DATA)
def test_evidence_holds_the_rounds_asked_for(data):
    problem = pose(10, 15, data, "paper", seed=0)
    assert problem.evidence.rounds == 15
    assert problem.evidence.menus[0].actions.shape == (200, 10)


@pytest.mark.parametrize("name", walks.SAMPLERS)
def test_every_sampler_finds_the_same_posterior_mean(name):
    if walks.is_missing(name):
        pytest.skip(f"{name} is a peer: make peers")
    problem = pose(10, 100, "random", "paper", seed=0)
    rng = np.random.default_rng(0)
    starts = walks.wide_starts(problem, 4, rng)
    walk = walks.SAMPLERS[name].walk(problem, starts, rng)
    seen = walk.more(400)
    weights = np.exp(seen.log_weights[100:] - seen.log_weights.max())
    mean = np.tensordot(weights, seen.rewards[100:], 2) / weights.sum()
    truth = 10.0 * problem.evidence.menus[0].actions[:WATCHED, 0]  # of the paper's instance, s = 1
    # The posterior is some 0.2 wide along each action, and priors and optimism shift it by less.
    assert np.abs(mean - truth).max() < 0.8
    assert (seen.seconds > 0.0).all()


def test_a_peer_that_is_not_installed_is_missing(monkeypatch):
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda package: None)
    assert [name for name in walks.SAMPLERS if walks.is_missing(name)] == [
        "numpyro",
        "blackjax",
    ]


def some(sampler, *times, rhat=1.0, rounds=200):
    return Measurement(
        sampler, "relaxed", 100, rounds, "random", "paper", 500, rhat, rhat, times[0], times[0],
        times[0], 1.0, times, tuple(2.0 * x for x in times),
    )  # fmt: skip


def test_ratios_are_of_the_others_over_ours_on_the_same_problem():
    found = [
        some("subset", 1.0, 1.1), some("relaxed", 2.0, 2.2), some("numpyro", 100.0, 110.0),
        some("numpyro", 7.0, 7.0, rounds=1000),
    ]  # fmt: skip
    compared = list(ratios(found))
    assert [(one.sampler, one.ours) for one in compared] == [
        ("numpyro", "subset"), ("numpyro", "relaxed"),
    ]  # fmt: skip
    assert compared[0].ratio == pytest.approx(100.0)
    assert compared[0].low < 100.0 < compared[0].high
    assert compared[1].in_all == pytest.approx(50.0)
    assert all(one.is_valid for one in compared)


def test_what_is_asked_twice_is_measured_once_and_no_ratios_make_no_file(tmp_path):
    (tmp_path / "samplers-ratios.csv").write_text("of an earlier run")
    (tmp_path / "samplers-notes.csv").write_text("of someone's own")
    answer = run(
        "--dimension", 10, "--rounds", 5, "--rounds", 5, "--data", "random", "--sampler", "subset",
        "--sampler", "subset", "--groups", 1, "--sweeps", 20, "--patience", 1, "--out", tmp_path,
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    with (tmp_path / "samplers-measurements.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 1
    assert not (tmp_path / "samplers-ratios.csv").exists()
    assert (tmp_path / "samplers-notes.csv").exists()


def test_chains_that_disagree_are_given_no_time_but_a_remedy():
    plain = Measurement(
        "subset", "subset", 10, 5, "random", "paper", 20, 1.004, 1.008, 0.25, 0.5, 0.75, 1.0,
        (0.25,), (0.5,),
    )  # fmt: skip
    console = Console(width=200)
    for worst, expected, advice in [(1.008, True, False), (1.03, True, True), (1.3, False, True)]:
        with console.capture() as capture:
            console.print(tabulated([plain._replace(rhat_worst=worst)]))
        assert ("0.25" in capture.get()) is expected
        assert ("--patience" in capture.get()) is advice


@pytest.mark.parametrize(("rhat", "drawn"), [(1.008, "filled"), (1.03, "open"), (1.3, "cross")])
def test_a_figure_tells_chains_that_agree_from_those_that_do_not(rhat, drawn):
    figure = draw_samplers([some("subset", 1.0, 1.1, rhat=rhat)])
    (marks,) = figure.axes[0].collections
    crossed, filled = len(marks.get_paths()[0].vertices) == 4, len(marks.get_facecolors()) > 0
    assert ("cross" if crossed else "filled" if filled else "open") == drawn


@pytest.mark.parametrize(("rhat", "written"), [(1.03, ["9"]), (1.3, [])])
def test_a_figure_has_the_multiples_that_mean_something(rhat, written):
    figure = draw_samplers([some("subset", 1.0, 1.0), some("numpyro", 9.0, 9.0, rhat=rhat)])
    assert [text.get_text() for text in figure.axes[0].texts] == written


def test_a_ratio_of_chains_that_disagree_means_nothing():
    (one,) = ratios([some("subset", 1.0, 1.1), some("numpyro", 9.0, 9.5, rhat=2.0)])
    assert not one.is_valid


def test_one_group_has_a_ratio_without_interval():
    (one,) = ratios([some("subset", 1.0), some("numpyro", 9.0)])
    assert one.ratio == pytest.approx(9.0)
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_the_same_seed_gives_the_same_chains():
    problem = pose(10, 20, "random", "paper", seed=0)
    once, again = (measure("subset", problem, TINY, seed=3) for _ in range(2))
    assert (once.rhat, once.weights) == (again.rhat, again.weights)


# The command


SHORT = ("--dimension", 10, "--rounds", 30, "--data", "random", "--sweeps", 40, "--patience", 1)


def test_a_run_prints_tables_and_writes_numbers_and_a_figure(tmp_path):
    out = tmp_path / "new" / "folder"
    answer = run(
        *SHORT, "--sampler", "subset", "--sampler", "langevin", "--groups", 2, "--out", out
    )
    assert answer.exit_code == 0, answer.output
    assert "subset" in answer.output
    assert "over subset" in words(answer)
    names = ["samplers-measurements.csv", "samplers-ratios.csv", "samplers.json"]
    assert sorted(path.name for path in out.iterdir()) == [
        *names, "samplers.pdf", "samplers.png",
    ]  # fmt: skip
    written = json.loads((out / "samplers.json").read_text())
    assert [one["sampler"] for one in written["measurements"]] == ["subset", "langevin"]
    with (out / "samplers-ratios.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert float(row["ratio"]) == written["ratios"][0]["ratio"]


def test_files_of_one_group_are_proper_json_without_intervals(tmp_path):
    asked = ("--sampler", "subset", "--sampler", "langevin", "--groups", 1, "--out", tmp_path)
    assert run(*SHORT, *asked).exit_code == 0
    written = (tmp_path / "samplers.json").read_text()
    assert "NaN" not in written
    assert json.loads(written)["ratios"][0]["low"] is None


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    answer = run(*SHORT, "--sampler", "subset", "--groups", 1, "--out", tmp_path / "file" / "deep")
    assert answer.exit_code == 1
    assert "Not a directory" in words(answer)


def test_a_missing_peer_is_said_with_its_remedy(monkeypatch):
    monkeypatch.setattr(walks, "is_installed", lambda package: False)
    answer = run(*SHORT, "--groups", 1, "--sampler", "numpyro", "--sampler", "subset")
    assert answer.exit_code == 0, answer.output
    assert "numpyro is left out, it is not installed: `make peers`" in words(answer)


def test_without_the_judge_nothing_is_run(monkeypatch):
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda package: None)
    answer = run(*SHORT)
    assert answer.exit_code == 1
    assert "R-hat needs arviz-stats" in words(answer)
    assert "make peers" in words(answer)


def test_help_names_every_sampler_and_every_kind_of_data():
    answer = run("--help")
    assert answer.exit_code == 0
    assert all(name in answer.output for name in (*walks.SAMPLERS, *DATA))
    assert "samplers" in called(main, "--help").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dimension", 5), "5 is not in the range x>=10"),
        (("--sampler", "stan"), "'stan' is not one of"),
        (("--data", "mine"), "'mine' is not one of"),
        (("--rounds", 0), "0 is not in the range x>=1"),
        (("--groups", 0), "0 is not in the range x>=1"),
        (("--sweeps", 3), "3 is not in the range x>=20"),
        (("--settings", "bold"), "'bold' is not one of"),
    ],
)
def test_bad_input_is_refused_with_its_value(arguments, said):
    answer = run(*arguments)
    assert answer.exit_code == 2
    assert said in words(answer)
