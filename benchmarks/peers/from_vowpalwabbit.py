"""Explorers of Vowpal Wabbit: a linear model of costs, fitted by its online gradient descent.

The explorers expect costs that differ by at most 1. Mean rewards are at most ``reward_bound`` in
absolute value, so the cost is ``-reward / (2 * reward_bound)``. The defaults are Vowpal Wabbit's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import absent, decided, settled
from soids.arrays import Floats, as_number
from soids.policies.decision import Decision

try:
    from vowpalwabbit import Example, LabelType, Workspace
except ImportError:
    raise absent("vowpalwabbit") from None

ALWAYS = "--cb_explore_adf --noconstant --quiet"


class Explorer:
    """The explorer that options of Vowpal Wabbit's command line name, such as ``--bag 5``."""

    def __init__(self, dimension: int, *, reward_bound: float, options: str) -> None:
        if "--elim" in options.split():
            raise ValueError(
                f"options must be without --elim, which has negative probabilities, got {options!r}"
            )
        self.scale = 0.5 / as_number(reward_bound, "reward_bound", 0.0)
        self.options = options
        self.workspace: Any = None  # made in the first round: it needs a seed

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        if self.workspace is None:
            seed = int(rng.integers(2**31))
            self.workspace = Workspace(f"{ALWAYS} {self.options} --random_seed {seed}")
        examples = self._examples(actions)
        probabilities = np.array(self.workspace.predict(examples))
        self.workspace.finish_example(examples)
        probabilities /= probabilities.sum()  # they come in single precision
        index = int(rng.choice(len(probabilities), p=probabilities))
        return decided(actions, index, probabilities[index])

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        for one, value in settled(decision, reward):
            examples = self._examples(one.menu.actions)
            # The number before the first colon is ignored: the place in the list names the action.
            examples[one.index].set_label_string(f"0:{-value * self.scale}:{one.probability}")
            self.workspace.learn(examples)
            self.workspace.finish_example(examples)

    def _examples(self, actions: Floats) -> list[Example]:
        return [self._example(action) for action in actions]

    def _example(self, action: Floats) -> Example:
        example = Example(self.workspace, None, LabelType.CONTEXTUAL_BANDIT)
        example.push_features("a", list(enumerate(action.tolist())))
        example.setup_example()
        return example


class SquareCB(Explorer):
    """Inverse gap weighting (Foster & Rakhlin 2020): greedier with a larger ``gamma_scale``."""

    def __init__(
        self,
        dimension: int,
        *,
        reward_bound: float,
        gamma_scale: float = 10.0,
        learning_rate: float = 0.5,
    ) -> None:
        options = f"--squarecb --gamma_scale {gamma_scale} --learning_rate {learning_rate}"
        super().__init__(dimension, reward_bound=reward_bound, options=options)


class RegCB(Explorer):
    """Optimism over the costs that fit nearly as well as the best (Foster et al. 2018): fewer
    costs with a smaller ``mellowness``.
    """

    def __init__(
        self,
        dimension: int,
        *,
        reward_bound: float,
        mellowness: float = 0.1,
        learning_rate: float = 0.5,
    ) -> None:
        options = (
            f"--regcbopt --cb_min_cost -0.5 --cb_max_cost 0.5 "
            f"--mellowness {mellowness} --learning_rate {learning_rate}"
        )
        super().__init__(dimension, reward_bound=reward_bound, options=options)
