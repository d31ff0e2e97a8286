"""The picture of a motion: silhouettes at a few moments, what is fixed around, and the last contact forces.

Views: a vertical plane in which the mechanism spreads most, and from above where it leaves that plane. What
lies on level ground and is much longer than high is seen from above alone.

Moments: equal intervals of time, but for those after which nothing moves by more than `STILL` of the picture.

Contact forces are means over the last step, drawn where they act on the body that is not the world, or on the
one of two that is held up. Where the laws leave single forces open (`taction.drawing.open_forces`), the sum
of each pair of bodies is drawn instead, in the middle of its contacts, and the picture says so.

The place of everything is computed, not searched for: layout engines of matplotlib draw each text several
times, which took longer than all the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.drawing.open_forces import open_steps
from taction.drawing.outline import Outline, convex_hull, outline_bodies, outline_ground, planes, silhouette
from taction.dynamics.energy import totals
from taction.kinematics.forward import forward_kinematics
from taction.model.joints import JointKind
from taction.sim.run import Run

# Moments shown, at most; a body that moved less than this share of the picture since is not shown again.
MOMENTS, STILL = 10, 0.01
# Points of the path of a point.
TRACE = 200
# A motion that leaves the side view's plane by more than this fraction of its extent is drawn from above too.
SPATIAL = 0.2
# What lies on level ground and is flatter than this is drawn from above alone.
FLAT = 0.1
# Plotting area: largest width and height, and least width of the whole picture [inches].
WIDTH, HEIGHT, LEAST = 6.0, 7.5, 5.4
# Around it: left, right, top, bottom, and between two views [inches].
LEFT, RIGHT, TOP, BOTTOM, BETWEEN = 0.75, 1.1, 0.75, 0.5, 0.55
# The longest arrow of a force, as a share of the diagonal of a view.
ARROW = 0.15
AXIS_NAMES = "xyz"


class Moments(NamedTuple):
    """Placements of all bodies at some states."""

    steps: Array  # numbers of the states, (m,)
    rotation: Array  # (m, bodies, 3, 3)
    position: Array  # (m, bodies, 3) [m]


class Forces(NamedTuple):
    """Contact forces to draw."""

    point: Array  # where they act, (k, 3) [m]
    force: Array  # (k, 3) [N]
    is_summed: bool  # over each pair of bodies, as single ones are open


def draw_motion(run: Run, width: float = WIDTH, height: float = HEIGHT) -> Any:
    """The mechanism at a few moments, from the side and, if it leaves that plane, from above.

    Args:
        run: the recorded motion.
        width: largest width of the plotting area [inches].
        height: largest height of all views together [inches].
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    outlines = outline_bodies(run.model)
    trace = _trace(run, outlines[-1].tip)
    moments = _moments(run)
    corners = _corners(outlines, moments, trace)
    moments = _moving(moments, float(np.ptp(corners, axis=0).max()))
    views = choose_views(corners, any(p.is_level for p in planes(run.model)))
    limits = [_limits(corners[:, plane]) for plane in views]
    shares = [float((box[3] - box[2]) / (box[1] - box[0])) for box in limits]
    width = min(width, height / sum(shares))
    size = max(width + LEFT + RIGHT, LEAST), TOP + BOTTOM + width * sum(shares) + BETWEEN * (len(views) - 1)
    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    scale, colormap, top = Normalize(run.t[0], run.t[-1]), light_to_dark(), size[1] - TOP
    forces = last_forces(run)
    for plane, box, share in zip(views, limits, shares, strict=True):
        low = top - width * share
        axis = figure.add_axes((LEFT / size[0], low / size[1], width / size[0], width * share / size[1]))
        axis.axis(box)
        _draw_ground(axis, run, plane)
        axis.plot(*trace[:, plane].T, color="grey", linewidth=0.7, alpha=0.8, zorder=1)
        for order, k in enumerate(moments.steps):
            is_last = k == moments.steps[-1]
            colour, strength = colormap(scale(run.t[k])), 0.45 if is_last else 0.12
            _draw_pose(axis, outlines, moments, order, plane, colour, strength)
        _draw_forces(axis, forces, plane)
        axis.axis(box)
        axis.set_ylabel(f"{AXIS_NAMES[plane[1]]} [m]")
        axis.set_title("from the side" if plane[1] == 2 else "from above")
        if top - width * sum(shares) > low + 1e-9:
            axis.tick_params(labelbottom=False)
        top = low - BETWEEN
    axis.set_xlabel(f"{AXIS_NAMES[views[0][0]]} [m]")
    said = _legend(len(moments.steps), forces)
    figure.text(0.1 / size[0], 1.0 - 0.38 / size[1], said, fontsize=7, color="0.3")
    place = (LEFT + width + 0.15) / size[0], BOTTOM / size[1], 0.15 / size[0], 1.0 - (TOP + BOTTOM) / size[1]
    bar = figure.colorbar(ScalarMappable(scale, colormap), cax=figure.add_axes(place))
    bar.set_label("time [s]")
    return figure


def _legend(moments: int, forces: Forces | None) -> str:
    """What a reader must know of the picture."""
    parts = ["hardly moves: the end alone"] if moments == 1 else []
    if forces is not None:
        sums = " (sums of pairs of bodies: single ones are open)" if forces.is_summed else ""
        parts.append(f"red: contact forces at the end{sums}")
    return "; ".join(parts)


def choose_views(points: Array, is_on_ground: bool) -> list[tuple[int, int]]:
    """Planes of the picture, as pairs of axes, of points (k, 3) that lie on level ground or not."""
    spread = np.ptp(points, axis=0)
    along, across = (0, 1) if spread[0] >= spread[1] else (1, 0)
    side, above = (along, 2), (along, across)
    if spread[2] < SPATIAL * spread[across] or (is_on_ground and spread[2] < FLAT * spread[along]):
        return [above]
    return [side, above] if spread[across] > SPATIAL * spread.max() else [side]


def last_forces(run: Run) -> Forces | None:
    """Contact forces of the last step; none in smooth motion, or where nothing touches."""
    table, world, records = run.contacts, run.world, run.records
    if table is None or world is None or records is None or not run.steps:
        return None
    rows = np.flatnonzero(table.step == run.steps - 1)
    force = np.einsum("cij,cj->ci", table.frame[rows].reshape(-1, 3, 3), table.impulse[rows]) / run.dt
    pairs = np.array([[world.shape_body[shape] for shape in key[:2]] for key in table.key[rows]], dtype=int)
    pairs = pairs.reshape(-1, 2)
    point, load = table.point[rows], np.linalg.norm(force, axis=1)
    is_open = bool(open_steps(run, np.array([run.steps - 1]))[0])
    if is_open:
        pairs, group = np.unique(pairs, axis=0, return_inverse=True)
        groups = [np.flatnonzero(group.ravel() == k) for k in range(len(pairs))]
        middle = [np.average(point[g], axis=0, weights=load[g] + 1e-300) for g in groups]
        force = np.array([force[g].sum(0) for g in groups]).reshape(-1, 3)
        point = np.array(middle).reshape(-1, 3)
    is_on_second = (pairs[:, 0] < 0) | ((pairs[:, 1] >= 0) & (force[:, 2] < 0.0))
    force[is_on_second] *= -1.0
    return Forces(point, force, is_open) if len(force) and np.abs(force).max() > 0.0 else None


def light_to_dark() -> Any:
    """Colours from light to dark, without the ends that are too pale on white or too dark on black."""
    import matplotlib
    from matplotlib.colors import ListedColormap

    return ListedColormap(matplotlib.colormaps["viridis_r"](np.linspace(0.08, 0.85, 256)))


def _moments(run: Run) -> Moments:
    """At equal intervals of time."""
    steps = np.unique(np.linspace(0, run.steps, MOMENTS).round().astype(int))
    poses = [forward_kinematics(run.model, run.q[k]) for k in steps]
    return Moments(steps, np.array([p.rotation for p in poses]), np.array([p.position for p in poses]))


def _moving(moments: Moments, size: float) -> Moments:
    """Those after which something moves, or turns, by a share of the picture [m]; and the last one."""
    places = np.concatenate([moments.position[..., None], 0.1 * size * moments.rotation], axis=-1)
    kept = [len(moments.steps) - 1]
    for k in reversed(range(len(moments.steps) - 1)):
        if np.abs(places[k] - places[kept[-1]]).max() > STILL * size:
            kept.append(k)
    return Moments(*(array[kept[::-1]] for array in moments))


def _corners(outlines: list[Outline], moments: Moments, trace: Array) -> Array:
    """Every point that is drawn, in the world, shape (k, 3) [m]."""
    parts = [trace]
    for body, outline in enumerate(outlines):
        for points in (*outline.clouds, *outline.lines):
            turned = points @ moments.rotation[:, body].transpose(0, 2, 1)
            parts.append((turned + moments.position[:, None, body]).reshape(-1, 3))
    return np.concatenate(parts)


def _limits(points: Array) -> tuple[float, float, float, float]:
    """What a view of points (k, 2) shows: all of them, a margin around, and no side shorter than a fifth."""
    low, high = points.min(0), points.max(0)
    longest = max(float((high - low).max()), 1e-9)
    half = np.maximum(0.5 * (high - low) + 0.05 * longest, 0.1 * longest)
    middle = 0.5 * (low + high)
    (left, bottom), (right, top) = middle - half, middle + half
    return float(left), float(right), float(bottom), float(top)


def _trace(run: Run, tip: Array) -> Array:
    """The path of the centre of mass of a free robot, or of the last body's tip, shape (k, 3) [m]."""
    states = np.unique(np.linspace(0, run.steps, min(run.steps + 1, TRACE)).round().astype(int))
    if run.model.joints[0].kind is JointKind.FLOATING:
        return np.array([totals(run.model, run.q[k]).com for k in states])
    poses = [forward_kinematics(run.model, run.q[k]) for k in states]
    return np.array([pose.rotation[-1] @ tip + pose.position[-1] for pose in poses])


def _draw_pose(
    axis: Any,
    outlines: list[Outline],
    moments: Moments,
    order: int,
    plane: tuple[int, int],
    colour: tuple[float, ...],
    strength: float,
) -> None:
    """One moment: silhouettes filled with a colour of the given strength."""
    from matplotlib.collections import LineCollection, PolyCollection

    polygons: list[Array] = []
    lines: list[Array] = []
    for body, outline in enumerate(outlines):
        turn, shift = moments.rotation[order, body], moments.position[order, body]
        polygons += [silhouette((cloud @ turn.T + shift)[:, plane]) for cloud in outline.clouds]
        lines += [(line @ turn.T + shift)[:, plane] for line in outline.lines]
    fill = (*colour[:3], strength)
    if polygons:
        axis.add_collection(
            PolyCollection(polygons, facecolors=[fill], edgecolors=[colour], linewidths=0.7, zorder=2 + order)
        )
    if lines:
        axis.add_collection(LineCollection(lines, colors=[colour], linewidths=2.0, zorder=2 + order))


def _draw_ground(axis: Any, run: Run, plane: tuple[int, int]) -> None:
    """What is fixed to the world, behind the mechanism."""
    left, right, bottom, top = axis.axis()
    reach = 2.0 * (right - left + top - bottom)
    for cloud in outline_ground(run.model):
        axis.fill(*convex_hull(cloud[:, plane]).T, color="grey", alpha=0.4, linewidth=0.5, zorder=0)
    for wall in planes(run.model):
        normal, point = wall.normal[list(plane)], wall.point[list(plane)]
        if plane[1] != 2:
            if wall.normal[2] > SPATIAL:
                axis.set_facecolor("0.95")
                slope = "" if wall.is_level else f", inclined by {np.degrees(np.arccos(wall.normal[2])):.3g}°"
                axis.text(0.01, 0.01, f"ground{slope}", transform=axis.transAxes, fontsize=7, color="0.4")
            continue
        if np.linalg.norm(normal) < 1.0 - 1e-6:  # seen at an angle: it has no edge here
            continue
        middle = np.array([0.5 * (left + right), 0.5 * (bottom + top)])
        foot = middle - (middle - point) @ normal * normal
        edge = np.array([[-normal[1], normal[0]], [normal[1], -normal[0]]]) * reach + foot
        corners = np.concatenate([edge, edge[::-1] - reach * normal])
        axis.fill(*corners.T, facecolor="0.9", edgecolor="grey", linewidth=0.8, zorder=0)


def _draw_forces(axis: Any, forces: Forces | None, plane: tuple[int, int]) -> None:
    """Arrows, with the length of a round number of newtons beside the title."""
    if forces is None:
        return
    left, right, bottom, top = axis.axis()
    largest = float(np.linalg.norm(forces.force, axis=1).max())
    per_metre = largest / (ARROW * float(np.hypot(right - left, top - bottom)))
    base = forces.point[:, plane]
    arrows = axis.quiver(
        *base.T, *forces.force[:, plane].T, angles="xy", scale_units="xy", scale=per_metre, color="C3",
        units="inches", width=0.02, zorder=40,
    )  # fmt: skip
    longest = min(largest, 0.4 * (right - left) * per_metre)
    size = 10.0 ** np.floor(np.log10(longest))
    shown = next(x for x in (5.0 * size, 2.0 * size, size) if x <= longest)
    above = (
        0.1 if axis.get_position().width * axis.figure.get_figwidth() > 2.0 else 0.25
    )  # title, or above it
    axis.quiverkey(
        arrows, 1.0 - shown / per_metre / (right - left), 1.0 + above / _inches(axis), shown, f"{shown:g} N",
        labelpos="W", fontproperties={"size": 7}, labelsep=0.05,
    )  # fmt: skip


def _inches(axis: Any) -> float:
    """Height of an axis."""
    return float(axis.get_position().height * axis.figure.get_figheight())
