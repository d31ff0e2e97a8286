"""The spring and damper of a pair of shapes, from what each of the two is made of.

Each shape deforms by its own share. Two springs in a row carry the same force, so softness adds up:

    linear   F = x / (s_a + s_b),                          s = 1/k                       [m/N]
    Hertz    F = (4/3) √R / (s_a + s_b) · x^(3/2),         s = (1 − ν²)/E, 1/R = κ_a + κ_b    [1/Pa]

with x the overlap. A rigid shape has s = 0; the share of the overlap that shape a takes is s_a / (s_a + s_b),
which says where between both undeformed surfaces the contact plane lies. Of two dampers each works at its
share of the speed: d = w_a² d_a + w_b² d_b for Kelvin and Voigt's [N s/m], c = w_a c_a + w_b c_b for Hunt and
Crossley's [s/m]. Tangential springs and dampers likewise.

A shape is a row of numbers, columns below; `taction.contact.forces.parameters` fills them.

References: [Johnson1985, Section 4.2] for Hertz; [HuntCrossley1975]; [DuindamStramigioli2003, Section 5] for
the plane between.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel

# Columns of a shape: softness and curvature 1/R of the normal spring, its damper; softness and damper along
# the tangents, and about the normal, infinitely soft if there is no such spring; whether softness is that of
# a material, by Hertz
SOFTNESS, CURVATURE, DAMPING, SHEAR_SOFTNESS, SHEAR_DAMPING, TWIST_SOFTNESS, TWIST_DAMPING = range(7)
IS_HERTZIAN, SOFT_WIDTH = 7, 8
HERTZ = 1.5  # exponent of the overlap


@inline_kernel
def in_series(one, two):
    """(stiffness of two springs in a row, share of the first in what they give) from their softness."""
    total = one + two
    if not 0.0 < total < math.inf:
        return 0.0, 0.5
    return 1.0 / total, one / total


@inline_kernel
def normal_spring(soft, a, b):
    """(K, p, share of shape a) of the force K xᵖ of shapes a and b; soft (n, SOFT_WIDTH)."""
    K, share = in_series(soft[a, SOFTNESS], soft[b, SOFTNESS])
    if soft[a, IS_HERTZIAN] + soft[b, IS_HERTZIAN] > 0.0:
        return 4.0 / 3.0 * K / math.sqrt(soft[a, CURVATURE] + soft[b, CURVATURE]), HERTZ, share
    return K, 1.0, share


@inline_kernel
def damped_spring(soft, softness, damping, a, b):
    """(stiffness, damping) of shapes a and b, by the columns that say how soft and how damped each is."""
    k, share = in_series(soft[a, softness], soft[b, softness])
    rest = 1.0 - share
    return k, share * share * soft[a, damping] + rest * rest * soft[b, damping]


@inline_kernel
def shear_spring(soft, a, b):
    """(stiffness, damping) along the tangents of shapes a and b [N/m, N s/m]."""
    return damped_spring(soft, SHEAR_SOFTNESS, SHEAR_DAMPING, a, b)


@inline_kernel
def twist_spring(soft, a, b):
    """(stiffness, damping) about the normal of shapes a and b [N m/rad, N m s/rad]; zero for none."""
    return damped_spring(soft, TWIST_SOFTNESS, TWIST_DAMPING, a, b)


@inline_kernel
def normal_damping(soft, is_crossley, share, a, b):
    """Damping of the normal spring, share of it shape a's: [s/m] if is_crossley, else [N s/m]."""
    one, two = soft[a, DAMPING], soft[b, DAMPING]
    rest = 1.0 - share
    return share * one + rest * two if is_crossley else share * share * one + rest * rest * two
