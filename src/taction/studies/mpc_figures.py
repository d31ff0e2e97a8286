"""Pictures of the page on predictive control: methods by horizon, plans in time, loops and their forces.

Plans are drawn as dots or dashed, what the simulator makes of them as lines. Inputs and impulses hold for a
step and are drawn so.

References: [CorrectionsNote].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.drawing.panels import motion_panels, thin
from taction.planning.linearise import POSITION
from taction.report.overview import COLOURS, INK
from taction.report.page import Key, beside, drawn
from taction.scenarios.pushers import HIGH, LOW, RADIUS
from taction.studies.mpc_cases import WAYS, Loop, PlanTrial, Realised, predicted_forces, realised_forces

POINTS = 300  # stretches of a curve, two points each
FLOOR = 1e-12  # what a logarithmic axis shows of an excess of zero
FAINT = 0.01  # forces below are not waited for, of the largest
MOST = 8  # coordinates that one picture may show
SIZE = (4.8, 2.6)  # of a picture [inch]
COLOUR_OF = {way.key: colour for way, colour in zip(WAYS, COLOURS, strict=False)}
PREDICTED, REALISED = COLOURS[1], COLOURS[0]


def method_figures(trials: Sequence[PlanTrial], level: str) -> str:
    """Times and excesses over the horizon, of every method on one level."""
    mine = [t for t in trials if t.level == level]
    ways = [way for way in WAYS if any(t.way is way for t in mine)]

    def draw(value: Callable[[PlanTrial], float], label: str, floor: float) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for n, way in enumerate(ways):
                x = np.array([t.horizon for t in mine if t.way is way]) + 0.09 * (n - 2)
                y = np.maximum([value(t) for t in mine if t.way is way], floor)
                axis.plot(x, y, linestyle="", marker="o", markersize=3.2, color=COLOUR_OF[way.key])
            axis.set_yscale("log")
            axis.set_xlabel("horizon [steps]")
            axis.set_ylabel(label)

        return fill

    keys = [Key(way.title, COLOUR_OF[way.key]) for way in ways]
    return beside(
        [
            drawn(
                draw(lambda t: 1e3 * t.plan.seconds, "time [ms]", 1e-3), f"Times, {level} level", SIZE, keys
            ),
            drawn(
                draw(lambda t: t.excess, "cost above the best, relative", FLOOR),
                f"Costs against enumeration, {level} level; {FLOOR:g} or less at the bottom", SIZE, keys,
            ),
        ]
    )  # fmt: skip


def plan_figures(shown: Realised) -> str:
    """A plan of the pushers in time, beside what the simulator makes of its inputs."""
    motion, system, run = shown.plan.motion, shown.task.problem.system(0), shown.run
    assert motion is not None
    h, level = system.dt, shown.task.level
    times: Array = np.linspace(0.0, h * len(motion.u), len(motion.x))
    q = np.array([system.place(x)[0] for x in motion.x])
    names = ("puck", "right pusher", "left pusher")
    colours = COLOURS[:3]

    def places(axis: Any) -> None:
        for line, plan, colour in zip(_centres(run.q), _centres(q), colours, strict=True):
            axis.fill_between(run.t, line - RADIUS, line + RADIUS, color=colour, alpha=0.2, linewidth=0)
            axis.plot(run.t, line, color=colour, linewidth=1.2)
            axis.plot(times, plan, linestyle="", marker="o", markersize=3, color=colour)
        _time(axis, "position along the line [m]", times)

    def gaps(axis: Any) -> None:
        for line, plan, colour in zip(_gaps(run.q), _gaps(q), colours[1:], strict=True):
            axis.plot(run.t, line, color=colour, linewidth=1.2)
            axis.plot(times, plan, linestyle="", marker="o", markersize=3, color=colour)
        axis.axhline(0.0, color=INK, linewidth=0.6)
        _time(axis, "gap [m]", times)

    def inputs(axis: Any) -> None:
        for u, colour in zip(motion.u.T, colours[1:], strict=True):
            axis.stairs(u, times, color=colour, linewidth=1.4, baseline=None)
        _time(axis, "force [N]", times)

    def impulses(axis: Any) -> None:
        for plan, real, colour in zip(shown.impulses.T, h * shown.forces.T, colours[1:], strict=True):
            axis.stairs(real, times, color=colour, linewidth=1.4, baseline=None)
            axis.plot(times[:-1] + 0.5 * h, plan, linestyle="", marker="o", markersize=3, color=colour)
        _time(axis, "impulse of a step [N s]", times)

    bodies = [Key(name, colour) for name, colour in zip(names, colours, strict=True)]
    return beside(
        [
            drawn(places, f"Places, {level} level: dots plan, lines simulator", SIZE, bodies),
            drawn(gaps, f"Gaps, {level} level", SIZE, bodies[1:]),
            drawn(inputs, f"Inputs, {level} level", SIZE, bodies[1:]),
            drawn(impulses, f"Contact impulses, {level} level: dots plan, lines simulator", SIZE, bodies[1:]),
        ]
    )


def _centres(q: Array) -> Array:
    """Where puck and pushers are along the line, (3, n) [m]."""
    return np.array([q[:, 0], HIGH - q[:, 1], LOW + q[:, 2]])


def _gaps(q: Array) -> Array:
    """Gaps of the right and the left pusher, (2, n) [m]."""
    puck, right, left = _centres(q)
    return np.array([right - puck - 2.0 * RADIUS, puck - left - 2.0 * RADIUS])


def _time(axis: Any, label: str, times: Array) -> None:
    axis.set_xlabel("time [s]")
    axis.set_ylabel(label)
    axis.set_xlim(float(times[0]), float(times[-1]))


def puck_figures(loops: Sequence[Loop], target: float) -> str:
    """The puck under several methods, and what they took."""

    def places(axis: Any) -> None:
        axis.axhline(target, color=INK, linewidth=0.6)
        for loop, colour in zip(loops, COLOURS, strict=False):
            axis.plot(*thin(loop.run.t, loop.run.q[:, 0], POINTS), color=colour, linewidth=1.2)
        _time(axis, "place of the puck [m]", loops[0].run.t)

    def times(axis: Any) -> None:
        for loop, colour in zip(loops, COLOURS, strict=False):
            record = loop.control.record
            axis.plot(
                record.t,
                [1e3 * plan.seconds for plan in record.plans],
                linestyle="",
                marker=".",
                color=colour,
            )
        axis.set_yscale("log")
        _time(axis, "time of a plan [ms]", loops[0].run.t)

    keys = [Key(loop.title, colour) for loop, colour in zip(loops, COLOURS, strict=False)]
    return beside([drawn(places, "The puck", SIZE, keys), drawn(times, "Times of the plans", SIZE, keys)])


def loop_figures(loop: Loop) -> str:
    """Coordinates over time, and the contact forces that plans had against those that came."""
    run, pictures = loop.run, []
    for panel in motion_panels(run):
        if "velocity" in panel.label or len(panel.curves) > MOST:
            continue

        def draw(axis: Any, panel: Any = panel) -> None:
            for curve, colour in zip(panel.curves, COLOURS, strict=False):
                axis.plot(curve.t, curve.y, color=colour, linewidth=1.2)
            _time(axis, panel.label, run.t)

        keys = [Key(curve.name, colour) for curve, colour in zip(panel.curves, COLOURS, strict=False)]
        pictures.append(drawn(draw, f"{loop.title}: {panel.title.lower()}", SIZE, keys))
    return beside([*pictures, force_figure(loop)])


def force_figure(loop: Loop) -> str:
    """Sums of normal forces: of the first step of each plan, and of the simulator, means over that step."""
    run, planned = loop.run, predicted_forces(loop)
    real = realised_forces(run, max(round(loop.control.problem.system(0).dt / run.dt), 1))

    large = [
        t[force > FAINT * np.nanmax(force, initial=0.0)].max(initial=0.0) for force, t in (real, planned)
    ]
    end = min(1.3 * max(large), float(run.t[-1])) or float(run.t[-1])

    def draw(axis: Any) -> None:
        for (force, t), colour, line in ((real, REALISED, "-"), (planned, PREDICTED, "--")):
            axis.step(t, force, where="post", color=colour, linewidth=1.2, linestyle=line)
        _time(axis, "sum of normal forces [N]", np.array([0.0, end]))

    keys = [Key("simulator", REALISED), Key("first step of each plan", PREDICTED, "dashed")]
    return drawn(draw, f"{loop.title}: contact forces, while they last", SIZE, keys)


def level_name(level: str) -> str:
    """A level with the equations of the document."""
    return f"{level} level, {'(4) to (6)' if level == POSITION else '(8) to (10)'}"
