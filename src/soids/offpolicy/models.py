"""A reward model for off-policy evaluation: ridge regression, cross-fitted.

Round i is in fold i mod 5, and its reward is predicted from the other folds, so that the doubly
robust estimate stays unbiased. Only sums over the rounds are kept.
"""

from collections.abc import Iterable

import numpy as np

from soids.arrays import Floats
from soids.logs import Entry

FOLDS = 5
BLOCK = 64  # rounds of a fold whose outer products are added at once, which is faster
WIDEST = 2000  # features: five grams take 160 MB
PENALTY = 1.0  # on deviations from the mean: the weight of one round


class RewardModel:
    """A linear model for each fold, fitted to all other folds, which shrinks to the mean reward."""

    def __init__(self, dimension: int) -> None:
        self.grams = np.zeros((FOLDS, dimension + 1, dimension + 1))  # of features, and a one
        self.moments = np.zeros((FOLDS, dimension + 1))
        self.thetas = np.zeros((FOLDS, dimension + 1))
        self.rows = np.ones((FOLDS, BLOCK, dimension + 1))  # rounds that are not in the sums yet
        self.rewards = np.zeros((FOLDS, BLOCK))
        self.fresh = [0] * FOLDS  # number of these rounds

    def note(self, place: int, action: Floats, reward: float) -> None:
        """Add a round."""
        fold = place % FOLDS
        self.rows[fold, self.fresh[fold], :-1] = action
        self.rewards[fold, self.fresh[fold]] = reward
        self.fresh[fold] += 1
        if self.fresh[fold] == BLOCK:
            self._gather(fold)

    def _gather(self, fold: int) -> None:
        """Add the latest rounds of a fold to its sums."""
        rows = self.rows[fold, : self.fresh[fold]]
        self.grams[fold] += rows.T @ rows
        self.moments[fold] += self.rewards[fold, : self.fresh[fold]] @ rows
        self.fresh[fold] = 0

    def fit(self) -> "RewardModel":
        """Solve for the parameters after the last round."""
        for fold in range(FOLDS):
            self._gather(fold)
        gram, moment = self.grams.sum(axis=0), self.moments.sum(axis=0)
        penalty = np.full(len(moment), PENALTY)
        penalty[-1] = 1e-9  # the mean itself is free
        for fold in range(FOLDS):
            rest = gram - self.grams[fold]
            rest.flat[:: len(moment) + 1] += penalty
            self.thetas[fold] = np.linalg.solve(rest, moment - self.moments[fold])
        return self

    def predict(self, place: int, actions: Floats) -> Floats:  # (K,)
        """The rewards by the model of the other folds."""
        theta = self.thetas[place % FOLDS]
        rewards: Floats = actions @ theta[:-1] + theta[-1]
        return rewards


def fit_model(rounds: Iterable[tuple[Entry, float]]) -> RewardModel | str:
    """A model of the rewards in some rounds, or the reason why there is none."""
    model: RewardModel | None = None
    dimension, numbered = 0, False
    for place, (entry, reward) in enumerate(rounds):
        if entry.actions is None:
            return "the log does not say what was on offer"
        counted = isinstance(entry.actions, int)
        width = entry.actions if isinstance(entry.actions, int) else entry.actions.shape[1]
        if model is None:
            dimension, numbered = width, counted
            if dimension > WIDEST:
                return f"{dimension} features are more than {WIDEST}"
            model = RewardModel(dimension)
        if counted != numbered:
            return "some rounds have features, and others only the number of actions"
        if width != dimension:
            return "the number of actions changes, and they have no features"
        model.note(place, entry.features[entry.chosen], reward)
    return "there is no round" if model is None else model.fit()
