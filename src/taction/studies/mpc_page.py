"""Predictive control through contact on one page: the document's system, plans by every method, loops.

The page is a list of parts (`PARTS`), each a function of the settings that runs something and gives a `Part`.
Those of loops are in `taction.studies.mpc_loop_parts`.

References: [CorrectionsNote].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from taction.planning.dispatch import make_planner
from taction.planning.linearise import POSITION, VELOCITY
from taction.planning.problem import Outcome
from taction.report.machine import machine
from taction.report.overview import need_matplotlib
from taction.report.page import escape, make_page, section, table, write_page
from taction.report.replay import script_part
from taction.sim.interrupt import whole_runs
from taction.studies.mpc_cases import (
    BELOW,
    SHORT_HORIZON,
    WAYS,
    PlanTrial,
    Realised,
    Settings,
    differences,
    document_system,
    moving_task,
    pushers_system,
    pushers_task,
    realise,
    study_bounds,
    study_plans,
    study_speed,
    touches,
)
from taction.studies.mpc_figures import level_name, method_figures, plan_figures
from taction.studies.mpc_loop_parts import cartpole_part, loop_part, scenario_part
from taction.studies.mpc_tables import measure, plan_table, summary_table
from taction.studies.mpc_texts import discussion, document_text
from taction.studies.page_part import Part, gather
from taction.studies.quadruped_figures import paragraph

STEP, DRAWN_HORIZON = 0.05, 10
STARTS = 6  # of plans that the simulator follows
SHARES = (0.1, 0.5, 0.9, 0.999, 1.001, 2.0)  # bounds, of what the best plan needs
SAME, EXACT, DEAR = 1e-12, 1e-9, 1e-3


@whole_runs()
def write_mpc_page(
    folder: str | Path,
    *,
    horizon: int = 8,
    starts: int = 20,
    duration: float | None = None,
    pushes: Sequence[float] = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0),
    solves: int = 60,
    progress: Callable[[str], Any] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Run all of it, write ``mpc.html`` to a folder; returns its path and the figures.

    Args:
        folder: made if need be.
        horizon: longest of the plans that are compared with enumeration.
        starts: random starts of the pushers in the loop.
        duration: simulated time of loops [s]; as the scenarios have it by default.
        pushes: on the cart-pole [rad/s].
        solves: plans whose times are taken.
        progress: called with what is being run.

    Raises:
        BadInput: matplotlib or a planning library is not installed, or the page cannot be written.
    """
    need_matplotlib()
    settings = Settings(horizon, starts, duration, pushes, solves, progress or (lambda text: None))
    parts = [make(settings) for make in PARTS]
    figures, failed = gather(parts)
    sections = [("What was found", discussion(figures)), ("What the document says", document_text())]
    sections += [shown for part in parts for shown in part.sections]
    sections += [("Checks", _checks(failed))]
    body = [*(section(title, text) for title, text in sections), script_part()]
    page = make_page("Predictive control through contact", body, failed)
    return write_page(Path(folder) / "mpc.html", page), figures


# ----- Parts ----------------------------------------------------------------------------------------------


def system_part(settings: Settings) -> Part:
    """The matrices of the world against those of the document."""
    settings.say("matrices of the pushers")
    rows, largest = [], 0.0
    for level in (POSITION, VELOCITY):
        for masses in ((1.0, 1.0, 1.0), (2.0, 0.5, 3.0)):
            found = differences(pushers_system(level, STEP, masses), document_system(level, STEP, masses))
            largest = max(largest, *found.values())
            cells = [measure(found[n]) if n in found else "–" for n in "ABCdDEFcGHg"]
            rows.append([escape(level_name(level)), ", ".join(f"{m:g}" for m in masses), *cells])
    note = paragraph(
        "Largest difference between the matrices made from the world and those written down by hand from "
        "(4) to (11), corrected: x⁺ = A x + B u + C c + d, η = D x + E u + F c + c₀, and the free gaps G "
        "x + H u + g of the switch on velocities. The example is linear, so nothing but rounding may "
        "differ."
    )
    head = ["discretisation", "masses [kg]", *("A", "B", "C", "d", "D", "E", "F", "c₀", "G", "H", "g")]
    failed = [f"the matrices of the pushers differ by {largest:.1e}"] if not largest <= SAME else []
    return Part(
        [("The system, made and written down", note + table(head, rows, range(2, 13)))],
        {"matrices_difference": largest}, failed,
    )  # fmt: skip


def plans_part(settings: Settings) -> Part:
    """Plans in open loop by every method, against enumeration."""
    settings.say("plans by every method")
    seeds = settings.seeds()
    trials = study_plans(seeds, levels=(POSITION,))
    trials += study_plans({n: s for n, s in seeds.items() if n <= SHORT_HORIZON}, levels=(VELOCITY,))
    text = paragraph(
        "Two pushers, steps of 0.05 s, from the standard start and random ones, each method without a "
        "plan nearby. Enumeration tries all contact modes and is the reference. Excess: cost above the "
        "best, relative. Gap: what the method itself guarantees. Effort: programs (enumeration, admm), "
        "nodes (miqp), iterations (direct). The direct method plans on positions only."
    )
    for level in (POSITION, VELOCITY):
        text += method_figures(trials, level)
    text += summary_table(trials) + f"<details><summary>All plans</summary>{plan_table(trials)}</details>"
    figures: dict[str, Any] = {}
    for way in WAYS:
        mine = [t.excess for t in trials if t.way is way and not math.isnan(t.excess)]
        figures[f"plans_excess_{way.key}"] = max(mine, default=math.nan)
        figures[f"plans_least_{way.key}"] = min(mine, default=math.nan)
        figures[f"plans_missing_{way.key}"] = sum(t.plan.motion is None for t in trials if t.way is way)
    dear = [t for t in trials if t.way.key == "admm" and t.excess > DEAR]
    figures["plans_dear_admm"] = len(dear)
    figures["plans_apart_admm"] = sum(not touches(t.plan) for t in dear)
    return Part([("Plans by every method", text)], figures, plan_failures(trials))


def plan_failures(trials: Sequence[PlanTrial]) -> list[str]:
    """What contradicts the reference: costs below it, and plans called optimal that are not."""
    out = []
    for t in trials:
        where = f"{t.way.title}, {t.level} level, horizon {t.horizon}, start {t.seed}"
        if t.plan.motion is None and math.isfinite(t.best):
            out.append(f"{where}: no plan ({t.plan.outcome.value}), though there is one")
        if t.excess < -BELOW:
            out.append(f"{where}: costs less than the best plan of enumeration, by {-t.excess:.1e}")
        if t.plan.outcome is Outcome.OPTIMAL and t.excess > 2.0 * max(t.plan.gap, BELOW):
            out.append(f"{where}: called optimal, costs {t.excess:.1e} more than the best")
    return out


def time_part(settings: Settings) -> Part:
    """A plan in time, and what the simulator makes of it; the same of other starts."""
    settings.say("plans in the simulator")
    found: list[Realised] = []
    sections, failed = [], []
    for level in (POSITION, VELOCITY):
        for n in range(STARTS):
            task = pushers_task(level, DRAWN_HORIZON if n == 0 else SHORT_HORIZON, n)
            best = make_planner("miqp", task.problem).solve(task.x0, task.target)
            found.append(realise(task, best))
    for level in (POSITION, VELOCITY):
        shown = next(r for r in found if r.task.level == level)
        text = paragraph(
            f"The best plan from the standard start over {DRAWN_HORIZON} steps, by miqp."
        ) + plan_figures(shown)
        sections.append((f"A plan in time: {level_name(level)}", text))
    rows = []
    for r in found:
        impulse = float(np.abs(r.impulses - r.task.problem.system(0).dt * r.forces).max())
        on_edge = r.edge <= EXACT
        rows.append(
            [r.task.level, f"{len(r.impulses)}", f"{r.impulses.sum():.3f}", f"{r.error:.1e}",
             f"{impulse:.1e}", "–" if math.isinf(r.edge) else f"{r.edge:.1e}"]
        )  # fmt: skip
        if r.error > EXACT and not on_edge:
            failed.append(f"a plan on the {r.task.level} level is {r.error:.1e} away from the simulator")
    note = paragraph(
        "The inputs of best plans in the simulator: Stewart and Trinkle's scheme for plans on positions, "
        "Anitescu and Potra's for those on velocities, steps as long as those of the plan. Edge: the "
        "least |free gap| of a step; where it is zero, rounding decides whether the contact acts, and "
        "plan and simulator may differ."
    )
    head = ["level", "steps", "impulses [N s]", "states differ by", "impulses differ by [N s]", "edge [m]"]
    sections.append(("Plans and the simulator", note + table(head, rows, range(1, 6))))
    by = {level: [r for r in found if r.task.level == level] for level in (POSITION, VELOCITY)}
    edge = [r for r in by[VELOCITY] if r.edge <= EXACT]
    figures = {
        "realised_position": max(r.error for r in by[POSITION]),
        "realised_velocity": max((r.error for r in by[VELOCITY] if r.edge > EXACT), default=math.nan),
        "realised_edge": max((r.error for r in edge), default=0.0),
        "edge_plans": len(edge), "velocity_plans": len(by[VELOCITY]),
    }  # fmt: skip
    return Part(sections, figures, failed)


def bound_part(settings: Settings) -> Part:
    """Bounds of the mixed-integer program that are too small."""
    settings.say("bounds that are too small")
    rows, failed, said = [], [], []
    best, trials = study_bounds(moving_task(POSITION, SHORT_HORIZON), SHARES)
    for t in trials:
        p = t.plan
        said.append(p.outcome.value)
        cost = "–" if p.motion is None else f"{p.objective:.6g}"
        rows.append([f"{t.share:g}", p.outcome.value, cost, f"{best.objective:.6g}", escape(p.message)])
        if t.share < 1.0 and p.outcome is Outcome.OPTIMAL:
            failed.append(f"big_m of {t.share:g} times what is needed: called optimal")
    note = paragraph(
        "Both pushers touch the puck, which moves at 1.5 m/s. A bound of one's own in place of the "
        "computed ones, as a share of the largest λ or η of the best plan. Computed bounds come from "
        "linear programs over the sets of states and inputs."
    )
    head = ["share", "outcome", "cost", "best cost", "what is said"]
    return Part(
        [("A big number that is too small", note + table(head, rows, (0, 2, 3)))],
        {"bounds_said": said},
        failed,
    )


def speed_part(settings: Settings) -> Part:
    """Times of plans."""
    settings.say("times of plans")
    found = study_speed(range(1, settings.solves + 1), DRAWN_HORIZON, 2.0)
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    for s in found:
        counts = ", ".join(f"{name} {n}" for name, n in Counter(o.value for o in s.outcomes).items())
        median, slow = (float(np.percentile(s.milliseconds, p)) for p in (50, 99))
        rows.append(
            [
                s.way.title,
                f"{len(s.gaps)}",
                f"{median:.2f}",
                f"{slow:.1f}",
                measure(float(s.gaps.max())),
                counts,
            ]
        )
        figures |= {f"speed_{s.way.key}_median": median, f"speed_{s.way.key}_p99": slow}
    computer = machine()
    note = paragraph(
        f"Two pushers, {DRAWN_HORIZON} steps, random starts, without a plan nearby, at most 2 s each. On "
        f"one core of {computer['cpu']}, {computer['system']}, Python {computer['python']}."
    )
    head = ["method", "plans", "median [ms]", "99 of 100 [ms]", "largest gap", "outcomes"]
    return Part([("Speed", note + table(head, rows, range(1, 5)))], figures, [])


PARTS: tuple[Callable[[Settings], Part], ...] = (
    system_part,
    plans_part,
    time_part,
    bound_part,
    loop_part,
    cartpole_part,
    scenario_part,
    speed_part,
)


def _checks(failed: list[str]) -> str:
    if not failed:
        return paragraph(
            "Nothing contradicts what is to be expected: matrices equal to rounding, no plan below the "
            "best, plans called optimal that are, plans that the simulator follows, complementary plans, "
            "and what each scenario asks."
        )
    return f'<ul class="failed">{"".join(f"<li>{escape(text)}</li>" for text in failed)}</ul>'
