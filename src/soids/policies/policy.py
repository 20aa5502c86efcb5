"""The two verbs of a policy, and the record that travels between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from soids.arrays import Floats
from soids.evidence import Menu


class Information(NamedTuple):
    """What a choice was expected to cost and to teach, under the policy's own belief.

    Policies with a confidence set say what it may cost at most; those without belief say NaN.
    Regret is in units of reward, gain in nats, the ratio in units of the noise.
    """

    regret: float
    gain: float
    ratio: float
    rate: float  # learning rate of the optimistic posterior
    effective: float = math.nan  # with a budget: different, equally weighted particles it rests on
    behind: float = 0.0  # with a budget: sweeps that these are owed


SILENT = Information(math.nan, math.nan, math.nan, 0.0)  # of a policy that forms no belief


@dataclass(frozen=True, eq=False)
class Decision:
    """One choice, with all that is needed to learn from its reward, whenever that comes."""

    index: int
    probability: float  # of this index, under the distribution it was drawn from
    round: int  # the policy's own count of its choices, from 1
    info: Information
    menu: Menu = field(repr=False)

    @property
    def action(self) -> Floats:  # (d,)
        """The action itself."""
        chosen: Floats = self.menu.actions[self.index]
        return chosen


class Policy(Protocol):
    """Whoever can choose and learn.

    Others may choose a bare index; they are told of rewards with what they chose.
    """

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision: ...

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None: ...
