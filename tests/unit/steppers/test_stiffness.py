"""Stiff joints: implicit Euler's two iterations, and servo gains that are stable at any step."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taction as ta
from taction.robots import QUADRUPED_GAINS
from taction.steppers.implicit_euler import ImplicitEuler
from taction.steppers.semi_implicit_euler import SemiImplicitEuler

# ----- Implicit Euler: fixed point and Newton ------------------------------------------------------------


def light_servo() -> tuple[ta.Model, ta.PD]:
    """An arm of 0.1 kg and 0.3 m held by 70 000 N m/rad: at 0.5 ms, (ωh)² = 5.8."""
    return ta.robots.chain(1, mass=0.1, radius=0.01), ta.PD(kp=70_000.0, kd=1.0, target=[0.4])


def test_fixed_point_alone_fails_where_it_does_not_contract():
    model, servo = light_servo()
    sim = ta.Simulation(model, dt=5e-4, integrator=ImplicitEuler(max_newton=0))
    with pytest.raises(ta.IntegrationError, match=r"at t = 0 s the implicit equations did not converge"):
        sim.run(0.01, q=[0.5], controller=servo)


def test_newton_takes_over_where_the_fixed_point_does_not_contract():
    """Every step satisfies v⁺ = v + h v̇(q⁺, v⁺) to the solver's tolerance, relative to the size of h v̇."""
    model, servo = light_servo()
    h = 5e-4
    run = ta.Simulation(model, dt=h, integrator=ImplicitEuler()).run(0.05, q=[0.5], controller=servo)
    tau = 70_000.0 * (0.4 - run.q) - run.v
    vdot = ta.aba(model, run.q, run.v, tau)
    residual = np.abs(run.v[1:] - run.v[:-1] - h * vdot[1:])
    assert (residual < 1e-9 * (1 + np.abs(h * vdot[1:]))).all()
    np.testing.assert_allclose(run.q[1:], run.q[:-1] + h * run.v[1:], atol=1e-15)
    assert abs(run.q[-1, 0] - 0.4) < 1e-3


def test_fixed_point_and_newton_agree():
    model, start = ta.robots.double_pendulum(), {"q": [1.0, 0.5], "v": [0.5, -1.0]}
    both = [
        ta.Simulation(model, dt=1e-3, integrator=m).run(0.5, **start)
        for m in (ImplicitEuler(), ImplicitEuler(max_iterations=0))
    ]
    np.testing.assert_allclose(both[0].q, both[1].q, atol=1e-9)


# ----- Stiff servos --------------------------------------------------------------------------------------


def quadruped_servo(**options) -> tuple[ta.Model, ta.PD, np.ndarray]:
    """The quadruped in free space, the gains of its table, and a start with all joints off by 0.05 rad."""
    model = ta.robots.quadruped(gravity=(0.0, 0.0, 0.0), **options)
    kp = [
        next(g.kp for part, g in QUADRUPED_GAINS.items() if j.name.endswith(part)) for j in model.joints[1:]
    ]
    q = np.array(model.q0)
    q[7:] += 0.05
    return model, ta.PD(kp=kp, kd=1.0), q


def test_gains_of_the_table_are_stable_when_implicit():
    model, servo, q = quadruped_servo()
    assert np.max(servo.kp) == 70_000.0
    run = ta.Simulation(model, dt=5e-4).run(2.0, q=q, controller=servo)
    off = np.abs(run.q[:, 7:] - model.q0[7:]).max(axis=1)
    assert off[-1] < 2e-3 * off[0]
    assert off.max() < 2 * off[0]


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("dt", [5e-4, 5e-3, 5e-2])
def test_implicit_gains_are_stable_for_every_gain_and_step(scale, dt):
    model, servo, q = quadruped_servo()
    stiff = ta.PD(kp=scale * np.asarray(servo.kp), kd=1.0)
    run = ta.Simulation(model, dt=dt).run(20 * dt, q=q, controller=stiff)
    assert np.abs(run.q[:, 7:] - model.q0[7:]).max() < 0.15


def test_gains_of_the_table_blow_up_when_explicit():
    model, servo, q = quadruped_servo()
    with pytest.raises(ta.IntegrationError, match=r"not finite|no longer finite"):
        ta.Simulation(model, dt=5e-4, integrator="explicit-euler").run(2.0, q=q, controller=servo)


@pytest.mark.parametrize(("factor", "is_stable"), [(0.9, True), (1.1, False)])
def test_explicit_gains_in_semi_implicit_euler_are_stable_up_to_two_over_omega(factor, is_stable):
    """Undamped and in the small, the limit of the step is 2/ω of the fastest mode: 1.43 ms here."""
    model, servo, _ = quadruped_servo(joint_viscous=0.0)
    undamped = ta.PD(kp=servo.kp, kd=0.0)
    K = np.zeros(model.nv)
    K[6:] = servo.kp
    fastest = math.sqrt(
        np.linalg.eigvals(np.linalg.solve(ta.mass_matrix(model, model.q0), np.diag(K))).real.max()
    )
    limit = 2 / fastest
    assert limit == pytest.approx(1.43e-3, rel=0.01)
    q = np.array(model.q0)
    q[7:] += 1e-6
    sim = ta.Simulation(model, dt=factor * limit, integrator=SemiImplicitEuler(implicit_joints=False))
    # beyond the limit the fastest mode grows 2.4-fold per step
    run = sim.run(12 * factor * limit, q=q, controller=undamped)
    grown = np.abs(run.q[:, 7:] - model.q0[7:]).max() / 1e-6
    assert grown < 10 if is_stable else grown > 1e3
