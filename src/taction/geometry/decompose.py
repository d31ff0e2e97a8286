"""Concave meshes as unions of convex pieces, and how far these are from the mesh.

A mesh collides as its convex hull: a cup is full, a hook has no inside. Where that matters, the mesh is cut
into pieces that are nearly convex, each of which collides as its own hull.

Method: CoACD, a library of its own (``pip install 'taction[decompose]'``), cuts where a tree search finds
planes that leave the least concavity, until that of each piece is below a threshold, here in metres. How far
the union of the pieces is from the mesh is measured afterwards (`taction.geometry.surface_error`), whatever
the library believes. A mesh whose hull is within the tolerance is left alone.

The library runs in a process of its own: it is C++ that ends with a crash on some broken meshes, and it
prints. Its seed is fixed, and pieces are kept on disk (`taction._core.kept`).

Cost: seconds to minutes for a mesh, once.

References: [WeiLiuLingSu2022] for CoACD.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from taction._core.archive import read_archive
from taction._core.arrays import Array
from taction._core.errors import BadInput, ModelError, UnsupportedFeatureWarning
from taction._core.expect import instance, number
from taction._core.kept import Arrays, kept, key_of, version_of
from taction.geometry.hull import convex_hull, hull_triangles
from taction.geometry.surface_error import hull_error, surface_error
from taction.math.transform import Transform
from taction.model.shapes import Geometry, Mesh, Shape, Union
from taction.model.spec import ModelSpec

CORNERS = 64  # of a piece at most
SEED = 1
SOURCES = tuple(f"geometry/{name}.py" for name in ("decompose", "surface_error", "hull", "hull_faces"))
WORKER = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import numpy as np, coacd
coacd.set_log_level("error")
given = np.load(sys.argv[2])
pieces = coacd.run_coacd(
    coacd.Mesh(given["vertices"], given["faces"]), threshold=float(given["threshold"]), real_metric=True,
    max_ch_vertex=int(given["corners"]), seed=int(given["seed"]),
)
np.savez(sys.argv[3], count=[len(v) for v, _ in pieces], points=np.concatenate([v for v, _ in pieces]))
"""


class Decomposition(NamedTuple):
    """What a mesh collides as, and how well.

    Attributes:
        shape: a `Union` of convex meshes; the mesh itself where its hull is good enough.
        error: largest distance between the surface that collides and that of the mesh [m].
        hull_error: the same for the hull of the whole mesh [m].
    """

    shape: Geometry
    error: float
    hull_error: float


def decompose(mesh: Mesh, tolerance: float) -> Decomposition:
    """Cut a mesh into convex pieces.

    Args:
        mesh: with faces; best a closed surface.
        tolerance: how concave a piece may be [m]. The error that results is measured, and can be larger.

    Raises:
        BadInput: the tolerance is not a positive length.
        ModelError: the mesh has no faces or no volume, or CoACD is missing or fails.
    """
    instance(mesh, Mesh, "what is decomposed")
    tolerance = number(tolerance, "tolerance")
    if not tolerance > 0.0:
        raise BadInput(f"tolerance must be a length above 0 m, got {tolerance:g}")
    if not len(mesh.faces):
        raise ModelError(f"the {mesh.label} has no faces, so it cannot be cut into pieces")

    def make() -> Arrays:
        whole = hull_error(mesh)
        pieces = [mesh.vertices] if whole <= tolerance else _cut(mesh, tolerance)
        error = whole if len(pieces) == 1 and whole <= tolerance else surface_error(mesh, pieces)
        return [np.array([len(piece) for piece in pieces]), np.concatenate(pieces), np.array([error, whole])]

    measures = np.array([tolerance])
    key = key_of("pieces", SOURCES, (version_of("coacd"),), mesh.vertices, mesh.faces, measures)
    count, points, (error, whole) = kept(key, make, _fits)
    if whole <= tolerance:
        return Decomposition(mesh, float(whole), float(whole))
    pieces = np.split(points, np.cumsum(count)[:-1])
    parts = tuple((Mesh(*hull_triangles(piece), mesh.path), Transform()) for piece in pieces)
    return Decomposition(Union(parts), float(error), float(whole))


def decompose_shapes(spec: ModelSpec, tolerance: float | None, strict: bool = False) -> ModelSpec:
    """Let the meshes of a description collide as convex pieces, in place; with None as their hulls.

    What stays farther from its mesh than the tolerance is named in a warning, or refused if strict.

    Raises:
        BadInput, ModelError: those of `decompose`.
    """
    if tolerance is None:
        return spec
    far: dict[str, str] = {}
    for shapes in (spec.ground, *(body.shapes for body in spec.bodies)):
        shapes[:] = [_decomposed(shape, tolerance, far) for shape in shapes]
    if far:
        message = f"{spec.source or spec.name}: meshes that collide farther from their surface than asked:"
        message = "\n  ".join([message, *far.values()])
        if strict:
            raise ModelError(message)
        warnings.warn(message, UnsupportedFeatureWarning, stacklevel=3)
    return spec


def _decomposed(shape: Shape, tolerance: float, far: dict[str, str]) -> Shape:
    mesh = shape.geometry
    if not (shape.collides and isinstance(mesh, Mesh) and len(mesh.faces)):
        return shape
    found = decompose(mesh, tolerance)
    if found.error > tolerance:
        pieces = len(found.shape.pieces())
        far[mesh.label] = (
            f"{mesh.label}: {pieces} pieces, {found.error:.2g} m (its hull {found.hull_error:.2g} m)"
        )
    return replace(shape, geometry=found.shape)


def _fits(arrays: Arrays) -> bool:
    """Whether arrays are the sizes of pieces, their points, and two distances."""
    if [array.dtype.kind for array in arrays] != ["i", "f", "f"]:
        return False
    count, points, errors = arrays
    return (
        count.ndim == 1
        and len(count) > 0
        and bool((count >= 4).all())
        and points.shape == (count.sum(), 3)
        and errors.shape == (2,)
        and all(bool(np.isfinite(array).all()) for array in (points, errors))
    )


def _cut(mesh: Mesh, tolerance: float) -> list[Array]:
    """Points of each convex piece that CoACD finds."""
    if find_spec("coacd") is None:
        raise ModelError("convex pieces need coacd: pip install 'taction[decompose]'")
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npz"
        numbers = {"threshold": tolerance, "corners": CORNERS, "seed": SEED}
        np.savez(given, vertices=mesh.vertices, faces=mesh.faces, **numbers)  # type: ignore[arg-type]
        command = [sys.executable, "-c", WORKER, json.dumps(sys.path), str(given), str(found)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not found.is_file():
            said = next(_last_lines(done.stderr), f"it ended with {done.returncode}")
            raise ModelError(f"the {mesh.label} cannot be cut into pieces: CoACD failed ({said[:120]})")
        arrays = read_archive(found)
    pieces = np.split(arrays["points"], np.cumsum(arrays["count"])[:-1])
    return [piece for piece in pieces if _has_volume(piece)]


def _has_volume(piece: Array) -> bool:
    """Whether points make a body: slivers that are flat are left out."""
    try:
        convex_hull(piece)
    except ModelError:
        return False
    return True


def _last_lines(text: str) -> Iterator[str]:
    """Lines that say something, the last one first."""
    return (line.strip() for line in reversed(text.splitlines()) if line.strip())
