"""Triangle meshes from STL (binary and ASCII), Wavefront OBJ, MSH and COLLADA files, and where to find them.

*STL* stores loose triangles. Equal corners become one vertex (`taction.io.weld`), and triangles that lose a
corner this way are dropped. The winding, not the stored normal, says which side is out. Files are told apart
by size: a binary file holds 84 bytes and then exactly 50 per triangle; many of them open with the word
"solid", as ASCII does.

*MSH*, of MuJoCo, is binary: four counts (vertices, normals, texture coordinates, faces), then these lists;
normals and texture coordinates are skipped. *OBJ*: `taction.io.obj`. *COLLADA* (DAE): `taction.io.dae`.
Meshes with colours: `taction.io.visual_meshes`.

What a file holds is kept on disk under a digest of its bytes (`taction._core.kept`), so that its text is read
and its corners are compared once.

A scale with an odd number of negative factors mirrors the mesh; the winding is then flipped, so that normals
keep pointing out. Files come from anywhere: a truncated, corrupt or absurd one is a `ModelError` that names
it, and no count in a file is trusted before it is compared with the size of the file.

References: M. Burns, *Automated Fabrication*, 1993, §6.5 (STL); MuJoCo XML reference, section "asset/mesh"
(MSH); http://wiki.ros.org/Packages (``package://``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput, ModelError
from taction._core.expect import as_path
from taction._core.kept import Arrays, kept, key_of, version_of
from taction._core.plain_file import read_plain
from taction.io.dae import read_dae
from taction.io.obj import read_obj
from taction.io.weld import weld
from taction.model.shapes import Mesh

# File name endings that `read_mesh` understands.
MESH_FORMATS = (".stl", ".obj", ".msh", ".dae")

GROWTH = 5  # bytes of memory counted for one of a file: 40 MB of it pass, and public robots have up to 38
LARGE = 4096  # bytes from which what a file holds is worth another
SOURCES = tuple(f"io/{name}.py" for name in ("meshes", "weld", "obj", "dae", "xml"))

_STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
_STL_HEADER = 84
_MSH_HEADER = 16
_STL_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)
_STL_END_OF_FACET = re.compile(rb"\bendfacet\b", re.IGNORECASE)
_STL_END_OF_SOLID = re.compile(rb"\bend\s?solid\b", re.IGNORECASE)


def read_mesh(path: str | Path, scale: ArrayLike = (1.0, 1.0, 1.0), *, points: bool = False) -> Mesh:
    """Read an STL, OBJ, MSH or DAE file.

    Args:
        path: the file; its ending, in any case, says what it is.
        scale: factors for x, y and z, applied to the vertices; a mirroring scale flips the faces.
        points: a file of vertices without triangles is no error.

    Raises:
        ModelError: the file is missing, of another format, truncated or corrupt, or the scale has a zero.
    """
    path = as_path(path)
    try:
        data = mesh_bytes(path)
        vertices, faces = _kept_triangles(path.suffix.lower(), data)
        return made_mesh(vertices, faces, scale, path, points=points)
    except BadInput as error:
        raise ModelError(f"{path}: {error}") from None


def _kept_triangles(ending: str, data: bytes) -> tuple[Array, IntArray]:
    """Vertices (nv, 3) and triangles (nf, 3) of the bytes of a file, read once for all processes."""
    if len(data) < LARGE:
        return _READERS[ending](data)

    def read() -> Arrays:
        vertices, faces = _READERS[ending](data)
        return [vertices, faces.astype(np.int32)]

    library = version_of("pycollada") if ending == ".dae" else ""
    vertices, faces = kept(key_of("mesh", SOURCES, (ending, library), data), read, _fits)
    return vertices, faces.astype(np.int64)


def _fits(arrays: Arrays) -> bool:
    """Whether arrays are vertices and triangles of these."""
    if [(a.dtype.kind, a.shape[1:]) for a in arrays] != [("f", (3,)), ("i", (3,))]:
        return False
    vertices, faces = arrays
    return not len(faces) or bool(faces.min() >= 0 and faces.max() < len(vertices))


def find_mesh(uri: str, folder: Path, package_dirs: Iterable[str | Path] = ()) -> Path:
    """The file that a description means by ``uri``; it need not exist.

    ``package://pkg/rest`` (or ``model://``) is looked for as ``dir/pkg/rest``, and as ``dir/rest`` where
    ``dir`` itself is called ``pkg``, with ``dir`` running over ``package_dirs``, the ``ROS_PACKAGE_PATH`` and
    then ``folder`` and every folder above it; if it is nowhere, the answer is the relative path ``pkg/rest``.
    ``file://`` gives a path; anything without a scheme is relative to ``folder``.

    Raises:
        ModelError: the address is empty or has another scheme, such as ``http``; nothing is ever fetched.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        scheme, rest = "file", uri
    elif scheme == "file":
        rest = unquote(rest)
    if not rest.strip():
        raise ModelError(f"{uri!r} names no file")
    if scheme == "file":
        return folder / rest
    if scheme not in ("package", "model"):
        raise ModelError(f"{uri!r} is not a local file, and nothing is fetched from the network")
    rest = rest.lstrip("/")
    package, _, inside = rest.partition("/")
    dirs = tuple(os.fspath(place) for place in package_dirs)
    homes = _homes(package, os.path.abspath(folder), dirs, os.environ.get("ROS_PACKAGE_PATH", ""))
    places = (os.path.join(home, inside) for home in homes)
    return Path(next((place for place in places if os.path.isfile(place)), rest))


@lru_cache(maxsize=64)
def _homes(package: str, folder: str, package_dirs: tuple[str, ...], ros_path: str) -> tuple[str, ...]:
    """Folders that a package may be, best first; a description asks for the same ones with every mesh."""
    homes = []
    above = Path(folder)
    for place in (*package_dirs, *filter(None, ros_path.split(os.pathsep)), folder, *map(str, above.parents)):
        homes.append(os.path.join(place, package))
        if os.path.basename(os.path.normpath(place)) == package:
            homes.append(place)
    return tuple(homes)


def mesh_bytes(path: Path) -> bytes:
    """Contents of a file of a format that is read.

    Raises:
        ModelError: it is of another format, missing, or cannot be read.
    """
    kind = path.suffix.lower()
    if kind not in MESH_FORMATS:
        raise ModelError(f"mesh format {kind or 'without ending'!r} is not read; convert it to STL or OBJ")
    try:
        return read_plain(path, GROWTH)
    except FileNotFoundError:
        raise ModelError("no such mesh file") from None
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})") from None


def made_mesh(
    vertices: Array, faces: IntArray, scale: ArrayLike, path: Path, *, points: bool = False
) -> Mesh:
    """A mesh of what a file holds: vertices (nv, 3) times ``scale``, faces (nf, 3) turned if that mirrors.

    Raises:
        ModelError: a vertex is not finite, the scale has a zero, or there is no triangle, unless ``points``.
    """
    factors = as_float(scale, (3,), "mesh scale")
    if not factors.all():
        raise ModelError(f"mesh scale must have no zero, got {factors}")
    if not np.all(np.isfinite(vertices)):
        raise ModelError("has a vertex that is not finite")
    if not len(faces) and not points:
        raise ModelError("has no triangles")
    with np.errstate(over="ignore"):
        vertices = vertices * factors
    return Mesh(vertices, faces[:, ::-1] if np.prod(np.sign(factors)) < 0 else faces, path)


# ----- STL ------------------------------------------------------------------------------------------------


def _read_stl(data: bytes) -> tuple[Array, IntArray]:
    """Triangles of either kind of STL file, welded."""
    count = int.from_bytes(data[80:_STL_HEADER], "little") if len(data) >= _STL_HEADER else -1
    expected = _STL_HEADER + count * _STL_TRIANGLE.itemsize
    looks_ascii = data[:512].lstrip()[:5].lower() == b"solid" and b"\0" not in data
    if count >= 0 and (len(data) == expected or (len(data) > expected and not looks_ascii)):
        corners = np.frombuffer(data, _STL_TRIANGLE, count, _STL_HEADER)["corners"]
    elif looks_ascii:
        corners = _read_ascii_stl(data)
    elif count < 0:
        raise ModelError(f"truncated: {len(data)} bytes cannot hold an STL file")
    else:
        raise ModelError(f"truncated or corrupt: {count} triangles need {expected} bytes, not {len(data)}")
    return weld(corners.reshape(-1, 3))


def _read_ascii_stl(data: bytes) -> Array:
    """Corners of an ASCII file, shape (3·nf, 3)."""
    words = _STL_VERTEX.findall(data)
    if len(words) != 3 * len(_STL_END_OF_FACET.findall(data)) or not _STL_END_OF_SOLID.search(data):
        raise ModelError("truncated or corrupt ASCII STL: a facet is incomplete, or 'endsolid' is missing")
    try:
        return np.array([[float(w) for w in row] for row in words], dtype=float)
    except ValueError as error:
        raise ModelError(f"corrupt ASCII STL ({error})") from None


# ----- MSH ------------------------------------------------------------------------------------------------


def _read_msh(data: bytes) -> tuple[Array, IntArray]:
    """Vertices and triangles of an MSH file."""
    if len(data) < _MSH_HEADER:
        raise ModelError(f"truncated: {len(data)} bytes cannot hold an MSH file")
    counts = np.frombuffer(data, "<i4", 4).astype(np.int64)
    n, n_normals, n_texture, n_faces = counts.tolist()
    expected = _MSH_HEADER + 4 * (3 * n + 3 * n_normals + 2 * n_texture + 3 * n_faces)
    if counts.min() < 0 or len(data) != expected:
        raise ModelError(f"truncated or corrupt MSH: its counts need {expected} bytes, not {len(data)}")
    vertices = np.frombuffer(data, "<f4", 3 * n, _MSH_HEADER).reshape(-1, 3)
    faces = np.frombuffer(data, "<i4", 3 * n_faces, expected - 12 * n_faces).reshape(-1, 3)
    if n_faces and not (0 <= faces.min() and faces.max() < n):
        raise ModelError(f"corrupt MSH: a face uses vertex {faces.max()}, the file has {n}")
    return vertices.astype(np.float64), faces.astype(np.int64)


# ----- Others ---------------------------------------------------------------------------------------------


def _read_obj(data: bytes) -> tuple[Array, IntArray]:
    """Vertices and triangles of an OBJ file."""
    read = read_obj(data)
    return read.vertices, read.faces


def _read_dae(data: bytes) -> tuple[Array, IntArray]:
    """Triangles of a COLLADA file, welded."""
    return weld(read_dae(data))


_READERS = {".stl": _read_stl, ".obj": _read_obj, ".msh": _read_msh, ".dae": _read_dae}
