"""A figure of an experiment as its file asks for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from soids.output.figures.curves import draw_curves
from soids.output.figures.sweep import draw_sweep
from soids.simulation.figures import ROUND
from soids.simulation.results import Part
from soids.simulation.statistics import policies_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_part(part: Part, parts: Sequence[Part]) -> "Figure":
    """One of the figures of an experiment; a policy has the same hue in all of them."""
    figure, panels = part.figure, part.panels
    words: dict[str, Any] = {
        "note": part.note,
        "caption": figure.caption,
        "listed": policies_of(panels) if figure.policies else [],
        "among": policies_in(parts),
    }
    if figure.x == ROUND:
        return draw_curves(panels, figure.title, scale=figure.scale, **words)
    own = all(figure.x in panel.problem for panel in part.problems)  # of the bandit
    return draw_sweep(panels, figure.x, figure.title, figure.bounds, slopes=own, **words)


def policies_in(parts: Sequence[Part]) -> list[str]:
    """The labels in all figures, in the order in which they first appear."""
    return list(dict.fromkeys(label for part in parts for label in policies_of(part.panels)))
