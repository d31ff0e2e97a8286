"""Integrators: order, energy, closed forms of one step, mimic joints, and how they fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taction as ta
from taction.dynamics.joint_law import passive_law
from taction.model.spec import Mimic
from taction.steppers import INTEGRATORS, make_integrator
from taction.steppers.base import Integrator, StepStatus
from taction.steppers.dormand_prince import DormandPrince
from taction.steppers.explicit_euler import ExplicitEuler
from taction.steppers.implicit_euler import ImplicitEuler, largest
from taction.steppers.plant import make_plant, make_scratch
from taction.steppers.runge_kutta4 import RungeKutta4
from taction.steppers.semi_implicit_euler import SemiImplicitEuler

GRAVITY = 9.81
ROUNDING = 1e-12  # of a few hundred steps of numbers of order one

# Dormand–Prince with a tolerance that accepts every step: the fixed-step method of order 5.
FIXED_STEP = {
    **{name: make_integrator(name) for name in INTEGRATORS},
    "dormand-prince": DormandPrince(rtol=1e6, atol=1e6),
}
REFERENCE = DormandPrince(rtol=1e-14, atol=1e-15)

methods = pytest.mark.parametrize("name", INTEGRATORS)


def observed_orders(errors: list[float]) -> np.ndarray:
    """log2 of the ratios of errors at steps h, h/2, h/4, …"""
    e = np.array(errors)
    return np.log2(e[:-1] / e[1:])


def assert_order(errors: list[float], order: int) -> None:
    """Errors c hᵖ (1 + κh + …) have observed orders p + O(h): the deviation is small and shrinks with h."""
    deviation = np.abs(observed_orders(errors) - order)
    assert deviation[-1] < 0.2, (
        f"errors {errors}: observed orders {observed_orders(errors)}, expected {order}"
    )
    assert deviation[-1] < 0.75 * deviation.max() + 0.01, (
        f"observed orders {observed_orders(errors)} do not settle"
    )


def steps_for(method: Integrator) -> tuple[int, ...]:
    """Numbers of steps for which the leading error term is visible: above rounding, below one."""
    return (400, 800, 1600, 3200) if method.order == 1 else (32, 64, 128, 256)


# ----- Order ----------------------------------------------------------------------------------------------


@methods
def test_order_on_the_double_pendulum(name):
    method, model, T = FIXED_STEP[name], ta.robots.double_pendulum(), 0.8
    start = {"q": [1.0, 0.5], "v": [0.5, -1.0]}
    exact = ta.Simulation(model, dt=T / 64, integrator=REFERENCE).run(T, **start)
    errors = []
    for n in steps_for(method):
        run = ta.Simulation(model, dt=T / n, integrator=method).run(T, **start)
        errors.append(max(np.abs(run.q[-1] - exact.q[-1]).max(), np.abs(run.v[-1] - exact.v[-1]).max()))
    assert_order(errors, method.order)


def rotation(axis, angle: float) -> np.ndarray:
    """Quaternion of a rotation about a unit axis."""
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * np.asarray(axis))])


def product(*quaternions) -> np.ndarray:
    out = np.array([1.0, 0.0, 0.0, 0.0])
    for b in quaternions:
        w, v = out[0], out[1:]
        out = np.array([w * b[0] - v @ b[1:], *(w * b[1:] + b[0] * v + np.cross(v, b[1:]))])
    return out


def disc_on(joint: str) -> ta.Model:
    """A disc of 1 kg and 0.2 m on a ball joint 0.3 m below its centre, or free."""
    height = 0.3 if joint == "spherical" else 0.0
    disc = ta.Inertia.solid(ta.Cylinder(0.2, 0.05), mass=1.0)
    b = ta.ModelBuilder("disc")
    b.body("disc", disc.placed(ta.Transform(translation=np.array([0.0, 0.0, height]))))
    b.joint("joint", joint, parent="world", child="disc")
    return b.build()


def moments(model: ta.Model) -> tuple[float, float]:
    """Moments of inertia across and along the axis, about the joint."""
    inertia = model.spec.bodies[0].inertia.about_origin
    return inertia[0, 0], inertia[2, 2]


@methods
def test_order_on_a_ball_joint(name):
    """Steady precession of the heavy top: R(t) = Rz(Ω t) R(0) Rz((ω3 − Ω cos θ) t)."""
    method, model, T = FIXED_STEP[name], disc_on("spherical"), 0.5
    A, C = moments(model)
    tilt, spin, weight = 0.6, 60.0, GRAVITY * 0.3
    Omega = 2 * weight / (C * spin + math.sqrt((C * spin) ** 2 - 4 * A * weight * math.cos(tilt)))
    start = rotation([0, 1, 0], tilt)
    exact = product(
        rotation([0, 0, 1], Omega * T), start, rotation([0, 0, 1], (spin - Omega * math.cos(tilt)) * T)
    )
    errors = []
    for n in steps_for(method):
        run = ta.Simulation(model, dt=T / n, integrator=method).run(
            T, q=start, v=[-Omega * math.sin(tilt), 0.0, spin]
        )
        errors.append(np.abs(ta.difference(model, exact, run.q[-1])).max())
    assert_order(errors, method.order)


@methods
def test_order_on_a_floating_joint(name):
    """A disc thrown and wobbling: parabola, and R(t) = Rot(L/|L|, |L| t/A) R(0) Rz(ω3 (1 − C/A) t)."""
    method, model, T = FIXED_STEP[name], disc_on("floating"), 0.6
    A, C = moments(model)
    omega, velocity = np.array([1.5, 0.0, 8.0]), np.array([1.0, -2.0, 3.0])
    momentum = np.array([A, A, C]) * omega
    size = np.linalg.norm(momentum)
    turn = product(rotation(momentum / size, size / A * T), rotation([0, 0, 1], omega[2] * (1 - C / A) * T))
    exact = np.concatenate([velocity * T - [0, 0, GRAVITY * T**2 / 2], turn])
    errors = []
    for n in steps_for(method):
        run = ta.Simulation(model, dt=T / n, integrator=method).run(T, v=[*velocity, *omega])
        errors.append(np.abs(ta.difference(model, exact, run.q[-1])[3:]).max())
        # constant acceleration: exact from order 2 on, wrong by g T h/2 in the three Euler methods
        fall = np.abs(run.q[-1, :3] - exact[:3]).max()
        assert fall == pytest.approx(GRAVITY * T * T / n / 2 if method.order == 1 else 0.0, abs=ROUNDING)
    assert_order(errors, method.order)


def test_implicit_euler_on_a_ball_joint():
    """A top at a step where the fixed point does not contract still satisfies the implicit equation."""
    model, h = disc_on("spherical"), 0.02
    sim = ta.Simulation(model, dt=h, integrator=ImplicitEuler())
    run = sim.run(0.4, q=rotation([0, 1, 0], 0.6), v=[0.0, 2.0, 60.0])
    vdot = ta.aba(model, run.q, run.v, np.zeros_like(run.v))
    assert np.abs(run.v[1:] - run.v[:-1] - h * vdot[1:]).max() < 1e-9 * np.abs(run.v).max()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_dormand_prince_meets_its_tolerance(rtol):
    """One call over the whole second: the error follows the tolerance, and the work grows with rtol^(−1/5).

    Errors of inner steps add, and this motion amplifies early ones by less than 100 within a second.
    """
    model, start = ta.robots.double_pendulum(), {"q": [1.0, 0.5], "v": [0.5, -1.0]}
    exact = ta.Simulation(model, dt=1 / 64, integrator=REFERENCE).run(1.0, **start)
    run = ta.Simulation(model, dt=1.0, integrator=DormandPrince(rtol=rtol, atol=rtol)).run(1.0, **start)
    error = np.abs(run.q[-1] - exact.q[-1]).max()
    assert error < 100 * rtol
    assert error > 1e-4 * rtol, "far below the tolerance: steps are wasted"


def test_dormand_prince_makes_small_steps_only_where_needed():
    """An error control that worked with a fixed step would not pass a stiff and a soft spring alike."""
    for stiffness in (1.0, 1e6):
        model = oscillator(stiffness)
        run = ta.Simulation(model, dt=0.1, integrator=DormandPrince()).run(1.0, q=[1.0])
        omega = math.sqrt(stiffness)
        assert run.q[-1, 0] == pytest.approx(math.cos(omega), abs=1e-9 * max(omega, 10))


# ----- One step of a linear oscillator, in closed form ---------------------------------------------------


def oscillator(stiffness: float = 4.0, damping: float = 0.0, mass: float = 1.0) -> ta.Model:
    """A mass on a spring, without gravity."""
    b = ta.ModelBuilder("oscillator", gravity=(0.0, 0.0, 0.0))
    b.body("mass", ta.Inertia.solid(ta.Sphere(0.1), mass=mass))
    b.prismatic("slide", parent="world", child="mass", stiffness=stiffness, damping=damping)
    return b.build()


def energy(run: ta.Run) -> np.ndarray:
    return run.kinetic + run.potential


def polynomial(*coefficients: float):
    """|R(iz)|² of a stability function 1 + z + c₂z² + c₃z³ + …"""
    return lambda z: abs(sum(c * (1j * z) ** k for k, c in enumerate((1.0, 1.0, *coefficients)))) ** 2


# Energy after a step over energy before it, as a function of z = ωh.
AMPLIFICATION = {
    "explicit-euler": lambda z: 1 + z * z,
    "semi-implicit-euler": lambda z: (
        1 / (1 + z * z)
    ),  # with implicit joints: implicit Euler, on a linear spring
    "implicit-euler": lambda z: 1 / (1 + z * z),
    "rk4": polynomial(1 / 2, 1 / 6, 1 / 24),
    "dormand-prince": polynomial(1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 600),
}


@methods
@pytest.mark.parametrize("z", [0.05, 0.5, 1.2])
def test_amplification_per_step(name, z):
    omega = 2.0
    run = ta.Simulation(oscillator(omega**2), dt=z / omega, integrator=FIXED_STEP[name]).run(
        50 * z / omega, q=[0.3], v=[-0.4]
    )
    expected = energy(run)[0] * AMPLIFICATION[name](z) ** np.arange(51)
    np.testing.assert_allclose(energy(run), expected, rtol=1e-10)


@pytest.mark.parametrize("z", [0.05, 0.5, 1.9])
def test_explicit_gains_in_semi_implicit_euler_keep_a_nearby_energy(z):
    """Symplectic Euler conserves ½v² + ½ω²x² − ½hω² x v exactly; an ellipse, so a bound, while ωh < 2."""
    omega = 2.0
    h = z / omega
    run = ta.Simulation(oscillator(omega**2), dt=h, integrator=SemiImplicitEuler(implicit_joints=False)).run(
        1000 * h, q=[0.3], v=[-0.4]
    )
    x, v = run.q[:, 0], run.v[:, 0]
    nearby = 0.5 * v**2 + 0.5 * omega**2 * x**2 - 0.5 * h * omega**2 * x * v
    np.testing.assert_allclose(nearby, nearby[0], rtol=1e-10)


def test_implicit_step_with_damper_in_closed_form():
    """(m + hd + h²k) v⁺ = m v − h k x, x⁺ = x + h v⁺."""
    m, d, k, h, x, v = 2.0, 3.0, 500.0, 0.1, 0.2, -0.7
    for method in (SemiImplicitEuler(), ImplicitEuler()):
        run = ta.Simulation(oscillator(k, d, m), dt=h, integrator=method).run(h, q=[x], v=[v])
        v_new = (m * v - h * k * x) / (m + h * d + h * h * k)
        assert run.v[1, 0] == pytest.approx(v_new, rel=1e-11)
        assert run.q[1, 0] == pytest.approx(x + h * v_new, rel=1e-11)


# ----- Energy of a pendulum ------------------------------------------------------------------------------


def pendulum_energy(method: Integrator, h: float, T: float) -> np.ndarray:
    model = ta.robots.chain(1, length=1.0)
    return energy(ta.Simulation(model, dt=h, integrator=method).run(T, q=[1.0]))


def test_explicit_euler_gains_and_implicit_euler_loses():
    h, T = 2e-3, 20.0
    gained, lost = (pendulum_energy(m, h, T) for m in (ExplicitEuler(), ImplicitEuler()))
    # about h ω² T of the swing's energy, by the amplification of the small pendulum
    swing = 9.81 * 0.5 * (1 - math.cos(1.0))
    expected = h * (1.5 * GRAVITY) * T * swing
    assert 0.5 * expected < gained[-1] - gained[0] < 2 * expected
    assert 0.5 * expected * math.exp(-h * 1.5 * GRAVITY * T) < lost[0] - lost[-1] < swing * (1 + 1e-9)
    # trends, not excursions: every swing ends higher or lower than the one before
    swings = len(gained) // 8
    assert (np.diff(gained[::swings]) > 0).all() and (np.diff(lost[::swings]) < 0).all()


def test_semi_implicit_euler_keeps_its_energy_bounded():
    """Symplectic for a constant mass matrix: the error is O(h), oscillates, and does not grow with time."""
    h = 2e-3
    short, long = (pendulum_energy(SemiImplicitEuler(), h, T) for T in (4.0, 40.0))
    swing = 9.81 * 0.5 * (1 - math.cos(1.0))
    worst = [np.abs(e - e[0]).max() for e in (short, long)]
    assert worst[1] < 1.01 * worst[0]
    assert worst[1] < h * math.sqrt(1.5 * GRAVITY) * swing


def test_higher_orders_lose_energy_at_their_order():
    for method, order in ((RungeKutta4(), 4), (FIXED_STEP["dormand-prince"], 5)):
        drift = [abs(e[-1] - e[0]) for e in (pendulum_energy(method, h, 4.0) for h in (0.1, 0.05, 0.025))]
        assert (observed_orders(drift) > order - 0.3).all(), (method, drift)


# ----- Mimic joints --------------------------------------------------------------------------------------


def coupled_pendulum(k: float, offset: float) -> ta.Model:
    """The double pendulum with q2 = k q1 + offset."""
    spec = ta.robots.double_pendulum().spec
    spec.joint("elbow").mimic = Mimic("shoulder", k, offset)
    b = ta.ModelBuilder("coupled", gravity=(0.0, 0.0, -GRAVITY))
    b.spec.bodies, b.spec.joints = spec.bodies, spec.joints
    return b.build()


def reduced_step(q: float, v: float, h: float, k: float, offset: float) -> tuple[float, float]:
    """One Runge–Kutta step of the single equation that is left, derived by hand for rods of 1 kg and 1 m.

    With n = 1 + k the second link's angle is n q + offset, and φ = −(k q + offset) that between the links:
    I(q) = 4/3 + n²/3 + n cos φ,  I′ = n k sin φ,  V′ = 3/2 g sin q + n g/2 sin(n q + offset),
    q̈ = −(½ I′ q̇² + V′)/I.
    """
    n = 1 + k

    def slope(q: float, v: float) -> np.ndarray:
        phi = -(k * q + offset)
        inertia = 4 / 3 + n * n / 3 + n * math.cos(phi)
        force = 1.5 * GRAVITY * math.sin(q) + 0.5 * n * GRAVITY * math.sin(n * q + offset)
        return np.array([v, -(0.5 * n * k * math.sin(phi) * v * v + force) / inertia])

    y = np.array([q, v])
    k1 = slope(*y)
    k2 = slope(*(y + 0.5 * h * k1))
    k3 = slope(*(y + 0.5 * h * k2))
    k4 = slope(*(y + h * k3))
    return tuple(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))


@pytest.mark.parametrize(("k", "offset"), [(2.0, 0.3), (-1.0, 0.0), (0.5, -1.0)])
def test_mimic_joint_matches_the_reduced_equation(k, offset):
    h, n = 1e-2, 200
    run = ta.Simulation(coupled_pendulum(k, offset), dt=h, integrator="rk4").run(
        n * h, q=[1.0, 99.0], v=[0.5, 99.0]
    )
    y = [(1.0, 0.5)]
    for _ in range(n):
        y.append(reduced_step(*y[-1], h, k, offset))
    expected = np.array(y)
    np.testing.assert_allclose(run.q[:, 0], expected[:, 0], atol=1e-10)
    np.testing.assert_allclose(run.v[:, 0], expected[:, 1], atol=1e-10)


@methods
def test_mimic_joint_follows(name):
    k, offset = 2.0, 0.3
    run = ta.Simulation(coupled_pendulum(k, offset), dt=1e-3, integrator=name).run(1.0, q=[1.0, 0.0])
    np.testing.assert_allclose(run.q[:, 1], k * run.q[:, 0] + offset, atol=ROUNDING)
    np.testing.assert_allclose(run.v[:, 1], k * run.v[:, 0], atol=ROUNDING)
    assert run.certificate.joint_gap is not None and run.certificate.joint_gap < ROUNDING
    assert run.certificate.motion < 1e-12


# ----- What is held, what is carried, what fails ---------------------------------------------------------


@methods
def test_nothing_is_carried_from_step_to_step(name):
    """Twenty steps give the same bits with fresh scratch, poisoned with NaN, in every step."""
    model, method, h = ta.robots.quadruped(), make_integrator(name), 1e-3
    plant = method.prepare(make_plant(model), h)
    tau, shared = np.zeros(model.nv), make_scratch(model)
    q, v = np.array(model.q0), np.full(model.nv, 0.5)
    p, w = q.copy(), v.copy()
    for _ in range(20):
        assert method.step(plant, tau, h, shared, q, v) == StepStatus.OK
        fresh = make_scratch(model)
        for name, array in fresh._asdict().items():
            if name != "links":
                array.fill(np.nan)
        assert method.step(plant, tau, h, fresh, p, w) == StepStatus.OK
        assert np.array_equal(p, q) and np.array_equal(w, v)


@methods
def test_prepare_leaves_the_plant_as_it_was(name):
    model = oscillator(100.0, 2.0)
    plant = make_plant(model)
    method = make_integrator(name)
    prepared = method.prepare(plant, 0.01)
    law = passive_law(model)
    assert plant.tree.armature[0] == 0.0 and prepared.law.K[0] == law.K[0] == 100.0
    if name == "semi-implicit-euler":
        assert prepared.tree.armature[0] == pytest.approx(0.01 * 2.0 + 1e-4 * 100.0)
    else:
        assert prepared is plant


def test_every_status_has_a_message():
    messages = [status.message for status in StepStatus]
    assert len(set(messages)) == len(messages)
    assert all(m and m[0].islower() and not m.endswith(".") for m in messages)


def test_dormand_prince_reports_steps_below_rounding():
    sim = ta.Simulation(oscillator(), dt=0.1, integrator=DormandPrince(rtol=0.0, atol=1e-40))
    with pytest.raises(
        ta.IntegrationError, match=r"oscillator: at t = 0 s the error control asked for steps below"
    ):
        sim.run(0.1, q=[1.0])


def test_a_motion_that_leaves_the_numbers_is_reported_with_its_time():
    sim = ta.Simulation(oscillator(1e8), dt=1.0, integrator="explicit-euler")
    with pytest.raises(ta.IntegrationError, match=r"oscillator: at t = \d+ s the state is no"):
        sim.run(200.0, q=[1.0])


def test_unknown_integrator_lists_the_choices():
    with pytest.raises(
        ta.BadInput, match="unknown integrator 'euler'; choose from explicit-euler, semi-implicit"
    ):
        make_integrator("euler")


def test_every_integrator_says_what_it_is():
    for name, method in INTEGRATORS.items():
        assert method.order >= 1 and method.summary.startswith(f"order {method.order}"), name
        assert isinstance(make_integrator(name), method)
        assert make_integrator(made := method()) is made


def test_the_largest_entry_hides_no_nan():
    """A trial step that overflows must never look like the best one so far."""
    for x, expected in (
        ([1.0, -3.0, 2.0], 3.0),
        ([], 0.0),
        ([np.nan, 1.0], np.inf),
        ([1.0, np.nan], np.inf),
        ([1.0, -np.inf, 2.0], np.inf),
    ):
        assert largest(np.array(x)) == expected
