"""A member of every kind, made outside of the package: a function or a class, and its line in the
dictionary. Policies have `policies/test_toy_policy.py`.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import click
import numpy as np
import pytest
from click.testing import CliRunner

from soids import SOIDS, SparseLinearBandit, load, play, save
from soids.bandits import FAMILIES
from soids.cli import main
from soids.particles import Particles
from soids.posteriors import POSTERIORS
from soids.posteriors.posterior import Posterior, SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import IndependentLaw
from soids.posteriors.subset import InBall
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import ValueLaw
from soids.rates import RATES
from soids.simulation.experiment import parse_experiment
from soids.simulation.trial import Trial
from soids.simulation.worker import Post, perform

BANDIT = SparseLinearBandit(
    np.random.default_rng(0).uniform(-1, 1, (8, 3)), [0.0, 2.0, 0.0], noise=0.3
)


def learns(policy):
    regret = play(BANDIT, policy, 60, seed=0).regret
    return regret[30:].mean() < 0.3 * BANDIT.gaps.mean()


def played(table):
    """The bandit and the trace of each trial of an experiment, made as workers make them."""
    trials = parse_experiment({"horizon": 20, "seeds": 2, **table}, "toys").trials()
    return [
        (trial.problem.make(trial.seed), perform(Trial.of(trial.recipe), Post(), 0).trace)
        for trial in trials
    ]


class Draws(NamedTuple):
    """Draws from a ridge regression."""

    thetas: np.ndarray

    def particles(self):
        size = len(self.thetas)
        return Particles(self.thetas, self.thetas != 0.0, np.full(size, 1.0 / size))

    def rewards_on(self, menu):
        return self.thetas @ menu.columns

    def noise(self):
        return 0.3


@dataclass(frozen=True)
class Ridge(Posterior):
    """No optimism, and noise of 0.3."""

    ridge: float = 1.0

    def update(self, belief, evidence, tuning, rng):
        precision = evidence.gram / 0.09 + self.ridge * np.eye(self.dimension)
        mean = np.linalg.solve(precision, evidence.moment / 0.09)
        normals = rng.standard_normal((tuning.particles, self.dimension))
        return Draws(mean + np.linalg.solve(np.linalg.cholesky(precision).T, normals.T).T)


def test_a_posterior_has_one_method(monkeypatch):
    monkeypatch.setitem(POSTERIORS, "ridge", Ridge)
    assert learns(SOIDS(3, posterior="ridge(ridge = 0.5)"))
    policies = {"Toy": {"policy": "thompson", "posterior": "ridge"}}
    runs = played({"bandit": {"family": "paper", "dimension": 10}, "policies": policies})
    assert len(runs) == 2


@dataclass(frozen=True)
class Steep(InBall):
    """Each feature more is ten times rarer."""

    def _ratios(self, sizes):
        return np.full(len(sizes), 0.1)


def test_a_prior_over_the_number_of_features_has_one_method(monkeypatch, tmp_path):
    monkeypatch.setitem(POSTERIORS, "steep", Steep)
    policy = SOIDS(3, posterior="steep", particles=30)
    assert learns(policy)
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    laws = []
    for one in (policy, again):
        one.refresh(np.random.default_rng(1))
        laws.append(one.law(BANDIT.actions))
    np.testing.assert_array_equal(*laws)


class StandardNormal(ValueLaw):
    """Independent N(0, 1) values, of which the moves know the precision."""

    @property
    def log_scale(self):
        return -0.5 * math.log(2.0 * math.pi)

    def log_terms(self, thetas, included, radius):
        yield -0.5 * (thetas**2).sum(axis=1)

    def draw(self, sizes, radii, dimension, rng):
        ranks = rng.random((len(sizes), dimension)).argsort(axis=1).argsort(axis=1)
        included = ranks < sizes[:, None]
        return included * rng.standard_normal(included.shape), included


@dataclass(frozen=True)
class Standard(SparsePosterior):
    """Any number of features with standard normal values, and noise of 0.3."""

    def prior(self, evidence):
        sizes = IndependentLaw(self.dimension, self.dimension, self.sparsity)
        values, anywhere = StandardNormal(slab_precision=1.0), Span(math.inf, math.inf)
        return Prior.of(sizes, values, anywhere, Noise(math.inf, 0.09))


def test_a_law_of_values_has_two_methods_and_the_numbers_of_the_moves(monkeypatch):
    """test_prior_laws.py compares the posterior of such a law with its enumeration."""
    monkeypatch.setitem(POSTERIORS, "standard", Standard)
    assert learns(SOIDS(3, posterior="standard", particles=30))
    policies = {"Toy": {"policy": "soids", "posterior": "standard", "particles": 30}}
    assert len(played({"bandit": {"family": "paper", "dimension": 10}, "policies": policies})) == 2


def one_feature(dimension, seed, *, size=2.0):
    """The first feature is worth ``size``."""
    actions = np.random.default_rng(seed).uniform(-1, 1, (6, dimension))
    return SparseLinearBandit(actions, [size] + [0.0] * (dimension - 1), noise=0.3)


def test_a_family_of_bandits_is_a_function(monkeypatch):
    monkeypatch.setitem(FAMILIES, "one_feature", one_feature)
    runs = played({
        "bandit": {"family": "one_feature", "dimension": [3, 4], "size": 3.0},
        "policies": {"Uniform": {"policy": "uniform"}},
    })  # fmt: skip
    assert sorted(bandit.theta.size for bandit, _ in runs) == [3, 3, 4, 4]
    for bandit, trace in runs:
        assert bandit.theta[0] == 3.0
        np.testing.assert_array_equal(trace.regret, bandit.gaps[trace.chosen])


def test_a_command_is_one_click_command(monkeypatch):
    @click.command()
    @click.argument("name")
    def greet(name):
        """Say hello."""
        click.echo(f"Hello {name}")

    monkeypatch.setitem(main.commands, "greet", greet)
    assert CliRunner().invoke(main, ["greet", "you"]).output == "Hello you\n"
    assert "Say hello." in CliRunner().invoke(main, ["--help"]).output


def test_a_rate_is_a_function_of_progress(monkeypatch):
    monkeypatch.setitem(RATES, "fading", lambda progress: 0.5 / (1.0 + progress.rounds))
    policy = SOIDS(3, rate="fading", particles=30)
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(3):
        decision = policy.choose(BANDIT.actions, rng)
        rates.append(decision.info.rate)
        policy.observe(decision, 1.0)
    assert rates == pytest.approx([0.5, 0.25, 0.5 / 3])
