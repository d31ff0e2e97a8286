"""`Contender`: a scenario under one model of contact, ready to be run with any step.

World, start and controller are the scenario's own and the same for all contenders of a comparison; what a
contender has of its own is the law or force of contact, and the scheme that goes with it. All are judged
alike: runs of a law are searched for energy from nowhere as those of a force are, and the answers of the
scenario, which ``taction run`` asks of laws only, are asked of forces, too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from taction._core.errors import (
    BlowUpWarning,
    CertificateError,
    IntegrationError,
    LoopWarning,
    OverlapWarning,
    RangeWarning,
    StabilityWarning,
)
from taction.contact.forces.parameters import SoftContact, as_soft
from taction.scenarios.base import ContactScenario, Outcome, Values
from taction.sim.blow_up import BlowUp, least_energy
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.softness import allowed_step, make_springs


class Attempt(NamedTuple):
    """A run, or why there is none."""

    run: Run | None
    failure: str  # empty if it reached its end
    time: float | None  # when it failed, if that is known [s]


@dataclass(frozen=True, eq=False)
class Contender:
    """One model of contact in a scenario.

    Attributes:
        scenario: what is run.
        values: its parameters.
        contact: law of contact, or contact as a force.
        options: stepper, solver and coordinates, as far as they were asked for.
    """

    scenario: ContactScenario
    values: Values
    contact: str | SoftContact
    options: dict[str, str]

    @property
    def name(self) -> str:
        """Of the model."""
        return self.contact if isinstance(self.contact, str) else self.contact.name

    @property
    def soft(self) -> SoftContact | None:
        """Contact as a force, None for a law."""
        return as_soft(self.contact)

    @property
    def allowed_step(self) -> float | None:
        """Longest step by `taction.sim.softness`, for explicit springs and dampers [s]; None for others."""
        soft = self.soft
        if soft is None or soft.integration != "explicit":
            return None
        world = self.scenario.world(self.values)
        step, _ = allowed_step(world, soft, *make_springs(world, soft))
        return step if np.isfinite(step) else None

    def build(self, dt: float) -> tuple[Simulation, dict[str, Any]]:
        """A simulation with this step [s], and the arguments of its `Simulation.run`."""
        return self.scenario.make(self.values, dt, None, {"contact": self.contact, **self.options})

    def measure(self, dt: float, duration: float) -> Outcome:
        """Run, measure and check as ``taction run`` does."""
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", StabilityWarning
            )  # what comes of it is a figure of the comparison
            return self.scenario.run(
                contact=self.contact, dt=dt, duration=duration, parameters=self.values,
                stepper=self.options.get("stepper"), solver=self.options.get("solver"),
                coordinates=self.options.get("coordinates"),
            )  # fmt: skip

    def missed(self, outcome: Outcome) -> list[str]:
        """Checks of the scenario that a run to the end failed, also those that a force is not held to."""
        if outcome.run is None:
            return []
        own = self.scenario.violations(outcome.metrics, outcome.run)
        return list(dict.fromkeys([*outcome.violations, *own]))

    def attempt(self, dt: float, duration: float) -> Attempt:
        """Run only, without a word about its start and steps that are too long."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            for kind in (BlowUpWarning, StabilityWarning, OverlapWarning, RangeWarning, LoopWarning):
                warnings.simplefilter("ignore", kind)
            simulation, start = self.build(dt)
            try:
                run = simulation.run(duration, **start)
            except (IntegrationError, CertificateError) as error:
                return Attempt(None, str(error), None)
        return Attempt(run, *blown_up(run))


def blown_up(run: Run) -> tuple[str, float | None]:
    """Why and when [s] a run of any contact has more energy than there was; empty and None if it has not."""
    if run.blew_up or run.records is None:
        return run.blew_up, float(run.t[-1]) if run.blew_up else None
    watch = BlowUp(least_energy(run.model, run.dt))
    found = watch.find(run.records, float(run.kinetic[-1]), float(run.potential[-1]))
    if found is None:
        return "", None
    time = float(run.t[found])
    return f"{run.model.name}: the motion has more energy than there was from t = {time:.6g} s on", time
