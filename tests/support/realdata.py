"""Where tests find real data: the folder that SOIDS_DATA names, or one beside the repository."""

import os
from pathlib import Path

import pytest

from soids.bandits.data import GENOTYPES, MUSHROOM, PLACE, RIBOFLAVIN
from soids.bandits.warfarin import WARFARIN

DATA = Path(os.environ.get(PLACE) or Path(__file__).parents[3] / "shared" / "data").resolve()
OBD = "obd"  # the Open Bandit Dataset, a folder


def needs(file):
    """Skip without this file or folder, and say so."""
    path = DATA / file
    return pytest.mark.skipif(not path.exists(), reason=f"there is no {path}: name it by {PLACE}")


FILES = {
    "genotypes": GENOTYPES,
    "mushroom": MUSHROOM,
    "riboflavin": RIBOFLAVIN,
    "warfarin": WARFARIN,
}
needs_genotypes = needs(GENOTYPES)
needs_mushroom = needs(MUSHROOM)
needs_riboflavin = needs(RIBOFLAVIN)
needs_warfarin = needs(WARFARIN)
needs_obd = needs(OBD)
