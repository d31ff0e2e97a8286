"""Transmissions: lengths that depend on several joints, and what they make of a force along them.

What it gives: per transmission its length l(q) and its moment arms c_d = ∂l̇/∂v_d, so that l̇ = Σ c_d v_d and a
force f along it acts on the joints with τ_d = c_d f. Three kinds:

    joints   l = Σ c_d q_d with constant c (a fixed tendon)
    path     l = Σ w_k ‖x_{k+1} − x_k‖ over straight pieces between points on links (a tendon over sites)
    wrench   l̇ = a force and a torque, fixed to a link, times its velocities (a propeller); no length

Method. The degrees of freedom of a transmission are known beforehand: those of the joints, or all on the way
from the links to the world. Arms of the last two kinds are those of a force on a link, τ = Jᵀ w, where the
links are placed.

References: [TodorovErezTassa2012] for actuators with moment arms; [Featherstone2008, Section 5.3] for Jᵀ w.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.jit import kernel
from taction._core.layout import Layout, floats, ints
from taction.contact.chains import Chains, freedom
from taction.math.transform import Transform
from taction.math.vector import add, cross, dot, load3, load9, mat_vec, scale, sub
from taction.model.model import Model
from taction.model.spec import WORLD, SiteSpec
from taction.model.workspace import AXES, ORIGIN


class Transmissions(Layout):
    """Transmissions of a model, read-only: its tendons, then the sites that actuators push."""

    start: IntArray = ints("t + 1", "where the degrees of freedom of each start")
    dof: IntArray = ints("e", "these, ascending")
    factor: Array = floats("e", "constant moment arms of joints")
    first: IntArray = ints("t + 1", "where the points of each start")
    link: IntArray = ints("p", "link of each point")
    point: Array = floats("p, 3", "where it is, in its link [m]")
    weight: Array = floats("p", "of the piece from this point to the next, 0 for none")
    wrench: Array = floats("p, 6", "torque and force at the point, axes of the link; zero on paths")
    lower: Array = floats("t", "smallest length")
    upper: Array = floats("t", "largest length")
    dry: Array = floats("t", "dry friction [N]")
    held: Array = floats("t", "the length that it must have, NaN for none")

    def __len__(self) -> int:
        """How many there are."""
        return len(self.lower)


@kernel
def add_arms(tree, chains, link, x, torque, force, dofs, first, last, ws, factor_io):
    """Add what a force (3) at x (3) and a torque (3) on a link do to entries first…last−1 of factor_io."""
    d, e = chains.last_dof[link], last - 1
    while d >= 0:
        axis, is_linear, p = freedom(tree, chains, d, ws)
        while dofs[e] > d and e > first:
            e -= 1
        about = force if is_linear else add(torque, cross(sub(x, p), force))
        factor_io[e] += dot(axis, about)
        d = tree.dof_parent[d]


@kernel
def measure(tree, chains, transmissions, iq, q, ws, length_out, factor_out):
    """Lengths (t,) and moment arms (e,) of all transmissions; q (nq,), links placed in ws."""
    t = transmissions
    for i in range(t.lower.shape[0]):
        begin, end = t.start[i], t.start[i + 1]
        length_out[i] = 0.0
        for e in range(begin, end):
            factor_out[e] = t.factor[e]
            if t.factor[e] != 0.0:
                length_out[i] += t.factor[e] * q[iq[t.dof[e]]]
        for k in range(t.first[i], t.first[i + 1]):
            R = load9(ws, t.link[k], AXES)
            x = add(load3(ws, t.link[k], ORIGIN), mat_vec(R, load3(t.point, k, 0)))
            torque, force = mat_vec(R, load3(t.wrench, k, 0)), mat_vec(R, load3(t.wrench, k, 3))
            if t.weight[k] > 0.0:
                other = load9(ws, t.link[k + 1], AXES)
                y = add(load3(ws, t.link[k + 1], ORIGIN), mat_vec(other, load3(t.point, k + 1, 0)))
                along = sub(x, y)
                size = math.sqrt(dot(along, along))
                length_out[i] += t.weight[k] * size
                if size == 0.0:
                    continue
                force = scale(t.weight[k] / size, along)
                back = scale(-1.0, force)
                add_arms(tree, chains, t.link[k + 1], y, torque, back, t.dof, begin, end, ws, factor_out)
            add_arms(tree, chains, t.link[k], x, torque, force, t.dof, begin, end, ws, factor_out)


def numbers_of(model: Model) -> dict[tuple[str, str], int]:
    """Number of the transmission of each ("tendon", name), and of each ("actuator", name) at a site."""
    names = [("tendon", tendon.name) for tendon in model.spec.tendons]
    names += [("actuator", a.name) for a in model.spec.actuators if a.site and not a.refsite]
    return {name: k for k, name in enumerate(names)}


def make_transmissions(model: Model, chains: Chains) -> Transmissions:
    """The transmissions of a model in joint coordinates."""
    spec, sites = model.spec, {site.name: site for site in model.spec.sites}
    dofs: list[list[int]] = []
    factors: list[list[float]] = []
    points: list[list[tuple[int, Array, float, Array]]] = []
    for tendon in spec.tendons:
        arms = {model.joint(name).iv: factor for name, factor in sorted(tendon.joints.items())}
        dofs.append(sorted(arms))
        factors.append([arms[d] for d in sorted(arms)])
        points.append([])
        for divisor, names in tendon.path:
            placed = [_place(model, sites[name]) for name in names]
            weights = [1.0 / divisor] * (len(names) - 1) + [0.0]
            points[-1] += [
                (link, pose.translation, w, np.zeros(6))
                for (link, pose), w in zip(placed, weights, strict=True)
            ]
    for actuator in (a for a in spec.actuators if a.site and not a.refsite):
        link, pose = _place(model, sites[actuator.site])
        gears = np.array(actuator.gears)
        wrench = np.concatenate([pose.rotation @ gears[3:], pose.rotation @ gears[:3]])
        dofs.append([])
        factors.append([])
        points.append([(link, pose.translation, 0.0, wrench)])
    for k, some in enumerate(points):
        if some:
            dofs[k] = sorted({d for link, *_ in some for d in _way(model, chains, link)})
            factors[k] = [0.0] * len(dofs[k])
    flat = [point for some in points for point in some]
    limits = np.array([(t.lower, t.upper, t.friction, _held(t.held)) for t in spec.tendons]).reshape(-1, 4)
    free = np.tile([-np.inf, np.inf, 0.0, np.nan], (len(dofs) - len(limits), 1))
    lower, upper, dry, held = np.vstack([limits, free]).T
    return Transmissions(
        start=frozen(np.cumsum([0, *map(len, dofs)]), np.int64),
        dof=frozen([d for some in dofs for d in some], np.int64),
        factor=frozen([f for some in factors for f in some]),
        first=frozen(np.cumsum([0, *map(len, points)]), np.int64),
        link=frozen([link for link, *_ in flat], np.int64),
        point=frozen(np.array([point for _, point, _, _ in flat]).reshape(-1, 3)),
        weight=frozen([weight for _, _, weight, _ in flat]),
        wrench=frozen(np.array([wrench for *_, wrench in flat]).reshape(-1, 6)),
        lower=frozen(lower),
        upper=frozen(upper),
        dry=frozen(dry),
        held=frozen(held),
    )


def no_transmissions() -> Transmissions:
    """None at all."""
    return Transmissions.allocate(t=0, e=0, p=0)


def _held(length: float | None) -> float:
    return np.nan if length is None else length


def _way(model: Model, chains: Chains, link: int) -> list[int]:
    """Degrees of freedom between a link and the world."""
    out, d = [], int(chains.last_dof[link])
    while d >= 0:
        out.append(d)
        d = int(model.tree.dof_parent[d])
    return out


def _place(model: Model, site: SiteSpec) -> tuple[int, Transform]:
    """Link of a site, and its frame there."""
    if site.body == WORLD:
        return 0, site.pose
    b = model.body(site.body)
    return int(model.body_link[b]), Transform(model.body_rotation[b], model.body_offset[b]) @ site.pose
