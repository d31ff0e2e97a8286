"""MJCF files mean the same here as in MuJoCo: coordinates, masses, kinematics, dynamics and servos.

MuJoCo compiles each file of tests/data/mjcf itself; nothing is compared with stored numbers. Run as a script,
this file prints the worst errors of mass matrix and bias per model.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

from taction._core.errors import UnsupportedFeatureWarning
from taction.dynamics.crba import mass_matrix
from taction.dynamics.rnea import bias_forces
from taction.io.mjcf import load_mjcf, parse_mjcf
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import rotation_from_quaternion
from taction.model.compile import compile_model
from taction.model.joints import JointKind

mujoco = pytest.importorskip("mujoco")

FILES = sorted((Path(__file__).parents[1] / "data" / "mjcf").glob("*.xml"))
N_STATES = 20
TOLERANCE = 1e-9

# Drawn at random once; MuJoCo has the last word on what they mean.
ORIENTATIONS = (
    'quat="0.3 -0.2 0.9 0.4"',
    'quat="-5 0.1 0 0"',
    'axisangle="1 -2 0.5 77"',
    'euler="10 -130 45"',
    'xyaxes="1 0.2 0.3 0.5 -2 1"',
    'zaxis="0.3 -0.2 -0.9"',
    'zaxis="0 0 -2"',
    'zaxis="0 0 3"',
)
EULER_SEQUENCES = ("xyz", "zyx", "XYZ", "ZYX", "xYz", "ZxY", "yzY", "XxX")


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a log file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def pair(request):
    """The same file, read by MuJoCo and by us."""
    return mujoco.MjModel.from_xml_path(str(request.param)), load_mjcf(request.param)


def random_states(theirs, seed=0):
    """Random positions with unit quaternions, and velocities."""
    rng = np.random.default_rng(seed)
    for _ in range(N_STATES):
        q = rng.uniform(-1.5, 1.5, theirs.nq)
        for kind, start in zip(theirs.jnt_type, theirs.jnt_qposadr, strict=True):
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                start = start + 3
            elif kind != mujoco.mjtJoint.mjJNT_BALL:
                continue
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        yield q, rng.uniform(-2, 2, theirs.nv)


def worst(ours, theirs):
    """Largest difference relative to the largest number."""
    return np.abs(ours - theirs).max(initial=0.0) / max(1e-12, np.abs(theirs).max(initial=0.0))


def their_bodies(theirs, spec):
    """Pairs (our body, their index); bodies between two joints are ours alone."""
    between = {j.child for j in spec.joints} - {b for b, _ in named_bodies(theirs)}
    ours = [b for b in spec.bodies if b.name not in between]
    return list(zip(ours, range(1, theirs.nbody), strict=True))


def named_bodies(theirs):
    return [(theirs.body(i).name or f"body{i}", i) for i in range(1, theirs.nbody)]


def full_inertia(theirs, i):
    R = rotation_from_quaternion(theirs.body_iquat[i])
    return R @ np.diag(theirs.body_inertia[i]) @ R.T


def same_rotation(a, b):
    """Whether two arrays of unit quaternions are equal up to sign."""
    return abs(abs(a @ b) - 1.0) < 1e-12


def test_there_are_models():
    assert len(FILES) >= 6


def test_coordinates_have_the_same_layout(pair):
    theirs, ours = pair
    assert (ours.nq, ours.nv, len(ours.spec.actuators)) == (theirs.nq, theirs.nv, theirs.nu)
    for i, joint in enumerate(ours.joints):
        assert joint.name == (theirs.joint(i).name or f"joint{i}")
        assert (joint.iq, joint.iv) == (theirs.jnt_qposadr[i], theirs.jnt_dofadr[i])
    q0 = theirs.qpos0.copy()
    for joint in ours.joints:  # the sign of a quaternion is free
        if joint.kind in (JointKind.FLOATING, JointKind.SPHERICAL):
            part = slice(joint.iq + joint.kind.nq - 4, joint.iq + joint.kind.nq)
            q0[part] *= np.sign(q0[part] @ ours.q0[part])
    np.testing.assert_allclose(ours.q0, q0, atol=1e-14)


def test_body_inertias(pair):
    theirs, ours = pair
    for body, i in their_bodies(theirs, ours.spec):
        assert body.name == (theirs.body(i).name or f"body{i}")
        I = body.inertia
        assert I.mass == pytest.approx(theirs.body_mass[i], rel=1e-12, abs=1e-15)
        if I.mass > 0:
            np.testing.assert_allclose(I.com, theirs.body_ipos[i], atol=1e-12)
            assert worst(np.linalg.eigvalsh(I.matrix), np.sort(theirs.body_inertia[i])) < 1e-12
            # MuJoCo stores principal axes, which it finds to some 1e-10 only
            assert worst(I.matrix, full_inertia(theirs, i)) < TOLERANCE


def test_total_mass_and_centre_of_mass(pair):
    theirs, ours = pair
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    masses = np.array([b.inertia.mass for b in ours.spec.bodies])
    assert masses.sum() == pytest.approx(theirs.body_mass.sum(), rel=1e-12)
    poses = forward_kinematics(ours, theirs.qpos0)
    points = [R @ b.inertia.com + p for R, p, b in zip(*poses, ours.spec.bodies, strict=True)]
    np.testing.assert_allclose(masses @ np.array(points) / masses.sum(), data.subtree_com[0], atol=1e-10)


def test_joint_parameters(pair):
    theirs, ours = pair
    np.testing.assert_allclose(ours.damping, theirs.dof_damping + reflected(theirs, "actuator_damping"))
    for i, joint in enumerate(ours.joints):
        dof = slice(joint.iv, joint.iv + joint.kind.nv)
        np.testing.assert_allclose(ours.friction[dof], theirs.dof_frictionloss[dof])
        np.testing.assert_allclose(ours.stiffness[dof], theirs.jnt_stiffness[i])
        if joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            lower, upper = theirs.jnt_range[i] if theirs.jnt_limited[i] else (-np.inf, np.inf)
            np.testing.assert_allclose([ours.lower[joint.iv], ours.upper[joint.iv]], [lower, upper])
            np.testing.assert_allclose(ours.rest[joint.iv], theirs.qpos_spring[joint.iq])
            effort = theirs.jnt_actfrcrange[i, 1] if theirs.jnt_actfrclimited[i] else np.inf
            assert ours.effort[joint.iv] == effort


def reflected(theirs, field):
    """What actuators add to each degree of freedom: their own value times gear²."""
    out = np.zeros(theirs.nv)
    for i in range(theirs.nu):
        dof = theirs.jnt_dofadr[theirs.actuator_trnid[i, 0]]
        out[dof] += np.ravel(getattr(theirs, field)[i])[0] * theirs.actuator_gear[i, 0] ** 2
    return out


def test_body_poses(pair):
    theirs, ours = pair
    data = mujoco.MjData(theirs)
    index = {name: k for k, name in enumerate(ours.body_names)}
    for q, _ in random_states(theirs):
        data.qpos[:] = q
        mujoco.mj_kinematics(theirs, data)
        poses = forward_kinematics(ours, q)
        for body, i in their_bodies(theirs, ours.spec):
            k = index[body.name]
            assert worst(poses.position[k], data.xpos[i]) < TOLERANCE
            assert worst(poses.rotation[k], rotation_from_quaternion(data.xquat[i])) < TOLERANCE


def test_shapes(pair):
    """Placement, friction and filters of shapes; the frame of a mesh geom is MuJoCo's own affair."""
    theirs, ours = pair
    shapes = [*ours.spec.ground, *(s for b, _ in their_bodies(theirs, ours.spec) for s in b.shapes)]
    assert len(shapes) == theirs.ngeom
    for i, shape in enumerate(shapes):
        assert (shape.group, shape.mask) == (theirs.geom_contype[i], theirs.geom_conaffinity[i])
        assert shape.collides == bool(theirs.geom_contype[i] or theirs.geom_conaffinity[i])
        m, expected = shape.material, theirs.geom_friction[i, 0]
        assert m.friction == (expected, expected) and m.slick == (theirs.geom_condim[i] == 1)
        assert m.priority == theirs.geom_priority[i]
        if theirs.geom_type[i] != mujoco.mjtGeom.mjGEOM_MESH:
            np.testing.assert_allclose(shape.pose.translation, theirs.geom_pos[i], atol=1e-12)
            np.testing.assert_allclose(
                shape.pose.rotation, rotation_from_quaternion(theirs.geom_quat[i]), atol=1e-12
            )


def dynamics_errors(theirs, ours):
    """Worst relative errors of mass matrix and bias forces over random states."""
    data, M, errors = mujoco.MjData(theirs), np.zeros((theirs.nv, theirs.nv)), np.zeros(2)
    for q, v in random_states(theirs):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, M)
        here = worst(mass_matrix(ours, q), M), worst(bias_forces(ours, q, v), data.qfrc_bias)
        errors = np.maximum(errors, here)
    return errors


def test_mass_matrix_and_bias_forces(pair):
    assert dynamics_errors(*pair).max() <= TOLERANCE


def test_actuator_forces(pair):
    """Force on the joint for random states and controls, also far outside the ranges."""
    theirs, ours = pair
    data, rng = mujoco.MjData(theirs), np.random.default_rng(1)
    joints = {joint.name: joint for joint in ours.joints}
    for q, v in random_states(theirs):
        u = rng.uniform(-4, 4, theirs.nu)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
        mujoco.mj_forward(theirs, data)
        force = np.zeros(ours.nv)
        for actuator, control in zip(ours.spec.actuators, u, strict=True):
            joint = joints[actuator.joint]
            force[joint.iv] += actuator_force(actuator, control, q[joint.iq], v[joint.iv])
        force = np.clip(force, -ours.effort, ours.effort)
        np.testing.assert_allclose(force, data.qfrc_actuator, rtol=1e-12, atol=1e-12)


def actuator_force(actuator, control, q, v):
    """The law that `ActuatorSpec` documents."""
    u, length, speed = np.clip(control, *actuator.control_range), actuator.gear * q, actuator.gear * v
    law = {
        "motor": u,
        "position": actuator.kp * (u - length) - actuator.kv * speed,
        "velocity": actuator.kv * (u - speed),
        "affine": actuator.gain * u + actuator.bias - actuator.kp * length - actuator.kv * speed,
    }[actuator.kind]
    return actuator.gear * np.clip(law, *actuator.force_range)


def test_keyframes(pair):
    theirs, ours = pair
    assert len(ours.spec.keyframes) == theirs.nkey
    for i, key in enumerate(ours.spec.keyframes.values()):
        np.testing.assert_allclose(key.q, theirs.key_qpos[i], atol=1e-14)
        np.testing.assert_allclose(key.v, theirs.key_qvel[i])
        np.testing.assert_allclose(key.control, theirs.key_ctrl[i])


def test_options(pair):
    theirs, ours = pair
    np.testing.assert_array_equal(ours.spec.gravity, theirs.opt.gravity)
    assert ours.spec.timestep == theirs.opt.timestep
    assert len(ours.spec.exclude) == theirs.nexclude


@pytest.mark.parametrize("sequence", EULER_SEQUENCES)
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_orientations(sequence, orientation):
    text = f"""<mujoco><compiler eulerseq="{sequence}"/><worldbody>
      <body><freejoint/><geom size="1"/><geom type="box" size="1 2 3" {orientation}/></body>
      </worldbody></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), parse_mjcf(text)
    assert same_rotation(ours.bodies[0].shapes[1].pose.quaternion, theirs.geom_quat[1])


CLASSES = """<default>{main}<default class="c">{c}<default class="d">{d}</default></default></default>"""
LAWS = (
    {"main": '<position kp="5" kv="2"/>', "c": '<velocity kv="3" gear="4"/>', "d": "<motor/>"},
    {
        "main": '<general gainprm="400" biastype="affine" biasprm="0 -400 -7"/>',
        "c": '<motor gear="2"/>',
        "d": "",
    },
    {"main": '<position kp="5"/><velocity kv="3"/>', "c": '<position kv="9"/>', "d": '<general gear="3"/>'},
    {
        "main": '<motor ctrlrange="-1 1"/>',
        "c": '<position kp="8" forcerange="-2 3"/>',
        "d": '<velocity kv="2"/>',
    },
    {"main": "", "c": '<general gainprm="3" gear="2"/>', "d": '<position kv="1"/>'},
    {"main": '<velocity kv="5"/>', "c": '<position kp="6" kv="1"/><motor gear="3"/>', "d": ""},
)


@pytest.mark.parametrize("laws", LAWS)
def test_actuator_defaults(laws):
    """Each shorthand, in each class, gets the gains and ranges that MuJoCo gives it."""
    tags = [
        f'<{tag} joint="j" class="{c}"/>'
        for c in ("main", "c", "d")
        for tag in ("motor", "position", "velocity")
    ]
    text = f"""<mujoco>{CLASSES.format(**laws)}<worldbody>
      <body><joint name="j"/><geom size="1"/></body>
      </worldbody><actuator>{"".join(tags)}</actuator></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), parse_mjcf(text)
    for i, actuator in enumerate(ours.actuators):
        kp, kv = -theirs.actuator_biasprm[i, 1], -theirs.actuator_biasprm[i, 2]
        assert (actuator.kp, actuator.kv, actuator.gear) == (kp, kv, theirs.actuator_gear[i, 0])
        limited = theirs.actuator_ctrllimited[i], theirs.actuator_forcelimited[i]
        assert tuple(map(np.isfinite, (actuator.control_range[0], actuator.force_range[0]))) == limited


# ----- Random models ----------------------------------------------------------------------------------------


class Writer:
    """Writes a random model: frames, default classes, several joints per body, shapes and orientations."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def numbers(self, n, low=-1.0, high=1.0):
        return " ".join(f"{x:.4f}" for x in self.rng.uniform(low, high, n))

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def pose(self):
        lengths = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
        kind = self.pick(*lengths)
        return f'pos="{self.numbers(3)}" {kind}="{self.numbers(lengths[kind])}"'

    def style(self, attribute="class"):
        return self.pick("", f'{attribute}="a"', f'{attribute}="b"')

    def geom(self):
        kind = self.pick("sphere", "capsule", "cylinder", "box", "ellipsoid")
        size = f'size="{self.numbers(3, 0.05, 0.3)}"'
        place = self.pose()
        if kind != "sphere" and self.rng.random() < 0.4:
            place = f'fromto="{self.numbers(6)}"'
        mass = self.pick("", f'mass="{self.numbers(1, 0.1, 2)}"', f'density="{self.numbers(1, 100, 900)}"')
        return f'<geom type="{kind}" {size} {place} {mass} {self.style()}/>'

    def joint(self, kind):
        values = f'pos="{self.numbers(3)}" axis="{self.numbers(3)}" armature="{self.numbers(1, 0, 0.5)}"'
        ref = f'ref="{self.numbers(1)}"' if kind in ("hinge", "slide") else ""
        return f'<joint type="{kind}" {values} {ref} {self.style()}/>'

    def framed(self, text):
        if self.rng.random() < 0.3:
            return f"<frame {self.pose()} {self.style('childclass')}>{text}</frame>"
        return text

    def body(self, depth):
        kinds = self.pick(
            [], ["hinge"], ["slide", "hinge"], ["hinge", "hinge", "slide"], ["slide", "ball"], ["ball"]
        )
        joints = "".join(self.framed(self.joint(kind)) for kind in kinds)
        if depth == 0 and self.rng.random() < 0.4:
            joints = "<freejoint/>"
        mass = "".join(self.framed(self.geom()) for _ in range(self.rng.integers(1, 3)))
        if self.rng.random() < 0.3:
            moments = f'mass="{self.numbers(1, 0.5, 2)}" diaginertia="{self.numbers(3, 0.1, 0.15)}"'
            mass += self.framed(f"<inertial {self.pose()} {moments}/>")
        inside = [
            self.framed(self.body(depth + 1)) for _ in range(self.rng.integers(0, 3) if depth < 3 else 0)
        ]
        return f"<body {self.pose()} {self.style('childclass')}>{joints}{mass}{''.join(inside)}</body>"

    def model(self):
        sequence = "".join(self.pick(*"xyzXYZ") for _ in range(3))
        classes = """<default><joint damping="0.1"/><geom density="700"/>
          <default class="a"><geom density="300"/><joint stiffness="1"/>
          <default class="b"><geom friction="0.3"/></default></default></default>"""
        bodies = "".join(self.framed(self.body(0)) for _ in range(self.rng.integers(1, 4)))
        # one hinge at least, so that every model moves
        last = '<body><joint/><geom size="0.1"/></body>'
        compiler = f'<compiler angle="{self.pick("degree", "radian")}" eulerseq="{sequence}"/>'
        return f"<mujoco>{compiler}{classes}<worldbody>{bodies}{last}</worldbody></mujoco>"


@pytest.mark.parametrize("seed", range(40))
def test_random_models(seed):
    text = Writer(seed).model()
    theirs = mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeatureWarning)  # springs on ball joints
        ours = compile_model(parse_mjcf(text))
    data, M = mujoco.MjData(theirs), np.zeros((theirs.nv, theirs.nv))
    index = {name: k for k, name in enumerate(ours.body_names)}
    for q, v in random_states(theirs, seed):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, M)
        poses = forward_kinematics(ours, q)
        for name, i in named_bodies(theirs):
            assert worst(poses.position[index[name]], data.xpos[i]) < TOLERANCE
        assert worst(mass_matrix(ours, q), M) < TOLERANCE
        assert worst(bias_forces(ours, q, v), data.qfrc_bias) < TOLERANCE


if __name__ == "__main__":
    print("| model | nv | M | bias |\n|---|---|---|---|")
    for path in FILES:
        theirs, ours = mujoco.MjModel.from_xml_path(str(path)), load_mjcf(path)
        print(
            f"| {path.stem} | {ours.nv} | {' | '.join(f'{e:.0e}' for e in dynamics_errors(theirs, ours))} |"
        )


def test_springs_and_dampers_by_time_constant():
    text = """<mujoco><worldbody>
      <body><joint axis="0 1 0" springdamper="0.2 0.7" stiffness="3"/><geom size="0.1" pos="0.3 0 0"/>
        <body pos="0 0.2 0.3"><joint axis="0 1 1" armature="0.1" springdamper="0.1 2"/>
          <geom size="0.2" pos="0 0.1 0"/></body></body></worldbody></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), compile_model(parse_mjcf(text))
    np.testing.assert_allclose(ours.damping, theirs.dof_damping, rtol=1e-12)
    np.testing.assert_allclose(ours.stiffness, theirs.jnt_stiffness, rtol=1e-12)


def test_meshes_lie_in_the_mesh_folder_or_beside_the_file_that_names_them(tmp_path):
    def write(name, scale):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        corners = scale * np.vstack([np.zeros(3), np.eye(3)])
        lines = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
        path.write_text(lines + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")

    for name, scale in (("md/a.obj", 1.0), ("part/a.obj", 2.0), ("part/b.obj", 3.0)):
        write(name, scale)
    (tmp_path / "part" / "i.xml").write_text(
        '<mujoco><asset><mesh file="a.obj"/><mesh file="b.obj"/></asset></mujoco>'
    )
    main = tmp_path / "main.xml"
    bodies = "".join(f'<body><joint/><geom type="mesh" mesh="{m}"/></body>' for m in "ab")
    main.write_text(
        '<mujoco><compiler meshdir="md"/><include file="part/i.xml"/>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    theirs, ours = mujoco.MjModel.from_xml_path(str(main)), load_mjcf(main)
    masses = [body.inertia.mass for body in ours.spec.bodies]
    np.testing.assert_allclose(masses, theirs.body_mass[1:], rtol=1e-6)
    np.testing.assert_allclose(masses, [1000 / 6, 27000 / 6], rtol=1e-12)


@pytest.mark.parametrize("is_inline", [True, False])
def test_meshes_are_read_in_single_precision(tmp_path, is_inline):
    """A thin plate far from the origin: rounding of its corners changes its mass by 1e-5."""
    corners = np.array([0.3, 0.7, 0.9]) + np.vstack([np.zeros(3), np.diag([0.111, 0.222, 0.000333])])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    rows = "\n".join("v " + " ".join(map(repr, row)) for row in corners.tolist())
    (tmp_path / "a.obj").write_text(rows + "\n" + "\n".join("f " + " ".join(map(str, f + 1)) for f in faces))
    numbers = [" ".join(map(repr, a.ravel().tolist())) for a in (corners, faces)]
    shape = f'vertex="{numbers[0]}" face="{numbers[1]}"' if is_inline else 'file="a.obj"'
    path = tmp_path / "main.xml"
    path.write_text(
        f'<mujoco><asset><mesh name="a" scale="0.3 0.3 0.3" {shape}/></asset><worldbody><body><joint/>'
        '<geom type="mesh" mesh="a" density="7800"/></body></worldbody></mujoco>'
    )
    ours, theirs = load_mjcf(path).spec.bodies[0].inertia.mass, mujoco.MjModel.from_xml_path(str(path))
    np.testing.assert_allclose(ours, theirs.body_mass[1], rtol=1e-9)
