"""Starts with joints and tendons beyond their stops: named, brought back at a bounded speed, judged."""

import warnings

import numpy as np
import pytest

import taction as ta
from taction.kinematics.loops import loop_gaps
from taction.model.spec import Mimic, TendonSpec
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.dispatch import SCHEMES

H, G = 1e-3, 9.81
BOTH = ("reduced", "absolute")
OUT = 0.1  # rad or m, beyond the upper stop at zero


def arm(kind="revolute", count=1, **joint):
    """Links of 1 kg on joints beside each other, whose upper stop is at zero; a slide is vertical."""
    b = ta.ModelBuilder("arm")
    for k in range(count):
        name = f"joint {k}" if count > 1 else "joint"
        b.body(f"link {k}", ta.Inertia(1.0, np.array([0.3, 0, 0]), 0.01 * np.eye(3)))
        axis = (0, -1, 0) if kind == "revolute" else (0, 0, 1)  # upwards
        pose = ta.Transform(translation=(0, k, 0))
        getattr(b, kind)(
            name, parent="world", child=f"link {k}", axis=axis, pose=pose, upper=0.0, lower=-2.0, **joint
        )
    return b


def moved(world, steps, q, dt=H, **options):
    sim = ta.Simulation(world, dt=dt, **options)
    with pytest.warns(ta.RangeWarning):
        return sim.run(steps * dt, q=q)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_comes_back_at_the_speed_at_which_overlaps_are_pushed_out(kind, coordinates):
    """10 rad/s or 1 m/s by default, on and on to the stop, half the slop short; no speed is made.

    Gravity leads inside: the joint is not held where it is, it falls and is carried on top of that.
    """
    rate, unit = (10.0, "rad") if kind == "revolute" else (1.0, "m")
    world = ta.World(arm(kind).build(), gravity=(0, 0, 0))
    sim = ta.Simulation(world, dt=H, coordinates=coordinates)
    with pytest.warns(ta.RangeWarning, match=rf"start: joint at 0\.1 by 0\.1 {unit} \(range -2 to 0\)"):
        run = sim.run(0.2, q=[OUT])
    steps = round(OUT / (rate * H))
    np.testing.assert_allclose(np.diff(run.q[:steps, 0]), -rate * H, atol=1e-6)
    assert np.abs(run.q[steps + 1 :, 0]).max() <= 2 * SLOP
    assert np.abs(run.v).max() <= 1e-12
    c = run.certificate
    assert c.beyond == pytest.approx(OUT) and c.beyond_left == pytest.approx(OUT - rate * H, abs=1e-6)
    assert c.steps_at_bound in (steps - 1, steps) and f"in {c.steps_at_bound} steps" in repr(c)
    assert run.records[-1, 28:31].max() <= SLOP
    falling = moved(ta.World(arm(kind).build()), 2 * steps, [OUT], coordinates=coordinates)
    assert falling.q[-1, 0] < -SLOP and falling.v[5, 0] < -4 * G * H


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 1e-2])
def test_a_joint_comes_back_as_fast_at_long_steps(dt):
    """Half a radian, as gymnasium's ant at its 10 ms."""
    run = moved(ta.World(arm().build(), gravity=(0, 0, 0)), round(0.06 / dt), [0.5], dt=dt)
    np.testing.assert_allclose(
        run.q[: round(0.05 / dt), 0], 0.5 - 10.0 * run.t[: round(0.05 / dt)], atol=1e-6
    )
    assert abs(run.q[-1, 0]) <= 2 * SLOP and np.abs(run.v).max() <= 1e-12


@pytest.mark.parametrize("stepper", SCHEMES)
def test_every_scheme_has_the_bounds(stepper):
    coordinates = "absolute" if SCHEMES[stepper].is_projected else "reduced"
    world = ta.World(arm().build(), gravity=(0, 0, 0))
    run = moved(world, 40, [OUT], stepper=stepper, coordinates=coordinates, turn_speed=4.0)
    np.testing.assert_allclose(np.diff(run.q[:20, 0]), -4.0 * H, atol=1e-6)
    assert abs(run.q[-1, 0]) <= 2 * SLOP and run.certificate.beyond == pytest.approx(OUT)


@pytest.mark.parametrize("contact", ["penalty", "compliant"])
def test_contact_as_a_force_has_rigid_stops(contact):
    run = moved(ta.World(arm().build(), gravity=(0, 0, 0)), 20, [OUT], contact=contact)
    assert abs(run.q[-1, 0]) <= 2 * SLOP and run.certificate.beyond == pytest.approx(OUT)


def test_limits_of_tendons_and_joints_that_follow():
    """Two hinges in a tendon of both angles; a slide that follows a hinge, beyond its own stop."""
    b = arm(count=2)
    b.spec.tendons.append(
        TendonSpec("both", joints={"joint 0": 1.0, "joint 1": 1.0}, lower=-np.inf, upper=-0.4)
    )
    world = ta.World(b.build(), gravity=(0, 0, 0))
    sim = ta.Simulation(world, dt=H)
    (found,) = sim.out_of_range(sim.state([-0.1, -0.1]))
    assert (found.name, found.kind, found.unit) == ("both", "tendon", "rad")
    assert found.by == pytest.approx(0.2) and str(found).startswith("tendon both at -0.2 by 0.2 rad")
    run = moved(world, 50, [-0.1, -0.1])
    assert run.q[-1].sum() == pytest.approx(-0.4, abs=2 * SLOP)
    assert run.certificate.beyond == pytest.approx(0.2)

    b = ta.ModelBuilder("follower")
    for name in ("lead", "slider"):
        b.body(name, ta.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)))
    b.revolute("turn", parent="world", child="lead", axis=(0, 0, 1))
    mimic = Mimic("turn", 0.1)
    b.prismatic("slide", parent="world", child="slider", axis=(1, 0, 0), lower=-1.0, upper=0.02, mimic=mimic)
    run = moved(ta.World(b.build(), gravity=(0, 0, 0)), 60, [0.5, 0.0])
    np.testing.assert_allclose(run.q[-1], [0.2, 0.02], atol=20 * SLOP)


def test_a_strict_run_raises_before_its_first_step_and_at_a_step():
    world = ta.World(arm().build(), gravity=(0, 0, 0))
    strict = ta.Simulation(world, dt=H, strict=True)
    with pytest.raises(
        ta.CertificateError, match=r"beyond their stops at the start: joint .* repairs 0\.01 rad"
    ):
        strict.run(0.01, q=[OUT])
    with pytest.warns(ta.RangeWarning):  # what a step repairs is a word worth, no more
        strict.run(0.01, q=[0.009])
    outside = moved(world, 2, [OUT]).state
    with pytest.raises(ta.CertificateError, match=r"t = 0\.002 s a joint or tendon is left 0\.07 m or rad"):
        strict.run(0.01, state=outside)


def test_what_goes_on_and_what_is_inside_say_nothing():
    world = ta.World(arm().build())
    sim = ta.Simulation(world, dt=H)
    assert sim.out_of_range() == []
    with pytest.warns(ta.RangeWarning):
        state = sim.run(5 * H, q=[OUT]).state
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.2)
        held = ta.Simulation(ta.World(arm().build(), gravity=(0, 0, G)), dt=H)
        with pytest.warns(ta.RangeWarning):
            state = held.run(5 * H, q=[OUT]).state
        held.run(0.1, state=state)


def test_the_message_is_bounded_and_begins_with_the_farthest():
    sim = ta.Simulation(ta.World(arm(count=12).build(), gravity=(0, 0, 0)), dt=H)
    with pytest.warns(ta.RangeWarning) as said:
        sim.run(H, q=np.linspace(0.01, 0.12, 12))
    text = str(said[0].message)
    assert text.index("joint 11 at 0.12") < text.index("joint 10") and text.endswith("; and 4 more")


def test_worlds_of_a_rollout_and_of_a_batch():
    sim = ta.Simulation(ta.World(arm().build(), gravity=(0, 0, 0)), dt=H)
    states = np.array([[0.0, 0.0], [0.05, 0.0], [OUT, 0.0]])
    match = r"2 of 3 worlds start with joints or tendons beyond their stops, world 2 farthest: joint at 0\.1"
    with pytest.warns(ta.RangeWarning, match=match):
        out = sim.rollout(states, steps=20, threads=1)
    assert np.abs(out.q[:, -1]).max() <= 2 * SLOP
    batch = sim.batch(states, threads=1)
    with pytest.warns(ta.RangeWarning, match=match):
        batch.step()
    batch.step()  # once
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.rollout(out.final, steps=2, threads=1)


def dead_point():
    """A crank in line with a rod that ends on a rocker of the same length: a parallelogram, flat.

    Both must turn by 0.1 rad; the rocker's end is a little aside, so that it can first go the other way only.
    """
    b = ta.ModelBuilder("parallelogram")
    for name in ("crank", "rod", "rocker"):
        b.body(name, ta.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)))
    for name, x in (("crank", 0.0), ("rocker", 0.35)):
        pose = ta.Transform(translation=(x, 0, 0))
        b.revolute(name, parent="world", child=name, axis=(0, 0, 1), pose=pose, lower=-2.0, upper=-OUT)
    b.revolute(
        "elbow", parent="crank", child="rod", axis=(0, 0, 1), pose=ta.Transform(translation=(0.05, 0, 0))
    )
    tip, side = ta.Transform(translation=(0.35, 0.005, 0)), ta.Transform(translation=(0.05, 0.005, 0))
    b.loop("pin", "rod", "rocker", kind="point", pose=tip, other_pose=side)
    return b.build()


@pytest.mark.parametrize("coordinates", BOTH)
def test_stops_that_a_loop_keeps_out_of_reach_are_counted_to_the_end(coordinates):
    """And where the loop gives way for them, that is seen in either coordinates."""
    sim = ta.Simulation(ta.World(dead_point(), gravity=(0, 0, 0)), dt=H, coordinates=coordinates)
    with pytest.warns(ta.RangeWarning, match=r"crank at 0 by 0\.1 rad .*; rocker at 0 by 0\.1 rad"):
        run = sim.run(0.05)
    c, last = run.certificate, run.records[-1]
    assert c.beyond == pytest.approx(OUT, rel=0.1) and last[29] > 0.01 and c.steps_at_bound == run.steps
    gap = max(loop_gaps(run.model, q)[0].distance for q in run.q[:-1])
    assert c.joint_gap >= 0.9 * gap - 1e-9
