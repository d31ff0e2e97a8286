"""Sensors read what MuJoCo's read: at random states to rounding, in motion to the order of the step.

MuJoCo gives accelerations, joint forces and readings at a state; ours are made from that state and those
accelerations. A run has accelerations as changes of velocity over a step instead, of first order.
"""

from pathlib import Path

import numpy as np
import pytest

import taction as ta
from taction.model.sensors import KINDS
from taction.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from taction.sim.sensors import Moments, Readings
from taction.sim.touch_zone import meets

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings("ignore::taction.UnsupportedFeatureWarning")

FILE = Path(__file__).parents[1] / "data" / "sensors.xml"
STATES, TOLERANCE = 6, 1e-10
FRAMES = (
    ("site", "tip"),
    ("xbody", "tool"),
    ("body", "base"),
    ("geom", "bar"),
    ("geom", "hull"),
    ("geom", "wall"),
)
BY = ("", "site imu", "xbody arm", "geom eyelid", "site origin")
ACTUATORS = ("turner", "slider", "socket", "winch", "propeller")
ACCELERATIONS = ("framelinacc", "frameangacc")
LENGTHS = ("actuatorpos", "actuatorvel", "actuatorfrc")
ON_SITES = ("velocimeter", "gyro", "accelerometer", "force", "torque", "touch")
OF_TREES = ("subtreecom", "subtreelinvel", "subtreeangmom")
PLAIN = {
    "joint": {
        "turn": ("jointpos", "jointvel", "jointlimitpos", "jointlimitvel", "jointactuatorfrc"),
        "slide": ("jointpos", "jointvel"),
        "ball": ("ballquat", "ballangvel"),
    },
    "tendon": {
        "rope": ("tendonpos", "tendonvel"),
        "fixed": ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel"),
    },
    "actuator": dict.fromkeys(ACTUATORS, LENGTHS),
    "site": dict.fromkeys(("tip", "wrist", "imu"), ON_SITES),
    "body": dict.fromkeys(("ring", "base", "world"), OF_TREES),
}


def everything() -> str:
    """The file with a sensor of every kind on everything that it can be on."""
    lines = ['<clock name="now"/><e_potential name="up"/><e_kinetic name="moving"/>']
    for part, targets in PLAIN.items():
        for target, kinds in targets.items():
            lines += [f'<{kind} name="{kind} {target}" {part}="{target}"/>' for kind in kinds]
    for part, target in FRAMES:
        for by in BY:
            ref = f'reftype="{by.split()[0]}" refname="{by.split()[1]}"' if by else ""
            for kind in (k for k in KINDS if k.startswith("frame")):
                is_open = part == "body" and kind in ("framequat", "framexaxis", "frameyaxis", "framezaxis")
                if not is_open and not (by and kind in ACCELERATIONS):
                    name = f"{kind} {part} {target} {by}"
                    lines.append(f'<{kind} name="{name}" objtype="{part}" objname="{target}" {ref}/>')
    lines.append('<gyro name="bounded" site="tip" cutoff="0.5"/>')
    return FILE.read_text().replace("</mujoco>", f"<sensor>{''.join(lines)}</sensor></mujoco>")


def readings(text: str, seed: int = 0) -> tuple[Readings, dict[str, np.ndarray]]:
    """Ours and MuJoCo's at random states."""
    theirs, ours = mujoco.MjModel.from_xml_string(text), ta.load_mjcf(text)
    theirs.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data, rng = mujoco.MjData(theirs), np.random.default_rng(seed)
    columns: dict[str, list] = {key: [] for key in ("t", "q", "v", "rate", "tau", "read")}
    for _ in range(STATES):
        q, v = theirs.qpos0.copy(), rng.normal(size=theirs.nv)
        mujoco.mj_integratePos(theirs, q, 0.5 * rng.normal(size=theirs.nv), 1.0)
        data.qpos[:], data.qvel[:], data.time = q, v, rng.random()
        data.ctrl[:] = rng.normal(size=theirs.nu)
        data.ctrl[ACTUATORS.index("winch")] = 0.0  # MuJoCo does not count a tendon as a part of the joint
        mujoco.mj_forward(theirs, data)
        now = data.time, q, v, data.qacc.copy(), data.qfrc_actuator.copy(), data.sensordata.copy()
        for column, value in zip(columns.values(), now, strict=True):
            column.append(value)
    arrays = {key: np.array(column) for key, column in columns.items()}
    read = arrays.pop("read")
    expected = {theirs.sensor(i).name: read[:, a : a + n] for i, (a, n) in
                enumerate(zip(theirs.sensor_adr, theirs.sensor_dim, strict=True))}  # fmt: skip
    return Readings(ours, lambda: Moments(**arrays)), expected


def test_every_kind_at_random_states(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours, theirs = readings(everything())
    assert list(ours) == list(theirs)
    assert {name.split()[0] for name in ours} >= set(KINDS) - {"clock", "e_potential", "e_kinetic"}
    for name, expected in theirs.items():
        if "quat" in name:  # the sign of a quaternion is ours to choose
            expected = np.where(expected[:, :1] < 0.0, -expected, expected)
        scale = max(1.0, np.abs(expected).max())
        assert ours[name].shape == expected.shape
        assert np.abs(ours[name] - expected).max() < TOLERANCE * scale, name
    assert np.abs(ours["bounded"]).max() == 0.5


def test_zones_of_touch_are_met_as_in_mujoco():
    rng = np.random.default_rng(3)
    x, d = rng.uniform(-1.5, 1.5, (400, 3)), rng.normal(size=(400, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    d[:40] = np.eye(3)[rng.integers(0, 3, 40)]  # along flat sides
    kinds = mujoco.mjtGeom
    for zone, kind, size in (
        (Sphere(0.7), kinds.mjGEOM_SPHERE, (0.7, 0, 0)),
        (Capsule(0.4, 1.2), kinds.mjGEOM_CAPSULE, (0.4, 0.6, 0)),
        (Cylinder(0.5, 1.0), kinds.mjGEOM_CYLINDER, (0.5, 0.5, 0)),
        (Ellipsoid((0.3, 0.6, 0.9)), kinds.mjGEOM_ELLIPSOID, (0.3, 0.6, 0.9)),
        (Box((0.6, 1.0, 1.4)), kinds.mjGEOM_BOX, (0.3, 0.5, 0.7)),
    ):
        frame = np.zeros(3), np.eye(3).ravel(), np.array(size, dtype=float)
        theirs = [mujoco.mju_rayGeom(*frame, a, b, int(kind), None) >= 0 for a, b in zip(x, d, strict=True)]
        ours = meets(zone, x, d)
        assert np.array_equal(ours, theirs), type(zone).__name__
        assert 20 < ours.sum() < 380


PENDULUM = """<mujoco><option timestep="{h}"/><worldbody>
<body><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
<body pos="0 0 -0.5"><joint name="b" axis="0.3 1 0"/>
<geom name="g" type="box" size="0.05 0.1 0.2" pos="0 0 -0.2"/>
<site name="s" pos="0.02 0 -0.1" euler="20 10 0"/></body></body></worldbody>
<sensor><accelerometer name="accelerometer" site="s"/><force name="force" site="s"/>
<torque name="torque" site="s"/>
<frameangacc name="turning" objtype="geom" objname="g"/><gyro name="gyro" site="s"/></sensor></mujoco>"""


def test_accelerations_and_forces_of_a_motion_are_of_first_order():
    """Half the step is half as far from MuJoCo's readings of a motion with a fortieth of it."""
    end, fine = 0.3, 2.5e-5
    theirs = mujoco.MjModel.from_xml_string(PENDULUM.format(h=fine))
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data, start = mujoco.MjData(theirs), np.array([1.0, -0.5])
    data.qpos[:] = start
    for _ in range(round(end / fine)):
        mujoco.mj_step(theirs, data)
    mujoco.mj_forward(theirs, data)
    errors = []
    for h in (1e-3, 5e-4):
        world = ta.World(ta.load_mjcf(PENDULUM.format(h=h)))
        run = ta.Simulation(world).run(end, q=start)
        errors.append({n: np.abs(run.sensors[n][-1] - data.sensor(n).data).max() for n in run.sensors})
    for name, coarse in errors[0].items():
        assert 1.7 < coarse / errors[1][name] < 2.4, name
        assert coarse < 0.01 * np.abs(data.sensor(name).data).max(), name


RESTING = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="3"/>
<site name="left" type="box" size="0.05 0.2 0.05" pos="-0.2 0 -0.1"/>
<site name="right" type="box" size="0.05 0.2 0.05" pos="0.2 0 -0.1"/>
<body name="lid" pos="0.05 0 0.15"><joint name="hinge" axis="0 1 0" stiffness="1e3" damping="5"/>
<geom type="sphere" size="0.03" mass="0.5" pos="0.1 0 0"/><site name="hinge" euler="0 90 0"/></body></body>
</worldbody><sensor><touch name="left" site="left"/><touch name="right" site="right"/>
<force name="force" site="hinge"/><torque name="torque" site="hinge"/>
<accelerometer name="imu" site="hinge"/></sensor></mujoco>"""


def test_at_rest_forces_are_those_of_statics():
    """MuJoCo's box sinks in and settles: after two seconds the loads are the same, to 1e-3 of the weight."""
    theirs = mujoco.MjModel.from_xml_string(RESTING)
    data = mujoco.MjData(theirs)
    for _ in range(2000):
        mujoco.mj_step(theirs, data)
    run = ta.Simulation(ta.World(ta.load_mjcf(RESTING))).run(2.0)
    weight = 3.5 * 9.81
    assert abs(run.sensors["left"][-1] + run.sensors["right"][-1] - weight) < 1e-6 * weight
    for name in run.sensors:
        assert np.abs(run.sensors[name][-1] - data.sensor(name).data).max() < 1e-3 * weight, name
