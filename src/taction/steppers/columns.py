"""The record of one step: its columns, declared once for kernels, run files, data frames and documentation.

References: [Moreau1988] for the work of an impulse; the rest is bookkeeping.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array

# Columns of a step's record: name, unit, meaning. Run files and data frames have the same columns.
RECORD = (
    ("kinetic", "J", "energy at the start of the step"),
    ("potential", "J", "energy at the start, springs included"),
    ("actuation", "J", "work of controllers, gains and wrenches from outside"),
    ("friction", "J", "work of tangential contact impulses"),
    ("impact", "J", "work of normal impulses of contacts and stops that strike"),
    ("joint_friction", "J", "work of dampers and dry friction in joints"),
    ("correction", "J", "potential energy that the correction of positions added"),
    ("closure", "J", "kinetic energy gained less all works: rounding"),
    ("residual", "1", "natural map of all laws, relative to the free velocities"),
    ("signorini", "1", "worst violation of the normal law, relative"),
    ("cone", "1", "worst distance of an impulse from its set, relative"),
    ("dissipation", "1", "worst power that friction leaves, relative"),
    ("motion", "1", "residual of the equation of motion, relative"),
    ("penetration", "m", "deepest overlap where the step starts, with older schemes where they look"),
    ("joint_gap", "m or rad", "largest violation of a joint's equation"),
    ("worst_shape_a", "1", "first shape of the contact with the largest residual, −1 for a joint"),
    ("worst_shape_b", "1", "second shape of it"),
    ("contacts", "1", "how many took part"),
    ("iterations", "1", "of the solver"),
    ("unconverged", "1", "1 where the residual is above the tolerance"),
    ("pushed", "m", "largest displacement of a point of contact by the correction of positions"),
    ("turned", "rad", "largest turn of a link by it, in the world or against the link it hangs on"),
    ("left", "m", "deepest overlap that it left for the steps that follow"),
    (
        "at_rounding",
        "1",
        "1 where the tolerance lies below rounding, and the residual is no larger than that",
    ),
    (
        "not_unique",
        "1",
        "0 nothing; 1 impulses; 2 velocities too, possibly; 3 the same, and not the selected ones",
    ),
    ("elastic", "J", "work of the springs of soft contacts"),
    ("stored", "J", "energy of those springs at the start of the step"),
    ("stored_after", "J", "the same at its end"),
    ("beyond", "m or rad", "farthest that a joint or tendon was beyond its stop where the scheme looked"),
    ("beyond_left", "m or rad", "farthest that the correction left one beyond it for the steps that follow"),
    ("at_bound", "1", "1 where more was wanted of the correction of positions than its bounds allow"),
    ("made", "J", "energy that restitution made: with Newton's law, where friction works"),
    ("approach", "m/s", "fastest approach that a bounce left at a closed contact"),
    ("held_back", "1", "share of what came back in a bounce that was held back, or energy would have risen"),
    ("spared", "m or rad", "largest gap of a loop that the correction let be, as closing it has no lever"),
    ("asked", "m or rad", "largest gap that the correction of positions was to close"),
    ("gap_share", "1", "largest gap of a loop over the size of what it connects, or in radians"),
    (
        "pressing",
        "J",
        "work of normal impulses of contacts that only press on: an error of the step",
    ),
    ("joints", "J", "work of the impulses of loops, couplings and joints between bodies: likewise"),
    ("parts", "1", "steps that it was divided into, 0 where no accuracy was asked for"),
    ("position_error", "m", "estimated, of this step alone; 0 where nothing was compared"),
    ("velocity_error", "m/s", "likewise"),
    ("inaccurate", "1", "1 where its shortest parts, too, are less accurate than was asked for"),
)
COLUMNS = len(RECORD)
KINETIC, POTENTIAL, ACTUATION, FRICTION, IMPACT, JOINT_FRICTION, CORRECTION, CLOSURE = range(8)
RESIDUAL, SIGNORINI, CONE, DISSIPATION, MOTION, PENETRATION, JOINT_GAP = range(8, 15)
WORST_A, WORST_B, CONTACTS, ITERATIONS, UNCONVERGED, PUSHED, TURNED, LEFT = range(15, 23)
AT_ROUNDING, NOT_UNIQUE, ELASTIC, STORED, STORED_AFTER = range(23, 28)
BEYOND, BEYOND_LEFT, AT_BOUND, MADE, APPROACH, HELD_BACK, SPARED, ASKED, GAP_SHARE, PRESSING, JOINTS = range(
    28, 39
)
PARTS, POSITION_ERROR, VELOCITY_ERROR, INACCURATE = range(39, 43)
# Of a step of several problems in turn: what adds up, what is the worse of both, what the first one says
ADDED = (FRICTION, IMPACT, JOINT_FRICTION, CLOSURE, ITERATIONS, ELASTIC, MADE, PRESSING, JOINTS)
WORST = (
    *(RESIDUAL, SIGNORINI, CONE, DISSIPATION, MOTION, UNCONVERGED, AT_ROUNDING, NOT_UNIQUE),
    *(APPROACH, HELD_BACK),
)
EARLIER = (KINETIC, POTENTIAL)


def merged(before: Array, after: Array) -> Array:
    """Records (COLUMNS,) of two problems of one step, one after the other, as one."""
    out = after.copy()
    for c in ADDED:
        out[c] += before[c]
    for c in WORST:
        out[c] = np.maximum(after[c], before[c])
    for c in EARLIER:
        out[c] = before[c]
    return out
