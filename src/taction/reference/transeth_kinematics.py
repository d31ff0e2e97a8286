"""Where the links of the snake are and how its contacts and joints move: Sections II, III and VI-C.

Gaps, velocities as rows of W_N, W_T, W_J, angles of the joints, and the projection onto them, with the
numbers of [Transeth2006]. The notation is in `taction.reference.transeth_snake`, to which this belongs.

References: [Transeth2006, Sections II, III, V-A and VI-C].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.reference.transeth_data import SnakeParameters

VERTICAL = 1e-9  # length of the projected axis below which a link counts as vertical in (21)
# (3): entry (a, b) of H and H̄ is plus or minus that component of p
PLACES = np.array([[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
SIGNS = np.array([[-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])
SIGNS_BAR = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]])


def rotations(p: Array) -> Array:
    """Rotation matrices R = H H̄ᵀ, (n, 3, 3), of Euler parameters p (n, 4) of any length but zero.

    The document prints R = H H̄; both are 3×4.
    """
    p = p / np.sqrt(np.einsum("ij,ij->i", p, p))[:, None]
    e = p[:, PLACES]
    return (SIGNS * e) @ (SIGNS_BAR * e).transpose(0, 2, 1)


def quaternion_rates(p: Array, omega: Array) -> Array:
    """ṗ = ½ H̄ᵀ ω, (n, 4), of Euler parameters p (n, 4) and angular velocities ω in link axes (n, 3)."""
    return np.einsum("iab,ia->ib", SIGNS_BAR * p[:, PLACES], 0.5 * omega)


class SnakeKinematics:
    """Positions, gaps and directions of the robot's spheres and joints.

    Args:
        parameters: numbers and readings.
    """

    def __init__(self, parameters: SnakeParameters) -> None:
        self.parameters, self.n = parameters, parameters.links
        self.half = 0.5 * parameters.per_link("length")
        self.arm = parameters.per_link("sphere_distance")
        self._rows = np.zeros((4 * (self.n - 1), 6 * self.n))  # W_Jᵀ; its zeros never change

    def contact_gaps(self, q: Array) -> Array:
        """g_N of all spheres, (2n,) [m]: Eqs. (5), (6)."""
        return self.placed_gaps(q, rotations(q[:, 3:]))

    def placed_gaps(self, q: Array, R: Array) -> Array:
        """The same with the rotations R (n, 3, 3) of the links at hand, as in all that follows."""
        lift = self.arm * R[:, 2, 2]
        return np.concatenate([q[:, 2] + lift, q[:, 2] - lift]) - self.parameters.radius

    def joint_gaps(self, q: Array) -> Array:
        """g_J of all joints, (n−1, 4), x, y, z [m] and φ: Eqs. (8), (9), with L_{i+1} for the second link."""
        R = rotations(q[:, 3:])
        end = self.half[:, None] * R[:, :, 2]
        g = np.empty((self.n - 1, 4))
        g[:, :3] = (q[:-1, :3] + end[:-1]) - (q[1:, :3] - end[1:])
        g[:, 3] = np.einsum("ij,ij->i", R[:-1, :, 1], R[1:, :, 0])
        return g

    def joint_angles(self, q: Array) -> Array:
        """α_h and α_v of all joints, (n−1, 2) [rad]: Section V-A."""
        return self._joint_angles(rotations(q[:, 3:]))

    def _joint_angles(self, R: Array) -> Array:
        third = np.einsum("ib,ibc->ci", R[:-1, :, 2], R[1:])  # last row of (48)
        h = -np.arcsin(np.minimum(np.maximum(third[0], -1.0), 1.0))
        return np.stack([h, np.arctan2(third[1], third[2])], axis=1)

    def joint_rates(self, q: Array, u: Array) -> Array:
        """α̇_h and α̇_v of all joints, (n−1, 2) [rad/s].

        ω_{i+1} − ω_i = α̇_h e_y^i + α̇_v e_x^{i+1}, and the two axes are orthogonal by (9).
        """
        return self._joint_rates(rotations(q[:, 3:]), u)

    def _joint_rates(self, R: Array, u: Array) -> Array:
        omega = np.einsum("iab,ib->ia", R, u[:, 3:])
        relative = omega[1:] - omega[:-1]
        h = np.einsum("ia,ia->i", relative, R[:-1, :, 1])
        v = np.einsum("ia,ia->i", relative, R[1:, :, 0])
        return np.stack([h, v], axis=1)

    def matrices(self, q: Array) -> tuple[Array, Array, Array]:
        """W_N (6n, 2n), W_T (6n, 4n) and W_J (6n, 4(n−1)) at q: Eqs. (10)–(30)."""
        R = rotations(q[:, 3:])
        rows = self.contact_rows(R, np.arange(2 * self.n))
        return rows[0::3].T.copy(), np.delete(rows, np.s_[::3], axis=0).T.copy(), self.joint_rows(R).T.copy()

    def contact_rows(self, R: Array, active: IntArray) -> Array:
        """Rows (3a, 6n) of the contacts of spheres `active`: normal, along, across the link.

        A sphere centre at s e_z, s = ±L_GS, moves with v + R (ω × s e_z) = v + s (e_x ω_y − e_y ω_x); a row
        for the direction d is (d, −s d·e_y, s d·e_x, 0): Eqs. (12), (16), (18).
        """
        i = active % self.n
        s = np.where(active < self.n, self.arm[i], -self.arm[i])
        R = R[i]
        D = np.zeros((len(i), 3, 3))  # rows: e_z^I, and e_x^Π, e_y^Π of (21)
        D[:, 0, 2] = 1.0
        axis = R[:, :2, 2]
        size = np.hypot(axis[:, 0], axis[:, 1])
        if (size < VERTICAL).any():
            pitched = -np.sign(R[:, 2, 2])[:, None] * R[:, :2, 1]
            axis = np.where((size < VERTICAL)[:, None], pitched, axis)
            size = np.hypot(axis[:, 0], axis[:, 1])
        D[:, 1, :2] = axis / size[:, None]
        D[:, 2, 0], D[:, 2, 1] = -D[:, 1, 1], D[:, 1, 0]
        along = D @ R  # components of the directions in link axes
        w = np.zeros((len(i), 3, 6))
        w[:, :, :3] = D
        w[:, :, 3] = -s[:, None] * along[:, :, 1]
        w[:, :, 4] = s[:, None] * along[:, :, 0]
        if self.parameters.friction_at == "contact":
            # the arm −L_SC e_z^I adds d·(ω × arm) = ω·(arm × d); arm × e_z^I = 0
            arm = -self.parameters.radius * R[:, 2, :]  # in link axes
            w[:, :, 3:] += np.cross(arm[:, None, :], along)
        rows = np.zeros((len(i), 3, self.n, 6))
        rows[np.arange(len(i)), :, i] = w
        return rows.reshape(3 * len(i), 6 * self.n)

    def joint_rows(self, R: Array) -> Array:
        """W_Jᵀ, (4(n−1), 6n): Eqs. (25)–(30); overwritten by the next call."""
        n, h = self.n, self.half
        if n == 1:
            return self._rows
        first, second = R[:-1], R[1:]
        w = np.zeros((n - 1, 4, 2, 6))
        w[:, 0, 0, 0] = w[:, 1, 0, 1] = w[:, 2, 0, 2] = 1.0
        w[:, 0, 1, 0] = w[:, 1, 1, 1] = w[:, 2, 1, 2] = -1.0
        # (26): −d·(L/2) R ẽ_z, the velocity of the end +L/2 of one link and minus that of the end −L/2
        w[:, :3, 0, 3], w[:, :3, 0, 4] = -h[:-1, None] * first[:, :, 1], h[:-1, None] * first[:, :, 0]
        w[:, :3, 1, 3], w[:, :3, 1, 4] = -h[1:, None] * second[:, :, 1], h[1:, None] * second[:, :, 0]
        # (28): −(R ẽ_y)ᵀ e_x^{i+1} and −(R ẽ_x)ᵀ e_y^i
        x = np.einsum("iab,ia->ib", first, second[:, :, 0])
        y = np.einsum("iab,ia->ib", second, first[:, :, 1])
        w[:, 3, 0, 3], w[:, 3, 0, 5] = x[:, 2], -x[:, 0]
        w[:, 3, 1, 4], w[:, 3, 1, 5] = -y[:, 2], y[:, 1]
        rows = self._rows.reshape(n - 1, 4, n, 6)
        i = np.arange(n - 1)
        rows[i, :, i], rows[i, :, i + 1] = w[:, :, 0], w[:, :, 1]
        return self._rows

    def project(self, q: Array) -> Array:
        """The coordinates (n, 7) moved onto the joints, link 1 kept: Section VI-C."""
        q = q.copy()
        p = q[:, 3:]
        p /= np.sqrt((p * p).sum(axis=1))[:, None]
        R = rotations(p)
        if self.n == 1:
            return q
        # scalar products of e_x, e_y of each link (rows) with those of the next (columns)
        dots = np.einsum("iab,iac->ibc", R[:-1, :, :2], R[1:, :, :2]).tolist()
        turns = [0.0]
        for (xx, xy), (yx, yy) in dots:
            s, c = math.sin(turns[-1]), math.cos(turns[-1])
            a, b = c * yx - s * xx, c * yy - s * xy  # e_y of the turned link · e_x, e_y of the next
            turns.append(math.atan2(-a, b) if b >= 0.0 else math.atan2(a, -b))
        half = 0.5 * np.array(turns)
        w, z = np.cos(half), np.sin(half)
        e0, e1, e2, e3 = p.T
        turned = np.stack([w * e0 - z * e3, w * e1 + z * e2, w * e2 - z * e1, w * e3 + z * e0], axis=1)
        q[1:, 3:] = (turned / np.sqrt((turned * turned).sum(axis=1))[:, None])[1:]
        end = self.half[:, None] * R[:, :, 2]  # e_z is kept
        q[1:, :3] = q[0, :3] + np.cumsum(end[:-1] + end[1:], axis=0)
        return q
