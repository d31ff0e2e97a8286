"""What a view can show: choices are checked, files stay in their folder, surfaces change as physics says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from helpers import has_one_line
from taction.scenarios import SCENARIOS
from taction.scenarios.block_slope import GRAVITY, sliding_acceleration
from taction.viewer.sources import Choice, Folder, Play, make_plays, offers, open_run, with_surfaces
from urdf_text import inertial, link, robot, shape

BOX = '<box size="0.2 0.2 0.2"/>'
MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body name="ball" pos="0 0 1"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


def wrong(function, *arguments) -> str:
    """The one line of a bad input."""
    with pytest.raises(ta.BadInput) as caught:
        function(*arguments)
    assert has_one_line(caught.value)
    return str(caught.value)


def moved(play: Play, seconds: float) -> ta.Run:
    return play.simulation.run(seconds, **play.start)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "inside"
    (inside / "robots" / "deep").mkdir(parents=True)
    (inside / "box.urdf").write_text(robot(link("box", inertial(), shape(BOX))))
    (inside / "robots" / "ball.xml").write_text(MJCF)
    (inside / "notes.txt").write_text("no model")
    (tmp_path / "secret.urdf").write_text("secret")
    return Folder(inside)


# ----- Choices -------------------------------------------------------------------------------------------


def test_a_choice_is_read():
    given = {"scenario": "box-stack", "dt": "0.002", "friction": 0, "contact": None, "beside": "", "file": ""}
    assert Choice.read(given | {"parameters": {"count": "3"}}) == Choice(
        scenario="box-stack", dt=0.002, friction=0.0, parameters={"count": "3"}
    )


@pytest.mark.parametrize(
    "given",
    [
        {"dt": 0},
        {"dt": "-1"},
        {"dt": "quick"},
        {"dt": math.nan},
        {"friction": -0.1},
        {"friction": [0.1]},
        {"restitution": math.inf},
        {"friction": 10**400},
        {"parameters": ["mu"]},
        {"parameters": "mu"},
    ],
)
def test_wrong_values_of_a_choice(given):
    assert next(iter(given)) in wrong(Choice.read, given)


def test_wrong_keys_of_a_choice():
    assert "unknown setting gravity, weather" in wrong(Choice.read, {"weather": 1, "gravity": 2})
    for given in ([], "scenario", 3, None):
        assert "by name" in wrong(Choice.read, given)


# ----- Folders -------------------------------------------------------------------------------------------


def test_files_are_found(folder):
    assert folder.names() == ["box.urdf", "robots/ball.xml"]
    assert folder.find("robots/ball.xml").read_text() == MJCF
    assert folder.find("robots/../box.urdf") == folder.path / "box.urdf"


@pytest.mark.parametrize(
    "name", ["../secret.urdf", "robots/../../secret.urdf", "/etc/passwd", "out.urdf", "out/secret.urdf"]
)
def test_nothing_outside_is_found(folder, name):
    (folder.path / "out.urdf").symlink_to(folder.path.parent / "secret.urdf")
    (folder.path / "out").symlink_to(folder.path.parent)
    assert "outside of the folder inside" in wrong(folder.find, name)
    assert all("secret" not in name and name != "out.urdf" for name in folder.names())


@pytest.mark.parametrize(
    "name", ["none.urdf", "robots", "robots/deep/none.h5", "box.urdf\0", "x" * 5000, "round"]
)
def test_what_is_no_file(folder, name):
    (folder.path / "round").symlink_to(folder.path / "round")
    assert "no such file" in (text := wrong(folder.find, name)) or "no name of a file" in text
    assert len(text) < 120


def test_a_folder_that_is_none(tmp_path):
    assert "no such folder" in wrong(Folder, tmp_path / "none")


# ----- Surfaces ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_friction_stops_a_block_where_coulomb_says(coordinates):
    """s = v² / (2 μ g); Stewart and Trinkle's scheme is behind by at most v dt."""
    box = ta.free_body("box", ta.Box((0.4, 0.4, 0.1)), mass=1.0, position=(0, 0, 0.05))
    world = ta.World(box, ground=ta.Plane(friction=0.9))
    for mu in (0.2, 0.5):
        painted = with_surfaces(world, mu, None)
        run = ta.Simulation(painted, dt=1e-3, coordinates=coordinates).run(0.6, v=[1.0, 0, 0, 0, 0, 0])
        assert abs(run.q[-1, 0] - 1.0 / (2 * mu * GRAVITY)) <= 1e-3
    assert {m.friction for m in world.materials} != {m.friction for m in painted.materials}


def test_restitution_and_pairs():
    """After the first hit a ball rises with e times its speed; a pair of bodies does as asked, too."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.11))
    pair = ta.ContactPair("world", "ball", friction=0.3, restitution=0.0)
    for pairs in ((), (pair,)):
        world = with_surfaces(ta.World(ball, ground=ta.Plane(friction=0.3), pairs=pairs), None, 0.5)
        run = ta.Simulation(world, dt=1e-3, stepper="moreau").run(0.2, v=[0, 0, -2.0, 0, 0, 0])
        hit = int(np.argmax(run.v[:, 2] > 0))
        assert run.v[hit, 2] == pytest.approx(-0.5 * run.v[hit - 1, 2], rel=0.02)
        assert [p["friction"] for p in world.options["pairs"]] == [0.3] * len(pairs)


# ----- Plays ---------------------------------------------------------------------------------------------


def test_a_scenario_with_parameters_and_a_surface(folder):
    choice = Choice(scenario="block-slope", parameters={"angle": "30"}, friction=0.1, dt=2e-3)
    (play,) = make_plays(choice, folder)
    assert play.simulation.dt == 2e-3 and play.duration == SCENARIOS["block-slope"].duration
    speed = np.linalg.norm(moved(play, 0.2).v[-1, :3])
    assert speed == pytest.approx(0.2 * sliding_acceleration(30.0, 0.1), rel=1e-9)


def test_files_of_robots(folder):
    (box,) = make_plays(Choice(file="box.urdf"), folder)
    assert moved(box, 0.05).q[-1, 2] == pytest.approx(0.1, abs=1e-6)  # it stands on the ground
    (ball,) = make_plays(Choice(file="robots/ball.xml", restitution=0.0), folder)
    assert moved(ball, 0.1).q[-1, 2] == pytest.approx(1.0 - 0.5 * GRAVITY * 0.1**2, abs=3e-3)
    assert ball.simulation.dt == 2e-3 and math.isinf(ball.duration)


def test_two_laws_beside_each_other(folder):
    plays = make_plays(Choice(scenario="block-slope", contact="convex", beside="penalty"), folder)
    assert [play.simulation.contact for play in plays] == ["convex", "penalty"]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice(scenario="none"), "none"),
        (Choice(), "scenario"),
        (Choice(scenario="block-slope", solver="none"), "none"),
        (Choice(scenario="block-slope", contact="none"), "none"),
        (Choice(scenario="block-slope", beside="none"), "none"),
        (Choice(scenario="block-slope", stepper="none"), "none"),
        (Choice(scenario="block-slope", coordinates="none"), "none"),
        (Choice(scenario="block-slope", parameters={"none": 1}), "none"),
        (Choice(scenario="block-slope", parameters={"angle": "steep"}), "angle"),
        (Choice(scenario="block-slope", parameters={"angle": {"a": 1}}), "angle"),
        (Choice(scenario="double-pendulum", contact="exact"), "no contact"),
        (Choice(scenario="double-pendulum", friction=0.1), "no contact"),
        (Choice(file="notes.txt"), "not a robot's file"),
        (Choice(file="none.urdf"), "no such file"),
        (Choice(file="box.urdf", solver="none"), "none"),
        (Choice(file="box.urdf", dt=math.inf), "dt"),
    ],
)
def test_choices_that_do_not_fit(folder, choice, said):
    assert said in wrong(make_plays, choice, folder)


def test_damaged_robots(folder):
    (folder.path / "cut.urdf").write_text('<robot name="r"><link name=')
    (folder.path / "cut.xml").write_text("<mujoco><worldbody>")
    (folder.path / "noise.urdf").write_bytes(bytes(range(256)))
    for name in ("cut.urdf", "cut.xml", "noise.urdf"):
        assert name in wrong(make_plays, Choice(file=name), folder)


def test_a_missing_mesh_is_told(folder):
    mesh = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    (folder.path / "bare.urdf").write_text(robot(link("box", inertial(), shape(BOX), mesh)))
    (play,) = make_plays(Choice(file="bare.urdf"), folder)
    from taction.drawing.parts import parts_of_model

    notes = (*play.words, *parts_of_model(play.simulation.model).notes)
    assert any("none.stl" in note and "\n" not in note for note in notes)
    touching = '<collision><geometry><mesh filename="none.stl"/></geometry></collision>'
    (folder.path / "bad.urdf").write_text(robot(link("box", inertial(), touching)))
    assert "none.stl" in wrong(make_plays, Choice(file="bad.urdf"), folder)


# ----- Runs ----------------------------------------------------------------------------------------------


def test_run_files(folder):
    play = make_plays(Choice(scenario="block-slope"), folder)[0]
    run = moved(play, 0.02)
    run.save(folder.path / "run.npz")
    run.save(folder.path / "run.h5")
    for name in ("run.npz", "run.h5"):
        assert np.array_equal(open_run(name, folder).q, run.q)
        whole = (folder.path / name).read_bytes()
        (folder.path / f"cut-{name}").write_bytes(whole[: len(whole) // 2])
        half = len(whole) // 2
        flipped = bytes(255 - byte for byte in whole[half : half + 2000])
        (folder.path / f"hurt-{name}").write_bytes(whole[:half] + flipped + whole[half + 2000 :])
        for damage in ("cut", "hurt"):
            text = wrong(open_run, f"{damage}-{name}", folder)
            assert f"{damage}-{name}" in text and str(folder.path) not in text
    assert "outside" in wrong(open_run, "../run.h5", folder)


def test_offers_are_plain_data(folder):
    import json

    offered = json.loads(json.dumps(offers(folder), allow_nan=False))
    assert [s["name"] for s in offered["scenarios"]] == list(SCENARIOS)
    assert offered["files"] == folder.names()
