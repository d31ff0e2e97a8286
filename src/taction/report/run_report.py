"""A run as one HTML page that stands alone: settings, checks, certificate, energy ledger, motion, contacts.

The page needs no network and no other file. Pictures are SVG inside the page: their colours are variables of
its style sheet, so that they follow the reader's light or dark theme, and their text is text. Figures are
narrow, two beside each other on a wide screen and one on a phone. Curves are those of
`taction.report.panels`.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.errors import BadInput
from taction.report.figures import draw_motion
from taction.report.overview import (
    COLOURS,
    GRID,
    INK,
    LIMIT,
    SOFT,
    curve_colours,
    draw_panel,
    need_matplotlib,
    shown_names,
)
from taction.report.page_style import STYLE_SHEET
from taction.report.panels import Panel, certificate_panel, contact_panels, energy_panels, motion_panels
from taction.scenarios.base import CLOSURE_LIMIT, MOTION_LIMIT, QUATERNION_LIMIT, RESIDUAL_LIMIT, Outcome
from taction.sim.columns import RECORD_COLUMNS
from taction.sim.run import Run

# Size of a picture [inches]: at a phone's width its text is still read.
WIDTH, HEIGHT = 4.8, 2.5
MOTION_SIZE = 4.0, 4.4
# More bodies than this are drawn as pixels inside the picture of the motion, not as outlines.
OUTLINES = 40
FIGURE_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "path.simplify_threshold": 0.3,
}
VARIABLES = {INK: "var(--ink)", SOFT: "var(--soft)", GRID: "var(--grid)", LIMIT: "var(--bad)"} | {
    colour: f"var(--c{k})" for k, colour in enumerate(COLOURS)
}
LEDGER_NAMES = {
    "initial": "at the start",
    "actuation": "work of actuators",
    "joint_friction": "work of joint friction",
    "friction": "work of contact friction",
    "impact": "work of impacts",
    "correction": "work of the position correction",
    "remainder": "remainder: added or lost by the time steps",
    "final": "at the end",
}
_RECORD = {column.name: c for c, column in enumerate(RECORD_COLUMNS)}


def write_report(run: Run, path: str | Path) -> Path:
    """Write the page of a run; returns its path.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    failed = [row for row in certificate_rows(run) if row.is_failed]
    checks = [f"{row.what} is {row.worst}, above {row.limit}" for row in failed]
    return write_page(path, _page(run.model.name, _settings(run), run.metrics, checks, run))


def write_outcome(outcome: Outcome, path: str | Path) -> Path:
    """Write the page of a scenario's outcome, also of one that failed; returns its path.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
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
    settings |= {key: _text(value) for key, value in outcome.parameters.items()}
    return write_page(
        path, _page(outcome.scenario, settings, outcome.metrics, outcome.violations, outcome.run)
    )


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
        self.worst = f"{value:.3g}{unit and ' ' + unit}"
        self.limit = "" if limit is None else f"{limit:g}"
        self.when = "" if when is None else f"{when:.4g} s"
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
    if c.joint_gap:
        when = _when(run, "joint_gap")
        rows.append(CertificateRow("couplings and loops", c.joint_gap, None, "m or rad", when))
    if run.energy.closure is not None:
        when = _when(run, "closure")
        rows.append(
            CertificateRow("closure of the energy ledger", run.energy.closure, CLOSURE_LIMIT, "", when)
        )
    rows.append(CertificateRow("steps not converged", c.unconverged_steps, 0))
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
    speed = f"{seconds / run.wall_s:.3g} × real time" if run.wall_s > 0 and run.steps else ""
    return {
        "world" if run.world is not None else "model": run.model.name,
        "law of contact": run.contact,
        "scheme": run.integrator,
        "solver": run.solver,
        "time step": f"{run.dt:g} s",
        "duration": f"{seconds:g} s, {run.steps} steps",
        "computed in": f"{run.wall_s:.3g} s{speed and ', ' + speed}",
        "degrees of freedom": run.model.nv,
        "bodies": len(run.model.body_names),
        "left out": ", ".join(run.left_out) or None,
    }


def _definitions(values: Mapping[str, Any]) -> str:
    items = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>"
        for key, value in values.items()
        if value is not None and value != ""
    )
    return f"<dl>{items}</dl>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table of ready cells; columns in ``numbers`` are aligned as numbers."""
    kind = [' class="n"' if k in numbers else "" for k in range(len(head))]
    top = "".join(f"<th{c}>{escape(cell)}</th>" for c, cell in zip(kind, head, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{c}>{cell}</td>" for c, cell in zip(kind, row, strict=True)) + "</tr>"
        for row in rows
    )
    has_head = any(head)
    start = f"<thead><tr>{top}</tr></thead>" if has_head else ""
    return f'<div class="wide"><table>{start}<tbody>\n{body}\n</tbody></table></div>'


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
        [escape(text), f"{values[name]:.6g} J"]
        for name, text in LEDGER_NAMES.items()
        if values[name] is not None
    ]
    return table(["", "energy"], rows, (1,))


# ----- Pictures ------------------------------------------------------------------------------------------


def inline_svg(figure: Any, name: str) -> str:
    """A matplotlib figure as an SVG element for the page: its colours follow the theme, its text is text."""
    import matplotlib

    memory = io.StringIO()
    with matplotlib.rc_context({**FIGURE_STYLE, "svg.hashsalt": name}):
        figure.savefig(memory, format="svg", metadata={"Date": None, "Creator": None})
    text = memory.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # nobody refers to groups, and names repeat between pictures
    text = re.sub(r'(<svg[^>]*?) (width|height)="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) (width|height)="[^"]*"', r"\1", text)
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(name)}"', 1)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return text


def _picture(panel: Panel) -> str:
    """A panel as a figure of the page, with its legend in HTML."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(FIGURE_STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axis = figure.subplots()
        draw_panel(axis, panel)
        axis.set_title("")
        axis.set_xlabel("time [s]")
    picture = inline_svg(figure, panel.title)
    colours = curve_colours(panel)
    keys = ""
    if len(panel.curves) > 1:
        for k, name in shown_names(panel):
            line = "dashed" if panel.curves[k].is_dashed else "solid"
            colour = VARIABLES.get(colours[k], colours[k])
            keys += f'<span><i style="border-top: 2px {line} {colour}"></i>{escape(name)}</span>'
    note = f'<p class="note">{escape(panel.note)}</p>' if panel.note else ""
    keys = f'<div class="keys">{keys}</div>' if keys else ""
    return f"<figure><figcaption>{escape(panel.title)}</figcaption>{keys}{picture}{note}</figure>"


def _pictures(panels: Sequence[Panel]) -> str:
    return f'<div class="figures">{"".join(_picture(panel) for panel in panels)}</div>'


def _motion_picture(run: Run) -> str:
    """The mechanism at a few moments."""
    import matplotlib

    with matplotlib.rc_context(FIGURE_STYLE):
        figure = draw_motion(run, *MOTION_SIZE)
    if len(run.model.body_names) > OUTLINES:
        for axis in figure.axes:
            for artist in (*axis.patches, *axis.lines):
                artist.set_rasterized(True)
    picture = inline_svg(figure, "Moments of the motion")
    return f'<figure class="motion"><figcaption>Moments of the motion</figcaption>{picture}</figure>'


# ----- The page ------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1>{badge}</header>
{body}
<footer>{footer}</footer>
</body>
</html>
"""


def _page(
    title: str,
    settings: Mapping[str, Any],
    metrics: Mapping[str, Any],
    checks: Sequence[str],
    run: Run | None,
) -> str:
    need_matplotlib()
    parts = [_definitions(settings), _checks(checks)]
    if metrics:
        rows = [[escape(key), escape(_text(value))] for key, value in metrics.items()]
        parts.append(section("Metrics", table(["", ""], rows, (1,))))
    if run is not None:
        panel = certificate_panel(run)
        picture = _pictures([panel]) if panel is not None else ""
        parts.append(section("Certificate", f'<div class="beside">{_certificate_table(run)}{picture}</div>'))
        parts.append(section("Energy", _energy_table(run) + _pictures(energy_panels(run))))
        if run.model.nv:
            parts.append(section("Motion", _motion_picture(run) + _pictures(motion_panels(run))))
        contact = contact_panels(run)
        if contact:
            parts.append(section("Contact", _pictures(contact)))
        if run.events:
            rows = [[f"{t:.6g} s", escape(name)] for t, name in run.events]
            parts.append(section("Events", table(["time", "event"], rows, (0,))))
    kind, word = ("bad", f"{len(checks)} failed") if checks else ("good", "all checks passed")
    return PAGE.format(
        title=escape(title),
        style=STYLE_SHEET,
        badge=f'<span class="badge {kind}">{word}</span>',
        body="\n".join(parts),
        footer=footer(),
    )


def _checks(checks: Sequence[str]) -> str:
    if not checks:
        return ""
    items = "".join(f"<li>{escape(check)}</li>" for check in checks)
    return section("Failed checks", f'<ul class="failed">{items}</ul>')


def section(title: str, content: str) -> str:
    """A part of a page under its heading; the content is ready."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def footer() -> str:
    """What made the page."""
    import platform
    import sys

    version = getattr(sys.modules["taction"], "__version__", "")
    return escape(f"taction {version}, NumPy {np.__version__}, Python {platform.python_version()}")


def _text(value: Any) -> str:
    """A value as a reader wants it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    return str(value)


def escape(value: Any) -> str:
    """A value as text that is no markup."""
    return html.escape(str(value))


def write_page(path: str | Path, page: str) -> Path:
    """Write a page, its folder too if need be; returns its path."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    return path
