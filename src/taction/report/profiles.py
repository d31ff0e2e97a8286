"""Performance profiles: which solver is how often within a factor of the best.

What it shows: solvers s are run on problems p, at a cost c[p, s] (time, iterations), infinite where they
fail. With
    r[p, s] = c[p, s] / min over s of c[p, s]
the profile of s is the fraction of all problems that it solves within a factor τ of the best,
    ρ_s(τ) = #{p : r[p, s] ≤ τ} / #{p},       τ ≥ 1.
ρ_s(1) is how often s is the fastest, the height at the right how often it solves at all. Curves are steps,
exact, not smoothed. A problem that nobody solves keeps every curve below 1.

The order of a legend is by area under ρ over log₂ τ, up to a factor a little beyond the largest that occurs.

Mind: ratios are to the best of the solvers *shown*, so leaving one out changes the other curves, and two
curves below the first must not be ranked by it alone.

References: [DolanMore2002].
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.report.figures import STYLE
from taction.report.page import escape
from taction.report.shown_text import as_label

# Curves are told apart by colour, dash and marker together: they must be legible in grey, too. With seven,
# four and eleven of them no pair of colour and dash comes twice among the first 28 curves.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
MARKERS = "osD^vP*Xph<"
# Room to the right of the largest ratio, as a factor.
MARGIN = 1.5


@dataclass(frozen=True, eq=False)
class ProfileCurve:
    """The profile of one solver.

    Attributes:
        tau: factors at which the curve steps up, ascending, first 1; (k,).
        rho: fraction of problems solved within each factor, (k,).
        area: mean of ρ over log₂ τ up to the common right end, between 0 and 1.
    """

    tau: Array
    rho: Array
    area: float

    def at(self, factor: float) -> float:
        """ρ at a factor τ ≥ 1."""
        return float(self.rho[np.searchsorted(self.tau, factor, side="right") - 1])


def performance_profile(costs: Mapping[str, ArrayLike]) -> dict[str, ProfileCurve]:
    """Profiles of several solvers over the same problems.

    Args:
        costs: per solver the cost of every problem, positive, shape (k,); NaN or infinity where it failed.

    Returns:
        A curve per solver, largest area first.

    Raises:
        BadInput: no solver, no problem, different numbers of problems, or a cost that is not positive.
    """
    table = {name: np.asarray(values, dtype=float) for name, values in costs.items()}
    sizes = {values.shape for values in table.values()}
    if len(sizes) != 1 or any(len(shape) != 1 or shape[0] == 0 for shape in sizes):
        raise BadInput("a profile needs solvers with one cost per problem each")
    c = np.array([np.where(np.isnan(values), np.inf, values) for values in table.values()])
    if (c <= 0.0).any():
        raise BadInput("costs must be positive; use NaN for a failure")
    best = c.min(axis=0)
    ratio = np.full_like(c, np.inf)
    np.divide(c, best, out=ratio, where=np.isfinite(c))
    finite = ratio[np.isfinite(ratio)]
    end = MARGIN * float(finite.max(initial=1.0))
    curves = {name: _curve(row, end) for name, row in zip(table, ratio, strict=True)}
    return dict(sorted(curves.items(), key=lambda item: -item[1].area))


def _curve(ratio: Array, end: float) -> ProfileCurve:
    steps, counts = np.unique(ratio[np.isfinite(ratio)], return_counts=True)
    if not len(steps) or steps[0] > 1.0:
        steps, counts = np.concatenate([[1.0], steps]), np.concatenate([[0], counts])
    rho = np.cumsum(counts) / len(ratio)
    widths = np.diff(np.log2(np.append(steps, end)))
    return ProfileCurve(steps, rho, float(rho @ widths / math.log2(end)))


def draw_profiles(panels: Mapping[str, Mapping[str, ArrayLike]], *, title: str = "") -> Any:
    """A matplotlib figure with one panel of profiles per kind of cost.

    Args:
        panels: costs as for `performance_profile`, by heading of the panel.
        title: of the figure.

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for costs in panels.values() for name in costs))
    look = {
        name: {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": DASHES[k % len(DASHES)],
            "marker": MARKERS[k % len(MARKERS)],
        }
        for k, name in enumerate(names)
    }
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 0.4 + 3.4 * len(panels)), layout="constrained")
        FigureCanvasAgg(figure)  # no screen, no global state
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        for axis, (heading, costs) in zip(axes, panels.items(), strict=True):
            _draw_panel(axis, heading, performance_profile(costs), look)
        if title:
            figure.suptitle(as_label(title), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _draw_panel(axis: Any, heading: str, curves: Mapping[str, ProfileCurve], look: Mapping[str, Any]) -> None:
    end = MARGIN * max(float(curve.tau[-1]) for curve in curves.values())
    for name, curve in reversed(list(curves.items())):  # the best is drawn last, on top
        axis.step(
            np.append(curve.tau, end),
            np.append(curve.rho, curve.rho[-1]),
            where="post",
            label=as_label(f"{name}  {curve.rho[-1]:.0%}"),
            linewidth=1.8,
            markersize=4,
            markevery=max(1, len(curve.tau) // 6),
            markerfacecolor="white",
            clip_on=False,
            **look[name],
        )
    axis.set_xscale("log", base=2)
    axis.set_xlim(1.0, end)
    axis.set_ylim(0.0, 1.0)
    axis.set_yticks(np.linspace(0.0, 1.0, 6))
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x < 1e4 else f"$2^{{{math.log2(x):.0f}}}$")
    axis.set_xlabel("τ: within this factor of the best (log₂ scale)")
    axis.set_ylabel("ρ(τ): fraction of problems")
    axis.set_title(heading)
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(
        handles[::-1],
        labels[::-1],
        title="largest area first,\nproblems solved",
        title_fontsize=7,
        alignment="left",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        handlelength=3.2,
        fontsize=8,
    )


def save_profiles(
    records: Sequence[Mapping[str, Any]],
    folder: str | Path,
    *,
    title: str = "Contact solvers",
    note: str = "",
) -> list[Path]:
    """Write ``profiles.png`` and the self-contained page ``profiles.html``; returns their paths.

    Args:
        records: one per solver and problem: ``solver``, ``case``, ``contacts``, ``seconds``, ``iterations``,
            ``residual``, ``status`` and ``solved``. What is missing for a pair counts as not solved.
        folder: where to write; made if it does not exist.
        title: heading.
        note: a line under the heading: tolerance, machine.

    Raises:
        BadInput: no records.
        ImportError: matplotlib is not installed.
    """
    if not records:
        raise BadInput("no results to draw profiles from")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    panels = {
        "Time": cost_table(records, "seconds"),
        "Iterations, each method's own: compare with care": cost_table(records, "iterations"),
    }
    figure = draw_profiles(panels, title=title)
    memory = io.BytesIO()
    figure.savefig(memory, format="png")
    paths = [folder / "profiles.png", folder / "profiles.html"]
    paths[0].write_bytes(memory.getvalue())
    paths[1].write_text(_page(records, panels["Time"], memory.getvalue(), title, note), encoding="utf-8")
    return paths


def cost_table(records: Sequence[Mapping[str, Any]], key: str) -> dict[str, Array]:
    """Cost of every problem per solver, NaN where it was not solved; no iterations at all count as one.

    Args:
        records: as for `save_profiles`.
        key: ``seconds`` or ``iterations``. A solver that reports none at all is left out.
    """
    cases = {case: k for k, case in enumerate(dict.fromkeys(record["case"] for record in records))}
    table: dict[str, Array] = {}
    for record in records:
        if record.get(key) is None:
            continue
        row = table.setdefault(record["solver"], np.full(len(cases), np.nan))
        if record["solved"]:
            cost = float(record[key])
            row[cases[record["case"]]] = max(cost, 1.0) if key == "iterations" else cost
    return table


# ----- The page ------------------------------------------------------------------------------------------

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem;
  color: #1b1b1b; }}
h1 {{ font-size: 1.5rem; margin-bottom: 0; }}
h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
p.note {{ color: #555; margin-top: .2rem; }}
img {{ max-width: 100%; height: auto; }}
div.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; position: sticky; left: 0; background: #fff; }}
thead th {{ border-bottom: 2px solid #888; }}
td.best {{ font-weight: 700; background: #e3f1e7; }}
td.failed {{ color: #a3321c; }}
small {{ color: #666; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p class="note">{note}</p>
<img alt="Performance profiles: fraction of problems solved within a factor of the best"
  src="data:image/png;base64,{png}">
<p>A curve says which fraction of all problems a solver solves within a factor τ of the best on each problem.
Its start is how often it is the best, its right end how often it solves at all.</p>
<h2>Summary</h2>
<div class="wide">{summary}</div>
<h2>Every result</h2>
<p>Time and, below it, residual and iterations. Green: the fastest on that problem. Red: not solved.</p>
<div class="wide">{table}</div>
</body>
</html>
"""


def _page(
    records: Sequence[Mapping[str, Any]], times: Mapping[str, Array], png: bytes, title: str, note: str
) -> str:
    return PAGE.format(
        title=escape(title),
        note=escape(note),
        png=base64.b64encode(png).decode(),
        summary=_summary(performance_profile(times)),
        table=_results(records, list(performance_profile(times))),
    )


def _summary(curves: Mapping[str, ProfileCurve]) -> str:
    head = ["solver", "solved", "fastest", "within 2×", "within 10×", "area"]
    rows = [
        [
            escape(name),
            *(f"{value:.0%}" for value in (curve.rho[-1], curve.at(1.0), curve.at(2.0), curve.at(10.0))),
            f"{curve.area:.3f}",
        ]
        for name, curve in curves.items()
    ]
    return _table(head, [[f"<td>{cell}</td>" for cell in row] for row in rows])


def _results(records: Sequence[Mapping[str, Any]], names: list[str]) -> str:
    """Problems down, solvers across; small problems first."""
    found = {(record["case"], record["solver"]): record for record in records}
    contacts = {record["case"]: record["contacts"] for record in records}
    rows = []
    for case in sorted(contacts, key=lambda c: (contacts[c], c)):
        mine = [found.get((case, name)) for name in names]
        best = min((r["seconds"] for r in mine if r is not None and r["solved"]), default=math.nan)
        cells = [f"<td>{escape(case)} <small>{contacts[case]} contacts</small></td>"]
        rows.append(cells + [_cell(record, best) for record in mine])
    return _table(["problem", *(escape(name) for name in names)], rows)


def _cell(record: Mapping[str, Any] | None, best: float) -> str:
    if record is None:
        return "<td>–</td>"
    residual = "–" if record["residual"] is None else f"{record['residual']:.1e}"
    iterations = "" if record["iterations"] is None else f", {record['iterations']} it."
    if not record["solved"]:
        status = escape(record["status"])
        return f'<td class="failed">{status}<br><small>{residual}{iterations}</small></td>'
    kind = ' class="best"' if record["seconds"] == best else ""
    return f"<td{kind}>{_time(record['seconds'])}<br><small>{residual}{iterations}</small></td>"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
