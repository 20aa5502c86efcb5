"""How rewards come back: late, many at a time, or never."""

import math
import re
from dataclasses import dataclass

import numpy as np

from soids.arrays import Floats, Ints, as_count, as_number


@dataclass(frozen=True)
class Feedback:
    """Delay, batches and loss of rewards.

    ``delay`` is how many further rounds are played before a reward is known: "fixed(5)",
    "uniform(0, 10)", or "geometric(20)", whose mean is 20. Rewards are handed over when the number
    of rounds played is a multiple of ``batch``. A share ``loss`` of them never is, and neither are
    those that are pending at the end.

    >>> Feedback(delay="fixed(1)", batch=2).handed_over(6, np.random.default_rng(0)).tolist()
    [2, 4, 4, 6, 6, 8]
    """

    delay: str = "fixed(0)"
    batch: int = 1
    loss: float = 0.0

    def __post_init__(self) -> None:
        read_delay(self.delay)
        as_count(self.batch, "batch")
        if not 0.0 <= as_number(self.loss, "loss") < 1.0:
            raise ValueError(f"loss must lie in [0, 1), got {self.loss:g}")

    def handed_over(self, horizon: int, rng: np.random.Generator) -> Ints:  # (T,)
        """After how many rounds the policy gets the reward of each; 0 is never.

        Two numbers a round decide, so that a longer horizon begins like a shorter one.
        """
        if self.batch > horizon:
            raise ValueError(
                f"batch must be at most the horizon ({horizon}), or no reward ever comes back, "
                f"got {self.batch}"
            )
        late, lost = rng.random((horizon, 2)).T
        known = np.arange(1, horizon + 1) + delays(self.delay, late)
        rounds = self.batch * np.ceil(known / self.batch)
        return np.where(lost < self.loss, 0.0, rounds).astype(np.int64)


def delays(delay: str, uniform: Floats) -> Floats:
    """Rounds of delay, by inversion of uniform numbers."""
    law, numbers = read_delay(delay)
    if law == "fixed":
        return np.full_like(uniform, numbers[0])
    if law == "uniform":
        low, high = numbers
        return np.floor(low + (high - low + 1.0) * uniform)
    if numbers[0] == 0.0:
        return np.zeros_like(uniform)
    stay = numbers[0] / (1.0 + numbers[0])  # the chance of one more round
    return np.floor(np.log1p(-uniform) / math.log(stay))


def read_delay(delay: object) -> tuple[str, list[float]]:
    """The law of a delay and its numbers."""
    remedy = f'delay must be as "fixed(5)", "uniform(0, 10)" or "geometric(20)", got {delay!r}'
    found = re.fullmatch(r"\s*(fixed|uniform|geometric)\s*\(([\d\s.,]+)\)\s*", str(delay))
    if found is None:
        raise ValueError(remedy)
    law = found[1]
    try:
        numbers = [float(number) for number in found[2].split(",")]
    except ValueError:
        raise ValueError(remedy) from None
    is_whole = law == "geometric" or all(number.is_integer() for number in numbers)
    if len(numbers) != (2 if law == "uniform" else 1) or not is_whole or max(numbers) > 1e9:
        raise ValueError(remedy)
    if numbers[0] > numbers[-1]:
        raise ValueError(f"delay must have its smaller number first, got {delay!r}")
    return law, numbers


PROMPT = Feedback()  # every reward at once
