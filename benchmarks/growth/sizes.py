"""The sizes at which a decision is measured: four axes, along each of which one number grows."""

from typing import NamedTuple


class Size(NamedTuple):
    """All sizes that the time of a decision can depend on."""

    dimension: int = 100
    actions: int = 200
    particles: int = 100
    rewards: int = 0  # observed before the first decision


class Axis(NamedTuple):
    """One number that grows while the others are fixed."""

    symbol: str
    what: str  # a field of Size
    values: tuple[int, ...]
    quick: tuple[int, ...]
    beyond: int  # the power law is fitted to larger values
    base: Size

    def sizes(self, quick: bool) -> list[Size]:
        """The sizes along the axis, the smallest first."""
        values = self.quick if quick else self.values
        return [self.base._replace(**{self.what: value}) for value in values]


AXES = {
    axis.what: axis
    for axis in (
        Axis(
            "d", "dimension", (20, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
            (20, 100, 250, 400, 600), 200, Size(actions=1_000),
        ),
        Axis(
            "K", "actions", (20, 100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
            (20, 200, 1_500, 3_000, 6_000), 1_000, Size(),
        ),
        Axis(
            "M", "particles", (20, 50, 100, 200, 400, 800, 1_600),
            (20, 50, 100, 200, 400), 50, Size(),
        ),
        Axis(
            "t", "rewards", (100, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
            (100, 1_000, 10_000, 100_000), 100, Size(),
        ),
    )
}  # fmt: skip
