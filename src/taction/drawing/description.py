"""`Drawing`: the neutral description of what to draw: parts, poses over time, contacts, trails, curves.

Whoever draws, the page of a run, the viewer, a picture without a screen, gets this and nothing else; whoever
makes it, from a run in memory, a run file or a live simulation, knows nothing of pixels. Lengths are in
metres, forces in newtons, times in seconds; the world's axes have z up; quaternions have w first.

A body is what moves: it has a pose in every frame. A part is what is seen of it: a primitive of the kinds
that collision knows (`KINDS`), or a mesh, at a constant place on its body or, body −1, in the world.

A contact is drawn with its force on its first body, which is the one that moves, of two the thing rather than
the robot, and else the upper one; with the friction cone about its normal, and with how much of the cone the
force uses: `OPEN` where nothing presses, `INSIDE` the cone, `EDGE` on its boundary. Frames in which the laws
leave the impulses open say so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.drawing.panels import Panel
from taction.model.visual import Colour

# Kinds of parts, and what their three sizes are.
KINDS = {
    "sphere": "radius",
    "capsule": "radius, half length of the straight part",
    "box": "half extents",
    "cylinder": "radius, half length",
    "ellipsoid": "semi-axes",
    "cone": "radius, half height",
    "plane": "none: z is its normal",
    "mesh": "none: see its number",
}
LOOK, COLLISION, BOTH = "look", "collision", "both"  # when a part is shown
OPEN, INSIDE, EDGE = 0, 1, 2  # of a contact: nothing presses, inside its cone, on the cone's boundary


@dataclass(frozen=True)
class Part:
    """Something seen of a body.

    Attributes:
        kind: one of `KINDS`.
        size: three lengths by kind [m].
        body: number of the body that carries it, −1 for the world.
        position: place on the body [m], shape (3,).
        quaternion: turn against the body, w first, shape (4,).
        colour: red, green, blue, opacity; None: whoever draws chooses.
        shown: `LOOK`, `COLLISION` or `BOTH`.
        mesh: number of its mesh, −1 for a primitive.
        name: what a reader calls it.
    """

    kind: str
    size: tuple[float, float, float]
    body: int
    position: Array
    quaternion: Array
    colour: Colour | None = None
    shown: str = BOTH
    mesh: int = -1
    name: str = ""


@dataclass(frozen=True, eq=False)
class Triangles:
    """A mesh: vertices (k, 3) [m] and faces (m, 3), counter-clockwise seen from outside."""

    vertices: Array
    faces: IntArray


@dataclass(frozen=True, eq=False)
class Frames:
    """What moves, at n times; contacts of all frames in one list.

    Attributes:
        t: times [s], shape (n,).
        position: of each body [m], shape (n, b, 3).
        quaternion: of each body, w first, shape (n, b, 4).
        com: centre of mass of everything that moves [m], shape (n, 3).
        first: contacts of frame k are those from first[k] to before first[k + 1], shape (n + 1,).
        point: of each contact [m], shape (c, 3).
        normal: from the second body to the first, shape (c, 3).
        tangent: direction in which the first coefficient of friction counts, shape (c, 3).
        friction: coefficients along the tangent and across it, shape (c, 2).
        force: on the first body, world axes [N], shape (c, 3).
        state: `OPEN`, `INSIDE` or `EDGE`, shape (c,).
        pair: the two bodies, −1 for the world, shape (c, 2).
        is_open: whether the laws leave the impulses of the frame's step open, shape (n,).
    """

    t: Array
    position: Array
    quaternion: Array
    com: Array
    first: IntArray
    point: Array
    normal: Array
    tangent: Array
    friction: Array
    force: Array
    state: IntArray
    pair: IntArray
    is_open: Array

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self.t)


@dataclass(frozen=True)
class View:
    """Where to look from: the camera's angles about a target, in degrees.

    Attributes:
        name: of the view, as a reader calls it.
        azimuth: of the camera about the vertical, from x towards y [degree].
        elevation: above the horizontal [degree].
        target: what it looks at [m], shape (3,).
        half: half extents of a box about the target that holds all that is to be seen [m], shape (3,).
        follow: whether the camera moves along with the centre of mass.
    """

    name: str
    azimuth: float
    elevation: float
    target: Array
    half: Array
    follow: bool = False

    @property
    def radius(self) -> float:
        """Of a sphere about the target that holds the box [m]."""
        return float(np.linalg.norm(self.half))


@dataclass(frozen=True)
class Trail:
    """The path of a point of a body, or, body −1, of the centre of mass."""

    name: str
    body: int
    point: Array = field(default_factory=lambda: np.zeros(3))  # in the body's frame [m], shape (3,)


@dataclass(frozen=True, eq=False)
class Drawing:
    """All there is to draw of a motion.

    Attributes:
        title: what it is.
        bodies: names of the bodies.
        parts: what is seen of them.
        meshes: that parts refer to.
        frames: the motion.
        view: where to look from.
        dt: step of the simulation [s].
        trails: paths worth seeing.
        panels: curves over time.
        notes: what a reader should know, one sentence each: how frames were chosen, what could not be drawn.
    """

    title: str
    bodies: tuple[str, ...]
    parts: list[Part]
    meshes: list[Triangles]
    frames: Frames
    view: View
    dt: float
    trails: list[Trail] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
