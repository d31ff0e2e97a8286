"""Collision shapes of a URDF link: box, sphere, cylinder, capsule and mesh.

Extents and radii are those of URDF. Meshes are read (`taction.io.meshes`), with their scale; one that is
missing, broken or of another format is an error that says what to do. With ``load_meshes=False`` a `Mesh`
holds its path and nothing to touch. A ``<collision>`` without a shape, with a length of zero, or with a mesh
that is flat is listed, and no shape comes of it.
"""

from __future__ import annotations

import os
from pathlib import Path

from taction._core.errors import BadInput, ModelError
from taction.geometry.hull import is_flat
from taction.io.meshes import find_mesh, read_mesh
from taction.io.urdf_elements import SCHEMA, Reading, child, children, needed, text, value, vector
from taction.io.xml import Element, fail, floats
from taction.math.transform import Transform
from taction.model.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere

NOTHING = "nothing touches it"


def read_shapes(link: Element, reading: Reading) -> list[Shape]:
    """The shapes of all ``<collision>`` of a link."""
    shapes = []
    for collision in children(link, "collision"):
        shape = _touching(collision, link, reading)
        if shape is None:
            continue
        geometry = _mesh(shape, reading) if shape.tag == "mesh" else read_primitive(shape)
        is_read = not isinstance(geometry, Mesh) or reading.load_meshes
        if is_read and isinstance(geometry, Mesh) and is_flat(geometry.vertices):
            reading.notes.add("collision mesh that is flat", shape, NOTHING, of=link.label)
            continue
        name = collision.get("name", "")
        shapes.append(Shape(geometry, read_origin(collision), name=name, collides=is_read))
    return shapes


def _touching(collision: Element, link: Element, reading: Reading) -> Element | None:
    """The shape of a ``<collision>``; None, with a note, if there is none or it has no extent."""
    holder = child(collision, "geometry")
    if holder is None or not len(holder):
        reading.notes.add("collision without a shape", collision, NOTHING, of=link.label)
        return None
    shapes = _known(holder)
    for other in shapes[1:]:
        if other.tag != shapes[0].tag:  # of two alike the survey has a note
            reading.notes.add("second shape of one geometry", other, "the first one counts", of=link.label)
    if not shapes:
        return None
    if len(shapes[0].get("scale", "").split()) > 3:
        reading.notes.add(
            "scale of more than three numbers", shapes[0], "the first three count", of=link.label
        )
    if 0.0 in _extents(shapes[0]):
        reading.notes.add("collision shape without extent", shapes[0], NOTHING, of=link.label)
        return None
    return shapes[0]


def shape_element(holder: Element) -> Element | None:
    """What stands in the ``<geometry>`` of an element, or None if it is of a kind that is not read."""
    element = needed(holder, "geometry")
    if not len(element):
        fail(element, "must hold a shape")
    return next(iter(_known(element)), None)


def _known(geometry: Element) -> list[Element]:
    """The shapes in a ``<geometry>`` that are of a kind that is read."""
    return [shape for shape in children(geometry) if shape.tag in SCHEMA["geometry"].one.split()]


def _extents(shape: Element) -> list[float]:
    """Lengths of a shape, or the factors that scale a mesh."""
    if shape.tag == "mesh":
        scale = floats(shape, "scale")
        if scale is not None and len(scale) < 3:
            fail(shape, f"scale={shape.get('scale')!r} needs 3 numbers")
        return [1.0, 1.0, 1.0] if scale is None else scale[:3].tolist()
    if shape.tag == "box":
        return vector(shape, "size").tolist()
    return [value(shape, attribute) for attribute in SCHEMA[shape.tag].attributes.split()]


def read_primitive(shape: Element) -> Geometry:
    """A box, sphere, cylinder or capsule."""
    sizes = _extents(shape)
    try:
        match shape.tag:
            case "box":
                x, y, z = sizes
                return Box((x, y, z))
            case "sphere":
                return Sphere(*sizes)
            case "cylinder":
                return Cylinder(*sizes)
        return Capsule(*sizes)
    except ModelError as error:
        fail(shape, str(error))


def _mesh(element: Element, reading: Reading) -> Mesh:
    uri, scale = text(element, "filename"), _extents(element)
    try:
        path = find_mesh(uri, Path(reading.file).parent, reading.package_dirs)
        if not reading.load_meshes:
            return Mesh(path=path)
        if os.path.isfile(path):
            mesh = read_mesh(path, scale)
            reading.room.take(mesh.vertices.nbytes + mesh.faces.nbytes)
            return mesh
    except BadInput as error:
        fail(element, str(error))
    where = "package_dirs=[folder of the package]" if "://" in uri else "the file beside the description"
    fail(element, f"{uri!r} does not exist; give {where}, or load_meshes=False to leave meshes out")


def read_origin(element: Element) -> Transform:
    """The placement in the ``<origin>`` of an element."""
    origin = child(element, "origin")
    if origin is None:
        return Transform()
    zero = (0.0, 0.0, 0.0)
    return Transform.from_rpy(vector(origin, "xyz", zero), vector(origin, "rpy", zero))
