"""FCLib files: read and write the HDF5 layout of the public collection of frictional contact problems.

Two kinds of file. A **local** problem is in contact space already,
    u = W r + V λ + q,    0 = Vᵀ r + R λ + s,    K_μ* ∋ u + μ‖u_T‖ e_N ⟂ r ∈ K_μ   per contact,
with V, R and s only where there are equality constraints. A **global** problem keeps the mass matrix,
    M v = H r + G λ + f,    u = Hᵀ v + w,    0 = Gᵀ v + b,    the same law,
and is reduced on reading with J = (H G), by a sparse LU of M:
    W = Jᵀ M⁻¹ J,    free velocity (w, b) + Jᵀ M⁻¹ f.
Either way the result is a `ContactProblem`: the contacts in the order of the file, frames (normal, t₁, t₂),
then one `Bilateral` element with the rows of λ, if any.

Layout: the group ``fclib_local`` or ``fclib_global`` holds ``spacedim``, a group per matrix, ``vectors`` and
``info`` (title, description, math_info). A matrix is ``m``, ``n``, ``nz``, ``nzmax``, ``p``, ``i``, ``x``:
compressed rows for nz = −2, compressed columns for −1, else nz triplets with rows ``p`` and columns ``i``.
Some writers keep triplets as CSparse does, the other way round; a matrix whose indices fit only that reading
is read so. The groups ``solution`` and ``guesses/1``, ``guesses/2``, … hold r, u, v and l (λ).

Contacts of the plane (``spacedim`` 2, rows (n, t)) are embedded: each gets a third row t₂ that is coupled
with nothing, with the mean of W's diagonal on its own and no free velocity. Its impulse is zero in every
solution, and the rest is the plane problem, residual included.

Writing: always a local problem in space. `Contact` (isotropic, no viscous part) and `Bilateral` are FCLib's
own; a `Unilateral` or `JointLimit` becomes a contact with μ = 0 and two tangential rows coupled with nothing.
FCLib wants contacts first, so rows may change places. Compliance is folded into W. What FCLib has no word for
is refused by name: `JointFriction`, orthotropic or viscous contacts, laws other than the exact one.

References: [FCLib2014] for the collection and its layout; [AcaryBremondHuber2018, Section 2] for the
problems.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, one_line
from taction._core.expect import as_path, instance
from taction._core.show import brief_repr
from taction.contact.elements import Bilateral, Contact, Element, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.io.fclib_fields import (
    open_file,
    read_group,
    read_matrix,
    read_spacedim,
    read_vector,
    write_integer,
    write_matrix,
    write_text,
)

AT_ONCE = 256  # columns of M⁻¹ J that are held densely while a global problem is reduced


class StoredImpulses(NamedTuple):
    """Impulses that came with a problem, in its rows (n,).

    Attributes:
        solution: of the file's authors; None if there is none.
        guesses: where they suggest to start.
    """

    solution: Array | None
    guesses: tuple[Array, ...]

    def __repr__(self) -> str:
        return brief_repr(self)


def read_fclib(path: str | Path) -> ContactProblem:
    """Read a local or global problem, in the plane or in space.

    Args:
        path: an HDF5 file in FCLib's layout.

    Raises:
        BadInput: no such file, not HDF5, not FCLib, or numbers that do not fit together; one line with the
            file's name.
    """
    path = as_path(path)
    with open_file(path) as file:
        if "fclib_local" in file:
            group = read_group(file, "fclib_local")
            W, b, mu = _local(group)
        elif "fclib_global" in file:
            group = read_group(file, "fclib_global")
            W, b, mu = _global(group)
        else:
            raise BadInput("neither a group fclib_local nor fclib_global: not an FCLib file")
        dimension = read_spacedim(group)
        equations = len(b) - dimension * len(mu)
        if dimension == 2:
            pairs = (3 * np.arange(len(mu))[:, None] + np.arange(2)).ravel()
            place = np.concatenate([pairs, 3 * len(mu) + np.arange(equations)])
            W, b = _spread(W, b, place, 3 * len(mu) + equations)
        elements: list[Element] = [Contact(value) for value in mu.tolist()]
        if equations:
            elements.append(Bilateral(equations))
        return ContactProblem(W, b, elements, name=path.stem)


def read_fclib_impulses(path: str | Path) -> StoredImpulses:
    """Read the solution and the guesses of a file, as impulses of the problem that `read_fclib` makes."""
    problem = read_fclib(path)
    with open_file(Path(path)) as file:
        group = read_group(file, "fclib_local" if "fclib_local" in file else "fclib_global")
        flat = read_spacedim(group) == 2

        def impulse(stored: Any, what: str) -> Array:
            rows = 3 * problem.contacts
            r = read_vector(stored, "r", rows * 2 // 3 if flat else rows, what)
            if flat:
                r = np.column_stack([r.reshape(-1, 2), np.zeros(problem.contacts)]).ravel()
            more = problem.size - rows
            return np.concatenate([r, read_vector(stored, "l", more, what)]) if more else r

        solution = impulse(read_group(file, "solution"), "solution") if "solution" in file else None
        names = [k for k in read_group(file, "guesses") if k.isdigit()] if "guesses" in file else []
        names.sort(key=int)
        return StoredImpulses(
            solution, tuple(impulse(read_group(file["guesses"], k), f"guesses/{k}") for k in names)
        )


def write_fclib(problem: ContactProblem, path: str | Path, impulse: ArrayLike | None = None) -> Path:
    """Write a problem, and its impulses if given, as a local FCLib file.

    Args:
        problem: contacts, unilateral elements, joint limits and bilateral rows, under the exact law.
        path: file to write; overwritten if it exists.
        impulse: impulses (n,) to store as the solution, with their velocities.

    Raises:
        BadInput: FCLib cannot express an element or the law, or the file cannot be written.
    """
    path = as_path(path)
    instance(problem, ContactProblem, "problem")
    if problem.law != "exact":
        raise BadInput(f"{problem.name}: FCLib has the exact law only, the problem has {problem.law!r}")
    mu = [_friction(problem, k) for k in range(len(problem.elements))]
    place, contacts = _places(problem)
    rows = 3 * contacts
    W, b = _arrange(problem, place, rows)
    r = None if impulse is None else as_float(impulse, (problem.size,), "impulse")
    try:
        import h5py

        with h5py.File(path, "w") as file:
            group = file.create_group("fclib_local")
            write_integer(group, "spacedim", 3)
            write_matrix(group, "W", W[:rows, :rows])
            vectors = group.create_group("vectors")
            vectors["q"], vectors["mu"] = b[:rows], np.array([m for m in mu if m is not None], dtype=float)
            if len(b) > rows:
                write_matrix(group, "V", W[:rows, rows:])
                write_matrix(group, "R", W[rows:, rows:])
                vectors["s"] = b[rows:]
            info = group.create_group("info")
            write_text(info, "title", problem.name)
            write_text(info, "description", f"{contacts} contacts, {len(b) - rows} equations")
            write_text(
                info, "math_info", "u = W r + V l + q, 0 = V' r + R l + s, contact frame (normal, t1, t2)"
            )
            if r is not None:
                x, u = np.zeros(len(b)), np.zeros(len(b))
                x[place], u[place] = r, problem.law_velocity(r)
                stored = file.create_group("solution")
                stored["r"], stored["u"] = x[:rows], u[:rows]
                if len(b) > rows:
                    stored["l"] = x[rows:]
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be written ({os.strerror(error.errno) if error.errno else one_line(error)})"
        ) from None
    return path


# ----- Reading -------------------------------------------------------------------------------------------


def _contacts(rows: int, group: Any) -> int:
    dimension = read_spacedim(group)
    if rows % dimension:
        raise BadInput(f"{rows} contact rows are not a multiple of spacedim {dimension}")
    return rows // dimension


def _coefficients(vectors: Any, count: int) -> Array:
    mu = read_vector(vectors, "mu", count)
    if (mu < 0.0).any():
        raise BadInput(f"vectors/mu: coefficient {int(np.argmax(mu < 0.0))} is negative")
    return mu


def _local(group: Any) -> tuple[Any, Array, Array]:
    """W, free velocity and coefficients of a local problem, equations last."""
    from scipy.sparse import block_array

    W = read_matrix(group, "W")
    m = W.shape[0]
    if W.shape[1] != m:
        raise BadInput(f"W: is {m} × {W.shape[1]}, must be square")
    vectors = read_group(group, "vectors")
    mu = _coefficients(vectors, _contacts(m, group))
    b = read_vector(vectors, "q", m)
    if "R" not in group and "V" not in group:
        return W, b, mu
    R = read_matrix(group, "R")
    if R.shape[0] != R.shape[1]:
        raise BadInput(f"R: is {R.shape[0]} × {R.shape[1]}, must be square")
    V = read_matrix(group, "V", (m, R.shape[0]))
    s = read_vector(vectors, "s", R.shape[0])
    return block_array([[W, V], [V.T, R]], format="csr"), np.concatenate([b, s]), mu


def _global(group: Any) -> tuple[Any, Array, Array]:
    """W, free velocity and coefficients of a global problem, reduced to its contacts and equations."""
    from scipy.sparse import csc_array, hstack
    from scipy.sparse.linalg import splu

    M = read_matrix(group, "M")
    n = M.shape[0]
    if M.shape[1] != n:
        raise BadInput(f"M: is {n} × {M.shape[1]}, must be square")
    J = read_matrix(group, "H", (n, None))
    vectors = read_group(group, "vectors")
    mu = _coefficients(vectors, _contacts(J.shape[1], group))
    f, offset = read_vector(vectors, "f", n), read_vector(vectors, "w", J.shape[1])
    if "G" in group:
        G = read_matrix(group, "G", (n, None))
        offset = np.concatenate([offset, read_vector(vectors, "b", G.shape[1])])
        J = hstack([J, G], format="csr")
    J = J.tocsc()
    try:
        factor = splu(M.tocsc())
        columns = [
            csc_array(factor.solve(J[:, k : k + AT_ONCE].toarray())) for k in range(0, J.shape[1], AT_ONCE)
        ]
        free = factor.solve(f)
    except RuntimeError:
        raise BadInput("M: singular, the problem cannot be reduced to its contacts") from None
    W = J.T @ hstack(columns, format="csc") if columns else csc_array((0, 0))
    return W.tocsr(), offset + J.T @ free, mu


def _spread(W: Any, b: Array, place: IntArray, total: int) -> tuple[Any, Array]:
    """Put row k at place[k] of ``total`` rows; the others stand alone, with the mean diagonal."""
    from scipy.sparse import coo_array

    entries = coo_array(W)
    idle = np.setdiff1d(np.arange(total), place)
    own = float(W.diagonal().mean()) if len(b) else 0.0
    row = np.concatenate([place[entries.row], idle])
    column = np.concatenate([place[entries.col], idle])
    data = np.concatenate([entries.data, np.full(len(idle), own if own > 0.0 else 1.0)])
    spread = np.zeros(total)
    spread[place] = b
    return coo_array((data, (row, column)), shape=(total, total)).tocsr(), spread


# ----- Writing -------------------------------------------------------------------------------------------


def _friction(problem: ContactProblem, k: int) -> float | None:
    """Coefficient of element k as FCLib has it; None for equations."""
    element = problem.elements[k]
    if getattr(element, "adhesion", 0.0):
        raise BadInput(f"{problem.name}: elements[{k}]: FCLib has no adhesion ({element})")
    if isinstance(element, Contact):
        if not element.friction == element.lateral == element.backward:
            raise BadInput(f"{problem.name}: elements[{k}]: FCLib has no orthotropic friction ({element})")
        if element.viscous:
            raise BadInput(f"{problem.name}: elements[{k}]: FCLib has no viscous friction ({element})")
        return element.friction
    if isinstance(element, (Unilateral, JointLimit)):
        return 0.0
    if isinstance(element, Bilateral):
        return None
    raise BadInput(f"{problem.name}: elements[{k}]: FCLib cannot express {element}")


def _places(problem: ContactProblem) -> tuple[IntArray, int]:
    """Row of the file for each row of the problem, and the number of contacts of the file."""
    contacts = sum(not isinstance(element, Bilateral) for element in problem.elements)
    place: list[int] = []
    next_contact, next_equation = 0, 3 * contacts
    for element in problem.elements:
        if isinstance(element, Bilateral):
            place += range(next_equation, next_equation + element.rows)
            next_equation += element.rows
        else:
            place += range(next_contact, next_contact + element.rows)
            next_contact += 3
    return np.array(place, dtype=np.int64), contacts


def _arrange(problem: ContactProblem, place: IntArray, contact_rows: int) -> tuple[Any, Array]:
    """W as SciPy CSR with compliance folded in, and b, both in the rows of the file."""
    from scipy.sparse import csr_array, diags_array

    W = csr_array(problem.matrix)
    if problem.compliance is not None:
        W = (W + diags_array(problem.compliance)).tocsr()
    equations = sum(element.rows for element in problem.elements if isinstance(element, Bilateral))
    return _spread(W, problem.b, place, contact_rows + equations)
