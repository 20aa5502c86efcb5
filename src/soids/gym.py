"""Bandits as Gymnasium environments, by family: ``soids/Paper-v0``, ``soids/Hypercube-v0``, ...

An observation is the action set of the round, the features of all actions. An episode is a trial:
its seed determines the same random numbers as in ``soids.play``.
"""

from typing import Any

import numpy as np

from soids.arrays import LARGEST, Floats, as_count
from soids.bandits import FAMILIES, Bandit, Offer, SparseLinearBandit
from soids.bandits.bandit import check_world
from soids.simulation.reading import check_settings
from soids.simulation.trial import Problem, family_called

try:
    import gymnasium
except ImportError as error:
    raise ImportError('soids.gym needs Gymnasium: pip install "soids[gym]"') from error


Info = dict[str, Any]


class BanditEnv(gymnasium.Env[Floats, np.int64]):
    """A bandit whose episodes have ``horizon`` rounds.

    ``reset(seed=...)`` sets the seed of an episode. Without it the first episode has the seed of
    the environment, and later ones have new random seeds. ``info["regret"]`` is the regret.

    >>> from soids import paper_instance
    >>> env = BanditEnv(paper_instance(dimension=20, seed=0), horizon=3)
    >>> actions, _ = env.reset(seed=0)
    >>> actions.shape, env.action_space
    ((200, 20), Discrete(200))
    >>> _, reward, terminated, truncated, info = env.step(7)
    >>> terminated, truncated, sorted(info)
    (False, False, ['regret'])
    """

    def __init__(self, bandit: Bandit, *, horizon: int = 1000, seed: int = 0) -> None:
        check_world(bandit)
        self.bandit = bandit
        self.horizon, self.seed = as_count(horizon, "horizon"), as_count(seed, "seed", 0)
        self.round = self.horizon  # an episode begins with a reset
        self.episodes = 0
        first = next(bandit.rounds(self.horizon, np.random.default_rng(0)))  # all have one shape
        fixed = isinstance(bandit, SparseLinearBandit)
        size = float(np.abs(first.actions).max()) or 1.0 if fixed else LARGEST
        self.action_space = gymnasium.spaces.Discrete(len(first.actions))
        self.observation_space = gymnasium.spaces.Box(-size, size, first.actions.shape, np.float64)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Floats, Info]:
        if seed is None and self.episodes == 0:
            seed = self.seed
        super().reset(seed=seed)
        seed = int(self.np_random.integers(2**32)) if seed is None else seed
        environment = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])
        self.offers = self.bandit.rounds(self.horizon, environment)
        self.offer: Offer = next(self.offers)
        self.episodes += 1
        self.round = 0
        return self.offer.actions.copy(), {}

    def step(self, action: np.int64 | int) -> tuple[Floats, float, bool, bool, Info]:
        """Play the action of a row; the last round truncates the episode."""
        if self.round == self.horizon:
            raise ValueError(f"an episode has {self.horizon} rounds: reset to begin another")
        index = as_count(action, "action", 0, len(self.offer.means) - 1)
        reward, info = self.offer.reward(index), {"regret": self.offer.regret(index)}
        self.round += 1
        self.offer = next(self.offers, self.offer)  # the last round's actions are shown again
        return self.offer.actions.copy(), reward, False, self.round == self.horizon, info


def make(family: str, *, seed: int = 0, horizon: int = 1000, **settings: Any) -> BanditEnv:
    """A bandit of a family; the seed is that of the instance and of the first episode."""
    try:
        check_settings(family_called(family), settings, passed=("seed", "horizon"))
    except ValueError as error:
        raise ValueError(f"{family}: {error}: give settings to gymnasium.make by keyword") from None
    bandit = Problem(family, settings, horizon).make(seed)
    return BanditEnv(bandit, horizon=horizon, seed=seed)


for family in FAMILIES:
    gymnasium.register(
        f"soids/{family.title().replace('_', '')}-v0",
        entry_point="soids.gym:make",
        kwargs={"family": family},
    )
