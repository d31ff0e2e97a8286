"""Random friction problems from robots in random poses, solved and judged by the thousand.

What it measures: whether a solver can be trusted with whatever a simulation may hand it. Each problem is one
time step of one of our robots: a random pose, velocity, torque, and 1 to 200 contacts in random places, with
    W = J M⁻¹ Jᵀ,   b = J (v + h v̇),   v̇ the acceleration without contact.
W has at most as many independent rows as the robot has freedoms, 2 to 60, so that most problems are
hyperstatic: velocities are determined, impulses are not. No problem contradicts itself: v = 0 makes every
u = J v vanish, which all laws allow.

Drawn at random: robot, pose, velocity, torque, step h = 10⁻⁴ … 10⁻² s; contacts in *pads* of 1 to 8 points
that share a body, a normal and a friction coefficient, as the corners of a foot do; two thirds of the pads on
the world with normals within 60° of the vertical, the rest between two bodies with any normal; friction 0 to
1.5, in a third of the problems orthotropic or different forward and backward; and in a third of them joints
at their limits, dry friction in joints and loops closed by bilateral rows.

Problem i of a seed is ``robot_problem(np.random.default_rng([seed, i]))``, whatever the others are.

Command line: ``python -m taction.bench.robot_problems --count 300 --seed 0 [--json]``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.bench.timing import machine
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, Element, JointFriction, JointLimit
from taction.contact.problem import ContactProblem
from taction.dynamics.aba import aba
from taction.dynamics.delassus import ContactPoint, contact_jacobian
from taction.dynamics.factor import factor_mass_matrix
from taction.kinematics.configuration import random_state
from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.model.spec import WORLD
from taction.robots import chain, double_pendulum, four_legged, planar_humanoid, quadruped, snake
from taction.solvers import make_solver

MOST_CONTACTS = 200
MOST_FRICTION = 1.5
PAD = 8  # most contacts of one pad
SPECIAL = 1.0 / 3.0  # share of problems with unequal friction, and of those with elements other than contacts

ROBOTS: dict[str, Callable[[], Model]] = {
    "quadruped": quadruped,
    "four_legged": four_legged,
    "planar_humanoid": planar_humanoid,
    "double_pendulum": double_pendulum,
    "snake-5": lambda: snake(links=5),
    "snake-11": snake,
    "chain-3": lambda: chain(3),
    "chain-7": lambda: chain(7),
    "chain-60": lambda: chain(60),
}


@cache
def _robot(name: str) -> Model:
    return ROBOTS[name]()


def random_frame(rng: np.random.Generator, tilt: float) -> Array:
    """Right-handed columns (normal, t₁, t₂), (3, 3): normal within ``tilt`` [rad] of z, tangents random."""
    angle, heading, turn = tilt * np.sqrt(rng.random()), *(2.0 * np.pi * rng.random(2))
    n = np.array([np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), np.cos(angle)])
    t = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    t /= np.linalg.norm(t)
    t = np.cos(turn) * t + np.sin(turn) * np.cross(n, t)
    return np.column_stack([n, t, np.cross(n, t)])


def _contact_points(rng: np.random.Generator, model: Model, q: Array, count: int) -> list[list[ContactPoint]]:
    """``count`` contact points in pads."""
    positions = forward_kinematics(model, q).position
    bodies = list(model.body_names)
    pads: list[list[ContactPoint]] = []
    left = count
    while left:
        size = min(left, int(rng.integers(1, PAD + 1)))
        first = int(rng.integers(len(bodies)))
        on_world = len(bodies) == 1 or rng.random() < 2.0 / 3.0
        second = (first + int(rng.integers(1, len(bodies)))) % len(bodies) if not on_world else -1
        frame = random_frame(rng, np.pi / 3.0 if on_world else np.pi)
        centre = positions[first] + rng.uniform(-0.2, 0.2, 3)
        is_flat = rng.random() < 0.8
        spread = rng.uniform(-0.1, 0.1, (size, 3)) * np.array([0.0 if is_flat else 1.0, 1.0, 1.0])
        other = WORLD if on_world else bodies[second]
        pads.append([ContactPoint(bodies[first], centre + frame @ x, frame, other) for x in spread])
        left -= size
    return pads


def _friction(rng: np.random.Generator, *, unequal: bool) -> Contact:
    if rng.random() < 0.1:
        return Contact(0.0)
    if not unequal or rng.random() < 0.3:
        return Contact(rng.uniform(0.0, MOST_FRICTION))
    if rng.random() < 0.5:
        return Contact(*rng.uniform(0.0, MOST_FRICTION, 2))
    return Contact(*rng.uniform(0.0, MOST_FRICTION, 3))


def _joint_rows(rng: np.random.Generator, model: Model, step: float) -> tuple[list[Element], list[Array]]:
    """Limits and dry friction of some joints, with their rows of J."""
    elements: list[Element] = []
    rows: list[Array] = []
    for k in range(model.nv):
        e = np.zeros(model.nv)
        e[k] = 1.0
        if rng.random() < 0.2:
            elements.append(JointLimit())
            rows.append(e if rng.random() < 0.5 else -e)
        if rng.random() < 0.3:
            elements.append(JointFriction(step * 10.0 ** rng.uniform(-2.0, 2.0)))
            rows.append(e)
    return elements, rows


def robot_problem(rng: np.random.Generator, contacts: int | None = None) -> ContactProblem:
    """One time step of a random robot in a random pose as a contact problem.

    Args:
        rng: source of everything random.
        contacts: how many; by default from 1 to `MOST_CONTACTS`, spread evenly on a logarithmic scale.

    Returns:
        The problem under the exact law; its name tells the robot, contacts and freedoms.
    """
    if contacts is None:
        contacts = int(np.exp(rng.uniform(0.0, np.log(MOST_CONTACTS + 1.0))))
    name = list(ROBOTS)[int(rng.integers(len(ROBOTS)))]
    model, step = _robot(name), 10.0 ** rng.uniform(-4.0, -2.0)
    q, v = random_state(model, rng)
    v *= 10.0 ** rng.uniform(-1.0, 1.0)
    v_free = v + step * aba(model, q, v, rng.normal(scale=10.0, size=model.nv) * (rng.random() < 0.5))

    unequal, others = rng.random(2) < SPECIAL
    pads = _contact_points(rng, model, q, contacts)
    points = [point for pad in pads for point in pad]
    elements: list[Element] = []
    for pad in pads:
        elements += [_friction(rng, unequal=bool(unequal))] * len(pad)
    rows = list(contact_jacobian(model, q, points))
    if others:
        extra, more = _joint_rows(rng, model, step)
        elements, rows = elements + extra, rows + more
        loops = [pad[0] for pad in _contact_points(rng, model, q, int(rng.integers(3)))]
        elements += [Bilateral(3)] * len(loops)
        rows += list(contact_jacobian(model, q, loops))
    J = np.array(rows)
    W = J @ factor_mass_matrix(model, q).solve(J).T
    return ContactProblem(W, J @ v_free, elements, name=f"{name}, {contacts} contacts, {model.nv} freedoms")


def bench_robot_problems(
    count: int = 1000, seed: int = 0, solver: str = "auto", tol: float = 1e-9, contacts: int | None = None
) -> dict[str, Any]:
    """Solve ``count`` random problems and judge each.

    Args:
        count: how many problems.
        seed: of all of them; problem i is drawn from ``np.random.default_rng([seed, i])``.
        solver: name of the method.
        tol: a problem counts as solved if its certified residual is at most this.
        contacts: per problem; random by default.

    Returns:
        Counts, worst residual, slowest solve, statuses, and a list of what failed, ready for JSON.
    """
    method = make_solver(solver, tol=tol)
    method.solve(robot_problem(np.random.default_rng(seed), 2))  # compiles
    statuses: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    residuals, seconds = np.empty(count), np.empty(count)
    not_finite = 0
    for i in range(count):
        problem = robot_problem(np.random.default_rng([seed, i]), contacts)
        begin = time.perf_counter()
        solution = method.solve(problem)
        seconds[i] = time.perf_counter() - begin
        statuses[solution.status.label] += 1
        is_finite = bool(np.isfinite(solution.impulse).all())
        not_finite += not is_finite
        residual = certify(problem, solution.impulse).residual if is_finite else np.inf
        residuals[i] = residual if residual < np.inf else np.inf  # an overflow is no residual
        if not (residuals[i] <= tol and solution.converged):
            failures.append(
                {
                    "seed": seed,
                    "index": i,
                    "problem": problem.name,
                    "status": solution.status.label,
                    "residual": float(residuals[i]) if np.isfinite(residuals[i]) else None,
                    "seconds": float(seconds[i]),
                }
            )
    worst, slowest = (int(np.argmax(x)) if count else -1 for x in (residuals, seconds))
    return {
        "bench": "robot problems",
        "machine": machine(),
        "solver": solver,
        "tol": tol,
        "count": count,
        "solved": count - len(failures),
        "not_finite": not_finite,
        "worst_residual": float(residuals[worst]) if count and np.isfinite(residuals[worst]) else None,
        "worst_index": worst,
        "slowest_s": float(seconds[slowest]) if count else 0.0,
        "slowest_index": slowest,
        "mean_s": float(seconds.mean()) if count else 0.0,
        "statuses": dict(statuses),
        "failures": failures,
    }


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m taction.bench.robot_problems", description="Solve and judge random robot problems."
    )
    parser.add_argument("--count", type=int, default=1000, help="problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--tol", type=float, default=1e-9, help="on the certified residual")
    parser.add_argument("--contacts", type=int, help=f"per problem; 1 to {MOST_CONTACTS} by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    result = bench_robot_problems(chosen.count, chosen.seed, chosen.solver, chosen.tol, chosen.contacts)
    if chosen.json:
        print(json.dumps(result))
        return
    statuses = ", ".join(f"{name} {count}" for name, count in result["statuses"].items())
    worst = "not finite" if result["worst_residual"] is None else f"{result['worst_residual']:.1e}"
    print(f"{result['solver']}: {result['solved']} of {result['count']} solved to {result['tol']:g}")
    print(f"  statuses: {statuses}; not finite {result['not_finite']}")
    print(f"  worst residual {worst} at problem {result['worst_index']}")
    print(f"  slowest {result['slowest_s']:.3f} s at problem {result['slowest_index']}", end="")
    print(f", mean {result['mean_s']:.4f} s")
    for failure in result["failures"]:
        print(
            f"  failed {failure['index']}: {failure['problem']}: {failure['status']}, "
            f"residual {failure['residual']}, {failure['seconds']:.2f} s"
        )


if __name__ == "__main__":
    main()
