"""Motion of a `World` through contact: `taction.sim.contact_setup`, and runs.

Every step of a run leaves a row in the record: energies and works, residuals of the certificate; and its
contacts with their impulses in a table (`taction.sim.contact_course`).
"""

from __future__ import annotations

from taction.control.contract import Control
from taction.sim.contact_course import ContactCourse
from taction.sim.contact_setup import ContactSetup
from taction.sim.state import SimState


class ContactEngine(ContactSetup):
    """A world, its coordinates, a scheme, a law and a solver, and the runs they make."""

    def set_off(self, start: SimState, steps: int, control: Control) -> ContactCourse:
        """Begin a run; see `taction.sim.engine.Engine`."""
        return ContactCourse(self, start, steps, control)
