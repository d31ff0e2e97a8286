"""Frames at many states: where they are, how they move, and what hangs on them.

Rows are states: of a run one after the other, or of many worlds. World axes throughout.

Accelerations are those of material points with v̇ given, and contain −gravity, as those that an
accelerometer feels: at rest they point up.

References: [Featherstone2008, Sections 2.11 and 4.5].
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.kinematics.forward import link_velocities, place_links
from taction.kinematics.motion import link_accelerations
from taction.math.transform import Transform
from taction.model.model import Model
from taction.model.spec import WORLD
from taction.model.workspace import (
    ACCEL,
    ALPHA,
    AXES,
    OMEGA,
    ORIGIN,
    SPEED,
    make_workspace,
    matrices,
    vectors,
)

HERE = Transform()


def turn(R: Array, x: Array) -> Array:
    """R x of each row; R (n, 3, 3) or (3, 3), x (n, 3) or (3,)."""
    return np.matmul(R, x[..., None])[..., 0]


def turn_back(R: Array, x: Array) -> Array:
    """Rᵀ x of each row."""
    return np.matmul(np.swapaxes(R, -1, -2), x[..., None])[..., 0]


def cross(a: Array, b: Array) -> Array:
    """The product a × b of each row; NumPy's own takes ten times as long for few."""
    (a0, a1, a2), (b0, b1, b2) = a.T, b.T
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


class Frame(NamedTuple):
    """A frame that moves with a link, at n states."""

    axes: Array  # (n, 3, 3)
    position: Array  # (n, 3) [m]
    angular: Array  # (n, 3) [rad/s]
    linear: Array  # (n, 3) [m/s]
    turning: Array  # (n, 3) angular acceleration [rad/s²]
    pull: Array  # (n, 3) acceleration less gravity [m/s²]


class Weight(NamedTuple):
    """A rigid body at n states."""

    mass: float  # [kg]
    inertia: Array  # (n, 3, 3) about its centre of mass [kg m²]
    centre: Frame  # at its centre of mass


class Frames:
    """All frames of a model at n states.

    Args:
        model: the mechanism.
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        rate: v̇, shape (n, nv); NaN where it is not known.
    """

    def __init__(self, model: Model, q: Array, v: Array, rate: Array) -> None:
        self.model, self.n = model, len(q)
        self._q, self._v, self._rate = (np.ascontiguousarray(x, dtype=float) for x in (q, v, rate))
        self._parent = {joint.child: joint.parent for joint in model.spec.joints}

    @cached_property
    def _links(self) -> tuple[Array, ...]:
        """Axes, origins, angular and linear velocities and accelerations of all links, (n, links, …)."""
        model, ws = self.model, make_workspace(self.model)
        columns = (ORIGIN, OMEGA, SPEED, ALPHA, ACCEL)
        axes = np.empty((self.n, model.n_links, 3, 3))
        rest = np.empty((len(columns), self.n, model.n_links, 3))
        up = tuple((-model.tree.gravity).tolist())
        for k in range(self.n):
            place_links(model.tree, self._q[k], ws)
            link_velocities(model.tree, self._v[k], ws)
            link_accelerations(model.tree, self._v[k], self._rate[k], up, ws)
            axes[k] = matrices(ws, AXES)
            for out, column in zip(rest, columns, strict=True):
                out[k] = vectors(ws, column)
        return (axes, *rest)

    def link(self, link: int) -> tuple[Array, Array]:
        """Axes (n, 3, 3) and origin (n, 3) of a link."""
        return self._links[0][:, link], self._links[1][:, link]

    def of_body(self, name: str, rotation: Array = HERE.rotation, place: Array = HERE.translation) -> Frame:
        """A frame with axes (3, 3) and origin (3,) in a body, those of the body by default."""
        link, model = 0, self.model
        if name != WORLD:
            b = model.body(name)
            link, place = int(model.body_link[b]), model.body_offset[b] + model.body_rotation[b] @ place
            rotation = model.body_rotation[b] @ rotation
        R, p, w, u, alpha, a = (array[:, link] for array in self._links)
        arm = turn(R, place)
        swing = cross(w, arm)
        return Frame(R @ rotation, p + arm, w, u + swing, alpha, a + cross(alpha, arm) + cross(w, swing))

    def of_part(self, part: str, name: str) -> Frame:
        """The frame of a site, of a body (``"xbody"``), of its inertia (``"body"``), or of a shape.

        Of an inertia the axes are those of the body.
        """
        spec = self.model.spec
        if part == "site":
            site = next(s for s in spec.sites if s.name == name)
            return self.of_body(site.body, site.pose.rotation, site.pose.translation)
        if part == "geom":
            carriers = [(WORLD, spec.ground), *((body.name, body.shapes) for body in spec.bodies)]
            body, pose = next((body, s.pose) for body, shapes in carriers for s in shapes if s.key == name)
            return self.of_body(body, pose.rotation, pose.translation)
        if part == "body" and name != WORLD:
            return self.of_body(name, place=spec.body(name).inertia.com)
        return self.of_body(name)

    def hanging_on(self, name: str) -> list[str]:
        """A body and all that hang on it; all bodies for the world."""
        if name == WORLD:
            return list(self.model.body_names)
        out = {name}
        for body in self.model.body_names:
            way = [body]
            while way[-1] not in out and way[-1] != WORLD:
                way.append(self._parent[way[-1]])
            if way[-1] != WORLD:
                out.update(way)
        return [body for body in self.model.body_names if body in out]

    def weights(self, names: list[str]) -> Iterator[Weight]:
        """Those of these bodies that have a mass."""
        for name in names:
            inertia = self.model.spec.body(name).inertia
            if inertia.mass > 0.0:
                centre = self.of_body(name, place=inertia.com)
                I = centre.axes @ inertia.matrix @ np.swapaxes(centre.axes, -1, -2)
                yield Weight(inertia.mass, I, centre)
