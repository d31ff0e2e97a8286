"""MuJoCo with contacts, stops and equalities as stiff as they go: what rigid contact is held against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FINE = 2e-4  # step of MuJoCo where it is made stiff [s], and half of it
# damping ratio of its contacts: a force that only pushes bounces with 1/(4 ζ²), and with e⁻² at 1
DAMPED = 4.0
STRUCK = (2 * 9.81 * 0.001) ** 0.5  # speed that throws up by a millimetre [m/s or rad/s]
SLID = 1e-3  # slip above which a contact slides for sure [m/s]


@dataclass(frozen=True)
class Stiff:
    """A motion of MuJoCo from where a step of a run begins.

    Attributes:
        path: the MJCF file.
        run: the run.
        exempt: names of bodies that do not collide.
        begin: the step.
        order: which of our coordinates are MuJoCo's, in its order.
        dimensions: most dimensions of a contact; 3 is without torsional and rolling friction.
    """

    path: Path
    run: Any
    exempt: list[tuple[str, str]]
    begin: int
    order: Any
    dimensions: int = 6

    def start(self, refined: int) -> tuple[Any, Any]:
        """MuJoCo's model, as stiff as a step ``refined`` times smaller allows, and its data."""
        import mujoco

        spec = mujoco.MjSpec.from_file(str(self.path))
        for k, body in enumerate(spec.bodies):
            body.name = body.name or f"body{k}"  # as ours are called
        names = {body.name for body in spec.bodies}
        for pair in self.exempt:  # the root of a URDF file is its world
            one, two = (name if name in names else "world" for name in pair)
            spec.add_exclude(bodyname1=one, bodyname2=two)
        peer = spec.compile()
        peer.opt.timestep = self.run.dt / refined
        peer.opt.cone, peer.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
        peer.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        peer.opt.solver, peer.opt.tolerance = mujoco.mjtSolver.mjSOL_NEWTON, 1e-10
        peer.opt.iterations, peer.opt.ls_iterations = 200, 100  # files for graphics cards ask for one or two
        peer.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        stiff, hard = (2 * peer.opt.timestep, DAMPED), (0.99, 0.9999, 1e-6, 0.5, 2.0)
        for solref, solimp in (
            (peer.geom_solref, peer.geom_solimp),
            (peer.jnt_solref, peer.jnt_solimp),
            (peer.dof_solref, peer.dof_solimp),
            (peer.eq_solref, peer.eq_solimp),
            (peer.tendon_solref_lim, peer.tendon_solimp_lim),
            (peer.pair_solref, peer.pair_solimp),
        ):
            if len(solref):
                solref[:], solimp[:] = stiff, hard
        for margin in (peer.geom_margin, peer.pair_margin, peer.jnt_margin, peer.tendon_margin):
            margin[:] = 0.0  # at which bodies float
        for dimensions in (peer.geom_condim, peer.pair_dim):
            dimensions[:] = np.minimum(dimensions, self.dimensions)
        data = mujoco.MjData(peer)
        if peer.nkey:
            mujoco.mj_resetDataKeyframe(peer, data, 0)
        data.qpos[:], data.qvel[:] = self.run.q[self.begin][self.order], self.run.v[self.begin][self.order]
        return peer, data

    def motion(self, refined: int, every: int, count: int) -> np.ndarray:
        """``count`` configurations, ``every`` so many steps of the run; NaN where MuJoCo gave up."""
        import mujoco

        peer, data = self.start(refined)
        out = np.full((count, peer.nq), np.nan)
        out[0, self.order] = data.qpos
        for k in range(1, count):
            mujoco.mj_step(peer, data, refined * every)
            if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
                break
            out[k, self.order] = data.qpos
        return out

    def first_struck(self, refined: int, every: int, last: int) -> int:
        """Last instant before a contact strikes and slides on, ``last`` if none does until then.

        MuJoCo's cone is convex: a contact that pushes and slides at a speed s separates at μ s. By Signorini
        what pushes does not separate. In a strike that is another impulse, and another motion after it.
        """
        import mujoco

        peer, data = self.start(refined)
        for k in range(last * refined * every):
            before = data.qvel.copy()
            mujoco.mj_step(peer, data)
            jump, speed = np.abs(data.qvel - before).max(), np.zeros(data.nefc)
            mujoco.mj_mulJacVec(peer, data, speed, data.qvel)
            for contact in data.contact:
                at = contact.efc_address
                if at >= 0 and contact.dim > 1 and data.efc_force[at] > 0.0 and max(jump, speed[at]) > STRUCK:
                    slides = contact.friction[0] * np.hypot(speed[at + 1], speed[at + 2])
                    if slides > SLID and speed[at] > 0.5 * slides:
                        return k // (refined * every)
        return last

    def violation(self, refined: int) -> float:
        """By how much stops, equalities and contacts are violated where the run ends [m or rad]."""
        import mujoco

        peer, data = self.start(refined)
        mujoco.mj_step(peer, data, refined * (len(self.run.t) - 1 - self.begin))
        kinds = data.efc_type[: data.nefc]
        is_equality = kinds == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        gaps = np.where(is_equality, np.abs(data.efc_pos[: data.nefc]), -data.efc_pos[: data.nefc])
        return float(gaps.max(initial=0.0))
