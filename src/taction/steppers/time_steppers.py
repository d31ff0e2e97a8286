"""The time-stepping schemes through contact, by name: each is a rule of `taction.steppers.rules`.

* **Stewart–Trinkle** (the default): gaps enter linearised, g + h u⁺ ≥ 0, for every contact in reach. Bodies
  come to rest at the surface, not in it; no contact is missed because another one pushed it shut.
* **Moreau**: M, J and gaps at the midpoint q ⊕ ½ h v; a contact counts while its gap there is closed, with
  Newton's law on velocities. Free flight under constant gravity is exact and e = 1 reverses a velocity
  exactly.
* **Moreau, momenta carried**: links keep their momenta from midpoint to midpoint, as free bodies do whose
  joints are closed by impulses (`taction.dynamics.discrete_bias`). In absolute coordinates Moreau's scheme is
  this one, that of [Transeth2006]; both coordinates give the same motion. A joint's impulse takes away what
  the velocity has along the path's new normal: energy is lost, to first order in the step, never gained.
* **Moreau, projected**: the scheme of [Transeth2006, Section VI] as they wrote it, for absolute coordinates
  only. Bodies move straight, which opens their joints to second order in the step; then, from the root to the
  leaves, every body is put back on its joint. The root keeps its place, so the centre of gravity moves.
* **Anitescu–Potra** with the active-set switch: velocity level at q for those contacts that the free motion
  would close within the step.

* **Acceleration level**: collisions as impulses with restitution first, then contact forces from
  accelerations; two problems per step (`taction.steppers.acceleration_level`).

All are of order 1 through contact.

References: [StewartTrinkle1996]; [Moreau1988]; [AnitescuPotra1997]; [Transeth2006, Section VI] for the
midpoint scheme.
"""

from __future__ import annotations

from dataclasses import dataclass

from taction._core.errors import BadInput
from taction.steppers.rules import ACCELERATION, ANITESCU_POTRA, MOREAU, STEWART_TRINKLE


@dataclass(frozen=True)
class TimeStepper:
    """A scheme: its name, its rule and one line about it."""

    name: str
    rule: int
    summary: str
    is_momentum: bool = False
    is_projected: bool = False


TIME_STEPPERS = {
    s.name: s
    for s in (
        TimeStepper(
            "stewart-trinkle", STEWART_TRINKLE, "linearised gaps: bodies come to rest at the surface"
        ),
        TimeStepper("moreau", MOREAU, "midpoint rule, velocity level: exact free flight and elastic impacts"),
        TimeStepper(
            "moreau-momentum",
            MOREAU,
            "the same, momenta carried between midpoints: equal motion in both coordinates",
            is_momentum=True,
        ),
        TimeStepper(
            "moreau-projected",
            MOREAU,
            "bodies move straight, joints closed by projection afterwards; absolute coordinates only",
            is_momentum=True,
            is_projected=True,
        ),
        TimeStepper("anitescu-potra", ANITESCU_POTRA, "velocity level, contacts switched by the free motion"),
        TimeStepper("acceleration-level", ACCELERATION, "impulses at collisions, then contact forces"),
    )
}


def get_time_stepper(name: str) -> TimeStepper:
    """The scheme of that name."""
    if name not in TIME_STEPPERS:
        raise BadInput(f"stepper {name!r}: choose from {', '.join(TIME_STEPPERS)}")
    return TIME_STEPPERS[name]
