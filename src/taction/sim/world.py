"""`World`: robots, free objects and ground, ready to touch each other.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
>>> world = ta.World(ball, ground=ta.Plane(friction=0.7))
>>> world.shape_names
('ground', 'ball')
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, frozen
from taction._core.errors import BadInput, UnsupportedFeatureWarning
from taction._core.expect import given, instance, numbers, sequence
from taction._core.show import brief, rows, some
from taction.contact.chains import make_chains
from taction.contact.transmission import make_transmissions
from taction.dynamics.joint_law import JointLaw
from taction.dynamics.servo import Servos, both
from taction.geometry.colliders import Colliders
from taction.geometry.compile import compile_colliders
from taction.geometry.filters import Filter, candidate_pairs, joined_parents, make_filter
from taction.geometry.place_on_ground import place_on_ground
from taction.kinematics.state_distance import centres_and_radii
from taction.math.transform import Transform
from taction.model.absolute import Absolute
from taction.model.compile import compile_model
from taction.model.model import BODY_MASS, Model
from taction.model.shapes import Geometry, Material, Plane, Shape
from taction.model.spec import WORLD, ModelSpec
from taction.sim.merged_spec import add_ground, merged
from taction.sim.passive_forces import make_lifts, tendon_springs
from taction.sim.robot_parts import barred_pairs, robots_of, unread_meshes
from taction.steppers.elements import ADHESION, LARGER, MEAN, RESTITUTION, SMALLER, SURFACE_WIDTH, THEIR_OWN
from taction.steppers.scene import HINGE, POINT, WELD, Loops, Scene, joint_motors, make_scene

COMBINE = {"smaller": SMALLER, "larger": LARGER, "mean": MEAN}
SELF_COLLISION = ("auto", "all", "none")
RULES = {"": THEIR_OWN, **COMBINE}
TURNING = {"point": POINT, "hinge": HINGE, "weld": WELD}


@dataclass(frozen=True)
class ContactPair:
    """Surface numbers of two bodies against each other, in place of what their materials give.

    Attributes:
        body: name of one body, or ``"world"``.
        other: name of the other.
        friction: coefficient, or those along the x and y axes of the first body's shape.
        restitution: Newton's coefficient.
        adhesion: force with which a pair of their shapes holds on [N], shared by its contact points.
    """

    body: str
    other: str
    friction: float | tuple[float, float] = 1.0
    restitution: float = 0.0
    adhesion: float = 0.0


Ground = Plane | Shape | Geometry | Sequence["Plane | Shape | Geometry"]


class World:
    """Everything that moves and everything it can touch.

    Args:
        parts: models: robots, `free_body` objects, or a whole world read from a file. With several, their
            names become prefixes (``"go2/trunk"``), numbered where they repeat.
        ground: shapes fixed to the world, besides those the parts bring along.
        pairs: surface numbers of particular pairs of bodies.
        exclude: pairs of bodies that never collide, besides those of the parts.
        combine: friction of every pair from its two materials: ``"smaller"``, ``"larger"`` or ``"mean"``
            (geometric). By default as the materials say, each by the file that it comes from, and the smaller
            where neither says anything; see `Material`.
        gravity: acceleration [m/s²]; that of the first part by default.
        self_collision: which links of one robot collide with each other, besides those that a joint connects,
            which never do: ``"auto"`` all but those that overlap in the neutral pose or where a motion
            starts, as the shapes of many robots do; one `OverlapWarning` names them. ``"all"``, ``"none"``,
            or a list of pairs of bodies, the only ones that do. A robot is what hangs on one body at the
            world; pairs that a file asks for collide in any case.
        contact: False for a world in which nothing touches: shapes are not even looked at.

    Attributes:
        model: one compiled mechanism of all parts.
        shape_names: names of the collision shapes, ground first.
        shape_body: body that carries each, −1 for the world, shape (n,).
        geometries: of each, in the same order; a shape of several pieces counts as so many shapes.
        materials: of each, likewise.
    """

    def __init__(
        self,
        *parts: Model,
        ground: Ground | None = None,
        pairs: Iterable[ContactPair] = (),
        exclude: Iterable[tuple[str, str]] = (),
        combine: str | None = None,
        gravity: tuple[float, float, float] | None = None,
        self_collision: str | Iterable[tuple[str, str]] = "auto",
        contact: bool = True,
    ) -> None:
        for part in parts:
            if not isinstance(part, Model):
                raise BadInput(f"a world is made of models, not of {type(part).__name__}")
        if not parts:
            raise BadInput("a world needs at least one model")
        if gravity is not None:
            gravity = numbers(gravity, 3, "gravity")  # type: ignore[assignment]
        pairs, exclude = sequence(pairs, "pairs"), sequence(exclude, "exclude")
        for pair in pairs:
            instance(pair, ContactPair, "each of the pairs")
        for two in exclude:
            if not (isinstance(two, (tuple, list)) and len(two) == 2):
                raise BadInput(f"exclude: each must be a pair of names of bodies, got {given(two)}")
        if combine is not None and combine not in COMBINE:
            raise BadInput(f"combine {combine!r}: choose from {', '.join(COMBINE)}")
        spec = merged(parts, gravity)
        add_ground(spec, _ground(ground))
        spec.exclude = [*spec.exclude, *exclude]
        spec.gravity = spec.gravity if gravity is None else gravity
        is_same = len(parts) == 1 and ground is None and gravity is None and not list(exclude)
        self.model = parts[0] if is_same else compile_model(spec)
        self.combine = RULES[combine or ""]
        self._given, self.contact = list(pairs), bool(contact)
        self.robot_of: IntArray = robots_of(self.model.spec)
        self.self_collision, asked = _self_collision(self_collision)
        self._asked_self = asked or []
        self._barred = [] if asked is None else barred_pairs(self.model.spec, self.robot_of, asked)
        self.exempt: IntArray | None = None  # found in the neutral pose by the first engine
        self.left_out: tuple[str, ...] = ()  # what the parts have and the world does not
        self._gather(self._given)
        if not contact:
            has_shapes = any(shape.collides for _, shape in carried_shapes(self.model.spec))
            self.left_out = ("contact",) if has_shapes else ()
            return
        unread = unread_meshes(self.model.spec)
        if unread:
            self.left_out = ("contact of meshes that were not read",)
            warnings.warn(f"{self.name}: {unread}", UnsupportedFeatureWarning, stacklevel=2)

    @property
    def name(self) -> str:
        """Name of the world: that of its model."""
        return self.model.name

    @property
    def options(self) -> dict[str, Any]:
        """What makes the same world of its model: keyword arguments, pairs as plain dictionaries."""
        names = {number: name for name, number in COMBINE.items()}
        return {
            "pairs": [asdict(pair) for pair in self._given],
            "combine": names.get(self.combine),
            "self_collision": self._asked_self if self.self_collision == "pairs" else self.self_collision,
            "contact": self.contact,
        }

    def scene(
        self,
        law: JointLaw | None = None,
        absolute: Absolute | None = None,
        servos: Servos | None = None,
        filter: Filter | None = None,
    ) -> Scene:
        """The constants that a step needs, with a linear controller and servos if given.

        With ``absolute`` of a world made by `of_bodies`: its joints, on which the controller acts. With a
        filter other than the world's own.
        """
        return make_scene(
            self.model,
            self.colliders,
            self.filter if filter is None else filter,
            self.surface,
            viscous=self.viscous,
            law=law if absolute is None else None,
            loops=self._loops(),
            pairs=self._pairs,
            absolute=absolute,
            motors=None if absolute is None else joint_motors(absolute.robot, law),
            servos=both(servos, self._tendon_springs),
            transmissions=self._transmissions if absolute is None else None,
            lifts=self._lifts,
        )

    def of_bodies(self, absolute: Absolute) -> World:
        """The same world with free bodies in place of the robots' links: same shapes, same filter."""
        world = copy(self)
        world.model = absolute.bodies
        world._gather(self._given)
        world.filter, world._pairs, world._rules = self.filter, self._pairs, self._rules
        return world

    def place_on_ground(self, q: ArrayLike | None = None) -> Array:
        """The configuration q (nq,), or the neutral one, with every free-floating robot on the ground.

        Each base is shifted along gravity until the lowest collision shape of its robot touches what is fixed
        to the world below it, as if let down from above; see `taction.geometry.place_on_ground`.

        Raises:
            BadInput: nothing floats, or there is no ground below a robot.
        """
        return place_on_ground(self.model, self.colliders, self.filter, q)

    def filter_without(self, pairs: IntArray) -> Filter:
        """Which shapes may collide if bodies (p, 2) do not."""
        rules = {**self._rules, "exclude": [*self._rules["exclude"], *pairs.tolist()]}
        return make_filter(**rules)

    def own_filter(self, filter: Filter) -> Filter:
        """Of a filter the pairs within robots, but those that a file asks for."""
        pairs = candidate_pairs(filter)
        a, b = self.shape_body[pairs].T
        is_own = (a >= 0) & (b >= 0) & (self.robot_of[a] == self.robot_of[b])
        asked = [i * len(self.shape_names) + j for i, j in self._rules["include"]]
        is_own &= ~np.isin(pairs @ [len(self.shape_names), 1], asked)
        return filter._replace(is_listed=1, pairs=frozen(pairs[is_own], np.int64))

    def body_name(self, shape: int) -> str:
        """Name of the body that carries a shape."""
        body = int(self.shape_body[shape])
        return WORLD if body < 0 else self.model.body_names[body]

    def _gather(self, pairs: list[ContactPair]) -> None:
        """Collision shapes, their surfaces and filter, from the model."""
        model, spec = self.model, self.model.spec
        shapes: list[tuple[int, Transform, Geometry]] = []
        names, bodies, groups, masks, surface = [], [], [], [], []
        materials: list[Material] = []
        keys: dict[str, list[int]] = {}
        for body, shape in carried_shapes(spec) if self.contact else ():
            if not shape.collides:
                continue
            for part, pose in shape.geometry.pieces():
                link, placed = 0, shape.pose @ pose
                if body >= 0:
                    link = int(model.body_link[body])
                    placed = Transform(model.body_rotation[body], model.body_offset[body]) @ placed
                shapes.append((link, placed, part))
                names.append(shape.name or ("ground" if body < 0 else model.body_names[body]))
                bodies.append(body)
                groups.append(shape.group)
                masks.append(shape.mask)
                m = shape.material
                back = m.friction[0] if m.backward is None else m.backward
                own = RULES[m.combine], m.priority, m.slick
                surface.append((*m.friction, back, m.restitution, m.adhesion, *own))
                keys.setdefault(shape.key, []).append(len(surface) - 1)
                materials.append(m)
        self.colliders: Colliders = compile_colliders(shapes, model.name)
        self.shape_names, self.materials = tuple(names), tuple(materials)
        self.geometries = tuple(part for *_, part in shapes)
        self.shape_body: IntArray = frozen(bodies, np.int64)
        self.viscous: Array = frozen([m.viscous for m in materials])
        self.surface: Array = frozen(np.array(surface).reshape(-1, SURFACE_WIDTH))
        links = [link for link, _, _ in shapes]
        solid = (model.tree.constant[:, BODY_MASS] > 0) | np.isin(np.arange(model.n_links), links)
        number = {WORLD: -1} | {name: k for k, name in enumerate(model.body_names)}
        excluded = [(number[a], number[b]) for a, b in [*spec.exclude, *self._barred]]
        asked = [
            (min(i, j), max(i, j), pair.friction)
            for pair in spec.pairs
            for i in keys.get(pair.shape, ())
            for j in keys.get(pair.other, ())
            if links[i] != links[j]
        ]
        self._rules: dict[str, Any] = {
            "link": links,
            "parent": joined_parents(model.tree.parent, solid),
            "group": groups,
            "mask": masks,
            "body": bodies,
            "exclude": excluded,
            "include": [(i, j) for i, j, _ in asked],
        }
        self.filter: Filter = make_filter(**self._rules)
        self._lifts, self._tendon_springs = make_lifts(model), tendon_springs(spec)
        self._transmissions = make_transmissions(model, make_chains(model.tree))
        self._pairs = self._shape_pairs(asked) | self._pair_surfaces(pairs, number)

    def _shape_pairs(self, asked: list[tuple[int, int, float]]) -> dict[tuple[int, int], Sequence[float]]:
        """Numbers of pairs of shapes (i, j) that have a friction of their own."""
        rest = self.surface[:, RESTITUTION : ADHESION + 1]
        return {(i, j): _pair_row((mu, mu), *np.maximum(rest[i], rest[j])) for i, j, mu in asked}

    def _pair_surfaces(
        self, pairs: list[ContactPair], number: dict[str, int]
    ) -> dict[tuple[int, int], Sequence[float]]:
        out: dict[tuple[int, int], Sequence[float]] = {}
        for pair in pairs:
            for name in (pair.body, pair.other):
                if name not in number:
                    raise BadInput(f"contact pair: no body {name!r}; there are {', '.join(number)}")
            material = Material(pair.friction, pair.restitution, adhesion=pair.adhesion)  # type: ignore[arg-type]
            row = _pair_row(material.friction, material.restitution, material.adhesion)
            for i in np.flatnonzero(self.shape_body == number[pair.body]):
                for j in np.flatnonzero(self.shape_body == number[pair.other]):
                    out[(int(min(i, j)), int(max(i, j)))] = row
        return out

    def _loops(self) -> Loops:
        model, specs = self.model, self.model.spec.loops
        link, point, axes = (
            np.zeros((len(specs), 2)),
            np.zeros((2 * len(specs), 3)),
            np.zeros((2 * len(specs), 9)),
        )
        for k, loop in enumerate(specs):
            for side, (name, pose) in enumerate(((loop.body, loop.pose), (loop.other, loop.other_pose))):
                placed = pose
                if name != WORLD:
                    b = model.body(name)
                    link[k, side] = model.body_link[b]
                    placed = Transform(model.body_rotation[b], model.body_offset[b]) @ pose
                point[2 * k + side], axes[2 * k + side] = placed.translation, placed.rotation.ravel()
        turning = [TURNING[loop.kind] for loop in specs]
        centre, radius = centres_and_radii(model)
        ends = link.astype(np.int64).ravel()
        about = [math.hypot(radius[i], *(p - centre[i])) for i, p in zip(ends, point, strict=True)]
        has_mass = (ends > 0) & (model.tree.constant[ends, BODY_MASS] > 0.0)
        size = np.where(has_mass, about, 0.0).reshape(-1, 2).max(axis=1)
        return Loops(
            frozen(link, np.int64), frozen(point), frozen(axes), frozen(turning, np.int64), frozen(size)
        )

    def __str__(self) -> str:
        return f"<World {self.name!r}: {len(self.shape_names)} shapes, nv={self.model.nv}>"

    def __repr__(self) -> str:
        ground = [name for name, body in zip(self.shape_names, self.shape_body, strict=True) if body < 0]
        return rows(
            f"{str(self)[:-1]}, {self.model.total_mass:.6g} kg>",
            f"ground: {some(ground) or 'none'}",
            f"bodies: {some(self.model.body_names)}",
            f"joints: {some(joint.name for joint in self.model.joints)}",
            f"gravity: {brief(tuple(self.model.spec.gravity))} m/s²",
            f"pairs with numbers of their own: {len(self._pairs)}" if self._pairs else "",
        )


def carried_shapes(spec: ModelSpec) -> list[tuple[int, Shape]]:
    """All shapes with the body that carries each, −1 for the world, those of the ground first."""
    carried = [(-1, shape) for shape in spec.ground]
    return carried + [(b, shape) for b, body in enumerate(spec.bodies) for shape in body.shapes]


def _self_collision(
    asked: str | Iterable[tuple[str, str]],
) -> tuple[str, list[tuple[str, str]] | None]:
    """The rule's name, and the pairs that alone collide, if it says so."""
    if isinstance(asked, str):
        if asked not in SELF_COLLISION:
            raise BadInput(
                f"self_collision {asked!r}: choose from {', '.join(SELF_COLLISION)}, or give pairs of bodies"
            )
        return asked, [] if asked == "none" else None
    return "pairs", [(str(a), str(b)) for a, b in asked]


def _pair_row(friction: tuple[float, float], restitution: float, adhesion: float) -> tuple[float, ...]:
    """Surface numbers of a pair; what says how shapes combine has no meaning there."""
    return (*friction, friction[0], restitution, adhesion, 0.0, 0.0, 0.0)


def _ground(ground: Ground | None) -> list[Shape]:
    """Shapes of the ground from a shape, a geometry, or several of them."""
    if ground is None:
        return []
    if isinstance(ground, (list, tuple)):
        return [shape for part in ground for shape in _ground(part)]
    if isinstance(ground, Shape):
        return [ground]
    if isinstance(ground, Plane):
        return [Shape(ground, material=ground.material, name="ground")]
    if isinstance(ground, Geometry):
        return [Shape(ground, name="ground")]
    raise BadInput(f"ground: expected a shape, got {type(ground).__name__}")
