"""Panels as figures: regret against rounds, or against a setting that was swept.

The numbers come from `soids.simulation`; here is only ink. Matplotlib is loaded when something is
drawn, without its global state: the same panels give the same files, byte for byte.
"""

from soids.plots.canvas import save
from soids.plots.curves import draw_curves
from soids.plots.parts import draw_part
from soids.plots.sweep import draw_sweep

__all__ = ["draw_curves", "draw_part", "draw_sweep", "save"]
