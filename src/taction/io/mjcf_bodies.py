"""Bodies, joints and inertias of an MJCF model.

What becomes what
* ``<body>`` is a body, welded to its parent (a fixed joint) if it has no joints. Bodies are taken depth
  first, as MuJoCo does, so that the coordinates come in the same order. ``<frame>`` places what is inside it,
  joints included, and is gone then.
* Joints: `taction.io.mjcf_joints`. With several, all but the last move massless bodies named
  ``<body>/<joint>``.
* A ``site`` with a name is a `SiteSpec`.
* A ``free`` joint has its frame at the world's; the pose of the body is its initial position.
* Inertia comes from ``<inertial>``, or else from geoms, as ``inertiafromgeom`` and ``inertiagrouprange`` say;
  then ``boundmass`` and ``boundinertia``, ``balanceinertia`` and ``settotalmass`` apply, in this order.

Departures
* Inertias may violate the triangle inequality by 0.1 % (rounding in files); MuJoCo allows nothing. A body
  whose mass sits in one point is accepted, if the mechanism as a whole is regular.

References: MuJoCo XML reference, section "(world)body".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from taction._core.names import instead
from taction.io.mjcf_geoms import Meshes, read_geom, read_site
from taction.io.mjcf_joints import check_combination, read_joint
from taction.io.mjcf_source import (
    ORIENTATIONS,
    Compiler,
    Source,
    children,
    least,
    located,
    placement,
    vector,
)
from taction.io.mjcf_visuals import Looks
from taction.io.xml import Element, fail, floats
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.shapes import Plane, Shape
from taction.model.spec import WORLD, BodySpec, JointSpec, ModelSpec
from taction.model.visual import Visual

# Masses at or below this count as none [kg]; MuJoCo's mjMINVAL.
_MIN_MASS = 1e-15


@dataclass
class _Body:
    """A body of the file: what is known while reading, besides its `BodySpec`.

    Attributes:
        element: where it is written.
        spec: what becomes of it.
        parent: the body around it, None for children of the world.
        joints: its joints.
        moves: whether it or anything it hangs from has a joint.
        home: its placement in the world with all joints at their references.
    """

    element: Element
    spec: BodySpec
    parent: _Body | None
    home: Transform = field(default_factory=Transform)
    joints: list[JointSpec] = field(default_factory=list)
    moves: bool = False


@dataclass
class _Reading:
    """The bodies in the making."""

    source: Source
    spec: ModelSpec
    meshes: Meshes
    looks: Looks
    bodies: list[_Body] = field(default_factory=list)
    taken: dict[str, set[str]] = field(default_factory=dict)
    n_joints: int = 0

    def free_name(self, tag: str, name: str) -> str:
        """A name that no other body or joint has, made from the one given."""
        while name in self.taken[tag]:
            name += "_"
        self.taken[tag].add(name)
        return name

    def keep(self, geom: Element, shape: Shape | None, shapes: list[Shape], visuals: list[Visual]) -> None:
        """Add a geom's shape, and what it looks like, unless the file discards what does not collide."""
        if shape is not None and (shape.collides or not self.source.compiler.discard_visual):
            shapes.append(shape)
            with located(geom):
                visuals += self.looks.visual(geom, shape)


@dataclass(frozen=True)
class Place:
    """Where a body is: on which body that moves of itself, and its pose with all joints at their references.

    Attributes:
        carrier: name of the nearest body with joints on the way to the world, itself included, or the world.
        home: placement in the world at MuJoCo's ``qpos0``.
    """

    carrier: str = WORLD
    home: Transform = field(default_factory=Transform)


def read_bodies(source: Source, spec: ModelSpec) -> dict[str, Place]:
    """Add bodies, joints, sites and the shapes and looks of the world to the description.

    Returns:
        The places of all bodies of the file by name, the world included.

    Raises:
        ModelError: something is not physical, or not well-formed.
    """
    meshes = Meshes(source)
    reading = _Reading(source, spec, meshes, Looks(meshes))
    _collect_names(reading)
    _read_tree(reading)
    _finish_inertias(reading)
    return {WORLD: Place(), **{b.spec.name: Place(_carrier(b), b.home) for b in reading.bodies}}


def _carrier(body: _Body) -> str:
    while not body.joints:
        if body.parent is None:
            return WORLD
        body = body.parent
    return body.spec.name


def _collect_names(reading: _Reading) -> None:
    """Names of the kinematic tree; each may be used once."""
    reading.taken = {"body": {WORLD}, "joint": set(), "geom": set(), "frame": set(), "site": set()}
    for world in children(reading.source.root, "worldbody"):
        for element in world.iter():
            tag = "joint" if element.tag == "freejoint" else element.tag
            name = element.get("name")
            if tag in reading.taken and name:
                if name in reading.taken[tag]:
                    fail(cast(Element, element), f"the {tag} name {name!r} is used twice")
                reading.taken[tag].add(name)


# ----- Bodies -----------------------------------------------------------------------------------------------


def _contents(element: Element, active: str, source: Source) -> Iterator[tuple[Element, Transform, str]]:
    """Children of a body in order, those inside frames included, with their frame and default class."""
    waiting = [(child, Transform(), active) for child in reversed(children(element))]
    while waiting:
        child, frame, active = waiting.pop()
        if child.tag != "frame":
            yield child, frame, active
            continue
        with located(child):
            frame = frame @ placement(child, source.settings(child))
        active = _childclass(child, active, source)
        waiting.extend((inner, frame, active) for inner in reversed(children(child)))


def _childclass(element: Element, active: str, source: Source) -> str:
    name = element.get("childclass", active)
    if name not in source.classes:
        fail(element, f"unknown default class {name!r}; {instead(name, source.classes)}")
    return name


def _read_tree(reading: _Reading) -> None:
    """All bodies, depth first, from an explicit stack so that long chains are no problem."""
    source = reading.source
    waiting: list[tuple[Element, Transform, str, _Body | None]] = []
    for world in children(source.root, "worldbody"):
        for child, frame, active in _contents(world, "main", source):
            if child.tag in ("inertial", "joint", "freejoint"):
                fail(child, "the world cannot have joints or inertia")
            if child.tag == "body":
                waiting.append((child, frame, active, None))
            elif child.tag == "geom":
                geom = source.completed(child, active)
                shape, _ = read_geom(geom, frame, reading.meshes, weighs=False)
                reading.keep(geom, shape, reading.spec.ground, reading.spec.ground_visuals)
            elif child.tag == "site" and child.get("name"):
                reading.spec.sites.append(read_site(source.completed(child, active), frame, WORLD, source))
    waiting.reverse()
    while waiting:
        element, frame, active, parent = waiting.pop()
        body, inside = _read_body(element, frame, active, parent, reading)
        waiting.extend((child, frame, active, body) for child, frame, active in reversed(inside))


def _read_body(
    element: Element, frame: Transform, active: str, parent: _Body | None, reading: _Reading
) -> tuple[_Body, list[tuple[Element, Transform, str]]]:
    """One body with its joints, shapes and inertia; returns it and the bodies inside it."""
    source = reading.source
    active = _childclass(element, active, source)
    name = element.get("name") or reading.free_name("body", f"body{len(reading.bodies) + 1}")
    compensation = least(element, "gravcomp", minimum=-np.inf)
    if element.get("sleep") == "init" and source.can_sleep:
        source.notes.add("body sleep", element, "moves from the start, as if touched")
    called = f"body {name!r} ({element.where})"
    body = _Body(element, BodySpec(name, gravity_compensation=compensation, source=called), parent)
    reading.bodies.append(body)
    with located(element):
        pose = frame @ placement(element, source.settings(element))
        body.home = pose if parent is None else parent.home @ pose
    inside = list(_contents(element, active, source))
    _read_joints(body, pose, [each for each in inside if each[0].tag in ("joint", "freejoint")], reading)

    inertial = [each for each in inside if each[0].tag == "inertial"]
    if len(inertial) > 1:
        fail(inertial[1][0], f"is the second one of {element.label}")
    mode = source.settings(element).inertia_from_geom
    weighs = mode == "true" or (mode == "auto" and not inertial)
    parts = []
    for child, frame, active in inside:
        if child.tag == "geom":
            geom = source.completed(child, active)
            shape, part = read_geom(geom, frame, reading.meshes, weighs=weighs)
            if shape is not None and isinstance(shape.geometry, Plane) and body.moves:
                fail(child, "a plane must not be on a body that moves")
            reading.keep(geom, shape, body.spec.shapes, body.spec.visuals)
            parts.append(part)
        elif child.tag == "site" and child.get("name"):
            reading.spec.sites.append(read_site(source.completed(child, active), frame, name, source))
    with located(element):
        body.spec.inertia = Inertia.sum(parts)
    if body.spec.inertia.mass == 0.0:
        # the centre of mass of a body without mass matters to boundmass alone; MuJoCo has it at pos
        massless = Inertia(com=vector(element, "pos", (0.0, 0.0, 0.0)))
        body.spec.inertia = _inertial(inertial[0][0], inertial[0][1], source) if inertial else massless
    return body, [each for each in inside if each[0].tag == "body"]


# ----- Joints -----------------------------------------------------------------------------------------------


def _read_joints(
    body: _Body, pose: Transform, written: Sequence[tuple[Element, Transform, str]], reading: _Reading
) -> None:
    """Add the body and its joints to the description, with bodies between the joints if there are several."""
    spec, name = reading.spec, body.spec.name
    parent = body.parent.spec.name if body.parent else WORLD
    body.moves = bool(written) or (body.parent is not None and body.parent.moves)
    if not written:
        weld = reading.free_name("joint", f"{name}/weld")
        spec.bodies.append(body.spec)
        spec.joints.append(JointSpec(weld, JointKind.FIXED, parent, name, pose=pose))
        return
    for element, frame, active in written:
        label = element.get("name") or reading.free_name("joint", f"joint{reading.n_joints}")
        reading.n_joints += 1
        joint = read_joint(element, label, frame, active, reading.source)
        body.joints.append(joint)
        is_last = len(body.joints) == len(written)
        joint.parent = parent
        joint.child = name if is_last else reading.free_name("body", f"{name}/{joint.name}")
        with located(element):
            joint.pose = pose @ joint.pose
        if joint.kind is JointKind.FLOATING:
            if body.parent is not None:
                fail(element, "a free joint is for children of the world only")
            joint.initial = np.concatenate([joint.pose.translation, joint.pose.quaternion])
            joint.pose = Transform()
        spec.bodies.append(body.spec if is_last else BodySpec(joint.child, source=body.spec.source))
        spec.joints.append(joint)
        parent, pose = joint.child, Transform()
    check_combination(body.element, body.joints)


# ----- Inertia ----------------------------------------------------------------------------------------------


def _inertial(element: Element, frame: Transform, source: Source) -> Inertia:
    for needed in ("pos", "mass"):
        if element.get(needed) is None:
            fail(element, f"has no attribute {needed!r}")
    full, diagonal = floats(element, "fullinertia", 6), floats(element, "diaginertia", 3)
    if full is not None and (diagonal is not None or any(element.get(name) for name in ORIENTATIONS)):
        fail(element, "fullinertia excludes diaginertia and orientations")
    matrix = np.diag(np.zeros(3) if diagonal is None else diagonal)
    if full is not None:
        xx, yy, zz, xy, xz, yz = full
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with located(element):
        return Inertia(least(element, "mass"), np.zeros(3), matrix).placed(
            frame @ placement(element, source.settings(element))
        )


def _finish_inertias(reading: _Reading) -> None:
    """Apply the compiler's corrections; check that inertias are physical and that all that moves has mass."""
    settings = reading.source.compiler
    for body in reading.bodies:
        with located(body.element):
            own = reading.source.settings(body.element)
            body.spec.inertia = _corrected(body.spec.inertia, own)
    total = sum(body.spec.inertia.mass for body in reading.bodies)
    if settings.total_mass > 0 and total > 0:
        for body in reading.bodies:
            I = body.spec.inertia
            if I.mass > 0:
                with located(body.element):
                    body.spec.inertia = I.scaled(I.mass * settings.total_mass / total)
    moved, holders = {id(body): 0.0 for body in reading.bodies}, dict[int, int]()
    for body in reading.bodies:  # parents first
        with located(body.element):
            body.spec.inertia.check("inertia")
        is_held = not body.joints and body.parent is not None
        holders[id(body)] = holders[id(body.parent)] if is_held else id(body)
        moved[holders[id(body)]] += body.spec.inertia.mass
    for body in reading.bodies:
        if body.joints and moved[id(body)] <= _MIN_MASS:
            hint = f" ({reading.source.notes.summary})" if reading.source.notes.entries else ""
            fail(body.element, "moves, but has no mass; give it an <inertial> or a geom with mass" + hint)


def _corrected(inertia: Inertia, settings: Compiler) -> Inertia:
    """Inertia after ``boundmass``, ``boundinertia`` and ``balanceinertia``."""
    if not (settings.bound_mass or settings.bound_inertia or settings.balance_inertia):
        return inertia
    moments, axes = np.linalg.eigh(inertia.matrix)
    moments = np.maximum(moments, settings.bound_inertia) if settings.bound_inertia else moments
    if settings.balance_inertia and moments[2] > moments[0] + moments[1]:
        moments = np.full(3, moments.mean())
    return Inertia(max(inertia.mass, settings.bound_mass), inertia.com, axes * moments @ axes.T)
