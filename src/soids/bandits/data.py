"""Bandits made of measured data: genotypes, strains of bacteria, mushrooms.

The data are not part of the package. Their folder is given by the environment variable SOIDS_DATA,
by `soids run --data DIR` or by ``with data_in(folder)``. It is not a setting of a family, so that
results do not depend on the machine.
"""

import csv
import gzip
import io
import math
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import numpy as np

from soids.arrays import Bools, Floats, as_actions, as_count, as_number
from soids.bandits.bandit import SparseLinearBandit
from soids.bandits.draws import generator
from soids.bandits.measured import CaseBandit, MeasuredBandit
from soids.features import Encoder

PLACE = "SOIDS_DATA"
UNREADABLE = (  # the errors that a damaged archive may raise
    OSError, ValueError, LookupError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip
FOLDER: ContextVar[str] = ContextVar("FOLDER", default="")  # that goes before the environment's
GENOTYPES = "susie/N3finemapping.npz"
RIBOFLAVIN = "riboflavin/riboflavin.npz"
MUSHROOM = "mushroom/mushroom.csv.gz"


def genotypes(seed: int, *, replicate: int = 1) -> SparseLinearBandit:
    """574 people as actions, with 1001 real genotypes each, 3 of which have a known effect.

    The data are from susieR (MIT), whose authors simulated the effects and the noise of two
    replicates. Columns are centred, and many are equal to others. The bandit is the same for every
    seed.
    """
    as_count(seed, "seed", 0)
    column = as_count(replicate, "replicate", 1, 2) - 1
    path, names = data_file(GENOTYPES), ("X", "true_coef", "residual_variance")
    actions, effects, variances = read_arrays(path, "susieR's genotypes", names)
    if actions.ndim != 2 or effects.shape != (actions.shape[1], 2) or variances.shape != (2,):
        shapes = actions.shape, effects.shape, variances.shape
        raise ValueError(f"{path} must be the archive of susieR's genotypes, got shapes {shapes}")
    return SparseLinearBandit(actions, effects[:, column], math.sqrt(variances[column]))


def riboflavin(seed: int, *, noise: float = 0.5) -> MeasuredBandit:
    """71 strains of bacteria as actions, each with the expressions of 4,088 genes.

    Buehlmann, Kalisch & Meier (2014). Mean rewards are measured: the log production of riboflavin,
    centred. Expressions are standardised. The bandit is the same for every seed.
    """
    as_count(seed, "seed", 0)
    genes, production = read_arrays(data_file(RIBOFLAVIN), "riboflavin", ("X", "y"))
    centred = genes - genes.mean(axis=0)
    scale = centred.std(axis=0)
    actions = as_actions(centred / np.where(scale > 0.0, scale, 1.0), genes.shape[1])
    return MeasuredBandit(actions, production - production.mean(), as_number(noise, "noise", 0.0))


def mushroom(seed: int) -> CaseBandit:
    """8,124 mushrooms in an order that the seed determines; the actions are to eat and to leave.

    Rewards are those of Blundell et al. (2015) over 5: 1 for eating an edible one, 1 or -7 with
    equal probability for eating a poisonous one, and 0 for leaving it. A context holds 117
    indicators of the categories of its appearance.
    """
    contexts, is_edible, names = mushrooms(data_file(MUSHROOM))
    order = generator(seed).permutation(len(is_edible))
    edible = is_edible[order, None]
    means = np.where(edible, [1.0, 0.0], [-3.0, 0.0])
    deviations = np.where(edible, [0.0, 0.0], [4.0, 0.0])
    return CaseBandit(contexts[order], means, deviations, names)


@lru_cache(maxsize=1)
def mushrooms(path: Path) -> tuple[Floats, Bools, tuple[str, ...]]:  # (n, 117), (n,), (117,)
    """The features of each mushroom, whether it is edible, and the names of the features."""
    columns = read_csv(path, ["poisonous"])
    poisonous = columns.pop("poisonous")
    encoder = Encoder.fit(columns, categorical=columns, missing=("?",))
    return np.asarray(encoder.encode(columns)), np.array(poisonous) == "e", tuple(encoder.names)


# Reading the data


@contextmanager
def data_in(folder: str) -> Iterator[None]:
    """Take data from a folder; an empty name leaves the choice to the environment."""
    token = FOLDER.set(folder)
    try:
        yield
    finally:
        FOLDER.reset(token)


def data_file(name: str) -> Path:
    """A file in the data folder."""
    folder = FOLDER.get() or os.environ.get(PLACE)
    if not folder:
        raise ValueError(f"the data of {name} are missing: name their folder by --data or {PLACE}")
    path = Path(folder) / name
    if not path.is_file():
        raise ValueError(f"--data or {PLACE} must name a folder with {name}, got {folder!r}")
    return path


def opened_archive(path: Path) -> "np.lib.npyio.NpzFile":
    """The arrays in a file, by name; without pickles."""
    content = io.BytesIO(path.read_bytes())  # given a path, NumPy leaves a damaged file open
    archive: np.lib.npyio.NpzFile = np.load(content, allow_pickle=False)
    return archive


def read_arrays(path: Path, content: str, names: Iterable[str]) -> list[Floats]:
    """Named arrays of an archive."""
    try:
        with opened_archive(path) as archive:
            return [archive[name] for name in names]
    except UNREADABLE as error:
        raise ValueError(f"{path} must be the archive of {content}: {error}") from None


def read_csv(path: Path, needed: Iterable[str]) -> dict[str, list[str]]:
    """The columns of a compressed file, as texts; lines that begin with # are comments."""
    try:
        with gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as lines:
            rows = csv.DictReader(line for line in lines if not line.startswith("#"))
            table = list(rows)
    except (OSError, EOFError, csv.Error, zlib.error) as error:
        raise ValueError(f"{path} must be a table (CSV, compressed by gzip): {error}") from None
    names = list(rows.fieldnames or ())
    for name in needed:
        if name not in names:
            raise ValueError(f"{path} must have the column {name!r}")
    return {name: [row[name] or "" for row in table] for name in names}
