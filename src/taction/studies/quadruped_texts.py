"""Words of the page of the legged-robot document: its statements beside ours, and why they differ.

Every number comes from the figures of the runs, and sentences that depend on one are chosen by it.

References: [Ayit2015, Section 5.4].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from taction.control.walking.gaits import GAITS
from taction.drawing.number_text import number
from taction.report.page import escape, table
from taction.robots.quadruped import FOOT, QUADRUPED_GAINS
from taction.scenarios import get_scenario
from taction.scenarios.quadruped_motion import SPRINGS
from taction.scenarios.quadruped_trot import RAMP, RISE, START
from taction.studies.quadruped_cases import CASES, LAWS, STIFFNESS, SWEEPS, TILT

LEAN = np.radians(90.0)  # beyond, it is upside down


def comparison(f: Mapping[str, Any]) -> str:
    """The table: what the document says, ours with exact contact and with springs, why they differ."""
    gait = "speed, period and step height are not printed: ours are chosen"
    fall = "gains act at the end of a step here, which takes energy from the joints; restitution is 0"
    springs = "spring numbers are not printed; ours are stable at this step, see the study of stiffness"

    def both(key: str, spec: str, unit: str) -> list[str]:
        return [f"{number(f[key.format(law)], spec)} {unit}" for law in LAWS]

    lean = [
        f"{f[f'trot_{law}_lowest']:.3f} to {f[f'trot_{law}_peak_height']:.3f} m, "
        f"{np.degrees(f[f'trot_{law}_largest_lean']):.1f}°"
        for law in LAWS
    ]
    rows = [
        ["trot, way ahead", "about 0.9 m exact, 0.7 m springs", *both("trot_{}_distance_x", ".2f", "m"),
         f"{gait}; {f['trot_exact_planned_distance']:.2f} m are planned, feet slip"],
        ["trot, drift sideways", "about 0.1 m exact, 0.18 m springs", *both("trot_{}_drift_y", ".3f", "m"),
         "the document's feet start asymmetrically; ours symmetrically, but for which diagonal lifts first"],
        ["trot, height and lean", "alike in both", *lean, ""],
    ]  # fmt: skip
    for case in CASES:
        is_easy = case.key in ("trot", "fall_10cm")
        said = "both succeed" if is_easy else "exact succeeds, springs fail"
        ends = [survival(f, case.key, law) for law in LAWS]
        rows.append([f"{case.title.lower()}, end", said, *ends, "" if is_easy else springs])
    for case in CASES[2:4]:
        after = [aftermath(f, f"{case.key}_{law}") for law in LAWS]
        why = f"{fall}; the start is symmetric; the whole body touches the ground"
        said = "bounces, turns upside down; body at −0.6 m"
        rows.append([f"{case.title.lower()}, afterwards", said, *after, why])
    takeoff = float(get_scenario("quadruped-jump").settings()["takeoff"])
    rows += [
        ["body below the ground", "−0.6 m, as only leg tips touch",
         f"tilted by {TILT:g}° at the start: {number(f['tilted_tips_lowest'], '.2f')} m", "–",
         f"our robot has to be tipped over; with body contact it ends at {f['tilted_body_lowest']:.3f} m"],
        ["jump, highest body", "2.2 m", *both("jump_{}_peak_height", ".2f", "m"),
         f"take-off at {takeoff:g} m/s was chosen to come about as high as the document"],
        ["trot, work of contact", "contact adds no energy", *both("trot_{}_contact_work", ".0f", "J"), ""],
        [f"Gauss–Seidel, {SWEEPS} sweeps", "limit of Table 5.2",
         f"residual {f['method_sweeps_usual_residual']:.0e} usually, {f['method_sweeps_residual']:.0e} at "
         "worst; "
         f"our solver {f['method_default_residual']:.0e} at worst", "–", "fall from 0.1 m"],
    ]  # fmt: skip
    head = ["", "the document says", "we get, exact", "we get, springs", "why it differs"]
    return table(head, [[escape(cell) for cell in row] for row in rows], ())


def survival(f: Mapping[str, Any], key: str, law: str) -> str:
    """How a run ended, in words."""
    name = f"{key}_{law}"
    if f[f"{name}_blew_up"]:
        return f"blows up at {f[f'{name}_end']:.2f} s"
    return "survives, falls over" if f[f"{name}_fell"] else "survives"


def aftermath(f: Mapping[str, Any], name: str) -> str:
    """What a robot does after it hit the ground."""
    turned = "turns upside down" if f[f"{name}_largest_lean"] > LEAN else "stays upright"
    low = number(f[f"{name}_lowest"], ".2f")
    return f"rises to {f[f'{name}_rebound']:.2f} m again, {turned}; lowest body {low} m"


def most(f: Mapping[str, Any], name: str) -> float:
    """Largest value of a measure in the five experiments with exact contact."""
    return float(max(f[f"{case.key}_exact_{name}"] for case in CASES))


def parameter_table() -> str:
    """What the document prints, what it leaves open, and what is used."""
    trot, jump = (get_scenario(f"quadruped-{name}").settings() for name in ("trot", "jump"))
    gait, k = GAITS["trot"], QUADRUPED_GAINS
    rows = [
        (
            "masses and sizes",
            "Table 5.1",
            f"as printed; foot {FOOT.height:g} m high instead of 0.5 m, a misprint",
        ),
        (
            "gains k_p",
            "Table 5.3",
            ", ".join(f"{n.replace('_', ' ')} {g.kp:g}" for n, g in k.items()) + " N m/rad",
        ),
        ("how gains act", "–", "at the end of each step, implicitly; explicit ones in the last section"),
        ("friction", "Table 5.2", f"ground {trot['mu']:g} and 0.4 N s/m; joints 0.55 N m and 0.3 N m s/rad"),
        ("restitution", "–", "0"),
        ("points of contact", "leg tips", "leg tips and all bodies; leg tips alone in the last section"),
        ("springs", "–", f"{SPRINGS.stiffness:g} N/m, {SPRINGS.damping:g} N s/m, explicit"),
        ("trot: speed", "–", f"{trot['speed']:g} m/s after {START:g} s of standing and a ramp of {RAMP:g} s"),
        ("trot: period and duty", "–", f"{gait.period:g} s, {gait.duty:g} of it on the ground"),
        ("trot: height of steps", "–", f"{RISE:g} of the height of the body"),
        ("trot: start", "asymmetric", "symmetric, but for the diagonal that lifts first"),
        ("falls: knees", "–", "all bend the same way"),
        (
            "jump: take-off",
            "–",
            f"{jump['takeoff']:g} m/s, chosen to come about as high as the document's 2.2 m",
        ),
        ("jump: crouch", "–", "by a third of the height of the body"),
        ("jump: knees", "–", f"{jump['knees']}: bent alike, the robot pitches in the air"),
    ]
    head = ["", "the document", "here"]
    return table(head, [[escape(cell) for cell in row] for row in rows], ())


def discussion(f: Mapping[str, Any]) -> str:
    """What differs and why, sentence by sentence."""
    texts = (_trot, _springs, _limit, _forces, _bounce, _sinking, _jump, _energy, _method)
    return f"<ul>{''.join(f'<li>{escape(text(f))}</li>' for text in texts)}</ul>"


def _trot(f: Mapping[str, Any]) -> str:
    exact, soft = f["trot_exact_distance_x"], f["trot_penalty_distance_x"]
    order = "further" if soft > exact else "less far"
    return (
        f"Trot. Planned are {f['trot_exact_planned_distance']:.2f} m; exact contact gives "
        f"{number(exact, '.2f')} m, springs {number(soft, '.2f')} m, the document 0.9 and 0.7 m. "
        f"Springs carry our robot {order} than exact contact, the document's less far; its springs for "
        "friction are of another kind. Drift is "
        f"{abs(f['trot_exact_drift_y']):.3f} and {abs(f['trot_penalty_drift_y']):.3f} m against 0.1 and "
        "0.18 m: nothing controls the heading."
    )


def _springs(f: Mapping[str, Any]) -> str:
    lost = [case.title.lower() for case in CASES if f[f"{case.key}_penalty_blew_up"]]
    end = f"blow up in: {', '.join(lost)}" if lost else "survive all five experiments"
    return (
        f"Springs. Ours, {f['spring_stiffness']:.0e} N/m, {end}; the document's fail in three. It prints "
        "no numbers. The price is depth: feet sink in by up to "
        f"{1e3 * f['fall_150cm_penalty_penetration']:.0f} mm in the fall from 1.5 m; with exact contact no "
        f"run overlaps by more than {most(f, 'penetration'):.0e} m."
    )


def _limit(f: Mapping[str, Any]) -> str:
    kept: list[tuple[float, list[str]]] = []
    broken: list[tuple[float, list[str]]] = []
    for k in STIFFNESS:
        bad = [case.title.lower() for case in CASES if has_failed(f, k, case.key)]
        (broken if bad else kept).append((k, bad))
    good = ", ".join(f"{k:.0e}" for k, _ in kept) + " N/m" if kept else "none of the springs tried"
    text = f"Blow-ups. With steps of {1e3 * f['step']:g} ms contact behaves in all experiments with {good}"
    for k, bad in broken:
        text += (
            f"; with {k:.0e} N/m it makes energy or blows up in {len(bad)} of {len(CASES)} ({', '.join(bad)})"
        )
    cause = ""
    if kept and broken:
        soft = kept[0][0]
        depth = 1e3 * f[f"{spring_name(soft)}_fall_150cm_penetration"]
        cause = (
            " So springs that are too stiff for the step are enough to explain the document's failures; "
            "since it prints no stiffness, we cannot tell. Depth as such is not enough: feet on springs "
            f"of {soft:.0e} N/m sink in by {depth:.0f} mm in the fall from 1.5 m, and nothing fails."
        )
    return f"{text}.{cause} Exact contact has no stiffness to choose."


def has_failed(f: Mapping[str, Any], stiffness: float, key: str) -> bool:
    """Whether springs made energy in an experiment."""
    name = f"{spring_name(stiffness)}_{key}"
    return bool(f[f"{name}_blew_up"] or f[f"{name}_contact_work"] > 0.0)


def spring_name(stiffness: float) -> str:
    """What the figures of springs are called."""
    return f"springs_{stiffness:.0e}".replace("+0", "")


def _forces(f: Mapping[str, Any]) -> str:
    ratios = [f[f"{case.key}_force_ratio"] for case in CASES]
    return (
        f"Forces. Peaks of our springs are {min(ratios):.2f} to {max(ratios):.2f} times those of exact "
        "contact. A rigid impact is over within one step: its peak is an impulse over the step, and says "
        "as much about the step as about the robot. The largest impulse on one foot in the fall from 1.5 "
        f"m is {f['fall_150cm_exact_peak_impulse']:.1f} N s."
    )


def _bounce(f: Mapping[str, Any]) -> str:
    ours, explicit = f["fall_150cm_exact_rebound"], f["explicit_fall_150cm_rebound"]
    lean = f["explicit_fall_150cm_largest_lean"]
    higher = "The stiff servos give back what implicit gains take." if explicit > ours else ""
    over = (
        "turns upside down"
        if lean > LEAN
        else "stays upright, too; what turns the document's over we do not know"
    )
    return (
        f"Bounce. After the fall from 1.5 m our body rises to {ours:.2f} m again; the document's robot "
        f"bounces and turns over. With gains applied explicitly ours rises to {explicit:.2f} m, leans by "
        f"{np.degrees(lean):.0f}° and {over}. {higher}"
    )


def _sinking(f: Mapping[str, Any]) -> str:
    return (
        f"Below the ground. Where only leg tips touch and the robot starts tilted by {TILT:g}°, its body "
        f"comes to {number(f['tilted_tips_lowest'], '.2f')} m, the document's to −0.6 m; with contact of "
        f"the whole body it does not come below {number(f['tilted_body_lowest'], '.3f')} m. From a level "
        f"start it {'falls over' if f['tips_fell'] else 'stays on its feet'} with leg tips alone."
    )


def _jump(f: Mapping[str, Any]) -> str:
    flight = (
        f", after {f['jump_exact_flight_time']:.2f} s in the air" if "jump_exact_flight_time" in f else ""
    )
    return (
        f"Jump. The body reaches {f['jump_exact_peak_height']:.2f} m with exact contact and "
        f"{f['jump_penalty_peak_height']:.2f} m with springs, the document's 2.2 m. It lands on its "
        f"feet{flight}. The height says nothing about either method: the speed of the legs was chosen for "
        "it."
        if not f["jump_exact_fell"]
        else f"Jump. The robot reaches {f['jump_exact_peak_height']:.2f} m and falls over."
    )


def _energy(f: Mapping[str, Any]) -> str:
    works = [f[f"{case.key}_exact_contact_work"] for case in CASES]
    claim = (
        "takes energy in all five experiments"
        if max(works) <= 0.0
        else "does not take energy in all experiments"
    )
    return (
        f"Energy. Exact contact {claim}: its work is {number(min(works), '.0f')} to "
        f"{number(max(works), '.0f')} J. With the velocities after a step, as the laws have it, no step "
        f"gains more than {most(f, 'largest_gain_after'):.0e} J. The ledger has the mean of the velocities "
        "before and after; there a foot that moved off and is pressed back within a step seems to gain, "
        f"{most(f, 'largest_gain'):.2g} J at most."
    )


def _method(f: Mapping[str, Any]) -> str:
    apart = 1e3 * abs(f["method_sweeps_height"] - f["method_solved_height"])
    return (
        f"Gauss–Seidel. With {SWEEPS} sweeps {f['method_sweeps_unconverged']} of "
        f"{f['method_sweeps_steps']} steps of the fall from 0.1 m are not solved to 1e-8; ε = 1e-20 is "
        "below rounding, so that it hardly ever ends the sweeps. The residual is worst at t = "
        f"{f['method_sweeps_residual_time']:.4f} s, the impact is at "
        f"{f['fall_10cm_exact_impact_time']:.4f} s; the motion differs from that of the same equations "
        f"solved by {apart:.0e} mm. On the level of accelerations feet overlap by "
        f"{1e3 * f['method_solved_penetration']:.2g} mm before they are stopped, with impulses by "
        f"{1e3 * f['method_default_penetration']:.1g} mm."
    )
