"""Where tests find real data: the folder that SOIDS_DATA names, or one beside the repository."""

import os
from pathlib import Path

import pytest

from soids.bandits.data import GENOTYPES, PLACE

DATA = Path(os.environ.get(PLACE) or Path(__file__).parents[2] / "shared" / "data").resolve()
needs_genotypes = pytest.mark.skipif(
    not (DATA / GENOTYPES).is_file(), reason=f"there is no {DATA / GENOTYPES}: name it by {PLACE}"
)
