"""Contact solvers on a set of problems: ours against each other and against the peers that are installed.

Every solver gets every problem whose law it knows, from zero, at the same tolerance on the same residual. It
is the certificate that says whether a problem was solved, never the solver. Time is the best of several
solves, without conversion to block form; a solver that can time its compiled kernel alone (``time_kernel``)
is asked to, because on a problem of a few contacts Python's call costs more than the solve. Compiling never
counts.

Nothing hangs: a short probe with few iterations tells the cost of one, and the limit of iterations follows
from the time limit. What takes longer counts as not solved.

One row per problem compares ``auto`` with the fastest peer that reaches the tolerance: Pinocchio side by
side, and the times of a ``peers.csv`` (measured elsewhere, so that those ratios compare machines, too;
``peer_source`` says which).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.names import choose
from taction.bench.contact_peers import PeerResult, pinocchio_name, read_peers, run_pinocchio
from taction.bench.problem_set import generate_problems
from taction.bench.timing import machine
from taction.bench.warm_start import bench_warm_start
from taction.contact.certificate import certify
from taction.contact.problem import ContactProblem
from taction.io.problem_file import load_problem, problem_files
from taction.solvers import SOLVERS, make_solver
from taction.solvers import solve as solve_auto
from taction.solvers.base import Solution, Solver

AUTO = "auto"
PROBE = 10  # iterations that tell how many fit in the time limit
SLOW = 0.5  # seconds above which a solve is timed once
ROUNDING = 1e-3  # a certificate this much above the tolerance is rounding


@dataclass(frozen=True)
class Record:
    """One solver on one problem: time [s], iterations, residual by certificate, status in words."""

    solver: str
    case: str
    contacts: int
    seconds: float | None
    iterations: int | None
    residual: float | None
    status: str
    solved: bool
    finished_by: str


def bench_solvers(
    folder: str | Path | None = None,
    *,
    solvers: Sequence[str] | None = None,
    tol: float = 1e-8,
    rounds: int = 3,
    limit_s: float = 2.0,
    peers: bool = True,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Run the solvers on the problems of a folder.

    Args:
        folder: with problem files, and perhaps ``peers.csv``; the generated set if None.
        solvers: names; all registered ones but the slow reference by default. ``auto`` is always among them.
        tol: on the relative natural-map residual.
        rounds: timed repetitions; the best counts.
        limit_s: time for one solve [s].
        peers: whether to run Pinocchio side by side if it is installed.
        progress: called with the name of every problem that is done.

    Returns:
        ``{bench, machine, tol, rows, solvers, summary, warm_start}``: a row per problem for ``auto``, a
        record per solver and problem, and what `taction.bench.warm_start` measures.

    Raises:
        BadInput: an unknown solver, a bad tolerance, or a file that cannot be read.
    """
    names = _names(solvers)
    if not 0.0 < tol < 1.0:
        raise BadInput(f"tol: {tol:g} must lie between 0 and 1")
    problems = _problems(folder)
    elsewhere = read_peers(Path(folder) / "peers.csv", tol) if folder is not None else {}
    peer_name = pinocchio_name() if peers else None
    records: list[Record] = []
    rows = []
    for case, problem in problems:
        for name in names:
            if name == AUTO or problem.law in SOLVERS[name].laws:
                records.append(_run(name, case, problem, tol, rounds, limit_s))
        results = []
        if peer_name is not None:
            results = run_pinocchio(problem, tol=tol, rounds=rounds, limit_s=limit_s)
            records += [_peer_record(case, problem, result, limit_s) for result in results]
        ours = next(r for r in records if r.case == case and r.solver == AUTO)
        rows.append(_row(ours, results, elsewhere.get(case, {}), peer_name))
        if progress is not None:
            progress(case)
    return {
        "bench": "solvers",
        "machine": machine(),
        "tol": tol,
        "rows": rows,
        "solvers": [vars(record) for record in records],
        "summary": _summary(rows),
        "warm_start": bench_warm_start(rounds=rounds),
    }


def _names(solvers: Sequence[str] | None) -> list[str]:
    for name in solvers or ():
        if name != AUTO and name not in SOLVERS:
            raise BadInput(f"unknown solver {name!r}; {choose(name, dict.fromkeys([AUTO, *SOLVERS]))}")
    usual = [name for name, solver in SOLVERS.items() if not solver.is_reference]
    return list(dict.fromkeys([AUTO, *(usual if solvers is None else solvers)]))


def _problems(folder: str | Path | None) -> list[tuple[str, ContactProblem]]:
    """Contact problems by name; linear complementarity problems have no contacts and are passed over."""
    if folder is None:
        return [(problem.name, problem) for problem in generate_problems()]
    loaded = [(path.stem, load_problem(path)) for path in problem_files(folder)]
    found = [(name, problem) for name, problem in loaded if isinstance(problem, ContactProblem)]
    if not found:
        raise BadInput(f"{folder}: no contact problems in this folder")
    return sorted(found, key=lambda item: (item[1].contacts, item[0]))


def _run(name: str, case: str, problem: ContactProblem, tol: float, rounds: int, limit_s: float) -> Record:
    """Solve until the time is known, and judge."""
    if name == AUTO and AUTO not in SOLVERS:
        solver: Solver | None = None
    else:
        solver = _within_limit(name, problem, tol, limit_s)

    def solve() -> Solution:
        return solve_auto(problem, AUTO, tol=tol) if solver is None else solver.solve(problem)

    found = solve()  # compiles and loads what the probe did not reach
    residual = _judge(problem, found.impulse)
    is_certified = residual <= tol * (1.0 + ROUNDING)
    if is_certified:
        repeats = [solve().seconds]
        if repeats[0] < SLOW:
            repeats += [solve().seconds for _ in range(rounds - 1)]
        seconds = min(repeats)
        if solver is not None and hasattr(solver, "time_kernel"):
            seconds = float(solver.time_kernel(problem, rounds=rounds))
    else:
        seconds = found.seconds
    is_solved = is_certified and seconds <= limit_s
    return Record(
        solver=name,
        case=case,
        contacts=problem.contacts,
        seconds=seconds,
        iterations=found.iterations,
        residual=residual if math.isfinite(residual) else None,
        status=_status(found, is_certified, is_solved),
        solved=is_solved,
        finished_by=found.solver,
    )


def _judge(problem: ContactProblem, impulse: Array) -> float:
    return certify(problem, impulse).residual if np.isfinite(impulse).all() else math.inf


def _status(found: Solution, is_certified: bool, is_solved: bool) -> str:
    if is_solved:
        return "converged"
    if is_certified:
        return "time limit"
    return "not certified" if found.converged else found.status.label


def _within_limit(name: str, problem: ContactProblem, tol: float, limit_s: float) -> Solver:
    """The solver with an iteration limit that keeps it near the time limit; ``auto`` ends by itself."""
    solver = make_solver(name, tol=tol)
    if name == AUTO or solver.max_iterations <= PROBE:
        return solver
    probe = make_solver(name, tol=tol, max_iterations=PROBE)
    probe.solve(problem)
    found = probe.solve(problem)  # the first may have compiled
    if found.iterations < 1 or found.seconds <= 0.0:
        return solver
    limit = int(limit_s * found.iterations / found.seconds)
    return make_solver(name, tol=tol, max_iterations=max(PROBE, min(solver.max_iterations, limit)))


def _peer_record(case: str, problem: ContactProblem, result: PeerResult, limit_s: float) -> Record:
    status = "converged" if result.is_solved else "not certified"
    if not result.is_solved and result.seconds is not None and result.seconds > limit_s:
        status = "time limit"
    return Record(
        result.solver,
        case,
        problem.contacts,
        result.seconds,
        result.iterations,
        result.residual,
        status,
        result.is_solved,
        result.solver,
    )


def _row(
    ours: Record, results: Sequence[PeerResult], elsewhere: dict[str, float], peer_name: str | None
) -> dict[str, Any]:
    """``auto`` against the fastest peer."""
    candidates: list[tuple[float, str, str, float | None]] = [
        (r.seconds, f"{peer_name} {r.solver.partition('-')[2]}", "side by side", r.residual)
        for r in results
        if r.is_solved and r.seconds is not None
    ]
    candidates += [(seconds, name, "peers.csv", None) for name, seconds in elsewhere.items()]
    best = min(candidates, default=None, key=lambda candidate: candidate[0])
    seconds = ours.seconds if ours.solved else None
    return {
        "case": ours.case,
        "ours": None if seconds is None else 1e3 * seconds,
        "peer": None if best is None else 1e3 * best[0],
        "peer_name": None if best is None else best[1],
        "unit": "ms",
        "ratio": None if best is None or seconds is None else seconds / best[0],
        "residual": ours.residual,
        "peer_residual": None if best is None else best[3],
        "peer_source": None if best is None else best[2],
        "solver": ours.finished_by,
        "contacts": ours.contacts,
        "status": ours.status,
        "iterations": ours.iterations,
    }


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    return {
        "geometric_mean": math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None,
        "worst_ratio": max(ratios, default=None),
        "compared": len(ratios),
        "solved": sum(row["ours"] is not None for row in rows),
        "of": len(rows),
    }
