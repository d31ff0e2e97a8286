"""Attached models and replicas of MJCF: the same names, order, inertia and constraints as in MuJoCo."""

import warnings

import numpy as np
import pytest

from taction._core.errors import ModelError
from taction.dynamics.crba import mass_matrix
from taction.io.mjcf import load_mjcf
from taction.model.spec import WORLD

mujoco = pytest.importorskip("mujoco")

CHILD = """<mujoco model="child"><compiler angle="radian" meshdir="m"/>
  <default><geom density="50"/><joint damping="3"/><position kp="7"/>
    <default class="c"><joint armature="2"/></default></default>
  <asset><mesh file="tet.obj"/></asset>
  <worldbody><geom name="ground" size="1"/>
    <body name="base" pos="0 0 1" euler="1.5 0 0"><joint name="j" range="-1 1"/>
      <geom name="g" type="mesh" mesh="tet"/><site name="s"/>
      <body name="tip" childclass="c" pos="0 0.2 0"><joint name="k"/><geom size="0.1"/></body></body>
    <body name="other"><freejoint name="f"/><geom size="0.1"/></body>
  </worldbody>
  <contact><exclude body1="base" body2="tip"/></contact>
  <equality><connect body1="tip" anchor="0 0 0"/><weld body1="other" body2="tip"/>
    <joint joint1="j" joint2="k"/></equality>
  <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><position name="m" joint="j"/><motor tendon="t"/><motor name="o" joint="f"/></actuator>
  <sensor><jointpos joint="j" name="sj"/><framepos objtype="xbody" objname="other"/></sensor>
</mujoco>"""
TET = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MODEL = '<asset><model name="c" file="sub/child.xml"/></asset>'
ARM = """<body name="b" pos="0 0.5 0"><joint name="j"/><geom name="g" size="0.1"/>
  <body name="c"><joint name="k" axis="1 0 0"/><geom size="0.1" pos="0 0 0.3"/></body></body>"""

MODELS = {
    "body": MODEL + '<worldbody><body pos="1 0 0"><joint name="mj"/><geom size="0.1"/>'
    '<attach model="c" body="base" prefix="p_"/></body></worldbody>',
    "frame": '<asset><model file="sub/child.xml"/></asset><worldbody><frame pos="0 0 5" euler="0 90 0">'
    '<attach model="child" body="base" prefix="p_"/></frame></worldbody>',
    "world": MODEL + '<worldbody><attach model="c" prefix="q_"/></worldbody>',
    "twice": MODEL + '<worldbody><attach model="c" prefix="q_" body="other"/>'
    '<attach model="c" prefix="r_" body="base"/></worldbody>',
    "replicas": f'<worldbody><replicate count="3" offset="1 0 0" euler="0 0 30">{ARM}</replicate></worldbody>'
    '<actuator><motor joint="j1"/></actuator><keyframe><key qpos="1 2 3 4 5 6"/></keyframe>',
    "nested": '<worldbody><replicate count="2" offset="1 0 0" sep="-">'
    f'<replicate count="11" offset="0 1 0">{ARM}</replicate></replicate></worldbody>',
    "mentions": f'<worldbody><body name="z"><joint name="zj"/><geom size="1"/></body>'
    f'<replicate count="2" offset="1 0 0" euler="10 20 30">{ARM}</replicate></worldbody>'
    '<actuator><motor name="m" joint="j"/><motor name="n" tendon="t"/><motor name="o" joint="zj"/></actuator>'
    '<equality><joint name="e" joint1="j" joint2="k"/><joint name="x" joint1="j" joint2="zj"/></equality>'
    '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
    '<contact><exclude body1="b" body2="world"/></contact>',
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a log file in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub" / "m").mkdir(parents=True)
    (tmp_path / "sub" / "child.xml").write_text(CHILD)
    (tmp_path / "sub" / "m" / "tet.obj").write_text(TET)
    return tmp_path


def load(folder, text):
    path = folder / "main.xml"
    path.write_text(f"<mujoco>{text}</mujoco>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return path, load_mjcf(path)


@pytest.mark.parametrize("case", MODELS)
def test_same_as_mujoco(folder, case, capfd):
    path, ours = load(folder, MODELS[case])
    theirs = mujoco.MjModel.from_xml_path(str(path))
    capfd.readouterr()
    kinds, spec = mujoco.mjtObj, ours.spec

    def names(kind, n):
        return [mujoco.mj_id2name(theirs, kind, i) for i in range(n)]

    assert (ours.nq, ours.nv) == (theirs.nq, theirs.nv)
    for our, their in (
        ([b.name for b in spec.bodies], names(kinds.mjOBJ_BODY, theirs.nbody)[1:]),
        ([j.name for j in ours.joints], names(kinds.mjOBJ_JOINT, theirs.njnt)),
        ([a.name for a in spec.actuators], names(kinds.mjOBJ_ACTUATOR, theirs.nu)),
        ([t.name for t in spec.tendons], names(kinds.mjOBJ_TENDON, theirs.ntendon)),
        ([s.name for s in spec.sensors], names(kinds.mjOBJ_SENSOR, theirs.nsensor)),
    ):
        assert len(our) == len(their)
        assert all(theirs_name in (None, our_name) for our_name, theirs_name in zip(our, their, strict=True))
    assert (len(spec.exclude), len(spec.keyframes)) == (theirs.nexclude, theirs.nkey)
    assert len(spec.loops) + len(ours.couplings) == theirs.neq
    np.testing.assert_allclose([a.kp for a in spec.actuators], -theirs.actuator_biasprm[:, 1])
    np.testing.assert_allclose(ours.damping, theirs.dof_damping)
    upper = [theirs.jnt_range[i, 1] for i in range(theirs.njnt) if theirs.jnt_limited[i]]
    np.testing.assert_allclose(ours.upper[np.isfinite(ours.upper)], upper)
    if case != "world" and case != "twice":
        rng, data = np.random.default_rng(0), mujoco.MjData(theirs)
        data.qpos[:] = rng.uniform(-1, 1, theirs.nq)
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, M)
        np.testing.assert_allclose(mass_matrix(ours, data.qpos.copy()), M, atol=1e-9 * np.abs(M).max())
        theirs_places = {mujoco.mj_id2name(theirs, kinds.mjOBJ_BODY, i): i for i in range(theirs.nbody)}
        for body in spec.bodies:
            at = theirs_places.get(body.name)
            if at is not None:
                assert body.inertia.mass == pytest.approx(theirs.body_mass[at], rel=1e-9)
    assert all(
        joint.parent == WORLD or joint.parent in {b.name for b in spec.bodies} for joint in spec.joints
    )


@pytest.mark.parametrize(
    "text, reason",
    [
        ('<worldbody><attach model="x" prefix="a"/></worldbody>', "model 'x' does not exist"),
        (
            MODEL + '<worldbody><attach model="c" body="x" prefix="a"/></worldbody>',
            "body 'x' does not exist in",
        ),
        ('<asset><model name="c" file="x.xml"/></asset>', "file 'x.xml' does not exist"),
        ('<asset><model name="c" file="main.xml"/></asset>', "attaches itself"),
        ('<worldbody><replicate count="0"><geom size="1"/></replicate></worldbody>', "must be positive"),
        (
            '<worldbody><replicate count="99999999"><geom size="1"/></replicate></worldbody>',
            "more than 100000",
        ),
    ],
)
def test_what_is_refused(folder, text, reason):
    with pytest.raises(ModelError, match=reason):
        load(folder, text)
