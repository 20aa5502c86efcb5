"""Results as figures: regret against rounds, or against a setting that was swept.

The numbers come from `soids.simulation`; here they are drawn. Matplotlib is loaded only when
something is drawn, without its global state: the same results give the same files, byte for byte.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from soids.output.figures.canvas import save
from soids.output.figures.curves import draw_curves
from soids.output.figures.sweep import draw_sweep
from soids.simulation.figures import ROUND
from soids.simulation.results import Part, policies_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_curves", "draw_part", "draw_sweep", "save"]


def draw_part(part: Part, parts: Sequence[Part] = ()) -> "Figure":
    """Draw a figure as its file describes it; a policy has the same hue in all ``parts``."""
    draw = draw_curves if part.figure.x == ROUND else draw_sweep
    return draw(part, policies_of([panel for one in parts for panel in one.panels]))
