"""The smooth right-hand side that integrators share: v̇ = f(q, v, τ).

`Plant` gathers what stays constant over a run: the tree, the linear joint law (springs, dampers, PD gains)
and the mimic couplings. `Scratch` is the working memory of one world.

References: [Featherstone2008, Chapter 3] for the equation of motion.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.jit import kernel
from taction._core.layout import Layout, floats, ints, nested
from taction.dynamics.coupling import coupled_dynamics, forward_dynamics
from taction.dynamics.joint_law import JointLaw, joint_law_force, passive_law
from taction.kinematics.forward import place_links
from taction.model.model import Model, Tree
from taction.model.workspace import make_workspace

STAGES = 7  # the most stages any of our Runge–Kutta methods has


class Plant(Layout):
    """Constants of the smooth dynamics."""

    tree: Tree = nested(Tree, "what moves")
    law: JointLaw = nested(JointLaw, "springs, dampers, gains")
    follower: IntArray = ints("m", "degree of freedom of each mimic joint")
    leader: IntArray = ints("m", "degree of freedom it follows")
    multiplier: Array = floats("m", "ratio of their velocities")


class Scratch(Layout, scratch=True):
    """Working memory of one world; nothing in it outlives a step."""

    links: Array = floats("n, WIDTH", "of `taction.model.workspace`")
    tau: Array = floats("nv", "joint forces with the joint law")
    q: Array = floats("nq", "trial configuration")
    v: Array = floats("nv", "trial velocity")
    kq: Array = floats("STAGES, nq", "position slopes")
    kv: Array = floats("STAGES, nv", "velocity slopes, or vectors of an iteration")
    jacobian: Array = floats("nv, nv", "of implicit equations")
    response: Array = floats("m, nv", "of mimic joints")
    coupling: Array = floats("m, m", "their inverse inertia")
    multiplier: Array = floats("m", "their forces [N or N m]")


@kernel
def acceleration(plant, q, v, tau, lookahead, ws, vdot_out):
    """v̇ into vdot_out (nv,) from q (nq,), v, tau (nv,); joint springs act at q + lookahead · v.

    Returns 0, or a positive number if mimic joints contradict each other.
    """
    place_links(plant.tree, q, ws.links)
    joint_law_force(plant.law, q, v, tau, lookahead, ws.tau)
    if plant.follower.shape[0] == 0:
        forward_dynamics(plant.tree, v, ws.tau, ws.links, vdot_out)
        return 0
    return coupled_dynamics(
        plant.tree, plant.follower, plant.leader, plant.multiplier, v,
        ws.links, ws.response, ws.coupling, ws.multiplier, ws.tau, vdot_out,
    )  # fmt: skip


def make_plant(model: Model, law: JointLaw | None = None) -> Plant:
    """The plant of a model: its own springs, dampers and mimic joints, and an additional joint law."""
    own = passive_law(model)
    return Plant(
        tree=model.tree,
        law=own if law is None else own + law,
        follower=frozen([c.follower_v for c in model.couplings], np.int64),
        leader=frozen([c.leader_v for c in model.couplings], np.int64),
        multiplier=frozen([c.multiplier for c in model.couplings]),
    )


def make_scratch(model: Model) -> Scratch:
    """Allocate the working memory of one world."""
    nq, nv, m = model.nq, model.nv, len(model.couplings)
    return Scratch(
        links=make_workspace(model),
        tau=np.zeros(nv),
        q=np.zeros(nq),
        v=np.zeros(nv),
        kq=np.zeros((STAGES, nq)),
        kv=np.zeros((STAGES, nv)),
        jacobian=np.zeros((nv, nv)),
        response=np.zeros((m, nv)),
        coupling=np.zeros((m, m)),
        multiplier=np.zeros(m),
    )
