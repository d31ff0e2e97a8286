"""Every robot of the public collections, read, moved for two seconds and held against MuJoCo or Pinocchio.

    python tests/crosscheck/collections.py [--folder DIR] [--only PART] [--json FILE] [--seconds 2]

Takes the packages `gymnasium`, `gymnasium-robotics`, `dm_control` and `robosuite` from PyPI into the folder,
as files only, and `example-robot-data` as installed. A robot is an MJCF file that MuJoCo itself loads and
that has something to move, or a URDF file. Each row says

* what of the file is not heeded (`Model.unread`), and the mass matrix against the reference at four
  configurations;
* two seconds at the first keyframe or at rest with zero control: worst residual, steps not converged, what
  the correction of positions did against its bounds, closure of the energy ledger;
* how far the end is from MuJoCo's with contacts, stops and equalities as stiff as they go and the same pairs
  excluded, from where nothing overlaps and stops are kept, or one word that says why it is further. "coarse":
  with MuJoCo's finer step our end is within the limits, so it is the step of the file. "chaotic": MuJoCo with
  half its step parts from itself by a tenth of the limits, and until then we are within them, with its step.
  "convex": MuJoCo lets a contact that strikes and slides on separate at μ times its speed, as its convex cone
  does and Coulomb's does not, and until then we are within the limits. "torsion": we are within them where
  MuJoCo has no torsional and no rolling friction either.
  "fluid", "muscle" and others: the file asks for what rigid contact, joints and motors have not. "differs" is
  none of these, and a failure. "contradictory": what the file asks of stops, loops and contacts is never all
  kept, by MuJoCo neither; "violated": by us alone, a failure;
* time per step of both, as the file says, one thread each.
"""

from __future__ import annotations

import sys

sys.path.append(sys.path.pop(0))  # this folder, where this file hides a module of the standard library

import argparse
import json
import subprocess
import time
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from stiff_mujoco import FINE, Stiff

import taction as ta
from taction.bench.dynamics import PinocchioState
from taction.kinematics.loops import loop_gaps

PACKAGES = ("gymnasium", "gymnasium-robotics", "dm_control", "robosuite")
SEED, STATES, SPREAD = 7, 4, 0.5
RESIDUAL, MASS, CLOSURE, PLACE, ANGLE = 1e-8, 1e-8, 1e-9, 0.01, 0.02
INSTANTS = 100  # of a run that are compared
CLEAN = 1e-5  # overlap, or joint beyond its stop, from which stiff MuJoCo may start [m or rad]
# what a file asks for and rigid contact, joints and motors do not have: word → how `Model.unread` names it
REASONS = {
    "fluid": ("fluid", "density", "viscosity", "wind"),
    "muscle": ("muscle", "dyntype", "activation"),
    "spatial-tendon": ("spatial/geom",),
    "adhesion": ("adhesion",),
    "site-force": ("site",),
}


def fetch(folder: Path) -> list[Path]:
    """The MJCF files of all packages, downloaded and unpacked where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if not (folder / "files" / package.replace("-", "_")).is_dir():
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), package]
            subprocess.run(command, check=True)
            wheel = next(folder.glob(f"{package.replace('-', '_')}-*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder / "files")
    return sorted((folder / "files").rglob("*.xml"))


def urdf_files() -> list[Path]:
    """The URDF files of example-robot-data."""
    for place in sys.path:
        root = Path(place) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
        if root.is_dir():
            return sorted(root.rglob("*.urdf"))
    return []


def examine_mjcf(path: Path, seconds: float) -> dict[str, Any] | None:
    """The row of an MJCF file; None if it is no robot."""
    import mujoco

    try:
        peer = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None
    if peer.nv == 0:
        return None
    row: dict[str, Any] = {"nv": peer.nv}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ta.load_mjcf(path)
        row["unread"] = sorted({entry.what for entry in model.unread})
        row["mass"] = mass_error(model, lambda q: mujoco_mass(peer, q))
        key = next(iter(model.spec.keyframes.values()), None)
        q, v = (model.q0, np.zeros(model.nv)) if key is None else (key.q, key.v)
        control = np.zeros(len(model.spec.actuators)) if key is None else key.control
        controller = ta.Actuators(model, control) if len(control) else None
        run, row_of_run = moved(model, q, v, controller, seconds)
        row |= row_of_run
        row["mujoco_us"] = mujoco_time(peer, key is not None, len(run.t) - 1)
        row["ratio"] = row["us"] / row["mujoco_us"]

        def fine(begin: int, refined: int) -> Any:
            sim = ta.Simulation(ta.World(model), dt=run.dt / refined)
            q, v = run.q[begin], run.v[begin]
            return sim.run(run.t[-1] - run.t[begin], q=q, v=v, controller=controller)

        row |= compare(path, model, run, fine, key is not None, row)
    return row


def examine_urdf(path: Path, seconds: float) -> dict[str, Any]:
    """The row of a URDF file: limp on the ground, no time to compare with."""
    import pinocchio

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, peer = ta.load_urdf(path), pinocchio.buildModelFromUrdf(str(path))
        if model.nv == 0:  # one that flies
            model = ta.load_urdf(path, floating_base=True)
            peer = pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())
        row: dict[str, Any] = {"nv": model.nv, "unread": sorted({entry.what for entry in model.unread})}
        row["mass"] = mass_error(model, lambda q: pinocchio_mass(peer, model, q))
        _, row_of_run = moved(model, model.q0, np.zeros(model.nv), None, seconds)
    return row | row_of_run


def mass_error(model: ta.Model, reference: Any) -> float:
    """Largest error of the mass matrix at the neutral and three random configurations, relative."""
    rng, worst = np.random.default_rng(SEED), 0.0
    for k in range(STATES):
        q = model.q0 if k == 0 else ta.integrate(model, model.q0, SPREAD * rng.normal(size=model.nv))
        M = reference(np.array(q))
        worst = max(worst, float(np.abs(ta.mass_matrix(model, q) - M).max() / np.abs(M).max()))
    return worst


def mujoco_mass(peer: Any, q: np.ndarray) -> np.ndarray:
    import mujoco

    data, out = mujoco.MjData(peer), np.zeros((peer.nv, peer.nv))
    data.qpos[:] = q
    mujoco.mj_forward(peer, data)
    mujoco.mj_fullM(peer, data, out)
    return out


def pinocchio_mass(peer: Any, model: ta.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's mass matrix in our coordinates."""
    import pinocchio

    state = PinocchioState(model, peer)
    M = pinocchio.crba(peer, peer.createData(), state.configuration(q))
    T = np.array([state.velocity(q, rate) for rate in np.eye(model.nv)]).T
    return T.T @ (np.triu(M) + np.triu(M, 1).T) @ T


def moved(
    model: ta.Model, q: np.ndarray, v: np.ndarray, controller: Any, seconds: float
) -> tuple[Any, dict[str, Any]]:
    """A run, and what its certificate says."""
    q = ta.close_loops(model, q) if model.spec.loops else q
    sim = ta.Simulation(ta.World(model))
    sim.run(2 * sim.dt, q=q, v=v, controller=controller)  # what is compiled is not timed
    run = sim.run(seconds, q=q, v=v, controller=controller)
    again = sim.run(min(seconds, 0.5), q=q, v=v, controller=controller)
    c = run.certificate
    bound = max(sim.engine.passes[-1].push, 1e-300)
    scale = max(float(np.abs(run.kinetic + run.potential).max()), 1.0)
    row = {
        "residual": c.residual,
        "unconverged": c.unconverged_steps,
        "motion": c.motion,
        "pushed": c.pushed / bound,
        "turned": c.turned / sim.engine.passes[-1].turn,
        "closure": abs(run.energy.closure) / scale,
        "contacts": float(len(run.contacts.step) / max(len(run.t) - 1, 1)),
        "us": 1e6 * min(run.wall_s / (len(run.t) - 1), again.wall_s / (len(again.t) - 1)),
        "exempt": exempt_names(sim, run),
    }
    return run, row


def exempt_names(sim: ta.Simulation, run: Any) -> list[tuple[str, str]]:
    """Bodies that do not collide because they overlap in the neutral pose or where the run starts."""
    neutral = sim.world.exempt if sim.world is not None and sim.world.exempt is not None else ()
    pairs = [*neutral, *run.state.exempt]
    return [(sim.model.body_names[a], sim.model.body_names[b]) for a, b in pairs]


def mujoco_time(peer: Any, has_key: bool, steps: int) -> float:
    """MuJoCo's time per step [µs], as the file says."""
    import mujoco

    best = np.inf
    for _ in range(3):
        data = mujoco.MjData(peer)
        if has_key:
            mujoco.mj_resetDataKeyframe(peer, data, 0)
        begin = time.perf_counter()
        mujoco.mj_step(peer, data, steps)
        best = min(best, (time.perf_counter() - begin) / steps)
    return 1e6 * best


def compare(
    path: Path, model: ta.Model, run: Any, fine: Any, has_key: bool, row: dict[str, Any]
) -> dict[str, Any]:
    """Distance of the end from stiff MuJoCo's, and why; fine: our run on from a step, refined."""
    refined, begin = max(1, round(run.dt / FINE)), first_clean(model, run)
    if begin < 0:
        is_theirs = Stiff(path, run, has_key, row["exempt"], 0).violation(refined) > CLEAN
        return {"reason": "contradictory" if is_theirs else "violated"}
    stiff = Stiff(path, run, has_key, row["exempt"], begin)
    every = max(1, (len(run.t) - 1 - begin) // INSTANTS)
    ours, times = run.q[begin::every], run.t[begin::every]
    one, two = (stiff.motion(n, every, len(times)) for n in (refined, 2 * refined))
    place, angle = distance(model, ours[-1], two[-1])
    out = {"place": place, "angle": angle, "from": times[0], "until": times[-1], "reason": ""}
    if place <= PLACE and angle <= ANGLE:
        return out
    parted = (k for k in range(len(ours)) if not is_near(model, one[k], two[k], 0.1))
    last = next(parted, len(ours)) - 1
    finer = ours if refined == 1 else fine(begin, refined).q[:: every * refined]
    out["until"] = times[last]
    if is_near(model, finer[last], two[last]):
        return out | {"reason": "coarse" if last == len(ours) - 1 else "chaotic"}
    has_ground = not any("hfield" in what for what in row["unread"])  # what strikes is all there
    struck = stiff.first_struck(2 * refined, every, last) if has_ground else last
    if struck < last and is_near(model, finer[struck], two[struck]):
        return out | {"reason": "convex", "until": times[struck]}
    if any("condim" in what for what in row["unread"]):
        plain = replace(stiff, dimensions=3).motion(2 * refined, every, last + 1)
        if is_near(model, finer[last], plain[last]):
            return out | {"reason": "torsion"}
    for word, names in REASONS.items():
        if any(name in what for what in row["unread"] for name in names):
            return out | {"reason": word}
    return out | {"reason": "differs"}


def first_clean(model: ta.Model, run: Any) -> int:
    """First step of a run at which nothing overlaps, all stops are kept and loops closed, or −1.

    Many files start with feet in the ground or knees beyond their stops. We mend that at a bounded speed;
    MuJoCo made stiff shoots it apart, and what follows means nothing.
    """
    contacts, is_clean = run.contacts, np.ones(len(run.t) - 1, dtype=bool)
    is_clean[contacts.step[contacts.gap < -CLEAN]] = False
    for joint in model.joints:
        at = run.q[:-1, joint.q_slice]
        if at.shape[1] == 1:
            lower, upper = model.lower[joint.iv], model.upper[joint.iv]
            is_clean &= (at[:, 0] > lower - CLEAN) & (at[:, 0] < upper + CLEAN)
    for k in np.flatnonzero(is_clean):
        if all(gap.distance < CLEAN and gap.angle < CLEAN for gap in loop_gaps(model, run.q[k])):
            return int(k)
    return -1


def is_near(model: ta.Model, a: np.ndarray, b: np.ndarray, share: float = 1.0) -> bool:
    """Whether two configurations are within a share of the limits; not where one is NaN."""
    place, angle = distance(model, a, b)
    return place <= share * PLACE and angle <= share * ANGLE


def distance(model: ta.Model, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """How far bodies are apart [m], and turned [rad], at most."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf, np.inf
    one, two = ta.forward_kinematics(model, a), ta.forward_kinematics(model, b)
    turned = np.einsum("bij,bij->b", one.rotation, two.rotation)
    place = float(np.linalg.norm(one.position - two.position, axis=1).max(initial=0.0))
    return place, float(np.arccos(np.clip(0.5 * (turned - 1.0), -1.0, 1.0)).max(initial=0.0))


def verdict(row: dict[str, Any]) -> str:
    """Empty if all is well, or what is not."""
    if "error" in row:
        return "error"
    checks = {
        "mass": row["mass"] <= MASS,
        "residual": row["residual"] <= RESIDUAL and row["unconverged"] == 0,
        "motion": row["motion"] <= RESIDUAL,
        "correction": max(row["pushed"], row["turned"]) <= 1.0 + 1e-6,
        "closure": row["closure"] <= CLOSURE,
        "end": row.get("reason", "") not in ("differs", "violated"),
    }
    return ",".join(name for name, is_well in checks.items() if not is_well)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "taction-collections")
    parser.add_argument("--only", default="", help="part of a path")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    given = parser.parse_args()
    files = fetch(given.folder)
    rows: dict[str, dict[str, Any]] = {}
    print(
        f"{'robot':58} nv   mass  residual unc push turn closure   us ratio  place  angle from until verdict"
    )
    for path in [*files, *urdf_files()]:
        name = "/".join(path.parts[-4:])
        if given.only not in str(path):
            continue
        try:
            row = (examine_urdf if path.suffix == ".urdf" else examine_mjcf)(path, given.seconds)
        except Exception as error:  # a row of its own: whatever goes wrong with a file is a result
            row = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        if row is None:
            continue
        row["verdict"] = verdict(row)
        rows[name] = row
        print(line(name, row), flush=True)
    summary(rows)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


def line(name: str, row: dict[str, Any]) -> str:
    """One row of the table."""
    if "error" in row:
        return f"{name[-58:]:58} {row['error']}"
    end = f"{'–':>6} {'–':>6} {'–':>4} {'–':>5}"
    if "place" in row:
        end = f"{row['place']:6.2g} {row['angle']:6.2g} {row['from']:4.2f} {row['until']:5.2f}"
    return (
        f"{name[-58:]:58} {row['nv']:3d} {row['mass']:7.1e} {row['residual']:7.1e} {row['unconverged']:3d} "
        f"{row['pushed']:4.2f} {row['turned']:4.2f} {row['closure']:7.1e} {row['us']:6.0f} "
        f"{row.get('ratio', np.nan):5.2f} {end} {row['verdict'] or 'ok'} {row.get('reason', '')}"
    )


def summary(rows: dict[str, dict[str, Any]]) -> None:
    """Counts of what is well, and the ratios."""
    good = sum(not row["verdict"] for row in rows.values())
    ratios = np.array([row["ratio"] for row in rows.values() if "ratio" in row])
    print(f"{good} of {len(rows)} load and pass")
    if len(ratios):
        print(f"time per step against MuJoCo: median {np.median(ratios):.2f}, worst {ratios.max():.1f}")


if __name__ == "__main__":
    main()
