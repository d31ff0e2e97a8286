"""The ready-made robots: sizes, masses and frames of the documents, and identities of their dynamics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robot_cases import contact_spheres, random_state, sphere_centres
from taction import robots
from taction._core.errors import BadInput, ModelError
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.math.transform import quaternion_from_rotation, rotation_from_rpy
from taction.model.model import Model
from taction.model.shapes import Box
from taction.robots import BoxLink

ROBOTS: dict[str, Callable[[], Model]] = {
    "double_pendulum": robots.double_pendulum,
    "double_pendulum_points": lambda: robots.double_pendulum(
        point_masses=True, masses=(2.0, 0.5), lengths=(0.4, 0.9)
    ),
    "chain1": lambda: robots.chain(1),
    "chain12": lambda: robots.chain(12),
    "snake": robots.snake,
    "snake1": lambda: robots.snake(links=1),
    "quadruped": robots.quadruped,
    "quadruped_virtual": lambda: robots.quadruped(base="virtual"),
    "planar_humanoid": robots.planar_humanoid,
    "four_legged": robots.four_legged,
}
# degrees of freedom, bodies, mass [kg], contact spheres
SIZES = {
    "double_pendulum": (2, 2, 2.0, 0),
    "double_pendulum_points": (2, 2, 2.5, 2),
    "chain1": (1, 1, 1.0, 0),
    "chain12": (12, 12, 12.0, 0),
    "snake": (26, 11, 77.0, 22),
    "snake1": (6, 1, 7.0, 2),
    "quadruped": (22, 17, 50.0 + 4 * (4.4 + 3.65 + 3.65), 4),
    "quadruped_virtual": (22, 22, 50.0 + 4 * (4.4 + 3.65 + 3.65), 4),
    "planar_humanoid": (8, 8, 63.0, 4),
    "four_legged": (14, 14, 30.0, 4),
}


@pytest.fixture(scope="module", params=ROBOTS)
def case(request) -> tuple[str, Model]:
    return request.param, ROBOTS[request.param]()


def energies(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Kinetic and potential energy, summed over bodies."""
    poses, motion = forward_kinematics(model, q), body_velocities(model, q, v)
    kinetic = potential = 0.0
    for i, body in enumerate(model.spec.bodies):
        R, c = poses.rotation[i], poses.rotation[i] @ body.inertia.com
        w = motion.angular[i]
        u = motion.linear[i] + np.cross(w, c)
        kinetic += 0.5 * body.inertia.mass * u @ u + 0.5 * w @ R @ body.inertia.matrix @ R.T @ w
        potential -= body.inertia.mass * np.asarray(model.spec.gravity) @ (poses.position[i] + c)
    return kinetic, potential


# ---------------------------------------------------------------------------------------------------------
# every robot


def test_sizes(case):
    name, model = case
    nv, bodies, mass, spheres = SIZES[name]
    assert (model.nv, len(model.body_names), len(contact_spheres(model))) == (nv, bodies, spheres)
    assert model.total_mass == pytest.approx(mass, rel=1e-14)


def test_forward_and_inverse_dynamics_agree(case):
    _, model = case
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, v = random_state(model, rng)
        a = rng.normal(size=model.nv)
        np.testing.assert_allclose(aba(model, q, v, rnea(model, q, v, a)), a, rtol=1e-9, atol=1e-9)


def test_mass_matrix_is_the_kinetic_energy(case):
    _, model = case
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v = random_state(model, rng)
        M = mass_matrix(model, q)
        assert np.linalg.eigvalsh(M)[0] > 0.0
        assert 0.5 * v @ M @ v == pytest.approx(energies(model, q, v)[0], rel=1e-12)


def test_robot_meets_the_ground_but_not_itself(case):
    _, model = case
    shapes = [s for body in model.spec.bodies for s in body.shapes if s.collides]
    assert shapes
    for s in shapes:
        assert s.mask & 1 and not s.mask & s.group and not s.group & 1


@pytest.mark.parametrize(
    "name", ["snake", "quadruped", "quadruped_virtual", "planar_humanoid", "four_legged"]
)
def test_neutral_stance_touches_the_ground(name):
    model = ROBOTS[name]()
    radii = [s.geometry.radius for _, s in contact_spheres(model)]
    np.testing.assert_allclose(sphere_centres(model, model.q0)[:, 2] - radii, 0.0, atol=1e-15)


@pytest.mark.parametrize("name", ["quadruped", "quadruped_virtual", "planar_humanoid", "four_legged"])
def test_every_revolute_leg_joint_has_a_motor(name):
    model = ROBOTS[name]()
    legs = [j.name for j in model.joints if not j.name.startswith(("root", "base"))]
    assert [a.joint for a in model.spec.actuators] == legs
    assert len(legs) == {"planar_humanoid": 6, "four_legged": 12}.get(name, 16)


# ---------------------------------------------------------------------------------------------------------
# pendulum and chain


@pytest.mark.parametrize("point_masses", [False, True])
def test_double_pendulum_equations(point_masses):
    """M, C v and weight with relative angles; r is the mass centre, j the moment of inertia about it."""
    (m1, m2), (l1, l2) = (1.3, 0.6), (0.8, 0.5)
    model = robots.double_pendulum(masses=(m1, m2), lengths=(l1, l2), point_masses=point_masses)
    r1, r2 = (l1, l2) if point_masses else (l1 / 2, l2 / 2)
    j1, j2 = (0.0, 0.0) if point_masses else (m1 * l1**2 / 12, m2 * l2**2 / 12)
    q, v, g = np.array([0.7, -1.1]), np.array([1.2, 0.4]), 9.81
    h = m2 * l1 * r2
    m12 = j2 + m2 * r2**2 + h * np.cos(q[1])
    m11 = j1 + j2 + m1 * r1**2 + m2 * (l1**2 + r2**2) + 2 * h * np.cos(q[1])
    np.testing.assert_allclose(mass_matrix(model, q), [[m11, m12], [m12, j2 + m2 * r2**2]], rtol=1e-13)
    end = m2 * r2 * g * np.sin(q[0] + q[1])
    weight = np.array([(m1 * r1 + m2 * l1) * g * np.sin(q[0]) + end, end])
    spin = h * np.sin(q[1]) * np.array([-v[1] * (2 * v[0] + v[1]), v[0] ** 2])
    np.testing.assert_allclose(gravity_forces(model, q), weight, rtol=1e-12)
    np.testing.assert_allclose(bias_forces(model, q, v), spin + weight, rtol=1e-12)
    elbow = forward_kinematics(model, q).position[model.body("lower")]
    np.testing.assert_allclose(elbow, [-l1 * np.sin(q[0]), 0.0, -l1 * np.cos(q[0])], atol=1e-15)


def test_chain_hangs_and_alternates():
    model = robots.chain(4, length=0.5)
    np.testing.assert_allclose(forward_kinematics(model, model.q0).position[:, 2], [0.0, -0.5, -1.0, -1.5])
    assert [j.axis for j in model.spec.joints] == [(0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    planar = robots.chain(3, axes=[(0, 1, 0)])
    np.testing.assert_allclose(forward_kinematics(planar, [0.3, 0.4, -0.2]).position[:, 1], 0.0, atol=1e-16)


# ---------------------------------------------------------------------------------------------------------
# quadruped


def test_quadruped_tables():
    model = robots.quadruped()
    boxes = {b.name: b.shapes[0].geometry for b in model.spec.bodies if b.shapes}
    assert boxes["torso"] == Box((1.2, 0.6, 0.15))
    for leg in ("right_back", "left_back", "right_front", "left_front"):
        assert boxes[f"{leg}_thigh"] == Box((0.1, 0.05, 0.28))
        assert boxes[f"{leg}_shank"] == Box((0.1, 0.05, 0.27))
        assert boxes[f"{leg}_foot"] == Box((0.1, 0.05, 0.22))
        thigh = model.spec.body(f"{leg}_thigh").inertia
        np.testing.assert_allclose(thigh.com, [0.0, 0.0, -0.14])
        np.testing.assert_allclose(
            np.diag(thigh.matrix),
            4.4 / 12 * np.array([0.05**2 + 0.28**2, 0.1**2 + 0.28**2, 0.1**2 + 0.05**2]),
            rtol=1e-14,
        )
    np.testing.assert_array_equal(model.damping, [0.0] * 6 + [0.3] * 16)
    np.testing.assert_array_equal(model.friction, [0.0] * 6 + [0.55] * 16)
    assert robots.QUADRUPED_GAINS["knee"] == (70000.0, 1.0, 120.0)
    suffixes = {j.name.split("_", 2)[2] for j in model.joints[1:]}
    assert suffixes == set(robots.QUADRUPED_GAINS)
    for _, s in contact_spheres(model):
        assert (s.material.friction, s.material.viscous, s.material.restitution) == ((0.3, 0.3), 0.4, 0.0)


def test_quadruped_stands_on_its_tips():
    """Tips straight below the hips, legs flush with the torso's corners, names on the right side."""
    model = robots.quadruped()
    for (_, s), tip in zip(contact_spheres(model), sphere_centres(model, model.q0), strict=True):
        front = 1 if "front" in s.name else -1
        left = 1 if "left" in s.name else -1
        np.testing.assert_allclose(tip, [0.55 * front, 0.275 * left, 0.02], atol=1e-14)


def test_quadruped_leg_axes():
    """Straight legs: the lateral hip moves the tip along y, all others along x, about the right points."""
    model = robots.quadruped()
    q = model.q0.copy()
    q[7:] = 0.0
    bodies = list(model.body_names)
    for name, lever, axis in (
        ("hip_lateral", 0.75, 1),
        ("hip_ventral", 0.75, 0),
        ("knee", 0.47, 0),
        ("ankle", 0.2, 0),
    ):
        v = np.zeros(22)
        v[model.joint(f"left_front_{name}").v_slice] = 1.0
        motion = body_velocities(model, q, v)
        i = bodies.index("left_front_foot")
        tip = motion.linear[i] + np.cross(motion.angular[i], [0.0, 0.0, -0.2])
        expected = np.zeros(3)
        expected[axis] = lever if axis == 1 else -lever
        np.testing.assert_allclose(tip, expected, atol=1e-14)


def test_body_contacts_add_torso_thighs_and_shanks():
    model = robots.quadruped(body_contacts=True)
    names = {
        b.name for b in model.spec.bodies for s in b.shapes if s.collides and isinstance(s.geometry, Box)
    }
    assert len(names) == 9 and not any("foot" in n for n in names)


def rate_map(rpy: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E with ω_body = E (yaw, pitch, roll)˙ for R = Rz(yaw) Ry(pitch) Rx(roll), and its time derivative.

    Columns: R_xᵀ R_yᵀ e_z, R_xᵀ e_y, e_x.
    """
    (r, p, _), (_, dp, dr) = rpy, rates
    E = np.array(
        [[-np.sin(p), 0, 1], [np.sin(r) * np.cos(p), np.cos(r), 0], [np.cos(r) * np.cos(p), -np.sin(r), 0]]
    )
    dE = np.array(
        [
            [-np.cos(p) * dp, 0, 0],
            [np.cos(r) * np.cos(p) * dr - np.sin(r) * np.sin(p) * dp, -np.sin(r) * dr, 0],
            [-np.sin(r) * np.cos(p) * dr - np.cos(r) * np.sin(p) * dp, -np.cos(r) * dr, 0],
        ]
    )
    return E, dE


def test_floating_base_is_the_virtual_base():
    """[Ayit2015, Section 3.3]: one mechanism, two sets of coordinates.

    With v = T(q) w, w the rates of the virtual joints: M_w = Tᵀ M_v T, τ_w = Tᵀ τ_v, v̇ = T ẇ + Ṫ w.
    """
    floating, virtual = robots.quadruped(), robots.quadruped(base="virtual")
    rng = np.random.default_rng(7)
    for _ in range(20):
        qw, w = np.zeros(22), rng.normal(size=22)
        qw[:3] = rng.normal(size=3)
        rpy = rng.uniform([-3.0, -1.2, -3.0], [3.0, 1.2, 3.0])
        qw[3:6] = rpy[::-1]
        qw[6:] = rng.uniform(-1, 1, 16)
        E, dE = rate_map(rpy, w[3:6])
        T, dT = np.eye(22), np.zeros((22, 22))
        T[3:6, 3:6], dT[3:6, 3:6] = E, dE
        qv = np.concatenate([qw[:3], quaternion_from_rotation(rotation_from_rpy(rpy)), qw[6:]])
        v = T @ w

        for a, b in zip(energies(floating, qv, v), energies(virtual, qw, w), strict=True):
            assert a == pytest.approx(b, rel=1e-12)
        M = mass_matrix(virtual, qw)
        np.testing.assert_allclose(T.T @ mass_matrix(floating, qv) @ T, M, atol=1e-12 * np.abs(M).max())

        tau = rng.normal(scale=30.0, size=22)
        vdot = aba(floating, qv, v, tau)
        wdot = aba(virtual, qw, w, T.T @ tau)
        scale = np.abs(vdot).max()
        assert np.abs(wdot[6:] - vdot[6:]).max() <= 1e-10 * scale
        assert np.abs((T @ wdot + dT @ w)[:6] - vdot[:6]).max() <= 1e-10 * scale


def test_rate_map_derivative():
    rpy, rates, h = np.array([0.4, -0.9, 2.0]), np.array([0.3, 1.1, -0.7]), 1e-6
    E, dE = rate_map(rpy, rates)
    difference = (rate_map(rpy + h * rates[::-1], rates)[0] - rate_map(rpy - h * rates[::-1], rates)[0]) / (
        2 * h
    )
    np.testing.assert_allclose(dE, difference, atol=1e-9)
    turn = (rotation_from_rpy(rpy + h * rates[::-1]) - rotation_from_rpy(rpy - h * rates[::-1])) / (2 * h)
    omega = rotation_from_rpy(rpy).T @ turn
    np.testing.assert_allclose(E @ rates, [omega[2, 1], omega[0, 2], omega[1, 0]], atol=1e-9)


# ---------------------------------------------------------------------------------------------------------
# planar bases


@pytest.mark.parametrize("name", ["planar_humanoid", "four_legged"])
def test_planar_robots_stay_in_their_plane(name):
    model = ROBOTS[name]()
    q, v = random_state(model, np.random.default_rng(8))
    motion = body_velocities(model, q, v)
    np.testing.assert_allclose(motion.linear[:, 1], 0.0, atol=1e-15)
    np.testing.assert_allclose(motion.angular[:, [0, 2]], 0.0, atol=1e-15)
    torso = model.body("torso")
    np.testing.assert_allclose(motion.linear[torso], [v[0], 0.0, v[1]], atol=1e-15)
    np.testing.assert_allclose(motion.angular[torso], 0.0)
    np.testing.assert_allclose(mass_matrix(model, q)[:2, :2], model.total_mass * np.eye(2), atol=1e-12)


def test_humanoid_feet_are_flat_below_the_hips():
    model = robots.planar_humanoid()
    poses = forward_kinematics(model, model.q0)
    for side, y in (("right", -0.09), ("left", 0.09)):
        i = model.body(f"{side}_foot")
        np.testing.assert_allclose(poses.rotation[i], np.eye(3), atol=1e-15)
        np.testing.assert_allclose(poses.position[i], [0.0, y, 0.06], atol=1e-15)
        knee = poses.position[model.body(f"{side}_shank")]
        assert knee[0] > 0.05  # knees bend forward
    heel, toe = sphere_centres(model, model.q0)[:2]
    np.testing.assert_allclose([heel[0], toe[0]], [-0.04, 0.16], atol=1e-15)


# ---------------------------------------------------------------------------------------------------------
# bad parameters


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: robots.double_pendulum(masses=(1.0,)), "two masses"),
        (lambda: robots.double_pendulum(masses=(1.0, 0.0)), "lower mass must be positive"),
        (lambda: robots.double_pendulum(lengths=(-1.0, 1.0)), "upper length must be positive"),
        (lambda: robots.double_pendulum(damping=-1.0), "damping must be finite and at least 0"),
        (lambda: robots.chain(0), "n must be an integer of at least 1"),
        (lambda: robots.chain(2.5), "n must be an integer"),
        (lambda: robots.chain(3, length=0.0), "length must be positive"),
        (lambda: robots.chain(3, axes=[]), "at least one joint axis"),
        (lambda: robots.chain(3, axes=[(0, 0, 0)]), "axis"),
        (lambda: robots.chain(3, armature=np.nan), "armature must be finite"),
        (lambda: robots.snake(links=0), "links must be an integer of at least 1"),
        (lambda: robots.snake(links=True), "links must be an integer"),
        (lambda: robots.snake(length=-0.2), "length must be positive"),
        (lambda: robots.snake(radius=np.inf), "radius must be positive and finite"),
        (lambda: robots.snake(mass="heavy"), "mass must be positive"),
        (lambda: robots.snake(friction=(-0.1, 0.1)), "friction must be non-negative"),
        (lambda: robots.snake(inertia_axial=1.0), "triangle inequality"),
        (lambda: robots.quadruped(base="wheels"), "base must be 'floating' or 'virtual'"),
        (lambda: robots.quadruped(torso=BoxLink(1.2, 0.6, 0.15, 0.0)), "torso mass must be positive"),
        (lambda: robots.quadruped(foot=(0.2, 0.1, 0.1)), "foot needs length, width, height and mass"),
        (lambda: robots.quadruped(joint_coulomb=-1.0), "joint_coulomb must be finite"),
        (lambda: robots.quadruped(restitution=2.0), "restitution must lie in"),
        (lambda: robots.quadruped(bend=1.5), "cannot bring the ankle below the hip"),
        (lambda: robots.four_legged(bend=np.nan), "bend must be a finite number"),
        (lambda: robots.four_legged(tip_radius=0.0), "tip_radius must be positive"),
        (lambda: robots.planar_humanoid(heel=0.5), "foot length minus heel must be positive"),
        (lambda: robots.planar_humanoid(hip_width=0.0), "hip_width must be positive"),
    ],
)
def test_bad_parameters(build, message):
    with pytest.raises(ModelError, match=message):
        build()


def test_bad_gravity():
    with pytest.raises(BadInput, match="gravity"):
        robots.chain(2, gravity=(0.0, 0.0, np.nan))
