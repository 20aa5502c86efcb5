"""A reward model for off-policy evaluation: ridge regression, cross-fitted.

Round i is in fold i mod 5, and its reward is predicted from the other folds, so that the doubly
robust estimate stays unbiased. Only sums over the rounds are kept.
"""

from collections.abc import Iterable

import numpy as np

from soids.arrays import Floats
from soids.logs import Entry

FOLDS = 5
BLOCK = 64  # rounds of a fold that are added at once, which is faster
WIDEST = 2000  # features: five grams take 160 MB
PENALTY = 1.0  # on deviations from the mean: the weight of one round


class RewardModel:
    """A linear model for each fold, fitted to all other folds, which shrinks to the mean reward."""

    def __init__(self, dimension: int) -> None:
        self.grams = np.zeros((FOLDS, dimension + 1, dimension + 1))  # of features, and a one
        self.moments = np.zeros((FOLDS, dimension + 1))
        self.thetas = np.zeros((FOLDS, dimension + 1))

    def add(self, rows: list[Floats], rewards: list[float]) -> None:
        """Add rounds to the sums; there is a multiple of five before them."""
        features = np.ones((len(rows), self.thetas.shape[1]))
        features[:, :-1] = rows
        for fold in range(FOLDS):
            part = features[fold::FOLDS].copy()
            self.grams[fold] += part.T @ part
            self.moments[fold] += np.array(rewards[fold::FOLDS]) @ part

    def fit(self) -> "RewardModel":
        """Solve for the parameters after the last round."""
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
    rows, rewards = list[Floats](), list[float]()
    for entry, reward in rounds:
        actions = entry.actions
        if actions is None:
            return "the log does not say what was on offer"
        kind = (False, actions) if isinstance(actions, int) else (True, actions.shape[1])
        if model is None:
            has_features, dimension = kind
            if dimension > WIDEST:
                return f"{dimension} features are more than {WIDEST}"
            model = RewardModel(dimension)
        if kind[0] != has_features:
            return "some rounds have features, and others only the number of actions"
        if kind[1] != dimension:
            return "the number of actions changes, and they have no features"
        rows.append(entry.features[entry.chosen])
        rewards.append(reward)
        if len(rows) == FOLDS * BLOCK:
            model.add(rows, rewards)
            rows, rewards = [], []
    if model is not None and rows:
        model.add(rows, rewards)
    return "there is no round" if model is None else model.fit()
