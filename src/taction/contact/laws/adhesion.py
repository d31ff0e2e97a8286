"""Adhesion: a contact that can be pulled, a friction cone whose apex is moved down the normal.

What it states: with a ≥ 0 the largest impulse with which the contact holds on, Λ' = Λ + a e_N obeys the
law of friction:

    0 ≤ u_N ⊥ Λ_N + a ≥ 0,     Λ_T ∈ (Λ_N + a) D,     maximum dissipation over that section.

So the contact stays closed while it is pulled with less than a, and lets go beyond, Λ_N = −a; friction is
bounded by μ (Λ_N + a), as if the adhesion pressed the surfaces together: a foot that hangs from a ceiling
still resists sliding. What holds when a contact opens acts over that step only: in the next one it is
open, and a = 0 there, which is the business of whoever makes the problem (`taction.steppers.elements`).

Six numbers: μ₊, μ₋, μ₂, a [N s], the kind of the law that Λ' obeys (Coulomb's or the convex one), –.

Method: every part is that of the other law at Λ + a e_N. Alone, u = W Λ + q = W Λ' + (q − a W e_N). The
equations of Newton's method are F(Λ', u): their derivatives are the same, and an open contact says Λ' =
0.

Limits: a → 0 is the law without adhesion; μ → 0 a half-line from −a. Left out: a force that depends on
the gap (van der Waals, capillary bridges), on the time of contact or on the angle of peeling; an adhesion
that is strong in one direction of shear only, as a gecko's is.

References: [Fremond1988] for adhesion in unilateral contact; [DeSaxceFeng1998]; [AlartCurnier1991] for F.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.cone_distance import outside_cone, section_reach
from taction.contact.friction_cone import project_cone, project_parts, scale_cone, support
from taction.contact.laws import coulomb, relaxed
from taction.contact.laws.coulomb import EXACT
from taction.contact.laws.relaxed import CONVEX

ADHESIVE = 3


@kernel
def nearest(set_, x0, x1, x2):
    """P_K(x + a e_N) − a e_N."""
    y0, y1, y2 = project_cone(set_[0], set_[1], set_[2], x0 + set_[3], x1, x2)
    return y0 - set_[3], y1, y2


@kernel
def in_turn(set_, x0, x1, x2):
    """The normal part on Λ_N ≥ −a, then the tangential one on the section of radius Λ_N + a."""
    y0, y1, y2 = project_parts(set_[0], set_[1], set_[2], x0 + set_[3], x1, x2)
    return y0 - set_[3], y1, y2


@inline_kernel
def shift(set_, u1, u2):
    """That of the other law: σ(−u_T) for Coulomb's."""
    return support(set_[0], set_[1], set_[2], -u1, -u2) if set_[4] == EXACT else 0.0


@inline_kernel
def apex(set_):
    """The adhesion a."""
    return set_[3]


@inline_kernel
def origin(set_):
    """The other law."""
    return CONVEX if set_[4] == CONVEX else EXACT


@kernel
def solve_alone(set_, w, r0, r1, r2, q0, q1, q2):
    """Λ of one contact, all others held: the other law's for q − a W e_N, less a."""
    a = set_[3]
    q0, q1, q2 = q0 - a * w[0], q1 - a * w[3], q2 - a * w[6]
    if set_[4] == CONVEX:
        y0, y1, y2 = relaxed.solve_alone(set_, w, r0 + a, r1, r2, q0, q1, q2)
    else:
        y0, y1, y2 = coulomb.solve_alone(set_, w, r0 + a, r1, r2, q0, q1, q2)
    return y0 - a, y1, y2


@inline_kernel
def weights(set_, alpha):
    """All of the proximal weight α."""
    return alpha, alpha, alpha


@kernel
def equations(set_, w, alpha, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out):
    """F (3), A and B (9 each) of block i at Λ + a e_N; returns whether they say Λ = −a e_N."""
    if set_[4] == CONVEX:
        return relaxed.equations(set_, w, alpha, r0 + set_[3], r1, r2, u0, u1, u2, i, jacobian_out, F_out)
    return coulomb.equations(set_, w, alpha, r0 + set_[3], r1, r2, u0, u1, u2, i, jacobian_out, F_out)


@kernel
def rescale(set_, w, t, scale_out, sets_out):
    """Scale (3) of the cone, and a in that of the normal, written as block t."""
    scale_cone(set_, w, t, scale_out, sets_out)
    sets_out[t, 3], sets_out[t, 4] = set_[3] / scale_out[3 * t], set_[4]


@kernel
def judged(set_, r0, r1, r2, u0, u1, u2):
    """Squared natural map, distance outside, whether it is unilateral, its load, power that is left.

    The load is what presses the surfaces together: Λ_N + a.
    """
    load = r0 + set_[3]
    reach = section_reach(set_[0], set_[1], set_[2], -u1, -u2)
    g0 = u0 + reach if set_[4] == EXACT else u0
    e0, e1, e2 = outside_cone(set_[0], set_[1], set_[2], load - g0, r1 - u1, r2 - u2)
    e0, e1, e2 = g0 + e0, u1 + e1, u2 + e2
    y0, y1, y2 = outside_cone(set_[0], set_[1], set_[2], load, r1, r2)
    distance = math.sqrt(y0 * y0 + y1 * y1 + y2 * y2)
    return e0 * e0 + e1 * e1 + e2 * e2, distance, True, load, load * reach + r1 * u1 + r2 * u2
