"""Chapter 5 of the legged-robot document on one page: figures 5.2 to 5.31 and replays, and what differs.

Five experiments, each with exact contact and with springs, at the document's step, time, friction and gains.
The document prints pictures; its numbers are those of its text. What it leaves open is listed on the page
with the value used here. Besides its figures the page has the energy ledgers, the trot's reference, and three
studies that look for the causes of what differs (`taction.studies.quadruped_cases`).

References: [Ayit2015, Chapter 5].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from taction.control.walking.gaits import get_gait
from taction.drawing.number_text import number
from taction.report.overview import need_matplotlib
from taction.report.page import escape, make_page, section, table, write_page
from taction.report.replay import runs_part, script_part
from taction.scenarios.quadruped_motion import SPRINGS
from taction.scenarios.quadruped_trot import QuadrupedTrot
from taction.sim.interrupt import whole_runs
from taction.studies.quadruped_cases import (
    CASES,
    LAWS,
    TILT,
    MethodTrial,
    SpringTrial,
    Trial,
    quadruped_scenario,
    run_trial,
    study_methods,
    study_springs,
    study_variants,
)
from taction.studies.quadruped_figures import (
    LINEAR,
    contact_work_figures,
    document_figures,
    motion_strips,
    paragraph,
    reference_figures,
    shown_time,
)
from taction.studies.quadruped_texts import comparison, discussion, parameter_table, spring_name

MEASURES = (
    "distance_x", "drift_y", "yaw", "peak_height", "lowest", "rebound", "largest_lean", "fell", "peak_force",
    "peak_impulse", "contact_work", "largest_gain", "largest_gain_after", "rest_time", "real_time_factor",
    "planned_distance",
    "takeoff_speed", "flight_time", "impact_time",
)  # fmt: skip
LEDGER = (
    "initial", "actuation", "joint_friction", "friction", "impact", "pressing", "joints", "correction",
    "remainder", "final",
    "stored", "closure",
)  # fmt: skip
VARIANTS = {
    "tips": "only leg tips touch",
    "tilted_tips": f"starts tilted by {TILT:g}°, only leg tips touch",
    "tilted_body": f"starts tilted by {TILT:g}°, the body touches, too",
    "explicit_fall_50cm": "gains explicit",
    "explicit_fall_150cm": "gains explicit",
}
TOUCHING = ("tips", "tilted_tips", "tilted_body")  # beside each other in a replay
EXPLICIT = ("explicit_fall_50cm", "explicit_fall_150cm")

Pairs = list[tuple[Trial, Trial]]


@whole_runs()
def write_quadruped_page(
    folder: str | Path,
    *,
    duration: float = 10.6,
    dt: float = 5e-4,
    progress: Callable[[str], Any] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Run the document's experiments, write ``quadruped.html`` to a folder; returns its path and the figures.

    Args:
        folder: made if need be.
        duration: simulated time of each experiment [s]; the studies are shorter.
        dt: time step [s].
        progress: called with what is being run.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    need_matplotlib()
    say = progress or (lambda text: None)
    pairs: Pairs = []
    for case in CASES:
        say(case.title.lower())
        exact, penalty = (run_trial(case, law, duration, dt) for law in LAWS)
        pairs.append((exact, penalty))
    say("springs of other stiffness")
    springs = study_springs(duration, dt)
    say("the document's method")
    methods = study_methods(duration, dt)
    say("falls with other contacts and gains")
    variants = study_variants(duration, dt)
    say("pictures")
    figures = measure(pairs, springs, methods, variants)
    named = [(f"{trial.case.title}, {trial.law}", trial) for pair in pairs for trial in pair]
    named += [(f"{trial.case.title}, {VARIANTS[key]}", trial) for key, trial in variants.items()]
    failed = [f"{name}: {text}" for name, trial in named for text in trial.violations]
    figures["violations"] = failed
    page = make_page(
        "Quadruped: the document's experiments",
        _sections(figures, pairs, springs, methods, variants, failed),
        failed,
    )
    return write_page(Path(folder) / "quadruped.html", page), figures


def _sections(
    figures: dict[str, Any],
    pairs: Pairs,
    springs: list[SpringTrial],
    methods: list[MethodTrial],
    variants: dict[str, Trial],
    failed: list[str],
) -> list[str]:
    trials = [trial for pair in pairs for trial in pair]
    trot = pairs[0][0]
    scenario = quadruped_scenario(trot.case)
    assert isinstance(scenario, QuadrupedTrot)
    reference = scenario.reference(scenario.settings(), trot.run.model)
    body = [
        section("What the document says and what comes out", comparison(figures)),
        section("What differs, and why", discussion(figures)),
        section("What the document leaves open", parameter_table()),
        section("All runs: motion", motion_table(trials)),
        section("All runs: contact", contact_table(trials) + _contact_note() + _checks(failed)),
        section("The motion in time", motion_strips([(exact, moments(exact)) for exact, _ in pairs])),
    ]
    for exact, penalty in pairs:
        case = exact.case
        title = f"{case.title}: figures 5.{case.figure} to 5.{case.figure + 5} (Section {case.section})"
        last, end = shown_time((exact, penalty)), float(exact.run.t[-1])
        rest = f" Nothing moves after the {last:g} s shown of {end:g} s." if last < end else ""
        note = paragraph(
            f"Forces are means over a step, on axes that are linear up to {LINEAR:g} N and logarithmic "
            f"beyond; exact and springs have the same axes.{rest}"
        )
        shown = runs_part({"exact contact": exact.run, "springs": penalty.run})
        body.append(section(title, shown + note + document_figures(exact, penalty)))
    zmp = paragraph(
        f"Planned: {figures['trot_exact_planned_distance']:.2f} m. Preview control keeps the zero-moment "
        f"point within {1e3 * float(np.abs(reference.zmp - reference.plan).max()):.0f} mm of the plan; the "
        "centre of mass moves before it."
    )
    return [
        *body,
        section("The trot's reference", zmp + reference_figures(reference, trot)),
        section("Where the energy goes", ledger_table(trials) + contact_work_figures(pairs)),
        section("Stiffness of the springs", spring_table(springs)),
        section("The document's way to find contact forces", method_table(methods)),
        section("Falls with other contacts and gains", variant_replays(variants) + variant_table(variants)),
        script_part(),
    ]


def measure(
    pairs: Pairs, springs: list[SpringTrial], methods: list[MethodTrial], variants: dict[str, Trial]
) -> dict[str, Any]:
    """The numbers behind the page, by flat names such as ``trot_exact_distance_x``."""
    out: dict[str, Any] = {"step": pairs[0][0].run.dt, "spring_stiffness": SPRINGS.stiffness}
    named = {f"{trial.case.key}_{trial.law}": trial for pair in pairs for trial in pair} | variants
    for name, trial in named.items():
        c = trial.run.certificate
        out[f"{name}_end"] = float(trial.run.t[-1])
        out[f"{name}_blew_up"] = bool(trial.run.blew_up)
        out |= {f"{name}_{key}": trial.metrics[key] for key in MEASURES if key in trial.metrics}
        out[f"{name}_penetration"] = c.penetration or 0.0
        out[f"{name}_residual"] = c.residual or 0.0
        out[f"{name}_energy_remainder"] = trial.run.energy.remainder
    for case in CASES:
        exact, soft = (out[f"{case.key}_{law}_peak_force"] for law in LAWS)
        out[f"{case.key}_force_ratio"] = soft / exact if exact > 0.0 else 0.0
    for s in springs:
        name = f"{spring_name(s.stiffness)}_{s.case.key}"
        out[f"{name}_blew_up"], out[f"{name}_fell"] = s.has_blown_up, s.has_fallen
        out[f"{name}_peak_force"], out[f"{name}_contact_work"] = s.peak_force, s.contact_work
        out[f"{name}_penetration"] = s.overlap
        out[f"{spring_name(s.stiffness)}_allowed_step"] = s.allowed
    for key, m in zip(("default", "solved", "sweeps"), methods, strict=True):
        c = m.run.certificate
        out[f"method_{key}_residual"], out[f"method_{key}_usual_residual"] = m.worst, m.usual
        out[f"method_{key}_unconverged"], out[f"method_{key}_steps"] = c.unconverged_steps, m.run.steps
        out[f"method_{key}_penetration"], out[f"method_{key}_height"] = (
            c.penetration or 0.0,
            float(m.run.q[-1, 2]),
        )
        out[f"method_{key}_residual_time"] = c.residual_time or 0.0
        out[f"method_{key}_peak_force"] = m.metrics["peak_force"]
    return out


def moments(trial: Trial) -> Sequence[float]:
    """Times at which an experiment is shown [s]."""
    m, end = trial.metrics, float(trial.run.t[-1])
    if trial.case.key == "trot":
        return [0.0, *np.linspace(0.5 * end, 0.5 * end + get_gait("trot").period, 6), end]
    if trial.case.key == "jump":
        if "takeoff_time" not in m:
            return list(np.linspace(0.0, end, 8))
        leave, flight = m["takeoff_time"], m["flight_time"]
        crouched, landed = leave - 0.15, leave + flight
        return [0.0, crouched, leave, leave + 0.25 * flight, leave + 0.5 * flight, landed, landed + 0.25, end]
    hit = m.get("impact_time", -1.0)
    hit = hit if hit > 0.0 else 0.5 * end
    return [0.0, 0.7 * hit, hit, hit + 0.02, hit + 0.06, hit + 0.15, hit + 0.4, end]


def _name(trial: Trial) -> list[str]:
    return [escape(trial.case.title).replace(" ", "\u00a0"), trial.law]


def motion_table(trials: Sequence[Trial]) -> str:
    """How each run moved."""
    rows = []
    for trial in trials:
        m, run = trial.metrics, trial.run
        ended = f"blew up at {run.t[-1]:.2f} s" if run.blew_up else "finished"
        rows.append(
            [
                *_name(trial), ended, "yes" if m["fell"] else "no", number(m["distance_x"], ".3f"),
                number(m["drift_y"], ".3f"), number(np.degrees(m["yaw"]), ".2f"),
                f"{np.degrees(m['largest_lean']):.1f}", f"{m['peak_height']:.3f}", number(m["lowest"], ".3f"),
                f"{m['rest_time']:.2f}", f"{m['real_time_factor']:.1f}",
            ]
        )  # fmt: skip
    head = [
        "experiment", "contact", "end", "fell", "x [m]", "y [m]", "yaw [deg]", "lean [deg]", "highest [m]",
        "lowest [m]", "moved until [s]", "× real time",
    ]  # fmt: skip
    note = paragraph(
        f"Simulated: {max(float(t.run.t[-1]) for t in trials):g} s each. x and y: way of the body; lean: "
        "its largest; highest and lowest: its height above the ground."
    )
    return table(head, rows, range(4, len(head))) + note


def contact_table(trials: Sequence[Trial]) -> str:
    """What contact did in each run."""
    peaks = {(t.case.key, t.law): t.metrics["peak_force"] for t in trials}
    rows = []
    for trial in trials:
        m, c = trial.metrics, trial.run.certificate
        exact = peaks[trial.case.key, "exact"]
        ratio = f"{m['peak_force'] / exact:.2f}" if trial.law == "penalty" and exact > 0.0 else ""
        rows.append(
            [
                *_name(trial), f"{m['peak_force']:.0f}", ratio, f"{m['peak_impulse']:.2f}",
                number(1e3 * (c.penetration or 0.0), ".1g" if trial.law == "exact" else ".1f"),
                number(c.residual or 0.0, ".0e"), number(m["contact_work"], ".1f"),
                number(m["largest_gain_after"], ".0e") if trial.law == "exact" else "–",
                f"{c.unconverged_steps}", "failed" if trial.violations else "passed",
            ]
        )  # fmt: skip
    head = [
        "experiment", "contact", "peak force [N]", "penalty / exact", "impulse [N s]", "overlap [mm]",
        "residual",
        "work [J]", "gain [J]", "unsolved", "certificate",
    ]  # fmt: skip
    return table(head, rows, range(2, 10))


def _contact_note() -> str:
    return paragraph(
        "Peak force: largest normal force on one foot, mean over a step. A rigid impact has no force, but "
        "an impulse: half the step makes its mean force twice as large. The impulse is that of the same "
        "step; springs spread theirs over many. Overlap: deepest. Residual: of the rigid laws, natural "
        "map, relative; springs are not asked to keep them. Work: of friction and of normal forces, "
        "without what springs store. Gain: most that contact adds in one step with the velocities after "
        "it. Unsolved: steps above the tolerance."
    )


def _checks(failed: list[str]) -> str:
    if not failed:
        return paragraph("Checks: no run violates what its scenario asks for.")
    return f'<ul class="failed">{"".join(f"<li>{escape(text)}</li>" for text in failed)}</ul>'


def ledger_table(trials: Sequence[Trial]) -> str:
    """Energies and works of each run."""
    rows = []
    for trial in trials:
        values = [getattr(trial.run.energy, name) or 0.0 for name in LEDGER]
        rows.append([*_name(trial), *(number(x, ".1f") for x in values[:-1]), number(values[-1], ".0e")])
    head = [
        "experiment", "contact", "start", "motors", "joint friction",
        "contact friction", "impacts, dampers", "pressing", "loops, joints",
        "correction", "remainder", "end", "in springs", "closure",
    ]  # fmt: skip
    note = paragraph("In joule; closure is relative. The remainder is what the steps added or lost.")
    return table(head, rows, range(2, len(head))) + note


def spring_table(springs: Sequence[SpringTrial]) -> str:
    """What came of each stiffness."""
    rows = []
    for k in dict.fromkeys(s.stiffness for s in springs):
        mine = [s for s in springs if s.stiffness == k]
        first = mine[0]
        cells = [f"{k:.0e}", f"{first.damping:.0f}", f"{1e3 * first.allowed:.2g}"]
        rows.append([*cells, *(spring_cell(s) for s in mine)])
    head = ["k [N/m]", "c [N s/m]", "step ≤ [ms]", *(case.title for case in CASES)]
    note = paragraph(
        f"Explicit, the first {max(s.ended for s in springs):g} s of each experiment; dampers grow with "
        "the root of the stiffness. Cells: outcome, largest force on a foot, deepest overlap, work of "
        "dampers and friction. Positive work is energy that contact made, which no contact does. "
        "Stiffness k, damping c, and the longest stable step of one foot on its spring, on the safe side."
    )
    return note + table(head, rows, (0, 1, 2))


def spring_cell(s: SpringTrial) -> str:
    """Outcome, largest force, depth and work of contact of an experiment with some springs."""
    word = f'<span class="bad">blew up, {s.ended:.3f} s</span>' if s.has_blown_up else "survived"
    if not s.has_blown_up and s.has_fallen:
        word = '<span class="bad">fell</span>'
    elif not s.has_blown_up and s.contact_work > 0.0:
        word = '<span class="bad">made energy</span>'
    force, depth, work = 1e-3 * s.peak_force, 1e3 * s.overlap, number(s.contact_work, ".1f")
    return f"{word}<br>{force:.1f} kN<br>{depth:.1f} mm<br>{work} J"


def method_table(methods: Sequence[MethodTrial]) -> str:
    """The same fall with each way to find contact forces."""
    rows = []
    for m in methods:
        c = m.run.certificate
        rows.append(
            [
                escape(m.name), f"{m.worst:.1e}", f"{m.usual:.1e}", f"{c.signorini or 0.0:.1e}",
                f"{c.dissipation or 0.0:.1e}", f"{c.unconverged_steps} of {m.run.steps}",
                f"{1e3 * (c.penetration or 0.0):.2g}", f"{m.metrics['peak_force']:.0f}",
                f"{m.run.q[-1, 2]:.4f}", f"{1e6 * m.run.wall_s / m.run.steps:.0f}",
            ]
        )  # fmt: skip
    head = [
        "method", "worst residual", "median", "normal law", "friction law", "unsolved", "overlap [mm]",
        "peak [N]", "z at end [m]", "step [µs]",
    ]  # fmt: skip
    note = paragraph(
        f"Fall from 0.1 m, first {methods[0].run.t[-1]:g} s. Residuals are relative to the free "
        "velocities, joint friction included; normal and friction law are those of the contacts alone. "
        "Gauss–Seidel runs outside the compiled step here, so that its time is not that of the method."
    )
    return note + table(head, rows, range(1, len(head)))


def variant_replays(variants: dict[str, Trial]) -> str:
    """Replays of falls that differ in one thing: in what touches, and in gains."""
    shown = (
        {VARIANTS[key]: variants[key].run for key in TOUCHING},
        {f"{variants[key].case.title}, {VARIANTS[key]}": variants[key].run for key in EXPLICIT},
    )
    return "".join(runs_part(runs) for runs in shown)


def variant_table(variants: dict[str, Trial]) -> str:
    """Falls that differ in one thing."""
    rows = []
    for key, trial in variants.items():
        m, c = trial.metrics, trial.run.certificate
        rows.append(
            [
                _name(trial)[0], escape(VARIANTS[key]), number(m["lowest"], ".3f"),
                number(m["rebound"], ".3f"), number(trial.run.q[-1, 2], ".3f"),
                f"{np.degrees(m['largest_lean']):.0f}",
                f"{m['peak_force']:.0f}", number(1e3 * (c.penetration or 0.0), ".1g"),
                "failed" if trial.violations else "passed",
            ]
        )  # fmt: skip
    head = [
        "experiment", "variant, exact contact", "lowest [m]", "highest after impact [m]", "z at end [m]",
        "lean [deg]", "peak force [N]", "overlap [mm]", "checks",
    ]  # fmt: skip
    note = ""
    if any(trial.violations for trial in variants.values()):
        left = max(trial.run.certificate.left or 0.0 for trial in variants.values())
        note = paragraph(
            "A leg that turns fast leaves the straight path that a step assumes, and its tip overlaps by "
            f"the curve; a step leaves at most {left:.1g} m to the next."
        )
    return table(head, rows, range(2, 8)) + note
