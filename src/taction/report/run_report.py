"""A run as one HTML page that stands alone: replay, curves, checks, settings, certificate, energy ledger.

What a page is made of is in `taction.report.page`, replay and curves are drawn by the client of
`taction.report.replay` from the run's `Drawing`: nothing is drawn when the page is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from taction.drawing.draw import draw_run
from taction.drawing.number_text import short
from taction.report.page import definitions, escape, make_page, section, table, write_page
from taction.report.plain_words import in_words, named_cell
from taction.report.replay import script_part, watched_part
from taction.scenarios.base import CLOSURE_LIMIT, MOTION_LIMIT, QUATERNION_LIMIT, RESIDUAL_LIMIT, Outcome
from taction.sim.columns import RECORD_COLUMNS
from taction.sim.contact_summary import OPEN
from taction.sim.run import Run

LEDGER_NAMES = {
    "initial": "at the start",
    "actuation": "work of actuators",
    "joint_friction": "work of joint friction",
    "friction": "work of contact friction",
    "impact": "work of impacts",
    "pressing": "work of contacts that only press on: of the time steps",
    "joints": "work of loops and joints: of the time steps",
    "correction": "work of the position correction",
    "remainder": "remainder: added or lost by the time steps",
    "final": "at the end",
}
_RECORD = {column.name: c for c, column in enumerate(RECORD_COLUMNS)}


def write_report(run: Run, path: str | Path) -> Path:
    """Write the page of a run; returns its path.

    Raises:
        BadInput: the page cannot be written.
    """
    failed = [row for row in certificate_rows(run) if row.is_failed]
    checks = [f"{row.what} is {row.worst}, above {row.limit}" for row in failed]
    return write_page(path, _page(run.model.name, _settings(run), run.metrics, {}, checks, run))


def write_outcome(outcome: Outcome, path: str | Path) -> Path:
    """Write the page of a scenario's outcome, also of one that failed; returns its path.

    Raises:
        BadInput: the page cannot be written.
    """
    if outcome.run is not None:
        settings = _settings(outcome.run)
        settings["scheme"] = outcome.integrator
    else:
        settings = {
            "scheme": outcome.integrator,
            "law of contact": outcome.contact,
            "solver": outcome.solver,
            "time step": f"{outcome.dt:g} s",
            "duration": f"{outcome.duration:g} s",
        }
    settings |= {in_words(key): plain_text(value) for key, value in outcome.parameters.items()}
    units = outcome.metric_units
    page = _page(outcome.scenario, settings, outcome.metrics, units, outcome.violations, outcome.run)
    return write_page(path, page)


# ----- Tables --------------------------------------------------------------------------------------------


class CertificateRow:
    """A residual of the certificate: its worst value, its limit, and when and where it was met.

    Args:
        what: in words.
        value: worst over the run.
        limit: what it is held to, None if to nothing.
        unit: SI unit, empty if it has none.
        when: time [s].
        where: shapes.
    """

    def __init__(
        self,
        what: str,
        value: float,
        limit: float | None = None,
        unit: str = "",
        when: float | None = None,
        where: str = "",
    ) -> None:
        self.what = what
        self.is_failed = limit is not None and not value <= limit
        self.is_judged = limit is not None
        self.worst = f"{short(value)}{unit and ' ' + unit}"
        self.limit = "" if limit is None else f"{limit:g}"
        self.when = "" if when is None else f"{short(when, 4)} s"
        self.where = where


def certificate_rows(run: Run) -> list[CertificateRow]:
    """The certificate of a run, line by line; what the run has nothing of is left out."""
    c = run.certificate
    rows = []
    if c.residual is not None:
        rows.append(
            CertificateRow("contact laws", c.residual, RESIDUAL_LIMIT, "", c.residual_time, c.residual_at)
        )
        for name, what in (
            ("signorini", "normal law"),
            ("cone", "friction cone"),
            ("dissipation", "dissipation"),
        ):
            rows.append(CertificateRow(what, getattr(c, name) or 0.0, None, "", _when(run, name)))
    rows.append(CertificateRow("equation of motion", c.motion, MOTION_LIMIT, "", c.motion_time))
    rows.append(CertificateRow("length of quaternions", c.quaternion, QUATERNION_LIMIT))
    if c.penetration is not None:
        when = _when(run, "penetration")
        rows.append(CertificateRow("overlap", c.penetration, None, "m", when, _deepest(run)))
    for name, what, unit in (
        ("pushed", "correction of positions", "m"),
        ("turned", "turn by the correction", "rad"),
        ("left", "overlap left by the correction", "m"),
        ("beyond", "joint beyond its stop", "m or rad"),
        ("beyond_left", "the same, left by the correction", "m or rad"),
    ):
        if getattr(c, name):
            rows.append(CertificateRow(what, getattr(c, name), None, unit, _when(run, name)))
    if c.position_error:
        when = c.error_time
        rows.append(CertificateRow("estimated error of a step, places", c.position_error, None, "m", when))
        rows.append(CertificateRow("the same, velocities", c.velocity_error or 0.0, None, "m/s"))
    if c.joint_gap:
        when = _when(run, "joint_gap")
        rows.append(CertificateRow("couplings and loops", c.joint_gap, OPEN, "m or rad", when))
    if run.energy.closure is not None:
        when = _when(run, "closure")
        rows.append(
            CertificateRow("closure of the energy ledger", run.energy.closure, CLOSURE_LIMIT, "", when)
        )
    rows.append(CertificateRow("steps not converged", c.unconverged_steps, 0))
    if c.residual is not None:
        rows.append(CertificateRow("steps with the correction at its bounds", c.steps_at_bound, None))
        rows.append(CertificateRow("steps at rounding", c.steps_at_rounding, None))
        what = "steps with impulses, of joints too, possibly not unique"
        rows.append(CertificateRow(what, c.impulses_not_unique, None))
        rows.append(
            CertificateRow("steps with velocities possibly not unique", c.velocities_not_unique, None)
        )
        rows.append(CertificateRow("steps without a choice among them", c.no_choice, None))
    return rows


def _when(run: Run, name: str) -> float | None:
    """When a column of the records was largest in size [s]; None if it never was anything."""
    if run.records is None or not len(run.records):
        return None
    column = np.abs(run.records[:, _RECORD[name]])
    return float(run.t[int(column.argmax())]) if column.any() else None


def _deepest(run: Run) -> str:
    """The two shapes of the contact with the smallest gap, if any overlaps."""
    table, world = run.contacts, run.world
    if table is None or world is None or not len(table.gap) or table.gap.min() >= 0:
        return ""
    return " and ".join(world.shape_names[int(i)] for i in table.key[int(table.gap.argmin()), :2])


def _settings(run: Run) -> dict[str, Any]:
    seconds = run.steps * run.dt
    speed = f"{short(seconds / run.wall_s)} × real time" if run.wall_s > 0 and run.steps else ""
    return {
        "world" if run.world is not None else "model": run.model.name,
        "law of contact": run.contact,
        "scheme": run.integrator,
        "solver": run.solver,
        "time step": f"{run.dt:g} s",
        "duration": f"{seconds:g} s, {run.steps} steps{', stopped by Ctrl-C' if run.stopped else ''}",
        "computed in": f"{short(run.wall_s)} s{speed and ', ' + speed}",
        "degrees of freedom": run.model.nv,
        "bodies": len(run.model.body_names),
        "left out": ", ".join(run.left_out) or None,
    }


def _certificate_table(run: Run) -> str:
    rows = []
    for row in certificate_rows(run):
        mark = ("✗" if row.is_failed else "✓") if row.is_judged else ""
        look = "bad" if row.is_failed else "good"
        cells = [escape(cell) for cell in (row.what, row.worst, row.limit, row.when, row.where)]
        rows.append([*cells, f'<span class="{look}">{mark}</span>'])
    return table(["", "worst", "limit", "when", "where", ""], rows, (1, 2, 3))


def _energy_table(run: Run) -> str:
    values = asdict(run.energy)
    rows = [
        [escape(text), f"{short(values[name], 6)} J"]
        for name, text in LEDGER_NAMES.items()
        if values[name] is not None
    ]
    return table(["", "energy"], rows, (1,))


# ----- The page ------------------------------------------------------------------------------------------


def _page(
    title: str,
    settings: Mapping[str, Any],
    metrics: Mapping[str, Any],
    units: Mapping[str, str],
    checks: Sequence[str],
    run: Run | None,
) -> str:
    parts = [_checks(checks)]
    if run is not None:
        parts.append(watched_part([(title, draw_run(run, title=title))]))
    parts.append(definitions(settings))
    if metrics:
        rows = [
            [named_cell(key), escape(f"{plain_text(value)} {units.get(key, '')}".strip())]
            for key, value in metrics.items()
        ]
        parts.append(section("Metrics", table(["", ""], rows, (1,))))
    if run is not None:
        parts.append(section("Certificate", _certificate_table(run)))
        parts.append(section("Energy", _energy_table(run)))
        if run.events:
            rows = [[f"{short(t, 6)} s", escape(name)] for t, name in run.events]
            parts.append(section("Events", table(["time", "event"], rows, (0,))))
        parts.append(_warnings(run))
        parts.append(script_part())
    return make_page(title, parts, checks)


def _warnings(run: Run) -> str:
    """What the model's file says and is not heeded, and why the run ended early, if there is any."""
    items = [f"{entry.what} ({entry.where}): {entry.changes}" for entry in run.model.spec.unread]
    items += [run.blew_up] if run.blew_up else []
    if not items:
        return ""
    return section("Warnings", f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>")


def _checks(checks: Sequence[str]) -> str:
    if not checks:
        return ""
    items = "".join(f"<li>{escape(check)}</li>" for check in checks)
    return section("Failed checks", f'<ul class="failed">{items}</ul>')


def plain_text(value: Any) -> str:
    """A value as a reader wants it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return short(float(value), 6) if math.isfinite(value) else str(value)
    return str(value)
