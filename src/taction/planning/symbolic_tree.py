"""A tree of links in CasADi symbols: configurations, placements, velocities, inverse dynamics.

What it gives: for coordinates δq about a configuration q₀ (q = q₀ ⊕ δq), velocities v and accelerations v̇

    axes and origins of all links;   ω and velocities of origins;   τ = M(q) v̇ + c(q, v).

Notation and recursions are those of `taction.kinematics.forward`, `taction.kinematics.motion` and
`taction.dynamics.rnea`, for all kinds of links.

Method: quaternions turn by the series of sine and cosine in the squared angle, which have no branch, are
smooth at zero, and exact to rounding up to half a turn. Numbers that vanish disappear from the expressions.

Departures: none from the recursions.

Cost: some 300 operations per link that turns.

References: [LuhWalkerPaul1980]; [Featherstone2008, Table 5.1]; [Sola2017, Eq. (101)].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.kinds import LinkKind
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, TREE_AXES, TREE_SHIFT, Model

SERIES = 10  # terms of sine and cosine of half an angle: rounding up to half a turn


def casadi() -> Any:
    """CasADi, or one line that says how to get it."""
    try:
        import casadi
    except ImportError:
        raise BadInput("direct transcription needs CasADi: pip install 'taction[planning]'") from None
    return casadi


class Placed(NamedTuple):
    """Links in the world: axes (3, 3), origins (3,), origins from those of the parents, joint axes."""

    axes: list[Any]
    origin: list[Any]
    shift: list[Any]
    base: list[Any]


class SymbolicTree:
    """The links of a model near a configuration.

    Args:
        model: the mechanism.
        origin: q₀, shape (nq,).
    """

    def __init__(self, model: Model, origin: Array) -> None:
        self.ca = casadi()
        self.tree, self.links, self.nv, self.origin = model.tree, model.n_links, model.nv, origin

    def configuration(self, dq: Any) -> list[Any]:
        """q₀ ⊕ δq, entry by entry."""
        tree, q = self.tree, [self.ca.SX(float(value)) for value in self.origin]
        for i in range(1, self.links):
            k, j = int(tree.iq[i]), int(tree.iv[i])
            for c in range({LinkKind.SPHERICAL: 0, LinkKind.FLOATING: 3}.get(tree.kind[i], 1)):
                q[k + c] = q[k + c] + dq[j + c]
            if tree.kind[i] in (LinkKind.SPHERICAL, LinkKind.FLOATING):
                shift = 3 if tree.kind[i] == LinkKind.FLOATING else 0
                k, j = k + shift, j + shift
                length = float(np.linalg.norm(self.origin[k : k + 4]))
                base = [self.ca.SX(float(value) / length) for value in self.origin[k : k + 4]]
                q[k : k + 4] = _product(base, _turn(self.ca, dq[j : j + 3]))
        return q

    def place(self, q: list[Any]) -> Placed:
        """Axes, origins, origins against those of the parents, and joint axes of all links."""
        ca, tree = self.ca, self.tree
        R, p, r, J = [ca.SX.eye(3)], [ca.SX.zeros(3)], [ca.SX.zeros(3)], [ca.SX.eye(3)]
        for i in range(1, self.links):
            up, k, kind = int(tree.parent[i]), int(tree.iq[i]), tree.kind[i]
            shift = R[up] @ tree.constant[i, TREE_SHIFT : TREE_SHIFT + 3]
            axes = R[up] @ tree.constant[i, TREE_AXES : TREE_AXES + 9].reshape(3, 3)
            turned = axes
            if kind == LinkKind.REVOLUTE:
                c, s = ca.cos(q[k]), ca.sin(q[k])
                turned = ca.horzcat(
                    c * axes[:, 0] + s * axes[:, 1], c * axes[:, 1] - s * axes[:, 0], axes[:, 2]
                )
            elif kind == LinkKind.PRISMATIC:
                shift = shift + q[k] * axes[:, 2]
            else:
                if kind == LinkKind.FLOATING:
                    shift, k = shift + axes @ ca.vertcat(*q[k : k + 3]), k + 3
                turned = axes @ _rotation(ca, q[k : k + 4])
            R.append(turned)
            r.append(shift)
            p.append(p[up] + shift)
            J.append(axes)
        return Placed(R, p, r, J)

    def _rates(self, i: int, v: Any, R: list[Any], J: list[Any]) -> tuple[Any, Any]:
        """Angular and linear velocity of link i against its parent."""
        kind, j, zero = self.tree.kind[i], int(self.tree.iv[i]), self.ca.SX.zeros(3)
        if kind == LinkKind.REVOLUTE:
            return v[j] * R[i][:, 2], zero
        if kind == LinkKind.PRISMATIC:
            return zero, v[j] * R[i][:, 2]
        if kind == LinkKind.SPHERICAL:
            return R[i] @ v[j : j + 3], zero
        return R[i] @ v[j + 3 : j + 6], J[i] @ v[j : j + 3]

    def inverse_dynamics(self, v: Any, vdot: Any, placed: Placed) -> Any:
        """Joint forces (nv,) of accelerations, by Newton and Euler; see `taction.dynamics.rnea`."""
        ca, tree = self.ca, self.tree
        cross = ca.cross
        R, _, r, J = placed
        w, alpha, a = [ca.SX.zeros(3)], [ca.SX.zeros(3)], [ca.SX(-np.asarray(tree.gravity))]
        f, t = [ca.SX.zeros(3)], [ca.SX.zeros(3)]
        for i in range(1, self.links):
            up = int(tree.parent[i])
            spin, slide = self._rates(i, v, R, J)
            spin_rate, slide_rate = self._rates(i, vdot, R, J)
            whirl = cross(w[up], r[i])
            a.append(a[up] + cross(alpha[up], r[i]) + cross(w[up], whirl + 2.0 * slide) + slide_rate)
            alpha.append(alpha[up] + spin_rate + cross(w[up], spin))
            w.append(w[up] + spin)
            constant = tree.constant[i]
            h = R[i] @ constant[BODY_FIRST : BODY_FIRST + 3]
            xx, xy, xz, yy, yz, zz = constant[BODY_INERTIA : BODY_INERTIA + 6]
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            turning = R[i].T @ w[i]
            moment = inertia @ (R[i].T @ alpha[i]) + cross(turning, inertia @ turning)
            f.append(constant[BODY_MASS] * a[i] + cross(alpha[i], h) + cross(w[i], cross(w[i], h)))
            t.append(R[i] @ moment + cross(h, a[i]))
        tau: list[Any] = [None] * self.nv
        for i in range(self.links - 1, 0, -1):
            kind, j, up = tree.kind[i], int(tree.iv[i]), int(tree.parent[i])
            if kind == LinkKind.REVOLUTE:
                tau[j] = ca.dot(R[i][:, 2], t[i])
            elif kind == LinkKind.PRISMATIC:
                tau[j] = ca.dot(R[i][:, 2], f[i])
            else:
                if kind == LinkKind.FLOATING:
                    tau[j : j + 3] = ca.vertsplit(J[i].T @ f[i])
                    j += 3
                tau[j : j + 3] = ca.vertsplit(R[i].T @ t[i])
            f[up] = f[up] + f[i]
            t[up] = t[up] + t[i] + cross(r[i], f[i])
        return ca.vertcat(*tau) + tree.armature * vdot

    def speeds(self, v: Any, placed: Placed) -> tuple[list[Any], list[Any]]:
        """Angular velocities and velocities of the origins of all links."""
        R, _, r, J = placed
        w, s = [self.ca.SX.zeros(3)], [self.ca.SX.zeros(3)]
        for i in range(1, self.links):
            up = int(self.tree.parent[i])
            spin, slide = self._rates(i, v, R, J)
            s.append(s[up] + self.ca.cross(w[up], r[i]) + slide)
            w.append(w[up] + spin)
        return w, s

    def apart(self, dq: Any, dq1: Any, turn: Any) -> Any:
        """(q₀ ⊕ δq⁺) ⊖ (q₀ ⊕ δq ⊕ t), to first order where it turns: zero where it vanishes."""
        tree = self.tree
        out = dq1 - dq - turn
        for i in range(1, self.links):
            if tree.kind[i] not in (LinkKind.SPHERICAL, LinkKind.FLOATING):
                continue
            j = int(tree.iv[i]) + (3 if tree.kind[i] == LinkKind.FLOATING else 0)
            out[j : j + 3] = self._turned(dq[j : j + 3], turn[j : j + 3], dq1[j : j + 3])
        return out

    def freedoms(self, i: int) -> list[int]:
        """Velocity coordinates of link i."""
        width = {LinkKind.SPHERICAL: 3, LinkKind.FLOATING: 6}.get(LinkKind(int(self.tree.kind[i])), 1)
        return list(range(int(self.tree.iv[i]), int(self.tree.iv[i]) + width))

    def flight(self, i: int, dq: Any, v: Any, dq1: Any, v1: Any, t: float) -> tuple[Any, Any]:
        """What must vanish where link i, alone, flies from (q₀ ⊕ δq, v) to (q₀ ⊕ δq⁺, v⁺) in the time t.

        Of positions and of velocities; see `taction.dynamics.free_flight`.
        """
        ca, constant = self.ca, self.tree.constant[i]
        xx, xy, xz, yy, yz, zz = constant[BODY_INERTIA : BODY_INERTIA + 6]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        is_floating = self.tree.kind[i] == LinkKind.FLOATING
        j = int(self.tree.iv[i])
        lin, ang = slice(j, j + 3), slice(j + 3, j + 6) if is_floating else slice(j, j + 3)
        c = constant[BODY_FIRST : BODY_FIRST + 3] / constant[BODY_MASS]
        if is_floating:
            inertia = inertia - constant[BODY_MASS] * (c @ c * np.eye(3) - np.outer(c, c))
        spin, new = v[ang], v1[ang]
        mean = 0.5 * (spin + new)
        cosine, sine = _series(0.25 * t * t * ca.dot(mean, mean))
        turned = inertia @ (new - spin) + t * (sine / cosine) * ca.cross(mean, inertia @ mean)
        k = int(self.tree.iq[i]) + (3 if is_floating else 0)
        where = self._turned(dq[ang], t * mean, dq1[ang])
        if not is_floating:
            return where, turned
        base = [
            ca.SX(float(value)) for value in self.origin[k : k + 4] / np.linalg.norm(self.origin[k : k + 4])
        ]
        R, R1 = (_rotation(ca, _product(base, _turn(ca, d[ang]))) for d in (dq, dq1))
        speed = v[lin] + R @ ca.cross(spin, c)
        path = dq1[lin] + R1 @ c - (dq[lin] + R @ c + t * speed)
        return ca.vertcat(path, where), ca.vertcat(v1[lin] + R1 @ ca.cross(new, c) - speed, turned)

    def _turned(self, phi: Any, turn: Any, phi1: Any) -> Any:
        """Rotation from exp(φ) exp(turn) to exp(φ⁺), to first order."""
        w, x, y, z = _product(_turn(self.ca, phi), _turn(self.ca, turn))
        return 2.0 * self.ca.vertcat(*_product([w, -x, -y, -z], _turn(self.ca, phi1))[1:])


def _product(a: list[Any], b: list[Any]) -> list[Any]:
    """Product of two quaternions."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def _turn(ca: Any, phi: Any) -> list[Any]:
    """Unit quaternion of a rotation vector (3,), by series in its squared length."""
    cosine, sine = _series(0.25 * ca.dot(phi, phi))
    return [cosine, *(0.5 * sine * phi[c] for c in range(3))]


def _series(s: Any) -> tuple[Any, Any]:
    """Cosine of the root of s, and its sine by the root."""
    cosine, sine = 0.0, 0.0
    for k in range(SERIES, -1, -1):
        cosine = 1.0 / math.factorial(2 * k) - s * cosine
        sine = 1.0 / math.factorial(2 * k + 1) - s * sine
    return cosine, sine


def _rotation(ca: Any, p: list[Any]) -> Any:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = p
    return ca.vertcat(
        ca.horzcat(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        ca.horzcat(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        ca.horzcat(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
