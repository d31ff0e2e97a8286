"""The equations of Alart and Curnier: what Newton's method solves, block by block, with their derivatives.

What it solves: nothing by itself; it writes F(Λ, u) = Λ − P(Λ − ρ u), with the projection that belongs to
the law of each block (`taction.contact.laws`), and the two factors of its derivative, A = ∂F/∂u and B =
∂F/∂Λ. A step of Newton's method then obeys A δu + B δΛ = −F. With P' the derivative of the projection A =
ρ P' and B = 1 − P': an open contact has P' = 0, so that F = Λ; a sticking one P' = 1, so that F = ρ u.

In place of u stands u + α (Λ − c), the velocity of the proximal problem around the centre c; rows may
have their own share of α.

A block whose F is Λ minus its bounds (an open contact) is an identity and is reported as such: it costs
nothing later.

References: [AlartCurnier1991]; [Hueber2008].
"""

from __future__ import annotations

import math

from taction._core.jit import kernel
from taction.contact.laws.dispatch import block_equations, proximal_weights


@kernel
def linearise(rows, first, last, alpha, level, centre, r, u, jacobian_out, is_identity_out, F_out):
    """F, A and B of blocks first…last−1 at Λ = r with u + α (r − centre) as velocity; returns ‖F‖.

    level (k,): weight of each block in units of α.
    """
    total = 0.0
    for i in range(first, last):
        c = 3 * i
        kind, w, set_ = rows.kind[i], rows.value[rows.diagonal[i]], rows.sets[i]
        r0, r1, r2 = r[c], r[c + 1], r[c + 2]
        weight = level[i] * alpha
        a0, a1, a2 = proximal_weights(kind, set_, weight)
        u0 = u[c] + a0 * (r0 - centre[c])
        u1 = u[c + 1] + a1 * (r1 - centre[c + 1])
        u2 = u[c + 2] + a2 * (r2 - centre[c + 2])
        is_identity_out[i] = block_equations(
            kind, set_, w, weight, r0, r1, r2, u0, u1, u2, i, jacobian_out, F_out
        )
        total += F_out[c] * F_out[c] + F_out[c + 1] * F_out[c + 1] + F_out[c + 2] * F_out[c + 2]
    return math.sqrt(total)
