"""A trial watched: what a policy believed before each choice, and whether the lemmas hold of it.

Trials are deterministic, so nothing of this is stored: a trial is played again, and watched.

The bounds on the information ratios are those of Lemma IR_bound, whose proof asks for nothing but a
distribution over parameters: the cloud is one. So the 3-ratio is bounded with the l1 norm of the
cloud's longest parameter in place of 1, and the features of the densest action that is best for
some parameter of the cloud in place of s; Definition 1 says that these are no more than s.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from soids import rates, theory
from soids.arrays import Bools, Floats, Ints
from soids.bandits import Bandit, SparseLinearBandit
from soids.designs import exploratory_design
from soids.information import information_ratio
from soids.policies.appraisal import GAINS
from soids.policies.coverage import RICH
from soids.policies.linear import LinTS, OracleThompson
from soids.policies.policy import Decision, Policy
from soids.policies.posterior import Memory, PosteriorPolicy
from soids.policies.soids import FGTS, SOIDS, SparseIDS, Thompson
from soids.posteriors import Belief, Gaussian
from soids.posteriors.cloud import Cloud
from soids.posteriors.smc import ABRUPT, ALIVE, aimed
from soids.rates import Progress
from soids.simulation.feedback import PROMPT, Feedback
from soids.simulation.play import Trace, play, read_decision

INQUIRING = (SOIDS, SparseIDS)  # they minimise the 2-ratio, so both bounds of the lemma hold
OBEYING = (FGTS, Thompson, LinTS, OracleThompson)  # of these, the bound on the 2-ratio
SURE = 0.95  # inclusion from which a feature counts as found
ROUNDING = 1e-9  # relative, by which a ratio may exceed its bound


class Beliefs(NamedTuple):
    """What the belief behind each choice was like, (T,) each unless said."""

    effective: Floats  # effective size of the cloud
    surviving: Floats  # of the cloud before it, in the light of the new reward; NaN if it has none
    distinct: Ints  # parameters in the cloud
    supports: Ints  # sets of features in the cloud
    features: Floats  # how many matter, expected
    norm: Floats  # l1 norm of the parameter, expected
    noise: Floats
    error: Floats  # l1 distance of the mean to the truth
    cubed: Floats  # 3-ratio; the 2-ratio is in the trace
    square_bound: Floats  # on the 2-ratio; NaN if no lemma is about this policy
    cubic_bound: Floats  # on the 3-ratio; likewise
    densest: Ints  # features of the densest action that some parameter holds best
    regime: Sequence[str]  # the term of the learning rate that is in force; empty if it has none
    inclusion: Floats  # (T, d)


class Diagnosis(NamedTuple):
    """A trial, and what was seen of the policy's mind in it."""

    bandit: SparseLinearBandit
    trace: Trace
    paid: Floats  # (T,)  regret that the policy expected, or feared; NaN if it says nothing
    learned: Floats  # (T,)  nats that it expected
    beliefs: Beliefs | None  # None for a policy without a posterior
    particles: int  # in the cloud
    selects: bool  # whether the posterior tells features that matter from others

    @property
    def support(self) -> Ints:
        """The features that matter in truth."""
        return np.flatnonzero(self.bandit.theta)


class Findings(NamedTuple):
    """A diagnosis in a few numbers; None where the question makes no sense."""

    regret: float
    actions: int  # that were played at all
    thin: int | None = None  # rounds in which less than half of the cloud was effective
    resampled: int | None = None  # rounds
    tempered: int | None = None  # rounds in which less than a tenth of the cloud was left
    found: int | None = None  # first round in which all that matters is held to matter
    lost: int | None = None  # later rounds in which it is not
    intruders: int | None = None  # features wrongly held to matter in the end
    error: float | None = None  # l1 distance of the mean to the truth, in the end
    square_excess: int | None = None  # rounds in which the 2-ratio is above its bound
    cubic_excess: int | None = None
    regimes: dict[str, int] | None = None  # rounds in each


class Watched:
    """A policy that plays as it would, while notes are taken."""

    def __init__(self, policy: Policy, bandit: SparseLinearBandit) -> None:
        self.policy = policy
        self.theta = bandit.theta
        self.c_min, self.size = exploration(bandit.actions)
        self.expected: list[tuple[float, float]] = []
        self.seen: list[dict[str, Any]] = []

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """The policy's choice."""
        policy = self.policy
        if not isinstance(policy, PosteriorPolicy):
            decision = policy.choose(actions, rng)
        else:
            before, rounds = policy.memory, policy.ledger.evidence.rounds
            decision = policy.choose(actions, rng)
            progress = Progress(
                rounds, policy.dimension, self._sparsity(policy), before.ratios,
                before.root_ratios, decision.menu.actions, policy.action_bound,
            )  # fmt: skip
            noted = self._note(policy, before, decision)
            self.seen.append(noted | {"regime": regime(policy.rate, progress)})
        info = read_decision(decision, len(actions))[2]
        self.expected.append((info.regret, info.gain))
        return decision

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """The policy learns."""
        self.policy.observe(decision, reward)

    def _sparsity(self, policy: PosteriorPolicy) -> float:
        """The sparsity that the learning rate went by: as told, or as believed before."""
        told = getattr(policy.model, "sparsity", policy.sparsity)
        if told is not None:
            return float(told)
        return max(1.0, self.seen[-1]["features"]) if self.seen else 1.0

    def _note(self, policy: PosteriorPolicy, before: Memory, decision: Decision) -> dict[str, Any]:
        belief = policy.memory.belief
        assert belief is not None  # it has just chosen
        particles = belief.particles()
        thetas, weights, alive = particles.thetas, particles.weights, particles.weights > 0.0
        norms, noise = np.abs(thetas).sum(axis=1), belief.noise()
        inclusion = particles.inclusion()
        densest = most_features(belief.rewards_on(decision.menu)[alive], decision.menu.actions)
        reach = float(norms[alive].max()) * self.size / noise
        bounds = ratio_bounds(policy, max(1, densest), self.c_min, reach)
        paid, learned = decision.info.regret, decision.info.gain
        return {
            "effective": particles.effective_size(),
            "surviving": surviving(before.belief, belief),
            "distinct": different(thetas),
            "supports": different(particles.included),
            "features": float(inclusion.sum()),
            "norm": float(weights @ norms),
            "noise": noise,
            "error": float(np.abs(weights @ thetas - self.theta).sum()),
            "cubed": information_ratio(paid / noise, learned, 3.0),
            "square_bound": bounds[0],
            "cubic_bound": bounds[1],
            "densest": densest,
            "inclusion": inclusion,
        }


def diagnose(
    bandit: Bandit,
    policy: Policy,
    horizon: int,
    seed: int,
    on_round: Callable[[int, float], None] | None = None,
    *,
    feedback: Feedback = PROMPT,
) -> Diagnosis:
    """Play a trial as ``play`` does, to the last bit, and watch the policy's mind.

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
    paid, learned = np.array(watched.expected).T
    if not isinstance(policy, PosteriorPolicy):
        return Diagnosis(bandit, trace, paid, learned, None, 0, False)
    columns: dict[str, Any] = {
        name: np.array([noted[name] for noted in watched.seen]) for name in Beliefs._fields
    }
    selects = not isinstance(policy.model, Gaussian)
    return Diagnosis(bandit, trace, paid, learned, Beliefs(**columns), policy.particles, selects)


def find(seen: Diagnosis) -> Findings:
    """What a diagnosis comes to."""
    regret, actions = float(seen.trace.regret.sum()), len(np.unique(seen.trace.chosen))
    beliefs = seen.beliefs
    if beliefs is None:
        return Findings(regret, actions)
    share = beliefs.surviving / seen.particles
    weighted = not np.isnan(share).all()  # else nothing is ever reweighted
    held: Bools = np.all(beliefs.inclusion[:, seen.support] > SURE, axis=1)
    found = int(held.argmax()) if seen.selects and held.any() else None
    wrong = np.delete(beliefs.inclusion[-1], seen.support) > 0.5
    names, counts = np.unique(np.array(beliefs.regime), return_counts=True)
    return Findings(
        regret,
        actions,
        thin=int((beliefs.effective < 0.5 * seen.particles).sum()),
        resampled=int((share < ALIVE).sum()) if weighted else None,
        tempered=int((share < ABRUPT).sum()) if weighted else None,
        found=None if found is None else found + 1,
        lost=None if found is None else int((~held[found:]).sum()),
        intruders=int(wrong.sum()) if seen.selects else None,
        error=float(beliefs.error[-1]),
        square_excess=excess(seen.trace.ratio, beliefs.square_bound),
        cubic_excess=excess(beliefs.cubed, beliefs.cubic_bound),
        regimes={str(name): int(count) for name, count in zip(names, counts, strict=True) if name},
    )


def excess(ratio: Floats, bound: Floats) -> int | None:
    """In how many rounds a ratio is above its bound; None if it has none."""
    if np.isnan(bound).all():
        return None
    return int((ratio > bound * (1.0 + ROUNDING)).sum())


def different(rows: Floats | Bools) -> int:
    """How many different rows there are."""
    return len({row.tobytes() for row in rows})


def surviving(before: Belief | None, after: Belief) -> float:
    """The effective size that the sampler saw when it turned to the new target, by which it decides
    whether to resample (under a half) and, as a rule, to go by several steps (under a tenth).
    """
    if not isinstance(before, Cloud) or not isinstance(after, Cloud):
        return math.nan
    turned = before if before is after else aimed(before, after.target)
    return turned.alive() * len(after.thetas)


def most_features(rewards: Floats, actions: Floats) -> int:
    """The most non-zero features of an action that is best for some row of the rewards (M, K)."""
    features = np.count_nonzero(actions, axis=1)
    if (features == features[0]).all():
        return int(features[0])
    order = np.argsort(features, kind="stable")  # ties go to the sparsest, as the lemma asks
    return int(features[order[rewards[:, order].argmax(axis=1)]].max())


def exploration(actions: Floats) -> tuple[float, float]:
    """C_min of the actions over the size of their largest entry, and that size."""
    size = float(np.abs(actions).max())
    if size == 0.0:
        return 0.0, 0.0
    c_min = exploratory_design(actions / size).value
    rounding = 1e-14 * actions.shape[1]
    return (min(1.0, c_min) if c_min > rounding else 0.0), size


def ratio_bounds(
    policy: PosteriorPolicy, sparsity: int, c_min: float, reach: float
) -> tuple[float, float]:
    """What the 2- and 3-ratio are at most if no reward exceeds ``reach``, in units of the noise.

    The 2-ratio has no unit; the 3-ratio has that of the rewards. Nothing is known of gains that
    heed the noise: they may be smaller than the lemmas allow.
    """
    if not isinstance(policy, INQUIRING + OBEYING) or GAINS[policy.gain].noisy:
        return math.nan, math.nan
    square = theory.square_ratio(policy.dimension)
    if not isinstance(policy, INQUIRING):
        return square, math.nan
    return square, theory.cubic_ratio(sparsity, c_min) * reach if c_min > 0.0 else math.inf


# Regimes


def regime(rate: object, progress: Progress) -> str:
    """The term of a named learning rate that is in force; empty for rates without such terms."""
    if rate in RICH:
        return "data-rich"
    if not isinstance(rate, str) or rate not in rates.TERMS:
        return ""
    rich, poor = rates.TERMS[rate](progress)
    if max(rich, poor, rates.RATES[rate](progress)) >= rates.CAP:
        return "cap"
    return "data-poor" if poor > rich else "data-rich"
