"""Triangles of COLLADA files (``.dae``), which ROS packages use for meshes; by pycollada, an extra.

What is read: every geometry of the scene, with the transformations of its nodes, as triangles (polygons are
cut up), in metres by the file's ``<unit>``. Lines, colours, cameras and animations are skipped.

Departure: ``<up_axis>`` is not heeded. Meshes in robot descriptions are meant in the axes of their link, and
the loaders of ROS and Pinocchio leave them as they are.

Files are not trusted: entities are refused before the library sees the text, and whatever it does not
understand is one clear error. What is only looked at is taken out first: a broken material is no reason to
lose a shape.

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
from taction._core.errors import ModelError
from taction.io.xml import Element, parse_xml

_LOOKS = frozenset(
    "library_images library_effects library_materials library_cameras library_lights library_animations "
    "bind_material instance_camera instance_light extra".split()
)


def read_dae(data: bytes) -> Array:
    """Corners of all triangles of a COLLADA file [m], shape (3·nf, 3).

    Raises:
        ModelError: pycollada is not installed, or the file is broken or empty.
    """
    try:
        import collada
    except ImportError:
        raise ModelError("DAE files need pycollada: pip install 'taction[dae]', or convert to STL") from None
    try:
        text = ET.tostring(_bare(parse_xml(data, "DAE")))
    except RecursionError:
        raise ModelError("corrupt DAE (elements are nested too deeply)") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's own use of NumPy
            document = collada.Collada(io.BytesIO(text), ignore=[collada.common.DaeUnsupportedError])
            unit = document.assetInfo.unitmeter
            corners = [np.zeros((0, 3)), *_triangles(document)]
    except Exception as error:  # whatever a foreign parser raises on a damaged file
        raise ModelError(f"corrupt DAE ({type(error).__name__}: {str(error)[:80]})") from None
    return (1.0 if unit is None else float(unit)) * np.concatenate(corners)


def _bare(root: Element) -> Element:
    """The document without what is only looked at."""
    for parent in list(root.iter()):
        for child in list(parent):
            if str(child.tag).rpartition("}")[2] in _LOOKS:
                parent.remove(child)
    return root


def _triangles(document: Any) -> Iterator[Array]:
    """Corners of every set of polygons in the scene."""
    if document.scene is None:
        geometries = document.geometries
    else:
        geometries = document.scene.objects("geometry")
    for geometry in geometries:
        shapes = geometry.primitives
        for shape in shapes() if callable(shapes) else shapes:
            whole = shape.triangleset() if hasattr(shape, "triangleset") else shape
            index = whole.vertex_index
            if index is not None and index.ndim == 2 and index.shape[1] == 3:  # else lines
                yield np.asarray(whole.vertex, dtype=float).reshape(-1, 3)[index.ravel()]
