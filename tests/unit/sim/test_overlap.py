"""Starts with overlaps: named, pushed apart at a bounded speed, judged; and the limit on contacts."""

import numpy as np
import pytest

import taction as ta
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.dispatch import SCHEMES

H, G, R = 1e-3, 9.81, 0.1
BOTH = ("reduced", "absolute")


def world(depth, shape=None):
    body = ta.free_body("body", shape or ta.Box((2 * R, 2 * R, 2 * R)), mass=1.0, position=(0, 0, R - depth))
    return ta.World(body, ground=ta.Plane(friction=0.5))


def gripper(overlap=0.02, **joint):
    """Two fingers on hinges 0.2 m apart, 0.3 m long, whose tips overlap when they point straight up."""
    b = ta.ModelBuilder("gripper")
    for name, x in (("left", -0.05), ("right", 0.05)):
        shape = ta.Shape(
            ta.Sphere(0.05 + overlap / 2), ta.Transform(translation=(0, 0, 0.3)), name=f"{name} tip"
        )
        b.body(name, ta.Inertia(0.2, np.array([0, 0, 0.15]), 2e-3 * np.eye(3)), [shape])
        pose = ta.Transform(translation=(x, 0, 0))
        b.revolute(f"{name} hinge", parent="world", child=name, axis=(0, 1, 0), pose=pose, **joint)
    return ta.World(b.build(), gravity=(0, 0, 0))


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("depth", [5e-3, 5e-2, 5.0])
def test_a_body_in_the_ground_comes_out_at_the_bounded_speed(depth, coordinates):
    """1 m/s by default: a millimetre per step, half the slop short. Gravity's work m g d is all there is."""
    sim = ta.Simulation(world(depth), dt=H, coordinates=coordinates)
    with pytest.warns(ta.OverlapWarning, match=f"ground and body by {depth:.3g} m"):
        run = sim.run(depth + 5 * H)
    rise = np.diff(run.q[:, 2])
    assert rise.max() <= 1.0 * H and run.certificate.pushed <= 1.0 * H
    steps = round(depth / H)
    np.testing.assert_allclose(rise[: steps - 1], H, atol=SLOP)
    assert abs(run.q[-1, 2] - R) <= 2 * SLOP
    assert run.certificate.turned <= 1e-6
    assert run.certificate.left == pytest.approx(depth - H, abs=2 * SLOP)
    assert run.records[-1, 20:23].max() == 0.0  # done
    assert run.kinetic.max() <= 1e-20
    # the sum of many steps is short of m g d by the slop that contacts keep, and by rounding
    assert run.energy.correction == pytest.approx(G * depth, abs=2 * SLOP * G + 1e-9 * depth)
    assert abs(run.energy.remainder) <= 1e-11


@pytest.mark.parametrize("stepper", SCHEMES)
def test_every_scheme_has_the_bound(stepper):
    coordinates = "absolute" if SCHEMES[stepper].is_projected else "reduced"
    sim = ta.Simulation(world(5e-3), dt=H, stepper=stepper, coordinates=coordinates, push_speed=0.5)
    with pytest.warns(ta.OverlapWarning):
        run = sim.run(0.02)
    assert run.certificate.pushed <= 0.5 * H * (1 + 1e-12)
    assert abs(run.q[-1, 2] - R) <= 2 * SLOP
    np.testing.assert_allclose(np.diff(run.q[:8, 2]), 0.5 * H, atol=SLOP)


@pytest.mark.parametrize("coordinates", BOTH)
def test_links_of_a_robot_are_turned_by_a_bounded_angle(coordinates):
    """Tips 0.3 m from their hinges, 20 mm one inside the other: 1 mm per step between them, half by each."""
    sim = ta.Simulation(gripper(), dt=H, coordinates=coordinates)
    with pytest.warns(ta.OverlapWarning, match="left tip of left and right tip of right by 0.02 m"):
        run = sim.run(0.04)
    np.testing.assert_allclose(np.abs(np.diff(run.q[:10], axis=0)), 0.5e-3 / 0.3, rtol=0.01)
    assert run.certificate.turned <= 1e-2
    assert run.records[-1, 20:23].max() == 0.0
    apart = 0.1 + 0.3 * (np.sin(run.q[-1, 1]) - np.sin(run.q[-1, 0]))
    assert apart == pytest.approx(0.12, abs=2 * SLOP)  # the tips have the same height, by symmetry


@pytest.mark.parametrize("coordinates", BOTH)
def test_the_angle_is_the_bound_where_the_lever_is_short(coordinates):
    """A millimetre of both would take 1.7 mrad of each; at 1 rad/s a step has one."""
    sim = ta.Simulation(gripper(), dt=H, coordinates=coordinates, turn_speed=1.0)
    with pytest.warns(ta.OverlapWarning):
        run = sim.run(0.2)
    assert run.certificate.turned <= 1.0 * H * (1 + 1e-12)
    assert np.abs(np.diff(run.q, axis=0)).max() <= 1.0 * H * (1 + 1e-12)
    assert run.records[-1, 22] == 0.0


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau"])
def test_joints_are_not_pushed_through_their_stops(coordinates, stepper):
    """Stops 2.5 mrad away leave the fingers overlapping; half the way is 0.033 rad each."""
    sim = ta.Simulation(gripper(lower=-2.5e-3, upper=2.5e-3), dt=H, coordinates=coordinates, stepper=stepper)
    with pytest.warns(ta.OverlapWarning):
        run = sim.run(0.02)
    assert np.abs(run.q).max() <= 2.5e-3 + SLOP
    assert run.records[-1, 22] == pytest.approx(0.02 - 2 * 0.3 * np.sin(2.5e-3), abs=1e-6)
    assert np.abs(run.v).max() <= 1e-12


def test_a_joint_without_a_lever_is_left_alone_and_does_not_hold_up_others():
    """A ball around the axis of its own hinge, 1e-5 m off it and 20 mm inside a post; a finger beside it."""
    b = ta.ModelBuilder("knob")
    ball = ta.Shape(ta.Sphere(0.05), ta.Transform(translation=(1e-5, 0, 0)), name="knob")
    tip = ta.Shape(ta.Sphere(0.05), ta.Transform(translation=(0, 0, 0.3)), name="tip")
    b.body("knob", ta.Inertia(0.2, np.zeros(3), 2e-3 * np.eye(3)), [ball])
    b.revolute("axis", parent="world", child="knob", axis=(0, 1, 0))
    b.body("finger", ta.Inertia(0.2, np.array([0, 0, 0.15]), 2e-3 * np.eye(3)), [tip])
    b.revolute(
        "hinge", parent="knob", child="finger", axis=(0, 1, 0), pose=ta.Transform(translation=(0, 0.3, 0))
    )
    post = ta.Shape(ta.Sphere(0.05), ta.Transform(translation=(0, 0, -0.08)), name="post")
    wall = ta.Shape(ta.Sphere(0.05), ta.Transform(translation=(-0.095, 0.3, 0.3)), name="wall")
    sim = ta.Simulation(ta.World(b.build(), ground=[post, wall], gravity=(0, 0, 0)), dt=H)
    with pytest.warns(ta.OverlapWarning, match="post and knob by 0.02 m; wall and tip of finger by 0.005 m"):
        run = sim.run(0.05)
    # a linearised displacement would turn the knob by 20 mm / 0.01 mm = 2000 rad
    assert run.certificate.turned <= 1e-2
    assert abs(run.q[-1, 0]) <= 0.05
    shapes = [run.world.shape_names.index(name) for name in ("wall", "tip")]
    last = (run.contacts.step == run.steps - 1) & (run.contacts.key[:, :2] == shapes).all(axis=1)
    assert (run.contacts.gap[last] >= -2 * SLOP).all()


def test_a_strict_run_raises_before_its_first_step_and_at_a_step():
    with pytest.raises(ta.CertificateError, match=r"start: ground and body by 0\.005 m; a step repairs"):
        ta.Simulation(world(5e-3), dt=H, strict=True).run(0.01)
    with pytest.warns(ta.OverlapWarning):  # what a step repairs is a word worth, no more
        ta.Simulation(world(0.5e-3), dt=H, strict=True).run(0.01)
    with pytest.warns(ta.OverlapWarning):
        inside = ta.Simulation(world(5e-3), dt=H).run(2 * H).state
    with pytest.raises(ta.CertificateError, match=r"t = 0\.002 s an overlap of 0\.002 m is left"):
        ta.Simulation(world(5e-3), dt=H, strict=True).run(0.01, state=inside)


def test_a_clear_start_says_nothing_and_changes_nothing():
    sim = ta.Simulation(world(0.0), dt=H, strict=True)
    assert sim.overlaps() == []
    slow = ta.Simulation(world(0.0), dt=H, push_speed=1e-3, turn_speed=1e-3)
    assert sim.run(0.1).hashes == slow.run(0.1).hashes
    (found,) = ta.Simulation(world(0.03), dt=H).overlaps()
    assert (found.shape, found.other, found.body, found.other_body) == ("ground", "body", "world", "body")
    assert found.depth == pytest.approx(0.03, abs=1e-15)


@pytest.mark.parametrize("coordinates", BOTH)
def test_too_many_contacts_are_a_typed_error(coordinates):
    """Four corners of a box on the ground, and a limit of three; four are enough."""
    made = {"dt": H, "coordinates": coordinates}
    with pytest.raises(ta.ContactLimitError, match="4 contacts were found, more than max_contacts = 3"):
        ta.Simulation(world(0.0), max_contacts=3, **made).run(0.01)
    assert ta.Simulation(world(0.0), max_contacts=4, **made).run(0.01).steps == 10
    falling = ta.Simulation(world(-0.02), max_contacts=3, **made)
    with pytest.raises(ta.ContactLimitError, match=r"at t = 0\.0"):
        falling.run(0.2)
    batch = falling.rollout(np.concatenate([falling.model.q0, np.zeros(6)])[None], steps=200)
    assert batch.status == ["more contacts were found than max_contacts allows"]


@pytest.mark.parametrize("bad", [{"push_speed": 0.0}, {"turn_speed": np.nan}, {"max_contacts": 0}])
def test_impossible_bounds_are_refused(bad):
    with pytest.raises(ta.BadInput, match=next(iter(bad))):
        ta.Simulation(world(0.0), **bad)
    with pytest.raises(ta.BadInput, match="an integrator chooses nothing but the step"):
        ta.Simulation(ta.robots.double_pendulum(), integrator="rk4", push_speed=1.0)
