"""What a step of many worlds leaves behind: arrays with a row per world; and all steps, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.names import instead
from taction._core.show import brief, count, rows
from taction.sim.columns import RECORD_COLUMNS, force_columns, position_columns, velocity_columns
from taction.sim.contact_engine import ContactEngine
from taction.sim.recording import sum_forces
from taction.sim.sensor_sources import stacked
from taction.sim.sensors import Readings
from taction.sim.stepper import ContactView, Stepper
from taction.steppers.columns import CONTACTS, ITERATIONS, PENETRATION, RESIDUAL, UNCONVERGED


class Worlds(Protocol):
    """A batch as its reports see it."""

    engine: ContactEngine
    steps: int
    failed: dict[int, str]

    def __len__(self) -> int: ...

    def world(self, i: int) -> Stepper:
        """World i."""
        ...


class BatchReport:
    """A step of all worlds. Arrays are copies; contacts, forces and sensors are there until the next step.

    Rows of worlds that failed are NaN.

    Attributes:
        t: times [s], shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        tau: what controllers, actuators and servos did, shape (n, nv) [N or N m].
        record: what each step says of itself, at the columns of `taction.steppers.columns`, shape (n, ·).
        failed: worlds that failed, in this step or before, and why.
    """

    def __init__(self, batch: Worlds) -> None:
        worlds = [batch.world(i) for i in range(len(batch))]
        self._batch, self._worlds, self._at = batch, worlds, batch.steps
        self.failed = dict(batch.failed)
        self.t = np.array([world.t for world in worlds])
        self.q, self.v, self.tau, self.record = (
            self._known([get(world) for world in worlds])
            for get in (
                lambda world: world.q,
                lambda world: world.v,
                lambda world: world.tau,
                lambda world: world.report.record,
            )
        )

    def _known(self, numbers: Sequence[Array]) -> Array:
        out = np.array(numbers)
        out[list(self.failed)] = np.nan
        return out

    def __len__(self) -> int:
        return len(self._worlds)

    @property
    def residual(self) -> Array:
        """Relative natural-map residuals of all laws, shape (n,)."""
        return self.record[:, RESIDUAL]

    @property
    def is_converged(self) -> np.ndarray:
        """Whether residuals are within the tolerance, or as small as rounding allows; shape (n,)."""
        return self.record[:, UNCONVERGED] == 0.0

    @property
    def penetration(self) -> Array:
        """Deepest overlaps [m], shape (n,)."""
        return self.record[:, PENETRATION]

    @property
    def iterations(self) -> Array:
        """Of the solver, shape (n,)."""
        return self.record[:, ITERATIONS]

    @property
    def touching(self) -> Array:
        """How many contacts took part, shape (n,)."""
        return self.record[:, CONTACTS]

    def contacts(self, i: int) -> ContactView:
        """The contacts of world i in this step."""
        self._require()
        return self._batch.world(i).contacts

    def force(self, body: str) -> Array:
        """Sum of the contact forces on a body in each world, world axes [N], shape (n, 3)."""
        forces = self.forces
        if body not in forces:
            raise BadInput(f"no body {body!r} that can touch; {instead(body, forces)}")
        return forces[body]

    @cached_property
    def forces(self) -> dict[str, Array]:
        """Contact forces on all bodies with shapes in all worlds, world axes [N], shape (n, 3) each."""
        self._require()
        given = self._batch.engine.given
        views = [world.contacts for world in self._worlds]
        owner = np.repeat(np.arange(len(views)), [len(view) for view in views])
        shape = np.concatenate([view.shape for view in views])
        force = np.concatenate([view.force for view in views])
        names = [given.body_name(k) for k in range(len(given.shape_names))]
        out = sum_forces(owner, shape, force, names, len(views))
        for array in out.values():
            array[list(self.failed)] = np.nan
        return out

    @cached_property
    def sensors(self) -> Readings:
        """Readings of the model's sensors in all worlds, shape (n, size) each."""
        self._require()
        moments = stacked([world.moment() for world in self._worlds])
        return Readings(self._batch.engine.robot, lambda: moments)

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every number by name with its unit, shape (n,) each; see `taction.sim.batch.Batch.columns`."""
        robot, n = self._batch.engine.robot, len(self)
        out = {"world": (np.arange(n), "1"), "step": (np.full(n, self._at - 1), "1"), "t": (self.t, "s")}
        for name, columns, array in (
            ("q", position_columns(robot), self.q),
            ("v", velocity_columns(robot), self.v),
            ("tau", force_columns(robot), self.tau),
        ):
            out |= {f"{name}[{column.name}]": (array[:, c], column.unit) for c, column in enumerate(columns)}
        out |= {column.name: (self.record[:, c], column.unit) for c, column in enumerate(RECORD_COLUMNS)}
        for body, force in self.forces.items():
            out |= {f"force[{body}.{axis}]": (force[:, c], "N") for c, axis in enumerate("xyz")}
        return out | {f"sensor[{name}]": column for name, column in self.sensors.columns().items()}

    def _require(self) -> None:
        if self._batch.steps != self._at:
            raise BadInput("contacts of a step are gone with the next one: look at them at once")

    def __repr__(self) -> str:
        worst = np.nanmax(self.residual) if len(self.failed) < len(self) else np.nan
        return rows(
            f"<BatchReport of {count(len(self), 'world')}: worst residual {brief(float(worst))}, "
            f"{int((self.record[:, UNCONVERGED] > 0.0).sum())} not converged>",
            f"q {self.q.shape}, v {self.v.shape}, {int(np.nansum(self.touching))} contacts",
            f"{count(len(self.failed), 'world')} failed: {next(iter(self.failed.values()))}"
            if self.failed
            else "",
        )


class BatchRecord:
    """All steps of a batch."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Array]] = {}
        self._units: dict[str, str] = {}

    def append(self, report: BatchReport) -> None:
        """Keep a step of all worlds that took it."""
        done = [i for i in range(len(report)) if i not in report.failed]
        for name, (array, unit) in report.columns().items():
            self._parts.setdefault(name, []).append(array[done])
            self._units[name] = unit

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every recorded number by name, with its unit."""
        return {name: (np.concatenate(parts), self._units[name]) for name, parts in self._parts.items()}
