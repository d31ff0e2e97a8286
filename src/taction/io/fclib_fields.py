"""Groups, datasets and matrices of FCLib's HDF5 layout, checked on reading: one line says what is wrong.

The layout is described in `taction.io.fclib`, to which this belongs.

References: [FCLib2014].
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, one_line
from taction._core.own_data import require_own_data
from taction._core.plain_file import room_of

ROWS, COLUMNS = -2, -1  # values of nz that are no number of triplets
MOST = 4_000_000  # rows or columns of a matrix
# what HDF5 raises on broken files, early or late
BROKEN = (OSError, KeyError, RuntimeError, TypeError, ValueError, AttributeError, OverflowError)


@contextmanager
def open_file(path: Path) -> Iterator[Any]:
    """The open file; whatever is wrong with it becomes one line that begins with its name."""
    import h5py

    try:
        room_of(path)  # of a plain file
        with h5py.File(path, "r") as file:
            require_own_data(file, path, may_pack=True)
            yield file
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except BROKEN as error:
        raise BadInput(f"{path}: cannot be read as HDF5 ({one_line(error)})") from None


def read_group(parent: Any, name: str) -> Any:
    """A group that must be there."""
    import h5py

    found = parent.get(name)
    if not isinstance(found, h5py.Group):
        raise BadInput(f"group {name} is missing")
    return found


def read_dataset(group: Any, name: str, what: str) -> Any:
    """The contents of a dataset that must be there; ``what`` names it to the reader."""
    import h5py

    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise BadInput(f"{what}: missing")
    return found[()]


def read_vector(group: Any, name: str, size: int, where: str = "vectors") -> Array:
    """A vector of so many numbers."""
    what = f"{where}/{name}"
    values = np.ravel(read_dataset(group, name, what))
    if len(values) != size:
        raise BadInput(f"{what}: {len(values)} numbers, expected {size}")
    return as_float(values, (size,), what)


def read_integers(group: Any, name: str, what: str) -> IntArray:
    """A vector of integers."""
    values = np.ravel(read_dataset(group, name, f"{what}/{name}"))
    if values.dtype.kind not in "iu":
        raise BadInput(f"{what}/{name}: must be integers")
    return values.astype(np.int64)


def read_integer(group: Any, name: str, what: str) -> int:
    """One integer."""
    values = read_integers(group, name, what)
    if len(values) != 1:
        raise BadInput(f"{what}/{name}: must be one number, got {len(values)}")
    return int(values[0])


def read_spacedim(group: Any) -> int:
    """2 or 3: whether contacts are of the plane or of space."""
    dimension = read_integer(group, "spacedim", group.name.strip("/"))
    if dimension not in (2, 3):
        raise BadInput(f"spacedim: {dimension}, must be 2 or 3")
    return dimension


def read_matrix(parent: Any, name: str, shape: tuple[int | None, int | None] = (None, None)) -> Any:
    """A stored matrix as SciPy CSR, of the given shape where that is known."""
    from scipy.sparse import coo_array, csc_array, csr_array

    group = read_group(parent, name)
    m, n, nz = (read_integer(group, key, name) for key in ("m", "n", "nz"))
    if m < 0 or n < 0 or any(want not in (None, have) for want, have in zip(shape, (m, n), strict=True)):
        expected = " × ".join("n" if k is None else str(k) for k in shape)
        raise BadInput(f"{name}: is {m} × {n}, expected {expected}")
    if max(m, n) > MOST:  # a damaged number: not even the empty matrix has room
        raise BadInput(f"{name}: is {m} × {n}, more than {MOST} rows or columns")
    p, i = read_integers(group, "p", name), read_integers(group, "i", name)
    x = np.ravel(read_dataset(group, "x", f"{name}/x"))
    x = as_float(x, (None,), f"{name}/x")
    if nz >= 0:
        if min(len(p), len(i), len(x)) < nz:
            raise BadInput(f"{name}: {nz} triplets announced, {min(len(p), len(i), len(x))} there")
        row, column = p[:nz], i[:nz]
        if not _within(row, m) or not _within(column, n):
            row, column = column, row
        if not _within(row, m) or not _within(column, n):
            raise BadInput(f"{name}: indices outside the matrix")
        return coo_array((x[:nz], (row, column)), shape=(m, n)).tocsr()
    if nz not in (ROWS, COLUMNS):
        raise BadInput(f"{name}/nz: {nz}, must be -2 (rows), -1 (columns) or a number of triplets")
    lines, width = (m, n) if nz == ROWS else (n, m)
    if len(p) != lines + 1 or p[0] != 0 or (np.diff(p) < 0).any() or p[-1] > min(len(i), len(x)):
        raise BadInput(f"{name}/p: not the starts of {lines} {'rows' if nz == ROWS else 'columns'}")
    i, x = i[: p[-1]], x[: p[-1]]
    if not _within(i, width):
        raise BadInput(f"{name}/i: indices outside the matrix")
    return csr_array((x, i, p), shape=(m, n)) if nz == ROWS else csc_array((x, i, p), shape=(m, n)).tocsr()


def _within(index: IntArray, size: int) -> bool:
    return not len(index) or (int(index.min()) >= 0 and int(index.max()) < size)


def write_integer(group: Any, name: str, value: int) -> None:
    """One integer, as C programs have it."""
    group[name] = np.array([value], dtype=np.int32)


def write_text(group: Any, name: str, text: str) -> None:
    """Text as C programs read it: bytes with a zero at the end."""
    data = text.encode()
    group[name] = np.array(data, dtype=f"S{len(data) + 1}")


def write_matrix(parent: Any, name: str, matrix: Any) -> None:
    """A SciPy matrix in compressed rows."""
    matrix = matrix.tocsr()
    matrix.sort_indices()
    group = parent.create_group(name)
    for key, value in (("m", matrix.shape[0]), ("n", matrix.shape[1]), ("nz", ROWS), ("nzmax", matrix.nnz)):
        write_integer(group, key, value)
    group["p"], group["i"] = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    group["x"] = matrix.data
