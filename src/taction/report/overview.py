"""A run in one figure: the panels of `taction.drawing.panels` below each other."""

from __future__ import annotations

from typing import Any

from taction._core.errors import BadInput
from taction.drawing.panels import (
    Panel,
    certificate_panel,
    contact_panels,
    energy_panels,
    error_panel,
    motion_panels,
)
from taction.report.figures import LEGIBLE, STYLE
from taction.report.shown_text import as_label
from taction.sim.run import Run

# Colours of curves, told apart also by most colour-blind eyes, and those of the frame.
COLOURS = ("#2563c9", "#c2600a", "#1f8a4c", "#c6283c", "#7c4dcc", "#0b8a9a", "#8a6a3a", "#6b7280")
INK, SOFT, GRID, LIMIT = "#1b1d21", "#8b9099", "#d6d9de", "#b3261f"


def draw_overview(run: Run) -> Any:
    """Motion, energies, contacts and residuals of a run over time; a matplotlib figure.

    Raises:
        BadInput: matplotlib is not installed.
    """
    matplotlib = need_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = [*motion_panels(run), *energy_panels(run), *contact_panels(run)]
    panels += [panel for panel in (certificate_panel(run), error_panel(run)) if panel is not None]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 0.6 + 1.7 * len(panels)), layout="constrained")
        FigureCanvasAgg(figure)  # no screen, no global state
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axis, panel in zip(axes, panels, strict=True):
            draw_panel(axis, panel)
            if len(panel.curves) > 1:
                shown = shown_names(panel)
                axis.legend(
                    *zip(*[(axis.lines[k], as_label(name)) for k, name in shown], strict=True),
                    loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=7, handlelength=1.4,
                    labelspacing=0.3,
                )  # fmt: skip
        axes[-1].set_xlabel("time [s]")
        title = f"{run.model.name}: {run.integrator}, dt = {run.dt:g} s"
        figure.suptitle(as_label(title), x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def draw_panel(axis: Any, panel: Panel) -> None:
    """Curves, limit and axis of a panel; its legend is the caller's."""
    colours = curve_colours(panel)
    for curve, colour in zip(panel.curves, colours, strict=True):
        width = 1.8 if curve.is_total else 1.2
        axis.plot(curve.t, curve.y, color=colour, linewidth=width, linestyle="--" if curve.is_dashed else "-")
    if panel.is_log:
        axis.set_yscale("log")
    if panel.limit is not None:
        value, name = panel.limit
        axis.axhline(value, color=LIMIT, linewidth=1.0, linestyle=(0, (4, 3)))
        axis.annotate(
            as_label(name), (1.0, value), (-2, 2), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="bottom", fontsize=8, color=LIMIT,
        )  # fmt: skip
    if panel.limit is not None and not panel.is_log:
        axis.set_ylim(0.0, 1.18 * panel.limit[0])
    if panel.top is not None:
        axis.set_ylim(-0.04 * panel.top, panel.top)
    if panel.is_count:
        axis.yaxis.get_major_locator().set_params(integer=True)
        axis.set_ylim(0.0, 1.1 * max(1.0, *(float(curve.y.max()) for curve in panel.curves)))
    elif not panel.is_log:
        axis.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    axis.set_ylabel(as_label(panel.label))
    axis.set_title(as_label(panel.title))
    first = [curve.t[0] for curve in panel.curves if len(curve.t)]
    last = [curve.t[-1] for curve in panel.curves if len(curve.t)]
    if first and min(first) < max(last):
        axis.set_xlim(min(first), max(last))


def curve_colours(panel: Panel) -> list[str]:
    """A colour per curve: the palette, or a sweep of hues where there are too many for it."""
    if len(panel.curves) > LEGIBLE:
        from colorsys import hls_to_rgb

        last = len(panel.curves) - 1
        sweep = [hls_to_rgb(0.62 - 0.6 * k / last, 0.5, 0.65) for k in range(last + 1)]
        return ["#" + "".join(f"{round(255 * x):02x}" for x in colour) for colour in sweep]
    rest = iter(COLOURS)
    return [INK if curve.is_total else next(rest) for curve in panel.curves]


def shown_names(panel: Panel) -> list[tuple[int, str]]:
    """Curves that a legend names: all, or the first and the last where there are too many."""
    count = len(panel.curves)
    if count <= LEGIBLE:
        return [(k, curve.name) for k, curve in enumerate(panel.curves)]
    return [(0, panel.curves[0].name), (count - 1, f"… {panel.curves[-1].name} ({count} in all)")]


def need_matplotlib() -> Any:
    """Matplotlib, or one clear line about how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput("pictures need matplotlib (pip install 'taction[plot]')") from None
    return matplotlib
