"""Joint coordinates of bodies in absolute coordinates, and back, within a step.

What it solves: the same as `taction.kinematics.absolute`, whose formulas and notation are used, for one state
in kernels. `joint_state` takes the relative placements and velocities of joined bodies apart; `body_state`
places bodies, and gives them velocities, from the links of the robot. What lies across a joint is left out:
there and back closes joints, to rounding, and takes velocities to nothing across them.

Angles come within a turn. Quaternions of bodies come with the sign that is nearer to the one before, so that
curves of recorded states have no jumps.

Cost: a forward kinematics each.

References: [Transeth2006, Section V-A] for the angles of a cardan joint.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction._core.kinds import TurnKind
from taction.kinematics.forward import link_velocities, place_links
from taction.kinematics.ties import (
    PLACE_RATE,
    TURN_RATE,
    tie_coordinates,
    tie_frames,
    tie_rates,
    transposed,
)
from taction.math.rotation import quat_of_mat
from taction.math.vector import add, cross, load3, load9, mat_mul, mat_t_vec, mat_vec, put3
from taction.model.workspace import AXES, OMEGA, ORIGIN, SPEED


@kernel
def joint_state(tree, ties, v, ws, q_out, v_out):
    """Joint coordinates q_out (nq,) and velocities v_out (nv,) of bodies that `place_links` left in ws.

    v (6 nb,): velocities of the bodies. Rates of the joints are left in ws, as by `tie_rates`.
    """
    tie_rates(tree, ties, v, ws)
    for t in range(ties.turn.shape[0]):
        b, k = ties.link[t, 1], ties.iq[t]
        A, xa, B, xb = tie_frames(ties, t, ws)
        place, angles = tie_coordinates(ties, t, A, xa, B, xb)
        rate, turn = load3(ws, b, PLACE_RATE), load3(ws, b, TURN_RATE)
        # Free rows of position come first, among coordinates as among velocities
        for c in range(3):
            if ties.dof[t, c] >= 0:
                q_out[k], v_out[ties.dof[t, c]] = place[c], rate[c]
                k += 1
        if ties.turn[t] == TurnKind.FREE:
            p = quat_of_mat(mat_mul(transposed(A), B))
            for c in range(4):
                q_out[k + c] = p[c]
        # Then angles, or the spin of a joint that turns freely
        for c in range(3):
            if ties.dof[t, 3 + c] >= 0:
                v_out[ties.dof[t, 3 + c]] = turn[c]
                if ties.turn[t] != TurnKind.FREE:
                    q_out[k] = angles[c]
                    k += 1


@kernel
def body_state(tree, robot, q, v, ws, q_io, v_out):
    """Bodies q_io (7 nb,), v_out (6 nb,) from joint coordinates q (nq,), v (nv,); ws: links of the robot.

    tree: of the bodies. q_io is read for the signs of its quaternions.
    """
    place_links(robot.tree, q, ws)
    link_velocities(robot.tree, v, ws)
    for b in range(1, robot.link.shape[0]):
        i, k, j = robot.link[b], tree.iq[b], tree.iv[b]
        R, w = load9(ws, i, AXES), load3(ws, i, OMEGA)
        arm = mat_vec(R, load3(robot.centre, b, 0))
        p = quat_of_mat(R)
        along = 0.0
        for c in range(4):
            along += p[c] * q_io[k + 3 + c]
        sign = -1.0 if along < 0.0 else 1.0
        put3(add(load3(ws, i, ORIGIN), arm), k, q_io)
        for c in range(4):
            q_io[k + 3 + c] = sign * p[c]
        put3(add(load3(ws, i, SPEED), cross(w, arm)), j, v_out)
        put3(mat_t_vec(R, w), j + 3, v_out)
