"""The report on contact and friction on one page: its pendulum, its walking robots, its fall, and why.

The page is a list of parts (`PARTS`), each a function of the settings that runs something and gives a `Part`:
headings with content, figures by name, and what is wrong. A further robot or study is one more function.

The report prints pictures and no numbers. What it leaves open is listed with the values used here.

References: [BhargavaReport].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taction.drawing.number_text import number
from taction.model.model import Model
from taction.model.shapes import Box
from taction.report.overview import need_matplotlib
from taction.report.page import escape, make_page, section, table, write_page
from taction.report.replay import runs_part, script_part
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.walking_scenario import RAMP, START, WalkingScenario
from taction.sim.interrupt import whole_runs
from taction.studies.page_part import Part, gather
from taction.studies.push_map import SIZES, push_map
from taction.studies.quadruped_figures import paragraph
from taction.studies.walking_cases import CHANGES, ReplayTrial, record_walk, study_energy, study_replays
from taction.studies.walking_figures import (
    divergence_figures,
    force_figures,
    one_column,
    pendulum_figures,
    pose_strip,
    push_figure,
    side_keys,
)

ROBOTS = {"humanoid": "humanoid-walk", "four_legged": "four-legged-walk"}
TITLES = {"humanoid": "Humanoid", "four_legged": "Four-legged robot"}
SPACE = {
    "humanoid_3d": ("humanoid-3d-walk", "Beyond the report: a humanoid from its URDF file", 0.55),
    "quadruped": ("quadruped-walk", "Beyond the report: a quadruped with a floating base", 1.3),
}
COMPARED = ("inverse", "computed-torque", "replay-feedback", "replay")
MEASURES = (
    "distance", "planned_distance", "falls", "fall_time", "round_trip_error", "peak_torque", "peak_force",
    "cone_margin", "residual", "real_time_factor",
)  # fmt: skip
APART = {"humanoid": 0.75, "four_legged": 1.0}  # poses of a strip [m]
WATCHED = ("nothing", "push")  # changes whose replays are shown
SHORTER = 6.0  # of walks that are compared, and of replays, at most [s]
PENDULUM_DT = 2e-3  # [s]


class Settings(NamedTuple):
    """How long and how fine."""

    duration: float  # of the walks [s]
    pendulum_time: float  # of the pendulum [s]
    dt: float  # of the walks [s]
    directions: int  # of pushes
    say: Callable[[str], Any]

    @property
    def shorter(self) -> float:
        """Of walks that are compared [s]."""
        return min(self.duration, SHORTER)


@whole_runs()
def write_walking_page(
    folder: str | Path,
    *,
    duration: float = 18.0,
    pendulum_time: float = 60.0,
    dt: float = 1e-3,
    directions: int = 8,
    progress: Callable[[str], Any] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Run the report's experiments, write ``walking.html`` to a folder; returns its path and the figures.

    Args:
        folder: made if need be.
        duration: simulated time of the walks [s]; comparisons and replays are shorter.
        pendulum_time: simulated time of the pendulum [s].
        dt: time step of the walks [s].
        directions: in how many directions the humanoid is pushed.
        progress: called with what is being run.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    need_matplotlib()
    settings = Settings(duration, pendulum_time, dt, directions, progress or (lambda text: None))
    parts = [make(settings) for make in PARTS]
    figures, failed = gather(parts)
    sections = [("What the report says and what comes out", comparison(figures))]
    sections += [shown for part in parts for shown in part.sections]
    sections += [("What the report leaves open", open_table()), ("Checks", _checks(failed))]
    body = [*(section(title, text) for title, text in sections), script_part()]
    page = make_page("Walking: the report's experiments", body, failed)
    return write_page(Path(folder) / "walking.html", page), figures


# ----- Parts ----------------------------------------------------------------------------------------------


def pendulum_part(settings: Settings) -> Part:
    """Figure 4: the double pendulum with every integrator."""
    settings.say("double pendulum with every integrator")
    trials = study_energy(settings.pendulum_time, PENDULUM_DT)
    rows = [
        [
            t.integrator, f"{t.order}", number(t.error[-1], ".2e"), number(t.drift, ".1e"),
            f"{t.largest:.2e}", f"{t.wall_us:.0f}",
        ]
        for t in trials
    ]  # fmt: skip
    head = ["integrator", "order", "energy gained", "per second", "largest error", "step [µs]"]
    note = paragraph(
        f"{settings.pendulum_time:g} s in steps of {1e3 * PENDULUM_DT:g} ms. Energy is relative to what the "
        "pendulum starts with above its rest; per second: slope of the line of least squares. The motion is "
        "chaotic, its energy is known."
    )
    text = runs_part({t.integrator: t.run for t in trials})
    text += pendulum_figures(trials, min(5.0, settings.pendulum_time)) + note + table(head, rows, range(1, 6))
    figures = {f"pendulum_{t.integrator.replace('-', '_')}_energy": float(t.error[-1]) for t in trials}
    figures |= {f"pendulum_{t.integrator.replace('-', '_')}_drift": t.drift for t in trials}
    return Part([("Double pendulum: figure 4", text)], figures, [])


def humanoid_part(settings: Settings) -> Part:
    """Figure 1: the humanoid walks."""
    return walk_part(settings, "humanoid", "Humanoid walk: figure 1")


def four_legged_part(settings: Settings) -> Part:
    """The four-legged robot of Figure 2 walks."""
    return walk_part(settings, "four_legged", "Four-legged walk: the robot of figure 2")


def walk_part(settings: Settings, key: str, title: str) -> Part:
    """A robot walks by inverse dynamics, and under other controllers; pictures, forces, measures."""
    name, scenario = ROBOTS[key], get_scenario(ROBOTS[key])
    assert isinstance(scenario, WalkingScenario)
    outcomes: dict[str, Outcome] = {}
    for controller in COMPARED:
        settings.say(f"{name}, {controller}")
        time = settings.duration if controller == "inverse" else settings.shorter
        parameters = {"controller": controller, "recorded": settings.shorter}
        outcomes[controller] = scenario.run(duration=time, dt=settings.dt, parameters=parameters)
    walked = outcomes["inverse"]
    assert walked.run is not None, walked.violations
    period, end = float(walked.parameters["period"]), float(walked.run.t[-1])
    begin = min(START + RAMP + period, max(end - 2.0 * period, 0.0))
    span = (begin, min(begin + 2.0 * period, end))
    times = [0.0, *np.linspace(begin, min(begin + period, end), 9)]
    title_of_strip = f"{TITLES[key]}: the stance, and one period of the walk"
    strip = pose_strip(walked.run, times, title_of_strip, apart=APART[key])
    content = runs_part({"inverse": walked.run}) + side_keys() + one_column([strip])
    content += force_figures(walked.run, span)
    content += runs_part({c: outcomes[c].run for c in COMPARED if c != "inverse"})
    figures = {
        f"{key}_{controller.replace('-', '_')}_{measure}": outcome.metrics[measure]
        for controller, outcome in outcomes.items()
        for measure in MEASURES
        if measure in outcome.metrics
    }
    failed = [f"{name}, {c}: {text}" for c, outcome in outcomes.items() for text in outcome.violations]
    return Part([(title, content + walk_table(outcomes))], figures, failed)


def failure_part(settings: Settings) -> Part:
    """Figure 5: forces replayed in open loop end in a fall; with feedback they do not."""
    sections: list[tuple[str, str]] = []
    figures: dict[str, Any] = {}
    for key, name in ROBOTS.items():
        settings.say(f"{name}, replays")
        walk = record_walk(name, duration=settings.shorter, dt=settings.dt)
        trials = study_replays(walk)
        text = ""
        if key == "humanoid":
            text = paragraph(
                "The forces of the walk above, found by inverse dynamics, act once more in the forward "
                "simulation. In the picture nothing differs but rounding, and nothing looks at the state."
            ) + fall_strip(trials[0])
        push = walk.push
        text += paragraph(
            f"Push: {push.impulse[0]:.3g} N s on the torso, ahead, over {push.lasting:g} s from t = "
            f"{push.at:g} s on. Feedback: {walk.gains[0]:.0f} N m/rad and {walk.gains[1]:.0f} N m s/rad on "
            "every joint, about the recorded motion. Rate: λ of d ≈ d₀ exp λt, where growth is exponential; "
            "what a change does by itself is not. Fallen: the torso is below half of its height."
        )
        text += fall_replays(trials) + replay_table(trials) + divergence_figures(trials, TITLES[key])
        figure = "figure 5" if key == "humanoid" else "the same of four legs"
        sections.append((f"Replayed forces: {figure}", text))
        for t in trials:
            loop = f"{key}_{t.change.key}_{'feedback' if t.has_feedback else 'open'}"
            figures |= {f"{loop}_falls": t.fall_time is not None, f"{loop}_distance": t.distance}
            figures |= {} if t.fall_time is None else {f"{loop}_fall_time": t.fall_time}
            figures |= {} if t.rate is None else {f"{loop}_rate": t.rate}
    return Part(sections, figures, [])


def space_part(settings: Settings) -> Part:
    """Beyond the report: a humanoid and a quadruped with floating bases, by whole-body control."""
    sections: list[tuple[str, str]] = []
    figures: dict[str, Any] = {}
    failed: list[str] = []
    for key, (name, title, apart) in SPACE.items():
        settings.say(name)
        outcome = get_scenario(name).run(duration=settings.duration, dt=settings.dt)
        run, m = outcome.run, outcome.metrics
        assert run is not None, outcome.violations
        end = float(run.t[-1])
        times = [0.0, *np.linspace(min(3.0, 0.5 * end), min(4.4, end), 8 if apart < 1.0 else 5)]
        strip = pose_strip(run, times, f"{title}: the stance, and two steps", apart=apart)
        shown = runs_part({name: run})
        text = paragraph(
            "Plan of the inverted pendulum, torques of the whole body by a quadratic program every "
            f"{1e3 * outcome.parameters['control_dt']:g} ms, within the limits of the robot's file. "
            f"{m['steps']:.0f} steps, {number(m['distance'], '.2f')} m of {m['planned_distance']:.2f} m "
            "planned."
        )
        sections.append(
            (title, text + shown + side_keys() + one_column([strip]) + walk_table({"whole body": outcome}))
        )
        figures |= {f"{key}_{measure}": m[measure] for measure in (*MEASURES, "steps") if measure in m}
        failed += [f"{name}: {violation}" for violation in outcome.violations]
    return Part(sections, figures, failed)


def push_part(settings: Settings) -> Part:
    """Which pushes the humanoid takes while it steps in place."""
    if not settings.directions:
        return Part([], {}, [])
    found = push_map(np.linspace(0.0, 360.0, settings.directions, endpoint=False), say=settings.say)
    head = ["direction [°]", "footsteps change [N s]", "as planned [N s]"]
    rows = [[f"{d:.0f}", f"{a:g}", f"{p:g}"] for d, a, p in zip(*found[:3], strict=True)]
    text = paragraph(
        f"Push over 0.1 s on the pelvis of a robot of {found.mass:.1f} kg that steps in place; 0° is ahead, "
        f"90° to its left. Shown is the largest push of {SIZES[0]:g}, {SIZES[1]:g}, …, {SIZES[-1]:g} N s "
        "after which it still stands, by bisection. One leg swings when it is pushed: left and right "
        "differ."
    )
    figures = {
        f"push_{d:.0f}_adapted": float(a) for d, a in zip(found.directions, found.adapted, strict=True)
    }
    figures |= {
        f"push_{d:.0f}_planned": float(p) for d, p in zip(found.directions, found.planned, strict=True)
    }
    content = text + push_figure(found) + table(head, rows, range(3))
    return Part([("Which pushes it takes", content)], figures, [])


PARTS: tuple[Callable[[Settings], Part], ...] = (
    pendulum_part,
    humanoid_part,
    four_legged_part,
    failure_part,
    space_part,
    push_part,
)


# ----- Tables -----------------------------------------------------------------------------------------------


def walk_table(outcomes: dict[str, Outcome]) -> str:
    """A walk under every controller."""
    rows = []
    for controller, o in outcomes.items():
        m, run = o.metrics, o.run
        assert run is not None, o.violations
        trip = number(m["round_trip_error"], ".0e") if m.get("round_trip_error") else "0"
        trip = trip if "round_trip_error" in m else "–"
        fell = f"at\u00a0{m['fall_time']:.2f}\u00a0s" if m["falls"] else "no"
        rows.append(
            [
                controller.replace("-", "\u2011"), f"{run.t[-1]:.2f}", fell, number(m["distance"], ".3f"),
                number(m["planned_distance"], ".3f"), trip, f"{m['peak_torque']:.0f}",
                f"{m['peak_force']:.0f}", number(m["cone_margin"], ".2f"), f"{m['residual']:.0e}",
                number(1e6 * (run.certificate.penetration or 0.0), ".2g"), f"{m['real_time_factor']:.1f}",
                "failed" if o.violations else "passed",
            ]
        )  # fmt: skip
    head = [
        "controller", "time [s]", "fell", "way [m]", "planned", "round trip", "torque [N m]",
        "force [N]", "cone margin", "residual", "overlap [µm]", "× real time", "checks",
    ]  # fmt: skip
    note = paragraph(
        "Round trip: recorded forces on recorded states lead to the recorded velocities, largest relative "
        "error, of steps whose forces inverse dynamics found. Torque, and force on one foot: the largest, "
        "mean over a step. Cone margin: least (μN − |T|)/(μN) of contacts that carry; 0 slides. A replay "
        "without feedback may fall. In the pictures forces and torques are means over 10 ms: a foot that "
        "stands moves on an arc against the torso, and the scheme lets it drift by up to a micrometre before "
        "it brings it back, which takes accelerations of half a metre per second squared."
    )
    return note + table(head, rows, [1, *range(3, 12)])


def fall_strip(trial: ReplayTrial) -> str:
    """The robot up to its fall."""
    end = float(trial.run.t[-1])
    times = [0.0, *np.linspace(max(end - 1.0, 0.5 * end), end, 7)]
    name = "Figure 5: the fall in open loop, poses beside each other"
    return side_keys() + one_column([pose_strip(trial.run, times, name, apart=1.0)])


def fall_replays(trials: Sequence[ReplayTrial]) -> str:
    """Open loop beside feedback, for the changes of `WATCHED`."""
    out = ""
    for change in CHANGES:
        mine = {t.has_feedback: t.run for t in trials if t.change is change}
        if change.key in WATCHED:
            out += runs_part(
                {f"feedback: {change.title}": mine[True], f"open loop: {change.title}": mine[False]}
            )
    return out


def replay_table(trials: Sequence[ReplayTrial]) -> str:
    """What became of every replay."""
    rows = []
    for change in CHANGES:
        cells = [escape(change.title)]
        for trial in (t for t in trials if t.change.key == change.key):
            word = "no" if trial.fall_time is None else f'<span class="bad">{trial.fall_time:.2f} s</span>'
            rate = "–" if trial.rate is None else f"{trial.rate:.1f}"
            cells += [word, number(trial.distance, ".2f"), f"{trial.divergence[-1]:.1e}"]
            cells += [] if trial.has_feedback else [rate]
        rows.append(cells)
    head = [
        "what differs", "open loop: fell", "way [m]", "distance at end", "rate [1/s]", "feedback: fell",
        "way [m]", "distance at end",
    ]  # fmt: skip
    return table(head, rows, range(1, len(head)))


def comparison(f: dict[str, Any]) -> str:
    """The report's statements beside ours."""
    euler, rk4 = f["pendulum_explicit_euler_energy"], f["pendulum_rk4_energy"]
    trips = max(f[f"{key}_inverse_round_trip_error"] for key in ROBOTS)
    falls = [f"{f.get(f'humanoid_{c.key}_open_fall_time', np.inf):.1f} s ({c.title})" for c in CHANGES]
    kept = [c.title for c in CHANGES if not any(f[f"{key}_{c.key}_feedback_falls"] for key in ROBOTS)]
    rows = [
        ["pendulum", "swings for long without blowing up its energy, by a variant of explicit Euler",
         f"explicit Euler gains {100 * euler:.0f} % of its energy, Runge and Kutta's lose {abs(rk4):.0e}"],
        ["humanoid walks by inverse dynamics", "a picture of poses",
         f"{number(f['humanoid_inverse_distance'], '.1f')} m; torques up to "
         f"{f['humanoid_inverse_peak_torque']:.0f} N m"],
        ["four-legged robot moves by inverse dynamics", "said, not shown",
         f"{number(f['four_legged_inverse_distance'], '.1f')} m; torques up to "
         f"{f['four_legged_inverse_peak_torque']:.0f} N m"],
        ["inverse and forward dynamics", "no solution in some steps: Lemke's method meets matrices that are "
         "no P-matrices", f"every step solved; forward again from the forces: within {trips:.0e}"],
        ["torques replayed in forward simulation", "falls by cumulation of errors",
         "falls after " + ", ".join(falls)],
        ["feedback", "named as the other kind of control", f"does not fall with {'; '.join(kept)}"],
    ]  # fmt: skip
    return table(["", "the report", "here"], [[escape(cell) for cell in row] for row in rows], ())


def open_table() -> str:
    """What the report does not print, and what is used here."""
    rows = []
    for key, name in ROBOTS.items():
        scenario, robot = get_scenario(name), TITLES[key].lower()
        assert isinstance(scenario, WalkingScenario)
        p = scenario.settings()
        rows += [
            [f"{robot}: sizes and masses", box_sizes(scenario.robot(p))],
            [f"{robot}: gait", f"{p['speed']:g} m/s, period {p['period']:g} s, feet stand {p['duty']:g} of "
             f"it, rise by {p['step_height']:g} m; stands for {START:g} s, gets faster for {RAMP:g} s"],
            [f"{robot}: friction", f"{p['mu']:g}"],
        ]  # fmt: skip
    rows += [
        ["law of contact", "Coulomb's cone and Signorini's law, exact; the report has a pyramid"],
        ["step", "implicit in contact, Stewart and Trinkle's"],
    ]
    return table(["", "here"], [[escape(cell) for cell in row] for row in rows], ())


def box_sizes(model: Model) -> str:
    """Sizes and masses of the boxes of a robot, each kind of segment once, in words."""
    out: dict[str, str] = {}
    for body in model.spec.bodies:
        box = next((s.geometry for s in body.shapes if isinstance(s.geometry, Box)), None)
        if box is not None:
            size = " × ".join(f"{length:g}" for length in box.size)
            out[body.name.split("_")[-1]] = f"{size} m, {body.inertia.mass:g} kg"
    return "; ".join(f"{name} {text}" for name, text in out.items())


def _checks(failed: list[str]) -> str:
    if not failed:
        return paragraph("No run violates what its scenario asks for.")
    return f'<ul class="failed">{"".join(f"<li>{escape(text)}</li>" for text in failed)}</ul>'
