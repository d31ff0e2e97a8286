"""What velocities at a contact become halfway to where the scheme looks next: turning, curvature, sliding.

What it solves: a scheme that looks at midpoints (`taction.steppers.schemes.midpoint`) asks for the relative
velocity at q⁺, h/2 after the midpoint. For a contact at x with normal n, ẋ its path through space, V_i(x) the
velocity of link i at x, and velocities v held,

    d/dt V_i(x) = a_i(x) + ω_i × (ẋ − V_i(x)),      a_i the acceleration that velocities cause
    d/dt (n·V) = n·d/dt V + ṅ·V,   V = V_1 − V_2;   tangents are carried along with the normal.

The path of x over both surfaces is where their curvature enters. Both ẋ and ṅ are differences to the step
before, of first order, so offsets are of second.

Sliding. Coulomb's force opposes the velocity of its own instant, the midpoint, which is the mean of those
before and after. So where a contact slid in the steps before, and goes on by the rate at which it slows down,
the velocity before is added to that after: twice the mean, and a set that is a cone asks for its direction
only. Nothing is added where sliding may end.

A contact has a path if it carried load in the step before, and if that path is resolved: shorter than
`RESOLVED` of the smaller shape. A disc that comes to lie flat, whose rim runs around faster and faster, has
none in the end; its contact is then of first order, as in other schemes.

Memory of a contact: columns below; zero where it is new.

References: [Montana1988] for contacts that move over surfaces.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import FRAME, OFFSET, SLIDING, SOURCE, VELOCITY
from taction.math.vector import add, add_scaled, cross, dot, load3, scale, store3, sub
from taction.model.workspace import ACCEL, ALPHA, OMEGA, ORIGIN, SPEED
from taction.steppers.schemes.base import SLOP

# Columns of a contact's memory, world axes: where it was (3), its normal (3), its sliding velocity at the end
# of the step (3), and how much that changed
PLACE, NORMAL, SLIDE, SLOWING, KEPT = 0, 3, 6, 9, 10
RESOLVED = 0.1


@inline_kernel
def velocity_acceleration(i, x, ws):
    """Acceleration of point x (3) of link i that velocities cause; needs ALPHA and ACCEL of theirs in ws."""
    arm = sub(x, load3(ws, i, ORIGIN))
    w = load3(ws, i, OMEGA)
    spin = add(cross(load3(ws, i, ALPHA), arm), cross(w, cross(w, arm)))
    return add(load3(ws, i, ACCEL), spin)


@inline_kernel
def point_velocity(i, x, ws):
    """Velocity of point x (3) of link i."""
    return add(load3(ws, i, SPEED), cross(load3(ws, i, OMEGA), sub(x, load3(ws, i, ORIGIN))))


@inline_kernel
def carried_change(i, x, path, ws):
    """How the velocity of link i at x (3) changes in time, as x moves by path (3)."""
    u = point_velocity(i, x, ws)
    return add(velocity_acceleration(i, x, ws), cross(load3(ws, i, OMEGA), sub(path, u)))


@kernel
def path_offset(h, size, first, second, x, n, frame, i, memory, ws):
    """What (n·V, t₁·V, t₂·V) change by in h/2; x, n (3), frame (9) of contact i, size of its shapes [m]."""
    was = load3(memory, i, NORMAL)
    moved = sub(x, load3(memory, i, PLACE))
    if dot(was, was) < 0.5 or dot(moved, moved) > RESOLVED * RESOLVED * size * size:
        return 0.0, 0.0, 0.0
    path, turn = scale(1.0 / h, moved), scale(1.0 / h, sub(n, was))
    change = sub(carried_change(first, x, path, ws), carried_change(second, x, path, ws))
    V = sub(point_velocity(first, x, ws), point_velocity(second, x, ws))
    t1, t2 = (frame[1], frame[4], frame[7]), (frame[2], frame[5], frame[8])
    normal = dot(n, V)
    return (
        0.5 * h * (dot(n, change) + dot(turn, V)),
        0.5 * h * (dot(t1, change) - dot(t1, turn) * normal),
        0.5 * h * (dot(t2, change) - dot(t2, turn) * normal),
    )


@inline_kernel
def slide_before(h, frame, i, memory):
    """Sliding velocity (2) that is added to that of the end, by the tangents of the frame (9)."""
    u = load3(memory, i, SLIDE)
    speed = math.sqrt(dot(u, u))
    if speed * h <= SLOP or speed <= 2.0 * memory[i, SLOWING] or memory[i, SLOWING] == 0.0:
        return 0.0, 0.0
    return dot((frame[1], frame[4], frame[7]), u), dot((frame[2], frame[5], frame[8]), u)


@kernel
def remember_paths(contacts, blocks, memory_io):
    """Memories of this step's contacts; needs their velocities at its end."""
    for k in range(blocks.count[0]):
        i = blocks.index[k, SOURCE]
        if i < 0:
            continue
        number = blocks.number
        s1 = number[k, VELOCITY + 1] + number[k, OFFSET + 1] - number[k, SLIDING + 1]
        s2 = number[k, VELOCITY + 2] + number[k, OFFSET + 2] - number[k, SLIDING + 2]
        t1 = (number[k, FRAME + 1], number[k, FRAME + 4], number[k, FRAME + 7])
        t2 = (number[k, FRAME + 2], number[k, FRAME + 5], number[k, FRAME + 8])
        slide = add_scaled(scale(s1, t1), s2, t2)
        change = sub(slide, load3(memory_io, i, SLIDE))
        was = load3(memory_io, i, NORMAL)
        memory_io[i, SLOWING] = math.sqrt(dot(change, change)) if dot(was, was) > 0.5 else math.inf
        store3(load3(contacts.point, i, 0), i, PLACE, memory_io)
        store3(load3(contacts.normal, i, 0), i, NORMAL, memory_io)
        store3(slide, i, SLIDE, memory_io)
