"""What the geoms of an MJCF model look like, as MuJoCo's own renderer shows them.

* Geoms of groups 0, 1 and 2 are drawn, whether or not they collide, unless they are transparent altogether.
* The colour is that of the geom, unless it is MuJoCo's default grey and the geom or its mesh has a material:
  then it is the material's. Textures, lights and reflections are not read.
* A mesh is named by its file, which is read when somebody draws it; a mesh of vertices in the text is itself.
* Planes are drawn as shapes of the ground: they have no visual.
* ``discardvisual`` discards materials, and geoms that do not collide.

Departures: a material that does not exist is skipped, MuJoCo refuses the file. Sites, tendons, skins and what
`taction.io.mjcf_geoms` does not read are not drawn.

References: MuJoCo XML reference, sections "geom" and "asset/material"; visualization chapter for the groups.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from taction.io.mjcf_geoms import Meshes
from taction.io.mjcf_source import integers, unit, vector
from taction.io.xml import Element, floats
from taction.model.shapes import Geometry, Plane, Shape
from taction.model.visual import Colour, MeshFile, Visual

_GROUPS = (0, 1, 2)  # that MuJoCo shows if nobody asks for others
_GREY = (0.5, 0.5, 0.5, 1.0)
_WHITE = (1.0, 1.0, 1.0, 1.0)


@dataclass
class Looks:
    """Materials by name, and the meshes they are put on."""

    meshes: Meshes
    materials: dict[str, Element] = field(default_factory=dict)

    def __post_init__(self) -> None:
        source = self.meshes.source
        for written in source.sections("asset"):
            if written.tag == "material" and not source.compiler.discard_visual:
                self.materials[written.get("name", "")] = source.completed(written)

    def visual(self, element: Element, shape: Shape) -> list[Visual]:
        """What a geom looks like, defaults filled in, of which that shape was made; none if not drawn."""
        group = integers(element, "group", 1) or [0]
        if group[0] not in _GROUPS or isinstance(shape.geometry, Plane):
            return []
        colour, geometry = self._colour(element), self._geometry(element, shape)
        if not colour[3] > 0.0 or geometry is None:
            return []
        return [Visual(geometry, shape.pose, colour, shape.name)]

    def _geometry(self, element: Element, shape: Shape) -> Geometry | MeshFile | None:
        name = element.get("mesh")
        if not name:
            return shape.geometry
        path, asset = self.meshes.path(name), self.meshes.elements[name]
        if path is None or name in self.meshes.clouds:
            return self.meshes.mesh(name)
        scale, origin = (
            vector(asset, key, (k, k, k)).tolist() for key, k in (("scale", 1.0), ("refpos", 0.0))
        )
        turn = unit(asset, vector(asset, "refquat", (1.0, 0.0, 0.0, 0.0)), "refquat").tolist()
        found = Path(os.path.abspath(path)) if os.path.isfile(path) else path
        return MeshFile(found, tuple(scale), tuple(origin), tuple(turn), has_colours=False)

    def _colour(self, element: Element) -> Colour:
        own = floats(element, "rgba", 4)
        colour = _GREY if own is None else tuple(own.tolist())
        material = self._material(element)
        if material is not None and colour == _GREY:
            given = floats(material, "rgba", 4)
            colour = _WHITE if given is None else tuple(given.tolist())
        red, green, blue, opacity = np.clip(colour, 0.0, 1.0).tolist()
        return red, green, blue, opacity

    def _material(self, element: Element) -> Element | None:
        """The material of a geom, or else that of its mesh."""
        mesh = self.meshes.elements.get(element.get("mesh", ""))
        for holder in (element, mesh):
            name = "" if holder is None else holder.get("material", "")
            if holder is not None and name:
                return self._named(name, holder.origin)
        return None

    def _named(self, name: str, origin: int) -> Element | None:
        """A material of the same model; a default class of an attached one names it without its prefix."""
        found = self.materials.get(name)
        if found is not None and found.origin == origin:
            return found
        own = (key for key, material in self.materials.items() if material.origin == origin and origin)
        return self.materials.get(next((key for key in own if key.endswith(name)), ""))
