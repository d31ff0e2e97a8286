"""Contact problems of a quadruped, step after step, each solved from the impulses of the step before.

What it measures: the cost of one contact solve inside a simulation loop, where the last step is a good guess.
A quadruped stands on four feet under PD control, is pushed sideways, and its feet slide and stick; every step
of h = 1 ms is a problem of four contacts,
    W = J M⁻¹ Jᵀ,   b = J (v + h v̇),   v̇ the acceleration without contact.
All four contacts are kept throughout: it is the solver that is measured, not the motion.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.dynamics.aba import aba
from taction.dynamics.delassus import ContactPoint, contact_jacobian
from taction.dynamics.factor import factor_mass_matrix
from taction.kinematics.configuration import integrate
from taction.kinematics.forward import forward_kinematics
from taction.robots.quadruped import quadruped
from taction.solvers.auto import Auto

TOLERANCE = 1e-10
STEPS = 200
STEP = 1e-3  # [s]
FRICTION = 0.3
FOOT = (0.0, 0.0, -0.22)  # tip of a foot in its own axes [m]
GAINS = (400.0, 20.0)  # of the joints [N m/rad], [N m s/rad]
PUSH = 0.3  # sideways velocity at the start [m/s]


def standing_steps(count: int) -> list[tuple[ContactProblem, Array]]:
    """Problems of ``count`` successive steps and, for each, the impulses (12,) of the step before."""
    model = quadruped()
    feet = [(k, name) for k, name in enumerate(model.body_names) if name.endswith("foot")]
    q, v = np.array(model.q0), np.zeros(model.nv)
    v[1] = PUSH
    solver, impulse, steps = Auto(tol=TOLERANCE), np.zeros(12), []
    for _ in range(count):
        rotation, position = forward_kinematics(model, q)
        J = contact_jacobian(model, q, [ContactPoint(f, position[k] + rotation[k] @ FOOT) for k, f in feet])
        tau = np.concatenate([np.zeros(6), GAINS[0] * (model.q0 - q)[7:] - GAINS[1] * v[6:]])
        v = v + STEP * aba(model, q, v, tau)
        response = factor_mass_matrix(model, q).solve(J)
        problem = ContactProblem(J @ response.T, J @ v, [Contact(FRICTION)] * 4, name="quadruped")
        steps.append((problem, impulse))
        impulse = solver.solve(problem, impulse).impulse
        v = v + response.T @ impulse
        q = integrate(model, q, v, STEP)
    return steps


def bench_warm_start(*, steps: int = STEPS, rounds: int = 3) -> dict[str, Any]:
    """Time of a solve to a residual of 1e-10 in a compiled loop, over ``steps`` steps of the quadruped [µs].

    Returns:
        Mean, median and longest time from the last step's impulses, mean time from zero, worst certified
        residual, and in how many steps a foot slid.
    """
    solver = Auto(tol=TOLERANCE)
    warm, cold, residual, sliding = [], [], 0.0, 0
    for problem, guess in standing_steps(steps):
        warm.append(1e6 * solver.time_kernel(problem, guess, rounds=rounds))
        cold.append(1e6 * solver.time_kernel(problem, rounds=rounds))
        solution = solver.solve(problem, guess)
        residual = max(residual, certify(problem, solution.impulse).residual)
        speed = np.linalg.norm(solution.velocity.reshape(-1, 3)[:, 1:], axis=1)
        sliding += bool((speed > 1e-6).any())
    return {
        "case": "quadruped, 4 contacts, warm start",
        "unit": "µs",
        "ours": float(np.mean(warm)),
        "median": float(np.median(warm)),
        "longest": float(np.max(warm)),
        "cold": float(np.mean(cold)),
        "residual": residual,
        "steps": steps,
        "sliding_steps": sliding,
    }
