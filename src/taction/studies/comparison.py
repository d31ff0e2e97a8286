"""One scenario under several models of contact: the same world, start, controller and step; what differs.

Method
1. `taction.scenarios.base.Scenario.run` of each model, with the scheme that is its default in the scenario;
   the first model is the reference of the differences.
2. *Distance to the reference*: the largest distance between the places of a point of a body in both runs, at
   up to `SAMPLES` times; points are those of `taction.studies.step_study.places`, so that turning counts.
3. Figures of the contacts (`taction.studies.contact_figures`), of a block that slides or sticks
   (`taction.studies.block_probe`) and of the step (`taction.studies.step_study`).
4. *Cost*: the best of `ROUNDS` runs, models in turn, compiled before; loading and compiling do not count,
   recording does. A run that takes longer than `PATIENCE` is not repeated.

What follows from these numbers, in words, is `taction.studies.comparison_verdict`; the page is
`taction.studies.comparison_page`.

>>> from taction.studies.comparison import compare_models
>>> found = compare_models("block-slope", ["exact", "convex"], duration=0.1, parameters={"angle": 35.0})
>>> [model.name for model in found.models], bool(found.models[1].figures.lift > 1e-5)
(['exact', 'convex'], True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.names import choose
from taction.contact.forces.parameters import SoftContact
from taction.scenarios import get_scenario
from taction.scenarios.base import ContactScenario, Outcome, Values
from taction.sim.contact_setup import LAWS
from taction.sim.interrupt import whole_runs
from taction.sim.run import Run
from taction.studies.block_probe import ProbeFigures, probe_block
from taction.studies.contact_figures import ContactFigures, contact_figures
from taction.studies.contender import Contender, blown_up
from taction.studies.step_study import StepStudy, places, study_steps

SAMPLES = 400
ROUNDS = 3
PATIENCE = 2.0  # [s]


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """What came of one model.

    Attributes:
        name: of the model.
        outcome: run and metrics.
        failure: why the run ended early or blew up; empty if it did not.
        missed: answers of the scenario that a run to the end misses, asked of all models alike.
        figures: of its contacts; None if a step failed.
        probe: of a block that slides and one that sticks; None if that blew up.
        study: of the step.
        at: states at which places were compared, shape (k,).
        path: places of all bodies there [m], shape (k, bodies, 4, 3), centres of mass first.
        distance: to the reference there [m], shape (k,); of the times that both runs have.
        wall_us: cost of a step [µs].
    """

    name: str
    outcome: Outcome
    failure: str
    missed: list[str]
    figures: ContactFigures | None
    probe: ProbeFigures | None
    study: StepStudy
    at: IntArray
    path: Array
    distance: Array
    wall_us: float | None

    @property
    def run(self) -> Run | None:
        """The recorded motion, None if a step failed."""
        return self.outcome.run

    @property
    def end_difference(self) -> float | None:
        """Distance to the reference at the end [m]; None if one of both did not get there."""
        is_whole = not self.failure and len(self.distance) == len(self.at)
        return float(self.distance[-1]) if is_whole else None

    def summary(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        told = self.outcome.summary()
        figures = asdict(self.figures) if self.figures is not None else {}
        worst = int(self.distance.argmax()) if len(self.distance) else None
        times = None if self.run is None else self.run.t[self.at]
        return {
            "contact": self.name,
            "stepper": told["integrator"],
            **{key: told[key] for key in ("solver", "coordinates", "steps")},
            "wall_us_per_step": self.wall_us,
            "blew_up": bool(self.failure),
            "failure": self.failure,
            **{key: told[key] for key in ("certificate", "energy", "metrics")},
            "checks": self.missed,
            "end_difference": self.end_difference,
            "worst_difference": None if worst is None else float(self.distance[worst]),
            "worst_difference_time": None if worst is None or times is None else float(times[worst]),
            **{name: figures.get(name) for name in ContactFigures.__dataclass_fields__},
            "probe": None if self.probe is None else asdict(self.probe),
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models in one scenario, the reference first."""

    scenario: str
    parameters: Values
    dt: float
    duration: float
    models: list[ComparedModel]

    @property
    def reference(self) -> ComparedModel:
        """The model that the others are compared with."""
        return self.models[0]

    def summary(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        return {
            "scenario": self.scenario,
            "parameters": self.parameters,
            "dt": self.dt,
            "duration": self.duration,
            "reference": self.reference.name,
            "models": [model.summary() for model in self.models],
            "step_study": [asdict(model.study) for model in self.models],
        }


@whole_runs()
def compare_models(
    scenario: str,
    contacts: Sequence[str | SoftContact],
    *,
    stepper: str | None = None,
    solver: str | None = None,
    coordinates: str | None = None,
    dt: float | None = None,
    duration: float | None = None,
    parameters: Mapping[str, object] | None = None,
    progress: Callable[[str], Any] | None = None,
) -> Comparison:
    """Run a scenario under several models of contact and measure what differs.

    Args:
        scenario: name of one through contact.
        contacts: laws of contact, or contact as a force; the first is the reference.
        stepper: scheme of all of them; each one's own by default.
        solver: of contact problems.
        coordinates: ``"reduced"`` or ``"absolute"``.
        dt: time step [s].
        duration: simulated time [s].
        parameters: of the scenario, as text or as numbers.
        progress: called with what is being run.

    Raises:
        BadInput: impossible arguments. A model that blows up raises nothing: it is a finding.
    """
    chosen = get_scenario(scenario)
    if not isinstance(chosen, ContactScenario):
        raise BadInput(f"{scenario} has no contact: there is nothing to compare")
    values = chosen.settings(parameters)
    asked = {"stepper": stepper, "solver": solver, "coordinates": coordinates}
    options = {name: value for name, value in asked.items() if value is not None}
    contenders = [Contender(chosen, values, contact, options) for contact in contacts]
    _check([contender.name for contender in contenders])
    dt = chosen.dt if dt is None else dt
    duration = chosen.duration if duration is None else duration
    for contender in contenders:
        contender.build(dt)  # bad input shows before anything runs
    say = progress or (lambda text: None)
    outcomes = []
    for k, contender in enumerate(contenders, start=1):
        say(f"{contender.name}: run, {k} of {len(contenders)}")
        outcomes.append(contender.measure(dt, duration))
    say("cost of a step")
    costs = _time(contenders, outcomes, dt)
    every = max(round(duration / dt) // SAMPLES, 1)
    models: list[ComparedModel] = []
    for contender, outcome, cost in zip(contenders, outcomes, costs, strict=True):
        say(f"{contender.name}: steps from dt/4 on, {len(models) + 1} of {len(contenders)}")
        at, path = _path(outcome.run, every)
        failure = "; ".join(outcome.violations) if outcome.run is None else blown_up(outcome.run)[0]
        models.append(
            ComparedModel(
                name=contender.name,
                outcome=outcome,
                failure=failure,
                missed=[] if failure else contender.missed(outcome),
                figures=None if outcome.run is None else contact_figures(outcome.run, contender.soft),
                probe=probe_block(contender, dt),
                study=study_steps(contender, dt, duration, 1e-6 * (cost or 0.0)),
                at=at,
                path=path,
                distance=_distance(at, path, models[0] if models else None),
                wall_us=cost,
            )
        )
    return Comparison(scenario, values, dt, float(duration), models)


def _check(names: Sequence[str]) -> None:
    for name in names:
        if name not in LAWS:
            raise BadInput(f"contact {name!r}: {choose(name, LAWS)}")
    if len(names) < 2:
        raise BadInput(f"a comparison is of two models at least, got {', '.join(names) or 'none'}")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise BadInput(f"contact {twice[0]!r}: listed twice")


def _time(contenders: Sequence[Contender], outcomes: Sequence[Outcome], dt: float) -> list[float | None]:
    """Method 4: microseconds per step of each, None where a step failed."""
    best = [_cost(outcome.run) for outcome in outcomes]
    for _ in range(ROUNDS - 1):
        for k, (contender, outcome) in enumerate(zip(contenders, outcomes, strict=True)):
            before = best[k]
            if before is None or outcome.run is None or outcome.run.wall_s > PATIENCE:
                continue
            again = _cost(contender.attempt(dt, outcome.run.steps * dt).run)
            best[k] = before if again is None else min(before, again)
    return best


def _cost(run: Run | None) -> float | None:
    return None if run is None or not run.steps else 1e6 * run.wall_s / run.steps


def _path(run: Run | None, every: int) -> tuple[IntArray, Array]:
    """States of a run that are looked at, one in so many and the last, and the places of all bodies there."""
    if run is None:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 1, 4, 3))
    at = np.unique(np.append(np.arange(0, run.steps + 1, every), run.steps))
    return at, np.array([places(run, k) for k in at])


def _distance(at: IntArray, path: Array, reference: ComparedModel | None) -> Array:
    """Method 2, at the times that both have; a run that ended early has a last time of its own."""
    if reference is None:
        return np.zeros(len(at))
    n = min(len(at), len(reference.at))
    n = int(np.cumprod(at[:n] == reference.at[:n]).sum())
    return np.asarray(np.linalg.norm(path[:n] - reference.path[:n], axis=3).max(axis=(1, 2), initial=0.0))
