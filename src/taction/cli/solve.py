"""``taction solve``: solve problem files, certify the answers, and say or save them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taction._core.errors import BadInput
from taction._core.names import choose
from taction._core.whole_file import written_whole
from taction.cli.output import CompileNotice, cell, compile_notice, complain, to_json

if TYPE_CHECKING:
    from taction._core.arrays import Array
    from taction.contact.lcp import LinearComplementarityProblem
    from taction.io.problem_file import Problem

# Pivoting ends at rounding or not at all: no tolerance looser than this is asked of it.
PIVOTING = 1e-10
# Solves below this time [s] are repeated for a time without compiling and loading.
QUICK = 5.0


def solve_files(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Problem files (.hdf5, .h5, .npz), or folders of them."),
    ],
    solver: Annotated[str, typer.Option(help="Solver; `taction list solvers` shows them.")] = "auto",
    tol: Annotated[float, typer.Option(help="Tolerance on the relative natural-map residual.")] = 1e-8,
    law: Annotated[
        str | None, typer.Option(help="exact, convex, pyramid or frictionless. Default: the file's own.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each solution here as NAME.npz.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Solve contact problems and linear complementarity problems from files.

    Exit code 0 if every problem was solved, 1 if one was not, 2 if the input is bad (nothing is solved then).
    """
    problems = _load(files, law)
    _check(solver, tol, problems)
    if out is not None:
        _make(out, [path.stem for path, _ in problems])
    rows: list[dict[str, Any]] = []
    with compile_notice() as notice:
        for path, problem in problems:
            row, arrays = _solve(path.stem, problem, solver, tol, notice)
            rows.append(row)
            if out is not None:
                _save(out / f"{path.stem}.npz", row, arrays)
    result = {"tol": tol, "solver": solver, "problems": rows}
    if json:
        typer.echo(to_json(result))
    else:
        _show(rows, tol)
    bad = [row for row in rows if row["status"] != "converged"]
    for row in bad:
        complain(f"{row['name']}: {row['status']}: {row['message']}")
    if bad:
        raise typer.Exit(1)


def _load(files: list[Path], law: str | None) -> list[tuple[Path, Problem]]:
    """Every problem of the files and folders, all of them read before any is solved."""
    from taction.contact.problem import LAWS, ContactProblem
    from taction.io.problem_file import load_problem, problem_files

    if law is not None and law not in LAWS:
        raise BadInput(f"--law {law}: {choose(law, LAWS)}")
    paths = [path for name in files for path in (problem_files(name) if name.is_dir() else [name])]
    loaded = []
    for path in paths:
        problem = load_problem(path)
        if law is not None:
            if not isinstance(problem, ContactProblem):
                raise BadInput(f"{path}: --law is for contact problems, this is a linear complementarity one")
            problem = problem.with_law(law)
        loaded.append((path, problem))
    return loaded


def _check(solver: str, tol: float, problems: list[tuple[Path, Problem]]) -> None:
    """Refuse a bad name, a bad tolerance, or a law that the solver does not know, before solving anything."""
    from taction.contact.problem import ContactProblem
    from taction.solvers import SOLVERS, make_solver

    if solver != "auto" and solver not in SOLVERS:
        raise BadInput(f"--solver {solver}: {choose(solver, dict.fromkeys(['auto', *SOLVERS]))}")
    if not 0.0 < tol < 1.0:
        raise BadInput(f"--tol {tol:g}: must lie between 0 and 1")
    if solver == "auto":
        return
    laws = make_solver(solver).laws
    for path, problem in problems:
        if isinstance(problem, ContactProblem) and problem.law not in laws:
            known = ", ".join(laws)
            raise BadInput(
                f"{path}: solver {solver!r} does not know the law {problem.law!r}; it knows {known}"
            )


def _solve(
    name: str, problem: Problem, solver: str, tol: float, notice: CompileNotice
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Solve and certify one problem: its row, and the arrays worth keeping."""
    from taction.contact.problem import ContactProblem

    if not isinstance(problem, ContactProblem):
        return _solve_lcp(name, problem, tol, notice)
    from taction.contact.certificate import certify
    from taction.solvers import solve

    found, seconds = _timed(lambda: solve(problem, solver, tol=tol), notice)
    certificate = certify(problem, found.impulse)
    row = {
        "name": name,
        "contacts": problem.contacts,
        "status": found.status.label,
        "residual": certificate.residual,
        "iterations": found.iterations,
        "seconds": seconds,
        "solver": found.solver,
        "message": found.message,
        "law": problem.law,
        "rows": problem.size,
        "worst_element": certificate.worst,
    }
    return row, {"impulse": found.impulse, "velocity": found.velocity}


def _solve_lcp(
    name: str, problem: LinearComplementarityProblem, tol: float, notice: CompileNotice
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The same for a linear complementarity problem, by Lemke's method."""
    from taction.contact.lcp import certify_lcp
    from taction.solvers.lemke import solve_lcp

    found, seconds = _timed(lambda: solve_lcp(problem, tol=min(tol, PIVOTING)), notice)
    certificate = certify_lcp(problem, found.z)
    row = {
        "name": name,
        "contacts": 0,
        "status": found.status.label,
        "residual": certificate.residual,
        "iterations": found.pivots,
        "seconds": seconds,
        "solver": "lemke",
        "message": found.message,
        "rows": problem.size,
        "min_w": certificate.min_w,
        "min_z": certificate.min_z,
        "complementarity": certificate.product,
    }
    return row, {"z": found.z, "w": found.w}


def _timed(solve: Callable[[], Any], notice: CompileNotice) -> tuple[Any, float]:
    """What solve returns, and its time [s]; solved again if quick or compiled, for a time without loading."""
    found = solve()
    is_repeated = found.seconds < QUICK or notice.has_compiled
    notice.close()
    return found, min(found.seconds, solve().seconds) if is_repeated else found.seconds


def _make(out: Path, names: list[str]) -> None:
    """Make the folder before solving, so that a bad path costs no time."""
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"--out {out}: two problems are called {name!r}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {out}: {error.strerror}") from None


def _save(path: Path, row: dict[str, Any], arrays: dict[str, Array]) -> None:
    import numpy as np

    with written_whole(path) as begun, begun.open("wb") as file:
        np.savez(file, summary=np.array(to_json(row)), **arrays)  # type: ignore[arg-type]


def _show(rows: list[dict[str, Any]], tol: float) -> None:
    """The table for people, on stdout."""
    import sys

    from rich.console import Console
    from rich.table import Table

    solved = sum(row["status"] == "converged" for row in rows)
    table = Table(title=f"{solved} of {len(rows)} solved to {tol:g}", title_justify="left")
    for title in ("problem", "contacts", "status", "residual", "iterations", "time", "solver"):
        numeric = title in ("contacts", "residual", "iterations", "time")
        table.add_column(title, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        style = "" if row["status"] == "converged" else "red"
        table.add_row(
            cell(row["name"]),
            str(row["contacts"]),
            row["status"],
            f"{row['residual']:.1e}",
            str(row["iterations"]),
            _duration(row["seconds"]),
            row["solver"],
            style=style,
        )
    # a pipe has no width: long lines are better than broken ones
    Console(highlight=False, width=None if sys.stdout.isatty() else 140).print(table)


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.3g} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
