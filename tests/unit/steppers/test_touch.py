"""One frictional impact of a ball against a wall and against a ball: the whole change, in closed form."""

import numpy as np
import pytest

import taction as ta

R1, M1 = 0.1, 1.0


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def impulse(normal, velocity, W_n, W_t, e, mu):
    """Newton's law along the normal, Coulomb's across it: isotropic, so that sliding keeps its direction."""
    u = velocity
    un = u @ normal
    ut = u - un * normal
    P = -(1.0 + e) * un / W_n
    slip = np.linalg.norm(ut)
    return P * normal - ut / slip * min(mu * P, slip / W_t)


def spins(run):
    """Velocities at the end, angular ones in the world."""
    v = run.v[-1].copy()
    for b in range(len(v) // 6):
        R = ta.Transform.from_quaternion(quaternion=run.q[-1][7 * b + 3 : 7 * b + 7]).rotation
        v[6 * b + 3 : 6 * b + 6] = R @ v[6 * b + 3 : 6 * b + 6]
    return v


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("stepper", ["stewart-trinkle", "midpoint"])
def test_against_a_wall(rng, stepper, coordinates):
    n = np.array([0.0, 0.0, 1.0])
    for _ in range(20):
        e, mu = rng.uniform(0.01, 1.0, 2)
        v, w = np.append(rng.uniform(-1, 1, 2), -rng.uniform(0.2, 2.0)), rng.uniform(-20, 20, 3)
        gap = rng.uniform(0.002, 0.02)
        surface = ta.Material(mu, restitution=e)
        ball = ta.free_body("b", ta.Sphere(R1), mass=M1, position=(0, 0, R1 + gap), material=surface)
        world = ta.World(ball, ground=ta.Plane(friction=mu, restitution=e), gravity=(0, 0, 0))
        sim = ta.Simulation(world, dt=1e-3, stepper=stepper, coordinates=coordinates)
        run = sim.run(0.02 + gap / abs(v[2]), v=[*v, *w])
        arm = -R1 * n
        J = impulse(n, v + np.cross(w, arm), 1.0 / M1, 1.0 / M1 + 2.5 / M1, e, mu)
        exact = np.append(v + J / M1, w + np.cross(arm, J) / (0.4 * M1 * R1 * R1))
        np.testing.assert_allclose(spins(run), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("stepper", ["stewart-trinkle", "midpoint"])
def test_against_a_ball(rng, stepper, coordinates):
    """Off centre: the normal is that of the instant of touch, which no step falls on."""
    for _ in range(20):
        e, mu = rng.uniform(0.01, 1.0, 2)
        r, m = rng.uniform(0.05, 0.2), rng.uniform(0.5, 3.0)
        v, w1, w2 = np.array([rng.uniform(0.3, 2.0), 0.0, 0.0]), *rng.uniform(-20, 20, (2, 3))
        aside = rng.uniform(-0.8, 0.8) * (R1 + r)
        n = np.array([-np.sqrt((R1 + r) ** 2 - aside**2), aside, 0.0]) / (R1 + r)
        start = (R1 + r) * n - [rng.uniform(0.005, 0.02), 0, 0]
        surface = ta.Material(mu, restitution=e)
        world = ta.World(
            ta.free_body("a", ta.Sphere(R1), mass=M1, position=tuple(start), material=surface),
            ta.free_body("b", ta.Sphere(r), mass=m, material=surface),
            gravity=(0, 0, 0),
        )
        sim = ta.Simulation(world, dt=1e-3, stepper=stepper, coordinates=coordinates)
        run = sim.run(0.1, v=[*v, *w1, 0, 0, 0, *w2])
        a1, a2 = -R1 * n, r * n
        W = 1.0 / M1 + 1.0 / m
        J = impulse(n, v + np.cross(w1, a1) - np.cross(w2, a2), W, 3.5 * W, e, mu)
        exact = [
            *(v + J / M1), *(w1 + np.cross(a1, J) / (0.4 * M1 * R1 * R1)),
            *(-J / m), *(w2 - np.cross(a2, J) / (0.4 * m * r * r)),
        ]  # fmt: skip
        np.testing.assert_allclose(spins(run), exact, rtol=0, atol=1e-12)


def test_a_body_is_touched_on_its_own_surface():
    """Half a millimetre off a wall, the arm of a ball is its radius: friction turns it by the closed form."""
    ball = ta.free_body(
        "b", ta.Sphere(R1), mass=M1, position=(0, 0, R1 + 5e-4), material=ta.Material(0.1, restitution=0.5)
    )
    world = ta.World(ball, ground=ta.Plane(friction=0.1, restitution=0.5), gravity=(0, 0, 0))
    run = ta.Simulation(world, dt=1e-3).run(1e-3, v=[1.0, 0, -1.0, 0, 0, 0])
    np.testing.assert_allclose(run.v[-1], [0.85, 0, 0.5, 0, 0.15 / (0.4 * R1), 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_corners_of_a_foot_that_is_hardly_tilted_stick_together(coordinates):
    """Points 0.4 µm apart in height would make a foot that turns creep by 1e-9: they are taken as level."""
    box = ta.free_body("b", ta.Box((0.2, 0.2, 0.1)), mass=1.0, material=ta.Material(0.5))
    sim = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.5)), dt=1e-3, coordinates=coordinates)
    angle = 2e-6
    q = [0.0, 0.0, 0.05 + 0.1 * angle, np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0]
    problem = sim.problem(sim.state(q=q))
    assert problem.W.shape == (12, 12)
    sizes = np.linalg.svd(problem.W, compute_uv=False)
    assert sizes[5] > 1e-3 * sizes[0] and sizes[6] <= 1e-15 * sizes[0]
