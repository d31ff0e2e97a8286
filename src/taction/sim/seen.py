"""What a controller may see besides time, configuration and velocity.

A controller of four arguments, (t, q, v, seen), is given a `Seen` as the last one, made of the step that
ended where it is asked. A controller of three pays nothing for that.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.errors import BadInput
from taction._core.show import rows
from taction.model.model import Model
from taction.sim.sensor_sources import moment_after, moment_of_state
from taction.sim.sensors import Moments, Readings

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.contact_engine import ContactEngine
    from taction.sim.engine import Course
    from taction.sim.stepper import ContactView


class Seen:
    """Contacts and sensors where a controller is asked; both are made when they are first looked at.

    Args:
        course: the motion, at a state.
        model: what moves.
        dt: time step [s].
        engine: of a motion through contact.
        wrench: held on links from outside, shape (links, 6) or (0, 6).
    """

    def __init__(
        self, course: Course, model: Model, dt: float, engine: ContactEngine | None, wrench: Any
    ) -> None:
        self._course, self._model, self._dt = course, model, dt
        self._engine, self._wrench, self._at = engine, wrench, course.taken

    @cached_property
    def _rows(self) -> dict[str, Any]:
        """What the step that ended here left behind."""
        if self._course.taken != self._at:
            raise BadInput("what a controller has seen is gone with the next step: look at it at once")
        return self._course.rows(max(self._at - 1, 0)).arrays()

    @cached_property
    def contacts(self) -> ContactView:
        """The contacts of the step that ended here; none at the start.

        Raises:
            BadInput: the motion is smooth.
        """
        if self._engine is None:
            raise BadInput("an integrator moves this model, without contacts: leave the integrator out")
        from taction.sim.stepper import ContactView

        return ContactView(self._table, self._dt, self._engine)

    @cached_property
    def _table(self) -> Any:
        from taction.sim.run_file import CONTACT_FIELDS
        from taction.steppers.records import ContactTable

        arrays = {name: self._rows[f"contacts/{name}"] for name in CONTACT_FIELDS}
        return ContactTable(count=np.array([len(arrays["step"])]), **arrays)

    @cached_property
    def sensors(self) -> Readings:
        """Readings of the model's sensors here, shape (size,) each."""
        return Readings(self._model, self._moment, is_one=True)

    def _moment(self) -> Moments:
        data, engine, model, dt = self._rows, self._engine, self._model, self._dt
        if self._at == 0:
            return moment_of_state(float(data["t"][0]), data["q"][0], data["v"][0])
        if engine is None:
            return moment_after(model, data, dt)
        return moment_after(model, data, dt, engine.given, self._table, self._wrench, engine.absolute)

    def __repr__(self) -> str:
        touched = "" if self._engine is None else repr(self.contacts)
        return rows(f"<Seen at step {self._at}>", touched, repr(self.sensors))
