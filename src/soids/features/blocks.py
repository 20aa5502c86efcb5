"""Features of actions from a context and the features of the arms.

Notation
    context  (p,)    features of the situation: the patient, the visitor, the request
    arms     (K, q)  features of each arm; or only the number of arms
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, issparse, kron

from soids.arrays import Floats, as_count, as_floats
from soids.spelling import as_names

Sparse = csr_array[Any, tuple[int, int]]


def shared(
    context: object, arms: object, *, interactions: bool = False
) -> Floats:  # (K, p + q), or (K, p + q + p q)
    """One parameter for all arms: the context beside the features of each arm.

    The context is the same for all arms; ``interactions`` adds its products with their features.

    >>> shared([2.0], [[1.0], [3.0]], interactions=True).tolist()
    [[2.0, 1.0, 2.0], [2.0, 3.0, 6.0]]
    """
    row, table = as_context(context), as_arms(arms)
    parts = [np.tile(row, (len(table), 1)), table]
    if interactions:
        parts.append((row[None, :, None] * table[:, None, :]).reshape(len(table), -1))
    return np.hstack(parts)


@overload
def disjoint(context: object, arms: int, *, sparse: Literal[False] = False) -> Floats: ...
@overload
def disjoint(context: object, arms: int, *, sparse: Literal[True]) -> Sparse: ...


def disjoint(context: object, arms: int, *, sparse: bool = False) -> Floats | Sparse:  # (K, K p)
    """A parameter for each arm: the context stands in the block of each action's arm.

    With ``sparse`` the result is a SciPy sparse matrix, which saves memory.

    >>> disjoint([1.0, 2.0], 2).tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]
    """
    row, count = as_context(context), as_count(arms, "arms")
    if sparse:
        return csr_array(kron(eye_array(count), csr_array(row[None]), format="csr"))
    actions = np.zeros((count, count, len(row)))
    actions[range(count), range(count)] = row
    return actions.reshape(count, -1)


@overload
def hybrid(
    context: object, arms: object, *, interactions: bool = False, sparse: Literal[False] = False
) -> Floats: ...
@overload
def hybrid(
    context: object, arms: object, *, interactions: bool = False, sparse: Literal[True]
) -> Sparse: ...


def hybrid(
    context: object, arms: object, *, interactions: bool = False, sparse: bool = False
) -> Floats | Sparse:
    """The columns of ``shared`` and ``disjoint``: common parameters and one for each arm.

    >>> hybrid([2.0], [[1.0], [3.0]]).tolist()
    [[2.0, 1.0, 2.0, 0.0], [2.0, 3.0, 0.0, 2.0]]
    """
    common = shared(context, arms, interactions=interactions)
    if sparse:
        own = disjoint(context, len(common), sparse=True)
        return csr_array(hstack([csr_array(common), own]))
    return np.hstack([common, disjoint(context, len(common))])


# Names of the columns


def shared_names(
    context: Sequence[str], arms: Sequence[str], *, interactions: bool = False
) -> list[str]:
    """Names of the columns of ``shared``, from those of the context and of the arms' features."""
    context, arms = as_names(context, "context"), as_names(arms, "arms")
    products = [f"{one} x {other}" for one in context for other in arms] if interactions else []
    return [*context, *arms, *products]


def disjoint_names(context: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Names of the columns of ``disjoint``, from those of the context and a label for each arm.

    >>> disjoint_names(["age"], ["low", "high"])
    ['low: age', 'high: age']
    """
    context, labels = as_names(context, "context"), as_names(labels, "labels")
    return [f"{label}: {name}" for label in labels for name in context]


def hybrid_names(
    context: Sequence[str], arms: Sequence[str], labels: Sequence[str], *,
    interactions: bool = False,
) -> list[str]:  # fmt: skip
    """Names of the columns of ``hybrid``."""
    common = shared_names(context, arms, interactions=interactions)
    return [*common, *disjoint_names(context, labels)]


# Checks


def as_context(context: object) -> Floats:  # (p,)
    """A context from an array, or from one row of a sparse matrix."""
    given: Any = context
    if issparse(context):
        given = given.toarray()[0] if given.shape[0] == 1 else given.toarray()
    row = as_floats(given, "context")
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"context must have shape (p,) with p at least 1, got {row.shape}")
    return row


def as_arms(arms: object) -> Floats:  # (K, q)
    table = as_floats(arms, "arms")
    if table.ndim != 2 or table.shape[0] == 0:
        raise ValueError(
            f"arms must have shape (K, q), one arm a row, got {table.shape}: "
            "give np.eye(K) if nothing is known of them"
        )
    return table
