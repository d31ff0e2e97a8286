"""Parts of a model: what is seen of every body and of the ground.

A body that has looks of its own (visuals of its file) is shown by them, its collision shapes on request;
other bodies are shown by what they collide with; those of a robot without any are rods from joint to joint.
Collision shapes are drawn as they collide: a mesh as its convex hull, terrain as its triangles.

Large meshes are made smaller: all vertices in one cell of a cube grid become one, their mean, and triangles
that lose a corner go; the grid is refined until just below the budget [RossignacBorrel1993]. It is said how
many triangles are left. A file that cannot be read is said, too, and the collision shapes are shown instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.drawing.description import BOTH, COLLISION, LOOK, Part, Triangles
from taction.drawing.outline import outline_bodies
from taction.geometry.hull import hull_triangles
from taction.io.visual_meshes import visual_parts
from taction.math.transform import Transform, rotation_aligning_z
from taction.model.model import Model
from taction.model.shapes import Geometry, Mesh, Shape
from taction.model.visual import Colour, Visual

# Triangles of all meshes together; more are simplified, each mesh by the same share.
MOST_TRIANGLES = 120_000
# Radius of a rod that stands for a body without shapes, by its length.
ROD = 0.04


# Colours of bodies whose files have none: one per robot or object, its links alternately lighter.
PALETTE = ("#4f7cac", "#d98032", "#5b9a68", "#b5596b", "#7d6ab0", "#3f9aa1", "#a08352", "#8a929d")
LIGHTER = 0.28


class Workshop:
    """Gathers parts and meshes; equal meshes are kept once."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.meshes: list[Triangles] = []
        self.notes: list[str] = []
        self._known: dict[object, int] = {}

    def add(self, part: Part) -> None:
        """One more part."""
        self.parts.append(part)

    def mesh(self, key: object, vertices: Array, faces: IntArray) -> int:
        """Number of a mesh, under a key by which it is known again."""
        if key not in self._known:
            self._known[key] = len(self.meshes)
            self.meshes.append(Triangles(np.asarray(vertices, float), np.asarray(faces, np.int64)))
        return self._known[key]


def parts_of_model(model: Model) -> Workshop:
    """Everything that is seen of a model: bodies in the order of ``model.body_names``, and the ground."""
    shop, spec = Workshop(), model.spec
    _carried(shop, -1, spec.ground_visuals, spec.ground, "ground")
    rods, colours, robots = outline_bodies(model), own_colours(model), [robot for robot, _ in hanging(model)]
    seen = {robots[k] for k, body in enumerate(spec.bodies) if body.visuals or body.shapes}
    for number, body in enumerate(spec.bodies):
        _carried(shop, number, body.visuals, body.shapes, body.name)
        if robots[number] not in seen:
            for line in rods[number].lines:
                _rod(shop, number, line, body.name)
    shop.parts = [
        replace(part, colour=colours[part.body]) if part.colour is None and part.body >= 0 else part
        for part in shop.parts
    ]
    shop.meshes = _within_budget(shop)
    return shop


def own_colours(model: Model) -> list[Colour]:
    """A colour per body: the same for all that hangs together, every second link of a chain lighter."""
    out = []
    for robot, depth in hanging(model):
        base = [int(PALETTE[robot % len(PALETTE)][i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
        r, g, b = (x + (LIGHTER * (1.0 - x) if depth % 2 else 0.0) for x in base)
        out.append((r, g, b, 1.0))
    return out


def hanging(model: Model) -> list[tuple[int, int]]:
    """Of each body: number of the robot or object that it is of, and how many joints above it hang there."""
    number = {body.name: k for k, body in enumerate(model.spec.bodies)}
    out, robots = [(0, 0)] * len(number), 0
    for joint in model.spec.joints:  # parents come first
        parent = number.get(joint.parent)
        if parent is None:
            out[number[joint.child]], robots = (robots, 0), robots + 1
        else:
            out[number[joint.child]] = out[parent][0], out[parent][1] + 1
    return out


def _carried(shop: Workshop, body: int, visuals: list[Visual], shapes: list[Shape], name: str) -> None:
    """Looks and shapes of a body."""
    has_looks = False
    for visual in visuals:
        try:
            for geometry, colour in visual_parts(visual):
                _place(shop, body, geometry, visual.pose, colour, LOOK, visual.name or name, is_hull=False)
                has_looks = True
        except BadInput as error:
            shop.notes.append(f"{name} is drawn by its collision shapes: {error}.")
            shop.parts = [part for part in shop.parts if not (part.body == body and part.shown == LOOK)]
            has_looks = False
            break
    for shape in shapes:
        is_plane = shape.geometry.label == "plane"
        shown = COLLISION if has_looks and not is_plane else BOTH
        if shape.collides or not has_looks:
            _place(shop, body, shape.geometry, shape.pose, None, shown, shape.name or name, shape.collides)


def _place(
    shop: Workshop,
    body: int,
    geometry: Geometry,
    pose: Transform,
    colour: Colour | None,
    shown: str,
    name: str,
    is_hull: bool,
) -> None:
    """Parts of a geometry on a body; its pieces one by one."""
    if isinstance(geometry, Mesh) and not len(geometry.vertices):
        return
    for piece, own in geometry.pieces():
        placed = pose @ own
        kind, size, mesh = _draw(shop, piece, is_hull)
        shop.add(
            Part(kind, size, body, placed.translation, placed.quaternion, colour, shown, mesh, name or kind)
        )


def _draw(shop: Workshop, piece: Geometry, is_hull: bool) -> tuple[str, tuple[float, float, float], int]:
    """Kind, sizes and mesh of a piece."""
    none = (0.0, 0.0, 0.0)
    if isinstance(piece, Mesh) and len(piece.faces) and not is_hull:
        return "mesh", none, shop.mesh(id(piece.vertices), piece.vertices, piece.faces)
    collider = piece.collider()
    if collider.points is not None:
        return "mesh", none, shop.mesh(("hull", id(collider.points)), *hull_triangles(collider.points))
    if collider.heights is not None:
        length, width, _ = collider.size
        return (
            "mesh",
            none,
            shop.mesh(id(collider.heights), *terrain_triangles(collider.heights, length, width)),
        )
    a, b, c = (float(x) for x in collider.size)
    return collider.kind.name.lower(), (a, b, c), -1


def terrain_triangles(heights: Array, length: float, width: float) -> tuple[Array, IntArray]:
    """Vertices and triangles of a height field (rows along y, columns along x), centred, two per cell [m]."""
    rows, columns = heights.shape
    x, y = (np.arange(columns) - 0.5 * (columns - 1)) * length, (np.arange(rows) - 0.5 * (rows - 1)) * width
    vertices = np.stack([np.tile(x, rows), np.repeat(y, columns), heights.ravel()], axis=1)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return vertices, np.concatenate([lower, upper])


def _rod(shop: Workshop, body: int, line: Array, name: str) -> None:
    """A rod between two points (2, 3) of a body."""
    along = line[1] - line[0]
    length = float(np.linalg.norm(along))
    if length > 1e-9:
        pose = Transform(rotation_aligning_z(along / length), line.mean(axis=0))
        size = (ROD * length, 0.5 * length, 0.0)
        shop.add(Part("capsule", size, body, pose.translation, pose.quaternion, None, BOTH, -1, name))


def _within_budget(shop: Workshop) -> list[Triangles]:
    """The meshes, simplified where they have too many triangles together."""
    total = sum(len(mesh.faces) for mesh in shop.meshes)
    if total <= MOST_TRIANGLES:
        return shop.meshes
    share = MOST_TRIANGLES / total
    out = [simplified(mesh, max(200, int(share * len(mesh.faces)))) for mesh in shop.meshes]
    left = sum(len(mesh.faces) for mesh in out)
    shop.notes.append(f"Meshes are simplified from {total} to {left} triangles by merging close vertices.")
    return out


def simplified(mesh: Triangles, most: int) -> Triangles:
    """A mesh of at most so many triangles, by merging vertices in the cells of a grid."""
    if len(mesh.faces) <= most:
        return mesh
    low, size = mesh.vertices.min(axis=0), float(np.ptp(mesh.vertices, axis=0).max())
    coarse, fine, best = 4.0, 2048.0, mesh
    for _ in range(9):  # cells along the longest side, by bisection of their logarithm
        cells = float(np.sqrt(coarse * fine))
        found = _clustered(mesh, low, size / cells)
        if len(found.faces) > most:
            fine = cells
        else:
            coarse, best = cells, found
    return best if best is not mesh else _clustered(mesh, low, size / coarse)


def _clustered(mesh: Triangles, low: Array, cell: float) -> Triangles:
    """Vertices in one cell become their mean; triangles that lose a corner go."""
    x, y, z = np.floor((mesh.vertices - low) / cell).astype(np.int64).T
    _, inverse, count = np.unique((x << 42) | (y << 21) | z, return_inverse=True, return_counts=True)
    inverse = np.asarray(inverse).ravel()
    means = np.stack([np.bincount(inverse, mesh.vertices[:, k]) for k in range(3)], axis=1) / count[:, None]
    faces = inverse[mesh.faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Triangles(means, faces[whole])


def corners(parts: list[Part], meshes: list[Triangles]) -> Iterator[tuple[int, Array]]:
    """Body and corners (k, 3) of a box around each bounded part, in the body's frame [m]."""
    from taction.drawing.motion import rotate

    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    for part in parts:
        if part.kind == "plane":
            continue
        middle, half = np.zeros(3), np.array(part.size)
        if part.kind == "mesh":
            low, high = meshes[part.mesh].vertices.min(axis=0), meshes[part.mesh].vertices.max(axis=0)
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
        elif part.kind == "sphere":
            half = np.full(3, part.size[0])
        elif part.kind in ("capsule", "cylinder", "cone"):
            radius, length, _ = part.size
            half = np.array([radius, radius, length + (radius if part.kind == "capsule" else 0.0)])
        points = middle + signs * half
        yield part.body, part.position + rotate(np.broadcast_to(part.quaternion, (8, 4)), points)
