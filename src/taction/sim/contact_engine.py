"""Motion of a `World` through contact: `taction.sim.contact_setup`, and runs.

Every step of a run leaves a row in the record: energies and works, residuals of the certificate; and its
contacts with their impulses in a table (`taction.sim.contact_course`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.errors import BadInput
from taction._core.expect import instance
from taction.contact.problem import ContactProblem
from taction.control.contract import Control, Feedback, HasJointLaw, read_controller
from taction.sim.contact_course import ContactCourse
from taction.sim.contact_setup import ContactSetup
from taction.sim.state import SimState


class ContactEngine(ContactSetup):
    """A world, its coordinates, a scheme, a law and a solver, and the runs they make."""

    def set_off(self, start: SimState, steps: int, control: Control) -> ContactCourse:
        """Begin a run; see `taction.sim.engine.Engine`."""
        return ContactCourse(self, start, steps, control)

    def problem_under(
        self, state: SimState, controller: HasJointLaw | Feedback | None, tau: ArrayLike | None
    ) -> ContactProblem:
        """The contact problem of the step that starts at a state, under a controller asked there."""
        instance(state, SimState, "state")
        control, nv = read_controller(controller, self.robot), self.robot.nv
        drive = np.zeros(nv)
        if control.plan is not None:
            drive = control.plan(np.array([state.t]), state.act, self.dt)[0][0].copy()
        if tau is not None:
            drive[:nv] += self.robot.check_v(tau, "tau")
        if control.is_seeing:
            raise BadInput("a controller that sees contacts or sensors is for runs: give its forces as tau")
        if control.feedback is not None:
            asked = control.feedback(state.t, *self.look(state))
            drive[:nv] += self.robot.check_v(asked, "controller output")
        return self.problem(state, control, drive)
