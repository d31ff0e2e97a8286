"""What stands, holds or slides by statics, half a percent to either side of its limit; a ball on a turntable.

The limits are closed forms but for the arch's, which is the optimum of a linear program: the least thickness
at which forces exist that hold all stones, none of them pulling and all within their cones.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.steppers.columns import RESIDUAL, UNCONVERGED

G = 9.81
WITHIN, BEYOND = 0.995, 1.005
EITHER = pytest.mark.parametrize("coordinates", ["reduced", "absolute"])


def run_world(world: str, coordinates: str, time: float, *, dt: float = 2e-3, before: str = "", v=None):
    """A run of an MJCF worldbody from rest, or with velocities v (nv,); every step of it is solved."""
    model = compile_model(parse_mjcf(f"<mujoco>{before}<worldbody>{world}</worldbody></mujoco>"))
    run = ta.Simulation(ta.World(model), dt=dt, coordinates=coordinates).run(time, v=v)
    assert run.records is not None
    assert run.records[:, RESIDUAL].max() <= 1e-8 and not run.records[:, UNCONVERGED].any()
    return run


def moved(run) -> float:
    """How far the free body that went farthest has got [m]."""
    first, last = (q.reshape(-1, 7)[:, :3] for q in (run.q[0], run.q[-1]))
    return float(np.abs(last - first).max())


def numbers(*values: float) -> str:
    return " ".join(f"{value:.17g}" for value in values)


# ----- An arch -------------------------------------------------------------------------------------------


STONES, MU = 9, 0.8


def stone(i: int, thickness: float) -> tuple[np.ndarray, float, np.ndarray]:
    """Corners (4, 2), area and centroid of the i-th stone of a half circle of mean radius 1 [m]."""
    low, high = math.pi * i / STONES, math.pi * (i + 1) / STONES
    inner, outer = 1.0 - thickness / 2.0, 1.0 + thickness / 2.0
    p = np.array(
        [[r * math.cos(a), r * math.sin(a)]
         for r, a in ((inner, low), (outer, low), (outer, high), (inner, high))]
    )  # fmt: skip
    following = np.roll(p, -1, axis=0)
    cross = p[:, 0] * following[:, 1] - following[:, 0] * p[:, 1]
    area = cross.sum() / 2.0
    return p, area, ((p + following) * cross[:, None]).sum(axis=0) / (6.0 * area)


def can_stand(thickness: float) -> bool:
    """Whether forces at the corners of the joints, across N ≥ 0 and along |T| ≤ μ N, hold every stone."""
    balance, weight = np.zeros((3 * STONES, 4 * (STONES + 1))), np.zeros(3 * STONES)
    for i in range(STONES):
        corners, area, centre = stone(i, thickness)
        weight[3 * i + 1] = area
        for joint, sign, ends in ((i, 1.0, corners[:2]), (i + 1, -1.0, corners[[3, 2]])):
            angle = math.pi * joint / STONES
            across, along = (-math.sin(angle), math.cos(angle)), (math.cos(angle), math.sin(angle))
            for end, p in enumerate(ends):
                x, y = p - centre
                for k, (fx, fy) in enumerate((across, along)):
                    column = 4 * joint + 2 * end + k
                    balance[3 * i : 3 * i + 3, column] = sign * np.array([fx, fy, x * fy - y * fx])
    forces = np.arange(0, balance.shape[1], 2)
    cones = np.zeros((2 * len(forces), balance.shape[1]))
    for row, n in enumerate(forces):
        cones[2 * row : 2 * row + 2, n], cones[2 * row : 2 * row + 2, n + 1] = -MU, (1.0, -1.0)
    bounds = [(0.0, None), (None, None)] * len(forces)
    nothing = np.zeros(balance.shape[1])
    return linprog(nothing, cones, np.zeros(len(cones)), balance, weight, bounds).status == 0


@pytest.fixture(scope="module")
def least_thickness() -> float:
    low, high = 0.05, 0.2
    assert can_stand(high) and not can_stand(low)
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if can_stand(middle) else (middle, high)
    return high


def arch(thickness: float) -> tuple[str, str]:
    """Meshes and bodies of the stones, 0.3 m deep, on a plane."""
    meshes, bodies = "", f'<geom type="plane" size="5 5 1" friction="{MU}"/>'
    for i in range(STONES):
        corners, _, (x, z) = stone(i, thickness)
        vertices = [(a - x, depth, b - z) for depth in (-0.15, 0.15) for a, b in corners]
        meshes += f'<mesh name="m{i}" vertex="{numbers(*np.ravel(vertices))}"/>'
        bodies += (
            f'<body pos="{numbers(x, 0.0, z)}"><freejoint/>'
            f'<geom type="mesh" mesh="m{i}" density="1000" friction="{MU}"/></body>'
        )
    return f"<asset>{meshes}</asset>", bodies


@EITHER
def test_an_arch_stands_from_the_thickness_that_statics_asks_for(coordinates, least_thickness):
    assert (
        0.09 < least_thickness < 0.11
    )  # 0.1075 of the radius for very many stones, less for few [Heyman1969]
    for share in (WITHIN, BEYOND):
        before, world = arch(share * least_thickness)
        distance = moved(run_world(world, coordinates, 0.4, before=before))
        assert distance < 1e-7 if share == BEYOND else distance > 1e-3


# ----- Blocks --------------------------------------------------------------------------------------------


@EITHER
def test_bricks_hang_over_by_the_harmonic_series(coordinates):
    """The k-th brick from above may stand out by 1/(2k) of its length beyond the one below it."""
    bricks = 6
    for share in (WITHIN, BEYOND):
        place, world = -0.5, '<geom type="box" pos="-0.5 0 -0.05" size="0.5 0.5 0.05" friction="0.6"/>'
        for level in range(bricks):
            place += share / (2 * (bricks - level))
            at = numbers(place, 0.0, 0.05 + 0.1 * level)
            box = '<geom type="box" size="0.5 0.3 0.05" mass="1" friction="0.6"/>'
            world += f'<body pos="{at}"><freejoint/>{box}</body>'
        distance = moved(run_world(world, coordinates, 0.6))
        assert distance < 1e-7 if share == WITHIN else distance > 1e-3


@EITHER
def test_a_groove_holds_by_both_of_its_walls(coordinates):
    """Walls at 45° to the vertical press with 1/√2 of the weight each: friction counts √2-fold."""
    mu, time = 0.3, 0.5
    half = math.sqrt(0.5)
    for share in (WITHIN, BEYOND):
        slope = share * math.atan(mu / half)
        gravity = f'<option gravity="{numbers(-G * math.sin(slope), 0.0, -G * math.cos(slope))}"/>'
        walls = "".join(
            f'<geom type="plane" size="5 5 1" zaxis="{numbers(0.0, side * half, half)}" friction="{mu}"/>'
            for side in (1.0, -1.0)
        )
        box = f'<geom type="box" size="0.3 0.1 0.1" mass="2" friction="{mu}"/>'
        block = f'<body pos="0 0 {0.1 / half:.17g}" euler="45 0 0"><freejoint/>{box}</body>'
        run = run_world(walls + block, coordinates, time, before=gravity)
        slides = 0.5 * G * max(math.sin(slope) - mu / half * math.cos(slope), 0.0) * time**2
        # a step after the start it has the speed of its end: ½ a t dt more
        assert moved(run) == pytest.approx(slides, rel=2e-3 / time + 1e-6, abs=1e-9)


@EITHER
def test_a_ladder_slips_from_its_angle_on(coordinates):
    """A capsule against a wall, friction at both ends: moments about its middle, with ends of radius r."""
    mu, r, a = 0.4, 0.02, 1.0
    limit = brentq(
        lambda s: 2 * mu * a * math.sin(s) - a * (1 - mu**2) * math.cos(s) + mu * (1 + mu) * r, 0.3, 1.4
    )
    for share in (WITHIN, BEYOND):
        cos, sin = math.cos(share * limit), math.sin(share * limit)
        world = (
            f'<geom type="plane" size="5 5 1" friction="{mu}"/>'
            f'<geom type="plane" size="5 5 1" zaxis="-1 0 0" friction="{mu}"/>'
            f'<body pos="{numbers(-r - a * cos, 0.0, r + a * sin)}" zaxis="{numbers(cos, 0.0, sin)}">'
            f'<freejoint/><geom type="capsule" size="{r} {a}" mass="3" friction="{mu}"/></body>'
        )
        distance = moved(run_world(world, coordinates, 0.6, dt=1e-3))
        assert distance < 1e-9 if share == BEYOND else distance > 1e-3


# ----- Rolling on what turns -----------------------------------------------------------------------------


@EITHER
def test_a_ball_on_a_turntable_runs_in_circles(coordinates):
    """A solid ball that rolls on a plate with Ω goes round with 2/7 Ω, wherever it is [Weltner1979]."""
    turning, v, r = 2.0, 0.3, 0.1
    table = (
        '<body><joint type="hinge" axis="0 0 1"/>'
        '<inertial pos="0 0 0" mass="1000" diaginertia="1e6 1e6 2e6"/>'
        '<geom type="cylinder" size="3 0.05" pos="0 0 -0.05" friction="1"/></body>'
    )
    ball = f'<body pos="1 0 {r}"><freejoint/><geom type="sphere" size="{r}" mass="1" friction="1"/></body>'
    spin = (turning * 1.0 - v) / r  # no slip at first, one metre from the axis
    run = run_world(table + ball, coordinates, 3.0, dt=1e-3, v=np.array([turning, 0, v, 0, spin, 0, 0]))
    t, vx, vy = (
        run.t[1:],
        run.v[1:, 1],
        run.v[1:, 2],
    )  # the first step begins without slip, and ends as it was
    heading, speed = np.unwrap(np.arctan2(vy, vx)), np.hypot(vx, vy)
    rate = (heading[-1] - heading[0]) / (t[-1] - t[0])
    assert rate == pytest.approx(2.0 / 7.0 * turning, rel=1e-5)
    np.testing.assert_allclose(speed, v, rtol=2e-3)
