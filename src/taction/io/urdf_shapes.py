"""Collision shapes of a URDF link: box, sphere, cylinder, capsule and mesh.

Extents and radii are those of URDF. Meshes are read (`taction.io.meshes`), with their scale; one that is
missing, broken or of another format is an error that says what to do. With ``load_meshes=False`` a `Mesh`
holds its path and nothing to touch.
"""

from __future__ import annotations

import os
from pathlib import Path

from taction._core.errors import ModelError
from taction.io.meshes import find_mesh, read_mesh
from taction.io.urdf_elements import SCHEMA, Reading, child, children, needed, text, value, vector
from taction.io.xml import Element, fail
from taction.math.transform import Transform
from taction.model.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere


def read_shapes(link: Element, reading: Reading) -> list[Shape]:
    """The shapes of all ``<collision>`` of a link."""
    shapes = []
    for collision in children(link, "collision"):
        shape = shape_element(collision)
        if shape is not None:
            geometry = _mesh(shape, reading) if shape.tag == "mesh" else read_primitive(shape)
            shapes.append(Shape(geometry, read_origin(collision), name=collision.get("name", "")))
    return shapes


def shape_element(holder: Element) -> Element | None:
    """What stands in the ``<geometry>`` of an element, or None if it is of a kind that is not read."""
    element = needed(holder, "geometry")
    known = [shape for shape in children(element) if shape.tag in SCHEMA["geometry"].one.split()]
    if len(known) > 1 or not len(element):
        fail(element, f"must hold one shape, has {len(known)}")
    return known[0] if known else None


def read_primitive(shape: Element) -> Geometry:
    """A box, sphere, cylinder or capsule."""
    if shape.tag == "box":
        sizes = vector(shape, "size").tolist()
    else:
        sizes = [value(shape, attribute) for attribute in SCHEMA[shape.tag].attributes.split()]
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
    uri, scale = text(element, "filename"), vector(element, "scale", (1.0, 1.0, 1.0))
    if not scale.all():
        fail(element, f"scale {element.get('scale')!r} has a zero")
    try:
        path = find_mesh(uri, Path(reading.file).parent, reading.package_dirs)
        if not reading.load_meshes:
            return Mesh(path=path)
        if os.path.isfile(path):
            return read_mesh(path, scale)
    except ModelError as error:
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
