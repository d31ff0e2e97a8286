"""A step with contact as a force against one with exact contact: our own two, on the same scene.

The peer here is exact contact, not another engine: what a force costs where a law would be solved. Each goes
through the states of its own motion, in turns; the best of several rounds counts. The residual is that of the
laws of rigid contact in both, which a force does not keep.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from taction.bench.step import Stepper, law_of, time_steps
from taction.bench.step_models import quadruped_mjcf
from taction.contact.forces.parameters import Penalty, SoftContact
from taction.dynamics.joint_law import JointLaw
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.scenarios.ellipsoids import Ellipsoids
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers.columns import CONTACTS, PENETRATION, RESIDUAL, UNCONVERGED

STEPS, REPEAT = 100, 20  # in one call, and calls per round


class Case(NamedTuple):
    """What is measured: a world under a controller, by contact as a force and by exact contact."""

    name: str
    world: World
    law: JointLaw | None
    contact: SoftContact
    dt: float
    settle: int
    limit: float | None


def soft_cases() -> tuple[Case, ...]:
    """The cases of the bench."""
    robot = compile_model(parse_mjcf(quadruped_mjcf()))
    scenario = Ellipsoids()
    values = scenario.settings()
    dt = robot.spec.timestep or 1e-3
    return (
        Case("quadruped, standing, penalty", World(robot), law_of(robot), Penalty(), dt, 1000, 1.0),
        Case(
            "quadruped, standing, penalty, implicit", World(robot), law_of(robot),
            Penalty(integration="implicit"), dt, 1000, None,
        ),
        Case(
            "two ellipsoids, rolling, compliant", scenario.world(values), None, scenario.law(values), 2e-4,
            4000, None,
        ),
    )  # fmt: skip


def bench_soft(rounds: int, tol: float) -> list[dict[str, Any]]:
    """Rows of `taction bench step`: contact as a force, its peer exact contact."""
    return [compare(case, rounds, tol) for case in soft_cases()]


def compare(case: Case, rounds: int, tol: float) -> dict[str, Any]:
    """The row of a case."""
    sides = {
        who: Stepper(Simulation(case.world, dt=case.dt, tol=tol, contact=contact), case.law)
        for who, contact in (("ours", case.contact), ("peer", "exact"))
    }
    times = time_steps(sides, case.settle, STEPS, rounds * REPEAT)
    step, rigid = sides["ours"].record.step, sides["peer"].record.step
    return {
        "case": case.name,
        "ours": times["ours"],
        "peer": times["peer"],
        "peer_name": "exact contact",
        "unit": "µs",
        "ratio": times["ours"] / times["peer"],
        "limit": case.limit,
        "residual": float(step[:, RESIDUAL].max()),
        "peer_residual": float(rigid[:, RESIDUAL].max()),
        "contacts": float(step[:, CONTACTS].mean()),
        "penetration": float(step[:, PENETRATION].max()),
        "unconverged": int((step[:, UNCONVERGED] > 0).sum()),
        "nv": case.world.model.nv,
        "steps": STEPS,
        "dt": case.dt,
    }
