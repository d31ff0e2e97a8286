"""What robots look like: places, colours and meshes against Pinocchio's and MuJoCo's own scenes."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from helpers import ROBOTS
from mjcf_text import DATA, FILES
from taction.bench.dynamics import PinocchioState, robot_data
from taction.io.visual_meshes import read_visual_mesh, visual_parts
from taction.kinematics.configuration import random_state

FOLDER = robot_data()


def placed(model, q):
    """Every visual of a model with its placement in the world, body by body, those of the world first."""
    poses = ta.forward_kinematics(model, q)
    out = [("universe", v, v.pose) for v in model.spec.ground_visuals]
    for i, body in enumerate(model.spec.bodies):
        carrier = ta.Transform(poses.rotation[i], poses.position[i])
        out += [(body.name, v, carrier @ v.pose) for v in body.visuals]
    return out


# ----- URDF -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(FOLDER is None, reason="needs pinocchio and example-robot-data")
@pytest.mark.parametrize(
    "name",
    [
        "go2",
        "solo12",
        "icub",
        "panda",
        *(pytest.param(n, marks=pytest.mark.long) for n in ("anymal_b", "baxter")),
    ],
)
def test_places_and_colours_are_pinocchios(name):
    pin = pytest.importorskip("pinocchio")
    path = FOLDER / ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ta.load_urdf(path, load_meshes=False, check_inertia=False)
    peer = pin.buildModelFromUrdf(str(path))
    folders = [str(FOLDER.parent), str(FOLDER.parent.parent)]
    scene = pin.buildGeomFromUrdf(peer, str(path), pin.GeometryType.VISUAL, package_dirs=folders)
    data, seen, state = peer.createData(), scene.createData(), PinocchioState(model, peer)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, _ = random_state(model, rng)
        pin.updateGeometryPlacements(peer, data, scene, seen, state.configuration(q))
        ours = placed(model, q)
        assert len(ours) == scene.ngeoms > 5
        number: dict[str, int] = {}
        for body, visual, pose in ours:
            index = scene.getGeometryId(f"{body}_{number.setdefault(body, 0)}")
            number[body] += 1
            there = seen.oMg[index]
            np.testing.assert_allclose(pose.translation, there.translation, atol=1e-9)
            np.testing.assert_allclose(pose.rotation, there.rotation, atol=1e-9)
            if visual.colour is not None:
                np.testing.assert_allclose(visual.colour, scene.geometryObjects[index].meshColor, atol=1e-12)


@pytest.mark.skipif(FOLDER is None, reason="needs pinocchio and example-robot-data")
@pytest.mark.parametrize("name", ["go2", "solo12", "laikago"])  # COLLADA, STL and OBJ
def test_meshes_are_those_that_pinocchio_draws(name):
    pin = pytest.importorskip("pinocchio")
    pytest.importorskip("collada")
    path = FOLDER / ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ta.load_urdf(path, load_meshes=False)
    peer = pin.buildModelFromUrdf(str(path))
    folders = [str(FOLDER.parent), str(FOLDER.parent.parent)]
    scene = pin.buildGeomFromUrdf(peer, str(path), pin.GeometryType.VISUAL, package_dirs=folders)
    known = {}
    for body in model.spec.bodies:
        for number, visual in enumerate(body.visuals):
            if isinstance(visual.geometry, ta.MeshFile) and visual.geometry not in known:
                parts = known[visual.geometry] = read_visual_mesh(visual.geometry)
                points = np.concatenate([mesh.vertices for mesh, _ in parts])
                theirs = scene.geometryObjects[scene.getGeometryId(f"{body.name}_{number}")].geometry
                # readers differ in which triangles share a point: every point counts once
                sets = (np.unique(np.round(p, 6), axis=0) for p in (points, theirs.vertices()))
                ours, there = (np.sort(p @ np.array([0.36, 0.48, 0.8])) for p in sets)
                assert len(ours) == len(there)
                np.testing.assert_allclose(ours, there, atol=2e-6)
    assert len(known) > 3


# ----- MJCF -----------------------------------------------------------------------------------------------

TET = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
ASSETS = """<default><material rgba="0 0.3 0 1"/>
  <default class="red"><geom material="red"/></default></default>
<asset><material name="red" rgba="1 0 0 0.5"/><material name="plain"/><material name="clear" rgba="1 1 1 0"/>
  <mesh name="tet" file="tet.obj" scale="0.2 0.3 -0.4" refpos="0.1 0.2 0.3" refquat="1 2 3 4"/>
  <mesh name="painted" file="tet.obj" material="red"/>
  <mesh name="text" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 2 3"/></asset>"""
GEOMS = """<geom size="0.1"/><geom size="0.1" rgba="0 1 0 1"/><geom size="0.1" material="red"/>
<geom size="0.1" material="red" rgba="0.5 0.5 0.5 1"/><geom size="0.1" material="red" rgba="0.5 0.5 0.5 0.9"/>
<geom size="0.1" material="plain"/><geom size="0.1" material="clear"/><geom size="0.1" rgba="1 1 1 0"/>
<geom size="0.1" group="1"/><geom size="0.1" group="2" contype="0" conaffinity="0"/>
<geom size="0.1" group="3"/><geom size="0.1" class="red"/><geom size="0.1" rgba="2 -1 0.5 1"/>
<geom type="mesh" mesh="tet" pos="1 2 3" euler="10 20 30"/><geom type="mesh" mesh="painted"/>
<geom type="mesh" mesh="text" contype="0" conaffinity="0"/>
<geom type="mesh" mesh="tet" contype="0" conaffinity="0" material="plain"/>
<geom type="capsule" fromto="0 0 0 1 1 1" size="0.1"/><geom type="box" size="1 2 3" zaxis="1 1 0"/>"""
BODY = f'<body name="b" pos="0 0 1"><joint name="j" axis="1 2 3"/>{GEOMS}</body>'
TEXTS = {
    "geoms": f"{ASSETS}<worldbody>{GEOMS}<geom type='plane' size='1 1 1'/>{BODY}</worldbody>",
    "frames": f'{ASSETS}<worldbody><frame pos="1 2 3" euler="30 0 0" childclass="red">{BODY}</frame>'
    "</worldbody>",
    "replicas": f'{ASSETS}<worldbody><replicate count="3" offset="0 0 1" euler="0 10 0">{BODY}</replicate>'
    "</worldbody>",
    "discarded": f'<compiler discardvisual="true"/>{ASSETS}<worldbody>{BODY}</worldbody>',
    "attached": '<asset><material name="red" rgba="0 0 1 1"/><model name="c" file="child.xml"/></asset>'
    '<worldbody><attach model="c" body="b" prefix="p_"/><geom size="0.3" material="red"/></worldbody>',
}


def mujoco_scene(peer, q):
    """What MuJoCo's renderer is given: geoms that are drawn, by number."""
    mujoco = pytest.importorskip("mujoco")
    data, scene = mujoco.MjData(peer), mujoco.MjvScene(peer, 1000)
    data.qpos[:] = q
    mujoco.mj_forward(peer, data)
    every, camera = int(mujoco.mjtCatBit.mjCAT_ALL), mujoco.MjvCamera()
    mujoco.mjv_updateScene(peer, data, mujoco.MjvOption(), None, camera, every, scene)
    of_geoms = int(mujoco.mjtObj.mjOBJ_GEOM)
    return data, {g.objid: g for g in scene.geoms[: scene.ngeom] if g.objtype == of_geoms}


def hold_against_mujoco(path):
    """Compare every visual of a file with the geom that MuJoCo draws; returns how many there are."""
    mujoco = pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ta.load_mjcf(path)
    peer = mujoco.MjModel.from_xml_path(str(path))
    q, _ = random_state(model, np.random.default_rng(5))
    data, drawn = mujoco_scene(peer, q)
    of_mesh, of_plane = int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_PLANE)
    geoms = [g for g in sorted(drawn) if peer.geom_type[g] != of_plane]
    ours = placed(model, q)
    assert len(ours) == len(geoms)
    for g, (_, visual, pose) in zip(geoms, ours, strict=True):
        np.testing.assert_allclose(visual.colour, np.clip(drawn[g].rgba, 0, 1), atol=1e-6)
        place, axes = data.geom_xpos[g], data.geom_xmat[g].reshape(3, 3)
        if peer.geom_type[g] != of_mesh:
            np.testing.assert_allclose(pose.translation, place, atol=1e-9)
            np.testing.assert_allclose(pose.rotation, axes, atol=1e-9)
            continue
        first, count = peer.mesh_vertadr[peer.geom_dataid[g]], peer.mesh_vertnum[peer.geom_dataid[g]]
        theirs = peer.mesh_vert[first : first + count] @ axes.T + place
        [(mesh, _)] = visual_parts(visual)
        gaps = np.linalg.norm(pose.apply(mesh.vertices)[:, None] - theirs[None], axis=2)
        assert gaps.min(axis=0).max() < 1e-6 and gaps.min(axis=1).max() < 1e-6
    return len(ours)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_look_as_in_mujoco(path, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)  # for its log
    assert hold_against_mujoco(path) > 0
    capfd.readouterr()


@pytest.mark.parametrize("case", TEXTS)
def test_looks_are_mujocos(case, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("tet.obj").write_text(TET)
    Path("child.xml").write_text(f"<mujoco>{ASSETS}<worldbody>{BODY}</worldbody></mujoco>")
    Path("main.xml").write_text(f"<mujoco>{TEXTS[case]}</mujoco>")
    assert hold_against_mujoco(tmp_path / "main.xml") > 10
    capfd.readouterr()


def test_data_has_meshes_by_file():
    model = ta.load_mjcf(DATA / "meshes.xml")
    kinds = [type(v.geometry) for body in model.spec.bodies for v in body.visuals]
    assert kinds == [ta.Mesh, ta.Mesh, ta.Mesh, ta.MeshFile, ta.Box]
