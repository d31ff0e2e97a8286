"""What an impact in phases keeps while it is solved, and the laws of restitution by number.

References: [GlockerPfeiffer1995] for the phases, which are in `taction.steppers.restitution`.
"""

from __future__ import annotations

from taction._core.arrays import Array, IntArray
from taction._core.layout import Layout, floats, ints

NEWTON, POISSON = 0, 1
IMPACT_NUMBERS = 9


class Impact(Layout, scratch=True):
    """Scratch of an impact: what the step had, and what came of each phase."""

    stage: IntArray = ints("1", "which phase is being solved; written before it is read in each step")
    count: IntArray = ints("1", "iterations of the phases before")
    number: Array = floats("IMPACT_NUMBERS", "of the impact as a whole, see `taction.steppers.restitution`")
    kind: IntArray = ints("k", "the step's own kinds")
    sets: Array = floats("k, 6", "the step's own sets")
    offset: Array = floats("3*k", "the step's own offsets [m/s]")
    given: Array = floats("3*k", "what comes back along the normals [N s]")
    first: Array = floats("3*k", "impulses of the compression; warm start before it [N s]")
    smooth: Array = floats("3*k", "what comes back along the normals without friction [N s]")
    velocity: Array = floats("2, nv", "at the end of the compression, and of the phase at hand")
    verdict: Array = floats("5, COLUMNS", "records of the phases, so far as they judge")
