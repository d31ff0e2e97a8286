"""What becomes of one public model file: read, moved, and held against MuJoCo and Pinocchio.

A row is filled in stages, so that a process that dies or takes too long leaves what it knew:

* *ours*: `read` and `world`, the processor time of loading, and of `World` and `Simulation` [s]; worst
  residual, steps not converged, what the correction of positions did against its bounds, closure of the
  energy ledger. An MJCF file starts at its first keyframe with its control, or at rest without any; a URDF
  file hangs limp where its root is, and floats where nothing else moves.
* *peers*: "loads" or a message for MuJoCo and Pinocchio each, the mass matrix at four configurations, and
  MuJoCo's time per step as the file says, one thread each.
* *end*: how far the end is from MuJoCo's, and why: `end_pose`.

"refused" is one of taction's own errors, "raw" any other. Where a URDF file is refused for its meshes alone,
`bare` says what `load_meshes=False` gives, as the message advises.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from end_pose import compare
from numba.core import event

import taction as ta
from taction.bench.dynamics import PinocchioState
from taction.io.meshes import find_mesh

SEED, STATES, SPREAD = 7, 4, 0.5
LONG = 5.0  # a run that is not timed again [s]
Row = dict[str, Any]
Tell = Callable[[Row], None]
# what a robot in a URDF file is to MuJoCo: paths of meshes stay, and are made absolute
COMPILER = '<mujoco><compiler strippath="false" fusestatic="false"/></mujoco>'
COLLISION = re.compile(r"<collision\b.*?</collision>", re.DOTALL)
FILENAME = re.compile(r'(<mesh\b[^>]*?filename\s*=\s*")([^"]+)"')


def is_urdf(path: Path) -> bool:
    """Whether a file is URDF, by its name; the others are MJCF."""
    return path.suffix == ".urdf"


def examine(path: Path, seconds: float, is_brief: bool, tell: Tell) -> None:
    """Fill the row of a file, telling it after every stage; in brief, peers only where nothing ran."""
    row: Row = {"stage": "ours"}
    tell(row)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model, run = ours(path, seconds, row, tell)
    row["warned"] = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in heard if is_foreign(w)})
    if is_brief and run is not None:
        return tell(row)
    row["stage"] = "peers"
    tell(row)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = resolved(path, Path(folder)) if is_urdf(path) else path
        peer = theirs(path, source, row, tell)
        if run is not None and peer is not None:
            beside(source, model, peer, run, row, tell)
    tell(row)


def beside(source: Path, model: ta.Model, peer: Any, run: Any, row: Row, tell: Tell) -> None:
    """The time per step and the end of a run beside MuJoCo's."""
    if peer.nq != model.nq or peer.nv != model.nv:
        row["reason"] = "freedoms"
        return
    order = joint_order(model, peer) if is_urdf(source) else slice(None)
    if order is None:
        row["reason"] = "freedoms"
        return
    row["mujoco_us"] = mujoco_time(peer, starts_at_key(model), len(run.t) - 1)
    row["ratio"] = row["us"] / row["mujoco_us"]
    row["stage"] = "end"
    tell(row)

    def fine(begin: int, refined: int) -> Any:
        again = ta.Simulation(ta.World(model), dt=run.dt / refined)
        q, v, span = run.q[begin], run.v[begin], run.t[-1] - run.t[begin]
        return again.run(span, q=q, v=v, controller=controller_of(model))

    row |= compare(source, model, run, fine, row, order)


def is_foreign(warning: warnings.WarningMessage) -> bool:
    """Whether a warning is none of taction's own."""
    return not warning.category.__module__.startswith("taction")


def ours(path: Path, seconds: float, row: Row, tell: Tell) -> tuple[Any, Any]:
    """Model and run, None where there is none, and why in the row."""
    model = run = None
    begin = time.process_time()
    try:
        row["at"] = "read"
        model = load(path, row)
        row["read"], begin = time.process_time() - begin, time.process_time()
        row |= {"nv": model.nv, "unread": sorted({entry.what for entry in model.unread})}
        row["at"] = "world"
        tell(row)
        sim = ta.Simulation(ta.World(model))
        row["world"], begin = time.process_time() - begin, time.process_time()
        row["at"] = "run"
        tell(row)
        if model.nv:
            run = moved(model, sim, seconds, row)
            row["run"] = time.process_time() - begin
        row["outcome"] = "ran"
    except ta.TactionError as error:
        row |= {"outcome": "refused", "text": " ".join(str(error).split())[:400]}
        if is_urdf(path) and "load_meshes" in str(error):
            row["bare"] = bare(path)
    except Exception as error:  # whatever it is, it is the finding
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        row |= {"outcome": "raw", "text": f"{text} at {Path(last.filename).name}:{last.lineno}"}
    return model, run


def load(path: Path, row: Row) -> ta.Model:
    """The model of a file; what hangs at the world without a joint floats."""
    if not is_urdf(path):
        return ta.load_mjcf(path)
    model = ta.load_urdf(path)
    if model.nv == 0:
        row["floats"] = True
        model = ta.load_urdf(path, floating_base=True)
    return model


def bare(path: Path) -> str:
    """What becomes of a URDF file without its meshes."""
    try:
        model = ta.load_urdf(path, load_meshes=False)
        if model.nv:
            ta.Simulation(ta.World(model)).run(0.01)
    except ta.TactionError as error:
        return f"refused: {str(error)[:300]}"
    except Exception as error:  # as above
        return f"raw: {type(error).__name__}: {str(error)[:300]}"
    return "ran"


def starts_at_key(model: ta.Model) -> bool:
    """Whether a run begins at a keyframe."""
    return bool(model.spec.keyframes)


def controller_of(model: ta.Model) -> Any:
    """What drives a model: its actuators, with the control of the first keyframe or none."""
    count = len(model.spec.actuators)
    key = next(iter(model.spec.keyframes.values()), None)
    return ta.Actuators(model, np.zeros(count) if key is None else key.control) if count else None


def moved(model: ta.Model, sim: Any, seconds: float, row: Row) -> Any:
    """A run, and in the row what its certificate says."""
    key = next(iter(model.spec.keyframes.values()), None)
    q, v = (model.q0, np.zeros(model.nv)) if key is None else (key.q, key.v)
    q = ta.close_loops(model, q) if model.spec.loops else q
    controller = controller_of(model)
    sim.run(2 * sim.dt, q=q, v=v, controller=controller)  # what is compiled is not timed
    run = sim.run(seconds, q=q, v=v, controller=controller)
    again = run if run.wall_s > LONG else sim.run(min(seconds, 0.5), q=q, v=v, controller=controller)
    c, steps = run.certificate, max(len(run.t) - 1, 1)
    bounds = sim.engine.passes[-1]
    scale = max(float(np.abs(run.kinetic + run.potential).max()), 1.0)
    row |= {
        "residual": c.residual or 0.0,
        "unconverged": c.unconverged_steps,
        "motion": c.motion,
        "pushed": (c.pushed or 0.0) / max(bounds.push, 1e-300),
        "turned": (c.turned or 0.0) / bounds.turn,
        "closure": abs(run.energy.closure) / scale,
        "contacts": float(len(run.contacts.step) / steps),
        "steps": len(run.t) - 1,
        "us": 1e6 * min(run.wall_s / steps, again.wall_s / max(len(again.t) - 1, 1)),
        "exempt": exempt_names(sim, run),
    }
    return run


def exempt_names(sim: Any, run: Any) -> list[tuple[str, str]]:
    """Bodies that do not collide because they overlap in the neutral pose or where the run starts."""
    neutral = sim.world.exempt if sim.world is not None and sim.world.exempt is not None else ()
    pairs = [*neutral, *run.state.exempt]
    return [(sim.model.body_names[a], sim.model.body_names[b]) for a, b in pairs]


def theirs(path: Path, source: Path, row: Row, tell: Tell) -> Any:
    """MuJoCo's model or None; in the row, what MuJoCo and Pinocchio say, and the mass matrix."""
    import mujoco
    import pinocchio

    peer = None
    row["mujoco"] = row["pinocchio"] = "died"
    tell(row)
    begin = time.process_time()
    try:
        peer = mujoco.MjModel.from_xml_path(str(source))
        row["mujoco"], row["mujoco_nv"] = "loads", int(peer.nv)
    except (ValueError, mujoco.FatalError) as error:
        row["mujoco"] = " ".join(str(error).split())[:300]
    row["mujoco_read"] = time.process_time() - begin
    tell(row)
    build = pinocchio.buildModelFromUrdf if is_urdf(path) else pinocchio.buildModelFromMJCF
    free = [pinocchio.JointModelFreeFlyer()] if row.get("floats") else []
    try:
        other = build(str(path), *free)
        row["pinocchio"] = "loads"
    except Exception as error:  # Boost lets through many kinds
        row["pinocchio"] = " ".join(str(error).split())[:300]
        other = None
    if row["outcome"] == "ran" and row["nv"]:
        row |= masses(path, row, peer, other)
    tell(row)
    return peer


def masses(path: Path, row: Row, peer: Any, other: Any) -> Row:
    """Error of the mass matrix against the peer whose format it is, if it has the same freedoms."""
    model = load(path, {})
    if is_urdf(path) and other is not None and other.nv == model.nv:
        names = {j.name for j in model.joints}
        if all(name in names for name in list(other.names)[1:]):
            return {"mass": mass_error(model, lambda q: pinocchio_mass(other, model, q))}
    if not is_urdf(path) and peer is not None and peer.nv == model.nv:
        return {"mass": mass_error(model, lambda q: mujoco_mass(peer, q))}
    return {}


def mass_error(model: ta.Model, reference: Any) -> float:
    """Largest error of the mass matrix at the neutral and three random configurations, relative."""
    rng, worst = np.random.default_rng(SEED), 0.0
    for k in range(STATES):
        q = model.q0 if k == 0 else ta.integrate(model, model.q0, SPREAD * rng.normal(size=model.nv))
        M = reference(np.array(q))
        worst = max(worst, float(np.abs(ta.mass_matrix(model, q) - M).max() / np.abs(M).max()))
    return worst


def mujoco_mass(peer: Any, q: np.ndarray) -> np.ndarray:
    """MuJoCo's mass matrix."""
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


def mujoco_time(peer: Any, has_key: bool, steps: int) -> float:
    """MuJoCo's time per step [µs], as the file says."""
    import mujoco

    best = np.inf
    for _ in range(3):
        data = mujoco.MjData(peer)
        if has_key and peer.nkey:
            mujoco.mj_resetDataKeyframe(peer, data, 0)
        begin = time.perf_counter()
        mujoco.mj_step(peer, data, steps)
        best = min(best, (time.perf_counter() - begin) / steps)
    return 1e6 * best


def resolved(path: Path, folder: Path) -> Path:
    """A copy of a URDF file in which meshes that collide have absolute paths, for MuJoCo."""
    text = path.read_text(errors="replace")

    def place(found: re.Match[str]) -> str:
        try:
            return f'{found[1]}{find_mesh(found[2], path.parent).resolve()}"'
        except ta.TactionError:
            return found[0]

    text = COLLISION.sub(lambda part: FILENAME.sub(place, part[0]), text)
    out = folder / path.name
    out.write_text(
        text if "<mujoco" in text else re.sub(r"(<robot\b[^>]*>)", rf"\1{COMPILER}", text, count=1)
    )
    return out


def joint_order(model: ta.Model, peer: Any) -> np.ndarray | None:
    """Which of our coordinates are MuJoCo's, in its order; None unless all are joints of one freedom."""
    place = {j.name: j.q_slice.start for j in model.joints if j.q_slice.stop == j.q_slice.start + 1}
    order = [place.get(peer.joint(k).name) for k in range(peer.njnt)]
    is_free = any(joint.mimic is not None for joint in model.spec.joints)
    return None if is_free or None in order else np.array(order, dtype=int)


class Budget(event.Listener):
    """Ends the process after so much processor time [s]; compilation of kernels is not counted."""

    def __init__(self, tell: Tell) -> None:
        self.tell, self.depth, self.left, self.compiled = tell, 0, 0.0, 0.0
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        event.register("numba:compile", self)

    def begin(self, seconds: float) -> None:
        """From now on."""
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def on_start(self, event: Any) -> None:
        """A kernel is compiled."""
        if self.depth == 0:
            self.left, _ = signal.setitimer(signal.ITIMER_PROF, 0.0)
            self.since = time.process_time()
            self.tell({"stage": "compile"})
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """It is done."""
        self.depth -= 1
        if self.depth == 0:
            self.compiled += time.process_time() - self.since
            self.begin(self.left)


def work(limit: float) -> None:
    """Rows of the files that standard input names, as lines of JSON after every stage.

    Ends by a signal where a file takes more than ``limit`` seconds of processor time here, or three times as
    much in what peers do with it.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints elsewhere is no row
    last: Row = {}

    def tell(row: Row) -> None:
        if row["stage"] != last.get("stage") and row["stage"] in ("peers", "end"):
            budget.begin(3 * limit)
        if row["stage"] != "compile":
            last.clear()
            last.update(row)
        print(json.dumps(row, default=float), file=answers, flush=True)

    budget = Budget(tell)
    tell({"stage": "ready"})
    for line in sys.stdin:
        name, seconds, brief = line.rstrip("\n").split("\t")
        for _ in range(2):  # again where kernels were compiled, so that times are the file's own
            budget.compiled = 0.0
            budget.begin(limit)
            examine(Path(name), float(seconds), brief == "True", tell)
            if budget.compiled < 1.0:
                break
        tell(last | {"stage": "done"})


if __name__ == "__main__":
    work(float(sys.argv[1]))
