"""Wavefront OBJ files and the colours in their material libraries (MTL).

*OBJ* stores shared vertices in ``v`` and polygons in ``f`` lines. Four corners become two triangles along
the shorter diagonal, the one from the second corner where both are as long; more become a fan around the
first, so such a face must be convex; fewer than three are skipped. An index may be negative (counted back
from the last vertex so far) and may carry texture and normal indices (``a/b/c``), which are skipped.
``usemtl`` names the material of the faces that follow, ``mtllib`` a file of materials. Everything else is
skipped.

*MTL*: ``newmtl`` begins a material, ``Kd`` is its diffuse colour, ``d`` its opacity. What is malformed there
is skipped: it is only looked at.

References: Wavefront Technologies, *Advanced Visualizer Manual*, appendix B1.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import ModelError
from taction.model.visual import Colour

POLYGON = re.compile(rb"^[ \t]*f(?:[ \t]+[^\s#]+){5}", re.MULTILINE)


class ObjMesh(NamedTuple):
    """What an OBJ file holds."""

    vertices: Array  # (nv, 3)
    faces: IntArray  # (nf, 3)
    material: IntArray  # of each face, (nf,), a place in ``materials``
    materials: tuple[str, ...]  # their names, the first for none
    libraries: tuple[str, ...]  # files that say more of them


def read_obj(data: bytes) -> ObjMesh:
    """Vertices and triangles of an OBJ file, and which materials these have.

    Raises:
        ModelError: the file is corrupt.
    """
    vertices: list[list[float]] = []
    rings: list[list[int]] = []
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
                if len(ring) > 2:
                    rings.append(ring)
                    materials_of.append(len(materials) - 1)
            elif key == "usemtl":
                materials.append(" ".join(words))
            elif key == "mtllib":
                libraries.append(" ".join(words))
        except ValueError as error:
            raise ModelError(f"corrupt OBJ, line {number}: {line.strip()[:60]!r} ({error})") from None
    n = len(vertices)
    sizes = np.array([len(ring) for ring in rings], dtype=np.int64)
    last = max(map(max, rings), default=-1)
    if last >= n:
        raise ModelError(f"corrupt OBJ: a face uses vertex {last + 1}, the file has {n}")
    corners = np.array(list(chain.from_iterable(rings)), dtype=np.int64)
    points = np.array(vertices, dtype=float).reshape(-1, 3)
    return ObjMesh(
        points,
        _triangles(points, corners, sizes),
        np.repeat(np.array(materials_of, dtype=np.int64), sizes - 2),
        tuple(materials),
        tuple(libraries),
    )


def _triangles(points: Array, corners: IntArray, sizes: IntArray) -> IntArray:
    """Triangles (nf, 3) of polygons, whose corners (·,) follow each other, so many (m,) of each."""
    begin = np.cumsum(sizes) - sizes
    four = begin[sizes == 4, None] + np.arange(4)
    a, b, c, d = points[corners[four.T]]
    with np.errstate(over="ignore"):
        is_from_second = ((c - a) ** 2).sum(axis=1) >= ((d - b) ** 2).sum(axis=1)
    corners[four[is_from_second]] = corners[np.roll(four[is_from_second], -1, axis=1)]
    fan = np.repeat(begin, sizes - 2)
    place = np.arange(len(fan)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    return np.column_stack([corners[fan], corners[fan + place + 1], corners[fan + place + 2]])


def has_polygons(path: Path) -> bool:
    """Whether a file is an OBJ file with a face of more than four corners."""
    return path.suffix.lower() == ".obj" and POLYGON.search(path.read_bytes()) is not None


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
