"""Pictures of the page of the legged-robot document: its figures 5.2 to 5.31, the motion, references, works.

The document has the exact model on the left, panels a, c, e, and springs on the right, b, d, f; so has the
page. Both sides share their vertical axes, unless one blew up. Forces are drawn on axes that are linear up to
`LINEAR` and logarithmic beyond, so that weight and impacts are seen in one picture. Curves are thinned
without losing peaks.

References: [Ayit2015, Section 5.4]; [Kajita2003] for the zero-moment point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.control.walking.walk import Walk
from taction.drawing.number_text import number
from taction.drawing.outline import convex_hull, project
from taction.drawing.panels import cumulative_works, thin
from taction.dynamics.energy import totals
from taction.kinematics.forward import BodyPoses, forward_kinematics
from taction.model.model import Model
from taction.model.shapes import Box
from taction.report.overview import COLOURS, INK, SOFT
from taction.report.page import FIGURE_STYLE, Key, beside, drawn, escape, legend, picture
from taction.robots.quadruped import FOOT
from taction.scenarios.quadruped_motion import LEG_NAMES, leg_forces, roll_pitch_yaw
from taction.studies.quadruped_cases import Trial

POINTS = 240  # stretches of a curve, two points each
LINEAR = 100.0  # forces below are drawn to scale [N]
LEAST = {"m": 0.01, "deg": 0.1, "N": LINEAR}  # height of an axis at least, by unit
LAW_COLOURS = {"exact": COLOURS[0], "penalty": COLOURS[1]}
LAW_NAMES = {"exact": "exact contact", "penalty": "springs (penalty)"}
MARGINS = {"left": 0.155, "right": 0.97, "top": 0.985, "bottom": 0.105, "hspace": 0.12}
LETTERS = {"exact": "ace", "penalty": "bdf"}
ANGLES, FORCES = ("roll", "pitch", "yaw"), ("force x", "force y", "force z")
SLOT, LABELS = 1.75, 0.55  # distance of two robots in a strip of pictures, height of what is written [m]
WIDE = 10.5  # of a strip [inch]
RIGHT, LEFT = COLOURS[0], COLOURS[1]  # legs


class Panel(NamedTuple):
    """One quantity of a document's figure, of all laws."""

    name: str
    unit: str
    curves: tuple[tuple[Array, Array], ...]  # times (n,) [s] and values (n,) by law
    is_shared: bool  # whether the laws have one axis


def shown_time(trials: Sequence[Trial]) -> float:
    """Up to when an experiment is drawn [s]: to its end, or a while after nothing moves any more."""
    moved = max(trial.metrics["rest_time"] for trial in trials)
    end = max(float(trial.run.t[-1]) for trial in trials)
    return float(min(end, np.ceil(1.3 * moved + 0.5)))


def document_figures(exact: Trial, penalty: Trial) -> str:
    """The six figures of an experiment, exact left and springs right."""
    number, both = exact.case.figure, (exact, penalty)
    last, is_shared = shown_time(both), not any(trial.run.blew_up for trial in both)
    places, angles, forces = [], [], []
    for trial in both:
        n = int(np.searchsorted(trial.run.t, last + 0.5 * trial.run.dt))
        t, turned = trial.run.t[:n], np.unwrap(roll_pitch_yaw(trial.run.q[:n, 3:7]), axis=0)
        places.append((t, trial.run.q[:n, :3]))
        angles.append((t, np.degrees(turned)))
        forces.append((t[1:], leg_forces(trial.run, trial.robot)[: n - 1]))
    shown = [
        _pair(number, "position of the body", _panels("xyz", "m", places, is_shared)),
        _pair(number + 1, "orientation of the body", _panels(ANGLES, "deg", angles, is_shared)),
    ]
    for k, leg in enumerate(LEG_NAMES):
        of_leg = [(t, force[:, k]) for t, force in forces]
        panels = _panels(FORCES, "N", of_leg, is_shared)
        shown.append(_pair(number + 2 + k, f"contact force of the {leg} leg", panels))
    return "".join(shown)


def _panels(
    names: Sequence[str], unit: str, values: Sequence[tuple[Array, Array]], is_shared: bool
) -> list[Panel]:
    return [
        Panel(name, unit, tuple((t, y[:, k]) for t, y in values), is_shared) for k, name in enumerate(names)
    ]


def _pair(number: int, what: str, panels: list[Panel]) -> str:
    """A figure of the document: one picture per law."""
    return beside(
        _stacked(panels, side, f"Figure 5.{number} {', '.join(LETTERS[law])}: {what}, {LAW_NAMES[law]}", law)
        for side, law in enumerate(LAW_NAMES)
    )


def _stacked(panels: list[Panel], side: int, name: str, law: str) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(FIGURE_STYLE):
        figure = Figure(figsize=(4.8, 4.4))  # margins by hand: 60 of these, and a layout takes its time
        axes = figure.subplots(len(panels), 1, sharex=True, gridspec_kw=MARGINS)
        for axis, panel, letter in zip(axes, panels, LETTERS[law], strict=True):
            t, y = panel.curves[side]
            axis.plot(*thin(t, y, POINTS), color=LAW_COLOURS[law], linewidth=1.0)
            seen = panel.curves if panel.is_shared else (panel.curves[side],)
            _set_heights(axis, panel.unit, [values for _, values in seen])
            axis.set_ylabel(f"({letter}) {panel.name} [{panel.unit}]")
            axis.yaxis.set_label_coords(-0.135, 0.5)
            axis.set_xlim(0.0, float(t[-1]))
        axes[-1].set_xlabel("time [s]")
    return picture(figure, name)


def _set_heights(axis: Any, unit: str, values: list[Array]) -> None:
    """Limits and ticks of a vertical axis that shows all values."""
    known = np.concatenate(values)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if high - low < LEAST[unit]:
        middle = 0.5 * (low + high)
        low, high = middle - 0.5 * LEAST[unit], middle + 0.5 * LEAST[unit]
    if unit != "N":
        axis.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        return
    axis.set_yscale("symlog", linthresh=LINEAR, linscale=0.7)
    is_push = low >= 0.0 and high > LINEAR
    low, high = (-0.3 * LINEAR if is_push else min(1.4 * low, -1.3 * LINEAR)), max(1.4 * high, 1.3 * LINEAR)
    axis.set_ylim(low, high)
    decades = [10.0**k for k in range(2, 13)]
    ticks = [-d for d in decades if -d > low][::-1] + [0.0] + [d for d in decades if d < high]
    ticks = ticks if len(ticks) <= 5 else [x for x in ticks if round(np.log10(abs(x) or 1.0)) % 2 == 0]
    axis.set_yticks(ticks, [force_label(x) for x in ticks])
    axis.minorticks_off()


def force_label(value: float) -> str:
    """A tick of a force axis: −10 k, 0, 100, 1 M."""
    size = abs(value)
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if size >= unit:
            return f"{value / unit:.3g}{name}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def motion_strips(trials: Sequence[tuple[Trial, Sequence[float]]]) -> str:
    """Robots seen from the side at several instants, one strip per run below the other."""
    keys = legend([Key("right legs", RIGHT), Key("left legs", LEFT, "dashed")])
    strips = "".join(motion_strip(trial, times) for trial, times in trials)
    return f'{keys}<div class="figures" style="grid-template-columns: minmax(0, 1fr)">{strips}</div>'


def motion_strip(trial: Trial, times: Sequence[float]) -> str:
    """The robot seen from the side at several instants, beside each other."""
    run = trial.run
    rows = sorted({int(np.argmin(np.abs(run.t - t))) for t in times})
    highest, lowest = float(run.q[rows, 2].max()) + 0.25, min(-0.1, float(run.q[rows, 2].min()) - 0.2)

    def draw(axis: Any) -> None:
        for n, k in enumerate(rows):
            poses = forward_kinematics(run.model, run.q[k])
            draw_robot(axis, run.model, poses, np.array([SLOT * n - run.q[k, 0], 0.0]))
            x, z = (number(c, ".2f") for c in run.q[k, [0, 2]])
            axis.annotate(
                f"{run.t[k]:.3f} s\nx = {x} m\nz = {z} m", (SLOT * n, highest + LABELS), ha="center",
                va="top", fontsize=8,
            )  # fmt: skip
        axis.axhline(0.0, color=SOFT, linewidth=1.0)
        axis.set_xlim(-0.5 * SLOT, SLOT * (len(rows) - 0.5))
        axis.set_ylim(lowest, highest + LABELS)
        axis.set_yticks(np.arange(0.0, highest, 0.5))
        axis.set_aspect("equal")
        axis.set_xticks([])
        axis.grid(visible=False)
        axis.set_ylabel("z [m]")

    size = (WIDE, WIDE * (highest + LABELS - lowest) / (SLOT * max(len(rows), 4)) + 0.15)
    return drawn(draw, f"{trial.case.title}, {LAW_NAMES[trial.law]}, seen from the right", size)


def draw_robot(axis: Any, model: Model, poses: BodyPoses, shift: Array) -> None:
    """Torso as an outline, legs as lines from hip to tip, seen along y; those of the left side dashed."""
    plane, torso = (0, 2), model.body("torso")
    box = next(s for s in model.spec.bodies[torso].shapes if isinstance(s.geometry, Box))
    hull = convex_hull(project(box.pose.apply(box.geometry.outline()), poses, torso, plane)) + shift
    axis.fill(*hull.T, facecolor=COLOURS[7], alpha=0.35, edgecolor=INK, linewidth=0.8)
    for leg in LEG_NAMES:
        parts = [model.body(f"{leg.replace(' ', '_')}_{part}") for part in ("thigh", "shank", "foot")]
        points = np.array([poses.position[part][list(plane)] for part in parts])
        foot = project(np.array([[0.0, 0.0, -FOOT.length]]), poses, parts[-1], plane)
        points = np.concatenate([points, foot]) + shift
        is_near = leg.startswith("right")
        colour, line = (RIGHT, "-") if is_near else (LEFT, "--")
        axis.plot(*points.T, linewidth=1.4, color=colour, linestyle=line, marker="o", markersize=1.8)


def contact_work_figures(pairs: Sequence[tuple[Trial, Trial]]) -> str:
    """Work of contact up to each time, exact and springs, per experiment."""

    def draw(both: tuple[Trial, Trial]) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for trial in both:
                works = cumulative_works(trial.run)
                done = works["friction"] + works["impact"]
                axis.plot(*thin(trial.run.t, done, POINTS), color=LAW_COLOURS[trial.law])
            axis.set_xlabel("time [s]")
            axis.set_ylabel("work [J]")

        return fill

    keys = [Key(name, LAW_COLOURS[law]) for law, name in LAW_NAMES.items()]
    return legend(keys) + beside(
        drawn(draw(both), f"{both[0].case.title}: work of contact") for both in pairs
    )


def reference_figures(reference: Walk, trial: Trial) -> str:
    """Zero-moment point as planned and as preview control has it, and the centre of mass, along x and y."""
    start = trial.run.q[0]
    centre = reference.body[:, :2] + (totals(trial.run.model, start).com - start[:3])[:2]
    curves = {
        "zero-moment point, planned": (reference.plan, COLOURS[7], "-"),
        "with preview control": (reference.zmp, COLOURS[2], "-"),
        "centre of mass": (centre, COLOURS[3], "--"),
    }

    def draw(c: int) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for values, colour, line in curves.values():
                axis.plot(reference.t, values[:, c], color=colour, linestyle=line, linewidth=1.2)
            _set_heights(axis, "m", [values[:, c] for values, _, _ in curves.values()])
            axis.set_xlabel("time [s]")
            axis.set_ylabel(f"{'xy'[c]} [m]")

        return fill

    keys = [
        Key(name, colour, "dashed" if line == "--" else "solid") for name, (_, colour, line) in curves.items()
    ]
    return legend(keys) + beside(
        drawn(draw(c), f"Trot reference along {'xy'[c]}", (4.8, 3.0)) for c in (0, 1)
    )


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>"
