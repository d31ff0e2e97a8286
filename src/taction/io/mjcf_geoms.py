"""Geoms of an MJCF model: shapes, surface parameters, and the inertia that MuJoCo derives from them.

What becomes what
* ``plane sphere capsule cylinder ellipsoid box mesh`` become the shapes of the same names (MJCF gives half
  lengths, ours are whole). ``fromto`` gives length, position and orientation of a capsule, cylinder, box or
  ellipsoid; as in MuJoCo, its z axis points from the second point to the first.
* The first friction number is `Material.friction`, along both axes; ``condim="1"`` is `Material.slick`,
  without friction against others like it; ``priority`` is `Material.priority`, and of equal ones the larger
  friction counts.
* ``contype`` and ``conaffinity`` are `Shape.group` and `Shape.mask`; with both zero, it does not collide.
* Mass is ``mass``, or else ``density`` (1000 kg/m³) times volume, spread evenly.
* A mesh is read from STL, OBJ or MSH, or given by ``vertex`` and ``face``; ``refpos`` is taken off,
  ``refquat`` undone, then ``scale`` applied. Without faces, it is the convex hull. A mesh that neither
  collides nor gives mass keeps only its path.

Inertia of a mesh, by its ``inertia`` attribute
    exact    volume integrals (`Inertia.solid`); the mesh must be closed
    legacy   the default. Pyramids from a centre to every face, all counted as positive, so that volume is
             counted more than once where the mesh is not star-shaped. The centre is first the centroid of the
             surface, which gives the centre of mass c, and then c, which gives mass and inertia.
    shell    mass spread over the surface; density is per area
    convex   the solid of its convex hull

Departures: height fields, SDFs, primitives fitted to a mesh and meshes made by plugins or ``builtin`` are
listed and left out. ``shellinertia`` is listed and read as a solid.

References: MuJoCo XML reference, sections "geom" and "asset/mesh"; [ORourke1998, Section 1.3.8].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.names import a
from taction.geometry.hull import hull_triangles
from taction.io.meshes import MESH_FORMATS, mesh_bytes, read_mesh
from taction.io.mjcf_source import (
    MIN_LENGTH,
    Source,
    children,
    integers,
    is_file,
    keyword,
    least,
    located,
    placement,
    turn_to,
    unit,
    vector,
)
from taction.io.obj import has_polygons
from taction.io.xml import Element, fail, floats
from taction.math.transform import Transform, rotation_from_quaternion
from taction.model.inertia import Inertia
from taction.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    Material,
    Mesh,
    Plane,
    Shape,
    Sphere,
)
from taction.model.spec import SiteSpec

_TYPES = "plane sphere capsule cylinder ellipsoid box mesh hfield sdf"
_N_SIZES = {"plane": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_FROMTO = ("capsule", "cylinder", "box", "ellipsoid")
_SITE_TYPES = "sphere capsule cylinder ellipsoid box"
_SITE_SIZE = 0.005
_DENSITY = 1000.0
_ALL_BITS = 0xFFFFFFFF


@dataclass
class Meshes:
    """Mesh assets by name; each is read when it is first needed; ``clouds`` had points alone."""

    source: Source
    elements: dict[str, Element] = field(default_factory=dict)
    read: dict[str, Mesh | None] = field(default_factory=dict)
    clouds: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for written in children_of_assets(self.source):
            element = self.source.completed(written)
            name = element.get("name") or Path(element.get("file", "")).stem
            if not name:
                fail(element, "has neither a name nor a file")
            if name in self.elements:
                fail(element, f"the name {name!r} is used twice")
            self.elements[name] = element

    def path(self, name: str) -> Path | None:
        """The file of a mesh, if it has one: in the folder for meshes, or next to the file that names it."""
        element = self.elements[name]
        file, settings = element.get("file"), self.source.settings(element)
        if not file:
            return None
        file = Path(file).name if settings.strip_path else file
        usual = self.source.folders[element.origin] / settings.mesh_folder / file
        beside = Path(element.file).parent / file
        return beside if not is_file(usual) and is_file(beside) else usual

    def mesh(self, name: str) -> Mesh | None:
        """The mesh with its reference frame and scale applied, or None if its format is not supported."""
        if name not in self.read:
            self.read[name] = self._load(name)
        return self.read[name]

    def _load(self, name: str) -> Mesh | None:
        element, path = self.elements[name], self.path(name)
        if element.get("builtin") or children(element, "plugin"):
            return None  # listed by the survey
        if path is not None and path.suffix.lower() not in MESH_FORMATS:
            self.source.notes.add(f"mesh file of format {path.suffix or 'unknown'}", element, "no shape")
            return None
        with located(element):
            raw = _inline_mesh(element) if path is None else read_mesh(path, points=True)
            if not len(raw.faces):
                self.clouds.add(name)
                if len(raw.vertices) < 4:
                    raise ModelError(f"{path or 'mesh'}: needs at least four vertices, or triangles")
                raw = Mesh(*hull_triangles(raw.vertices, str(path or "its vertices")), path)
        scale = vector(element, "scale", (1.0, 1.0, 1.0))
        if not scale.all():
            fail(element, f"scale {element.get('scale')!r} has a zero")
        quat = unit(element, vector(element, "refquat", (1.0, 0.0, 0.0, 0.0)), "refquat")
        with np.errstate(over="ignore"):  # as MuJoCo reads them: masses differ by 1e-7
            single = raw.vertices.astype(np.float32).astype(float)
        moved = single - vector(element, "refpos", (0.0, 0.0, 0.0))
        rotation = rotation_from_quaternion(quat)
        if not np.array_equal(rotation, np.eye(3)):
            moved = moved @ rotation
        with located(element):
            faces = raw.faces if np.prod(np.sign(scale)) > 0 else raw.faces[:, ::-1]
            self.source.room.take(moved.nbytes + faces.nbytes)
            return Mesh(moved * scale, faces, path)


def children_of_assets(source: Source) -> list[Element]:
    """All ``<mesh>`` assets."""
    return [element for element in source.sections("asset") if element.tag == "mesh"]


def _inline_mesh(element: Element) -> Mesh:
    vertices, faces = floats(element, "vertex"), floats(element, "face")
    if vertices is None:
        raise ModelError("has neither a file nor vertices")
    if len(vertices) % 3 or len(vertices) < 12:
        raise ModelError("needs at least four vertices of three numbers")
    if faces is None:
        return Mesh(vertices.reshape(-1, 3))
    if len(faces) % 3 or np.any(faces != np.round(faces)) or np.any(np.abs(faces) > len(vertices)):
        raise ModelError("faces must be triples of vertex numbers")
    return Mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3))


def read_geom(
    element: Element, frame: Transform, meshes: Meshes, *, weighs: bool
) -> tuple[Shape | None, Inertia]:
    """The shape of one geom, defaults filled in, and its inertia in the body frame.

    Args:
        element: the geom, with inherited attributes.
        frame: the frame in which it stands, in the body.
        meshes: mesh assets.
        weighs: whether the body takes its inertia from geoms.

    Returns:
        None and no inertia for a geom that is not supported (it is then noted).
    """
    source = meshes.source
    group = integers(element, "group", 1) or [0]
    first, last = source.settings(element).inertia_groups
    weighs = weighs and first <= group[0] <= last
    contype, conaffinity = _bits(element, "contype"), _bits(element, "conaffinity")
    collides = bool(contype or conaffinity)

    geometry, pose = _geometry(element, meshes, is_needed=weighs or collides)
    if geometry is None:
        return None, Inertia()
    with located(element):
        pose = frame @ pose
        material, name = _material(element), element.get("name", "")
        shape = Shape(geometry, pose, material, name, collides, contype, conaffinity, name)
    if not weighs or isinstance(geometry, Plane):
        return shape, Inertia()
    with located(element):
        inertia = _inertia(element, geometry, meshes)
        return shape, inertia.placed(pose)


def read_site(element: Element, frame: Transform, body: str, source: Source) -> SiteSpec:
    """A site, defaults filled in, in a frame of a body."""
    kind = keyword(element, "type", _SITE_TYPES, "sphere")
    sizes = np.full(3, _SITE_SIZE)
    given = floats(element, "size")
    if given is not None:
        sizes[: len(given[:3])] = given[:3]
    pose = placement(element, source.settings(element))
    if element.get("fromto"):
        sizes, pose = _fromto(element, kind, sizes)
    with located(element):
        return SiteSpec(element.get("name", ""), body, frame @ pose, _primitive(kind, *sizes.tolist()))


def _bits(element: Element, attribute: str) -> int:
    values = integers(element, attribute, 1)
    return 1 if values is None else values[0] & _ALL_BITS


def read_condim(element: Element) -> int:
    """Rows of a contact: 1 without friction, 3 with; 4 and 6 are listed by the survey and read as 3."""
    condim = integers(element, "condim", 1) or [3]
    if condim[0] not in (1, 3, 4, 6):
        fail(element, f"condim={condim[0]} must be 1, 3, 4 or 6")
    return condim[0]


def _material(element: Element) -> Material:
    friction = least(element, "friction", 1.0, most=3)
    priority = integers(element, "priority", 1) or [0]
    return Material(
        (friction, friction), combine="larger", priority=priority[0], slick=read_condim(element) == 1
    )


# ----- Shapes -----------------------------------------------------------------------------------------------


def _geometry(element: Element, meshes: Meshes, *, is_needed: bool) -> tuple[Geometry | None, Transform]:
    """The shape and its placement, or None for the shape if it is not supported."""
    kind, notes = keyword(element, "type", _TYPES, "sphere"), meshes.source.notes
    pose = placement(element, meshes.source.settings(element))
    if kind in ("hfield", "sdf"):
        notes.add(f"geom of type {kind}", element, "no shape")
        return None, pose
    if kind == "mesh":
        return _mesh_geometry(element, meshes, is_needed), pose
    if element.get("mesh"):
        notes.add("geom fitted to a mesh", element, "no shape")
        return None, pose
    sizes = np.zeros(3)
    given = floats(element, "size")
    if given is not None:
        if len(given) > 3:
            fail(element, f"size={element.get('size')!r} has more than 3 numbers")
        sizes[: len(given)] = given
    if element.get("fromto"):
        sizes, pose = _fromto(element, kind, sizes)
    needed = sizes[2:] if kind == "plane" else sizes[: _N_SIZES[kind]]
    if not np.all(needed > 0) or np.any(sizes[: _N_SIZES[kind]] < 0):
        fail(
            element, f"{a(kind)} needs {_N_SIZES[kind]} positive numbers in size, got {element.get('size')!r}"
        )
    with located(element):
        return _primitive(kind, *sizes.tolist()), pose


def _primitive(kind: str, a: float, b: float, c: float) -> Geometry:
    match kind:
        case "plane":
            return Plane()
        case "sphere":
            return Sphere(a)
        case "capsule":
            return Capsule(a, 2 * b)
        case "cylinder":
            return Cylinder(a, 2 * b)
        case "ellipsoid":
            return Ellipsoid((a, b, c))
    return Box((2 * a, 2 * b, 2 * c))


def _fromto(element: Element, kind: str, sizes: Array) -> tuple[Array, Transform]:
    if kind not in _FROMTO:
        fail(element, f"fromto is for {', '.join(_FROMTO)}, not for {a(kind)}")
    if vector(element, "pos", (0.0, 0.0, 0.0)).any():
        fail(element, "has both pos and fromto")
    ends = vector(element, "fromto", (0.0,) * 6)
    along = ends[:3] - ends[3:]
    half = float(np.linalg.norm(along)) / 2
    if half < MIN_LENGTH:
        fail(element, "the two points of fromto are the same")
    with located(element):
        pose = Transform(turn_to(unit(element, along, "fromto")), (ends[:3] + ends[3:]) / 2)
    radius = sizes[0]
    return np.array([radius, radius, half] if kind in ("box", "ellipsoid") else [radius, half, 0.0]), pose


def _mesh_geometry(element: Element, meshes: Meshes, is_needed: bool) -> Mesh | None:
    name = element.get("mesh")
    if not name:
        fail(element, "a geom of type mesh needs the attribute 'mesh'")
    if name not in meshes.elements:
        fail(element, f"mesh {name!r} does not exist")
    return meshes.mesh(name) if is_needed else Mesh(path=meshes.path(name))


# ----- Inertia ----------------------------------------------------------------------------------------------


def _inertia(element: Element, geometry: Geometry, meshes: Meshes) -> Inertia:
    density = least(element, "density", _DENSITY)
    if isinstance(geometry, Mesh):
        asset = meshes.elements[element.get("mesh", "")]
        solid = _mesh_inertia(geometry, asset)
        obj = geometry.path if geometry.path and geometry.path.suffix.lower() == ".obj" else None
        if obj is not None and asset.get("inertia") != "convex" and has_polygons(mesh_bytes(obj)):
            meshes.source.notes.add(
                "mesh of polygons", asset, "MuJoCo leaves out parts of such faces: its inertia differs"
            )
    else:
        solid = Inertia.solid(geometry, density=1.0)
    mass = least(element, "mass") if element.get("mass") else density * solid.mass
    return solid.scaled(mass)


def _mesh_inertia(mesh: Mesh, asset: Element) -> Inertia:
    """Inertia at unit density, per volume or, for a shell, per area."""
    kind = keyword(asset, "inertia", "convex exact legacy shell", "legacy")
    if not len(mesh.faces):
        raise ModelError("gives its body mass, but its mesh has no faces; write an <inertial> for the body")
    if kind == "exact":
        return Inertia.solid(mesh, density=1.0)
    if kind == "convex":
        return Inertia.solid(Mesh(*hull_triangles(mesh.vertices)), density=1.0)
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normals, axis=1) / 2
    if not area.sum() > 0:
        raise ModelError("its mesh has no area")
    centroid = area @ corners.mean(axis=1) / area.sum()
    if kind == "shell":
        # ∫ x xᵀ over a triangle (a, b, c) = A/12 (aaᵀ + bbᵀ + ccᵀ + ssᵀ), s = a + b + c
        return _about(corners - centroid, area, 1 / 12, centroid)
    volume = _pyramids(corners - centroid)
    if not volume.sum() > 0:
        raise ModelError("its mesh has no volume")
    # the centroid of a pyramid is at s/4 from its apex
    com = centroid + volume @ (corners - centroid).sum(axis=1) / (4 * volume.sum())
    return _about(corners - com, _pyramids(corners - com), 1 / 20, com)


def _pyramids(corners: Array) -> Array:
    """Volumes of the pyramids from the origin to triangles (n, 3, 3), all positive."""
    return np.abs(np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6


def _about(corners: Array, weights: Array, factor: float, com: Array) -> Inertia:
    """Inertia of weighted simplices from their corners (n, 3, 3) about the centre of mass."""
    points = np.concatenate([corners, corners.sum(axis=1, keepdims=True)], axis=1).reshape(-1, 3)
    second = factor * (points * np.repeat(weights, 4)[:, None]).T @ points
    return Inertia(float(weights.sum()), com, np.trace(second) * np.eye(3) - second)
