"""Bandits made of data that were measured: the actions are real, the truth is known.

Data are not part of the package. They lie in the folder that the environment variable SOIDS_DATA
names: `soids run --data DIR` sets it, and workers inherit it. It is no setting of a family, so that
results say nothing of the machine they come from.
"""

import math
import os
from pathlib import Path

import numpy as np

from soids.arrays import as_count
from soids.bandits.bandit import SparseLinearBandit

PLACE = "SOIDS_DATA"
GENOTYPES = "susie/N3finemapping.npz"


def genotypes(seed: int, *, replicate: int = 1) -> SparseLinearBandit:
    """People as actions: 574 real genotypes of 1001 columns, 3 of which have a known effect.

    From susieR (MIT), whose authors drew the effects and the noise of two replicates; columns are
    centred, and many are equal to others. The seed is that of the luck: the bandit is always the
    same.
    """
    as_count(seed, "seed", 0)
    column = as_count(replicate, "replicate", 1, 2) - 1
    path = data_file(GENOTYPES)
    try:
        with np.load(path, allow_pickle=False) as archive:
            actions, effects = archive["X"], archive["true_coef"][:, column]
            variance = float(archive["residual_variance"][column])
    except (OSError, ValueError, LookupError) as error:
        raise ValueError(f"{path} must be the archive of susieR's genotypes: {error}") from None
    return SparseLinearBandit(actions, effects, math.sqrt(variance))


def data_file(name: str) -> Path:
    """A file of data, in the folder that was named for them."""
    folder = os.environ.get(PLACE)
    if not folder:
        raise ValueError(
            f"the data of {name} must be somewhere: name their folder by --data or {PLACE}"
        )
    path = Path(folder) / name
    if not path.is_file():
        raise ValueError(f"{PLACE} must name a folder with the file {name}, got {folder!r}")
    return path
