"""A hull on a half-space: few points that carry what all its corners would."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

MOST = 8
INERTIA = ta.Inertia.solid(ta.Box((0.2, 0.2, 0.1)), mass=2.0)


def points_of(vertices: np.ndarray, height: float = 0.0, turn: float = 0.0) -> np.ndarray:
    """Contact points (n, 3), by feature, of a hull whose lowest corner is at a height over the ground [m]."""
    body = ta.free_body("foot", ta.Mesh(vertices), mass=2.0, inertia=INERTIA)
    sim = ta.Simulation(ta.World(body, ground=ta.Plane()), dt=1e-3)
    q = [0.0, 0.0, height - vertices[:, 2].min(), np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
    run = sim.run(1e-3, q=q)
    assert list(run.contacts.key[:, 2]) == sorted(set(run.contacts.key[:, 2]))
    return run.contacts.point


def prism(rim: np.ndarray) -> np.ndarray:
    """Corners of a prism of height 0.1 m over points of the plane (n, 2)."""
    return np.vstack([np.column_stack([rim, np.full(len(rim), z)]) for z in (0.0, 0.1)])


def reach(points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How far points (n, ≥ 2) reach along directions (m, 2)."""
    return (points[:, :2] @ directions.T).max(axis=0)


def circle(n: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("n", [9, 16, 33, 100])
def test_a_round_foot_keeps_an_octagon(n):
    points = points_of(prism(0.1 * circle(n)))
    assert len(points) == MOST
    # the widest gap between eight of n corners is less than an eighth of a turn and two corners' spacing
    least = 0.1 * np.cos(np.pi / 8 + 2 * np.pi / n)
    assert (reach(points, circle(72)) >= least).all()


def test_eight_true_corners_are_all_kept_however_fine_the_rim():
    rng = np.random.default_rng(3)
    corners = 0.1 * circle(8) * (1 + 0.05 * rng.uniform(-1, 1, (8, 1)))
    # points just inside the middles of the edges make corners that hardly matter
    middles = 0.5 * (corners + np.roll(corners, 1, axis=0)) * (1 + 1e-5)
    points = points_of(prism(np.vstack([corners, middles])))
    assert len(points) == MOST
    whole, few = reach(corners, circle(72)), reach(points, circle(72))
    assert np.abs(few - whole).max() < 1e-5


def test_points_turn_with_the_foot():
    feet = [points_of(prism(0.1 * circle(40)), turn=turn) for turn in (0.0, 0.7)]
    c, s = np.cos(0.7), np.sin(0.7)
    turned = feet[0][:, :2] @ np.array([[c, s], [-s, c]])
    assert np.abs(turned - feet[1][:, :2]).max() < 1e-12


def test_a_sunken_hull_has_its_lowest_point():
    rng = np.random.default_rng(5)
    ball = rng.normal(size=(200, 3))
    ball *= 0.1 / np.linalg.norm(ball, axis=1)[:, None]
    with pytest.warns(ta.OverlapWarning):
        points = points_of(ball, height=-0.02)
    assert len(points) <= MOST
    assert points[:, 2].min() == pytest.approx(-0.01, abs=1e-9)  # midway between the surfaces


def test_the_load_of_a_round_foot_is_its_weight():
    body = ta.free_body("foot", ta.Mesh(prism(0.1 * circle(60))), mass=2.0, inertia=INERTIA)
    run = ta.Simulation(ta.World(body, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.1)
    load = run.contacts.impulse[run.contacts.step == 99, 0].sum() / 1e-3
    assert load == pytest.approx(2.0 * 9.81, rel=1e-8)
    assert abs(run.q[-1, 2]) < 1e-9 and run.certificate.unconverged_steps == 0
