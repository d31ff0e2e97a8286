"""Pictures of a run: its energy ledger, its coordinates, and the mechanism at a few moments.

Three files, each readable on its own: ``energy.png``, ``coordinates.png``, ``motion.png``. Matplotlib is
imported inside the functions, with the backend that needs no screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.drawing.panels import WORK_NAMES, cumulative_works
from taction.model.model import Model
from taction.report.motion_picture import draw_motion, light_to_dark
from taction.report.shown_text import as_label
from taction.sim.run import Run

# Points of a curve; more than a screen has columns only makes files larger.
CURVE = 2000
# Lines of one panel that a legend can still tell apart, and panels of one kind of coordinate.
LEGIBLE = 8
PANELS = 4

STYLE: dict[Any, Any] = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "lines.linewidth": 1.3,
}
# Panels of coordinates, by their unit
PANEL_LABELS = {"m": "position [m]", "rad": "angle [rad]", "1": "quaternion"}


def save_figures(run: Run, folder: str | Path, *, title: str = "") -> list[Path]:
    """Draw all pictures of a run into a folder; returns their paths.

    Args:
        run: the recorded motion.
        folder: where to write; made if it does not exist.
        title: heading of every picture; the model, integrator and step by default.

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    heading = as_label(title or f"{run.model.name}: {run.integrator}, dt = {run.dt:g} s")
    paths = []
    with matplotlib.rc_context(STYLE):
        for draw in (draw_energy, draw_coordinates, draw_motion):
            figure, name = draw(run), draw.__name__.removeprefix("draw_")
            top = 1.0 - 0.08 / figure.get_figheight()
            figure.suptitle(heading, x=0.01, y=top, ha="left", fontsize=9, fontweight="bold")
            paths.append(folder / f"{name}.png")
            figure.savefig(paths[-1])
    return paths


def draw_energy(run: Run) -> Any:
    """Energies, works, and what the time steps added or lost; a matplotlib figure."""
    figure = _figure(7.0, 4.8, right=0.15, top=0.75)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    k = _thin(run)
    total = run.total_energy
    works = cumulative_works(run)
    upper.plot(run.t[k], run.kinetic[k], label="kinetic", color="C0")
    upper.plot(run.t[k], run.potential[k], label="potential", color="C2")
    upper.plot(run.t[k], total[k], label="total", color="black", linewidth=1.8)
    for color, (name, work) in zip(("C3", "C1", "C5", "C6", "C8"), works.items(), strict=False):
        if work.any():
            label = f"work of {WORK_NAMES[name]}"
            upper.plot(run.t[k], work[k], label=label, color=color, linestyle="--")
    upper.set_ylabel("energy [J]")
    upper.legend(
        ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, fontsize=8, columnspacing=1.2
    )
    lower.axhline(0.0, color="grey", linewidth=0.8)
    lower.plot(run.t[k], (total - total[0] - sum(works.values()))[k], color="C4")
    lower.set_ylabel("remainder [J]")
    lower.set_title("total − initial − works: what the time steps added or lost")
    lower.set_xlabel("time [s]")
    lower.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    lower.set_xlim(run.t[0], run.t[-1])
    return figure


def draw_coordinates(run: Run) -> Any:
    """Every coordinate over time, by what it measures; a matplotlib figure."""
    panels = _panels(run.model)
    figure = _figure(8.0, 0.9 + 1.7 * len(panels), right=1.9, top=0.4)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    k = _thin(run)
    for axis, (label, columns, names) in zip(axes, panels, strict=True):
        axis.set_ylabel(label)
        if len(columns) > LEGIBLE:
            _draw_many(figure, axis, run.t[k], run.q[k][:, columns], names)
            continue
        for column, name in zip(columns, names, strict=True):
            axis.plot(run.t[k], run.q[k, column], label=as_label(name))
        axis.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=7, handlelength=1.4, labelspacing=0.3
        )
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(run.t[0], run.t[-1])
    return figure


def _draw_many(figure: Any, axis: Any, t: Array, q: Array, names: list[str]) -> None:
    """Too many curves for a legend: colours from the first to the last, and a scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    scale, colormap = Normalize(0, len(names) - 1), light_to_dark()
    curves = np.stack([np.broadcast_to(t[:, None], q.shape), q], axis=-1).transpose(1, 0, 2)
    colours = colormap(scale(np.arange(len(names))))
    axis.add_collection(LineCollection(list(curves), colors=colours, linewidths=0.8))
    axis.autoscale_view()
    bar = figure.colorbar(ScalarMappable(scale, colormap), cax=axis.inset_axes((1.02, 0.0, 0.02, 1.0)))
    bar.set_ticks([0, len(names) - 1], labels=[as_label(names[0]), as_label(names[-1])])


def _panels(model: Model) -> list[tuple[str, list[int], list[str]]]:
    """Coordinates grouped by what they measure: label, columns of q, names."""
    groups: dict[str, tuple[list[int], list[str]]] = {}
    for joint in model.joints:
        units = [unit for _, unit in joint.kind.motion.positions]
        for column, (part, unit) in enumerate(joint.kind.motion.positions, start=joint.iq):
            columns, names = groups.setdefault(PANEL_LABELS[unit], ([], []))
            columns.append(column)
            # the only one of its unit is called by the joint alone; the q of "qw" is said by the label
            is_alone = units.count(unit) == 1
            names.append(joint.name if is_alone else f"{joint.name} {part.removeprefix('q')}")
    return [panel for label, (columns, names) in groups.items() for panel in _split(label, columns, names)]


def _split(label: str, columns: list[int], names: list[str]) -> list[tuple[str, list[int], list[str]]]:
    """Panels of at most `LEGIBLE` curves each, or one of all if that would make more than `PANELS`."""
    count = -(-len(columns) // LEGIBLE)
    if count > PANELS:
        return [(label, columns, names)]
    size = -(-len(columns) // count)
    return [(label, columns[i : i + size], names[i : i + size]) for i in range(0, len(columns), size)]


def _thin(run: Run) -> Array:
    """Indices of at most `CURVE` recorded states."""
    return np.unique(np.linspace(0, run.steps, min(run.steps + 1, CURVE)).round().astype(int))


def _figure(width: float, height: float, *, right: float, top: float) -> Any:
    """An empty figure with margins [inches], without pyplot and so without global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    sides = {"left": 0.8 / width, "right": 1.0 - right / width}
    figure.subplots_adjust(**sides, bottom=0.5 / height, top=1.0 - top / height, hspace=0.35)
    return figure
