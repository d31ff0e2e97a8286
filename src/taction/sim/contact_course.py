"""A run through contact on its way: its states, records and contacts so far, and how it ends."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import CertificateError, ContactLimitError, IntegrationError
from taction.control.contract import Control
from taction.sim.blow_up import BlowUp, least_energy
from taction.sim.contact_list import ContactList
from taction.sim.contact_setup import ContactSetup
from taction.sim.contact_summary import (
    first_drifted,
    first_unsolved,
    make_certificate,
    make_ledger,
    reach,
    weight_energy,
)
from taction.sim.energy import energies
from taction.sim.failure import explain
from taction.sim.motion_errors import estimate_errors, first_coarse, first_inaccurate, warn_of_accuracy
from taction.sim.open_loops import warn_of_loops
from taction.sim.out_of_range import warn_of_range
from taction.sim.overlap import name_overlaps, overlapping, warn_of_start
from taction.sim.recorder import Rows
from taction.sim.run import Run
from taction.sim.run_file import CONTACT_FIELDS
from taction.sim.softness import warn_of_step
from taction.sim.state import SimState
from taction.sim.step_samples import StepSampler, pieces
from taction.steppers import phases
from taction.steppers.columns import KINETIC, POTENTIAL
from taction.steppers.records import make_table


class ContactCourse:
    """A run through contact on its way; see `taction.sim.engine.Course`.

    Attributes:
        taken: steps so far.
        dt: time step [s].
        act: activations of actuators now.
        record: states, in the coordinates of the steps, and a row per step.
        table: contacts of all steps so far.
        drive: joint forces, then inputs of servos, held over each step, shape (steps, nv + m).
        ended: why there is no further step, if contact blew up; else empty.
    """

    def __init__(self, engine: ContactSetup, start: SimState, steps: int, control: Control) -> None:
        engine.model.check_q(start.q, "state.q")
        engine.model.check_v(start.v, "state.v")
        self._engine, self._t0, self.taken = engine, start.t, 0
        self._scene, self._state = engine.scene_of(start, control.law, control.servos), engine.inner(start)
        self._start, self.act, self.dt, self._driver = start, start.act, engine.dt, engine.driver(self._scene)
        self.record, self.table = engine.record(steps), make_table(64)
        self._judged = 64  # steps after which a strict run looks at its errors next
        self._sampler = StepSampler(self._driver, self.record) if engine.accuracy is None else None
        self.record.q[0], self.record.v[0] = self._state.q, self._state.v
        self.record.angle[0] = self._state.angle
        self.drive = np.zeros((max(steps, 1), engine.robot.nv + self._scene.servos.driven))
        self.error: type[IntegrationError] = IntegrationError
        self.ended, self._watch = "", BlowUp(self._least)

    def inspect(self, is_strict: bool) -> None:
        """Name overlaps of a start from nothing, joints beyond their stops, open loops: warn, or raise.

        What continues from steps before carries its impulses along, and was named when it started.

        Raises:
            CertificateError: a strict run, and one step may not repair them.
            ContactLimitError: there are more contacts than a step may have.
        """
        engine = self._engine
        bounds = (engine.passes[-1].push, engine.passes[-1].turn) if is_strict else None
        warn_of_range(engine.out_of_range(self._start), engine.world.name, bounds)
        warn_of_loops(engine.open_loops(self._start), engine.world.name, bounds)
        if self._state.count[0] > 0:
            return
        if engine.soft is not None:
            if engine.soft.integration == "explicit":
                warn_of_step(engine.given, engine.soft, *engine.springs, engine.dt)
            return
        found = name_overlaps(overlapping(self._driver.find(self._scene, self._state)), engine.world)
        warn_of_start(found, engine.world.name, np.inf if bounds is None else bounds[0])

    def time(self, step: int) -> float:
        """When a step starts [s]."""
        return self._t0 + step * self._engine.dt

    def look(self) -> tuple[Array, Array]:
        """Joint coordinates (nq,) and velocities (nv,) now, copies."""
        return self._engine.look(self._state)

    def started_from(self, first: int) -> Array:
        """Configurations from which the steps from ``first`` on started, shape (n, nq)."""
        part, record = slice(first, self.taken), self.record
        return self._engine.joint_state(record.q[part], record.v[part], record.angle[part])[0]

    def hold(self, drive: Array, end: int) -> None:
        """Hold joint forces and inputs of servos over the steps before ``end``: one row, or one for each."""
        self.drive[self.taken : end, : drive.shape[-1]] = drive

    def advance(self, end: int) -> str:
        """Take the steps before ``end``; empty, or why there was no further one."""
        first, missing = self.taken, phases.DONE
        for begin, last, is_sample in pieces(first, end) if self._sampler else [(first, end, False)]:
            if is_sample and self._sampler is not None:
                self._sampler.begin(self._state)
            self.taken, missing, self._state, self.table = self._driver.advance(  # type: ignore[assignment]
                self._scene, self.drive, begin, last, self._state, self.record, self.table
            )
            if missing != phases.DONE:
                break
            if is_sample and self._sampler is not None:
                self._sampler.compare(self._scene, self.drive, begin, self._state, self.record.step[begin])
        if missing == phases.TOO_MANY_CONTACTS:
            self.error = ContactLimitError
            return self._driver.crowd()
        if self._engine.soft is not None and missing in (phases.DONE, phases.NOT_FINITE):
            self._watch_energy(first, missing == phases.NOT_FINITE)
            if missing == phases.DONE or self.ended:
                return ""
        return "" if missing == phases.DONE else explain(missing, self._engine.robot, self.look()[0])

    def _watch_energy(self, first: int, ran_out: bool) -> None:
        """End the run where contact made energy in the steps from ``first`` on, or numbers ran out."""
        n, record = self.taken, self.record
        q_end, v_end, angle_end = (a[n : n + 1] for a in (record.q, record.v, record.angle))
        kinetic, potential = energies(self._engine.model, q_end, v_end, self._engine.absolute, angle_end)
        found = self._watch.find(record.step[first:n], float(kinetic[0]), float(potential[0]))
        if found is None and not (ran_out and self._watch.has_contact):
            return
        self.taken = n if found is None else first + found
        name, when = self._engine.world.name, self.time(self.taken)
        self.ended = (
            f"{name}: the motion blew up at t = {when:.6g} s: contact made more energy than there was; "
            f"take a shorter step than {self.dt:g} s, softer springs, or integration='implicit'"
        )
        now = {name: getattr(record, name)[self.taken].copy() for name in ("q", "v", "angle")}
        self._state = self._state._replace(**now, last=now["q"], count=np.zeros(1, dtype=np.int64))

    @cached_property
    def _size(self) -> float:
        """Of links [m], for the verdict on corrections of positions."""
        return reach(self._engine.model)

    @property
    def _least(self) -> float:
        """An energy [J] that is next to none."""
        return least_energy(self._engine.robot, self.dt)

    def require(self, first: int, limit: float) -> None:
        """Raise `CertificateError` at the first step from ``first`` on that is not solved to the limit.

        Or that leaves an overlap behind.
        """
        found = first_unsolved(
            self.record.step[first : self.taken], limit, self._engine.passes[-1].tolerance,
            self._engine.world.shape_names, is_start=first == 0 and self._engine.is_new(self._start),
            size=self._size,
        )  # fmt: skip
        at = first
        if found is None:
            found = first_inaccurate(self.record.step[first : self.taken])
        if found is None and self._engine.accuracy is None:
            at, found = 0, self._first_coarse()
        if found is None:
            at, found = 0, first_drifted(self.record.step[: self.taken], weight_energy(self._engine.model))
        if found is not None:
            when = self.time(at + found[0])
            raise CertificateError(f"{self._engine.world.name}: at t = {when:.6g} s {found[1]}")

    def _first_coarse(self) -> tuple[int, str] | None:
        """The first step by which errors add up to too much, and why: looked for at doubled numbers of steps.

        And at the end. So the verdict does not depend on how the course is cut into pieces.
        """
        ends = [self.taken] if self.taken == len(self.drive) else []
        while self._judged <= self.taken:
            ends, self._judged = [*ends, self._judged], 2 * self._judged
        for n in sorted(ends):
            rows, record = slice(n + 1), self.record
            v = self._engine.joint_state(record.q[rows], record.v[rows], record.angle[rows])[1]
            found = first_coarse(estimate_errors(self._engine.robot, self.dt, v, record.step[:n]))
            if found is not None:
                return found
        return None

    def rows(self, first: int) -> Rows:
        """What the steps from ``first`` on left behind; states from the start of that step on."""
        now, record = self.taken, self.record
        begin, end = (int(np.searchsorted(self._found(), n)) for n in (first, now))
        part = slice(first, now + 1)
        q, v = self._engine.joint_state(record.q[part], record.v[part], record.angle[part])
        # a step books the energies it starts from; no step starts from the last state
        q_end, v_end, angle_end = (a[now : now + 1] for a in (record.q, record.v, record.angle))
        kinetic, potential = energies(self._engine.model, q_end, v_end, self._engine.absolute, angle_end)
        steps = record.step[first:now]
        data: dict[str, tuple[int, Array]] = {
            "t": (first, np.asarray(self._t0 + self._engine.dt * np.arange(first, now + 1))),
            "q": (first, q),
            "v": (first, v),
            "kinetic": (first, np.append(steps[:, KINETIC], kinetic)),
            "potential": (first, np.append(steps[:, POTENTIAL], potential)),
            "tau": (first, self.record.tau[first:now]),
            "records": (first, steps),
        }
        data |= {f"contacts/{name}": (begin, getattr(self.table, name)[begin:end]) for name in CONTACT_FIELDS}
        return Rows(now, end, data)

    def _found(self) -> IntArray:
        """Step of each contact; a step that failed may have left some behind."""
        return self.table.step[: int(self.table.count[0])]

    def finish(self, wall_s: float) -> Run:
        """The run up to here; its steps took so long [s]."""
        engine, n = self._engine, self.taken
        data = self.rows(0).arrays()
        t, records, names = data["t"], data["records"], engine.world.shape_names
        tau = self.record.tau[:n]
        last = tau[-1:] if n else np.zeros((1, engine.robot.nv))  # no step starts from the last state
        model = engine.robot
        warn_of_accuracy(records, engine.world.name, self._t0, engine.dt, stacklevel=3)
        return Run(
            model=model,
            dt=engine.dt,
            integrator=engine.stepper,
            **{name: data[name] for name in ("t", "q", "v", "kinetic", "potential", "records")},
            tau=np.concatenate([tau, last]),
            certificate=make_certificate(
                engine.model,
                t,
                self.record.q[: n + 1],
                records,
                names,
                estimate_errors(model, engine.dt, data["v"], records),
            ),
            energy=make_ledger(records, data["kinetic"], data["potential"], self._least),
            wall_s=wall_s,
            world=engine.given,
            contact=engine.contact,
            solver=engine.solver.name,
            contacts=ContactList(**{name: data[f"contacts/{name}"] for name in CONTACT_FIELDS}),
            state=engine.outer(self._state, self.time(n), self._start, self.act),
            coordinates=engine.coordinates,
            left_out=engine.given.left_out,
            blew_up=self.ended,
            springs="" if engine.soft is None else str(engine.soft),
            accuracy=engine.settings.get("accuracy", ""),
        )
