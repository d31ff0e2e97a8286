"""Equations of motion that textbooks print, term by term. The equation is in each docstring; SI units.

Nothing is integrated here, so that all tolerances are rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close, random_direction, random_rotation
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.energy import totals
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.kinematics.configuration import integrate
from taction.math.transform import Transform, quaternion_from_rotation, rotation_about
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model

G = 9.81
CLOSE = 1e-14
DOWN = (0.0, 0.0, -G)
ANGLES = [0.0, 0.3, np.pi / 2, 2.5, -1.2, np.pi]


def body(mass: float, com=(0.0, 0.0, 0.0), moments=(1.0, 1.0, 1.0)) -> Inertia:
    return Inertia(mass, np.array(com, dtype=float), np.diag(np.array(moments, dtype=float)))


# ----- Pendulums ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", ANGLES)
def test_compound_pendulum(angle):
    """(I + m l²) q̈ + m g l sin q = τ, for a body hanging l below a horizontal axis."""
    m, l, I = 2.0, 0.7, 0.3
    b = ModelBuilder(gravity=DOWN)
    b.body("bob", body(m, (0, 0, -l), (I, I, 0.1)))
    b.revolute("hinge", parent="world", child="bob", axis=(0, 1, 0))
    model = b.build()
    weight = m * G * l
    assert_close(mass_matrix(model, [angle]), [[I + m * l * l]], CLOSE)
    assert_close(bias_forces(model, [angle], [3.0]), [weight * np.sin(angle)], CLOSE, weight)
    vdot = (0.4 - weight * np.sin(angle)) / (I + m * l * l)
    assert_close(aba(model, [angle], [3.0], [0.4]), [vdot], CLOSE, 1.0)
    assert_close(totals(model, [angle], [3.0]).energy, 4.5 * (I + m * l * l) - weight * np.cos(angle), CLOSE)


def double_pendulum() -> tuple[Model, tuple[float, ...]]:
    m1, m2, l1, c1, c2, I1, I2 = 1.5, 0.8, 0.9, 0.4, 0.35, 0.11, 0.07
    b = ModelBuilder(gravity=DOWN)
    b.body("upper", body(m1, (0, 0, -c1), (I1, I1, 0.02)))
    b.body("lower", body(m2, (0, 0, -c2), (I2, I2, 0.02)))
    b.revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0))
    b.revolute(
        "elbow", parent="upper", child="lower", axis=(0, 1, 0), pose=Transform(translation=(0, 0, -l1))
    )
    return b.build(), (m1, m2, l1, c1, c2, I1, I2)


@pytest.mark.parametrize("q2", ANGLES)
@pytest.mark.parametrize("q1", [0.0, 0.8, -2.0])
def test_double_pendulum(q1, q2):
    """The two-link arm of every textbook; q₁ from the vertical, q₂ between the links.

    M₁₁ = I₁ + I₂ + m₁ c₁² + m₂ (l₁² + c₂² + 2 l₁ c₂ cos q₂),  M₁₂ = I₂ + m₂ (c₂² + l₁ c₂ cos q₂),
    M₂₂ = I₂ + m₂ c₂²;   h = m₂ l₁ c₂ sin q₂:   C v = h (−2 v₁ v₂ − v₂², v₁²);
    g₁ = (m₁ c₁ + m₂ l₁) g sin q₁ + m₂ c₂ g sin(q₁ + q₂),   g₂ = m₂ c₂ g sin(q₁ + q₂).
    """
    model, (m1, m2, l1, c1, c2, I1, I2) = double_pendulum()
    q, v = np.array([q1, q2]), np.array([1.3, -0.7])
    M12 = I2 + m2 * (c2**2 + l1 * c2 * np.cos(q2))
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(q2))
    h = m2 * l1 * c2 * np.sin(q2)
    coriolis = h * np.array([-2 * v[0] * v[1] - v[1] ** 2, v[0] ** 2])
    lower = m2 * c2 * G * np.sin(q1 + q2)
    weight = np.array([(m1 * c1 + m2 * l1) * G * np.sin(q1) + lower, lower])
    assert_close(mass_matrix(model, q), [[M11, M12], [M12, I2 + m2 * c2**2]], CLOSE)
    assert_close(gravity_forces(model, q), weight, CLOSE, 10.0)
    assert_close(bias_forces(model, q, v), coriolis + weight, CLOSE, 10.0)
    assert_close(lagrangian_form(model, q, v).C @ v, coriolis, CLOSE, 1.0)


@pytest.mark.parametrize("angle", ANGLES)
def test_cart_and_pole(angle):
    """(M + m) ẍ + m l (q̈ cos q − q̇² sin q) = F,   m l cos q ẍ + (I + m l²) q̈ − m g l sin q = 0, pole up."""
    cart, m, l, I = 3.0, 0.5, 0.6, 0.02
    b = ModelBuilder(gravity=DOWN)
    b.body("cart", body(cart))
    b.body("pole", body(m, (0, 0, l), (I, I, 0.01)))
    b.prismatic("track", parent="world", child="cart", axis=(1, 0, 0))
    b.revolute("pin", parent="cart", child="pole", axis=(0, 1, 0))
    model = b.build()
    c, s, rate = np.cos(angle), np.sin(angle), 1.7
    assert_close(mass_matrix(model, [0.2, angle]), [[cart + m, m * l * c], [m * l * c, I + m * l * l]], CLOSE)
    bias = [-m * l * rate**2 * s, -m * G * l * s]
    assert_close(bias_forces(model, [0.2, angle], [0.4, rate]), bias, CLOSE, 1.0)


# ----- Rotating frames ------------------------------------------------------------------------------------


def test_bead_on_a_rotating_arm():
    """m r̈ = m r θ̇² + F,   (I + m r²) θ̈ + 2 m r ṙ θ̇ = τ: centrifugal and Coriolis force."""
    m, I, r = 0.4, 1.2, 0.8
    b = ModelBuilder(gravity=DOWN)
    b.body("arm", body(5.0, moments=(I, I, I)))
    b.body("bead", Inertia(m))
    b.revolute("shaft", parent="world", child="arm")
    b.prismatic("slide", parent="arm", child="bead", axis=(1, 0, 0))
    model = b.build()
    q, v = [2.0, r], np.array([3.0, -0.5])
    assert_close(mass_matrix(model, q), np.diag([I + m * r * r, m]), CLOSE)
    assert_close(bias_forces(model, q, v), [2 * m * r * v[0] * v[1], -m * r * v[0] ** 2], CLOSE)
    expected = [(0.1 - 2 * m * r * v[0] * v[1]) / (I + m * r * r), r * v[0] ** 2 + 0.2 / m]
    assert_close(aba(model, q, v, [0.1, 0.2]), expected, CLOSE)


def test_free_body_seen_from_a_turntable():
    """a = −2 Ω × u − Ω × (Ω × x) − Ω̇ × x: a floating joint inside a tree shows only inertial forces."""
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("table", body(1.0, moments=(1.0, 1.0, 2.0)))
    b.body("puck", body(0.3, moments=(0.1, 0.1, 0.15)))
    b.revolute("shaft", parent="world", child="table")
    b.floating("free", parent="table", child="puck")
    model = b.build()
    rng = np.random.default_rng(0)
    x, u, spin, torque = rng.normal(size=3), rng.normal(size=3), 1.7, 0.6
    q = np.r_[0.9, x, 1, 0, 0, 0]
    v = np.r_[spin, u, 0, 0, -spin]  # the puck does not turn in space
    vdot = aba(model, q, v, np.r_[torque, np.zeros(6)])
    Omega, rate = np.array([0, 0, spin]), np.array([0, 0, torque / 2.0])
    expected = -2 * np.cross(Omega, u) - np.cross(Omega, np.cross(Omega, x)) - np.cross(rate, x)
    assert_close(vdot[0], rate[2], CLOSE)
    assert_close(vdot[1:4], expected, CLOSE)
    assert_close(vdot[4:], -rate, CLOSE)


# ----- Rigid bodies in space ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_euler_equations(seed):
    """I ω̇ + ω × I ω = t in body axes, and m ẍ = m g + f in world axes."""
    rng = np.random.default_rng(seed)
    moments = np.array([0.2, 0.3, 0.4])
    b = ModelBuilder(gravity=DOWN)
    b.body("a", body(1.7, moments=moments))
    b.floating("free", child="a")
    model = b.build()
    q = np.r_[rng.normal(size=3), quaternion_from_rotation(random_rotation(rng))]
    v, f, t = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    w = v[3:]
    expected = np.r_[f / 1.7 + DOWN, (t - np.cross(w, moments * w)) / moments]
    assert_close(aba(model, q, v, np.r_[f, t]), expected, CLOSE)
    inertia = np.diag(np.r_[[1.7] * 3, moments])
    assert_close(mass_matrix(model, q), inertia, CLOSE)


def test_free_body_about_another_point():
    """About a point P of the body, with c from P to the centre of mass: weight turns nothing in free fall.

    ẍ_P = g − ω̇ × c − ω × (ω × c), world axes.
    """
    rng = np.random.default_rng(1)
    c, moments = np.array([0.3, -0.2, 0.5]), np.array([0.2, 0.3, 0.4])
    b = ModelBuilder(gravity=DOWN)
    b.body("a", body(1.7, c, moments))
    b.floating("free", child="a")
    R, w = random_rotation(rng), rng.normal(size=3)
    vdot = aba(b.build(), np.r_[0, 0, 0, quaternion_from_rotation(R)], np.r_[0, 0, 0, w], np.zeros(6))
    turning = -np.cross(w, moments * w) / moments
    expected = np.array(DOWN) - R @ (np.cross(turning, c) + np.cross(w, np.cross(w, c)))
    assert_close(vdot, np.r_[expected, turning], 1e-13)


@pytest.mark.parametrize("tilt", [0.2, 1.0, np.pi / 2, 2.0])
@pytest.mark.parametrize("precession", [0.5, -3.0])
def test_spinning_top(tilt, precession):
    """Steady precession Ω of a heavy symmetric top, tilted by θ, with spin ω₃ about its own axis:
    I₃ ω₃ Ω − I₁ Ω² cos θ = m g l,  I₁ about the tip (Goldstein, Classical Mechanics, Section 5.7).

    ω = Ω Z + s e₃ with ω₃ = Ω cos θ + s, and in body axes ω̇ = −s Ω e₃ × Z.
    """
    m, l, I1, I3 = 0.5, 0.1, 4e-3, 1e-3  # about the centre of mass
    b = ModelBuilder(gravity=DOWN)
    b.body("top", body(m, (0, 0, l), (I1, I1, I3)))
    b.spherical("tip", parent="world", child="top")
    model = b.build()
    about_tip = I1 + m * l * l
    w3 = (m * G * l + about_tip * precession**2 * np.cos(tilt)) / (I3 * precession)
    R = rotation_about([0, 0, 1], 0.7) @ rotation_about([0, 1, 0], tilt) @ rotation_about([0, 0, 1], 1.9)
    Z, e3, s = R.T @ [0, 0, 1], np.array([0, 0, 1]), w3 - precession * np.cos(tilt)
    w = precession * Z + s * e3
    vdot = aba(model, quaternion_from_rotation(R), w, np.zeros(3))
    # ω × I ω is a difference of terms I ω², so rounding is relative to those
    assert_close(vdot, -s * precession * np.cross(e3, Z), CLOSE, w @ w)


def test_fast_top():
    """Ω ≈ m g l / (I₃ ω₃) for fast spin: the slow root, to first order in I₁ Ω cos θ / (I₃ ω₃)."""
    m, l, I1, I3, tilt, w3 = 0.5, 0.1, 4e-3, 1e-3, 0.6, 4000.0
    slow, A, c = m * G * l / (I3 * w3), I1 + m * l * l, np.cos(tilt)
    # the smaller root of A c Ω² − I₃ ω₃ Ω + m g l = 0, without cancellation
    exact = 2 * m * G * l / (I3 * w3 + np.sqrt((I3 * w3) ** 2 - 4 * A * c * m * G * l))
    assert abs(exact / slow - 1) < 2 * A * slow * c / (I3 * w3)
    test_spinning_top(tilt, exact)


def test_gyroscope_in_gimbals():
    """A rotor spinning at s about x, turned at Ω about z, needs the torque I₃ s Ω about y."""
    I1, I3, spin, turning = 0.2, 0.3, 50.0, 0.7
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("outer")
    b.body("inner")
    b.body("rotor", body(2.0, moments=(I3, I1, I1)))
    b.revolute("z", parent="world", child="outer", axis=(0, 0, 1))
    b.revolute("y", parent="outer", child="inner", axis=(0, 1, 0))
    b.revolute("x", parent="inner", child="rotor", axis=(1, 0, 0))
    tau = bias_forces(b.build(), [0.3, 0.0, 0.8], [turning, 0.0, spin])
    assert_close(tau, [0.0, I3 * spin * turning, 0.0], CLOSE)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_principal_axes_are_steady(axis):
    """ω along a principal axis is a steady turn, for the stable axes and for the middle one."""
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("a", body(1.0, moments=(0.2, 0.3, 0.4)))
    b.floating("free", child="a")
    v = np.zeros(6)
    v[3 + axis] = 5.0
    assert not aba(b.build(), [0, 0, 0, 1, 0, 0, 0], v, np.zeros(6)).any()


def test_torque_free_symmetric_top():
    """ω̇₁ = λ ω₂, ω̇₂ = −λ ω₁ with λ = (I₁ − I₃) ω₃ / I₁, the body cone."""
    I1, I3, w = 0.4, 0.6, np.array([0.3, -0.2, 2.0])
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("a", body(1.0, moments=(I1, I1, I3)))
    b.spherical("pivot", parent="world", child="a")
    rate = (I1 - I3) / I1 * w[2]
    assert_close(aba(b.build(), [1, 0, 0, 0], w, np.zeros(3)), [rate * w[1], -rate * w[0], 0], CLOSE)


# ----- Drives ---------------------------------------------------------------------------------------------


def test_rotor_behind_a_gear():
    """A rotor J behind a gear n feels like n² J at the joint: (I + n² J) q̈ = τ."""
    I, J, n = 0.5, 1e-4, 100.0
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("a", body(1.0, moments=(I, I, I)))
    b.revolute("j", parent="world", child="a", armature=n * n * J)
    model = b.build()
    assert_close(aba(model, [0.3], [2.0], [3.0]), [3.0 / (I + n * n * J)], CLOSE)
    assert_close(rnea(model, [0.3], [2.0], [0.7]), [0.7 * (I + n * n * J)], CLOSE)


def test_two_sliders_on_one_line():
    """(m₁ + m₂) ẍ₁ + m₂ ẍ₂ = F₁,  m₂ (ẍ₁ + ẍ₂) = F₂ for a slider that rides on another."""
    m1, m2 = 2.0, 3.0
    axis = tuple(random_direction(np.random.default_rng(0)).tolist())
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("first", Inertia(m1))
    b.body("second", Inertia(m2))
    b.prismatic("x1", parent="world", child="first", axis=axis)
    b.prismatic("x2", parent="first", child="second", axis=axis)
    model = b.build()
    assert_close(mass_matrix(model, [0.1, 0.2]), [[m1 + m2, m2], [m2, m2]], CLOSE)
    assert_close(aba(model, [0.1, 0.2], [1, 2], [1.0, 0.5]), [0.5 / m1, 0.5 / m2 - 0.5 / m1], CLOSE)


def test_ballistic_flight_is_exact_in_the_coordinates():
    """x(t) = x₀ + u t: free flight without gravity keeps u exactly, whatever the body does meanwhile."""
    b = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    b.body("a", body(1.0, moments=(0.2, 0.3, 0.4)))
    b.floating("free", child="a")
    model = b.build()
    q, v = np.array([0.0, 0, 0, 1, 0, 0, 0]), np.array([0.5, -0.25, 1.0, 3.0, 2.0, 1.0])
    for _ in range(64):
        v = v + 0.125 * aba(model, q, v, np.zeros(6))
        q = integrate(model, q, v, 0.125)
    assert q[:3].tolist() == [4.0, -2.0, 8.0]
