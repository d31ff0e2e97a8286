"""Equality constraints and tendons of MJCF mean the same here as in MuJoCo: residuals at random positions."""

import numpy as np
import pytest

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.kinematics.forward import forward_kinematics
from taction.kinematics.loops import loop_gaps
from taction.math.transform import Transform
from taction.model.compile import compile_model
from taction.model.spec import WORLD

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco>
  <default><equality solref="0.01 1"/><tendon springlength="0.3"/>
    <default class="off"><equality active="false"/></default></default>
  <worldbody>
    <site name="w" pos="0.1 0.4 0.7" euler="10 20 30"/>
    <body name="a" pos="1 2 3" euler="30 20 10"><freejoint/><geom size="0.1"/>
      <frame pos="0.1 0 0" euler="0 0 20"><site name="sa" pos="0.1 0.2 0.3" euler="10 20 80"/></frame>
      <body name="c" pos="0.2 0.1 0.3" euler="40 50 60">
        <joint name="h" axis="1 2 3" pos="0.1 0 0.2" ref="30"/><geom size="0.1"/>
        <body name="d" pos="0.2 0 0.3"><joint name="s" type="slide" axis="0 1 1" ref="0.4" springref="0.1"/>
          <geom size="0.1"/><site name="sd" pos="0.3 0.1 0"/>
          <body name="e" pos="0 0.1 0"><joint name="k" axis="1 0 0"/><geom size="0.1"/></body></body>
      </body>
    </body>
    <body name="b" pos="0 0.2 0.3" euler="-30 50 10"><joint type="ball"/><geom size="0.1"/>
      <site name="sb" pos="0.4 0.2 -0.3" euler="70 20 80"/></body>
  </worldbody>
  <tendon>
    <fixed name="t"><joint joint="h" coef="2"/><joint joint="s" coef="-3"/></fixed>
    <fixed name="u"><joint joint="k" coef="0.5"/></fixed>
    <fixed name="all">
      <joint joint="h" coef="2"/><joint joint="s" coef="-3"/><joint joint="k" coef="1"/></fixed>
    <spatial name="p"><site site="w"/><site site="sa"/><site site="sb"/><pulley divisor="2"/>
      <site site="sb"/><site site="w"/></spatial>
  </tendon>
  <equality>{}</equality>
</mujoco>"""

LOOPS = (
    '<connect body1="a" body2="b" anchor="1 2 3"/>',
    '<connect body1="d" anchor="0.1 0.2 0.3"/>',
    '<connect site1="sa" site2="sb"/>',
    '<connect site1="w" site2="sb"/>',
    '<weld body1="a" body2="b"/>',
    '<weld body1="a"/>',
    '<weld body1="a" body2="b" anchor="1 2 3"/>',
    '<weld body1="d" body2="b" relpose="1 2 3 1 0.1 0 0" anchor="4 5 6"/>',
    '<weld body1="d" body2="b" relpose="1 2 3 0 0 0 0" anchor="4 5 6"/>',
    '<weld site1="sa" site2="sb"/>',
    '<weld body1="e" body2="b" torquescale="0"/>',
)
COUPLINGS = (
    '<joint joint1="h" joint2="s"/>',
    '<joint joint1="h" joint2="s" polycoef="0.3 -2"/>',
    '<joint joint1="s" polycoef="0.3 -2 4 0 0"/>',
    '<tendon tendon1="t"/>',
    '<tendon tendon1="t" polycoef="0.7"/>',
    '<tendon tendon1="u" polycoef="0.7"/>',
    '<tendon tendon1="u" tendon2="t" polycoef="0.1 0"/>',
)
HELD = (
    '<tendon tendon1="u" tendon2="t" polycoef="0.1 0.6"/>',
    '<tendon tendon1="all" polycoef="0.4"/>',
)


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a log file in the current folder."""
    monkeypatch.chdir(tmp_path)


def both(equality):
    text = SCENE.format(equality)
    with pytest.warns(UserWarning, match="rigid here"):
        return mujoco.MjModel.from_xml_string(text), compile_model(parse_mjcf(text))


def states(theirs, n=5):
    rng, data = np.random.default_rng(1), mujoco.MjData(theirs)
    for _ in range(n):
        data.qpos[:] = rng.uniform(-1, 1, theirs.nq)
        mujoco.mj_normalizeQuat(theirs, data.qpos)
        mujoco.mj_forward(theirs, data)
        yield data.qpos.copy(), data


@pytest.mark.parametrize("equality", LOOPS)
def test_loops(equality):
    theirs, ours = both(equality)
    for q, data in states(theirs):
        (gap,), pos = loop_gaps(ours, q), data.efc_pos[: data.ne]
        assert gap.distance == pytest.approx(np.linalg.norm(pos[:3]), rel=1e-12)
        if ours.spec.loops[0].kind == "weld":
            assert abs(np.sin(gap.angle / 2)) == pytest.approx(np.linalg.norm(pos[3:]), rel=1e-9)
        else:
            assert not pos[3:].any()


@pytest.mark.parametrize("equality", COUPLINGS)
def test_couplings(equality):
    theirs, ours = both(equality)
    (c,) = ours.couplings
    scale = {"t": 2.0, "u": 0.5}.get(equality.split('"')[1], 1.0)
    for q, data in states(theirs):
        residual = scale * (q[c.follower_q] - c.multiplier * q[c.leader_q] - c.offset)
        assert residual == pytest.approx(data.efc_pos[0], rel=1e-12)


@pytest.mark.parametrize("equality", HELD)
def test_equations_of_three_joints_are_tendons_that_are_held(equality):
    theirs, ours = both(equality)
    (tendon,) = [t for t in ours.spec.tendons if t.held is not None]
    for q, data in states(theirs):
        length = sum(c * q[ours.joint(joint).iq] for joint, c in tendon.joints.items())
        assert length - tendon.held == pytest.approx(data.efc_pos[0], rel=1e-12)


def test_every_joint_follows_one_other_at_most():
    chain = '<joint joint1="h" joint2="s"/><joint joint1="h" joint2="k" polycoef="0 2"/>'
    _, ours = both(chain + '<joint joint1="s" joint2="k" polycoef="0 5"/>')
    follows = {joint.name: joint.mimic for joint in ours.spec.joints if joint.mimic is not None}
    assert {name: mimic.joint for name, mimic in follows.items()} == {"h": "s", "k": "h"}
    assert follows["k"].multiplier == 0.5
    assert [t.joints for t in ours.spec.tendons if t.held is not None] == [{"s": 1.0, "k": -5.0}]


def test_what_is_switched_off_and_what_cannot_move_is_no_loop():
    _, ours = both('<connect class="off" body1="a" anchor="0 0 0"/><weld body1="a" active="false"/>')
    assert not ours.spec.loops and "equality/" not in str(ours.spec)
    text = SCENE.format('<weld body1="a"/>').replace(
        "<worldbody>", '<option><flag equality="disable"/></option><worldbody>'
    )
    with pytest.warns(UserWarning, match="rigid here"):
        assert not parse_mjcf(text).loops
    text = '<mujoco><worldbody><body name="a"/></worldbody><equality><weld body1="a"/></equality></mujoco>'
    assert not parse_mjcf(text).loops


def test_tendons_have_their_lengths():
    theirs, ours = both("")
    for q, data in states(theirs):
        for tendon, length in zip(ours.spec.tendons, data.ten_length, strict=True):
            assert _length(ours, tendon, q) == pytest.approx(length, rel=1e-12)


def _length(model, tendon, q):
    poses = forward_kinematics(model, q)
    sites = {site.name: site for site in model.spec.sites}

    def point(name):
        site = sites[name]
        if site.body == WORLD:
            return site.pose.translation
        b = model.body(site.body)
        return Transform(poses.rotation[b], poses.position[b]).apply(site.pose.translation)

    total = sum(c * q[model.joint(joint).iq] for joint, c in tendon.joints.items())
    for divisor, names in tendon.path:
        points = np.array([point(name) for name in names])
        total += np.linalg.norm(np.diff(points, axis=0), axis=1).sum() / divisor
    return total


def test_what_acts_along_tendons():
    tendons = """<tendon>
      <fixed name="t" range="-1 2" stiffness="3" damping="0.5" frictionloss="0.2" armature="0.1">
        <joint joint="h" coef="2"/><joint joint="s" coef="-3"/></fixed>
      <fixed springlength="0.1 0.4" limited="false" range="0 1"><joint joint="k" coef="1"/></fixed>
      <fixed springlength="-1" stiffness="1"><joint joint="h" coef="2"/><joint joint="s" coef="3"/></fixed>
      <spatial springlength="-1" stiffness="1"><site site="w"/><site site="sb"/><site site="sd"/></spatial>
    </tendon>"""
    text = SCENE.format("")
    text = text[: text.index("<tendon>")] + tendons + text[text.index("<equality>") :]
    with pytest.warns(UserWarning, match="tendon armature"):
        theirs, ours = mujoco.MjModel.from_xml_string(text), parse_mjcf(text)
    for i, tendon in enumerate(ours.tendons):
        assert tendon.rest == pytest.approx(theirs.tendon_lengthspring[i], rel=1e-12)
        assert tendon.stiffness == theirs.tendon_stiffness[i]
        assert tendon.damping == theirs.tendon_damping[i]
        assert tendon.friction == theirs.tendon_frictionloss[i]
        assert tendon.armature == theirs.tendon_armature[i]
        assert np.isfinite(tendon.upper) == theirs.tendon_limited[i]
    assert (ours.tendons[0].lower, ours.tendons[0].upper) == (-1.0, 2.0)


def test_a_weld_stays_closed_while_a_stop_pushes_through_light_links():
    """A torso that starts 4 cm below its stop, damped so much that only the correction moves it.

    Its arm, whose links get lighter by a factor of 40, is welded to the world at its tip and has to follow.
    """
    bends = ("0 40 0", "20 0 0", "0 -60 0", "30 0 0", "0 50 0", "0 0 20")
    arm = "".join(
        f'<body pos="0.25 0 0" euler="{bend}"><joint axis="{axis}" damping="1"/>'
        f'<geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03" mass="{mass}"/>'
        for bend, axis, mass in zip(bends, ("0 1 0", "1 0 0") * 3, (2, 1.5, 1, 0.5, 0.2, 0.05), strict=True)
    )
    text = f"""<mujoco><option timestep="0.002"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody><body><joint type="slide" axis="0 0 1" damping="1e7" range="0.04 0.4"/>
        <geom size="0.1" mass="10"/>{arm}<body name="tip" pos="0.25 0 0"><geom size="0.03" mass="0.1"/></body>
        {"</body>" * 6}</body></worldbody>
      <equality><weld body1="tip"/></equality></mujoco>"""
    model = compile_model(parse_mjcf(text))
    with pytest.warns(ta.RangeWarning, match="at 0 by 0.04 m"):  # more than a strict run starts with
        run = ta.Simulation(ta.World(model)).run(0.2)
    assert run.certificate.unconverged_steps == 0 and run.certificate.residual <= 1e-8
    (gap,) = loop_gaps(model, run.q[-1])
    assert run.q[-1, 0] == pytest.approx(0.04, abs=1e-6)
    # what a step of 2 mm leaves is of second order: a few 1e-6 m
    assert run.certificate.joint_gap < 1e-5 and max(gap.distance, gap.angle) < 1e-8
