"""The assembled problem against dense algebra: Jacobian, mass matrix and free velocity."""

import numpy as np
import pytest

import taction as ta
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian


def feet(world, q):
    """Lowest points of the quadruped's foot spheres, in the order of the world's shapes."""
    rotation, position = ta.forward_kinematics(world.model, q)
    points = []
    for shape, body in enumerate(world.shape_body):
        if body >= 0:
            spec = world.model.spec.body(world.model.body_names[body]).shapes
            sphere = next(s for s in spec if isinstance(s.geometry, ta.Sphere) and s.collides)
            centre = position[body] + rotation[body] @ sphere.pose.translation
            points.append((world.model.body_names[body], centre - [0, 0, sphere.geometry.radius], shape))
    return points


@pytest.fixture(scope="module")
def quadruped():
    """A robot on four spherical feet, in a random pose with one foot exactly on the ground."""
    b = ta.ModelBuilder("walker")
    b.body("trunk", ta.Inertia.solid(ta.Box((0.6, 0.3, 0.1)), mass=8.0))
    b.floating("base", child="trunk")
    for k, (x, y) in enumerate(((0.3, 0.15), (0.3, -0.15), (-0.3, 0.15), (-0.3, -0.15))):
        b.body(f"thigh{k}", ta.Inertia.solid(ta.Capsule(0.03, 0.2), mass=1.0))
        b.body(f"shin{k}", ta.Inertia.solid(ta.Capsule(0.02, 0.2), mass=0.5))
        b.shape(f"shin{k}", ta.Sphere(0.03), ta.Transform(translation=(0, 0, -0.2)))
        b.revolute(
            f"hip{k}",
            parent="trunk",
            child=f"thigh{k}",
            axis=(1, 0, 0),
            pose=ta.Transform(translation=(x, y, 0)),
        )
        b.revolute(
            f"knee{k}",
            parent=f"thigh{k}",
            child=f"shin{k}",
            axis=(0, 1, 0),
            pose=ta.Transform(translation=(0, 0, -0.2)),
            damping=0.3,
            stiffness=5.0,
        )
    return ta.World(b.build(), ground=ta.Plane(friction=0.6))


def test_problem_is_that_of_dense_algebra(quadruped):
    model, h = quadruped.model, 1e-3
    rng = np.random.default_rng(1)
    q = np.array(model.q0)
    q[:7] = [0.1, -0.2, 0.43, 0.99, 0.02, 0.03, -0.05]
    q[7:] = rng.uniform(-0.05, 0.05, 8)
    q[3:7] /= np.linalg.norm(q[3:7])
    q[2] -= min(point[2] for _, point, _ in feet(quadruped, q))
    v = 0.01 * rng.normal(size=model.nv)
    sim = ta.Simulation(quadruped, dt=h, stepper="stewart-trinkle")
    problem = sim.problem(sim.state(q, v))

    found = [(body, point) for body, point, _ in feet(quadruped, q) if point[2] < 2e-4]
    assert 1 <= len(found) == len(problem.elements)
    # contacts are stored with the smaller shape first, the ground: its normal points down into the ground
    frame = np.column_stack([[0, 0, -1.0], [1.0, 0, 0], np.cross([0, 0, -1.0], [1.0, 0, 0])])
    points = [
        ContactPoint("world", point - [0, 0, 0.5 * point[2]], frame, other=body) for body, point in found
    ]
    J = contact_jacobian(model, q, points)
    M = mass_matrix(model, q) + np.diag(h * model.damping + h * h * model.stiffness)
    W = J @ np.linalg.solve(M, J.T)
    np.testing.assert_allclose(problem.W, W, rtol=1e-11, atol=1e-12)
    spring = np.zeros(model.nv)
    spring[6:] = model.stiffness[6:] * (model.rest[6:] - q[7:] - h * v[6:])
    force = spring - model.damping * v - ta.bias_forces(model, q, v)
    b = J @ (v + h * np.linalg.solve(M, force))
    b[::3] += [max(point[2], 0.0) / h for _, point in found]
    np.testing.assert_allclose(problem.b, b, rtol=1e-9, atol=1e-11)


def test_without_joint_laws_it_is_the_contact_inertia():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=2.0, position=(0, 0, 0.1))
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3)
    problem = sim.problem(sim.state())
    W, _ = contact_inertia(ball, ball.q0, [ContactPoint("ball", [0, 0, 0])])
    np.testing.assert_allclose(np.diag(problem.W), np.diag(W), rtol=1e-14)
    assert problem.b[0] == pytest.approx(-9.81e-3, rel=1e-12)


def test_chains_of_two_trees_meet_in_one_contact():
    """A contact of two free bodies involves twelve degrees of freedom and couples neighbours only."""
    balls = [ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(3)]
    sim = ta.Simulation(ta.World(*balls, ground=ta.Plane(friction=0.5)), dt=1e-3)
    problem = sim.problem(sim.state())
    W = problem.W
    assert W.shape == (9, 9)
    np.testing.assert_array_equal(W, W.T)  # to the last bit
    normal = W[::3, ::3]
    np.testing.assert_allclose(normal, [[1, -1, 0], [-1, 2, -1], [0, -1, 2]], atol=1e-14)
