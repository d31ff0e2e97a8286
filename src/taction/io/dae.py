"""Triangles of COLLADA files (``.dae``), which ROS packages use for meshes; by pycollada, an extra.

What is read: every geometry of the scene, with the transformations of its nodes, as triangles (polygons are
cut up), in metres by the file's ``<unit>``, and where asked for the diffuse colour of each set of them.
Lines, textures, transparency, cameras and animations are skipped.

Departure: ``<up_axis>`` is not heeded. Meshes in robot descriptions are meant in the axes of their link, and
the loaders of ROS and Pinocchio leave them as they are.

Files are not trusted: entities are refused before the library sees the text, and whatever it does not
understand is one clear error. Where no colours are asked for, or where they are broken, what is only looked
at is taken out first: a broken material is no reason to lose a shape.

References: Khronos Group, *COLLADA – Digital Asset Schema Release 1.4.1*, 2008.
"""

from __future__ import annotations

import io
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput, ModelError
from taction._core.plain_file import Room
from taction.io.xml import Element, most_parts, parse_xml, too_many
from taction.model.visual import Colour

CORNER = 24  # bytes
_LOOKS = frozenset(
    "library_images library_effects library_materials library_cameras library_lights library_animations "
    "bind_material instance_camera instance_light extra".split()
)


def read_dae(data: bytes) -> Array:
    """Corners of all triangles of a COLLADA file [m], shape (3·nf, 3).

    Raises:
        ModelError: pycollada is not installed, or the file is broken or empty.
    """
    return np.concatenate([np.zeros((0, 3)), *(corners for corners, _ in _sets(data, with_looks=False))])


def read_coloured_dae(data: bytes) -> list[tuple[Array, Colour | None]]:
    """Corners of the triangles of a COLLADA file [m], shape (3·nf, 3), set by set, each with its colour.

    Raises:
        ModelError: pycollada is not installed, or the file is broken or empty.
    """
    try:
        return _sets(data, with_looks=True)
    except ModelError:
        return _sets(data, with_looks=False)


def _sets(data: bytes, with_looks: bool) -> list[tuple[Array, Colour | None]]:
    try:
        import collada
    except ImportError:
        raise ModelError("DAE files need pycollada: pip install 'taction[dae]', or convert to STL") from None
    try:
        root = parse_xml(data, "DAE")
        _require_few_nodes(root)
        text = ET.tostring(root if with_looks else _bare(root))
    except RecursionError:
        raise ModelError("corrupt DAE (elements are nested too deeply)") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's own use of NumPy
            document = collada.Collada(io.BytesIO(text), ignore=[collada.common.DaeUnsupportedError])
            unit = document.assetInfo.unitmeter
            metre = 1.0 if unit is None else float(unit)
            return [(metre * corners, colour) for corners, colour in _triangles(document)]
    except BadInput:
        raise
    except Exception as error:  # whatever a foreign parser raises on a damaged file
        raise ModelError(f"corrupt DAE ({type(error).__name__}: {str(error)[:80]})") from None


def _require_few_nodes(root: Element) -> None:
    """Refuse nodes that stand for each other more often than a model may have elements, or without end."""
    nodes = {node.get("id"): node for node in root.iter() if _kind(node) == "node"}
    sizes: dict[str | None, int] = {}

    def size(node: ET.Element) -> int:
        """Elements of a node, those of the nodes that it stands for included."""
        total = 0
        for element in node.iter():
            total += 1
            name = element.get("url", "").removeprefix("#")
            if _kind(element) == "instance_node" and name in nodes:
                if name not in sizes:
                    sizes[name] = most_parts() + 1  # while it is not known: a node inside itself
                    sizes[name] = size(nodes[name])
                total += sizes[name]
            if total > most_parts():
                break
        return total

    count = sum(size(scene) for scene in root.iter() if _kind(scene) == "visual_scene")
    if count > most_parts():
        raise ModelError(too_many(count))


def _kind(element: ET.Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _bare(root: Element) -> Element:
    """The document without what is only looked at."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _kind(child) in _LOOKS:
                parent.remove(child)
    return root


def _triangles(document: Any) -> Iterator[tuple[Array, Colour | None]]:
    """Corners of every set of polygons in the scene, and its colour."""
    if document.scene is None:
        geometries = document.geometries
    else:
        geometries = document.scene.objects("geometry")
    room = Room()
    for geometry in geometries:
        shapes = geometry.primitives
        for shape in shapes() if callable(shapes) else shapes:
            whole = shape.triangleset() if hasattr(shape, "triangleset") else shape
            index = whole.vertex_index
            if index is not None and index.ndim == 2 and index.shape[1] == 3:  # else lines
                room.take(CORNER * index.size)
                yield np.asarray(whole.vertex, dtype=float).reshape(-1, 3)[index.ravel()], _colour(shape)


def _colour(shape: Any) -> Colour | None:
    """The diffuse colour of a set of polygons, unless it is a texture or there is none."""
    diffuse = getattr(getattr(shape.material, "effect", None), "diffuse", None)
    if not isinstance(diffuse, tuple) or len(diffuse) < 3 or not np.isfinite(diffuse).all():
        return None
    red, green, blue = np.clip(diffuse[:3], 0.0, 1.0).tolist()
    return red, green, blue, 1.0
