"""Equations eliminated from a contact problem: the problem that is left for the contacts.

What it solves: rows E of a problem are equations (u_E = 0, no bounds on Λ_E), the others C obey laws. From
W_EC Λ_C + W_EE Λ_E + b_E = 0,

    W' = W_CC − W_CE W_EE⁻¹ W_EC,    b' = b_C − W_CE W_EE⁻¹ b_E,    Λ_E = −W_EE⁻¹ (b_E + W_EC Λ_C).

W' is what a mechanism in joint coordinates has: methods that iterate on contacts one by one (Gauss–Seidel,
ADMM) then do not have to carry impulses along chains of joints. It is full where those chains connect
everything, so this is for problems of moderate size; Newton's method in `taction.steppers.impulse_step`
eliminates joints without it.

W_EE must be regular, as it is for the joints of a tree of bodies: no row repeats another.

References: [AcaryBremondHuber2018] for problems with equations; [GolubVanLoan2013, Section 4.2] for the
factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.contact.elements import Bilateral
from taction.contact.problem import ContactProblem


@dataclass(frozen=True, eq=False)
class Condensed:
    """A problem without some of its equations, and the way back.

    Attributes:
        problem: what is left.
        kept: its rows in the whole problem, shape (c,).
        gone: rows eliminated, shape (e,).
        own: −W_EE⁻¹ b_E, shape (e,).
        response: −W_EE⁻¹ W_EC, shape (e, c).
    """

    problem: ContactProblem
    kept: IntArray
    gone: IntArray
    own: Array
    response: Array

    def restore(self, impulse: ArrayLike) -> Array:
        """Impulses of the whole problem (n,) from those of what is left (c,)."""
        r = np.asarray(impulse, dtype=float)
        out = np.empty(len(self.kept) + len(self.gone))
        out[self.kept], out[self.gone] = r, self.own + self.response @ r
        return out


def condense(problem: ContactProblem, gone: ArrayLike | None = None) -> Condensed:
    """Eliminate equations.

    Args:
        problem: rigid or compliant, of any law.
        gone: rows to eliminate, all of elements `Bilateral` taken whole; every one of them by default.

    Raises:
        BadInput: a row is no equation, or they repeat each other.
    """
    first = dict(zip(problem.first_row, problem.elements, strict=True))
    equations = [r + k for r, e in first.items() if isinstance(e, Bilateral) for k in range(e.rows)]
    rows = np.array(equations if gone is None else np.sort(np.asarray(gone)), dtype=np.int64)
    out = set(rows.tolist())
    if not out <= set(equations):
        raise BadInput(f"{problem.name}: row {min(out - set(equations))} is no equation")
    for r, e in first.items():
        if r in out and not set(range(r, r + e.rows)) <= out:
            raise BadInput(f"{problem.name}: the equations from row {r} on belong together")
    elements = [e for r, e in first.items() if r not in out]
    kept = np.setdiff1d(np.arange(problem.size), rows)
    W = problem.matrix
    if problem.compliance is not None:
        W = W.copy() if isinstance(W, np.ndarray) else W.tolil()
        W[rows, rows] += problem.compliance[rows]
    W = W if isinstance(W, np.ndarray) else W.tocsr()
    across, left = W[rows][:, kept], W[kept][:, kept]
    columns = np.column_stack([-problem.b[rows], -_dense(across)])
    try:
        solved = _solve(W[rows][:, rows], columns)
    except (np.linalg.LinAlgError, RuntimeError):
        raise BadInput(f"{problem.name}: equations repeat each other") from None
    own, response = solved[:, 0], solved[:, 1:]
    W_left = _dense(left) + across.T @ response
    rest = ContactProblem(
        0.5 * (W_left + W_left.T), problem.b[kept] + across.T @ own, elements, law=problem.law,
        sides=problem.sides, name=problem.name,
        compliance=None if problem.compliance is None else problem.compliance[kept],
    )  # fmt: skip
    return Condensed(rest, kept, rows, own, response)


def _dense(part: Any) -> Array:
    return part if isinstance(part, np.ndarray) else part.toarray()


def _solve(W: Any, columns: Array) -> Array:
    """W⁻¹ columns for a symmetric positive definite W."""
    if isinstance(W, np.ndarray):
        from scipy.linalg import cho_factor, cho_solve

        return np.asarray(cho_solve(cho_factor(W), columns)) if len(W) else columns
    from scipy.sparse.linalg import splu

    return np.asarray(splu(W.tocsc()).solve(columns)) if W.shape[0] else columns
