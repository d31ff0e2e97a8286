"""Problem files: a contact problem or a linear complementarity problem on disk, exact to the last bit.

| suffix | contents |
|---|---|
| ``.npz`` | everything a `ContactProblem` has; or, with arrays ``M`` and ``q``, w = M z + q, 0 ≤ w ⊥ z ≥ 0 |
| ``.hdf5``, ``.h5`` | FCLib's layout, see `taction.io.fclib` |

The arrays of our ``.npz``: ``format`` (a version), ``b``, ``kind`` (k,) and ``parameter`` (k, 4) of the
elements, or (k, 5) with their adhesion where there is any, ``law``, ``sides``, ``name``, ``compliance``
if there is one, and W: either dense as ``W`` or in compressed rows as ``W_data``, ``W_indices``,
``W_indptr``. Nothing is pickled, so a file from a stranger cannot run code. A W that is only applied
(matrix-free) is written out densely.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from taction._core.archive import read_archive
from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import as_path, instance
from taction._core.whole_file import written_whole
from taction.contact.elements import Bilateral, Contact, Element, JointFriction, JointLimit, Unilateral
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.io.fclib import read_fclib, write_fclib

Problem: TypeAlias = ContactProblem | LinearComplementarityProblem

FORMAT = "taction contact problem 1"
FCLIB_SUFFIXES = (".hdf5", ".h5")
SUFFIXES = (*FCLIB_SUFFIXES, ".npz")

# Kinds of element by number, as they stand in files: append, never reorder.
KINDS: tuple[type[Element], ...] = (Contact, Unilateral, JointLimit, JointFriction, Bilateral)
MAKERS: tuple[Callable[[list[float]], Element], ...] = (
    lambda p: Contact(*p),
    lambda p: Unilateral(p[4]),
    lambda p: JointLimit(),
    lambda p: JointFriction(p[0]),
    lambda p: Bilateral(int(p[0])),
)


def save_problem(problem: Problem, path: str | Path) -> Path:
    """Write a problem; the suffix says how.

    Args:
        problem: what to write; linear complementarity problems go to ``.npz`` only.
        path: file ending in ``.npz``, ``.hdf5`` or ``.h5``; overwritten if it exists.

    Raises:
        BadInput: another suffix, a problem that FCLib cannot express, or a file that cannot be written.
    """
    path = as_path(path)
    suffix = _suffix(path)
    instance(problem, (ContactProblem, LinearComplementarityProblem), "problem")
    if suffix in FCLIB_SUFFIXES:
        if isinstance(problem, LinearComplementarityProblem):
            raise BadInput(f"{path}: FCLib has no linear complementarity problems; use .npz")
        return write_fclib(problem, path)
    if isinstance(problem, LinearComplementarityProblem):
        arrays: dict[str, Any] = {"M": problem.M, "q": problem.q, "name": np.array(problem.name)}
    else:
        arrays = _to_arrays(problem)
    with written_whole(path) as begun, begun.open("wb") as file:
        np.savez(file, **arrays)
    return path


def load_problem(path: str | Path) -> Problem:
    """Read a problem; the suffix, and for ``.npz`` the names of the arrays, say what it is.

    Raises:
        BadInput: no such file, another suffix, or broken contents; one line with the file's name.
    """
    path = as_path(path)
    if _suffix(path) in FCLIB_SUFFIXES:
        return read_fclib(path)
    try:
        arrays = read_archive(path)
        if "format" not in arrays and {"M", "q"} <= arrays.keys():
            name = str(arrays["name"]) if "name" in arrays else path.stem
            return LinearComplementarityProblem(arrays["M"], arrays["q"], name=name)
        return _from_arrays(arrays)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def problem_files(folder: str | Path) -> list[Path]:
    """The problem files of a folder, in the order of their names; not those of folders below."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_file() and Path(e.name).suffix.lower() in SUFFIXES]
    except OSError as error:
        raise BadInput(f"{folder}: {error.strerror}") from None
    if not names:
        raise BadInput(f"{folder}: no problem files ({', '.join(SUFFIXES)}) in this folder")
    return [Path(folder) / name for name in sorted(names)]


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadInput(f"{path}: unknown kind of file; problems end in {', '.join(SUFFIXES)}")
    return suffix


def _to_arrays(problem: ContactProblem) -> dict[str, Any]:
    W = problem.matrix
    parameter = np.array([_parameters(e) for e in problem.elements]).reshape(-1, 5)
    arrays: dict[str, Any] = {
        "format": np.array(FORMAT),
        "b": problem.b,
        "kind": np.array([KINDS.index(type(e)) for e in problem.elements], dtype=np.int64),
        "parameter": parameter if parameter[:, 4].any() else parameter[:, :4],
        "law": np.array(problem.law),
        "sides": np.array(problem.sides),
        "name": np.array(problem.name),
    }
    if isinstance(W, np.ndarray):
        arrays["W"] = W
    else:
        arrays |= {"W_data": W.data, "W_indices": W.indices, "W_indptr": W.indptr}
    if problem.compliance is not None:
        arrays["compliance"] = problem.compliance
    return arrays


def _parameters(element: Element) -> list[float]:
    match element:
        case Contact(friction, lateral, backward, viscous, adhesion):
            return [friction, lateral, backward, viscous, adhesion]  # type: ignore[list-item]
        case Unilateral(adhesion):
            return [0.0, 0.0, 0.0, 0.0, adhesion]
        case JointFriction(bound):
            return [bound, 0.0, 0.0, 0.0, 0.0]
        case Bilateral(rows):
            return [float(rows), 0.0, 0.0, 0.0, 0.0]
    return [0.0] * 5


def _from_arrays(arrays: dict[str, Any]) -> ContactProblem:
    def get(name: str, kinds: str, dimensions: int) -> Any:
        if name not in arrays:
            raise BadInput(f"array {name} is missing")
        value = arrays[name]
        if value.dtype.kind not in kinds or value.ndim != dimensions:
            raise BadInput(f"array {name}: not what a problem file holds there")
        return value

    if "format" not in arrays:
        raise BadInput("neither a contact problem nor, with M and q, a linear complementarity problem")
    if str(get("format", "U", 0)) != FORMAT:
        raise BadInput(f"format {str(arrays['format'])[:40]!r} is unknown; this version reads {FORMAT!r}")
    b, kind, parameter = get("b", "f", 1), get("kind", "iu", 1), get("parameter", "f", 2)
    is_known = len(kind) == 0 or 0 <= kind.min() <= kind.max() < len(KINDS)
    if parameter.shape not in ((len(kind), 4), (len(kind), 5)) or not is_known:
        raise BadInput("arrays kind and parameter do not describe elements")
    parameter = np.column_stack([parameter, np.zeros((len(kind), 5 - parameter.shape[1]))])
    return ContactProblem(
        get("W", "f", 2) if "W" in arrays else _sparse(get, len(b)),
        b,
        [MAKERS[k](p) for k, p in zip(kind.tolist(), _finite(parameter).tolist(), strict=True)],
        law=str(get("law", "U", 0)),
        sides=int(get("sides", "iu", 0)),
        compliance=get("compliance", "f", 1) if "compliance" in arrays else None,
        name=str(get("name", "U", 0)),
    )


def _finite(values: Array) -> Array:
    if not np.isfinite(values).all():
        raise BadInput("array parameter: contains NaN or infinity")
    return values


def _sparse(get: Callable[[str, str, int], Any], n: int) -> Any:
    from scipy.sparse import csr_array

    data, indices, indptr = get("W_data", "f", 1), get("W_indices", "iu", 1), get("W_indptr", "iu", 1)
    if (
        len(indptr) != n + 1
        or indptr[0] != 0
        or (np.diff(indptr) < 0).any()
        or not indptr[-1] == len(data) == len(indices)
        or (len(indices) and not 0 <= indices.min() <= indices.max() < n)
    ):
        raise BadInput("W: its compressed rows do not fit together")
    return csr_array((data, indices, indptr), shape=(n, n))
