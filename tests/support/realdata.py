"""Real data for tests, in the folder that SOIDS_DATA names; tests that lack them are skipped."""

import os
from pathlib import Path

import pytest

from soids.bandits.data import GENOTYPES, MUSHROOM, PLACE, RIBOFLAVIN
from soids.bandits.warfarin import WARFARIN

DATA = Path(os.environ.get(PLACE) or ".").resolve()
OBD = "obd"  # the Open Bandit Dataset, a folder


def needs(file):
    """Skip without this file or folder, and say so."""
    path = DATA / file
    return pytest.mark.skipif(not path.exists(), reason=f"no {file}: name its folder by {PLACE}")


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
