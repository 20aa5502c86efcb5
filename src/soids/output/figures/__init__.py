"""Panels as figures: regret against rounds, or against a setting that was swept.

The numbers come from `soids.simulation`; here is only ink. Matplotlib is loaded when something is
drawn, without its global state: the same panels give the same files, byte for byte.
"""

from soids.output.figures.canvas import save
from soids.output.figures.curves import draw_curves
from soids.output.figures.parts import draw_part
from soids.output.figures.sweep import draw_sweep

__all__ = ["draw_curves", "draw_part", "draw_sweep", "save"]
