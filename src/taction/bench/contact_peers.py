"""The other side of ``taction bench solvers``: Pinocchio's contact solvers, and times measured elsewhere.

Pinocchio (4.1 and later) solves the same problem in frames (t₁, t₂, normal), so rows change places. Its
stopping tolerance is not our residual: for every problem it is tightened step by step until our certificate
is content, and only that last, shortest sufficient run is timed, by Pinocchio's own clock, without the call
from Python. The problem set-up (constraint models, copy of W) is not timed.

It also takes W for symmetric and reads one half of it. Collections hold problems whose W is slightly
asymmetric, so it gets (W + Wᵀ)/2 and is judged by the problem that it was given.

A ``peers.csv`` beside the problems holds times that were measured elsewhere: columns ``problem``,
``contacts``, then pairs ``NAME_TOLERANCE`` (the configuration that was fastest) and ``ms``; an empty time
means that none reached the tolerance.
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.contact.certificate import certify
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem

TIGHTENING = tuple(10.0**-k for k in (0, 1, 2, 3, 4, 6, 8, 10))  # of the peer's own tolerance, in this order
DENSE = 400  # rows up to which Pinocchio gets W as a dense matrix
PROBE = 50  # iterations that tell how many fit in the time limit


@dataclass(frozen=True)
class PeerResult:
    """What a peer did: time [s], iterations, residual by our certificate, whether that is low enough."""

    solver: str
    seconds: float | None
    iterations: int | None
    residual: float | None
    is_solved: bool


def read_peers(path: Path, tol: float) -> dict[str, dict[str, float]]:
    """Times [s] of peers at a tolerance, by problem and peer; empty without such a file or tolerance.

    Raises:
        BadInput: a file that is there and is not such a table.
    """
    if not path.is_file():
        return {}
    times: dict[str, dict[str, float]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *lines = [line for line in csv.reader(file) if line]
        if head[:1] != ["problem"]:
            raise ValueError("the first column must be 'problem'")
        pairs = []
        for k, title in enumerate(head[:-1]):
            name, _, tolerance = title.rpartition("_")
            if name and head[k + 1] == "ms" and math.isclose(float(tolerance), tol, rel_tol=1e-3):
                pairs.append((name, k + 1))
        for line in lines:
            times[line[0]] = {name: 1e-3 * float(line[k]) for name, k in pairs if line[k].strip()}
    except (ValueError, IndexError, csv.Error, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not a table of peers ({error})") from None
    return times


def pinocchio_name() -> str | None:
    """``pinocchio VERSION`` if it is installed with contact solvers."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    return f"pinocchio {pin.__version__}" if hasattr(pin, "ADMMConstraintSolver") else None


def run_pinocchio(problem: ContactProblem, *, tol: float, rounds: int, limit_s: float) -> list[PeerResult]:
    """Pinocchio's solvers on a problem; empty if it has no word for some element or law.

    Args:
        problem: isotropic contacts only, exact law.
        tol: on the residual by our certificate.
        rounds: timed repetitions; the best counts.
        limit_s: time for one solve [s].
    """
    if (
        problem.law != "exact"
        or problem.compliance is not None
        or not all(_is_plain(e) for e in problem.elements)
    ):
        return []
    problem = replace(problem, W=0.5 * (problem.matrix + problem.matrix.T))

    def judge(impulse: Array) -> float:
        return certify(problem, impulse).residual if np.isfinite(impulse).all() else math.inf

    peer = _Peer(problem)
    kinds = ["admm-osqp", "admm-spectral"]
    if problem.size <= DENSE:
        kinds.append("pgs")  # takes dense matrices only
    return [_best(peer, kind, judge, tol, rounds, limit_s) for kind in kinds]


def _is_plain(element: Any) -> bool:
    if not isinstance(element, Contact):
        return False
    return element.friction == element.lateral == element.backward and not element.viscous


def _best(
    peer: _Peer, kind: str, judge: Callable[[Array], float], tol: float, rounds: int, limit_s: float
) -> PeerResult:
    """Tighten the peer's tolerance until the residual is reached, then time that run."""
    name = f"pinocchio-{kind}"
    begin = time.perf_counter()  # its own clock leaves out part of the work, so limits go by ours
    _, iterations, _ = peer.solve(kind, tol, PROBE)
    limit = max(PROBE, int(limit_s * max(iterations, 1) / (time.perf_counter() - begin)))
    least: PeerResult | None = None
    for factor in TIGHTENING:
        seconds, iterations, impulse = peer.solve(kind, factor * tol, limit)
        spent = time.perf_counter() - begin
        residual = judge(impulse)
        if residual <= tol:
            repeats = rounds if seconds < 1.0 else 1
            seconds = min([seconds, *(peer.solve(kind, factor * tol, limit)[0] for _ in range(repeats))])
            return PeerResult(name, seconds, iterations, residual, seconds <= limit_s)
        if least is None or least.residual is None or residual < least.residual:
            least = PeerResult(
                name, seconds, iterations, residual if math.isfinite(residual) else None, False
            )
        if spent > limit_s or iterations >= limit:
            break
    assert least is not None
    return least


class _Peer:
    """A problem in Pinocchio's terms."""

    def __init__(self, problem: ContactProblem) -> None:
        import pinocchio as pin
        from scipy.sparse import csc_matrix

        contacts = problem.contacts
        self.order = np.arange(3 * contacts).reshape(contacts, 3)[:, [1, 2, 0]].ravel()
        self.is_dense = problem.size <= DENSE
        self.W = csc_matrix(problem.matrix)[self.order][:, self.order]
        self.g = problem.b[self.order]
        model = pin.Model()
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
        self.models, self.data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for element in problem.elements:
            point = pin.PointContactConstraintModel(model, 0, pin.SE3.Identity(), 1, pin.SE3.Identity())
            point.setFriction(element.friction)  # type: ignore[union-attr]
            constraint = pin.ConstraintModel(point)
            self.models.append(constraint)
            self.data.append(constraint.createData())

    def solve(self, kind: str, tol: float, limit: int) -> tuple[float, int, Array]:
        """Time [s], iterations and impulses (n,) of one solve from zero."""
        import pinocchio as pin

        if kind == "pgs":
            settings, solver, result = pin.PGSSolverSettings(), pin.PGSConstraintSolver, pin.PGSSolverResult()
        else:
            settings, solver, result = (
                pin.ADMMSolverSettings(),
                pin.ADMMConstraintSolver,
                pin.ADMMSolverResult(),
            )
            rules = {"admm-osqp": pin.ADMMUpdateRule.OSQP, "admm-spectral": pin.ADMMUpdateRule.SPECTRAL}
            settings.admm_update_rule = rules[kind]
        for which in ("absolute", "relative"):
            for what in ("complementarity", "feasibility"):
                setattr(settings, f"{which}_{what}_tol", tol)
        settings.max_iterations, settings.measure_timings = limit, True
        # a new operator for every solve: ADMM leaves its damping behind
        delassus = (
            pin.DelassusOperatorDense(self.W.toarray())
            if self.is_dense
            else pin.DelassusOperatorSparse(self.W)
        )
        method = solver(len(self.g))
        method.solve(delassus, self.g, self.models, self.data, settings, result)
        impulse = np.zeros(len(self.g))
        impulse[self.order] = result.retrieveConstraintImpulses()
        return 1e-6 * float(method.getElapsedTime()), int(result.iterations), impulse
