"""Forward dynamics, inverse dynamics and mass matrix against Pinocchio, and their growth with size.

Both sides get the same robots (from ``example-robot-data``) and the same random states, one thread, and
write to memory they already own. Pinocchio's batch calls (``abaInParallel``, ``rneaInParallel`` with one
thread) loop in C++; it has none for the mass matrix, so ``pin.crba`` is called in a Python loop and the cost
of calling it on a one-joint model is subtracted. Like the peer's, our mass matrix is written to the same
place every time.

Residuals, largest entry over largest entry: ours is the difference to the peer's result; the peer's is what
its inverse dynamics leaves of its forward dynamics, and so is ours where there is no peer (relative to the
applied and velocity-dependent forces).
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.bench.timing import best_times, machine
from taction.dynamics.aba import aba, aba_batch
from taction.dynamics.crba import crba_batch, mass_matrix
from taction.dynamics.rnea import bias_forces, rnea, rnea_batch
from taction.io.urdf import load_urdf
from taction.kinematics.configuration import random_state
from taction.math.transform import rotation_from_quaternion
from taction.model.model import Model
from taction.model.workspace import make_workspace
from taction.robots.chain import chain

ROBOTS = {
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
BATCH = 1000  # states per timed call
CHAINS = (10, 100, 1000)  # links


def bench_dynamics(*, rounds: int = 15) -> dict[str, Any]:
    """Time ABA, RNEA and CRBA; rows as in the documentation of ``taction bench``."""
    rows = []
    robots = _robot_files()
    for name, path in robots.items():
        rows += _compare(name, path, rounds)
    if not robots:
        rows += _alone("quadruped", rounds)
    return {"bench": "dynamics", "machine": machine(), "rows": rows + _growth(rounds)}


def robot_data() -> Path | None:
    """Folder of the ``example-robot-data`` robots, if the package and Pinocchio are installed."""
    spec = importlib.util.find_spec("pinocchio")
    if spec is None or spec.origin is None:
        return None
    for parent in Path(spec.origin).parents:
        folder = parent / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    return None


def _robot_files() -> dict[str, Path]:
    folder = robot_data()
    return {} if folder is None else {name: folder / path for name, path in ROBOTS.items()}


def _states(model: Model, count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    states = [random_state(model, rng) for _ in range(count)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    return q, v, rng.normal(size=v.shape)


def _ours(model: Model, q: Array, v: Array, x: Array) -> dict[str, Any]:
    ws, out, M = make_workspace(model), np.empty_like(v), np.empty((1, model.nv, model.nv))
    return {
        "aba": lambda: aba_batch(model.tree, q, v, x, ws, out),
        "rnea": lambda: rnea_batch(model.tree, q, v, x, ws, out),
        "crba": lambda: crba_batch(model.tree, q, ws, M),
    }


def _compare(name: str, path: Path, rounds: int) -> list[dict[str, Any]]:
    """Rows of one robot with both contenders."""
    import pinocchio as pin

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_urdf(path, floating_base=True, load_meshes=False, check_inertia=False)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    q, v, x = _states(model, BATCH)
    to_peer = PinocchioState(model, peer)
    q_peer = np.array([to_peer.configuration(row) for row in q])
    v_peer = np.array([to_peer.velocity(*row) for row in zip(q, v, strict=True)])
    x_peer = np.array([to_peer.force(*row) for row in zip(q, x, strict=True)])
    columns = [np.asfortranarray(a.T) for a in (q_peer, v_peer, x_peer)]
    pool, out, data = pin.ModelPool(peer, 1), np.asfortranarray(np.zeros((peer.nv, BATCH))), peer.createData()
    tiny = pin.Model()
    tiny.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    tiny_data, q_tiny = tiny.createData(), np.zeros((BATCH, 1))

    def each_crba(peer: Any, data: Any, rows: Array) -> None:
        for row in rows:  # results are dropped at once: keeping them would cost the peer memory
            pin.crba(peer, data, row)

    ours = _ours(model, q, v, x)
    times = best_times(
        {
            **ours,
            "peer aba": lambda: pin.abaInParallel(1, pool, *columns, out),
            "peer rnea": lambda: pin.rneaInParallel(1, pool, *columns, out),
            "peer crba": lambda: each_crba(peer, data, q_peer),
            "peer call": lambda: each_crba(tiny, tiny_data, q_tiny),
        },
        rounds=rounds,
    )
    times["peer crba"] -= times["peer call"]
    residuals = _residuals(model, peer, to_peer, q[:20], v[:20], x[:20])
    return [
        {
            "case": f"{name} {kind}",
            "ours": times[kind] / BATCH * 1e6,
            "peer": times[f"peer {kind}"] / BATCH * 1e6,
            "peer_name": f"pinocchio {pin.__version__}",
            "unit": "µs",
            "ratio": times[kind] / times[f"peer {kind}"],
            "residual": residuals[kind],
            "peer_residual": residuals["peer"],
            "nv": model.nv,
        }
        for kind in ours
    ]


class PinocchioState:
    """Our states in Pinocchio's coordinates: its joint order, quaternion (x, y, z, w), rates in body axes."""

    def __init__(self, model: Model, peer: Any) -> None:
        self.joints = [(j, peer.joints[peer.getJointId(j.name)]) for j in model.joints]
        self.nq, self.nv = peer.nq, peer.nv

    def configuration(self, q: Array) -> Array:
        """Ours (nq,) as its own."""
        out = np.zeros(self.nq)
        for ours, peer in self.joints:
            value = q[ours.q_slice]
            if peer.nq == 7:
                value = np.concatenate([value[:3], value[4:], value[3:4]])
            elif peer.nq == 2 and peer.nv == 1:  # continuous joints are (cos, sin)
                value = np.array([np.cos(value[0]), np.sin(value[0])])
            out[peer.idx_q : peer.idx_q + peer.nq] = value
        return out

    def velocity(self, q: Array, v: Array) -> Array:
        """Our velocity (nv,) at a configuration as its own."""
        out = np.zeros(self.nv)
        for ours, peer in self.joints:
            value = v[ours.v_slice]
            if peer.nv == 6:
                R = rotation_from_quaternion(q[ours.q_slice][3:])
                value = np.concatenate([R.T @ value[:3], value[3:]])
            out[peer.idx_v : peer.idx_v + peer.nv] = value
        return out

    force = velocity  # the map is orthogonal, so forces turn like velocities

    def acceleration(self, q: Array, v: Array, vdot: Array) -> Array:
        """Our acceleration (nv,) in a state as its own."""
        out, rate = self.velocity(q, vdot), self.velocity(q, v)
        for _, peer in self.joints:
            if peer.nv == 6:
                k = peer.idx_v
                out[k : k + 3] -= np.cross(rate[k + 3 : k + 6], rate[k : k + 3])
        return out


def _residuals(
    model: Model, peer: Any, to_peer: PinocchioState, q: Array, v: Array, x: Array
) -> dict[str, float]:
    import pinocchio as pin

    data, worst = peer.createData(), dict.fromkeys(("aba", "rnea", "crba", "peer"), 0.0)

    def keep(kind: str, got: Array, want: Array) -> None:
        worst[kind] = max(worst[kind], float(np.abs(got - want).max() / np.abs(want).max()))

    for qk, vk, xk in zip(q, v, x, strict=True):
        qp, vp, xp = to_peer.configuration(qk), to_peer.velocity(qk, vk), to_peer.force(qk, xk)
        vdot = pin.aba(peer, data, qp, vp, xp).copy()
        keep("peer", pin.rnea(peer, data, qp, vp, vdot), xp)
        keep("aba", to_peer.acceleration(qk, vk, aba(model, qk, vk, xk)), vdot)
        want = pin.rnea(peer, data, qp, vp, to_peer.acceleration(qk, vk, xk))
        keep("rnea", to_peer.force(qk, rnea(model, qk, vk, xk)), want)
        turn = np.array([to_peer.velocity(qk, e) for e in np.eye(model.nv)]).T
        M = np.triu(pin.crba(peer, data, qp))
        keep("crba", turn @ mass_matrix(model, qk) @ turn.T, M + np.triu(M, 1).T)
    return worst


def _alone(name: str, rounds: int) -> list[dict[str, Any]]:
    """Rows without a peer, on our own quadruped."""
    from taction.robots.quadruped import quadruped

    model = quadruped()
    times = best_times(_ours(model, *_states(model, BATCH)), rounds=rounds)
    return [_own_row(f"{name} {kind}", t / BATCH * 1e6, model) for kind, t in times.items()]


def _growth(rounds: int) -> list[dict[str, Any]]:
    """Rows for chains of growing length, each with the log–log slope from the next shorter one."""
    models = {links: chain(links) for links in CHAINS}
    counts = {links: max(1, 10_000 // links) for links in CHAINS}
    contenders = {
        (links, kind): call
        for links, model in models.items()
        for kind, call in _ours(model, *_states(model, counts[links])).items()
        if kind != "crba"
    }
    costs = {key: t / counts[key[0]] * 1e6 for key, t in best_times(contenders, rounds=4 * rounds).items()}
    rows = []
    for (links, kind), cost in costs.items():
        row = _own_row(f"chain-{links} {kind}", cost, models[links])
        shorter = [n for n in CHAINS if n < links]
        if shorter:
            row["slope"] = float(np.log(cost / costs[shorter[-1], kind]) / np.log(links / shorter[-1]))
        rows.append(row)
    return rows


def _own_row(case: str, cost: float, model: Model) -> dict[str, Any]:
    q, v, x = (a[0] for a in _states(model, 1))
    rest = np.abs(rnea(model, q, v, aba(model, q, v, x)) - x).max()
    scale = np.abs(x).max() + np.abs(bias_forces(model, q, v)).max()
    row = {"case": case, "ours": cost, **dict.fromkeys(("peer", "peer_name")), "unit": "µs", "ratio": None}
    return {**row, "residual": float(rest / scale), "peer_residual": None, "nv": model.nv}
