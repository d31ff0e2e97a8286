"""Scenarios of the snake robot: each passes its check, each check can fail, and the physics is as claimed."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import taction as ta
from scenario_battery import assert_certified, assert_described, assert_sees_certificate, run_short
from taction.control.waves import lateral_undulation
from taction.model.shapes import Plane
from taction.robots.snake import snake
from taction.scenarios import Outcome, get_scenario
from taction.scenarios.snake_motion import link_places, snake_control
from taction.scenarios.snake_obstacles import track_angles
from taction.studies.snake_gait_search import drive_work, search_gaits

# Fast waves and few links: three periods in three seconds
FAST = {"links": 4, "frequency": 360.0, "ramp": 0.3}
SHORT = {
    "snake-drop": {"duration": 1.5, "parameters": {"links": 3}},
    "snake-undulation": {"duration": 3.0, "dt": 4e-3, "parameters": {**FAST, "phase": -70.0}},
    "snake-sidewinding": {"duration": 2.2, "dt": 4e-3, "parameters": {**FAST, "links": 6, "phase": -70.0}},
    "snake-obstacles": {"duration": 2.0, "dt": 4e-3, "parameters": {"frequency": 360.0, "gates": 8}},
    "snake-terrain": {"duration": 3.0, "dt": 4e-3, "parameters": FAST},
}
scenarios = pytest.mark.parametrize("name", SHORT)


run = partial(run_short, SHORT)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {name: run(name) for name in SHORT}


# ----- Every scenario ------------------------------------------------------------------------------------


@scenarios
def test_passes_its_check(name, outcomes):
    assert_certified(outcomes[name])


@scenarios
def test_describes_itself(name):
    assert_described(name)
    assert "links" in {p.name for p in get_scenario(name).parameters}


@scenarios
@pytest.mark.parametrize("stepper", ["moreau", "anitescu-potra"])
def test_passes_with_other_steppers(name, stepper):
    short = {"duration": 0.4, "parameters": {"links": 3}}
    assert get_scenario(name).run(**short, stepper=stepper).violations == []


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("snake-drop", {"bounce_speed": 0.1}, "speed after an impact"),
        ("snake-drop", {"energy_rise": 1e3}, "rise of the energy"),
        ("snake-drop", {"settle_time": 1.4}, "settle time"),
        ("snake-drop", {"landing_time": 1.4}, "landing time"),
        ("snake-drop", {"impact_speed": 2.0}, "speed of the first impact"),
        ("snake-undulation", {"distance": -1.0}, "did not get ahead"),
        ("snake-undulation", {"isotropic_distance": 5.0}, "the way with isotropic"),
        ("snake-undulation", {"isotropic_distance": -5.0}, "the way back with isotropic"),
        ("snake-sidewinding", {"sideways": -1.0}, "wrong side"),
        ("snake-sidewinding", {"flat_sideways": 9.0}, "without lift"),
        ("snake-obstacles", {"free_distance": 99.0}, "pegs are no help"),
        ("snake-obstacles", {"push": -1.0}, "do not push"),
        ("snake-obstacles", {"drag": 1.0}, "the ground pushes"),
        ("snake-terrain", {"deepest": 0.01}, "deepest overlap"),
        ("snake-terrain", {"climb_work": 1e4}, "work of climbing"),
        ("snake-terrain", {"load_error": 0.1}, "error of the load"),
        ("snake-terrain", {"distance": -0.1}, "did not get ahead"),
    ],
)
def test_check_can_fail(name, changes, text, outcomes):
    o = outcomes[name]
    found = get_scenario(name).check({**o.metrics, **changes}, o.run)
    assert len(found) == 1 and text in found[0]


@scenarios
def test_check_sees_a_bad_certificate(name, outcomes):
    assert_sees_certificate(outcomes[name], "contact laws", residual=1e-7)


# ----- Drop ----------------------------------------------------------------------------------------------


def test_the_document_s_drop():
    """11 links, 30°, 0.38 m: √(2 g z) at the first impact, at rest within 2 s, no bounce."""
    o = get_scenario("snake-drop").run(duration=2.5, dt=1e-3)
    assert o.violations == []
    assert o.metrics["impact_speed_exact"] == pytest.approx(math.sqrt(2 * 9.81 * (0.3005 - 0.0508)))
    assert o.metrics["settle_time"] < 2.0 and o.metrics["rebound_height"] < 0.005
    assert o.metrics["energy_rise"] < 1e-9 and o.metrics["joint_gap"] < 1e-10
    assert o.coordinates == "absolute"


def test_links_stay_joined(outcomes):
    """Placements of neighbours meet at their joint, to rounding of positions of a few metres."""
    assert outcomes["snake-drop"].metrics["joint_gap"] < 1e-14


def test_a_start_in_the_ground_is_refused():
    with pytest.raises(ta.BadInput, match=r"snake-drop: link1_rear starts 0\.0303 m inside ground"):
        run("snake-drop", {"height": 0.1})
    with pytest.raises(ta.BadInput, match=r"snake-obstacles: link\d+_skin starts 0\.0\d+ m inside peg"):
        run("snake-obstacles", {"clearance": -0.04})


# ----- Gaits ---------------------------------------------------------------------------------------------


def test_undulation_turns_to_the_side_of_the_offset():
    """Offsets ±ψ are mirror images: so are the paths, until rounding has grown. ψ > 0 turns to +y."""
    short = {"compare": False, "turn": 8.0}
    right, left = (run("snake-undulation", {**short, "turn": s * 8.0}).metrics for s in (1, -1))
    straight = run("snake-undulation", {**short, "turn": 0.0}).metrics
    assert right["heading_drift"] < straight["heading_drift"] < left["heading_drift"]


def test_mirrored_undulation():
    """A → −A mirrors the wave, and with it the path: to the tolerance of the solver after a second."""
    a, b = (
        run("snake-undulation", {"compare": False, "amplitude": s * 30.0}, duration=1.0).metrics
        for s in (1, -1)
    )
    assert a["distance"] == pytest.approx(b["distance"], abs=1e-5)
    assert a["lateral_drift"] == pytest.approx(-b["lateral_drift"], abs=1e-5)


def test_undulation_after_the_drop():
    o = run("snake-undulation", {"after_drop": True, "compare": False})
    assert o.violations == [] and o.run.t[0] == 0.0 and o.metrics["distance"] > 0.0
    first = link_places(o.run).centre[0]
    assert abs(first[0, 0]) > 0.0 and np.abs(first[:, 2] - 0.0795).max() < 1e-3


def test_slipping_backwards_less_is_faster():
    """A snake whose scales resist tail first gets farther than one that slips back as easily."""
    easy = run("snake-undulation", {"compare": False})
    hard = run("snake-undulation", {"compare": False, "backward": 0.2})
    assert hard.metrics["distance"] > easy.metrics["distance"]


def test_sidewinding_to_the_other_side(outcomes):
    one, other = outcomes["snake-sidewinding"].metrics, run("snake-sidewinding", {"lead": -90.0}).metrics
    assert one["lateral_drift"] > 0.1 and other["lateral_drift"] < -0.1
    assert other["sideways"] > 0.1


def test_unreachable_angles_are_refused():
    for name, parameters in (
        ("snake-undulation", {"amplitude": 60.0, "turn": 40.0}),
        ("snake-sidewinding", {"lift": 95.0}),
    ):
        with pytest.raises(ta.BadInput, match="reduce amplitude or offset"):
            run(name, parameters)


def test_the_track_between_pegs_is_the_wave():
    """Neighbouring links of (1) differ by the joint angles of the wave at t = 0, also ahead of the head."""
    p = {"amplitude": 40.0, "phase": -50.0}
    angle = track_angles(p, -20, 11)
    i = np.arange(-20, 11)
    np.testing.assert_allclose(np.diff(angle), np.radians(40) * np.sin((i - 1) * np.radians(-50)), atol=1e-14)
    whole = track_angles(p, 1, 36)  # five waves of 7.2 links
    assert abs(whole.mean()) < 1e-14


@pytest.mark.parametrize("ground", ["flat", "steps"])
def test_other_grounds(ground):
    o = run("snake-terrain", {"ground": ground})
    assert o.violations == [] and o.metrics["distance"] > 0.0


@pytest.mark.parametrize("ground", ["sinus", "field"])
def test_fields(ground):
    o = run("snake-terrain", {"ground": ground}, duration=0.5)
    assert o.violations == [] and o.metrics["deepest"] < 1e-4


def test_downhill_without_friction_is_free_fall_along_the_slope():
    """On ice a snake held straight slides with g sin θ: −½ g sin θ t² along the slope, exact in velocity."""
    o = run("snake-terrain", {"mu_long": 0, "mu_trans": 0, "amplitude": 0, "angle": 20}, duration=0.2)
    a = math.radians(20)
    speed = o.run.v[-1, :3] @ [math.cos(a), 0.0, -math.sin(a)]
    assert speed == pytest.approx(9.81 * math.sin(a) * 0.2, rel=1e-9)


# ----- Search --------------------------------------------------------------------------------------------


def test_search_is_what_single_runs_give():
    """Speeds and works of a batch against those of a run and its ledger."""
    wave = {"amplitude": 0.5, "phase": -0.9, "frequency": 6.0}
    duration, dt = 2.4, 4e-3
    scores = search_gaits(
        amplitudes=[0.3, 0.5], phases=[-0.9], frequencies=[6.0], links=3, duration=duration, dt=dt, threads=1
    )
    assert [(s.amplitude, s.phase, s.frequency) for s in scores] == [(0.3, -0.9, 6.0), (0.5, -0.9, 6.0)]
    assert all(s.status == "done" and s.residual < 1e-8 for s in scores)
    world = ta.World(snake(links=3), ground=Plane(friction=1.0))
    control = snake_control(world.model, lateral_undulation(**wave, ramp=1.0))
    one = ta.Simulation(world, dt=dt, stepper="stewart-trinkle").run(duration, controller=control)
    work = drive_work(control, world.model, control.schedule(one.t[:-1]), one.q, one.v, dt)
    np.testing.assert_allclose(work, one.records[:, 2], rtol=1e-9, atol=1e-12)  # the ledger's actuation
    period = round(2 * math.pi / 6.0 / dt)
    x = link_places(one, most=None).gravity_centre[:, 0]
    assert scores[1].speed == pytest.approx((x[-1 - period] - x[-1]) / (period * dt), rel=1e-9)
    assert scores[1].work == pytest.approx(work[-period:].sum(), rel=1e-9)
    weight = 21.0 * 9.81
    assert scores[1].cost_of_transport == pytest.approx(
        scores[1].work / (weight * abs(scores[1].speed) * period * dt), rel=1e-9
    )


def test_search_refuses():
    grid = {"amplitudes": [0.3], "phases": [-0.9], "frequencies": [6.0], "links": 2}
    for change, text in (
        ({"amplitudes": []}, "no combination"),
        ({"amplitudes": [2.0]}, "reduce amplitude"),
        ({"duration": 0.0}, "duration must be longer"),
        ({"duration": 1e7}, "split the grid"),
    ):
        with pytest.raises(ta.BadInput, match=text):
            search_gaits(**{**grid, **change})
