"""Linear complementarity problems: the document, and its judge.

What it states: given M (n, n) and q (n,), find z with

    w = M z + q,     w ≥ 0,     z ≥ 0,     wᵀz = 0.

M need be neither symmetric nor definite. Frictionless contact is such a problem with M = W; friction with a
pyramid is one with a larger, non-symmetric M, see `taction.contact.pyramid`.

The judge (`certify_lcp`) knows M, q and z, and nothing of how z was found. Row by row min(z_i, w_i) vanishes
exactly where 0 ≤ z_i ⊥ w_i ≥ 0, so

    residual = ‖min(z, M z + q)‖ / ‖q‖

is zero at solutions and nowhere else, up to rounding of M z + q, which is reported beside it. It is the
natural map of the problem, z − P(z − w) with P the projection on z ≥ 0.

References: [CottlePangStone1992, Chapter 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.show import brief_repr

EPSILON = 2.0**-52  # spacing of numbers near 1
TINY = 1e-300  # stands in for ‖q‖ where q vanishes: any error is then too large


@dataclass(frozen=True, eq=False)
class LinearComplementarityProblem:
    """0 ≤ w = M z + q ⊥ z ≥ 0.

    Attributes:
        M: matrix, (n, n).
        q: right-hand side, (n,).
        name: for messages.
    """

    M: Array
    q: Array
    name: str = "lcp"

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        q = as_float(self.q, (None,), f"{self.name}: q")
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "M", as_float(self.M, (len(q), len(q)), f"{self.name}: M"))

    @property
    def size(self) -> int:
        """Number of rows n."""
        return len(self.q)

    def slack(self, z: ArrayLike) -> Array:
        """Slacks w = M z + q, (n,)."""
        return self.M @ np.asarray(z, dtype=float) + self.q


@dataclass(frozen=True)
class LcpCertificate:
    """How well a vector z solves a linear complementarity problem.

    Attributes:
        min_w: smallest entry of w = M z + q; below zero is an error.
        min_z: smallest entry of z; below zero is an error.
        product: wᵀz; other than zero is an error.
        residual: ‖min(z, w)‖ / ‖q‖, the one number that is zero only at solutions.
        rounding: ε ‖|M| z + |q|‖ / ‖q‖: what rounding can hide.
        worst: row where |min(z_i, w_i)| is largest; −1 for a problem without rows.
    """

    min_w: float
    min_z: float
    product: float
    residual: float
    rounding: float
    worst: int

    @property
    def proven(self) -> float:
        """The least tolerance that z meets for certain: the larger of residual and rounding."""
        return max(self.residual, self.rounding)


def certify_lcp(problem: LinearComplementarityProblem, z: ArrayLike) -> LcpCertificate:
    """Judge a vector z (n,), from the numbers of the problem alone."""
    z = as_float(z, (problem.size,), "z")
    if not problem.size:
        return LcpCertificate(0.0, 0.0, 0.0, 0.0, 0.0, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        w = problem.slack(z)
        least = np.minimum(z, w)
        size = max(float(np.linalg.norm(problem.q)), TINY)
        residual = float(np.linalg.norm(least)) / size
        hidden = np.abs(problem.M) @ np.abs(z) + np.abs(problem.q)
        rounding = EPSILON * float(np.linalg.norm(hidden)) / size
        product = float(w @ z)
    return LcpCertificate(
        min_w=float(w.min()),
        min_z=float(z.min()),
        product=product,
        residual=residual if residual == residual else float("inf"),
        rounding=rounding if rounding == rounding else float("inf"),
        worst=int(np.argmax(np.abs(least))),
    )
