"""Forces of one point of soft contact: along the normal, and along the tangents with stick and slip.

Notation: x overlap, u_N normal velocity, positive when parting; K, p of the spring; s (2) stretch of the
tangential spring, u_T (2) sliding velocity, k, d its stiffness and damping; D the section of the friction
cone (`taction.contact.friction_cone`).

Normal. Elastic part K xᵖ, and with a damper

    Kelvin and Voigt     F_N = max(0, K xᵖ − d u_N)
    Hunt and Crossley    F_N = max(0, K xᵖ (1 − c u_N))

The first one jumps to −d u_N at touch, and would pull at the end; the second starts and ends at zero. Neither
ever pulls. Energy K x^(p+1) / (p + 1).

Tangential. A spring that is attached where the bodies first touch, and whose force F_N D bounds: where it
would be more, its anchor slides until it is not. With P the nearest point of F_N D:

    a = P(−k s),   s ← −a/k,   F_T = P(a − d u_T)

Passive: P is monotone and leaves a alone, so (F_T − a)·u_T ≤ 0, and moving the anchor shortens the spring.
Energy k ‖s‖²/2; what moving the anchor takes is a loss, and friction's.

About the normal. Turning of one body against the other about it is sliding, too, and may charge a spring: a
moment −κ φ, bounded by what friction gives over a round patch of radius a = √(R x), (3π/16) μ F_N a, in the
same way. A flat face has no such spring: its points resist turning by themselves.

Departures: [DuindamStramigioli2003] has no bound. [Ayit2015, Section 5.3] says spring and damper, and prints
no equations.

References: [HuntCrossley1975]; [CundallStrack1979] for the tangential spring with a bound; [Johnson1985,
Section 7.2] for the moment that a patch holds.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel
from taction.contact.friction_cone import project_section

PATCH = 3.0 * math.pi / 16.0  # of μ F_N a, under Hertz's pressure


@inline_kernel
def elastic_force(K, p, depth):
    """K xᵖ, zero without overlap."""
    if depth <= 0.0:
        return 0.0
    return K * depth if p == 1.0 else K * depth**p


@inline_kernel
def elastic_energy(K, p, depth):
    """Energy of that force."""
    return elastic_force(K, p, depth) * depth / (p + 1.0)


@inline_kernel
def normal_force(is_crossley, K, p, damping, depth, u):
    """(elastic part, all) of the normal force [N] at an overlap, parting at u [m/s]."""
    elastic = elastic_force(K, p, depth)
    rate = damping * elastic if is_crossley else damping
    return elastic, max(elastic - rate * u, 0.0)


@inline_kernel
def linearised(is_crossley, K, p, damping, depth):
    """(force, stiffness, damping) of the normal force about an overlap: F − k δx − d u_N.

    A linear spring is one before bodies overlap as well: its force is negative then.
    """
    if p == 1.0:
        force, stiffness = K * depth, K
    else:
        force = elastic_force(K, p, depth)
        stiffness = p * force / depth if depth > 0.0 else 0.0
    return force, stiffness, damping * max(force, 0.0) if is_crossley else damping


@inline_kernel
def held_stretch(k, plus, minus, lateral, load, s1, s2):
    """Stretch s (2) of the tangential spring after its anchor slid, if it must: within load D."""
    if k == 0.0:
        return 0.0, 0.0
    a1, a2 = project_section(plus, minus, lateral, load, -k * s1, -k * s2)
    return -a1 / k, -a2 / k


@inline_kernel
def holding_moment(mu, load, depth, curvature):
    """Largest moment about the normal [N m] that friction holds."""
    if curvature == 0.0 or depth <= 0.0:
        return 0.0
    return PATCH * mu * load * math.sqrt(depth / curvature)


@inline_kernel
def shear_force(k, d, plus, minus, lateral, load, s1, s2, u1, u2):
    """Tangential force (2) [N] of a spring stretched by s (2), held, sliding at u (2)."""
    return project_section(plus, minus, lateral, load, -k * s1 - d * u1, -k * s2 - d * u2)
