"""A comparison of models of contact as one HTML page that stands alone: the verdict first, then its figures.

Every panel has one curve per model, in the order and colour of the first table. A run that ended early ends
its curve early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.drawing.description import Drawing
from taction.drawing.draw import draw_run
from taction.drawing.number_text import short
from taction.drawing.panels import FLOOR, Curve, Panel, cut_peaks, thin
from taction.drawing.sampling import BUDGET
from taction.report.overview import need_matplotlib
from taction.report.page import definitions, escape, make_page, section, table, write_page
from taction.report.panel_pictures import panel_pictures
from taction.report.plain_words import in_words
from taction.report.replay import script_part, watched_part
from taction.report.run_report import LEDGER_NAMES, plain_text
from taction.sim.columns import RECORD_COLUMNS, position_columns
from taction.sim.run import Run
from taction.steppers.schemes.base import SLOP
from taction.studies.block_probe import BETWEEN, HALFWAY
from taction.studies.comparison import ComparedModel, Comparison
from taction.studies.comparison_verdict import length, speed, verdict
from taction.studies.contact_figures import slip_speeds

TABLE_HEAD = (
    "contact", "scheme", "steps", "µs per step", "ends off by", "at worst", "overlap", "slip", "creep",
    "energy rise",
)  # fmt: skip
MOVES = 0.02  # of the largest span: coordinates that move less are not drawn
JOINTS = 6  # that are drawn: those that move most
NONE = "–"
_RECORD = {column.name: c for c, column in enumerate(RECORD_COLUMNS)}
LAWS = {
    "signorini": ("Normal law (Signorini)", "Force at a distance, pull, or a contact that closes unnoticed."),
    "cone": ("Friction cone", "Friction beyond μ N."),
    "dissipation": ("Maximum dissipation", "Friction that does not take out what it could."),
}


def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write the page of a comparison; returns its path.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    need_matplotlib()
    c = comparison
    settings = {
        "scenario": c.scenario,
        "time step": f"{c.dt:g} s",
        "duration": f"{c.duration:g} s",
        "reference": c.reference.name,
        **{in_words(key): plain_text(value) for key, value in c.parameters.items()},
    }
    sentences = "".join(f"<li>{escape(text)}</li>" for text in verdict(c))
    rows = [[escape(cell) for cell in table_row(model)] for model in c.models]
    parts = [
        definitions(settings),
        section("Verdict", f"<ul>{sentences}</ul>"),
        section("Side by side", watched_part(_drawings(c)) if any(m.run for m in c.models) else ""),
        section("In numbers", table(TABLE_HEAD, rows, range(2, len(TABLE_HEAD)))),
        section("Friction and lift", _friction_table(c)),
        section("Energy", _ledger_table(c)),
        section("Step size", panel_pictures([_step_panel(c)]) + _step_table(c)),
        section("Metrics of the scenario", _metrics_table(c)),
        script_part(),
    ]
    return write_page(path, make_page(f"{c.scenario}: models of contact compared", parts, None))


def _drawings(comparison: Comparison) -> list[tuple[str, Drawing]]:
    """What the models did, in their order; curves of all of them go with the first."""
    c = comparison
    panels = [*motion_panels(c), *contact_panels(c), *law_panels(c), _energy_panel(c)]
    runs = [(model.name, model.run) for model in c.models if model.run is not None]
    budget = BUDGET // len(runs)
    return [
        (name, draw_run(run, title=name, budget=budget, panels=[] if k else panels))
        for k, (name, run) in enumerate(runs)
    ]


def table_row(model: ComparedModel) -> list[str]:
    """A model's line of the first table, cells by `TABLE_HEAD`."""
    f, told = model.figures, model.outcome
    end = "blew up" if model.failure else _told(length, model.end_difference)
    return [
        model.name,
        told.integrator,
        NONE if told.run is None else str(told.run.steps),
        NONE if model.wall_us is None else f"{model.wall_us:.1f}",
        end,
        length(float(model.distance.max())) if len(model.distance) else NONE,
        NONE if f is None else length(f.penetration),
        NONE if f is None else _told(speed, f.slip),
        NONE if f is None else _told(speed, f.creep),
        NONE if f is None else f"{short(f.energy_rise, 2)} J",
    ]


def _told(write: Callable[[float], str], value: float | None) -> str:
    return NONE if value is None else write(value)


# ----- Curves --------------------------------------------------------------------------------------------


def _curves(comparison: Comparison, pick: Callable[[ComparedModel, Run], tuple[Array, Array]]) -> list[Curve]:
    """One curve per model; an empty one where a step failed, so that colours stay."""
    nothing = np.zeros(0), np.zeros(0)
    drawn = [nothing if model.run is None else thin(*pick(model, model.run)) for model in comparison.models]
    return _named(comparison, drawn)


def _named(comparison: Comparison, drawn: Sequence[tuple[Array, Array]]) -> list[Curve]:
    """Curves of the models; that of the reference is wider, to be seen below one that covers it."""
    models = zip(comparison.models, drawn, strict=True)
    return [Curve(model.name, *xy, is_total=model is comparison.reference) for model, xy in models]


def motion_panels(comparison: Comparison) -> list[Panel]:
    """Place of the body whose centre moves most, joints that move most, and the distance to the reference."""
    out = []
    if comparison.reference.run is not None:
        out += list(_place_panels(comparison)) + list(_joint_panels(comparison))
    distances = _curves(comparison, lambda m, run: (run.t[m.at[: len(m.distance)]], m.distance))
    name = comparison.reference.name
    out.append(Panel(f"Distance to {name}", "largest of a point [m]", distances))
    return out


def _place_panels(comparison: Comparison) -> Iterator[Panel]:
    run = comparison.reference.run
    assert run is not None
    spans = np.array(
        [np.ptp(model.path[:, :, 0], axis=0) for model in comparison.models if not model.failure]
    )
    if not len(spans):
        return
    body = int(np.linalg.norm(spans, axis=2).max(axis=0).argmax())
    span = spans[:, body].max(axis=0)
    for axis in np.flatnonzero(span >= MOVES * span.max()).tolist():
        name = "xyz"[axis]
        curves = _place_curves(comparison, body, axis)
        yield Panel(f"Position of {run.model.body_names[body]}, {name}", f"{name} [m]", curves)


def _place_curves(comparison: Comparison, body: int, axis: int) -> list[Curve]:
    return _curves(comparison, lambda m, run: (run.t[m.at], m.path[:, body, 0, axis]))


def _joint_panels(comparison: Comparison) -> Iterator[Panel]:
    run = comparison.reference.run
    assert run is not None
    columns = position_columns(run.model)
    angles = [c for c, column in enumerate(columns) if column.unit == "rad"]
    angles.sort(key=lambda c: -float(np.ptp(run.q[:, c])))
    for c in sorted(angles[:JOINTS]):
        yield Panel(f"Angle of {columns[c].name}", "angle [rad]", _joint_curves(comparison, c))


def _joint_curves(comparison: Comparison, column: int) -> list[Curve]:
    return _curves(comparison, lambda m, run: (run.t, run.q[:, column]))


def contact_panels(comparison: Comparison) -> list[Panel]:
    """Overlap, slip, and the sums of normal and friction forces."""
    slip = _curves(comparison, lambda m, run: (run.t[:-1], np.maximum(slip_speeds(run), FLOOR)))
    overlap = _curves(comparison, lambda m, run: (run.t[:-1], _column(run, "penetration")))
    out = [Panel("Overlap", "deepest [m]", overlap, note=f"Laws leave up to {SLOP:g} m alone.")]
    if any(np.isfinite(curve.y).any() for curve in slip):
        note = "Sliding speed of the fastest contact whose friction is below its limit: it should not slide."
        out.append(Panel("Slip of contacts that should stick", "speed [m/s]", slip, is_log=True, note=note))
    titles = ("Normal forces", "Friction forces")
    forces = [_force_panel(comparison, title, k) for k, title in enumerate(titles)]
    return out + [panel for panel in forces if any(curve.y.any() for curve in panel.curves)]


def _force_panel(comparison: Comparison, title: str, which: int) -> Panel:
    curves = _curves(comparison, lambda m, run: (run.t[:-1], _forces(run)[which]))
    top, note = cut_peaks([curve.y for curve in curves])
    return Panel(title, "sum of sizes [N]", curves, top=top, note=note)


def law_panels(comparison: Comparison) -> list[Panel]:
    """Signorini, cone and dissipation, each model by each law; without those that nobody breaks."""
    panels = [_law_panel(comparison, name) for name in LAWS]
    return [panel for panel in panels if any((curve.y > FLOOR).any() for curve in panel.curves)]


def _law_panel(comparison: Comparison, name: str) -> Panel:
    title, note = LAWS[name]
    curves = _curves(comparison, lambda m, run: (run.t[:-1], np.maximum(_column(run, name), FLOOR)))
    return Panel(title, "residual, relative", curves, is_log=True, note=note)


def _energy_panel(comparison: Comparison) -> Panel:
    curves = _curves(comparison, lambda m, run: (run.t, run.total_energy))
    return Panel("Energy: kinetic, potential and stored", "energy [J]", curves)


def _step_panel(comparison: Comparison) -> Panel:
    drawn = []
    for model in comparison.models:
        known = [row for row in model.study.rows[1:] if row.end_difference is not None]
        steps, ends = [row.dt for row in known], [max(row.end_difference or 0.0, FLOOR) for row in known]
        drawn.append((np.array(steps), np.array(ends)))
    curves = _named(comparison, drawn)
    return Panel(
        "End by time step",
        "distance to the finest step's end [m]",
        curves,
        is_log=True,
        across="time step [s]",
        is_log_across=True,
        note="A curve ends where the model blows up.",
    )


def _column(run: Run, name: str) -> Array:
    assert run.records is not None
    return run.records[:, _RECORD[name]]


def _forces(run: Run) -> tuple[Array, Array]:
    """Sizes of all normal and all friction forces, summed in each step [N], shape (n,) each."""
    out = np.zeros((2, run.steps))
    found = run.contacts
    if found is not None:
        np.add.at(out[0], found.step, np.abs(found.impulse[:, 0]) / run.dt)
        np.add.at(out[1], found.step, np.linalg.norm(found.impulse[:, 1:], axis=1) / run.dt)
    return out[0], out[1]


# ----- Tables --------------------------------------------------------------------------------------------


def _by_model(comparison: Comparison, rows: Sequence[Sequence[str]]) -> str:
    """A table with a column per model; rows begin with their name."""
    head = ["", *(model.name for model in comparison.models)]
    return table(head, [[escape(cell) for cell in row] for row in rows], range(1, len(head)))


def _friction_table(comparison: Comparison) -> str:
    rows = []
    for text, place, name, write in (
        ("friction off the direction of sliding", "figures", "direction_error", _degrees),
        ("sliding off the axes of the contact frame", "figures", "obliquity", _degrees),
        ("gap under what slides", "figures", "lift", length),
        ("h μ v", "figures", "lift_expected", length),
        (f"probe sliding at {HALFWAY:g}°: off the direction", "probe.halfway", "direction_error", _degrees),
        (f"probe sliding at {BETWEEN:g}°: strength over μ N", "probe.between", "strength", "{:.3f}".format),
        (f"probe sliding at {HALFWAY:g}°: parts at", "probe.halfway", "parting", speed),
        ("probe that should stick: depth", "probe.sticking", "depth_at_end", length),
        ("probe that should stick: largest slip", "probe.sticking", "slip", speed),
        ("probe that should stick: creep", "probe.sticking", "creep", speed),
    ):
        found = [_figure(model, place, name) for model in comparison.models]
        rows.append([text, *(_told(write, value) for value in found)])
    return _by_model(comparison, rows)


def _figure(model: ComparedModel, place: str, name: str) -> float | None:
    """A figure of the run or of a probe, None where there is no such run."""
    found: Any = model
    for part in (*place.split("."), name):
        found = None if found is None else getattr(found, part)
    return found


def _degrees(x: float) -> str:
    return f"{x:.3g}°"


def _ledger_table(comparison: Comparison) -> str:
    ledgers = [None if model.run is None else asdict(model.run.energy) for model in comparison.models]
    names = {**LEDGER_NAMES, "stored": "of that, stored in springs of contact"}
    rows = [
        [text, *(_joules(ledger, name) for ledger in ledgers)]
        for name, text in names.items()
        if any(ledger is not None and ledger[name] for ledger in ledgers)
    ]
    return _by_model(comparison, rows)


def _joules(ledger: dict[str, Any] | None, name: str) -> str:
    value = None if ledger is None else ledger[name]
    return NONE if value is None else f"{short(value, 5)} J"


def _step_table(comparison: Comparison) -> str:
    steps = sorted({row.dt for model in comparison.models for row in model.study.rows})
    rows = []
    for step in steps:
        cells = []
        for model in comparison.models:
            row = next((row for row in model.study.rows if row.dt == step), None)
            if row is None:
                cells.append("")
            elif row.failure:
                cells.append(
                    "blew up" if row.failure_time is None else f"blew up at {short(row.failure_time)} s"
                )
            else:
                cells.append(_told(length, row.end_difference))
        rows.append([f"{1e3 * step:g} ms", *cells])
    limits = ("longest stable", "longest_stable"), ("shortest that blew up", "shortest_unstable")
    for text, name in (*limits, ("predicted limit", "predicted")):
        values = [getattr(model.study, name) for model in comparison.models]
        rows.append([text, *(NONE if value is None else f"{short(1e3 * value)} ms" for value in values)])
    return _by_model(comparison, rows)


def _metrics_table(comparison: Comparison) -> str:
    found = [model.outcome.metrics for model in comparison.models]
    names = dict.fromkeys(name for metrics in found for name in metrics)
    rows = [[in_words(name), *(plain_text(metrics.get(name, NONE)) for metrics in found)] for name in names]
    return _by_model(comparison, rows)
