"""Loops that start open: named, pulled shut without kinetic energy, refused where they are too wide."""

import warnings

import numpy as np
import pytest

import taction as ta
from taction.sim.contact_summary import CURVED
from taction.sim.open_loops import WIDEST
from taction.steppers.schemes.base import SLOP

H = 1e-3
BOTH = ("reduced", "absolute")
BAR = 0.1  # length of the bars [m]
SIZE = np.hypot(0.05, np.sqrt(1.5 * 1e-4 / 0.1))  # radius of gyration of a bar about its end
NEAR = [1.0, -0.9, 1.2]


def linkage(off=0.0, gravity=(0.0, 0.0, 0.0)):
    """A four-bar whose knee is off by so much [m], in what would else be closed."""
    b = ta.ModelBuilder("four-bar", gravity=gravity)
    for name in ("crank", "coupler", "rocker"):
        b.body(name, ta.Inertia(0.1, np.array([BAR / 2, 0, 0]), 1e-4 * np.eye(3)))
    at = lambda x: ta.Transform(translation=(x, 0, 0))  # noqa: E731
    b.revolute("one", parent="world", child="crank", axis=(0, 0, 1))
    b.revolute("two", parent="crank", child="coupler", axis=(0, 0, 1), pose=at(BAR))
    b.revolute("three", parent="world", child="rocker", axis=(0, 0, 1), pose=at(0.12))
    b.loop("knee", "coupler", "rocker", kind="point", pose=at(BAR + off), other_pose=at(BAR))
    return b.build()


CLOSED = ta.close_loops(linkage(), NEAR)


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("off", [2e-3, 5e-3, 0.99 * WIDEST * SIZE])
def test_a_loop_that_is_open_by_millimetres_is_pulled_shut(off, coordinates):
    """At the speed at which overlaps are pushed out, named once, and nothing moves afterwards."""
    model = linkage(off)
    sim = ta.Simulation(ta.World(model), dt=H, coordinates=coordinates)
    with pytest.warns(ta.LoopWarning, match=rf"loops open at the start: knee by {off:.3g} m") as said:
        run = sim.run(0.05, q=CLOSED)
    assert len(said) == 1 and np.abs(run.q[0] - CLOSED).max() <= 1e-14
    gap = [ta.loop_gaps(model, q)[0].distance for q in run.q]
    # the two rows close a millimetre each at most, and more than half of it where only one is open
    steps = int(np.ceil(off / (1.0 * H)))
    assert gap[1] >= off - np.sqrt(2.0) * H and gap[2 * steps] <= SLOP and gap[-1] <= SLOP
    assert np.abs(run.v).max() <= 1e-12 and run.kinetic.max() <= 1e-24
    assert np.abs(run.q[-1] - ta.close_loops(model, CLOSED)).max() <= 0.5 * off / BAR
    assert run.certificate.joint_gap == pytest.approx(off) and "were open by up to" in repr(run)


def test_an_open_loop_makes_no_energy_as_it_falls():
    """Under gravity: what is gained is booked as work of the correction, and that is what lifts."""
    model = linkage(5e-3, gravity=(0.0, -9.81, 0.0))
    with pytest.warns(ta.LoopWarning):
        run = ta.Simulation(ta.World(model), dt=H).run(0.05, q=CLOSED)
    weight = 0.3 * 9.81
    assert abs(run.energy.correction) <= weight * 5e-3 * 10.0
    assert run.energy.closure <= 1e-12
    # the rest is that of a scheme of first order: its angle errs by (ω h)² / 2 in a step
    omega = np.abs(run.v).max()
    assert abs(run.energy.remainder) <= 10.0 * run.steps * 0.5 * (omega * H) ** 2 * weight * BAR


def test_what_is_open_wider_is_refused_with_advice():
    model = linkage(1.3 * WIDEST * SIZE)
    match = r"'knee' is open at the start, by 0\.0.* steps close 0\.0.* taction\.close_loops"
    with pytest.raises(ta.BadInput, match=match):
        ta.Simulation(ta.World(model), dt=H).run(0.01, q=CLOSED)
    closed = ta.close_loops(model, CLOSED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ta.Simulation(ta.World(model), dt=H, strict=True).run(0.01, q=closed)


def test_a_strict_run_raises_where_one_step_does_not_close_it():
    sim = ta.Simulation(ta.World(linkage(2e-3)), dt=H, strict=True)
    with pytest.raises(ta.CertificateError, match=r"knee by 0\.002 m .* closes 0\.001 m and 0\.01 rad"):
        sim.run(0.01, q=CLOSED)
    with pytest.warns(ta.LoopWarning):
        ta.Simulation(ta.World(linkage(2e-3)), dt=3e-3, strict=True).run(0.03, q=CLOSED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # less than a millimetre is no word worth
        ta.Simulation(ta.World(linkage(0.9e-3)), dt=H, strict=True).run(0.01, q=CLOSED)


def test_what_goes_on_is_not_named_again():
    sim = ta.Simulation(ta.World(linkage(8e-3, gravity=(0.0, -9.81, 0.0))), dt=H)
    with pytest.warns(ta.LoopWarning):
        state = sim.run(2 * H, q=CLOSED).state
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.01, state=state)


def test_worlds_of_a_rollout_and_of_a_batch():
    sim = ta.Simulation(ta.World(linkage(3e-3)), dt=H)
    shut = ta.close_loops(linkage(3e-3), CLOSED)
    states = np.array([[*shut, 0, 0, 0], [*CLOSED, 0, 0, 0]])
    match = r"1 of 2 worlds start with open loops, world 1 widest: knee by 0\.003 m"
    with pytest.warns(ta.LoopWarning, match=match):
        out = sim.rollout(states, steps=20, threads=1)
    assert ta.loop_gaps(sim.world.model, out.q[1, -1])[0].distance <= SLOP
    batch = sim.batch(states, threads=1)
    with pytest.warns(ta.LoopWarning, match=match):
        batch.step()


@pytest.mark.parametrize("coordinates", BOTH)
def test_the_gap_of_a_loop_at_speed_follows_from_the_step_and_is_judged(coordinates):
    """½ h² ω² times the lengths of the bars at most; a strict run asks for a thousandth of their size."""
    model = linkage()
    # rates that keep the loop closed, by differences
    ahead_by = np.array([1e-6, 0.0, 0.0])
    ahead = ta.close_loops(model, CLOSED + ahead_by)
    behind = ta.close_loops(model, CLOSED - ahead_by)
    rate = (ahead - behind) / np.linalg.norm(ahead - behind)
    for speed, is_green in ((5.0, True), (200.0, False)):
        world = ta.World(model)
        run = ta.Simulation(world, dt=H, coordinates=coordinates).run(0.02, q=CLOSED, v=speed * rate)
        c, turn = run.certificate, H * 2.0 * np.abs(run.v).max()  # a coupler turns by two rates
        assert 0.0 < c.joint_gap <= 0.5 * turn**2 * (3.0 * BAR)
        assert c.gap_share == pytest.approx(c.joint_gap / SIZE, rel=0.5) and f"{c.gap_time:.6g}" in repr(c)
        assert "joints and loops were open by up to" in repr(run)
        assert (c.gap_share <= CURVED) == is_green
        strict = ta.Simulation(world, dt=H, coordinates=coordinates, strict=True)
        if is_green:
            strict.run(0.02, q=CLOSED, v=speed * rate)
        else:
            with pytest.raises(ta.CertificateError, match=r"a loop is open by .* reduce the time step"):
                strict.run(0.02, q=CLOSED, v=speed * rate)
            # the remedy: the gap falls with the square of the step
            finer = ta.Simulation(world, dt=H / 4, coordinates=coordinates)
            assert finer.run(0.02, q=CLOSED, v=speed * rate).certificate.joint_gap <= c.joint_gap / 8.0
