"""Loops that are closed twice: no joint turns by more than the gaps of the file ask for."""

import numpy as np
import pytest

import taction as ta
from taction.model.compile import compile_model

BOTH = ("reduced", "absolute")
TILTS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
LINK = 0.05  # the shortest link [m]: what closes a gap by turning has a lever of that order
ROUNDED = 1e-8  # to which a file gives places [m]
BODY = 'size="0.01" mass="0.1" contype="0" conaffinity="0"'


def text(places):
    return " ".join(f"{x:.17g}" for x in places)


def sites(name, places, error):
    """Two anchors of a body, with the errors (2, 3) of a file."""
    return "".join(f'<site name="{name}{i}" pos="{text(places[i] + error[i])}"/>' for i in range(2))


def wrap(bodies, kind, gravity="0 0 0"):
    equal = "".join(f'<{kind} site1="a{i}" site2="b{i}"/>' for i in range(2))
    return ta.load_mjcf(
        f"""<mujoco><option gravity="{gravity}"/><worldbody>{bodies}</worldbody>
        <equality>{equal}</equality></mujoco>"""
    )


def errors(size):
    return size * np.random.default_rng(3).uniform(-0.5, 0.5, (2, 2, 3))


def hinge(tilt, kind, size=ROUNDED, gravity="0 0 0"):
    """A link on a link, whose hinge, tilted a little, two anchors on its axis close once more."""
    axis, at, e = (
        [0.6 * np.sin(tilt), 0.8 * np.sin(tilt), np.cos(tilt)],
        np.array([0.1, 0.03, 0.0]),
        errors(size),
    )
    ends = np.array([[0.0, 0.0, 0.05], [0.0, 0.0, -0.05]])
    return wrap(
        f"""<body name="a"><joint name="one" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 0" {BODY}/>
        {sites("a", at + ends, e[0])}<body name="b" pos="{text(at)}"><joint name="two" axis="{text(axis)}"/>
        <geom type="capsule" fromto="0 0 0 0 {LINK} 0" {BODY}/>{sites("b", ends, e[1])}</body></body>""",
        kind, gravity,
    )  # fmt: skip


def linkage(tilt, kind, size=ROUNDED):
    """A four-bar whose knee is a hinge of two anchors, with the axis of its rocker tilted a little."""
    elbow, knee, pivot, e = (
        np.array([0.02, 0.1, 0.0]),
        np.array([0.16, 0.13, 0.0]),
        np.array([0.2, 0, 0]),
        errors(size),
    )
    ends = knee + np.array([[0.0, 0.0, 0.05], [0.0, 0.0, -0.05]])
    axis = [np.sin(tilt), 0.0, np.cos(tilt)]
    return wrap(
        f"""<body name="crank"><joint name="one" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 {text(elbow)}" {BODY}/>
        <body name="coupler" pos="{text(elbow)}"><joint name="two" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 {text(knee - elbow)}" {BODY}/>
        {sites("a", ends - elbow, e[0])}</body></body>
        <body name="rocker" pos="{text(pivot)}"><joint name="three" axis="{text(axis)}"/>
        <geom type="capsule" fromto="0 0 0 {text(knee - pivot)}" {BODY}/>
        {sites("b", ends - pivot, e[1])}</body>""",
        kind,
    )  # fmt: skip


def pinned(tilt, kind, size=ROUNDED):
    """A free body on a link, held by two anchors on an axis, and by nothing else."""
    axis, at, e = np.array([np.sin(tilt), 0.0, np.cos(tilt)]), np.array([0.1, 0.03, 0.0]), errors(size)
    ends = np.array([0.05 * axis, -0.05 * axis])
    return wrap(
        f"""<body name="a"><joint name="one" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.1 0 0" {BODY}/>
        {sites("a", at + ends, e[0])}</body><body name="b" pos="{text(at)}"><freejoint/>
        <geom type="capsule" fromto="0 0 0 0 {LINK} 0" {BODY}/>{sites("b", ends, e[1])}</body>""",
        kind,
    )  # fmt: skip


def widest(model, q):
    """Of distances, and of angles at the arm of the anchors."""
    return max(max(gap.distance, 0.05 * gap.angle) for gap in ta.loop_gaps(model, q))


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("kind", ["connect", "weld"])
@pytest.mark.parametrize("build", [hinge, linkage, pinned])
def test_no_joint_turns_by_more_than_the_gap_asks_for(build, kind, tilt, coordinates):
    """At rest, without forces: over all steps, and not by way of kinetic energy."""
    model = build(tilt, kind)
    gap = widest(model, model.q0)
    assert 0.0 < gap <= 2.0 * ROUNDED
    run = ta.Simulation(ta.World(model), dt=1e-3, coordinates=coordinates).run(0.05)
    way = np.abs(np.diff(run.q, axis=0)).sum(axis=0).max()
    assert way <= gap / (0.1 * LINK) and np.abs(run.v).max() <= 1e-12
    assert widest(model, run.q[-1]) <= 2.0 * gap  # rows share what none of them can have


def anchors_apart(model, q, i):
    """From one frame of loop i to the other, in the world [m]."""
    loop, poses, ends = model.spec.loops[i], ta.forward_kinematics(model, q), []
    for name, pose in ((loop.body, loop.pose), (loop.other, loop.other_pose)):
        b = model.body(name)
        ends.append(poses.position[b] + poses.rotation[b] @ pose.translation)
    return ends[1] - ends[0]


@pytest.mark.parametrize("coordinates", BOTH)
@pytest.mark.parametrize("tilt", TILTS)
def test_wider_gaps_are_closed_where_there_is_a_lever(tilt, coordinates):
    """Anchors that are wrong by two micrometres: their mean is closed, what contradicts itself is let be."""
    model = linkage(tilt, "connect", 2e-6)
    run = ta.Simulation(ta.World(model), dt=1e-3, coordinates=coordinates).run(0.05)
    c = run.certificate
    assert np.abs(np.diff(run.q, axis=0)).sum(axis=0).max() <= 4e-6 / (0.1 * LINK)
    assert c.steps_spared == run.steps and c.spared == pytest.approx(c.joint_gap, rel=1.0)
    for shown in (run, c):
        assert c.spared_in_words in " ".join(repr(shown).split())
    assert c.steps_far == 0 and c.steps_at_bound == 0
    # what both anchors agree on in the plane is closed: their gaps are opposite, but for what lies across it
    gaps = np.array([anchors_apart(model, run.q[-1], i) for i in range(2)])
    assert np.abs(gaps.sum(axis=0)[:2]).max() <= 1e-2 * np.abs(gaps[:, :2]).max()


def test_one_anchor_is_closed_to_the_last_digit():
    """The same knee with one anchor is not redundant: the correction closes it, and nothing is said of it."""
    model = linkage(0.0, "connect", 2e-6)
    spec = model.spec
    spec.loops.pop()
    model = compile_model(spec)
    run = ta.Simulation(ta.World(model), dt=1e-3).run(0.01)
    across = abs(ta.loop_gaps(model, run.q[-1])[0].distance)
    assert across <= 2e-6 and run.certificate.steps_spared == 0 and run.certificate.spared == 0.0


@pytest.mark.parametrize("tilt", TILTS)
def test_a_hinge_that_is_closed_twice_swings_without_a_push(tilt):
    """Under gravity its joints move by velocities alone: the correction turns nothing."""
    run = ta.Simulation(ta.World(hinge(tilt, "connect", gravity="3 -9 0")), dt=1e-3).run(0.1)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.1  # it falls
    assert run.certificate.turned <= ROUNDED / (0.1 * LINK)
