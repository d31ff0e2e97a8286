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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taction._core.errors import IntegrationError
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step_models import humanoid_mjcf, pile_mjcf, quadruped_mjcf
from taction.bench.timing import best_times, machine
from taction.control.actuators import Actuators
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World
from taction.steppers.driver import make_record
from taction.steppers.ledger import CONTACTS, ITERATIONS, PENETRATION, RESIDUAL, UNCONVERGED

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
    """Our side: one world at rest in memory that is made once, its actuators at zero control."""

    def __init__(self, text: str, tol: float) -> None:
        model = compile_model(parse_mjcf(text))
        self.sim = Simulation(World(model), tol=tol)
        self.engine, self.model = self.sim.engine, self.sim.model
        law, self.drive = None, np.zeros((1, self.model.nv))
        if self.model.spec.actuators:
            actuators = Actuators(self.model, np.zeros(len(self.model.spec.actuators)))
            law = actuators.gains(self.model)
        self.scene = self.engine.world.scene(law)
        self.driver = self.engine.driver(self.scene)
        self.state = self.engine.start(None, None)
        self.record = make_record(self.model, 0)

    def settle(self, steps: int) -> None:
        """Take steps, and start from there henceforth."""
        self.record = make_record(self.model, steps)
        self.state = self.engine.outer(self.advance(steps), 0.0)

    def advance(self, steps: int) -> Any:
        """Steps from the start in one call; ``record`` has room for them."""
        state = self.engine.inner(self.state)
        reached, missing, state, _ = self.driver.advance(self.scene, self.drive, 0, steps, state, self.record)
        if missing:
            raise IntegrationError(f"{self.model.name}: step {reached} failed")
        return state


def compare(case: Case, rounds: int, tol: float) -> dict[str, Any]:
    """The row of a case."""
    ours = Stepper(case.mjcf, tol)
    ours.settle(case.settle)
    ours.record = make_record(ours.model, case.steps)
    contenders = {"ours": lambda: ours.advance(case.steps)}
    peer = None if mujoco_name() is None else MujocoPeer(case.mjcf)
    if peer is not None:
        peer.advance(case.settle)
        peer.keep()

        def step_peer() -> None:
            peer.restore()
            peer.advance(case.steps)

        contenders["peer"] = step_peer
    times = {
        who: 1e6 * t / case.steps for who, t in best_times(contenders, rounds=rounds * case.repeat).items()
    }
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
        "nv": ours.model.nv,
        "steps": case.steps,
        "dt": ours.sim.dt,
    }
    if peer is not None:
        peer.restore()
        row |= peer.judge(case.steps, SAMPLES)
    return row
