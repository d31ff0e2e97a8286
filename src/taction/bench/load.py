"""How long a robot's world takes to load, the first time and later, beside MuJoCo's reading of the same file.

Ours: `load_urdf` and `World` of robots of example-robot-data with their meshes. First: nothing is kept of
them on disk; second: what the first left. Theirs: ``MjModel.from_xml_path`` of a copy of the file without
what is only seen, which MuJoCo does not keep. Meshes in the copy have whole paths; those of kinds that it
does not read are converted before. Each measurement is made in a process of its own, after imports; the best
of several. Wall time, and processor time, which other work on the machine disturbs less, and of which the
ratio is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taction.bench.mujoco_peer import mujoco_name
from taction.bench.timing import machine
from taction.io.meshes import find_mesh, read_mesh
from taction.robots.files import robot_files

ROBOTS = {
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "go2": "go2_description/urdf/go2.urdf",
}
THEIRS = (".stl", ".obj", ".msh")  # mesh files that MuJoCo reads
FIRST, SECOND, SHARE = 1.5, 0.3, 1.5  # limits: seconds, seconds, of MuJoCo's time


def bench_load(*, rounds: int = 5) -> dict[str, Any]:
    """Time the loading of each robot, in processes of their own.

    Args:
        rounds: repetitions; the best counts.
    """
    rows: list[dict[str, Any]] = []
    for robot in ROBOTS:
        theirs = _best([_child("time_theirs", robot) for _ in range(rounds)]) if mujoco_name() else None
        first = _best([_fresh(robot) for _ in range(rounds)])
        with tempfile.TemporaryDirectory() as folder:
            _child("time_ours", robot, folder)
            second = _best([_child("time_ours", robot, folder) for _ in range(rounds)])
        for what, ours, limit in (("first", first, FIRST), ("second", second, SECOND)):
            peer = theirs if what == "first" else None
            rows.append(
                {
                    "case": f"{robot}, {what}",
                    "ours": ours["wall"],
                    "work": ours["work"],
                    "peer": peer and peer["wall"],
                    "peer_work": peer and peer["work"],
                    "peer_name": mujoco_name() if peer else None,
                    "unit": "s",
                    "ratio": ours["work"] / peer["work"] if peer else None,
                    "limit": limit,
                    "residual": None,
                    "peer_residual": None,
                }
            )
    return {"bench": "load", "machine": machine(), "share": SHARE, "rows": rows}


def time_ours(robot: str) -> dict[str, float]:
    """Wall and processor time of `load_urdf` and `World` [s]."""
    import scipy.spatial  # noqa: F401

    from taction.io.urdf import load_urdf
    from taction.sim.world import World

    path, _ = robot_files(robot, {robot: (ROBOTS[robot], None)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _timed(lambda: World(load_urdf(path)))


def time_theirs(robot: str) -> dict[str, float]:
    """Wall and processor time of ``MjModel.from_xml_path`` [s]."""
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        path = _for_mujoco(robot, Path(folder))
        return _timed(lambda: mujoco.MjModel.from_xml_path(str(path)))


def _timed(call: Callable[[], Any]) -> dict[str, float]:
    wall, work = time.perf_counter(), time.process_time()
    call()
    return {"wall": time.perf_counter() - wall, "work": time.process_time() - work}


def _for_mujoco(robot: str, folder: Path) -> Path:
    """A copy of a robot's file that MuJoCo can read."""
    path, _ = robot_files(robot, {robot: (ROBOTS[robot], None)})
    root = ET.parse(path).getroot()
    for link in root.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    for k, mesh in enumerate(root.iter("mesh")):
        file = find_mesh(mesh.get("filename", ""), path.parent)
        if file.suffix.lower() not in THEIRS:
            read, file = read_mesh(file), folder / f"{k}.obj"
            lines = ["v {!r} {!r} {!r}".format(*point) for point in read.vertices.tolist()]
            lines += ["f {} {} {}".format(*face) for face in (read.faces + 1).tolist()]
            file.write_text("\n".join(lines))
        mesh.set("filename", str(file))
    for old in root.findall("mujoco"):
        root.remove(old)
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", strippath="false")
    copy = folder / "robot.urdf"
    ET.ElementTree(root).write(copy)
    return copy


def _child(function: str, robot: str, cache: str | None = None) -> dict[str, float]:
    """Run one of the functions above in a new process, with its own folder of what is kept."""
    code = f"import json; from taction.bench.load import {function}; print(json.dumps({function}({robot!r})))"
    environment = dict(os.environ)
    if cache is not None:
        environment |= {"TACTION_CACHE_DIR": cache, "TACTION_JIT": "0"}  # no kernel is needed to load
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{function}({robot!r}) failed: {done.stderr.decode()}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _fresh(robot: str) -> dict[str, float]:
    """Load a robot of which nothing is kept."""
    with tempfile.TemporaryDirectory() as folder:
        return _child("time_ours", robot, folder)


def _best(found: list[dict[str, float]]) -> dict[str, float]:
    """The least wall and the least processor time."""
    return {what: min(one[what] for one in found) for what in ("wall", "work")}
