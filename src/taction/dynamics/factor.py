"""Factorisation of the mass matrix that keeps the sparsity of the tree.

What it solves: M = Lᵀ D L with L unit lower triangular, and M x = b by two sweeps.

Notation: λ(k) the previous degree of freedom on the way from k to the world (−1 at a root). M has a
structural non-zero at (i, j) only if one of i, j lies on the other's way to the world; L has no others,
because the elimination starts at the tips: there is no fill-in. Nothing else is read or written, and a
narrow tree keeps one column per level only (`taction.model.model.narrow`): ``column`` says which.

Method (in place: D on the diagonal, L below it; the upper triangle is not touched)
1. for k from last to first, for each i on the way from k:  s = M_ki / M_kk;  for each j on the way from i:
   M_ij −= s M_kj;  then M_ki = s.
2. solve: x ← L⁻ᵀ b (last to first), x ← D⁻¹ x, x ← L⁻¹ x (first to last).

Cost: O(Σ depth²) for the factor and O(Σ depth) for a solve: linear in n for trees of bounded depth.

References: [Featherstone2005, Sections 3 and 4]; [Featherstone2008, Section 6.5].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import SingularError
from taction._core.jit import kernel
from taction._core.show import brief_repr
from taction.dynamics.crba import composite_rigid_body
from taction.dynamics.singular import tell_singular
from taction.kinematics.forward import place_links
from taction.model.model import Model, of_model
from taction.model.workspace import make_workspace


@kernel
def factor_ltdl(dof_parent, column, M_io):
    """Step 1: turn the lower triangle of M_io (nv, nv) into L and D; returns 0, or k + 1 if pivot k ≤ 0."""
    for k in range(M_io.shape[0] - 1, -1, -1):
        pivot = M_io[k, column[k]]
        if not pivot > 0.0:
            return k + 1
        i = dof_parent[k]
        while i >= 0:
            s = M_io[k, column[i]] / pivot
            j = i
            while j >= 0:
                M_io[i, column[j]] -= s * M_io[k, column[j]]
                j = dof_parent[j]
            M_io[k, column[i]] = s
            i = dof_parent[i]
    return 0


@kernel
def solve_ltdl(dof_parent, column, L, x_io):
    """Step 2: overwrite x_io (nv,) with M⁻¹ x_io, given the factor L (nv, nv)."""
    n = x_io.shape[0]
    for k in range(n - 1, -1, -1):
        i = dof_parent[k]
        while i >= 0:
            x_io[i] -= L[k, column[i]] * x_io[k]
            i = dof_parent[i]
    for k in range(n):
        x = x_io[k] / L[k, column[k]]
        i = dof_parent[k]
        while i >= 0:
            x -= L[k, column[i]] * x_io[i]
            i = dof_parent[i]
        x_io[k] = x


@kernel
def solve_ltdl_rows(dof_parent, column, L, X_io):
    """Solve for every row of X_io (m, nv)."""
    for r in range(X_io.shape[0]):
        solve_ltdl(dof_parent, column, L, X_io[r])


@dataclass(frozen=True, eq=False)
class MassFactor:
    """The factored mass matrix of one configuration.

    Attributes:
        dof_parent: λ, shape (nv,).
        L: D on the diagonal, L below it, shape (nv, nv); the upper triangle is that of M.
    """

    dof_parent: IntArray
    L: Array

    __repr__ = brief_repr

    def solve(self, b: ArrayLike) -> Array:
        """M⁻¹ b for b of shape (nv,), or for every row of b of shape (m, nv)."""
        nv = len(self.dof_parent)
        x = np.array(as_float(b, (None, nv) if np.ndim(b) == 2 else (nv,), "right-hand side"))
        solve_ltdl_rows(self.dof_parent, np.arange(nv), self.L, np.atleast_2d(x))
        return x


@of_model
def factor_mass_matrix(model: Model, q: ArrayLike) -> MassFactor:
    """Mass matrix at q (nq,), factored for products with its inverse.

    Raises:
        SingularError: it is singular; the message says which joints move nothing, and what to do.
    """
    ws, M, q = make_workspace(model), np.empty((model.nv, model.nv)), model.check_q(q)
    place_links(model.tree, q, ws)
    composite_rigid_body(model.tree, ws, M)
    status = factor_ltdl(model.tree.dof_parent, model.tree.column, M)
    if status:  # of a model for kinematics only, or of a massless chain that folds on itself
        what = f"{model.name}: mass matrix is singular at degree of freedom {status - 1}"
        raise SingularError(f"{what}: {tell_singular(model, q)}")
    return MassFactor(model.tree.dof_parent, M)
