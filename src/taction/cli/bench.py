"""``taction bench``: ratios against the peers that are installed."""

from __future__ import annotations

import json
import time as clock
from pathlib import Path
from typing import Annotated, Any

import typer

from taction._core.errors import BadInput
from taction.cli.output import EVERY, cell, complain, plain, run_notice, to_json

app = typer.Typer(no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]


class Cases:
    """Says now and then how many problems are done."""

    def __init__(self) -> None:
        self.done, self.said = 0, clock.perf_counter()

    def note(self, case: str) -> None:
        """One more is done."""
        self.done += 1
        if clock.perf_counter() - self.said > EVERY:
            self.said = clock.perf_counter()
            complain(f"{self.done} problems done, the last one {case}")


Rounds = Annotated[int, typer.Option(min=1, help="Timed repetitions; the best counts.")]


@app.callback()
def _measure(context: typer.Context) -> None:
    """Measure against the peers that are installed."""
    from taction.sim.interrupt import whole_runs

    context.with_resource(whole_runs())
    context.with_resource(run_notice()).prepare(f"bench {context.invoked_subcommand} is measuring")


@app.command()
def dynamics(as_json: Json = False, rounds: Rounds = 15) -> None:
    """Forward and inverse dynamics and mass matrix against Pinocchio; growth with size."""
    from taction.bench.dynamics import bench_dynamics

    _show(bench_dynamics(rounds=rounds), as_json)


@app.command()
def start(as_json: Json = False, rounds: Rounds = 5) -> None:
    """Cold and warm start of a pendulum and of a snake through contact, from the shell to the first steps."""
    from taction.bench.start import bench_start

    _show(bench_start(rounds=rounds), as_json)


@app.command()
def load(as_json: Json = False, rounds: Rounds = 5) -> None:
    """Worlds of robots with meshes from their files, the first time and later, against MuJoCo's loader."""
    from taction.bench.load import bench_load

    _show(bench_load(rounds=rounds), as_json)


@app.command()
def step(
    as_json: Json = False,
    rounds: Rounds = 7,
    tol: Annotated[float, typer.Option(help="Tolerance on the relative natural-map residual.")] = 1e-9,
    stages: Annotated[
        bool, typer.Option("--stages", help="Our own step instead, stage by stage, without a peer.")
    ] = False,
) -> None:
    """One step of standing robots and falling boxes, against MuJoCo; inverse dynamics, whole-body control."""
    if stages:
        from taction.bench.stages import bench_stages

        result = bench_stages(rounds=rounds, tol=tol)
        _show_json(result) if as_json else _show_stages(result)
        return
    from taction.bench.inverse import bench_inverse
    from taction.bench.loops import bench_loops
    from taction.bench.soft import bench_soft
    from taction.bench.step import bench_step
    from taction.bench.whole_body import bench_whole_body

    complain("bench step: robots and boxes, 1 of 5")
    result = bench_step(rounds=rounds, tol=tol)
    rest = {
        "contact as a force": lambda: bench_soft(rounds, tol),
        "loops of one's own": lambda: bench_loops(rounds, tol),
        "inverse dynamics": lambda: bench_inverse(rounds, tol),
        "whole-body control": lambda: bench_whole_body(rounds),
    }
    for k, (part, measure) in enumerate(rest.items(), start=2):
        complain(f"bench step: {part}, {k} of 5")
        result["rows"] += measure()
    _show(result, as_json)


@app.command()
def pile(
    as_json: Json = False,
    tol: Annotated[float, typer.Option(help="Tolerance on the relative natural-map residual.")] = 1e-8,
) -> None:
    """Spheres poured into a bin and falling boxes, from start to rest, against MuJoCo."""
    from taction.bench.pile import bench_pile

    result = bench_pile(tol=tol)
    _show(result, as_json)
    if not as_json:
        for row in result["rows"]:
            _console().print(
                f"{row['case']}: {row['unconverged']} of {row['steps']} steps above the tolerance, overlap "
                f"{row['penetration']:.1e} m, energy rises by {row['energy_rise']:.1e} of what is lost, "
                f"{row['escaped']} bodies escaped"
            )


@app.command()
def plan(
    as_json: Json = False,
    starts: Annotated[int, typer.Option(min=1, help="Random starts.")] = 50,
) -> None:
    """Plans through contact of two pushers and a puck over ten steps, by consensus and branch and bound."""
    from taction.bench.plan import bench_plan

    result = bench_plan(starts=starts)
    _show(result, as_json)
    if not as_json:
        for row in result["rows"]:
            gap = "none reported" if row["gap"] is None else f"{row['gap']:.1e}"
            excess = "" if row["excess"] is None else f", at most {row['excess']:.1e} above the best"
            _console().print(f"{row['case']}: 99th percentile {row['p99']:.3g} ms, gap {gap}{excess}")


@app.command()
def bitwise(
    as_json: Json = False,
    steps: Annotated[int, typer.Option(min=2, help="Steps of each world.")] = 1000,
    worlds: Annotated[int, typer.Option(min=1, help="Worlds in the batch.")] = 64,
) -> None:
    """States that differ between threads, batches, and after saving and restoring; 0 is good."""
    from taction.bench.bitwise import bench_bitwise

    _show(bench_bitwise(steps=steps, worlds=worlds), as_json)


@app.command()
def rollout(
    as_json: Json = False,
    rounds: Rounds = 3,
    worlds: Annotated[int, typer.Option(min=1, help="How many worlds.")] = 64,
    steps: Annotated[int, typer.Option(min=1, help="Steps of each.")] = 500,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads on both sides; all cores.")] = None,
) -> None:
    """Many worlds over many steps against MuJoCo's rollouts."""
    from taction.bench.rollout import bench_rollout

    _show(bench_rollout(rounds=rounds, worlds=worlds, steps=steps, threads=threads), as_json)


@app.command()
def scaling(
    as_json: Json = False,
    links: Annotated[
        list[int] | None, typer.Option(min=2, help="Links of a snake; may be repeated. 10 to 1000.")
    ] = None,
    budget: Annotated[
        float, typer.Option(min=0.01, help="Seconds of timed steps per snake and engine.")
    ] = 3.0,
) -> None:
    """A step of ever longer snakes, in both coordinates, against MuJoCo."""
    from taction.bench.scaling import LINKS, bench_scaling

    _show(bench_scaling(links=links or LINKS, budget=budget), as_json)


@app.command()
def solvers(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Folder of problem files. Default: a generated set."),
    ] = None,
    solver: Annotated[
        list[str] | None, typer.Option(help="Only this solver, besides auto; may be repeated.")
    ] = None,
    tol: Annotated[float, typer.Option(help="Tolerance on the relative natural-map residual.")] = 1e-8,
    rounds: Rounds = 3,
    limit: Annotated[float, typer.Option(min=0.001, help="Time for one solve [s]; more is a failure.")] = 2.0,
    peers: Annotated[bool, typer.Option(help="Run Pinocchio side by side, if installed.")] = True,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write solvers.json, profiles.png and profiles.html here."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Contact solvers on a folder of problems: certified, timed, with performance profiles."""
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"--out {out}: {error.strerror}") from None
    from taction.bench.solvers import bench_solvers

    result = bench_solvers(
        folder, solvers=solver, tol=tol, rounds=rounds, limit_s=limit, peers=peers, progress=Cases().note
    )
    if out is not None:
        _save_solvers(result, out)
    _show(result, as_json)
    if not as_json:
        _show_solvers(result)


def _save_solvers(result: dict[str, Any], out: Path) -> None:
    names = ["solvers.json"]
    (out / names[0]).write_text(to_json(result) + "\n", encoding="utf-8")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        complain("no profiles: matplotlib is not installed (pip install 'taction[plot]')")
    else:
        from taction.report.profiles import save_profiles

        note = f"tolerance {result['tol']:g}; {result['machine']['cpu']}, {result['machine']['system']}"
        names += [path.name for path in save_profiles(result["solvers"], out, note=note)]
    complain(f"wrote {', '.join(names)} to {out}")


def _show_solvers(result: dict[str, Any]) -> None:
    """What each solver did, in a line."""
    from rich.table import Table

    summary, table = result["summary"], Table(title="solvers, one by one")
    for title in ("solver", "solved", "fastest", "total time of solved, ms"):
        table.add_column(title, justify="left" if title == "solver" else "right")
    solved = [record for record in result["solvers"] if record["solved"]]
    best: dict[str, float] = {}
    for record in solved:
        best[record["case"]] = min(record["seconds"], best.get(record["case"], record["seconds"]))
    for name in dict.fromkeys(record["solver"] for record in result["solvers"]):
        mine = [record for record in solved if record["solver"] == name]
        tried = sum(record["solver"] == name for record in result["solvers"])
        wins = sum(record["seconds"] == best[record["case"]] for record in mine)
        table.add_row(
            cell(name), f"{len(mine)} of {tried}", str(wins), f"{1e3 * sum(r['seconds'] for r in mine):.3g}"
        )
    console = _console()
    console.print(table)
    ratio = summary["geometric_mean"]
    against = "no peer to compare with" if ratio is None else f"ratio {ratio:.2f} in the geometric mean"
    worst = "" if ratio is None else f", at worst {summary['worst_ratio']:.2f}"
    console.print(f"auto solved {summary['solved']} of {summary['of']}; {against}{worst}")
    warm = result["warm_start"]
    console.print(
        f"{warm['case']}: {warm['ours']:.2f} µs on average over {warm['steps']} steps, "
        f"{warm['longest']:.1f} at worst, residual {warm['residual']:.1e}; from zero {warm['cold']:.2f} µs"
    )


def _show_stages(result: dict[str, Any]) -> None:
    """A column per case: µs of every stage, and its share of their sum."""
    from rich.table import Table

    rows = result["rows"]
    table = Table(title=f"stages of a step, µs and share: {result['machine']['cpu']}")
    table.add_column("stage", no_wrap=True)
    for row in rows:
        table.add_column(row["case"], justify="right")
    for entries in zip(*(row["stages"] for row in rows), strict=True):
        cells = (f"{entry['ours']:.3g} {100 * entry['share']:3.0f} %" for entry in entries)
        table.add_row(entries[0]["stage"], *cells)
    table.add_section()
    table.add_row("sum", *(f"{row['sum']:.4g}      " for row in rows))
    table.add_row("whole step", *(f"{row['step']:.4g}      " for row in rows))
    _console().print(table)


def _show_json(result: dict[str, Any]) -> None:
    print(json.dumps(plain(result)))


def _show(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _show_json(result)
        return
    from rich.table import Table

    table = Table(title=f"taction bench {result['bench']}: {result['machine']['cpu']}")
    columns = ["case", "ours", "peer", "unit", "ratio", "residual", "peer_residual"]
    columns += [
        key
        for key in ("slope", "work", "peer_work", "limit", "solver")
        if any(key in row for row in result["rows"])
    ]
    for column in columns:
        title = column.replace("residual", "error").replace("_", " ")
        table.add_column(
            title, justify="left" if column in ("case", "unit", "solver") else "right", no_wrap=True
        )
    for row in result["rows"]:
        table.add_row(*(cell(_word(row.get(column))) for column in columns))
    _console().print(table)


def _console() -> Any:
    """A console for tables; a pipe has no width, and long lines are better than broken ones."""
    import sys

    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 140)


def _word(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
