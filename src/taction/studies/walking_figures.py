"""Pictures of the page of the report on contact and friction: its figures 1, 4 and 5, forces, divergence.

A strip shows a robot seen along y at several instants where it is: right legs before the torso, left legs
behind it. Poses follow each other from pale to strong. Curves are thinned without losing peaks.

References: [BhargavaReport, Figures 1, 4 and 5].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.control.walking.base import base_of
from taction.drawing.number_text import number
from taction.drawing.outline import convex_hull, outline_bodies, project
from taction.drawing.panels import thin
from taction.kinematics.forward import forward_kinematics
from taction.report.overview import COLOURS, INK, SOFT
from taction.report.page import Key, beside, drawn, legend
from taction.scenarios.walking_motion import motor_dofs
from taction.sim.run import Run
from taction.studies.push_map import PushMap
from taction.studies.walking_cases import EnergyTrial, ReplayTrial

SIDE = (0, 2)  # axes of the picture: x and z
POINTS = 400  # stretches of a curve, two points each
WIDE = 10.5  # of a strip [inch]
RIGHT, LEFT, TORSO = COLOURS[0], COLOURS[1], COLOURS[7]
PALE = 0.15  # strength of the first pose of a strip
MEAN = 1e-2  # [s], of forces
FLOOR = 1e-17  # what a logarithmic axis shows of a difference of zero


def pose_strip(run: Run, times: Sequence[float], name: str, *, apart: float = 0.0) -> str:
    """A robot seen from the right at several instants, each where it is, or so far apart [m].

    Args:
        run: the motion.
        times: instants [s].
        name: of the picture.
        apart: distance of two poses [m]; 0 leaves them where they are.
    """
    rows = sorted({int(np.argmin(np.abs(run.t - t))) for t in times})
    place = base_of(run.model).place(run.q[rows])
    shifts = apart * np.arange(len(rows)) - place[:, 0] if apart else np.zeros(len(rows))
    hulls = [_silhouettes(run, k, shift) for k, shift in zip(rows, shifts, strict=True)]
    corners = np.concatenate([hull for shown in hulls for _, hull in shown])
    low, high = corners.min(axis=0), corners.max(axis=0)
    wide = float(high[0] - low[0]) + 0.2
    bottom, top = min(float(low[1]), 0.0) - 0.01 * wide, float(high[1]) + 0.05 * wide

    def draw(axis: Any) -> None:
        axis.axhline(0.0, color=SOFT, linewidth=1.0, zorder=0)
        for n, (k, shown) in enumerate(zip(rows, hulls, strict=True)):
            strength = 1.0 if apart else PALE + (1.0 - PALE) * (n + 1) / len(rows)
            for colour, hull in shown:
                axis.fill(*hull.T, facecolor=colour, alpha=0.55 * strength, edgecolor=INK, linewidth=0.5)
            x = float(place[n, 0] + shifts[n])
            word = f"{run.t[k]:.2f} s" + (f"\nx = {number(place[n, 0], '.2f')} m" if apart else "")
            axis.annotate(word, (x, top), ha="center", va="top", fontsize=8)
        margin = max(0.1, 0.25 * apart)
        axis.set_xlim(float(low[0]) - margin, float(high[0]) + margin)
        axis.set_ylim(bottom, top)
        axis.set_aspect("equal")
        axis.grid(visible=False)
        axis.set_ylabel("z [m]")
        if apart:
            axis.set_xticks([])
        else:
            axis.set_xlabel("x [m]")

    height = WIDE * (top - bottom) / wide
    return drawn(draw, name, (WIDE, min(max(height + 0.35, 1.6), 6.0)))


def _silhouettes(run: Run, k: int, shift: float) -> list[tuple[str, Array]]:
    """Colour and outline (m, 2) of every body at state k, from left to right: the last is nearest."""
    poses, out = forward_kinematics(run.model, run.q[k]), []
    for body, outline in enumerate(outline_bodies(run.model)):
        side = run.model.body_names[body].split("/")[-1]
        colour = RIGHT if side.startswith("right") else LEFT if side.startswith("left") else TORSO
        for cloud in outline.clouds:
            hull = convex_hull(project(cloud, poses, body, SIDE)) + np.array([shift, 0.0])
            out.append(((LEFT, TORSO, RIGHT).index(colour), colour, hull))
    return [(colour, hull) for _, colour, hull in sorted(out, key=lambda item: item[0])]


def side_keys() -> str:
    """What the colours of a strip mean."""
    return legend([Key("right legs", RIGHT), Key("left legs", LEFT), Key("torso", TORSO)])


def one_column(pictures: Sequence[str]) -> str:
    """Wide pictures below each other."""
    return f'<div class="figures" style="grid-template-columns: minmax(0, 1fr)">{"".join(pictures)}</div>'


def force_figures(run: Run, span: tuple[float, float]) -> str:
    """Angles and torques of the first leg, forces of the ground on every foot, over a span [s].

    Torques and forces are means over `MEAN`.
    """
    size = max(round(MEAN / run.dt), 1)
    first, last = (int(np.searchsorted(run.t, t)) for t in span)
    count = (min(last, run.steps) - first) // size
    rows = slice(first, first + count * size)

    def mean(values: Array) -> Array:
        return np.asarray(values[rows].reshape(count, size).mean(axis=1))

    names = {j.iv: (j.name.replace("_", " "), j.iq) for j in run.model.joints}
    leg = [(*names[int(d)], int(d)) for d in motor_dofs(run.model)[:3]]
    forces = {n.replace("_", " "): f for n, f in run.contact_forces().items() if n != "world" and f.any()}
    t = mean(run.t)
    return beside(
        [
            curves_figure(t, {n: mean(run.q[:, iq]) for n, iq, _ in leg}, "Angles of one leg", "angle [rad]"),
            curves_figure(t, {n: mean(run.tau[:, d]) for n, _, d in leg}, "Torques of one leg", "[N m]"),
            curves_figure(t, {n: mean(f[:, 2]) for n, f in forces.items()}, "Ground, upward", "force [N]"),
            curves_figure(t, {n: mean(f[:, 0]) for n, f in forces.items()}, "Ground, ahead", "force [N]"),
        ]
    )


def curves_figure(t: Array, curves: dict[str, Array], name: str, label: str) -> str:
    """Curves (n,) over times (n,) [s] by name, in one picture with its legend; the later ones dashed."""

    def draw(axis: Any) -> None:
        for n, y in enumerate(curves.values()):
            axis.plot(t, y, color=COLOURS[n], linewidth=1.2, linestyle="-" if n < 2 else "--")
        axis.set_xlabel("time [s]")
        axis.set_ylabel(label)
        axis.set_xlim(float(t[0]), float(t[-1]))

    keys = [Key(key, COLOURS[n], "solid" if n < 2 else "dashed") for n, key in enumerate(curves)]
    return drawn(draw, name, keys=keys)


def divergence_figures(trials: Sequence[ReplayTrial], robot: str) -> str:
    """How far replays are from what was recorded, open loop left, with feedback right."""
    changes = list(dict.fromkeys(trial.change for trial in trials))
    colours = {change.key: colour for change, colour in zip(changes, COLOURS, strict=False)}

    def draw(has_feedback: bool) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for trial in trials:
                if trial.has_feedback is has_feedback:
                    y = np.maximum(trial.divergence, FLOOR)
                    axis.plot(*thin(trial.t, y, POINTS), color=colours[trial.change.key], linewidth=1.1)
            axis.set_yscale("log")
            axis.set_ylim(1e-17, 1e2)
            axis.set_xlim(0.0, max(float(trial.t[-1]) for trial in trials))
            axis.set_xlabel("time [s]")
            axis.set_ylabel("distance [m or rad]")

        return fill

    keys = [Key(change.title, colours[change.key]) for change in changes]
    names = {False: "open loop", True: "with feedback"}
    return beside(drawn(draw(fed), f"{robot}, {names[fed]}", (4.8, 3.0), keys) for fed in (False, True))


def push_figure(found: PushMap) -> str:
    """Largest pushes over their direction, as seen from above, ahead to the right."""
    way = np.radians(np.append(found.directions, found.directions[:1]))
    kinds = {
        "footsteps change": (found.adapted, COLOURS[0]),
        "footsteps as planned": (found.planned, COLOURS[1]),
    }

    def draw(axis: Any) -> None:
        reach = 1.1 * max(float(found.adapted.max()), float(found.planned.max()), 1.0)
        for radius in np.arange(6.0, reach, 6.0):
            around = np.linspace(0.0, 2.0 * np.pi, 73)
            axis.plot(radius * np.cos(around), radius * np.sin(around), color=SOFT, linewidth=0.6)
            axis.annotate(f"{radius:g}", (0.0, radius), fontsize=7, color=INK)
        for size, colour in kinds.values():
            closed = np.append(size, size[:1])
            axis.fill(closed * np.cos(way), closed * np.sin(way), facecolor=colour, alpha=0.25)
            axis.plot(closed * np.cos(way), closed * np.sin(way), color=colour, marker="o", markersize=3)
        axis.set_xlim(-reach, reach)
        axis.set_ylim(-reach, reach)
        axis.set_aspect("equal")
        axis.grid(visible=False)
        axis.set_xlabel("ahead [N s]")
        axis.set_ylabel("to the left [N s]")

    keys = [Key(name, colour) for name, (_, colour) in kinds.items()]
    return beside([drawn(draw, "Largest pushes taken", (4.8, 4.4), keys)])


def pendulum_figures(trials: Sequence[EnergyTrial], shown: float) -> str:
    """Figure 4: the paths of both ends over some time [s], and the energy with every integrator."""
    best = trials[-1].run

    def swing(axis: Any) -> None:
        n = int(np.searchsorted(best.t, shown)) + 1
        ends = np.array([_ends(q) for q in best.q[:n]])
        for c, colour in ((1, COLOURS[0]), (2, COLOURS[1])):
            axis.plot(*ends[:, c].T, color=colour, linewidth=0.7)
        for k in np.linspace(0, n - 1, 12).astype(int):
            axis.plot(
                *ends[k].T, color=INK, linewidth=1.0, alpha=0.25 + 0.75 * k / n, marker="o", markersize=2
            )
        axis.set_aspect("equal")
        axis.set_xlabel("x [m]")
        axis.set_ylabel("z [m]")

    def energy(axis: Any) -> None:
        for trial, colour in zip(trials, COLOURS, strict=False):
            axis.plot(*thin(trial.run.t, trial.error, POINTS), color=colour, linewidth=1.0)
        axis.set_yscale("symlog", linthresh=1e-10)
        axis.set_yticks([-1.0, -1e-4, -1e-8, 0.0, 1e-8, 1e-4, 1.0])
        axis.minorticks_off()
        axis.set_xlabel("time [s]")
        axis.set_ylabel("energy gained, relative")
        axis.set_xlim(0.0, float(best.t[-1]))

    keys = [Key(trial.integrator, colour) for trial, colour in zip(trials, COLOURS, strict=False)]
    return beside(
        [
            drawn(
                swing, f"Figure 4: the first {shown:g} s", (4.8, 4.4),
                [Key("end of the upper link", COLOURS[0]), Key("end of the lower link", COLOURS[1])],
            ),
            drawn(energy, "Figure 4: energy with every integrator", (4.8, 4.2), keys),
        ]
    )  # fmt: skip


def _ends(q: Array) -> Array:
    """Pivot and ends of both links of the pendulum at q (2,), each a metre long: shape (3, 2) [m]."""
    angles = np.cumsum(q)
    links = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(links, axis=0)])
