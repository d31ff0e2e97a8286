"""A run through contact, from the steps' records: certificate, energy ledger, contacts, events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.sim.contact_simulation import Events, Motion, SimState, final_energy, find_events
from taction.sim.run import Certificate, EnergyLedger, Run, quaternion_error
from taction.sim.smooth import HasJointLaw
from taction.steppers import ledger as column
from taction.steppers.driver import Record

if TYPE_CHECKING:
    from taction.sim.simulation import Simulation


def run_contact(
    sim: Simulation,
    duration: float,
    *,
    q: ArrayLike | None,
    v: ArrayLike | None,
    state: SimState | None,
    controller: Any,
    control_dt: float | None,
    stop: Callable[[float, Array, Array], bool] | None,
    events: Events | None,
    record: str | None,
    progress: Callable[[float], Any] | None,
) -> Run:
    """See `taction.Simulation.run`."""
    from taction.sim.simulation import STRICT

    engine, model = sim.engine, sim.model
    if not (np.isfinite(duration) and duration >= 0):
        raise BadInput(f"duration must be finite and not negative, got {duration}")
    every = 1 if control_dt is None else round(control_dt / sim.dt)
    if every < 1 or (control_dt is not None and abs(every * sim.dt - control_dt) > 1e-9 * control_dt):
        raise BadInput(f"control_dt: must be a whole multiple of dt = {sim.dt:g} s, got {control_dt}")
    if state is not None and (q is not None or v is not None):
        raise BadInput("give a state, or q and v, not both")
    start = engine.start(q, v) if state is None else state
    engine.model.check_q(start.q, "state.q")
    engine.model.check_v(start.v, "state.v")
    law = controller.joint_law(model) if isinstance(controller, HasJointLaw) else None
    feedback = controller if callable(controller) else None
    if controller is not None and law is None and feedback is None:
        raise BadInput(f"controller must be a PD or a function (t, q, v), not {type(controller).__name__}")
    writer = None
    if record is not None:
        from taction.sim.run_file import RunWriter

        settings = {"scheme": sim.stepper, "contact": sim.contact, "solver": engine.solver.name}
        settings["coordinates"] = engine.coordinates
        writer = RunWriter(
            record, model, sim.dt, start, world=sim.world, settings=settings, look=engine.joint_state
        )
    try:
        motion = engine.run(
            round(duration / sim.dt), start, law=law, feedback=feedback, every=every, stop=stop,
            strict=STRICT if sim.strict else None, progress=progress, flush=writer.append if writer else None,
        )  # fmt: skip
        t: Array = start.t + sim.dt * np.arange(len(motion.record.q), dtype=np.float64)
        run = make_run(sim, t, motion)
        if events:
            run = replace(run, events=find_events(events, t, run.q, run.v))
        if writer is not None:
            writer.finish(run.summary())
    finally:
        if writer is not None:
            writer.close()
    return run


def make_run(sim: Simulation, t: Array, motion: Motion) -> Run:
    """The run that a motion is the record of."""
    rows, model, world = motion.record.step, sim.model, sim.world
    assert world is not None
    q, v = sim.engine.joint_state(motion.record.q, motion.record.v)
    kinetic, potential = np.empty(len(t)), np.empty(len(t))
    kinetic[:-1], potential[:-1] = rows[:, column.KINETIC], rows[:, column.POTENTIAL]
    # bodies obey their joints where the last step looked: their energy is not that of joint rates at the end
    kinetic[-1], _ = final_energy(sim.engine.model, motion.record.q[-1], motion.record.v[-1])
    _, potential[-1] = final_energy(model, q[-1], v[-1])
    return Run(
        model=model,
        dt=sim.dt,
        integrator=sim.stepper,
        t=t,
        q=q,
        v=v,
        tau=motion.tau,
        kinetic=kinetic,
        potential=potential,
        certificate=make_certificate(sim, t, motion.record, world.shape_names),
        energy=make_ledger(rows, kinetic, potential, model.total_mass * (sim.dt * _gravity(model)) ** 2),
        wall_s=motion.wall_s,
        world=world,
        contact=sim.contact,
        solver=sim.engine.solver.name,
        records=rows,
        contacts=motion.table,
        state=motion.state,
        coordinates=sim.engine.coordinates,
    )


def _gravity(model: Any) -> float:
    return float(np.linalg.norm(model.tree.gravity))


def make_certificate(sim: Simulation, t: Array, record: Record, names: tuple[str, ...]) -> Certificate:
    """Worst residuals over the steps, and where they were met."""
    rows = record.step
    if not len(rows):
        return Certificate(motion=0.0, motion_time=float(t[0]), quaternion=0.0)

    def worst(c: int) -> float:
        return float(rows[:, c].max())

    k = int(rows[:, column.RESIDUAL].argmax())
    pair = tuple(names[int(rows[k, c])] for c in (column.WORST_A, column.WORST_B) if rows[k, c] >= 0)
    return Certificate(
        motion=worst(column.MOTION),
        motion_time=float(t[int(rows[:, column.MOTION].argmax())]),
        quaternion=quaternion_error(sim.engine.model, record.q),
        joint_gap=worst(column.JOINT_GAP),
        signorini=worst(column.SIGNORINI),
        cone=worst(column.CONE),
        dissipation=worst(column.DISSIPATION),
        penetration=worst(column.PENETRATION),
        unconverged_steps=int((rows[:, column.UNCONVERGED] > 0).sum()),
        residual=worst(column.RESIDUAL),
        residual_time=float(t[k]),
        residual_at=" and ".join(pair),
    )


def make_ledger(rows: Array, kinetic: Array, potential: Array, least: float) -> EnergyLedger:
    """Works summed over the steps; ``least`` energy scale [J] for runs in which nothing happens."""
    works = {name: rows[:, c] for name, c in WORKS.items()}
    energy = kinetic + potential
    booked = float(sum(w.sum() for w in works.values()))
    scale = float(kinetic.max() + np.ptp(potential) + sum(np.abs(w).sum() for w in works.values())) + least
    return EnergyLedger(
        initial=float(energy[0]),
        final=float(energy[-1]),
        remainder=float(energy[-1] - energy[0]) - booked,
        closure=float(np.abs(rows[:, column.CLOSURE]).max() / max(scale, 1e-300)) if len(rows) else 0.0,
        **{name: float(w.sum()) for name, w in works.items()},
    )


WORKS = {
    "actuation": column.ACTUATION,
    "joint_friction": column.JOINT_FRICTION,
    "friction": column.FRICTION,
    "impact": column.IMPACT,
    "correction": column.CORRECTION,
}
