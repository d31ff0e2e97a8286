"""One step of a simulation against MuJoCo: robots that stand, and boxes that fall into a pile.

Both engines read one MJCF text (`taction.bench.step_models`), use the same time step and one thread, and take
N steps in one compiled call, ours with its certificate and energy ledger. They take turns, and the best of
several rounds counts, so the ratio is of one run on one machine. Each engine goes through the states of its
own motion, from the same start: ``contacts`` and ``peer_contacts`` say how many contacts each of them had.

Residuals: ours is the worst of all steps by the certificate; the peer's is the worst over some steps of the
same measure, applied to its contact forces (`taction.bench.mujoco_peer`). Contacts are rigid here and soft
there: that column is the difference in the laws that are solved, not in diligence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from taction._core.errors import IntegrationError
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step_models import humanoid_mjcf, pile_mjcf, quadruped_mjcf
from taction.bench.timing import best_times, machine
from taction.control.actuators import Actuators
from taction.dynamics.joint_law import JointLaw
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.model.model import Model
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World
from taction.steppers.columns import CONTACTS, ITERATIONS, PENETRATION, RESIDUAL, UNCONVERGED

SAMPLES = 25  # steps of the peer that are judged


@dataclass(frozen=True)
class Case:
    """What is measured.

    Attributes:
        name: of the row.
        mjcf: what both engines read.
        settle: steps before the clock runs.
        steps: that are timed in one call; on a busy machine a few milliseconds' worth is best.
        limit: of the ratio.
        repeat: calls per round.
    """

    name: str
    mjcf: str
    settle: int
    steps: int
    limit: float
    repeat: int = 1


def step_cases() -> tuple[Case, ...]:
    """The cases of the bench."""
    quadruped, humanoid, pile = quadruped_mjcf(), humanoid_mjcf(), pile_mjcf()
    return (
        Case("quadruped, landing", quadruped, 0, 150, 1.0, 20),
        Case("quadruped, standing", quadruped, 1000, 100, 1.0, 20),
        Case("humanoid, standing", humanoid, 1000, 100, 1.5, 20),
        Case("20 boxes, falling", pile, 0, 500, 1.5),
        Case("20 boxes, at rest", pile, 2000, 100, 1.5, 5),
    )


def bench_step(
    *, rounds: int = 7, tol: float = TOLERANCE, cases: Sequence[Case] | None = None
) -> dict[str, Any]:
    """Time of a step, ours and MuJoCo's; rows as in the documentation of ``taction bench``.

    Args:
        rounds: timed repetitions; the best counts.
        tol: tolerance of our contact solver on the relative natural-map residual.
        cases: those of `step_cases` by default.
    """
    rows = [compare(case, rounds, tol) for case in (step_cases() if cases is None else cases)]
    return {"bench": "step", "machine": machine(), "tol": tol, "rows": rows}


class Stepper:
    """Our side, with the interface of `MujocoPeer`: one world, in memory that is made once.

    Args:
        sim: of a world.
        law: a linear controller.
    """

    def __init__(self, sim: Simulation, law: JointLaw | None) -> None:
        self.sim, self.engine, self.law = sim, sim.engine, law
        self.scene = self.engine.scene(law)
        self.driver = self.engine.driver(self.scene)
        self.drive = np.zeros((1, sim.model.nv))
        self._kept = self.engine.start(None, None)
        self.state = self.engine.inner(self._kept)
        self.record = self.engine.record(0)

    def keep(self) -> None:
        """Remember the present state for `restore`."""
        self._kept = self.engine.outer(self.state, 0.0, self._kept)

    def restore(self) -> None:
        """Go back to the state kept last."""
        self.state = self.engine.inner(self._kept)

    def advance(self, steps: int) -> None:
        """Take so many steps in one call; ``record`` has them."""
        if len(self.record.step) != steps:
            self.record = self.engine.record(steps)
        reached, missing, self.state, _ = self.driver.advance(
            self.scene, self.drive, 0, steps, self.state, self.record
        )
        if missing:
            raise IntegrationError(f"{self.sim.model.name}: step {reached} failed")


def from_mjcf(text: str, tol: float) -> Stepper:
    """Our side of what a file says, its actuators at zero control."""
    model = compile_model(parse_mjcf(text))
    return Stepper(Simulation(World(model), tol=tol), law_of(model))


def law_of(model: Model) -> JointLaw | None:
    """The gains of a model's actuators, at zero control."""
    if not model.spec.actuators:
        return None
    return Actuators(model, np.zeros(len(model.spec.actuators))).gains(model)


def time_steps(
    engines: Mapping[str, Stepper | MujocoPeer], settle: int, steps: int, rounds: int
) -> dict[str, float]:
    """Best time of a step of each engine [µs], over so many calls of so many steps, in turns.

    Every call starts where the engine is after the steps before the clock runs; its last one stays in memory.
    """
    for engine in engines.values():
        engine.advance(settle)
        engine.keep()

    def repeat(engine: Stepper | MujocoPeer) -> None:
        engine.restore()
        engine.advance(steps)

    contenders = {who: partial(repeat, engine) for who, engine in engines.items()}
    return {who: 1e6 * t / steps for who, t in best_times(contenders, rounds=rounds).items()}


def compare(case: Case, rounds: int, tol: float) -> dict[str, Any]:
    """The row of a case."""
    ours = from_mjcf(case.mjcf, tol)
    peer = None if mujoco_name() is None else MujocoPeer(case.mjcf)
    engines: dict[str, Stepper | MujocoPeer] = {"ours": ours}
    if peer is not None:
        engines["peer"] = peer
    times = time_steps(engines, case.settle, case.steps, rounds * case.repeat)
    step = ours.record.step
    row = {
        "case": case.name,
        "ours": times["ours"],
        "peer": times.get("peer"),
        "peer_name": mujoco_name(),
        "unit": "µs",
        "ratio": times["ours"] / times["peer"] if peer is not None else None,
        "limit": case.limit,
        "residual": float(step[:, RESIDUAL].max()),
        "peer_residual": None,
        "contacts": float(step[:, CONTACTS].mean()),
        "penetration": float(step[:, PENETRATION].max()),
        "iterations": float(step[:, ITERATIONS].mean()),
        "unconverged": int((step[:, UNCONVERGED] > 0).sum()),
        "nv": ours.sim.model.nv,
        "steps": case.steps,
        "dt": ours.sim.dt,
    }
    if peer is not None:
        peer.restore()
        row |= peer.judge(case.steps, SAMPLES)
    return row
