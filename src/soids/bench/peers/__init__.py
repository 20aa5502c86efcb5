"""Learners of other libraries as policies, each optional, and the yardstick of speed.

An experiment names them ``soids.bench.peers.from_coba:LinUCB``. A module is called ``from_...``
because it may not be called like the library that it imports. Nothing is checked or kept for them,
so that their time is their own.
"""

from collections.abc import Sequence

from soids.arrays import Floats
from soids.evidence import Menu
from soids.policies.policy import SILENT, Decision


def absent(library: str) -> ImportError:
    """What to raise when a peer's library is not there."""
    return ImportError(f"{library} is not installed: make peers has an environment with all peers")


def decided(actions: Floats, index: int, probability: float) -> Decision:
    """A peer's choice, as it comes back with its reward."""
    return Decision(int(index), float(probability), 0, SILENT, Menu(actions))


def settled(
    decision: Decision | Sequence[Decision], reward: float | Sequence[float]
) -> list[tuple[Decision, float]]:
    """Decisions beside their rewards, one or many."""
    if isinstance(decision, Decision):
        return [(decision, reward)]  # type: ignore[list-item]
    return list(zip(decision, reward, strict=True))  # type: ignore[arg-type]
