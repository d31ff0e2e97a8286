"""Walking references: preview control, gaits, footsteps, inverse kinematics, jumps."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from robot_cases import sphere_centres
from taction.control.walking.base import base_pose
from taction.control.walking.footsteps import foot_path, progress
from taction.control.walking.gaits import GAITS, Gait, get_gait
from taction.control.walking.legs import find_legs, in_order
from taction.control.walking.zmp_preview import follow_zmp, preview_gains
from taction.robots.walkers import FILES

ROBOTS = ["document", "go2", "anymal", "solo12"]


@pytest.fixture(scope="module")
def walkers():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.UnsupportedFeatureWarning)
        return {name: ta.robots.walker(name) for name in ROBOTS}


# ----- Preview control ------------------------------------------------------------------------------------


def test_the_zero_moment_point_follows_its_plan_and_stays_there():
    gains = preview_gains(0.8, 5e-3)
    plan = np.where(np.arange(1200)[:, None] < 600, 0.0, [[0.3, -0.1]])
    centre, point = follow_zmp(plan, gains)
    np.testing.assert_allclose(point[-1], plan[-1], atol=1e-6)
    np.testing.assert_allclose(centre[-1], plan[-1], atol=1e-5)
    assert np.abs(centre[400] - plan[400]).max() < 0.02  # hardly yet
    assert centre[590, 0] > 0.05 and point[560, 0] < 0.05  # the body goes first, the point does not
    assert np.abs(point - plan)[650:].max() < 0.02


def test_the_point_is_that_of_the_motion():
    """p = c − (z/g) c̈, with the acceleration from the motion itself."""
    gains, h = preview_gains(0.6, 5e-3), 5e-3
    t = h * np.arange(1600)
    plan = np.where(t > 2.0, 0.1 * np.sin(3.0 * (t - 2.0)) ** 3, 0.0)[:, None]
    centre, point = follow_zmp(plan, gains)
    second = (centre[2:] - 2.0 * centre[1:-1] + centre[:-2]) / h**2
    np.testing.assert_allclose(point[1:-1], centre[1:-1] - 0.6 / 9.81 * second, atol=2e-3)
    assert np.abs(point - plan).max() < 0.02


def test_previews_weigh_as_much_as_the_state():
    """A plan that is everywhere p* asks for no jerk at rest above p*: Σ G_p = −G_x of the position."""
    gains = preview_gains(0.8, 5e-3, horizon=6.0)
    assert gains.preview.sum() == pytest.approx(-gains.state[0], rel=1e-6)
    closed = gains.A - np.outer(gains.B, gains.state)
    assert np.abs(np.linalg.eigvals(closed)).max() < 1.0


@pytest.mark.parametrize("name", ["height", "interval", "gravity", "horizon", "weight"])
def test_preview_of_nothing_is_refused(name):
    with pytest.raises(ta.BadInput, match=f"preview control: {name} must be positive"):
        preview_gains(**{"height": 1.0, "interval": 0.01} | {name: 0.0})


# ----- Gaits and footsteps --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAITS)
def test_legs_carry_when_they_stand_and_only_then(name):
    gait, start = get_gait(name), 0.4
    t = np.linspace(0.0, start + 5 * gait.period, 20001)
    load = np.stack([gait.load(k, t, start) for k in range(4)], axis=1)
    assert load.min() >= 0.0 and load.max() <= 1.0 and load.sum(axis=1).min() > 0.5
    assert (load[t < start - gait.passing - 1e-9] == 1.0).all()
    home = np.array([0.3, 0.2, 0.0])
    for k in range(4):
        z = foot_path(t, home, gait, k, start=start, speed=0.2, ramp=0.0, height=0.1)[:, 2]
        in_air = z > 1e-12
        assert (load[in_air, k] == 0.0).all()
        late = t > start + gait.period
        assert in_air[late].mean() == pytest.approx(1.0 - gait.duty, abs=0.01)


def test_feet_stand_still_and_keep_up_with_the_body():
    gait = get_gait("trot")
    t = np.linspace(0.0, 6.0, 6001)
    foot = foot_path(t, np.array([0.3, 0.2, 0.01]), gait, 0, start=0.5, speed=0.3, ramp=0.5, height=0.07)
    stands = foot[:, 2] == 0.01
    both = stands[1:] & stands[:-1]
    assert np.abs(np.diff(foot, axis=0)[both]).max() < 1e-12
    assert foot[:, 2].max() == pytest.approx(0.08, abs=1e-6)
    body = progress(t, 0.5, 0.3, 0.5)
    assert (
        np.abs(foot[:, 0] - 0.3 - body)[t > 1.5].max() < 0.3 * gait.period
    )  # below its home, a step at most
    speed = np.diff(foot, axis=0) / np.diff(t)[:, None]
    assert np.abs(np.diff(speed, axis=0)).max() < 0.2  # no jumps: it lifts and lands at rest


def test_a_gait_in_which_nobody_stands_is_refused():
    with pytest.raises(ta.BadInput, match=r"trot: duty must be at least 0\.5"):
        Gait("trot", (0.0, 0.5, 0.5, 0.0), period=0.5, duty=0.4)
    with pytest.raises(ta.BadInput, match="period must be positive"):
        Gait("trot", (0.0, 0.5, 0.5, 0.0), period=0.0, duty=0.5)
    with pytest.raises(ta.BadInput, match=r"unknown gait 'gallop'; choose from trot, pace"):
        get_gait("gallop")


# ----- Legs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROBOTS)
def test_angles_bring_feet_where_they_should_be(name, walkers):
    """Against the kinematics of the whole robot, which shares nothing with that of a leg."""
    robot, rng = walkers[name], np.random.default_rng(3)
    model, q = robot.model, robot.stance.copy()
    R, origin = base_pose(model, q)
    size = abs(robot.legs[0].home[2])
    for leg in robot.legs:
        targets = leg.home + 0.08 * size * rng.uniform(-1.0, 1.0, (20, 3)) + [0.0, 0.0, 0.08 * size]
        angles = leg.angles(targets)
        body = model.body_names.index(leg.name)
        link = model.body_link[body]
        for target, angle in zip(targets, angles, strict=True):
            q[leg.coordinates] = angle
            poses = ta.forward_kinematics(model, q)
            axes = poses.rotation[body] @ model.body_rotation[body].T
            foot = poses.position[body] + axes @ (leg.foot - model.body_offset[body])
            np.testing.assert_allclose(foot, origin + R @ target, atol=1e-8)
        assert model.body_link[body] == link


def test_a_leg_of_four_joints_keeps_its_foot_upright(walkers):
    leg = walkers["document"].legs[0]
    angles = leg.angles(leg.home + np.array([[0.05, 0.0, 0.1], [-0.1, 0.0, 0.05]]))
    np.testing.assert_allclose(angles[:, 1:].sum(axis=1), leg.stance[1:].sum(), atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_legs_are_found_in_the_order_of_the_document(name, walkers):
    homes = np.array([leg.home for leg in walkers[name].legs])
    assert (np.sign(homes[:, 0] - homes[:, 0].mean()) == [-1, -1, 1, 1]).all()
    assert (np.sign(homes[:, 1]) == [-1, 1, -1, 1]).all()


def test_what_is_no_quadruped_is_refused(walkers):
    with pytest.raises(ta.BadInput, match="no floating base"):
        find_legs(ta.robots.double_pendulum())
    with pytest.raises(ta.BadInput, match="has no legs"):
        find_legs(ta.free_body("ball", ta.Sphere(0.1), mass=1.0))
    model = walkers["document"].model
    with pytest.raises(ta.BadInput, match="four legs; 2 were found"):
        in_order(model, find_legs(model)[:2])
    with pytest.raises(ta.BadInput, match="is no leg of three or four hinges"):
        find_legs(model, feet=["right_back_thigh"])
    with pytest.raises(ta.BadInput, match="one in each quarter"):
        legs = find_legs(model)
        in_order(model, (legs[0], legs[1], legs[2], legs[2]))


# ----- References -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gait", GAITS)
def test_a_walk_repeats_itself_without_a_seam(gait, walkers):
    robot = walkers["document"]
    plan = ta.walk(robot.model, gait, speed=0.2)
    path, period = plan.path, plan.gait.period
    t = np.linspace(path.end - period, path.end, 50)
    np.testing.assert_allclose(path.at(t)[0], path.at(t + 3 * period)[0], atol=1e-6)
    moved = plan.body[-1] - plan.body[-1 - path.repeated]
    np.testing.assert_allclose(moved, [0.2 * period, 0.0, 0.0], atol=1e-6)
    # where the load passes at once, within 20 ms, the point is late by a few samples
    off = np.abs(plan.zmp - plan.plan).max(axis=1)
    assert off[: int(1.0 / path.interval)].max() < 0.02 and np.median(off) < 0.01
    np.testing.assert_allclose(plan.feet[0].mean(axis=0)[:2], plan.plan[0], atol=1e-12)


def test_a_walk_starts_in_the_stance(walkers):
    robot = walkers["document"]
    plan = ta.walk(robot.model, "trot", speed=0.1)
    start = np.concatenate([leg.stance for leg in robot.legs])
    np.testing.assert_allclose(plan.path(0.0)[0], start, atol=1e-6)
    assert np.abs(plan.path.at([0.02])[1]).max() < 0.05  # and sets off gently
    assert plan.path.joints == robot.joints


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"gait": "gallop"}, "unknown gait 'gallop'"),
        ({"speed": np.nan}, "speed must be finite"),
        ({"speed": 3.0}, "its foot cannot reach"),
        ({"step_height": -0.1}, "step_height must be finite and not negative"),
        ({"period": -1.0}, "period must be positive"),
        ({"duty": 0.2}, "duty must be at least"),
        ({"ramp": -1.0}, "ramp must be finite"),
        ({"feet": ("torso",)}, "legs"),
        ({"feet": ("wing",)}, "no body 'wing'"),
    ],
)
def test_a_walk_that_cannot_be_is_refused(options, text, walkers):
    with pytest.raises(ta.BadInput, match=text):
        ta.walk(walkers["document"].model, **options)


def test_stops_of_joints_are_heeded():
    b = ta.robots.quadruped().spec
    for joint in b.joints:
        if joint.name.endswith("knee"):
            joint.lower, joint.upper = -1.05, 0.0
    from taction.model.compile import compile_model

    with pytest.raises(ta.BadInput, match=r"knee would have to go from .* its stops are at -1\.05 and 0"):
        ta.walk(compile_model(b), "trot", step_height=0.2)


def test_a_jump_crouches_extends_and_comes_back(walkers):
    robot = walkers["document"]
    plan = ta.jump(robot.model, speed=5.0, depth=0.2, rise=0.05)
    assert plan.length[0] == 0.0 and plan.length[-1] == pytest.approx(0.0, abs=1e-12)
    assert plan.length.min() == pytest.approx(-0.2, abs=1e-4) and plan.length.max() <= 0.05 + 1e-12
    rate = np.diff(plan.length) / np.diff(plan.t)
    assert rate.max() == pytest.approx(5.0, rel=0.02)
    assert plan.t[int(rate.argmax())] == pytest.approx(plan.phases["brake"], abs=4e-3)
    names = list(plan.phases)
    assert names == ["stand", "crouch", "rest", "extend", "brake", "draw", "fly", "land", "rise"]


@pytest.mark.parametrize("name", ["speed", "depth", "rise", "interval"])
def test_a_jump_of_nothing_is_refused(name, walkers):
    with pytest.raises(ta.BadInput, match=f"jump: {name} must be positive"):
        ta.jump(walkers["document"].model, **{name: 0.0})
    with pytest.raises(ta.BadInput, match="cannot reach"):
        ta.jump(walkers["document"].model, rise=0.5)


# ----- Robots ---------------------------------------------------------------------------------------------


def test_a_robot_that_is_not_known_is_named():
    with pytest.raises(ta.BadInput, match=r"robot 'spot': choose from document, go1, go2.*or name a URDF"):
        ta.robots.walker("spot")


def test_a_robot_from_a_file_of_ones_own(tmp_path, walkers):
    from taction.robots.files import _robot_folder

    source = _robot_folder() / FILES["a1"][0]
    robot = ta.robots.walker(str(source))
    assert len(robot.joints) == 12 and robot.stance[9] != 0.0  # the pose of the SRDF file beside it
    with pytest.raises(ta.BadInput, match="choose from"):
        ta.robots.walker(str(tmp_path / "none.urdf"))


def test_a_robot_without_a_named_pose_bends_its_knees_and_trots():
    from taction.robots.files import _robot_folder

    robot = ta.robots.walker(str(_robot_folder() / "laikago_description/urdf/laikago.urdf"))
    for leg in robot.legs:
        assert robot.model.lower[leg.dofs[-1]] <= leg.stance[-1] <= robot.model.upper[leg.dofs[-1]]
        foot, _, _, hinges = leg.place(leg.stance[None])
        assert abs(foot[0, 0] - hinges[0, -2, 0]) < 2e-3 and foot[0, 2] < hinges[0, -2, 2]
    world = ta.World(robot.model, ground=ta.Plane(friction=0.5))
    path = ta.walk(world.model, "trot", speed=0.1, q=robot.stance).path
    run = ta.Simulation(world, dt=1e-3).run(
        3.0, q=world.place_on_ground(robot.stance), controller=robot.controller(world.model, path)
    )
    assert run.q[:, 2].min() > 0.7 * run.q[0, 2] and run.q[-1, 0] > 0.02


# ----- Planar walkers -------------------------------------------------------------------------------------

PLANAR = {"humanoid": lambda: ta.robots.planar_humanoid(bend=0.6), "four-legged": ta.robots.four_legged}
planar = pytest.mark.parametrize("name", PLANAR)


def soles(model, walk, k):
    """Centres of all contact spheres at sample k of a walk, in the world [m], shape (n, 3)."""
    q = model.q0.copy()
    for joint, angle in zip(walk.path.joints, walk.path.samples[k], strict=True):
        q[model.joint(joint).iq] = angle
    q[0] = walk.body[k, 0]
    return sphere_centres(model, q)


@planar
def test_feet_of_a_planar_walk_stand_flat_or_swing(name):
    """By forward kinematics of the whole robot: some feet are on the ground and do not move, none below."""
    model = PLANAR[name]()
    walk = ta.planar_walk(model, speed=0.5, start=0.1, ramp=0.3, interval=5e-3)
    places = np.array([soles(model, walk, k) for k in range(len(walk.t))])
    ground = sphere_centres(model, model.q0)[0, 2]
    assert places[:, :, 2].min() > ground - 1e-9
    stands = places[:, :, 2] < ground + 1e-9
    per_foot = places.shape[1] // len(walk.legs)
    assert (stands.sum(axis=1) >= per_foot * len(walk.legs) // 2).all()
    both = stands[1:] & stands[:-1]
    assert np.abs(np.diff(places, axis=0))[both].max() < 1e-8
    assert not stands[walk.t > 1.0].all()  # others swing meanwhile
    assert np.diff(walk.body[:, 0])[-100:] / np.diff(walk.t)[-100:] == pytest.approx(0.5)


@planar
def test_a_planar_walk_starts_at_rest_and_repeats_itself_without_a_seam(name):
    model = PLANAR[name]()
    walk = ta.planar_walk(model, start=0.1, ramp=0.3)
    first, rate = walk.path(0.0)
    np.testing.assert_allclose(first, [model.q0[model.joint(j).iq] for j in walk.path.joints], atol=1e-9)
    assert not rate.any()
    period, end = walk.gait.period, walk.path.end
    t = end + np.linspace(-0.9 * period, 1.7 * period, 300)
    for now, later in zip(walk.path.at(t), walk.path.at(t + period), strict=True):
        np.testing.assert_allclose(now, later, atol=1e-6)
    assert walk.step_length == pytest.approx(0.5 * walk.speed * period)


def test_legs_of_a_planar_walker_are_found_by_their_side():
    assert [leg.name for leg in ta.planar_walk(PLANAR["humanoid"]()).legs] == ["right_foot", "left_foot"]
    legs = find_legs(ta.robots.four_legged())
    assert len(legs) == 4 and all(leg.is_planar for leg in legs)
    assert not any(leg.is_planar for leg in find_legs(ta.robots.quadruped()))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ta.planar_walk(ta.robots.quadruped()), "no planar walker"),
        (lambda: ta.planar_walk(ta.robots.double_pendulum()), "no floating base"),
        (lambda: ta.planar_walk(None), "must be a Model"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), speed=3.0), "cannot reach"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), speed=np.nan), "speed is out of range"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), step_height=-1.0), "step_height is out of range"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), duty=0.3), "duty must be at least 0.5"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), gait=GAITS["trot"]), "gait of 4 legs"),
        (lambda: ta.planar_walk(PLANAR["humanoid"](), interval="fine"), "must be a number"),
    ],
)
def test_a_planar_walk_that_cannot_be_is_refused(call, text):
    with pytest.raises(ta.BadInput, match=text) as found:
        call()
    assert "\n" not in str(found.value)
