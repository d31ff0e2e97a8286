"""`Recording`: numbers over time with names and units, of a run in memory or read from a file.

What belongs to a state has n + 1 rows, what belongs to a step n. A step's numbers stand in the row of its
start; in tables of n + 1 rows the last row has none, NaN, but for the joint forces, which stay as they were.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.show import count, some
from taction.sim.columns import RECORD_COLUMNS, Column, data_frame, shared_unit

if TYPE_CHECKING:  # a smooth run does without
    from taction.model.model import Model
    from taction.sim.contact_list import ContactList
    from taction.sim.sensors import Readings
    from taction.sim.state import SimState


class Layout(NamedTuple):
    """What the columns of a recording mean."""

    q: list[Column]  # nq of them
    v: list[Column]  # nv of them
    tau: list[Column]  # nv of them
    shapes: tuple[str, ...]  # names of the collision shapes
    shape_bodies: tuple[str, ...]  # and of the bodies that carry them


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording(ABC):
    """Arrays over time.

    Attributes:
        dt: time step [s].
        t: times [s], shape (n + 1,).
        q: configurations, shape (n + 1, nq).
        v: velocities, shape (n + 1, nv).
        tau: joint forces [N or N m], shape (n + 1, nv): in smooth motion those of the controller and its
            gains at each time; through contact those held over each step, to which the gains add inside it.
        kinetic: kinetic energy [J], shape (n + 1,).
        potential: gravitational and spring energy [J], shape (n + 1,).
        records: one row per step through contact, columns of `taction.steppers.columns`.
        contacts: all contacts of all steps; `taction.sim.contact_list`.
        residuals: of the equation of motion at each recorded state, in smooth motion, shape (n + 1,).
    """

    dt: float
    t: Array
    q: Array
    v: Array
    tau: Array
    kinetic: Array
    potential: Array
    records: Array | None = None
    contacts: ContactList | None = None
    residuals: Array | None = None

    def _rows(self) -> list[str]:
        """What a representation says of the arrays."""
        joints = some(column.name for column in self.layout.v)
        out = [f"q (n, {self.q.shape[1]}), v (n, {self.v.shape[1]}), n = {len(self.t)}: {joints}"]
        if self.contacts is not None:
            touched = np.unique(self.contacts.key[:, :2])
            names = some(self.layout.shapes[int(k)] for k in touched)
            out.append(f"{count(len(self.contacts), 'contact')} in all steps: {names or 'nothing touched'}")
        return out

    if TYPE_CHECKING:  # every recording has them, as fields or made again

        @property
        def model(self) -> Model:
            """What moved."""

        @property
        def state(self) -> SimState:
            """Where it ended."""

        @property
        def coordinates(self) -> str:
            """In which the steps were taken."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """What the columns mean."""

    @property
    @abstractmethod
    def has_sensors(self) -> bool:
        """Whether what moved is known and has sensors."""

    @cached_property
    def sensors(self) -> Readings:
        """Readings of the model's sensors by name, shape (n + 1, size) each; `taction.sim.sensors`."""
        from taction.sim.sensor_sources import moments_of_run
        from taction.sim.sensors import Readings

        arrays = {"t": self.t, "q": self.q, "v": self.v, "tau": self.tau}
        bodies = self.layout.shape_bodies
        return Readings(
            self.model,
            lambda: moments_of_run(
                self.model,
                self.dt,
                arrays,
                bodies,
                self.contacts,
                lambda: (self.state.wrench, self.coordinates),
            ),
        )

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return len(self.t) - 1

    def arrays(self) -> dict[str, tuple[Array, str]]:
        """Recorded arrays by name, each with its unit.

        The states and energies have n + 1 rows; records of the steps through contact (``residual``,
        ``friction``, ``contacts``, …) and forces on bodies (``force[NAME]``, world axes) have n, one per
        step. Where the columns of an array differ in unit, the unit lists those there are; `columns` gives
        each its own.
        """
        layout = self.layout
        out = {
            "t": (self.t, "s"),
            "q": (self.q, shared_unit(layout.q)),
            "v": (self.v, shared_unit(layout.v)),
            "tau": (self.tau, shared_unit(layout.tau)),
            "kinetic": (self.kinetic, "J"),
            "potential": (self.potential, "J"),
        }
        if self.residuals is not None:
            out["motion"] = self.residuals, "1"
        if self.records is not None:
            for c, column in enumerate(RECORD_COLUMNS):
                if column.name not in out:  # energies at the start of a step: in there already
                    out[column.name] = self.records[:, c], column.unit
        if self.contacts is not None:
            out |= {f"force[{name}]": (force, "N") for name, force in self.contact_forces().items()}
        return out

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every recorded number over time by name, with its unit: 1-D arrays of n + 1 rows.

        Coordinates are called by their joints, ``q[hip]``, ``v[root.wx]``, ``tau[hip]``
        (`taction.sim.columns`), forces on bodies ``force[box.x]``, readings of sensors ``sensor[imu.x]``.
        What belongs to a step stands in the row of its start, where the last row has none: NaN; but sensors
        of a step in the row where it ended, and a controller reads them.
        """
        named = {"q": self.layout.q, "v": self.layout.v, "tau": self.layout.tau}
        out: dict[str, tuple[Array, str]] = {}
        for name, (array, unit) in self.arrays().items():
            if len(array) == self.steps:
                array = np.concatenate([array, self._after_the_last(name, array)])
            if name in named:
                for c, column in enumerate(named[name]):
                    out[f"{name}[{column.name}]"] = array[:, c], column.unit
            elif array.ndim == 2:
                for c, axis in enumerate("xyz"):
                    out[f"{name[:-1]}.{axis}]"] = array[:, c], unit
            else:
                out[name] = array, unit
        if self.has_sensors:
            out |= {f"sensor[{name}]": column for name, column in self.sensors.columns().items()}
        return out

    def _after_the_last(self, name: str, array: Array) -> Array:
        """The row that follows the last step's: forces are held, of anything else there is none."""
        if name == "tau":
            return array[-1:] if len(array) else np.zeros((1, array.shape[1]))
        return np.full((1, *array.shape[1:]), np.nan)

    def to_dataframe(self) -> Any:
        """`columns` as a pandas data frame; the units are in its ``attrs["units"]``.

        Raises:
            BadInput: pandas is not installed.
        """
        return data_frame(self.columns)

    def contact_forces(self, by: str = "body") -> dict[str, Array]:
        """Mean contact force on each body or shape over each step, world axes [N], shape (n, 3) each.

        Args:
            by: ``"body"`` or ``"shape"``; the ground is a body called ``"world"``.
        """
        if self.contacts is None:
            raise BadInput("this run has no contact")
        if by not in ("body", "shape"):
            raise BadInput(f"by {by!r}: choose body or shape")
        table, layout = self.contacts, self.layout
        names = layout.shape_bodies if by == "body" else layout.shapes
        force = np.einsum("cij,cj->ci", table.frame.reshape(-1, 3, 3), table.impulse) / self.dt
        return sum_forces(table.step, table.key, force, names, self.steps)


def sum_forces(
    step: IntArray, key: IntArray, force: Array, names: Sequence[str], steps: int
) -> dict[str, Array]:
    """Contact forces added up per step and name: on the first shape as given, on the second opposite.

    Args:
        step: step of each contact, shape (c,).
        key: its two shapes and its feature, shape (c, 3).
        force: on the first shape, world axes [N], shape (c, 3).
        names: what each shape counts for: its own name or its body's.
        steps: number of steps.
    """
    out = {name: np.zeros((steps, force.shape[1])) for name in names}
    for side, sign in ((0, 1.0), (1, -1.0)):
        for shape in np.unique(key[:, side]):
            rows = key[:, side] == shape
            np.add.at(out[names[int(shape)]], step[rows], sign * force[rows])
    return out
