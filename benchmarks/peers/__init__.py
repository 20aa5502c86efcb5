"""Learners of other libraries as policies, and LinUCB in plain NumPy as the yardstick of speed.

An experiment names them ``benchmarks.peers.from_coba:LinUCB``. A module is called ``from_...``
because it may not have the name of the library that it imports. The policies check nothing and keep
nothing, so that the measured time is that of the library.
"""

import math
from collections.abc import Sequence
from importlib.util import find_spec

from soids.arrays import Floats
from soids.evidence import Menu
from soids.information import TwoPoint
from soids.policies.decision import SILENT, Decision, Offered

REMEDY = "`make peers` installs it into an environment of its own"


def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return find_spec(package) is not None


def absent(library: str) -> ImportError:
    """The error to raise if the library of a peer is not installed."""
    return ImportError(f"{library} is not installed: {REMEDY}")


def decided(actions: Floats, index: int, probability: float) -> Decision:
    """A peer's choice, as `observe` will get it back with its reward.

    Of its law only the probability of the choice is known; `Decision.probabilities` is not its law.
    """
    index = int(index)
    law = TwoPoint(index, index, 0.0, math.nan)
    return Decision(index, float(probability), 0, SILENT, Offered(Menu(actions)), law)


def settled(
    decision: Decision | Sequence[Decision], reward: float | Sequence[float]
) -> list[tuple[Decision, float]]:
    """Pairs of decisions and rewards, given one pair or two lists."""
    if isinstance(decision, Decision):
        return [(decision, reward)]  # type: ignore[list-item]
    return list(zip(decision, reward, strict=True))  # type: ignore[arg-type]
