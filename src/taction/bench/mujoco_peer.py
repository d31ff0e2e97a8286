"""MuJoCo as a peer: the same MJCF text, stepped as it comes, its contact forces judged by our certificate.

Steps are ``mj_step(model, data, nstep=n)``: one call, no Python in between. The file asks for elliptic cones
and Newton's method; everything else is MuJoCo's default.

The judge. MuJoCo's contacts are soft by design, so its forces do not satisfy Signorini's and Coulomb's laws
and are not meant to; the figure says by how much, in the measure that our own steps are held to. After a step
the contacts, frames and Jacobians in its data are still those of the configuration that the step started
from, and the velocities are the new ones. For contact i with frame (n, t₁, t₂), Jacobian J_i of the second
geom against the first and force f_i,
    u_i = J_i v⁺ + max(gap_i, 0)/h e_N,   Λ_i = h f_i,   W = J (M + h D)⁻¹ Jᵀ,   b = u − W Λ
with D the joint dampers, which MuJoCo's Euler step takes implicitly. The residual is the natural map of
(u, Λ), relative to ‖b‖: `taction.contact.certificate`. W serves for that scale alone.

References: [TodorovErezTassa2012]; [Todorov2014] for the soft contact model; [AcaryBremondHuber2018].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem


def mujoco_name() -> str | None:
    """``mujoco VERSION`` if it is installed."""
    try:
        import mujoco
    except ImportError:
        return None
    return f"mujoco {mujoco.__version__}"


class MujocoPeer:
    """One model and one state of MuJoCo.

    Args:
        source: MJCF text, or a model.
    """

    def __init__(self, source: Any) -> None:
        import mujoco

        self._mujoco = mujoco
        is_text = isinstance(source, str)
        self.model: Any = mujoco.MjModel.from_xml_string(source) if is_text else source
        self.data: Any = mujoco.MjData(self.model)
        self._kind = mujoco.mjtState.mjSTATE_INTEGRATION
        self._saved = np.zeros(mujoco.mj_stateSize(self.model, self._kind))
        self.keep()

    def keep(self) -> None:
        """Remember the present state, warm start and all, for `restore`."""
        self._mujoco.mj_getState(self.model, self.data, self._saved, self._kind)

    def restore(self) -> None:
        """Go back to the state kept last."""
        self._mujoco.mj_setState(self.model, self.data, self._saved, self._kind)

    def advance(self, steps: int) -> None:
        """Take so many steps in one call."""
        if steps:
            self._mujoco.mj_step(self.model, self.data, nstep=steps)

    def judge(self, steps: int, samples: int, control: Array | None = None) -> dict[str, float]:
        """Run and look at some of the steps, evenly spread; control (steps, nu) if it changes.

        Returns:
            Worst and median residual, mean number of contacts, deepest penetration [m].
        """
        every, residuals, contacts, depth = max(1, steps // samples), [], [], 0.0
        for n in range(steps):
            if control is not None:
                self.data.ctrl[:] = control[n]
            self.advance(1)
            if n % every == every - 1 or n == steps - 1:
                residuals.append(self.residual())
                contacts.append(int(self.data.ncon))
            if self.data.ncon:
                depth = max(depth, -float(self.data.contact.dist.min()))
        return {
            "peer_residual": max(residuals, default=0.0),
            "peer_median_residual": float(np.median(residuals) if residuals else 0.0),
            "peer_contacts": float(np.mean(contacts) if contacts else 0.0),
            "peer_penetration": depth,
        }

    def residual(self) -> float:
        """Relative natural-map residual of the step last taken; see the module text."""
        problem, impulse = self.problem()
        return certify(problem, impulse).residual if len(impulse) else 0.0

    def problem(self) -> tuple[ContactProblem, Array]:
        """The contact problem of the step last taken, and MuJoCo's impulses (3k,) [N s]."""
        mujoco, m, d = self._mujoco, self.model, self.data
        n, h = int(d.ncon), float(m.opt.timestep)
        J, impulse, offset = np.zeros((3 * n, m.nv)), np.zeros(3 * n), np.zeros(3 * n)
        elements, force, one, other = [], np.zeros(6), np.zeros((3, m.nv)), np.zeros((3, m.nv))
        for i in range(n):
            contact, rows = d.contact[i], slice(3 * i, 3 * i + 3)
            bodies = m.geom_bodyid[contact.geom]
            mujoco.mj_jac(m, d, one, None, contact.pos, int(bodies[0]))
            mujoco.mj_jac(m, d, other, None, contact.pos, int(bodies[1]))
            J[rows] = contact.frame.reshape(3, 3) @ (other - one)
            mujoco.mj_contactForce(m, d, i, force)
            impulse[rows] = h * force[:3]
            offset[3 * i] = max(float(contact.dist), 0.0) / h
            elements.append(Contact(float(contact.friction[0])))
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        W = J @ np.linalg.solve(M + h * np.diag(m.dof_damping), J.T) if n else np.zeros((0, 0))
        b = J @ d.qvel + offset - W @ impulse
        return ContactProblem(0.5 * (W + W.T), b, elements, name="mujoco"), impulse
