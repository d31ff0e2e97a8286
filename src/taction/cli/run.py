"""``taction run``: run a scenario, check it, and say or save what happened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taction._core.errors import BadInput
from taction._core.whole_file import written_whole
from taction.cli.choices import (
    Accuracy,
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
from taction.cli.output import Stopped, cell, complain, run_notice, to_json

if TYPE_CHECKING:
    from taction.scenarios import Outcome
    from taction.sim.run import Run


# Of what a run says of itself; the rest are pure numbers
UNITS = {
    **dict.fromkeys(("initial", "final", "actuation", "joint_friction", "remainder"), "J"),
    **dict.fromkeys(("friction", "impact", "pressing", "joints", "correction", "stored", "drift"), "J"),
    **dict.fromkeys(("motion_time", "residual_time", "gap_time", "drift_time", "error_time"), "s"),
    **dict.fromkeys(("penetration", "pushed", "left", "position_error", "error_sum"), "m"),
    "velocity_error": "m/s",
    **dict.fromkeys(("joint_gap", "beyond", "beyond_left", "spared"), "m or rad"),
    "turned": "rad",
}


def run_scenario(
    scenario: Annotated[str, typer.Argument(help="Name of a scenario; `taction list` shows them.")],
    more: More = None,
    integrator: Annotated[
        str | None,
        typer.Option(help="Integrator; `taction list integrators` shows them. Default: the scenario's own."),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            help="Law: exact, convex, lcp; or a force: penalty, compliant. Default: the scenario's own."
        ),
    ] = None,
    stiffness: Stiffness = None,
    damping: Damping = None,
    damper: Damper = None,
    integration: Integration = None,
    stepper: Annotated[
        str | None, typer.Option(help="Time-stepping scheme through contact. Default: the scenario's own.")
    ] = None,
    solver: SolverName = None,
    coordinates: Coordinates = None,
    accuracy: Accuracy = None,
    dt: TimeStep = None,
    duration: Duration = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write run.npz, summary.json and pictures here; through contact run.h5 meanwhile.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Write a page: DIR/report.html with --out, else SCENARIO-report.html here."
        ),
    ] = False,
    view: Annotated[
        bool, typer.Option("--view", help="Show the replay in a browser afterwards, until Ctrl-C.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a scenario, measure it and check it against exact answers.

    Exit code 0 if every check passed, 1 if one failed or the motion blew up, 2 if the input is bad, 130 if
    Ctrl-C stopped it: then what was done is kept.
    """
    given = parse_settings([*(settings or []), *(more or [])])
    law = read_contact(contact, stiffness=stiffness, damping=damping, damper=damper, integration=integration)
    with nullcontext() if out is None else folder_for(out, "summary.json"):
        page = _place_page(scenario, out) if report else None
        outcome = _run(
            scenario, out, integrator=integrator, contact=law, stepper=stepper, solver=solver,
            coordinates=coordinates, accuracy=accuracy, dt=dt, duration=duration, parameters=given,
        )  # fmt: skip
        if out is not None:
            _save(outcome, out)
    if page is not None and not (outcome.stopped and out is not None):
        from taction.report.run_report import write_outcome

        complain(f"wrote {write_outcome(outcome, page)}")
    if json:
        typer.echo(to_json(outcome.summary()))
    else:
        _show(outcome)
    for violation in outcome.violations:
        complain(f"{scenario}: {violation}")
    if view and outcome.run is not None:
        from taction.cli.view import show_run

        show_run(outcome.run)
    if outcome.stopped:
        raise _stopped(outcome, out or page)
    if outcome.violations:
        raise typer.Exit(1)


def _run(scenario: str, out: Path | None, *, duration: float | None, **options: Any) -> Outcome:
    """The scenario, with words about how far it is."""
    from taction._core.jit import skip_blas

    skip_blas()
    from taction.scenarios import get_scenario
    from taction.scenarios.base import ContactScenario

    chosen = get_scenario(scenario)
    is_recorded = out is not None and isinstance(chosen, ContactScenario)
    with run_notice(scenario) as notice:
        notice.prepare(f"preparing {scenario}")
        return chosen.run(duration=duration, record=f"{out}/run.h5" if is_recorded else None, **options)


def _stopped(outcome: Outcome, place: Path | None) -> Stopped:
    when = 0.0 if outcome.run is None else outcome.run.t[-1]
    kept = "" if place is None else f"; what is done is kept in {place}"
    return Stopped(f"stopped at t = {when:.6g} of {outcome.duration:.6g} s{kept}")


def parse_settings(settings: list[str]) -> dict[str, str]:
    """Parameters of a scenario from words as ``key=value``.

    Raises:
        BadInput: a word of another form, or a key given twice.
    """
    out: dict[str, str] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not (equals and key.strip() and value.strip()):
            raise BadInput(f"--set {text!r}: expected key=value")
        if key.strip() in out:
            raise BadInput(f"--set {key.strip()}: given twice")
        out[key.strip()] = value.strip()
    return out


def need_plots(what: str) -> None:
    """Say before anything runs that pictures, asked for by ``what``, cannot be drawn."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise BadInput(f"{what}: needs matplotlib (pip install 'taction[plot]')")


def _place_page(scenario: str, out: Path | None) -> Path:
    """Where the page goes; said before the run if it cannot be written."""
    page = Path(f"{scenario}-report.html") if out is None else out / "report.html"
    if not os.access(page.parent, os.W_OK) or page.is_dir():
        raise BadInput(f"--report: {page} cannot be written")
    return page


def _save(outcome: Outcome, out: Path) -> None:
    names = ["summary.json", *(["run.h5"] if outcome.contact is not None else [])]
    with written_whole(out / "summary.json") as begun:
        begun.write_text(to_json(outcome.summary()) + "\n", encoding="utf-8")
    if outcome.run is not None:
        names.append(outcome.run.save(out / "run.npz").name)
        if not outcome.stopped:  # who wants to stop does not wait for pictures
            names += _save_views(outcome, outcome.run, out)
    complain(f"wrote {', '.join(names)} to {out}{'; no pictures, no page' if outcome.stopped else ''}")


def _save_views(outcome: Outcome, run: Run, out: Path) -> list[str]:
    """Curves and pictures of a run; names of the files."""
    import numpy as np

    from taction.scenarios import get_scenario

    names = []
    curves: dict[str, Any] = dict(get_scenario(outcome.scenario).curves(run, outcome.parameters))
    if curves:
        with written_whole(out / "curves.npz") as begun:
            np.savez(begun, **curves)
        names.append("curves.npz")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        complain("no pictures: matplotlib is not installed (pip install 'taction[plot]')")
        return names
    from taction.report.figures import save_figures

    title = f"{outcome.scenario}: {outcome.integrator}, dt = {outcome.dt:g} s"
    return names + [path.name for path in save_figures(run, out, title=title)]


def _show(outcome: Outcome) -> None:
    """The summary for people, on stdout."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for row in _rows(outcome):
        table.add_row(*map(cell, row))
    Console(highlight=False, soft_wrap=True).print(table)


def _rows(outcome: Outcome) -> list[tuple[str, str, str]]:
    run = outcome.run
    rows = [
        ("scenario", outcome.scenario, ""),
        ("method", f"{outcome.integrator}, dt = {outcome.dt:g} s, {outcome.duration:g} s", ""),
    ]
    if outcome.contact is not None:
        rows.append(("contact", f"{outcome.contact}, solver {outcome.solver}", ""))
    if run is not None:
        each = 1e6 * run.wall_s / max(run.steps, 1)
        first = f"first step after {outcome.first_call_s:.2f} s"
        rows.append(("steps", f"{run.steps} in {run.wall_s:.3g} s, {each:.1f} µs each", first))
        rows += _group("energy", vars(run.energy), UNITS)
        rows += _group("certificate", vars(run.certificate), UNITS)
        rows += [("", "", said) for said in run.certificate.in_words]
        if run.left_out:
            rows.append(("left out", ", ".join(run.left_out), ""))
    rows += _group("metrics", outcome.metrics, outcome.metric_units)
    checks = f"{len(outcome.violations)} failed" if outcome.violations else "all passed"
    rows.append(("checks", "none: stopped" if outcome.stopped else checks, ""))
    return rows


def _group(title: str, values: dict[str, Any], units: Mapping[str, str]) -> list[tuple[str, str, str]]:
    shown = {name: value for name, value in values.items() if value is not None}
    texts = {name: f"{x:.6g}" if isinstance(x, float) else str(x).lower() for name, x in shown.items()}
    texts = {name: f"{text} {units.get(name, '')}".rstrip() for name, text in texts.items()}
    return [(title if k == 0 else "", name, text) for k, (name, text) in enumerate(texts.items())]
