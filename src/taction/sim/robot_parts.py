"""Which bodies of a world belong to one robot, which of its pairs are not to collide, and what cannot at all.

A robot is a body that hangs on the world, and all that hangs on it: an arm with its base, a walking robot
with its limbs. Objects of a scene, a table, the ground, are robots of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from taction._core.arrays import IntArray, frozen
from taction._core.errors import BadInput
from taction._core.show import some
from taction.model.shapes import Mesh
from taction.model.spec import WORLD, ModelSpec


def robots_of(spec: ModelSpec) -> IntArray:
    """Number of the robot of each body, shape (nb,)."""
    parent = {joint.child: joint.parent for joint in spec.joints}
    top: dict[str, str] = {}  # body → the one at the world that it hangs on
    for body in spec.bodies:
        way, name = [], body.name
        while name not in top and parent.get(name, WORLD) != WORLD:
            way.append(name)
            name = parent[name]
        top |= dict.fromkeys([name, *way], top.get(name, name))
    number: dict[str, int] = {}
    out = [number.setdefault(top[body.name], len(number)) for body in spec.bodies]
    return frozen(out, np.int64)


def barred_pairs(
    spec: ModelSpec, robot_of: IntArray, asked: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """All pairs of bodies of one robot but those asked for.

    Raises:
        BadInput: an unknown body.
    """
    names = [body.name for body in spec.bodies]
    for name in (name for pair in asked for name in pair):
        if name not in names:
            raise BadInput(f"self_collision: no body {name!r}; there are {', '.join(names)}")
    kept = {frozenset(pair) for pair in asked}
    return [
        (a, b)
        for (i, a), (j, b) in combinations(enumerate(names), 2)
        if robot_of[i] == robot_of[j] and frozenset((a, b)) not in kept
    ]


def unread_meshes(spec: ModelSpec) -> str:
    """Which bodies have collision meshes that were not read, in a sentence; empty if none has."""
    carried = [(WORLD, spec.ground), *((body.name, body.shapes) for body in spec.bodies)]
    bodies = [
        repr(name)
        for name, shapes in carried
        if any(isinstance(shape.geometry, Mesh) and not len(shape.geometry.vertices) for shape in shapes)
    ]
    if not bodies:
        return ""
    return f"nothing touches the meshes of {some(bodies, most=8)}, which were not read (load_meshes=False)"
