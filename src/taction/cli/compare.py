"""``taction compare``: one scenario under several models of contact, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taction.cli.choices import (
    Coordinates,
    Damper,
    Damping,
    Duration,
    Integration,
    Json,
    More,
    Settings,
    SolverName,
    Stiffness,
    TimeStep,
    read_contact,
)
from taction.cli.folder import folder_for
from taction.cli.output import cell, complain, run_notice, say, to_json
from taction.cli.run import need_plots, parse_settings

if TYPE_CHECKING:
    from taction.studies.comparison import Comparison

WIDTH = 132  # columns of the table, wherever it goes


def compare(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario through contact.")],
    more: More = None,
    contact: Annotated[
        str, typer.Option(metavar="NAME,NAME,...", help="Models, the first one the reference.")
    ] = "exact,convex,lcp,penalty,compliant",
    stiffness: Stiffness = None,
    damping: Damping = None,
    damper: Damper = None,
    integration: Integration = None,
    stepper: Annotated[
        str | None, typer.Option(help="Time-stepping scheme of all models. Default: each one's own.")
    ] = None,
    solver: SolverName = None,
    coordinates: Coordinates = None,
    dt: TimeStep = None,
    duration: Duration = None,
    settings: Settings = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where compare.html goes; made if need be.")
    ] = Path(),
    json: Json = False,
) -> None:
    """Run a scenario under several models of contact and write one page about what differs.

    A model that blows up is a finding: exit code 0. Exit code 2 if the input is bad.
    """
    given = parse_settings([*(settings or []), *(more or [])])
    from taction.contact.forces.parameters import SOFT

    names = [name.strip() for name in contact.split(",") if name.strip()]
    numbers = {"stiffness": stiffness, "damping": damping, "damper": damper, "integration": integration}
    is_any_soft = any(name in SOFT for name in names)
    none = dict.fromkeys(numbers)
    # numbers go to the models that have some; where there is none of those, the first one refuses them
    laws = [read_contact(n, **(numbers if n in SOFT or not is_any_soft else none)) for n in names]
    need_plots("compare")
    from taction.studies.comparison import compare_models
    from taction.studies.comparison_page import write_comparison
    from taction.studies.comparison_verdict import verdict

    with folder_for(out, "compare.html") as page:
        with run_notice() as notice:
            found = compare_models(
                scenario,
                [law for law in laws if law is not None],
                stepper=stepper,
                solver=solver,
                coordinates=coordinates,
                dt=dt,
                duration=duration,
                parameters=given,
                progress=notice.say,
            )
        complain(f"wrote {write_comparison(found, page)}")
    if json:
        typer.echo(to_json({**found.summary(), "verdict": verdict(found)}))
        return
    _show(found)
    for sentence in verdict(found):
        say(f"- {sentence}")


def _show(found: Comparison) -> None:
    """The table for people, on stdout."""
    from rich.console import Console
    from rich.table import Table

    from taction.studies.comparison_page import TABLE_HEAD, table_row

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in TABLE_HEAD:
        table.add_column(name, justify="left" if name in TABLE_HEAD[:2] else "right", no_wrap=True)
    for model in found.models:
        table.add_row(*map(cell, table_row(model)))
    console = Console(highlight=False, soft_wrap=True, width=WIDTH)
    say(f"{found.scenario}, dt = {found.dt:g} s, {found.duration:g} s; reference: {found.reference.name}")
    console.print(table)
