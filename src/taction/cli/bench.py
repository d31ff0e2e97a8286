"""``taction bench``: ratios against the peers that are installed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

app = typer.Typer(help="Measure against the peers that are installed.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Rounds = Annotated[int, typer.Option(min=1, help="Timed repetitions; the best counts.")]


@app.command()
def dynamics(as_json: Json = False, rounds: Rounds = 15) -> None:
    """Forward and inverse dynamics and mass matrix against Pinocchio; growth with size."""
    from taction.bench.dynamics import bench_dynamics

    _show(bench_dynamics(rounds=rounds), as_json)


@app.command()
def start(as_json: Json = False, rounds: Rounds = 5) -> None:
    """Cold compile and warm start of the main job, from the shell to the first step."""
    from taction.bench.start import bench_start

    _show(bench_start(rounds=rounds), as_json)


def _show(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(result))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"taction bench {result['bench']}: {result['machine']['cpu']}")
    columns = ["case", "ours", "peer", "unit", "ratio", "residual", "peer_residual"]
    columns += [key for key in ("slope", "limit") if any(key in row for row in result["rows"])]
    for column in columns:
        title = column.replace("residual", "error").replace("_", " ")
        table.add_column(title, justify="left" if column in ("case", "unit") else "right", no_wrap=True)
    for row in result["rows"]:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    Console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
