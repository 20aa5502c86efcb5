"""A trial watched: what a policy believed before each choice.

Trials are deterministic, so nothing of this is stored: a trial is played again, and watched.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Bools, Floats, Ints
from soids.bandits import Bandit, SparseLinearBandit
from soids.information import half_variance, information_ratio
from soids.policies.decision import Decision
from soids.policies.policy import Policy, State
from soids.policies.posterior_rule import Mind, PosteriorRule, formed
from soids.posteriors import Belief
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.smc import aimed
from soids.rates import Progress
from soids.simulation.feedback import PROMPT, Feedback
from soids.simulation.play import Chooser, Trace, play, read_decision
from soids.simulation.provenance import fingerprint
from soids.simulation.ratios import exploration, most_features, ratio_bounds, regime
from soids.simulation.store import Outcome
from soids.simulation.trial import Trial
from soids.simulation.worker import undisturbed

TIE = 1e-12  # relative difference of posterior mean rewards up to which actions are equally good


class Beliefs(NamedTuple):
    """What the belief behind each choice was like, (T,) each unless said.

    Both gains are of the distribution over actions that was played, in units of the noise: half the
    mean square of what rewards differ from their posterior mean (equation SIG of the paper), and
    from the true mean (equation TIG).
    """

    surrogate_gain: Floats
    true_gain: Floats
    exploring: Bools  # whether another action than one of the highest posterior mean was played
    effective: Floats  # effective size of the particles
    surviving: Floats  # of the particles before, given the new reward; NaN if not reweighted
    distinct: Ints  # different parameters among the particles
    supports: Ints  # different sets of features among the particles
    features: Floats  # posterior mean of the number of features that matter
    norm: Floats  # posterior mean of the l1 norm of the parameter
    noise: Floats
    error: Floats  # l1 distance of the posterior mean to the true parameter
    cubed: Floats  # 3-ratio; the 2-ratio is in the trace
    square_bound: Floats  # on the 2-ratio; NaN if no lemma is about this policy
    cubic_bound: Floats  # on the 3-ratio; likewise
    densest: Ints  # features of the densest action that is best for some particle
    regime: Sequence[str]  # the term of the learning rate that is in force; empty if it has none
    inclusion: Floats  # (T, d)

    def others(self, support: Ints) -> Ints:
        """The features outside of a support, those with the largest inclusion first."""
        order = np.argsort(-self.inclusion.mean(axis=0), kind="stable")
        return order[~np.isin(order, support)]


class Diagnosis(NamedTuple):
    """A trial, and what was seen of the policy's beliefs in it."""

    bandit: SparseLinearBandit
    feedback: Feedback
    trace: Trace
    surrogate_regret: Floats  # (T,)  expected by the policy, or at most; NaN if it says nothing
    information_gain: Floats  # (T,)  nats, as the policy counts them
    rule: PosteriorRule | None = None  # of a policy with a posterior
    beliefs: Beliefs | None = None
    particles: int = 0
    selects: bool = False  # whether the posterior gives features a probability to matter

    @property
    def support(self) -> Ints:
        """The features whose true coefficient is not zero."""
        return np.flatnonzero(self.bandit.theta)

    @property
    def columns(self) -> dict[str, Any]:  # (T,) each, but (T, d) of inclusion
        """Every series by its name."""
        own = {name: getattr(self, name) for name in ("surrogate_regret", "information_gain")}
        return self.trace._asdict() | own | (self.beliefs._asdict() if self.beliefs else {})


class Agreement(NamedTuple):
    """Whether a stored trial came out again."""

    reproduced: bool  # to the last bit
    choices_differ_from: int | None  # first round in which another action was chosen
    same_code: bool


class Watched:
    """A policy that plays as it would, while notes are taken."""

    def __init__(self, policy: Chooser, bandit: SparseLinearBandit) -> None:
        self.policy, self.bandit = policy, bandit
        self.c_min, self.size = exploration(bandit.actions)
        self.expected: list[tuple[float, float]] = []
        self.seen: list[dict[str, Any]] = []

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """The policy's choice."""
        policy = self.policy
        before = policy.state if isinstance(policy, Policy) else None
        decision: Decision = policy.choose(actions, rng)
        if isinstance(policy, Policy) and isinstance(policy.rule, PosteriorRule):
            assert before is not None  # the state of a policy of ours
            self.seen.append(self._note(policy.rule, before, policy.state.mind, decision))
        info = read_decision(decision, len(actions))[2]
        self.expected.append((info.regret, info.gain))
        return decision

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """The policy learns."""
        self.policy.observe(decision, reward)

    def _note(
        self, rule: PosteriorRule, before: State, mind: Mind, decision: Decision
    ) -> dict[str, Any]:
        mixture, old, belief = decision.mixture, before.mind, formed(mind)
        progress = Progress(
            before.past.evidence.rounds, rule.dimension, rule.known_sparsity(old.belief),
            old.ratios, old.root_ratios, decision.menu.actions, rule.action_bound,
        )  # fmt: skip
        particles = belief.particles()
        thetas, weights, alive = particles.thetas, particles.weights, particles.weights > 0.0
        norms, noise = np.abs(thetas).sum(axis=1), belief.noise()
        inclusion, rewards = particles.inclusion(), belief.rewards_on(decision.menu)
        if (believed := mind.believed) is not None and believed.centred:  # the level is no error
            rewards = rewards - ((thetas - self.bandit.theta) @ believed.centre)[:, None]
        densest = most_features(rewards[alive], decision.menu.actions)
        reach = float(norms[alive].max()) * self.size / noise
        bounds = ratio_bounds(rule, max(1, densest), self.c_min, reach)
        means, true = weights @ rewards, 0.5 * (weights @ (rewards - self.bandit.means) ** 2)
        return {
            "surrogate_gain": mixture.mean(half_variance(rewards, weights)) / noise**2,
            "true_gain": mixture.mean(true) / noise**2,
            "exploring": means[decision.index] < means.max() - TIE * np.abs(means).max(),
            "effective": particles.effective_size(),
            "surviving": surviving(old.belief, belief),
            "distinct": len({theta.tobytes() for theta in thetas}),
            "supports": len({row.tobytes() for row in particles.included}),
            "features": float(inclusion.sum()),
            "norm": float(weights @ norms),
            "noise": noise,
            "error": float(np.abs(weights @ thetas - self.bandit.theta).sum()),
            "cubed": information_ratio(decision.info.regret / noise, decision.info.gain, 3.0),
            "square_bound": bounds[0],
            "cubic_bound": bounds[1],
            "densest": densest,
            "inclusion": inclusion,
            "regime": regime(rule.rate, progress),
        }


def diagnose(
    bandit: Bandit, policy: Chooser, horizon: int, seed: int,
    on_round: Callable[[int, float], None] | None = None, *, feedback: Feedback = PROMPT,
) -> Diagnosis:  # fmt: skip
    """Play a trial as ``play`` does, to the last bit, and watch the policy's beliefs.

    >>> from soids import SOIDS, paper_instance
    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> seen = diagnose(bandit, SOIDS(dimension=20, sparsity=2, radius=10.0), horizon=30, seed=0)
    >>> seen.beliefs.inclusion.shape
    (30, 20)
    """
    if not isinstance(bandit, SparseLinearBandit):
        raise ValueError(
            f"bandit must offer the same actions in every round to be watched, got {bandit!r}"
        )
    watched = Watched(policy, bandit)
    trace = play(bandit, watched, horizon, seed, on_round, feedback=feedback)
    regret, gain = np.array(watched.expected).T
    seen = Diagnosis(bandit, feedback, trace, regret, gain)
    if not isinstance(policy, Policy) or not isinstance(policy.rule, PosteriorRule):
        return seen
    rule, columns = policy.rule, dict[str, Any]()
    for name in Beliefs._fields:
        columns[name] = np.array([noted[name] for noted in watched.seen])
    selects = getattr(rule.model, "selects_features", True)
    return seen._replace(
        rule=rule, beliefs=Beliefs(**columns), particles=rule.particles, selects=selects
    )


def replayed(trial: Trial, on_round: Callable[[int, float], None] | None = None) -> Diagnosis:
    """Play a trial again as a worker does, and watch the policy's beliefs."""
    problem = trial.problem
    with undisturbed():
        bandit = problem.make(trial.seed)
        policy = trial.player.make(bandit, problem.horizon)
        feedback = Feedback(**problem.feedback)
        return diagnose(bandit, policy, problem.horizon, trial.seed, on_round, feedback=feedback)


def agreement(trial: Trial, outcome: Outcome, trace: Trace) -> Agreement:
    """Compare the stored outcome of a trial with what came out when it was played again."""
    stored = outcome.trace
    same = all(np.array_equal(*pair, equal_nan=True) for pair in zip(stored, trace, strict=True))
    length = min(len(stored.chosen), len(trace.chosen))
    apart = stored.chosen[:length] != trace.chosen[:length]
    first = int(apart.argmax()) + 1 if apart.any() else None
    return Agreement(same, first, outcome.code == fingerprint(trial.player.policy))


def surviving(before: Belief | None, after: Belief) -> float:
    """The effective size at the new target, before the sampler resamples; NaN without weights."""
    if not isinstance(before, ParticleSystem) or not isinstance(after, ParticleSystem):
        return math.nan
    turned = before if before is after else aimed(before, after.target)
    return turned.alive() * len(after.thetas)
