"""Wavefront OBJ files and the colours in their material libraries (MTL).

*OBJ* stores shared vertices in ``v`` and polygons in ``f`` lines. Polygons become fans around their first
corner, so a face must be convex; an index may be negative (counted back from the last vertex so far) and may
carry texture and normal indices (``a/b/c``), which are skipped. ``usemtl`` names the material of the faces
that follow, ``mtllib`` a file of materials. Everything else is skipped.

*MTL*: ``newmtl`` begins a material, ``Kd`` is its diffuse colour, ``d`` its opacity. What is malformed there
is skipped: it is only looked at.

References: Wavefront Technologies, *Advanced Visualizer Manual*, appendix B1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import ModelError
from taction.model.visual import Colour


class ObjMesh(NamedTuple):
    """What an OBJ file holds."""

    vertices: Array  # (nv, 3)
    faces: IntArray  # (nf, 3)
    material: IntArray  # of each face, (nf,), a place in ``materials``
    materials: tuple[str, ...]  # their names, the first for none
    libraries: tuple[str, ...]  # files that say more of them


def read_obj(data: bytes) -> ObjMesh:
    """Vertices and fan triangles of an OBJ file, and which materials these have.

    Raises:
        ModelError: the file is corrupt.
    """
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    materials, materials_of, libraries = [""], list[int](), list[str]()
    lines = data.decode("utf-8", errors="replace").replace("\\\r\n", " ").replace("\\\n", " ").split("\n")
    for number, line in enumerate(lines, start=1):
        key, *words = line.partition("#")[0].split() or [""]
        try:
            if key == "v":
                x, y, z = (float(w) for w in words[:3])
                vertices.append([x, y, z])
            elif key == "f":
                ring = [_obj_index(w, len(vertices)) for w in words]
                if len(ring) < 3:
                    raise ValueError("a face needs three corners")
                faces.extend((ring[0], b, c) for b, c in pairwise(ring[1:]))
                materials_of.extend([len(materials) - 1] * (len(ring) - 2))
            elif key == "usemtl":
                materials.append(" ".join(words))
            elif key == "mtllib":
                libraries.append(" ".join(words))
        except ValueError as error:
            raise ModelError(f"corrupt OBJ, line {number}: {line.strip()[:60]!r} ({error})") from None
    n = len(vertices)
    for face in faces:
        if not all(0 <= i < n for i in face):
            raise ModelError(f"corrupt OBJ: a face uses vertex {max(face) + 1}, the file has {n}")
    return ObjMesh(
        np.array(vertices, dtype=float).reshape(-1, 3),
        np.array(faces, dtype=np.int64).reshape(-1, 3),
        np.array(materials_of, dtype=np.int64),
        tuple(materials),
        tuple(libraries),
    )


def _obj_index(word: str, count: int) -> int:
    """Vertex index from 0 of one corner ``a``, ``a/b``, ``a//c`` or ``a/b/c``, after ``count`` vertices."""
    index = int(word.partition("/")[0])
    if index == 0 or index < -count:
        raise ValueError(f"index {index} is out of range")
    return index - 1 if index > 0 else count + index


def read_mtl(data: bytes) -> dict[str, Colour]:
    """Colours of the materials in an MTL file, by name."""
    diffuse: dict[str, list[float]] = {}
    opacity: dict[str, float] = {}
    name = ""
    for line in data.decode("utf-8", errors="replace").splitlines():
        key, *words = line.partition("#")[0].split() or [""]
        if key == "newmtl":
            name = " ".join(words)
        try:
            if key == "Kd":
                diffuse[name] = [float(w) for w in words[:3]]
            elif key == "d":
                opacity[name] = float(words[-1])
        except (IndexError, ValueError):
            continue
    colours: dict[str, Colour] = {}
    for name, values in diffuse.items():
        if len(values) == 3 and np.isfinite([*values, opacity.get(name, 1.0)]).all():
            red, green, blue, alpha = np.clip([*values, opacity.get(name, 1.0)], 0.0, 1.0).tolist()
            colours[name] = red, green, blue, alpha
    return colours
