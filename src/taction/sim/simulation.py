"""`Simulation`: a world or a model, a time step and a way to step; `run` moves it and records.

A `Model` alone moves smoothly, by an integrator; a `World` moves through contact, by a time-stepping scheme.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.5))
>>> sim = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3, contact="exact")
>>> run = sim.run(1.0)
>>> bool(abs(run.q[-1, 2] - 0.1) < 1e-6)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.model import Model
from taction.sim.run import Run
from taction.sim.smooth import Feedback, HasJointLaw, SmoothEngine
from taction.steppers.base import Integrator

if TYPE_CHECKING:
    from taction.contact.problem import ContactProblem
    from taction.sim.contact_simulation import ContactEngine, Events, SimState
    from taction.sim.rollout import Rollout
    from taction.sim.world import World
    from taction.solvers.base import Solver

STEPPER = "stewart-trinkle"
TOLERANCE = 1e-9
STRICT = 1e-8  # residual above which a strict run raises


class Simulation:
    """Motion in time.

    Args:
        world: a `World`, or a `Model` for smooth motion.
        dt: time step [s]; the model's own, if it has one, or 1 ms.
        contact: ``"exact"``, ``"convex"`` or ``"lcp"``; a world's default is exact. Given with a model, the
            model becomes a world of its own.
        stepper: time-stepping scheme through contact; `taction.steppers.time_steppers.TIME_STEPPERS`.
        solver: ``"auto"`` is compiled into the step; other solvers work outside it, more slowly.
        tol: tolerance on the relative natural-map residual of each step.
        strict: raise `CertificateError` at the first step with a residual above 1e-8 or not converged.
        coordinates: ``"reduced"`` (joint coordinates, the default) or ``"absolute"`` (every link a free body,
            joints as equations of the step). What goes in and comes out is in joint coordinates either way.
        integrator: method for smooth motion, for a model without contact.
    """

    def __init__(
        self,
        world: World | Model,
        *,
        dt: float | None = None,
        contact: str | None = None,
        stepper: str | None = None,
        solver: str | Solver = "auto",
        tol: float = TOLERANCE,
        strict: bool = False,
        coordinates: str | None = None,
        integrator: str | Integrator | None = None,
    ) -> None:
        is_model = isinstance(world, Model)
        self.model: Model = world if is_model else world.model  # type: ignore[assignment, union-attr]
        dt = (self.model.spec.timestep or 1e-3) if dt is None else dt
        if not (np.isfinite(dt) and dt > 0):
            raise BadInput(f"dt must be positive and finite, got {dt}")
        self.dt, self.strict = float(dt), strict
        self.world: World | None = None
        if is_model and contact is None:
            if coordinates is not None:
                raise BadInput("a model without contact moves in its own coordinates; make it a World")
            if stepper is not None:
                raise BadInput("a model without contact has an integrator, not a stepper; make it a World")
            self._smooth = SmoothEngine(self.model, dt=dt, integrator=integrator or "semi-implicit-euler")
            self.integrator: Integrator | None = self._smooth.integrator
            self.contact: str | None = None
            return
        if integrator is not None:
            raise BadInput("through contact the scheme is a stepper, not an integrator")
        from taction.sim.contact_simulation import ContactEngine
        from taction.sim.world import World

        self.world = World(world) if isinstance(world, Model) else world
        if not isinstance(self.world, World):
            raise BadInput(f"expected a World or a Model, got {type(world).__name__}")
        self.contact, self.stepper = contact or "exact", stepper or STEPPER
        self.integrator = None
        self._contact = ContactEngine(
            self.world, dt=self.dt, contact=self.contact, stepper=self.stepper, solver=solver, tol=tol,
            coordinates=coordinates or "reduced",
        )  # fmt: skip

    @property
    def engine(self) -> ContactEngine:
        """What steps a world; `BadInput` for smooth motion."""
        if self.world is None:
            raise BadInput("this simulation has no contact: give it a World")
        return self._contact

    def run(
        self,
        duration: float,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        state: SimState | None = None,
        controller: HasJointLaw | Feedback | None = None,
        control_dt: float | None = None,
        stop: Callable[[float, Array, Array], bool] | None = None,
        events: Events | None = None,
        record: str | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Run:
        """Simulate and record every step.

        Args:
            duration: simulated time [s], rounded to whole steps.
            q: initial configuration, shape (nq,); the neutral one by default. Mimic joints are set.
            v: initial velocity, shape (nv,); rest by default.
            state: where an earlier run ended (`Run.state`), instead of q and v: continues bit for bit.
            controller: a `PD`, the model's `Actuators`, or a function (t, q, v) → joint forces (nv,).
            control_dt: how often a function is asked [s]; every step by default. Forces are held in between.
            stop: asked as often with (t, q, v); the run ends early when it returns True.
            events: functions of (t, q, v); their changes of sign are listed in `Run.events`.
            record: an HDF5 file to write while running: what was flushed survives a crash.
            progress: called with the simulated time now and then.

        Raises:
            BadInput: impossible arguments.
            IntegrationError: a step failed; the message says when and why.
            CertificateError: a strict simulation met a residual above its limit.
        """
        if self.world is None:
            asked = {
                "state": state,
                "control_dt": control_dt,
                "stop": stop,
                "events": events,
                "record": record,
            }
            for name, value in asked.items():
                if value is not None:
                    raise BadInput(f"{name}: only for a simulation of a World")
            return self._smooth.run(duration, q=q, v=v, controller=controller, progress=progress)
        from taction.sim.contact_run import run_contact

        return run_contact(
            self, duration, q=q, v=v, state=state, controller=controller, control_dt=control_dt, stop=stop,
            events=events, record=record, progress=progress,
        )  # fmt: skip

    def problem(
        self, state: SimState, *, controller: HasJointLaw | None = None, tau: ArrayLike | None = None
    ) -> ContactProblem:
        """The contact problem of the step that starts at a state, e.g. for `taction.write_fclib`.

        Args:
            state: as from `Run.state`.
            controller: a linear controller.
            tau: joint forces held over the step, shape (nv,).
        """
        law = None if controller is None else controller.joint_law(self.model)
        force = None if tau is None else self.model.check_v(tau, "tau")
        return self.engine.problem(state, law, force)

    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0) -> SimState:
        """A state to start from: q (nq,), v (nv,), no contact impulses yet."""
        return self.engine.start(q, v, t)

    def rollout(self, states: Any, controls: ArrayLike | None = None, **options: Any) -> Rollout:
        """Many worlds at once, over all cores; see `taction.sim.rollout.rollout`."""
        from taction.sim.rollout import rollout

        return rollout(self, states, controls, **options)
