"""A figure of an experiment as its file asks for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from soids.plots.curves import draw_curves
from soids.plots.sweep import draw_sweep
from soids.simulation.comparison import policies_of
from soids.simulation.figures import ROUND
from soids.simulation.panels import Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_part(part: Part, parts: Sequence[Part]) -> "Figure":
    """One of the figures of an experiment; a policy has the same hue in all of them."""
    figure, panels = part.figure, part.panels
    listed = policies_of(panels) if figure.policies else []
    if figure.x == ROUND:
        return draw_curves(
            panels, figure.title, caption=figure.caption, scale=figure.scale, listed=listed,
            among=policies_in(parts),
        )  # fmt: skip
    return draw_sweep(
        panels, figure.x, figure.title, figure.bounds, caption=figure.caption, listed=listed,
        among=policies_in(parts),
    )  # fmt: skip


def policies_in(parts: Sequence[Part]) -> list[str]:
    """The labels in all figures, in the order in which they first appear."""
    return list(dict.fromkeys(label for part in parts for label in policies_of(part.panels)))
