"""Whole files of every kind that is read, and how each kind is read and its result looked at.

A new kind of file is one more entry of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import damages
import taction as ta
from taction.sim.recorder import CHUNK

ROOT = Path(__file__).resolve().parents[1]
MJCF = ROOT / "tests" / "data" / "mjcf"
TETRAHEDRON = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        make: writes whole files into a folder, and gives those to damage; others they need may lie beside.
        read: reads a file and makes sure that what came of it is usable.
        damages: what may happen to it.
        limit: for one file [s].
    """

    make: Callable[[Path], list[Path]]
    read: Callable[[Path], Any]
    damages: tuple[damages.Damage, ...]
    limit: float = 5.0


class Unusable(Exception):
    """What was read without an error cannot be used."""


def _demand(is_so: Any, what: str) -> None:
    if not is_so:
        raise Unusable(what)


# ----- Robots --------------------------------------------------------------------------------------------


def _urdf(folder: Path) -> list[Path]:
    _stl(folder)
    _obj(folder)
    inertial = (
        '<inertial><origin xyz="0.01 0 -0.02" rpy="0 0.1 0"/><mass value="1.5"/>\n'
        '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
    )
    shapes = (
        '<box size="0.3 0.2 0.1"/>', '<sphere radius="0.05"/>', '<cylinder radius="0.03" length="0.2"/>',
        '<mesh filename="ascii.stl" scale="1 1 1"/>', '<mesh filename="part.obj"/>',
    )  # fmt: skip
    links = "\n".join(
        f'<link name="l{k}">{inertial}\n<visual><geometry>{shape}</geometry></visual>\n'
        f'<collision name="c{k}"><origin xyz="0 0 {0.01 * k}" rpy="0.1 0 0"/><geometry>{shape}</geometry>'
        "</collision></link>"
        for k, shape in enumerate(shapes)
    )
    limits = (
        '<limit lower="-1.5" upper="1.5" effort="20" velocity="10"/><dynamics damping="0.1" friction="0.2"/>'
    )
    joints = "\n".join(
        f'<joint name="j{k}" type="{kind}"><origin xyz="0.1 0 0.05" rpy="0 0 0.3"/><parent link="l{k - 1}"/>'
        f'<child link="l{k}"/><axis xyz="0 1 0"/>{more}</joint>'
        for k, (kind, more) in enumerate(
            (
                ("revolute", limits),
                ("prismatic", limits),
                ("continuous", '<mimic joint="j1" multiplier="2" offset="0.1"/>'),
                ("fixed", ""),
            ),
            start=1,
        )
    )
    path = folder / "robot.urdf"
    path.write_text(f'<?xml version="1.0"?>\n<robot name="sample">\n{links}\n{joints}\n</robot>\n')
    return [path]


def _srdf(folder: Path) -> list[Path]:
    """Beside the robot that it is about."""
    _urdf(folder)
    path = folder / "robot.srdf"
    path.write_text(
        '<?xml version="1.0"?>\n<robot name="sample">\n<group name="all"><joint name="j1"/></group>\n'
        '<group_state name="home" group="all"><joint name="j1" value="0.1"/>\n'
        '<joint name="j2" value="0.05"/></group_state>\n'
        '<disable_collisions link1="l0" link2="l1" reason="Adjacent"/>\n'
        '<disable_collisions link1="l1" link2="l3" reason="Never"/>\n</robot>\n'
    )
    return [path]


def _read_srdf(path: Path) -> Any:
    return _use_model(ta.load_urdf(path.with_name("robot.urdf"), srdf=path, floating_base=True))


def _mjcf(folder: Path) -> list[Path]:
    parts = folder / "parts"
    parts.mkdir(exist_ok=True)
    for path in (MJCF / "parts").iterdir():
        (parts / path.name).write_bytes(path.read_bytes())
    out = [folder / path.name for path in sorted(MJCF.glob("*.xml"))]
    for path in out:
        path.write_bytes((MJCF / path.name).read_bytes())
    return out


def _read_urdf(path: Path) -> Any:
    return _use_model(ta.load_urdf(path, floating_base=True, load_meshes=True))


def _read_mjcf(path: Path) -> Any:
    return _use_model(ta.load_mjcf(path))


def _use_model(model: ta.Model) -> Any:
    _demand(np.isfinite(model.tree.constant).all() and np.isfinite(model.q0).all(), "a model with NaN")
    _demand(len(repr(model)) < 2000, "a long repr")
    return ta.World(model, ground=ta.Plane())


# ----- Robots in motion ----------------------------------------------------------------------------------

STEPS = 10  # of each run
LONG = 20.0  # for a file that is read and moved [s]


def _hand(folder: Path) -> list[Path]:
    """MJCF with all that the loader knows besides: tendons, equalities, actuators, replicas, sensors."""
    out = _mjcf(folder)
    for path in sorted((MJCF / "more").glob("*.xml")):
        out.append(folder / path.name)
        out[-1].write_bytes(path.read_bytes())
    return out


def _move_urdf(path: Path) -> Any:
    return _move(ta.load_urdf(path, floating_base=True, load_meshes=True))


def _move_mjcf(path: Path) -> Any:
    return _move(ta.load_mjcf(path))


def _move(model: ta.Model) -> Any:
    """A short run in a world, on its own ground or on a plane, by its own actuators and time step."""
    world = ta.World(model, ground=None if model.spec.ground else ta.Plane())
    sim = ta.Simulation(world)
    n_controls = len(model.spec.actuators)
    controller = ta.Actuators(world.model, np.full(n_controls, 0.1)) if n_controls else None
    run = sim.run(STEPS * sim.dt, controller=controller)
    _demand(np.isfinite(run.q).all() and np.isfinite(run.v).all(), "a motion with NaN")
    worst = run.certificate
    _demand(
        np.isfinite([worst.motion, worst.residual or 0.0]).all(), "a residual that is no number, and no error"
    )
    _demand(len(repr(run)) < 5000 and run.summary() is not None, "a long repr")
    return run


# ----- Meshes --------------------------------------------------------------------------------------------


def _stl(folder: Path) -> list[Path]:
    corners = np.array(TETRAHEDRON)[np.array(FACES)]
    facets = "\n".join(
        "facet normal 0 0 1\n outer loop\n"
        + "".join(f"  vertex {x:g} {y:g} {z:g}\n" for x, y, z in face)
        + " endloop\nendfacet"
        for face in corners
    )
    text, binary = folder / "ascii.stl", folder / "binary.stl"
    text.write_text(f"solid part\n{facets}\nendsolid part\n")
    row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
    rows = np.zeros(len(corners), row)
    rows["corners"] = corners
    binary.write_bytes(b"binary".ljust(80) + len(rows).to_bytes(4, "little") + rows.tobytes())
    return [text, binary]


def _obj(folder: Path) -> list[Path]:
    path = folder / "part.obj"
    vertices = "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in TETRAHEDRON)
    faces = "".join(f"f {a + 1}//1 {b + 1}/2/1 {c - 4}\n" for a, b, c in FACES)
    path.write_text(f"# a part\no part\n{vertices}vn 0 0 1\nvt 0 0\ns off\n{faces}")
    return [path]


def _dae(folder: Path) -> list[Path]:
    """A tetrahedron, placed by a node; without pycollada every file is refused."""
    numbers = " ".join(f"{x:g}" for corner in TETRAHEDRON for x in corner)
    corners = " ".join(str(k) for face in FACES for k in face)
    path = folder / "part.dae"
    path.write_text(
        '<?xml version="1.0"?>\n'
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">\n'
        '<asset><unit name="metre" meter="1"/><up_axis>Z_UP</up_axis></asset>\n'
        '<library_geometries><geometry id="g"><mesh>\n'
        f'<source id="p"><float_array id="pa" count="12">{numbers}</float_array>\n'
        '<technique_common><accessor source="#pa" count="4" stride="3">\n'
        '<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>\n'
        "</accessor></technique_common></source>\n"
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>\n'
        f'<triangles count="{len(FACES)}"><input semantic="VERTEX" source="#v" offset="0"/>\n'
        f"<p>{corners}</p></triangles></mesh></geometry></library_geometries>\n"
        '<library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 5</translate>\n'
        '<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>\n'
        '<scene><instance_visual_scene url="#s"/></scene>\n</COLLADA>\n'
    )
    return [path]


def _read_mesh(path: Path) -> Any:
    from taction.io.meshes import read_mesh
    from taction.io.visual_meshes import read_visual_mesh

    mesh = read_mesh(path)
    _demand(np.isfinite(mesh.vertices).all() and mesh.faces.max() < len(mesh.vertices), "a broken mesh")
    for part, _ in read_visual_mesh(ta.MeshFile(str(path))):
        _demand(np.isfinite(part.vertices).all(), "a broken mesh to look at")
    inertia = ta.Inertia(1.0, np.zeros(3), np.eye(3))
    return ta.World(ta.free_body("part", mesh, mass=1.0, inertia=inertia), ground=ta.Plane())


# ----- Runs and states -----------------------------------------------------------------------------------


def _runs(folder: Path, ending: str) -> list[Path]:
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    contact = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.05)
    smooth = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3).run(0.05, q=[1.0, 0.5])
    return [run.save(folder / f"{name}.{ending}") for name, run in (("contact", contact), ("smooth", smooth))]


def _live_run(folder: Path) -> list[Path]:
    """As a kill leaves it: copied before its writer closes it.

    Without the room that is kept ahead, where damage does nothing; its last chunk may end in zeros, too.
    """
    path = folder / "live.h5"
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3)
    copies: list[bytes] = []

    def stop(t: float, q: Any, v: Any) -> bool:
        if t > 0.115:
            copies.append((folder / "writing.h5").read_bytes())
        return bool(copies)

    sim.run(0.2, q=[1.0, 0.5], record=str(folder / "writing.h5"), stop=stop)
    path.write_bytes(copies[0].rstrip(b"\0") + bytes(CHUNK))
    return [path]


def _read_run(path: Path) -> Any:
    run = ta.load_run(path)
    _demand(all(len(array) == run.steps + 1 for array, _ in run.columns().values()), "rows of other lengths")
    if run.description:
        _demand(run.model.nq == run.q.shape[1], "a model that is not the run's")
    return run.state if run.saved_state else run


def _states(folder: Path) -> list[Path]:
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.01)
    run.state.save(folder / "state.npz")
    return [folder / "state.npz"]


# ----- Contact problems ----------------------------------------------------------------------------------


def _problem() -> ta.ContactProblem:
    rows = np.arange(49.0).reshape(7, 7) / 49
    elements = [ta.Contact(0.5), ta.Contact(0.3), ta.Bilateral(1)]
    return ta.ContactProblem(rows @ rows.T + np.eye(7), np.linspace(-1, 1, 7), elements, name="sample")


def _problems(folder: Path) -> list[Path]:
    from scipy.sparse import csr_array

    dense, sparse, lcp = (folder / f"{name}.npz" for name in ("dense", "sparse", "lcp"))
    whole = _problem()
    ta.save_problem(whole, dense)
    elements = [ta.Contact(0.5, 0.2, viscous=0.1), ta.JointLimit(), ta.JointFriction(0.2), ta.Unilateral(0.1)]
    ta.save_problem(ta.ContactProblem(csr_array(np.eye(6)), np.linspace(-1, 1, 6), elements), sparse)
    ta.save_problem(ta.LinearComplementarityProblem(np.eye(3), [-1.0, 0.5, 0.2]), lcp)
    return [dense, sparse, lcp]


def _fclib(folder: Path) -> list[Path]:
    import h5py

    local, whole = folder / "local.hdf5", folder / "global.hdf5"
    problem = _problem()
    ta.write_fclib(problem, local, impulse=np.zeros(7))
    with h5py.File(whole, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([3], dtype=np.int32)
        for name, matrix in (("M", 2.0 * np.eye(4)), ("H", np.eye(4, 3)), ("G", np.eye(4, 1, -3))):
            i, j = np.nonzero(matrix)
            stored = group.create_group(name)
            for key, value in (
                ("m", matrix.shape[0]),
                ("n", matrix.shape[1]),
                ("nz", len(i)),
                ("nzmax", len(i)),
            ):
                stored[key] = np.array([value], dtype=np.int32)
            stored["p"], stored["i"], stored["x"] = i.astype(np.int32), j.astype(np.int32), matrix[i, j]
        vectors = group.create_group("vectors")
        for name, size in (("f", 4), ("w", 3), ("b", 1), ("mu", 1)):
            vectors[name] = np.full(size, 0.5)
    return [local, whole]


def _read_problem(path: Path) -> Any:
    problem = ta.load_problem(path)
    if isinstance(problem, ta.ContactProblem):
        _demand(
            np.isfinite(problem.b).all() and problem.matrix.shape == (problem.size,) * 2, "a broken problem"
        )
    return problem


KINDS: dict[str, Kind] = {
    "urdf": Kind(_urdf, _read_urdf, damages.TEXT),
    "mjcf": Kind(_mjcf, _read_mjcf, damages.TEXT),
    "urdf-run": Kind(_urdf, _move_urdf, damages.RUN, LONG),
    "mjcf-run": Kind(_hand, _move_mjcf, damages.RUN, LONG),
    "stl": Kind(_stl, _read_mesh, (*damages.BINARY, *damages.TEXT)),
    "obj": Kind(_obj, _read_mesh, damages.TEXT),
    "srdf": Kind(_srdf, _read_srdf, damages.TEXT),
    "dae": Kind(_dae, _read_mesh, damages.TEXT),
    "run-h5": Kind(lambda folder: _runs(folder, "h5"), _read_run, damages.HDF5),
    "run-live": Kind(_live_run, _read_run, damages.BINARY),
    "run-npz": Kind(lambda folder: _runs(folder, "npz"), _read_run, damages.ARCHIVE),
    "state": Kind(_states, ta.SimState.load, damages.ARCHIVE),
    "problem-npz": Kind(_problems, _read_problem, damages.ARCHIVE),
    "problem-fclib": Kind(_fclib, _read_problem, damages.HDF5),
}
