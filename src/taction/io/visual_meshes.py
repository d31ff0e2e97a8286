"""Meshes that are only seen, with the colours their files give them.

A `MeshFile` of a description is read here, when somebody draws it: STL and MSH, which have no colours; OBJ,
with the colours of the material libraries in its folder; COLLADA, with diffuse colours. Those of one colour
become one mesh. Textures are not read.

What to draw of body ``i`` of a model, in its frame:

    for visual in looks(body.shapes, body.visuals):      # body = model.spec.bodies[i]
        for geometry, colour in visual_parts(visual): ...
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput, ModelError, printable
from taction._core.plain_file import Room, read_plain
from taction.io.dae import read_coloured_dae
from taction.io.meshes import GROWTH, made_mesh, mesh_bytes, read_mesh
from taction.io.obj import read_mtl, read_obj
from taction.io.weld import weld
from taction.math.transform import rotation_from_quaternion
from taction.model.shapes import Geometry, Mesh
from taction.model.visual import Colour, MeshFile, Visual

MOST_LIBRARIES, MOST_COLOURS = 100, 1000  # of an OBJ file; what has other colours has the first
# Vertices (nv, 3) and faces (nf, 3) of one colour.
_Part = tuple[Array, IntArray, Colour | None]


def visual_parts(visual: Visual) -> list[tuple[Geometry, Colour | None]]:
    """Shapes and colours of a visual, in its pose; a mesh file is read.

    A colour in a mesh file counts first, then that of the visual; None if neither says.

    Raises:
        ModelError: the mesh file is missing, of a format that is not read, or broken.
    """
    if isinstance(visual.geometry, MeshFile):
        parts = read_visual_mesh(visual.geometry)
        return [(mesh, visual.colour if colour is None else colour) for mesh, colour in parts]
    return [(visual.geometry, visual.colour)]


def read_visual_mesh(file: MeshFile) -> list[tuple[Mesh, Colour | None]]:
    """Read a mesh file: one mesh for each colour in it, None where it has none.

    Raises:
        ModelError: the file is missing, of a format that is not read, or broken.
    """
    try:
        rotation = rotation_from_quaternion(file.turn)
        return [
            (made_mesh((vertices - np.array(file.origin)) @ rotation, faces, file.scale, file.path), colour)
            for vertices, faces, colour in _parts(file)
        ]
    except BadInput as error:
        text = str(error)
        is_named = text.startswith(printable(str(file.path)))
        raise ModelError(text if is_named else f"{file.path}: {text}") from None


def _parts(file: MeshFile) -> list[_Part]:
    """What the file holds, colour by colour."""
    kind = file.path.suffix.lower()
    if file.has_colours and kind == ".obj":
        return _obj_parts(file.path)
    if file.has_colours and kind == ".dae":
        return _dae_parts(file.path)
    mesh = read_mesh(file.path)
    return [(mesh.vertices, mesh.faces, None)]


def _obj_parts(path: Path) -> list[_Part]:
    read = read_obj(mesh_bytes(path))
    colours: dict[str, Colour] = {}
    room = Room()
    for library in dict.fromkeys(map(os.path.normpath, read.libraries[:MOST_LIBRARIES])):
        is_beside = not os.path.isabs(library) and not library.startswith(os.pardir)
        if is_beside and library.lower().endswith(".mtl"):
            with suppress(OSError, BadInput):  # it is only looked at
                text = read_plain(path.parent / library, GROWTH)
                room.take(GROWTH * len(text))
                colours |= read_mtl(text)
    colour_of = [colours.get(name) for name in read.materials]
    chosen = list(dict.fromkeys(colour_of[k] for k in np.unique(read.material).tolist()))[:MOST_COLOURS]
    part_of = {colour: k for k, colour in enumerate(chosen)}
    part = np.array([part_of.get(colour, 0) for colour in colour_of])[read.material]
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(len(chosen)), side="right")
    parts = []
    for mine, colour in zip(np.split(order, ends), chosen, strict=False):
        used, faces = np.unique(read.faces[mine], return_inverse=True)
        parts.append((read.vertices[used], faces.reshape(-1, 3), colour))
    return parts or [(read.vertices, read.faces, None)]


def _dae_parts(path: Path) -> list[_Part]:
    sets: dict[Colour | None, list[Array]] = {}
    for corners, colour in read_coloured_dae(mesh_bytes(path)):
        sets.setdefault(colour, []).append(corners)
    parts = [(*weld(np.concatenate(corners)), colour) for colour, corners in sets.items()]
    return [part for part in parts if len(part[1])] or [(np.zeros((0, 3)), np.zeros((0, 3), np.int64), None)]
