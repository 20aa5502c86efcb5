"""Criteria on the second moments of actions, as barriers with derivatives and dual bounds.

Notation
    rows     (K, d)  actions
    weights  (K,)    not normalised; ``Q = sum_k w_k a_k a_k'``

Each bound comes from one inequality. For any P = L L' and any matrix Y,
``tr(P Q^-1) >= 2 tr(Y'L) - tr(Y'QY)``, and the last term is at most ``sum(w) max_k |Y'a_k|^2``.
With the best scale of Y, ``sum(w) tr(P Q^-1) >= tr(Y'L)^2 / max_k |Y'a_k|^2`` for any weights.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from soids.arrays import Floats
from soids.designs.central_path import Dual, moments


@dataclass(frozen=True)
class LargeEigenvalues:
    """``Q >= diag(floor)``, in the bound: Y = Z^(1/2) and L = diag(floor) Y for the barrier's Z."""

    floor: Floats  # (d,)  positive, at most one

    def barrier(self, rows: Floats, weights: Floats) -> float:
        return -log_determinant(self.slack(rows, weights))

    def derivatives(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        whitened = whiten(rows, cholesky(self.slack(rows, weights)))
        products = whitened @ whitened.T
        return -np.diagonal(products), products**2

    def dual(self, rows: Floats, weights: Floats) -> Dual:
        root = np.sqrt(self.floor)
        worst = np.linalg.eigvalsh(root[:, None] * inverse(moments(rows, weights)) * root)[-1]
        matrix = inverse(self.slack(rows, weights))
        return Dual(float(weights.sum() * worst), matrix, float(np.diagonal(matrix) @ self.floor))

    def slack(self, rows: Floats, weights: Floats) -> Floats:  # (d, d)
        matrix = moments(rows, weights)
        matrix[np.diag_indices_from(matrix)] -= self.floor
        return matrix


@dataclass(frozen=True)
class SmallVariances:
    """``t' Q^-1 t <= 1`` for each target t.

    In the bound, Y = Q^-1 T diag(p)^(1/2) for the barrier's ``p = 1 / (1 - t' Q^-1 t)``, and L is
    T diag(q)^(1/2) with the best q of sum one for that Y: ``tr(Y'L)^2 = sum p (t' Q^-1 t)^2``.
    """

    targets: Floats  # (d, n)  none longer than one

    def barrier(self, rows: Floats, weights: Floats) -> float:
        try:
            variances = (self.whitened(cholesky(moments(rows, weights))) ** 2).sum(axis=0)
        except np.linalg.LinAlgError:
            return math.inf
        return -float(np.log1p(-variances).sum()) if variances.max() < 1.0 else math.inf

    def derivatives(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        root = cholesky(moments(rows, weights))
        whitened, targets = whiten(rows, root), self.whitened(root)
        products = whitened @ (targets / np.sqrt(1.0 - (targets**2).sum(axis=0)))
        hessian: Floats = products @ products.T
        hessian *= whitened @ whitened.T
        hessian *= 2.0
        products **= 2
        hessian += products @ products.T
        return -products.sum(axis=1), hessian

    def dual(self, rows: Floats, weights: Floats) -> Dual:
        root = cholesky(moments(rows, weights))
        targets = self.whitened(root)
        variances = (targets**2).sum(axis=0)
        sharpness = 1.0 / (1.0 - variances)
        half = solve_triangular(root, targets * np.sqrt(sharpness), lower=True, trans="T")
        total = float(weights.sum() * variances.max())
        return Dual(total, half @ half.T, float(sharpness @ variances**2))

    def whitened(self, root: Floats) -> Floats:  # (d, n)
        return whiten(self.targets.T, root).T


@dataclass(frozen=True)
class LargeVolume:
    """``log det Q >= 0``.

    The bound compares arithmetic and geometric means, with M = Q^-1:
    ``sum(w) max_k a_k' M a_k >= tr(M Q) >= d det(M Q)^(1/d)``.
    """

    def barrier(self, rows: Floats, weights: Floats) -> float:
        volume = log_determinant(moments(rows, weights))
        return -math.log(volume) if volume > 0.0 else math.inf

    def derivatives(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        matrix = moments(rows, weights)
        volume = log_determinant(matrix)
        whitened = whiten(rows, cholesky(matrix))
        products = whitened @ whitened.T
        slopes = np.diagonal(products) / volume
        return -slopes, products**2 / volume + np.outer(slopes, slopes)

    def dual(self, rows: Floats, weights: Floats) -> Dual:
        matrix = moments(rows, weights)
        volume = log_determinant(matrix)
        shrink = math.exp(-volume / len(matrix))
        total = float(weights.sum()) * shrink
        return Dual(total, inverse(matrix) / volume, len(matrix) * shrink / volume)


def cholesky(matrix: Floats) -> Floats:
    return np.linalg.cholesky(matrix).astype(np.float64, copy=False)


def log_determinant(matrix: Floats) -> float:
    """The log determinant; minus infinity unless the matrix is positive definite."""
    try:
        return 2.0 * float(np.log(np.diagonal(cholesky(matrix))).sum())
    except np.linalg.LinAlgError:
        return -math.inf


def whiten(rows: Floats, root: Floats) -> Floats:
    """Rows in the coordinates in which the matrix with this Cholesky factor is the identity."""
    return np.asarray(solve_triangular(root, rows.T, lower=True).T)


def inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, exactly symmetric."""
    half = whiten(np.eye(len(matrix)), cholesky(matrix))
    return np.asarray(half @ half.T)
