"""The one place that knows all laws: for each of their parts an if-chain over the kind of the block.

Kinds are integers and not functions or classes, because only integers reach a cached kernel: see the
table of measurements in the documentation on adding a law. A new law is a file beside this one and a line
in each chain; the last `return` of a chain is Coulomb's. A test checks that every file has every part and
is asked for it here.

Also here: what follows for a whole problem, kind (k,) and sets (k, 6). Impulses r and velocities u are (3k,).

References: [AcaryBremondHuber2018] for the natural map.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel, plain
from taction.contact.friction_cone import support
from taction.contact.laws import adhesion, box, coulomb, relaxed, returned
from taction.contact.laws.adhesion import ADHESIVE
from taction.contact.laws.box import BOX
from taction.contact.laws.coulomb import EXACT
from taction.contact.laws.relaxed import CONVEX
from taction.contact.laws.returned import RETURNED

__all__ = ["ADHESIVE", "BOX", "CONVEX", "EXACT", "RETURNED"]

# ----- what a block is ------------------------------------------------------------------------------------


@inline_kernel
def is_rowwise(kind):
    """Whether a block is three intervals, each for itself; otherwise it is a cone over three rows."""
    return kind == BOX


@inline_kernel
def are_held(count, rows):
    """Whether each of so many blocks carries a given impulse, as those of soft contacts do."""
    for k in range(count):
        for c in range(3):
            if not is_rowwise(rows.kind[k]) or rows.sets[k, 2 * c] != rows.sets[k, 2 * c + 1]:
                return False
    return True


@inline_kernel
def is_shifted(kind):
    """Whether γ ≠ u: the law of a cone at the origin that is no convex problem."""
    return kind == EXACT


@inline_kernel
def contact_set(cone, plus, minus, lateral, hold, set_out):
    """Kind of a contact with these coefficients, EXACT or CONVEX as ``cone`` says, and its set_out (6,).

    Without friction it is a half-line and two rows that carry nothing; hold: its adhesion [N s].
    """
    for c in range(6):
        set_out[c] = 0.0
    if plus == 0.0 and minus == 0.0 and lateral == 0.0:
        set_out[0], set_out[1] = 0.0 - hold, math.inf
        return BOX
    set_out[0], set_out[1], set_out[2] = plus, minus, lateral
    if hold > 0.0:
        set_out[3], set_out[4] = hold, float(cone)
        return ADHESIVE
    return cone


@inline_kernel
def returned_set(cone, given, set_io):
    """Kind of a contact with friction to which an impulse comes back, and its set_io (6,), where its cone is.

    cone: EXACT or CONVEX; given: along the normal [N s]. What adhesion was in the set is left out.
    """
    set_io[3], set_io[4] = given, float(cone) if given > 0.0 else 0.0
    return RETURNED if given > 0.0 else cone


# ----- parts of the laws ----------------------------------------------------------------------------------


@inline_kernel
def project_block(kind, set_, x0, x1, x2):
    """Nearest point P_C(x) of the set of one block."""
    if kind == BOX:
        return box.nearest(set_, x0, x1, x2)
    if kind == CONVEX:
        return relaxed.nearest(set_, x0, x1, x2)
    if kind == ADHESIVE:
        return adhesion.nearest(set_, x0, x1, x2)
    if kind == RETURNED:
        return returned.nearest(set_, x0, x1, x2)
    return coulomb.nearest(set_, x0, x1, x2)


@inline_kernel
def project_in_turn(kind, set_, x0, x1, x2):
    """The normal part projected first, then the tangential one on the section that belongs to it."""
    if kind == BOX:
        return box.in_turn(set_, x0, x1, x2)
    if kind == CONVEX:
        return relaxed.in_turn(set_, x0, x1, x2)
    if kind == ADHESIVE:
        return adhesion.in_turn(set_, x0, x1, x2)
    if kind == RETURNED:
        return returned.in_turn(set_, x0, x1, x2)
    return coulomb.in_turn(set_, x0, x1, x2)


@inline_kernel
def correction(kind, set_, u1, u2):
    """What is added to u_N to make γ, before the laws are compared."""
    if kind == BOX:
        return box.shift(set_, u1, u2)
    if kind == CONVEX:
        return relaxed.shift(set_, u1, u2)
    if kind == ADHESIVE:
        return adhesion.shift(set_, u1, u2)
    if kind == RETURNED:
        return returned.shift(set_, u1, u2)
    return coulomb.shift(set_, u1, u2)


@inline_kernel
def apex_of(kind, set_):
    """How far the set is moved against the normal [N s]."""
    if kind == BOX:
        return box.apex(set_)
    if kind == CONVEX:
        return relaxed.apex(set_)
    if kind == ADHESIVE:
        return adhesion.apex(set_)
    if kind == RETURNED:
        return returned.apex(set_)
    return coulomb.apex(set_)


@inline_kernel
def origin_of(kind, set_):
    """Kind of the law that Λ + apex e_N obeys."""
    if kind == BOX:
        return box.origin(set_)
    if kind == CONVEX:
        return relaxed.origin(set_)
    if kind == ADHESIVE:
        return adhesion.origin(set_)
    if kind == RETURNED:
        return returned.origin(set_)
    return coulomb.origin(set_)


@inline_kernel
def solve_block(kind, set_, w, r0, r1, r2, q0, q1, q2):
    """Impulses of one block from a guess (r0, r1, r2): w (9,) its block of W, q its velocity without them."""
    if kind == BOX:
        return box.solve_alone(set_, w, r0, r1, r2, q0, q1, q2)
    if kind == CONVEX:
        return relaxed.solve_alone(set_, w, r0, r1, r2, q0, q1, q2)
    if kind == ADHESIVE:
        return adhesion.solve_alone(set_, w, r0, r1, r2, q0, q1, q2)
    if kind == RETURNED:
        return returned.solve_alone(set_, w, r0, r1, r2, q0, q1, q2)
    return coulomb.solve_alone(set_, w, r0, r1, r2, q0, q1, q2)


@inline_kernel
def proximal_weights(kind, set_, alpha):
    """Shares of the proximal weight α that the three rows of a block get."""
    if kind == BOX:
        return box.weights(set_, alpha)
    if kind == CONVEX:
        return relaxed.weights(set_, alpha)
    if kind == ADHESIVE:
        return adhesion.weights(set_, alpha)
    if kind == RETURNED:
        return returned.weights(set_, alpha)
    return coulomb.weights(set_, alpha)


@inline_kernel
def block_equations(kind, set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F (3) of block i, A = ∂F/∂u and B = ∂F/∂Λ (9 each); returns whether they only say Λ = its bounds."""
    if kind == BOX:
        return box.equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
    if kind == CONVEX:
        return relaxed.equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
    if kind == ADHESIVE:
        return adhesion.equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
    if kind == RETURNED:
        return returned.equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)
    return coulomb.equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out)


@inline_kernel
def scale_set(kind, set_, w, t, scale_out, sets_out):
    """Scale (3) of a block with diagonal block w (9,), and its set for Λ' = Λ / s, written as block t."""
    if kind == BOX:
        box.rescale(set_, w, t, scale_out, sets_out)
    elif kind == CONVEX:
        relaxed.rescale(set_, w, t, scale_out, sets_out)
    elif kind == ADHESIVE:
        adhesion.rescale(set_, w, t, scale_out, sets_out)
    elif kind == RETURNED:
        returned.rescale(set_, w, t, scale_out, sets_out)
    else:
        coulomb.rescale(set_, w, t, scale_out, sets_out)


@inline_kernel
def judge_block(kind, set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether it is unilateral, its load, power that is left."""
    if kind == BOX:
        return box.judged(set_, r0, r1, r2, u0, u1, u2)
    if kind == CONVEX:
        return relaxed.judged(set_, r0, r1, r2, u0, u1, u2)
    if kind == ADHESIVE:
        return adhesion.judged(set_, r0, r1, r2, u0, u1, u2)
    if kind == RETURNED:
        return returned.judged(set_, r0, r1, r2, u0, u1, u2)
    return coulomb.judged(set_, r0, r1, r2, u0, u1, u2)


# ----- what follows for one block -------------------------------------------------------------------------


@inline_kernel
def has_shift(kind, set_):
    """Whether γ ≠ u where it slides: no convex problem, wherever its cone begins."""
    return correction(kind, set_, -1.0, 0.0) > 0.0 or correction(kind, set_, 0.0, 1.0) > 0.0


@inline_kernel
def touch_cone(kind, set_, r0, u0, u1, u2, slack):
    """Whether a cone's contact touches, at normal impulse r0 and velocity u, zero up to ``slack``."""
    reach = support(set_[0], set_[1], set_[2], -u1, -u2)
    is_lifted = u0 + correction(kind, set_, u1, u2) - reach > slack
    return not is_lifted or r0 + apex_of(kind, set_) > 0.0


# ----- whole problems -------------------------------------------------------------------------------------


@inline_kernel
def natural_map_block(kind, set_, r0, r1, r2, u0, u1, u2):
    """Λ − P_C(Λ − γ) of one block: zero exactly when the block obeys its law."""
    u0 += correction(kind, set_, u1, u2)
    x0, x1, x2 = r0 - u0, r1 - u1, r2 - u2
    y0, y1, y2 = project_block(kind, set_, x0, x1, x2)
    # not Λ − y: where Λ is so large that Λ − γ rounds γ off, that would be zero
    return u0 + (x0 - y0), u1 + (x1 - y1), u2 + (x2 - y2)


@kernel
def natural_map(kind, sets, r, u):
    """‖Λ − P_C(Λ − γ)‖ over all blocks; kind (k,), sets (k, 6), impulses r and velocities u (3k,)."""
    total = 0.0
    for i in range(kind.shape[0]):
        c = 3 * i
        e0, e1, e2 = natural_map_block(kind[i], sets[i], r[c], r[c + 1], r[c + 2], u[c], u[c + 1], u[c + 2])
        total += e0 * e0 + e1 * e1 + e2 * e2
    return math.sqrt(total)


@kernel
def project(kind, sets, x, y_out):
    """Projection y_out (3k,) of x (3k,) on the product of the sets: kind (k,), sets (k, 6)."""
    for i in range(kind.shape[0]):
        c = 3 * i
        y_out[c], y_out[c + 1], y_out[c + 2] = project_block(kind[i], sets[i], x[c], x[c + 1], x[c + 2])


def rowwise(kind: IntArray) -> NDArray[np.bool_]:
    """Which blocks are three intervals each, (k,)."""
    return np.asarray(plain(is_rowwise)(kind))


def shifted(kind: IntArray) -> NDArray[np.bool_]:
    """Which blocks have γ ≠ u, (k,)."""
    return np.asarray(plain(is_shifted)(kind))


def apexes(kind: IntArray, sets: Array) -> Array:
    """How far the set of each block is moved against its normal, (k,)."""
    return np.array([apex_of(k, s) for k, s in zip(kind, sets, strict=True)])


def origins(kind: IntArray, sets: Array) -> IntArray:
    """Kinds of the laws with their sets not moved, (k,)."""
    return np.array([origin_of(k, s) for k, s in zip(kind, sets, strict=True)], dtype=np.int64)


def relaxation(kind: IntArray) -> IntArray:
    """Kinds of the convex relaxation of laws at the origin, (k,): the same cones with γ = u."""
    return np.where(shifted(kind), CONVEX, kind)


def intervals(kind: IntArray, sets: Array) -> tuple[Array, Array]:
    """Lower and upper end of every row, (3k,) each; NaN for rows of cones."""
    ends = np.where(rowwise(kind)[:, None], sets, np.nan)
    return ends[:, 0::2].ravel(), ends[:, 1::2].ravel()
