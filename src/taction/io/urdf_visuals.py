"""What a URDF link looks like: ``<visual>`` and ``<material>``.

* The shape in a ``<visual>`` is placed and scaled like that of a ``<collision>``. A mesh is named by its
  file, which is read when somebody draws it: missing and broken ones are found then.
* A ``<material>`` gives the colour. A material with a name is that of the robot, or else the first one of a
  link with that name and a colour; without a name it is its own. Textures are not read.
* A visual that is not well-formed is left out: it says nothing about the mechanism.

References: http://wiki.ros.org/urdf/XML/link; urdfdom (``urdf_parser``) for what a name means.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from taction._core.errors import BadInput, ModelError
from taction.io.meshes import find_mesh
from taction.io.urdf_elements import Reading, child, children, text, vector
from taction.io.urdf_shapes import read_origin, read_primitive, shape_element
from taction.io.xml import Element, floats
from taction.model.shapes import Geometry
from taction.model.visual import Colour, MeshFile, Visual


def read_colours(root: Element) -> dict[str, Colour]:
    """Colours of materials by name: those of the robot, then the first of each name in its links."""
    own = [visual for link in children(root, "link") for visual in children(link, "visual")]
    colours: dict[str, Colour] = {}
    for material in [m for holder in (root, *own) for m in children(holder, "material")]:
        colour, name = _colour(material), material.get("name")
        if name and colour is not None:
            colours.setdefault(name, colour)
    return colours


def read_visuals(link: Element, colours: dict[str, Colour], reading: Reading) -> list[Visual]:
    """What a link looks like; ``colours`` by name of the material."""
    visuals = []
    for visual in children(link, "visual"):
        try:
            geometry = _geometry(visual, reading)
            if geometry is None:
                continue
            colour, material = None, child(visual, "material")
            if material is not None:
                colour = colours.get(material.get("name", "")) or _colour(material)
            visuals.append(Visual(geometry, read_origin(visual), colour, visual.get("name", "")))
        except BadInput:  # not well-formed
            continue
    return visuals


def _geometry(visual: Element, reading: Reading) -> Geometry | MeshFile | None:
    """The shape of a visual, or None if it is of a kind that is not read."""
    shape = shape_element(visual)
    if shape is None or shape.tag != "mesh":
        return None if shape is None else read_primitive(shape)
    uri = text(shape, "filename")
    try:
        path = find_mesh(uri, Path(reading.file).parent, reading.package_dirs)
    except ModelError:  # an address in a network, say
        path = Path(uri)
    x, y, z = vector(shape, "scale", (1.0, 1.0, 1.0)).tolist()
    return MeshFile(Path(os.path.abspath(path)) if os.path.isfile(path) else path, (x, y, z))


def _colour(material: Element) -> Colour | None:
    """The colour that a material gives itself."""
    colour = child(material, "color")
    try:
        values = None if colour is None else floats(colour, "rgba", 4)
    except ModelError:
        return None
    if values is None:
        return None
    red, green, blue, opacity = np.clip(values, 0.0, 1.0).tolist()
    return red, green, blue, opacity
