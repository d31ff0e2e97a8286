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
    "mixed": '<worldbody><site name="a" pos="0 0 1"/><body name="z"><joint name="zj"/><geom size="1"/>'
    '<site name="zs"/></body><replicate count="3" offset="1 0 0"><body name="b"><joint name="j"/>'
    '<geom name="g" size="0.1"/><site name="c"/></body></replicate></worldbody>'
    '<tendon><spatial name="s"><site site="c"/><site site="a"/></spatial><spatial><site site="zs"/>'
    '<site site="c"/><site site="a"/></spatial><fixed name="f"><joint joint="zj" coef="2"/>'
    '<joint joint="j" coef="1"/></fixed></tendon>'
    '<actuator><motor name="m" tendon="s"/><motor name="n" site="c" refsite="a"/></actuator>'
    '<sensor><tendonpos name="tp" tendon="s"/><framepos name="fp" objtype="site" objname="a" reftype="site" '
    'refname="c"/></sensor><equality><weld site1="c" site2="a"/><connect body1="b" anchor="0 0 0"/>'
    '<joint joint1="j" joint2="zj"/></equality><contact><exclude body1="z" body2="b"/></contact>',
    "copy": """<default><default class="d"><geom size="0.3"/></default></default>
      <worldbody><body name="z" childclass="d"><joint name="zj"/><geom/><site name="zs"/>
        <frame pos="0 0 2"><body name="r"><joint name="j"/><geom/><site name="s"/></body></frame></body>
      <attach body="r" prefix="p_"/><body name="y" pos="1 0 0"><geom size="0.1"/><joint name="yj"/>
        <attach body="p_r" prefix="q_"/></body></worldbody>
      <tendon><spatial name="t"><site site="s"/><site site="zs"/></spatial></tendon>
      <actuator><motor name="m" joint="j"/></actuator><sensor><clock name="c"/></sensor>
      <equality><joint joint1="j" joint2="zj"/></equality>""",
    "named frame": """<worldbody><frame pos="0 0 7"><frame name="fr" pos="0 0 5">
      <body name="r" pos="1 0 0"><joint name="j"/><geom size="0.3"/></body><geom size="0.1"/></frame></frame>
      <body name="y"><joint name="yj"/><geom size="0.1"/>
        <attach frame="fr" prefix="p_"/></body></worldbody>""",
    "inner part": MODEL + '<worldbody><attach model="c" body="tip" prefix="p_"/></worldbody>',
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
        (
            MODEL + '<worldbody><attach model="d" prefix="a"/></worldbody>',
            "attach: model 'd' does not exist in <asset>; there are c",
        ),
        (
            MODEL + '<worldbody><attach prefix="a"/></worldbody>',
            "names neither a model nor a body .* of this file; .*the models in <asset> are c",
        ),
        (
            '<worldbody><body name="hand"/><attach body="hanf" prefix="a"/><body name="hanf"/></worldbody>',
            "body 'hanf' does not exist in this file, above the <attach>; did you mean 'hand'",
        ),
        (
            '<worldbody><body name="a"><attach body="a" prefix="a"/></body></worldbody>',
            "stands inside body 'a', which it would copy into itself",
        ),
        (
            MODEL + '<worldbody><attach model="c" body="x" prefix="a"/></worldbody>',
            "body 'x' does not exist in",
        ),
        ('<asset><model name="c" file="x.xml"/></asset>', "file 'x.xml' does not exist"),
        ('<asset><model name="c" file="main.xml"/></asset>', "attaches itself"),
        ('<worldbody><replicate count="0"><geom size="1"/></replicate></worldbody>', "must be positive"),
        (
            '<worldbody><replicate count="99999999"><geom size="1"/></replicate></worldbody>',
            "more than 20000 elements",
        ),
    ],
)
def test_what_is_refused(folder, text, reason):
    with pytest.raises(ModelError, match=reason):
        load(folder, text)


def attach(folder, child, around, **options):
    """A model whose child and surroundings have options."""
    text = CHILD.replace("<default>", f"{child}<default>", 1)
    (folder / "sub" / "child.xml").write_text(text)
    path = folder / "main.xml"
    path.write_text(
        f"<mujoco>{around}{MODEL}<worldbody><attach model='c' body='other' prefix='p'/></worldbody></mujoco>"
    )
    return load_mjcf(path, **options)


@pytest.mark.parametrize(
    "child, around, step, weight",
    [
        ('<option timestep="0.01" gravity="0 0 -1"/>', '<compiler conflict="merge"/>', 0.01, -1.0),
        ('<option timestep="0.001"/>', '<compiler conflict="merge"/><option timestep="0.01"/>', 0.001, -9.81),
        ('<option timestep="0.01"/>', '<compiler conflict="merge"/><option timestep="0.001"/>', 0.001, -9.81),
        ("", '<compiler conflict="error"/><option timestep="0.01"/>', 0.01, -9.81),
        ('<option><flag gravity="disable"/></option>', '<compiler conflict="merge"/>', 0.002, 0.0),
    ],
)  # fmt: skip
def test_options_of_attached_models(folder, child, around, step, weight, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        spec = attach(folder, child, around).spec
    theirs = mujoco.MjModel.from_xml_path(str(folder / "main.xml"))
    capfd.readouterr()
    assert spec.timestep == step == theirs.opt.timestep
    assert spec.gravity[2] == weight
    is_weightless = theirs.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    assert weight == (0.0 if is_weightless else theirs.opt.gravity[2])


def test_options_that_do_not_hold_are_listed_or_refused(folder):
    child = '<option timestep="0.01"><flag contact="disable"/></option>'
    with pytest.warns(UserWarning, match="option timestep of an attached model"):
        unread = attach(folder, child, "").unread
    said = {entry.what: entry.changes for entry in unread if "attached" in entry.what}
    assert said == {
        f"{what} of an attached model": "that of the model around it holds"
        for what in ("option timestep", "flag contact")
    }
    with pytest.raises(ModelError, match=r"timestep='0\.01' is not that of the model that attaches"):
        attach(folder, child, '<compiler conflict="error"/><option timestep="0.02"/>')
    with pytest.raises(ModelError, match="conflict='maybe' must be one of"):
        attach(folder, child, '<compiler conflict="maybe"/>')


def test_a_site_called_world(folder):
    """The world is a body; other parts of that name are renamed like all others."""
    child = CHILD.replace('<geom name="ground"', '<site name="world"/><geom name="ground"').replace(
        "<sensor>", '<sensor><framepos name="w" objtype="site" objname="world"/>'
    )
    (folder / "sub" / "child.xml").write_text(child)
    _, ours = load(folder, MODELS["world"])
    assert {sensor.name: sensor.target for sensor in ours.spec.sensors}["q_w"] == "q_world"
