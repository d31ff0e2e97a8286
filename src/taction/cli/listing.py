"""``taction list``: what there is to run, with what, on what."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from taction.cli.output import to_json


def list_everything(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """List scenarios with their parameters, integrators, robots, contact models, schemes and solvers."""
    content = _content()
    if json:
        typer.echo(to_json(content))
    else:
        _show(content)


def _content() -> dict[str, Any]:
    from taction import robots
    from taction.scenarios import SCENARIOS
    from taction.scenarios.base import ContactScenario
    from taction.sim.contact_setup import LAW_SUMMARIES
    from taction.solvers import SOLVERS
    from taction.steppers import INTEGRATORS
    from taction.steppers.coordinates.dispatch import COORDINATES
    from taction.steppers.schemes.dispatch import SCHEMES

    return {
        "scenarios": [
            {
                "name": s.name,
                "summary": s.summary,
                "source": s.source,
                "integrator": s.integrator or None,
                "contact": s.contact if isinstance(s, ContactScenario) else None,
                "stepper": s.stepper if isinstance(s, ContactScenario) else None,
                "coordinates": s.coordinates if isinstance(s, ContactScenario) else None,
                "dt": s.dt,
                "duration": s.duration,
                "parameters": [
                    {
                        "name": p.name,
                        "default": p.default,
                        "unit": p.unit,
                        "help": p.help,
                        "choices": list(p.choices),
                        "minimum": p.minimum,
                        "maximum": p.maximum,
                    }
                    for p in s.parameters
                ],
            }
            for s in SCENARIOS.values()
        ],
        "integrators": [
            {"name": name, "order": method.order, "summary": method.summary}
            for name, method in INTEGRATORS.items()
        ],
        "robots": [
            {"name": name, "summary": _first_line(getattr(robots, name))}
            for name in robots.__all__
            if name.islower()
        ],
        "contact_models": [{"name": name, "summary": text} for name, text in LAW_SUMMARIES.items()],
        "coordinates": [{"name": name, "summary": text} for name, text in COORDINATES.items()],
        "steppers": [{"name": scheme.name, "summary": scheme.summary} for scheme in SCHEMES.values()],
        "solvers": [
            {"name": name, "summary": method.summary, "laws": list(method.laws)}
            for name, method in SOLVERS.items()
        ],
    }


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").split("\n")[0].replace("``", "")


def _show(content: dict[str, Any]) -> None:
    import sys

    from rich.console import Console
    from rich.table import Table

    # a pipe has no width: long lines are better than broken ones
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)

    def table(rows: list[tuple[str, ...]], indent: int) -> None:
        out = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            out.add_row(" " * indent + row[0], *row[1:])
        console.print(out)

    console.print("[bold]Scenarios[/bold] (taction run NAME --set key=value)")
    for s in content["scenarios"]:
        console.print(f"\n  [bold]{s['name']}[/bold]  {s['summary']}")
        method = s["integrator"] or f"{s['stepper']}, contact {s['contact']}, {s['coordinates']} coordinates"
        console.print(f"  [dim]{method}, dt = {s['dt']:g} s, {s['duration']:g} s; {s['source']}[/dim]")
        table([(f"{p['name']}={_word(p['default'])}", p["unit"], p["help"]) for p in s["parameters"]], 4)
    console.print("\n[bold]Integrators[/bold] (--integrator NAME)\n")
    table([(i["name"], i["summary"]) for i in content["integrators"]], 2)
    console.print("\n[bold]Robots[/bold] (taction.robots.NAME)\n")
    table([(r["name"], r["summary"]) for r in content["robots"]], 2)
    console.print("\n[bold]Contact models[/bold] (--contact NAME)\n")
    table([(c["name"], c["summary"]) for c in content["contact_models"]], 2)
    console.print("\n[bold]Coordinates[/bold] (--coordinates NAME)\n")
    table([(c["name"], c["summary"]) for c in content["coordinates"]], 2)
    console.print("\n[bold]Time-stepping schemes through contact[/bold] (--stepper NAME)\n")
    table([(s["name"], s["summary"]) for s in content["steppers"]], 2)
    console.print("\n[bold]Contact solvers[/bold] (taction solve FILE --solver NAME)\n")
    table([(s["name"], s["summary"]) for s in content["solvers"]], 2)


def _word(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
