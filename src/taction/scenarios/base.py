"""`Scenario`: one experiment with a known answer: built, run, measured and checked.

A scenario is one file with one class and one line in `taction.scenarios.GROUPS`. It is an example, a test
and a command (``taction run NAME``) at once, so that none of the three can rot alone.

The flow is build → run → metrics → check. `Scenario.check` compares with exact answers: conserved quantities,
closed forms, stability limits. Tolerances come from the order of the integrator and the step
(`taction.scenarios.tolerance`), so that a check means the same for every method and step.

>>> from taction.scenarios import get_scenario
>>> outcome = get_scenario("double-pendulum").run(duration=0.5, parameters={"q1": 1.0})
>>> outcome.violations
[]
"""

from __future__ import annotations

import math
import time as clock
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import (
    AccuracyWarning,
    BadInput,
    BlowUpWarning,
    CertificateError,
    IntegrationError,
    OutputError,
    StabilityWarning,
    StoppedWarning,
)
from taction._core.names import instead
from taction.contact.forces.parameters import SoftContact, as_soft
from taction.scenarios.metric_units import by_unit, units_of
from taction.scenarios.parameter import Parameter
from taction.sim.contact_setup import default_stepper
from taction.sim.interrupt import is_kept, whole_runs
from taction.sim.run import Certificate, EnergyLedger, Run
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers import INTEGRATORS
from taction.steppers.schemes.dispatch import DEFAULT, get_scheme

Values = dict[str, Any]
Metrics = dict[str, float | bool]

# Two algorithms that share only the kinematics agree to rounding times the condition of the mass matrix; a
# humanoid reaches 1e-12, so anything above this is a wrong equation.
MOTION_LIMIT = 1e-8
# Quaternions are normalised in every step.
QUATERNION_LIMIT = 1e-12
# What every step through contact is held to: natural-map residual, and closure of the ledger by energy scale.
RESIDUAL_LIMIT = 1e-8
CLOSURE_LIMIT = 1e-9


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of running a scenario.

    Attributes:
        scenario: its name.
        integrator: name of the method: an integrator, or a time-stepping scheme through contact.
        contact: law of contact, None in smooth motion.
        solver: of contact problems, None in smooth motion.
        coordinates: in which the steps were taken.
        dt: time step [s].
        duration: simulated time asked for [s].
        parameters: every parameter with its value.
        run: the recorded motion; None if a step failed.
        metrics: the scenario's own results.
        violations: what is wrong, one sentence each; empty if everything is right.
        first_call_s: time of the first step, with loading or compiling of kernels [s]; None if it failed.
        stopped: whether Ctrl-C ended the run, or what is measured after it. Then there are no metrics and no
            violations: what they say of a whole run would be wrong.
        metric_units: SI unit of each metric, by name; the empty text of a pure number.
    """

    scenario: str
    integrator: str
    contact: str | None
    solver: str | None
    coordinates: str
    dt: float
    duration: float
    parameters: Values
    run: Run | None
    metrics: Metrics
    violations: list[str]
    first_call_s: float | None
    stopped: bool = False
    metric_units: Mapping[str, str] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Everything but the arrays: the object that ``taction run --json`` prints."""
        run = self.run
        return {
            "scenario": self.scenario,
            "contact": self.contact,
            "solver": self.solver,
            "coordinates": self.coordinates,
            "integrator": self.integrator,
            "dt": self.dt,
            "duration": self.duration,
            "stopped": self.stopped,
            "steps": run.steps if run else None,
            "wall_s": run.wall_s if run else None,
            "first_call_s": self.first_call_s,
            "parameters": self.parameters,
            "certificate": asdict(run.certificate) if run else dict.fromkeys(_names(Certificate)),
            "energy": asdict(run.energy) if run else dict.fromkeys(_names(EnergyLedger)),
            "left_out": list(run.left_out) if run else None,
            "metrics": self.metrics,
            "metric_units": dict(self.metric_units),
            "checks": self.violations,
        }


class Scenario(ABC):
    """One experiment.

    Attributes:
        name: how it is called on the command line.
        summary: one line.
        source: where the physics comes from.
        parameters: what can be set.
        duration: simulated time by default [s].
        dt: time step by default [s].
        integrator: method by default.
        units: of its metrics, by name, on top of those of its base classes.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    duration: ClassVar[float]
    dt: ClassVar[float]
    integrator: ClassVar[str]
    units: ClassVar[Mapping[str, str]] = by_unit(
        {
            "s": "blew_up_time",
            "": "blew_up",
        }
    )

    @abstractmethod
    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A simulation, and the arguments its `Simulation.run` needs besides the duration."""

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, Any]
    ) -> tuple[Simulation, dict[str, Any]]:
        """`build` with the method asked for: an integrator here, a choice of contact in `ContactScenario`."""
        if contact:
            raise BadInput(f"{self.name} has no contact: {', '.join(contact)} cannot be chosen")
        return self.build(parameters, dt=dt, integrator=integrator or self.integrator)

    @abstractmethod
    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Results of a run, in SI units; names end in ``_error`` where the exact answer is zero."""

    @abstractmethod
    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """What contradicts the exact answers of this scenario."""

    def curves(self, run: Run, parameters: Values) -> dict[str, Array]:
        """Quantities over time that a run does not have itself, by name; saved with it."""
        return {}

    def check(self, metrics: Metrics, run: Run) -> list[str]:
        """What is wrong with a run: its certificate first, then the scenario's own answers."""
        return self.check_motion(run) + self.violations(metrics, run)

    def check_motion(self, run: Run) -> list[str]:
        """What is wrong with how the equations of motion were solved."""
        c = run.certificate
        return [
            *above("the equation of motion's residual", c.motion, MOTION_LIMIT),
            *above("the length error of a quaternion", c.quaternion, QUATERNION_LIMIT),
            *above("the number of unconverged steps", c.unconverged_steps, 0),
        ]

    def settings(self, given: Mapping[str, object] | None = None) -> Values:
        """All parameters: the given values, checked, and defaults for the rest.

        Raises:
            BadInput: an unknown key, or a value of the wrong type or range.
        """
        known = {p.name: p for p in self.parameters}
        for key in given or {}:
            if key not in known:
                raise BadInput(f"{self.name}: unknown parameter {key!r}; {instead(key, known)}")
        try:
            return {p.name: p.read((given or {}).get(p.name, p.default)) for p in self.parameters}
        except BadInput as error:
            raise BadInput(f"{self.name}: {error}") from None

    def run(
        self,
        *,
        integrator: str | None = None,
        contact: str | SoftContact | None = None,
        stepper: str | None = None,
        solver: str | None = None,
        coordinates: str | None = None,
        accuracy: float | None = None,
        dt: float | None = None,
        duration: float | None = None,
        parameters: Mapping[str, object] | None = None,
        record: str | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Outcome:
        """Build, run, measure and check; arguments left out take the scenario's defaults.

        Ctrl-C while it runs or measures ends it: what was done is kept, and the outcome says ``stopped``.

        Args:
            integrator: a name from `taction.steppers.INTEGRATORS`, for scenarios without contact.
            contact: law of contact, for those with contact, or contact as a force.
            stepper: a name from `taction.steppers.schemes.dispatch.SCHEMES`, likewise.
            solver: a name from `taction.solvers.SOLVERS`, likewise.
            coordinates: ``"reduced"`` or ``"absolute"``, likewise.
            accuracy: to which steps divide themselves [m], likewise.
            dt: time step [s].
            duration: simulated time [s].
            parameters: values by name, as text or as numbers.
            record: an HDF5 file to write while running.
            progress: called with the simulated time now and then.

        Raises:
            BadInput: impossible arguments. A step that fails raises nothing: it is a violation.
        """
        dt = self.dt if dt is None else dt
        duration = self.duration if duration is None else duration
        values = self.settings(parameters)
        asked: dict[str, Any] = {"contact": contact, "stepper": stepper, "solver": solver}
        asked |= {"coordinates": coordinates, "accuracy": accuracy}
        chosen = {name: value for name, value in asked.items() if value is not None}
        with whole_runs():
            simulation, start = self.make(values, dt, integrator, chosen)
        _check_size(simulation, duration)
        result: dict[str, Any] = {
            "scenario": self.name,
            "integrator": _registered(simulation),
            "contact": simulation.contact,
            "solver": simulation.engine.solver.name if simulation.world else None,
            "coordinates": simulation.engine.coordinates if simulation.world else "reduced",
            "dt": simulation.dt,
            "duration": float(duration),
            "parameters": values,
        }
        begin, first = clock.perf_counter(), None
        # a run that blows up or is stopped is reported, not warned about
        with np.errstate(all="ignore"), warnings.catch_warnings():
            for kind in (AccuracyWarning, BlowUpWarning, StoppedWarning):
                warnings.simplefilter("ignore", kind)
            try:
                with warnings.catch_warnings(), whole_runs():
                    warnings.simplefilter("ignore", StabilityWarning)  # the run itself says so
                    simulation.run(simulation.dt, **start)  # bad input shows here
                first = clock.perf_counter() - begin
                if record is not None:
                    start = {**start, "record": record}
                run, metrics, found, stopped = self._measure(simulation, duration, start, values, progress)
            except (IntegrationError, CertificateError) as error:
                run, metrics, found, stopped = None, {"blew_up": True}, [str(error)], False
        return Outcome(
            **result, run=run, metrics=metrics, violations=found, first_call_s=first, stopped=stopped,
            metric_units=units_of(type(self), metrics),
        )  # fmt: skip

    def _measure(
        self,
        simulation: Simulation,
        duration: float,
        start: dict[str, Any],
        values: Values,
        progress: Callable[[float], Any] | None,
    ) -> tuple[Run, Metrics, list[str], bool]:
        """The run, its metrics, what is wrong with it, whether it was stopped; that leaves both empty."""
        try:
            run = simulation.run(duration, **start, progress=progress)
            if run.blew_up:
                return run, {"blew_up": True, "blew_up_time": float(run.t[-1])}, [run.blew_up], False
            if run.stopped:
                return run, {}, [], True
            try:
                with whole_runs():
                    metrics = self.metrics(run, values) | {"blew_up": False}
                    found = self.check(metrics, run)
            except KeyboardInterrupt:
                if not is_kept():
                    raise
                return run, {}, [], True
        except OutputError:
            raise
        except BadInput as error:
            # the same input was good for one step, so it is the motion that left the range of numbers
            raise IntegrationError(f"{simulation.model.name}: the motion blew up ({error})") from None
        run.metrics.update(metrics)
        return run, metrics, found, False


class ContactScenario(Scenario):
    """An experiment through contact.

    Attributes:
        stepper: time-stepping scheme by default.
        contact: law of contact by default.
        coordinates: in which steps are taken by default, if the scheme knows them.
        bounds: of the correction of positions, as `Simulation` has them, where a scenario needs its own.
        springs: numbers of contact as a force, of each kind that is asked for without any.
    """

    stepper: ClassVar[str] = DEFAULT
    contact: ClassVar[str | SoftContact] = "exact"
    coordinates: ClassVar[str] = "reduced"
    bounds: ClassVar[dict[str, float]] = {}
    springs: ClassVar[tuple[SoftContact, ...]] = ()
    integrator: ClassVar[str] = ""

    @abstractmethod
    def world(self, parameters: Values) -> World:
        """What moves and touches."""

    def law(self, parameters: Values) -> str | SoftContact:
        """Law of contact where none is asked for."""
        return self.contact

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Arguments of `Simulation.run`: initial state, controller; rest in the neutral configuration."""
        return {}

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """The simulation with the default choices."""
        return self.make(parameters, dt, None, {})

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, Any]
    ) -> tuple[Simulation, dict[str, Any]]:
        """The simulation with the law, scheme and solver asked for."""
        if integrator is not None:
            raise BadInput(f"{self.name} moves through contact: it has a stepper, not an integrator")
        world = self.world(parameters)
        law = self._with_numbers(contact.get("contact", self.law(parameters)))
        is_own = is_rigid(law) == is_rigid(self.contact) and self.stepper != DEFAULT
        scheme = self.stepper if is_own else default_stepper(law)
        choice: dict[str, Any] = {"stepper": scheme, **self.bounds} | contact | {"contact": law}
        if "absolute" in get_scheme(choice["stepper"]).coordinates:
            choice = {"coordinates": self.coordinates} | choice
        return Simulation(world, dt=dt, **choice), self.start(parameters, world)

    def _with_numbers(self, law: str | SoftContact) -> str | SoftContact:
        """A law of contact, with the scenario's springs where it is a force and has no numbers."""
        soft = as_soft(law)
        return next((own for own in self.springs if soft == type(own)()), law)

    def check(self, metrics: Metrics, run: Run) -> list[str]:
        """Certificate and ledger of every step first, then the scenario's own answers.

        Of contact as a force the laws of rigid contact are not asked; and the answers of a scenario are those
        of its own kind of contact, rigid or not.
        """
        c, is_soft = run.certificate, not is_rigid(run.contact or "exact")
        found = [
            *above("the residual of the contact laws", 0.0 if is_soft else c.residual or 0.0, RESIDUAL_LIMIT),
            *above("the energy ledger's closure", run.energy.closure or 0.0, CLOSURE_LIMIT),
        ]
        if is_soft == is_rigid(self.contact):
            return found + self.check_motion(run)  # its answers are those of the other kind
        return found + super().check(metrics, run)


def is_rigid(contact: str | SoftContact) -> bool:
    """Whether contact obeys set-valued laws, and is not a force."""
    return as_soft(contact) is None


def above(what: str, value: float, limit: float, unit: str = "") -> list[str]:
    """A one-sentence violation if a value exceeds its limit or is not a number, otherwise nothing."""
    if value <= limit:
        return []
    return [f"{what} is {value:.3g}{unit and ' ' + unit}, above {limit:.3g}"]


def _check_size(simulation: Simulation, duration: float) -> None:
    """Refuse durations of less than a step or of more steps than memory holds."""
    if not (math.isfinite(duration) and duration > 0):
        raise BadInput(f"duration must be positive and finite, got {duration:g}")
    if simulation.count_steps(duration) < 1:
        raise BadInput(f"duration {duration:g} s is shorter than one step of {simulation.dt:g} s")


def _registered(simulation: Simulation) -> str:
    """The name under which a simulation's integrator or stepper is registered."""
    if simulation.world is not None:
        return simulation.stepper
    return next(name for name, method in INTEGRATORS.items() if isinstance(simulation.integrator, method))


def _names(record: type) -> list[str]:
    return [f.name for f in fields(record)]
