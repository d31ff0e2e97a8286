"""Pictures of a run: its energy ledger, its coordinates, and the mechanism at a few moments.

Three files, each readable on its own: ``energy.png``, ``coordinates.png``, ``motion.png``. Matplotlib is
imported inside the functions, with the backend that needs no screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.energy import totals
from taction.kinematics.forward import BodyPoses, forward_kinematics
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.report.outline import (
    Outline,
    convex_hull,
    floor_heights,
    outline_bodies,
    outline_ground,
    project,
)
from taction.report.panels import WORK_NAMES, cumulative_works
from taction.sim.run import Run

# Moments shown in a stroboscopic picture.
MOMENTS = 10
# Points of a curve; more than a screen has columns only makes files larger.
CURVE = 2000
# A motion that leaves the side view's plane by more than this fraction of its extent is drawn from above too.
SPATIAL = 0.2
# Lines of one panel that a legend can still tell apart, and panels of one kind of coordinate.
LEGIBLE = 8
PANELS = 4
# Plotting area of the picture of the motion: largest width and height [inches].
WIDTH, HEIGHT = 6.0, 7.5

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
AXIS_NAMES = "xyz"
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
    heading = title or f"{run.model.name}: {run.integrator}, dt = {run.dt:g} s"
    paths = []
    with matplotlib.rc_context(STYLE):
        for draw in (draw_energy, draw_coordinates, draw_motion):
            figure, name = draw(run), draw.__name__.removeprefix("draw_")
            figure.suptitle(heading, x=0.01, ha="left", fontsize=10, fontweight="bold")
            paths.append(folder / f"{name}.png")
            figure.savefig(paths[-1])
    return paths


def draw_energy(run: Run) -> Any:
    """Energies, works, and what the time steps added or lost; a matplotlib figure."""
    figure = _figure(7.0, 4.8)
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
    figure = _figure(8.0, 0.6 + 1.7 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    k = _thin(run)
    for axis, (label, columns, names) in zip(axes, panels, strict=True):
        axis.set_ylabel(label)
        if len(columns) > LEGIBLE:
            _draw_many(figure, axis, run.t[k], run.q[k][:, columns], names)
            continue
        for column, name in zip(columns, names, strict=True):
            axis.plot(run.t[k], run.q[k, column], label=name)
        axis.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize=7, handlelength=1.4, labelspacing=0.3
        )
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(run.t[0], run.t[-1])
    return figure


def _draw_many(figure: Any, axis: Any, t: Array, q: Array, names: list[str]) -> None:
    """Too many curves for a legend: colours from the first to the last, and a scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale, colormap = Normalize(0, len(names) - 1), _colormap()
    for j in range(len(names)):
        axis.plot(t, q[:, j], color=colormap(scale(j)), linewidth=0.8)
    bar = figure.colorbar(ScalarMappable(scale, colormap), ax=axis, fraction=0.03, pad=0.02)
    bar.set_ticks([0, len(names) - 1], labels=[names[0], names[-1]])


def draw_motion(run: Run, width: float = WIDTH, height: float = HEIGHT) -> Any:
    """The mechanism at equal intervals of time, from the side and, if it leaves that plane, from above.

    Args:
        run: the recorded motion.
        width: largest width of the plotting area [inches].
        height: largest height of all views together [inches].
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    moments = np.unique(np.linspace(0, run.steps, MOMENTS).round().astype(int))
    poses = [forward_kinematics(run.model, run.q[k]) for k in moments]
    outlines = outline_bodies(run.model)
    trace = _trace(run, outlines[-1].tip)
    corners = _corners(outlines, poses, trace)
    views = _views(corners)
    extent = [np.ptp(corners[:, plane], axis=0) for plane in views]
    heights = [max(float(e[1] / max(e[0], 1e-9)), 0.05) for e in extent]
    width = min(width, height / sum(heights))
    figure = _figure(width + 2.0, width * sum(heights) + 0.9 + 0.4 * len(views), "compressed")
    axes = figure.subplots(len(views), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    scale, colormap = Normalize(run.t[0], run.t[-1]), _colormap()
    for axis, plane in zip(axes, views, strict=True):
        axis.plot(*trace[:, plane].T, color="grey", linewidth=0.7, alpha=0.8, zorder=1)
        for order, (k, pose) in enumerate(zip(moments, poses, strict=True)):
            strength = 0.6 if k == moments[-1] else 0.2
            _draw_pose(axis, outlines, pose, plane, colormap(scale(run.t[k])), strength, 2 + order)
        _draw_ground(axis, run.model, plane)
        axis.set_aspect("equal")
        axis.set_ylabel(f"{AXIS_NAMES[plane[1]]} [m]")
        axis.set_title("from the side" if plane[1] == 2 else "from above")
    axes[-1].set_xlabel(f"{AXIS_NAMES[views[0][0]]} [m]")
    bar = figure.colorbar(ScalarMappable(scale, colormap), ax=list(axes), fraction=0.04, pad=0.02, aspect=30)
    bar.set_label("time [s]")
    return figure


def _draw_ground(axis: Any, model: Model, plane: tuple[int, int]) -> None:
    """What is fixed to the world, behind the mechanism, as far as the picture of the motion reaches."""
    limits = axis.axis()
    for cloud in outline_ground(model):
        axis.fill(*convex_hull(cloud[:, plane]).T, color="grey", alpha=0.4, linewidth=0.5, zorder=0)
    if plane[1] == 2:
        for height in floor_heights(model):
            axis.axhline(height, color="grey", linewidth=0.8, zorder=0)
    axis.axis(limits)


def _draw_pose(
    axis: Any,
    outlines: list[Outline],
    pose: BodyPoses,
    plane: tuple[int, int],
    color: tuple[float, ...],
    strength: float,
    order: int,
) -> None:
    """One moment: silhouettes filled with a colour of the given strength."""
    for body, outline in enumerate(outlines):
        for cloud in outline.clouds:
            hull = convex_hull(project(cloud, pose, body, plane))
            fill = (*color[:3], strength)
            axis.fill(*hull.T, facecolor=fill, edgecolor=color, linewidth=0.7, zorder=order)
        for line in outline.lines:
            axis.plot(*project(line, pose, body, plane).T, color=color, linewidth=2.0, zorder=order)


def _corners(outlines: list[Outline], poses: list[BodyPoses], trace: Array) -> Array:
    """Every point that is drawn, in the world, shape (k, 3) [m]."""
    parts = [trace]
    for pose in poses:
        for body, outline in enumerate(outlines):
            for points in (*outline.clouds, *outline.lines):
                parts.append(points @ pose.rotation[body].T + pose.position[body])
    return np.concatenate(parts)


def _trace(run: Run, tip: Array) -> Array:
    """The path of the centre of mass of a free robot, or of the last body's tip, shape (k, 3) [m]."""
    k = _thin(run)
    if run.model.joints[0].kind is JointKind.FLOATING:
        return np.array([totals(run.model, run.q[i]).com for i in k])
    poses = [forward_kinematics(run.model, run.q[i]) for i in k]
    return np.array([pose.rotation[-1] @ tip + pose.position[-1] for pose in poses])


def _views(points: Array) -> list[tuple[int, int]]:
    """The vertical plane in which points (k, 3) spread most, and the view from above if they leave it.

    What creeps over level ground is seen from above alone.
    """
    spread = np.ptp(points, axis=0)
    along, across = (0, 1) if spread[0] >= spread[1] else (1, 0)
    side, above = (along, 2), (along, across)
    if spread[2] < SPATIAL * spread[across]:
        return [above]
    return [side, above] if spread[across] > SPATIAL * spread.max() else [side]


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


def _figure(width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained") -> Any:
    """An empty figure [inches], without pyplot and so without global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def _colormap() -> Any:
    """From light to dark, without the ends that are too pale on white or too dark on black."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    return ListedColormap(matplotlib.colormaps["viridis_r"](np.linspace(0.08, 0.85, 256)))
