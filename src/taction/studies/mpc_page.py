"""Predictive control through contact on one page: the document's system, plans by every method, loops.

The page is a list of parts (`PARTS`), each a function of the settings that runs something and gives a `Part`.
Scenarios are named once, in `CASES`: a further one is one more line.

References: [CorrectionsNote].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taction.planning.dispatch import make_planner
from taction.planning.linearise import POSITION, VELOCITY
from taction.planning.problem import Outcome
from taction.report.machine import machine
from taction.report.overview import need_matplotlib
from taction.report.page import escape, make_page, section, table, write_page
from taction.scenarios import get_scenario
from taction.scenarios.base import above
from taction.scenarios.cartpole_walls import CartpoleWalls
from taction.scenarios.predictive_scenario import PredictiveScenario
from taction.studies.mpc_cases import (
    BY_KEY,
    WAYS,
    LimitedPushers,
    PlanTrial,
    Realised,
    close_loop,
    differences,
    document_system,
    limited,
    moving_task,
    moving_time,
    pushers_system,
    pushers_task,
    realise,
    study_bounds,
    study_plans,
    study_speed,
    touches,
)
from taction.studies.mpc_figures import (
    level_name,
    loop_figures,
    method_figures,
    plan_figures,
    puck_figures,
)
from taction.studies.mpc_tables import case_table, loop_table, measure, plan_table, summary_table
from taction.studies.mpc_texts import discussion, document_text
from taction.studies.quadruped_figures import paragraph

CASES = ("pushers", "cartpole-walls", "planar-push", "hopper")  # one picture each, or more
EXACT_STEPS = 3  # of methods that take long, without a limit of time
LOOPS = (
    ("admm", 10), ("daqp", 10), ("direct", 10), ("enumeration", EXACT_STEPS), ("daqp", EXACT_STEPS),
    ("scip", EXACT_STEPS),
)  # fmt: skip
CONTROLLERS = {
    "mpc_walls": ("mpc", True),
    "lqr_walls": ("lqr", True),
    "mpc_free": ("mpc", False),
    "lqr_free": ("lqr", False),
}
STEP, SHORT_HORIZON, DRAWN_HORIZON = 0.05, 6, 10
STARTS = 6  # of plans that the simulator follows
SHARES = (0.1, 0.5, 0.9, 0.999, 1.001, 2.0)  # bounds, of what the best plan needs
LIMIT = 0.2  # of a plan by branch and bound over many steps [s]
ERROR, PUSH = 0.1, 0.5  # of masses, relative; on the puck [N s]
SAME, EXACT, BELOW, DEAR = 1e-12, 1e-9, 1e-6, 1e-3
MEASURES = (
    "final_error", "objective", "planned_objective", "gap", "solve_ms_median", "solve_ms_p99",
    "infeasible_solves", "state_violation", "prediction_error", "complementarity",
)  # fmt: skip


class Settings(NamedTuple):
    """How much."""

    horizon: int  # longest of the plans that are compared
    starts: int  # of loops from random starts
    duration: float | None  # of loops [s]; None: as scenarios have it
    pushes: Sequence[float]  # on the cart-pole [rad/s]
    solves: int  # that are timed
    say: Callable[[str], Any]

    def seeds(self) -> dict[int, Sequence[int]]:
        """Starts by horizon: fewer for long ones."""
        return {
            n: range(4) if n <= 4 else range(3) if n <= SHORT_HORIZON else range(2)
            for n in range(1, self.horizon + 1)
        }


class Part(NamedTuple):
    """A part of the page."""

    sections: list[tuple[str, str]]  # headings and ready content
    figures: dict[str, Any]
    violations: list[str]


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
    figures = {name: value for part in parts for name, value in part.figures.items()}
    failed = [text for part in parts for text in part.violations]
    figures["violations"] = failed
    sections = [("What was found", discussion(figures)), ("What the document says", document_text())]
    sections += [shown for part in parts for shown in part.sections]
    sections += [("Checks", _checks(failed))]
    page = make_page(
        "Predictive control through contact", [section(title, text) for title, text in sections], failed
    )
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


def loop_part(settings: Settings) -> Part:
    """The pushers in the loop by every method, with model error and push, and from random starts."""
    loops, disturbed = [], []
    for key, horizon in LOOPS:
        way = BY_KEY[key]
        settings.say(f"pushers in the loop, {way.title}, {horizon} steps")
        title = f"{way.title}, {horizon} steps"
        limit = {"time_limit": LIMIT} if key == "daqp" and horizon > EXACT_STEPS else {}
        choice: dict[str, Any] = {"method": way.method, "horizon": horizon}
        scenario = limited(LimitedPushers(), **way.options, **limit)
        loops.append(close_loop(scenario, title, settings.duration, **choice))
        if horizon > EXACT_STEPS:
            scenario = limited(LimitedPushers(), **way.options, **limit)
            choice |= {"model_error": ERROR, "push": PUSH}
            disturbed.append(close_loop(scenario, title, settings.duration, **choice))
    target = float(loops[0].outcome.parameters["target"])
    text = paragraph(
        "Standard start, plans every 0.05 s, simulator in steps of 0.01 s. Branch and bound over 10 steps "
        f"may take {LIMIT:g} s per plan, and then gives what it has; the others have no limit. Over "
        f"{EXACT_STEPS} steps enumeration and branch and bound have to agree."
    )
    text += puck_figures(loops[:3], target) + loop_table(loops)
    text += paragraph(
        f"All masses {100 * ERROR:g} % larger than the plans know, and {PUSH:g} N s on the puck at 1.5 s."
    )
    text += puck_figures(disturbed, target) + loop_table(disturbed)
    settings.say(f"pushers in the loop, {settings.starts} random starts")
    random = [
        close_loop(limited(LimitedPushers()), f"{seed}", settings.duration, seed=seed)
        for seed in range(1, settings.starts + 1)
    ]
    text += paragraph("Random starts, admm.") + loop_table(random, "start")
    figures: dict[str, Any] = {
        "random_starts": len(random),
        "random_worst": max((float(loop.outcome.metrics["final_error"]) for loop in random), default=0.0),
    }
    for (key, horizon), loop in zip(LOOPS, loops, strict=True):
        key = key if horizon > EXACT_STEPS else f"{key}_{horizon}"
        m = loop.outcome.metrics
        figures |= {
            f"loop_{key}_objective": m["objective"], f"loop_{key}_error": m["final_error"],
            f"loop_{key}_median": m["solve_ms_median"], f"loop_{key}_p99": m["solve_ms_p99"],
            f"loop_{key}_infeasible": m["infeasible_solves"],
            f"loop_{key}_moves": moving_time(loop.run),
        }  # fmt: skip
    record, run = loops[1].control.record, loops[1].run
    is_cut = np.array([plan.seconds >= LIMIT for plan in record.plans])
    first = float(record.t[int(np.argmax(is_cut))]) if is_cut.any() else math.inf
    figures["loop_daqp_cut"], figures["loop_daqp_cut_from"] = float(is_cut.mean()), first
    figures["loop_daqp_cut_at"] = abs(float(np.interp(first, run.t, run.q[:, 0])) - target)
    exact = [float(loop.outcome.metrics["objective"]) for loop in loops[-3:]]
    figures["loop_exact_spread"] = (max(exact) - min(exact)) / max(exact)
    failed = above(
        "the difference of costs of exact methods in the loop", figures["loop_exact_spread"], BELOW
    )
    failed += [f"pushers, {loop.title}: {v}" for loop in loops for v in loop.outcome.violations]
    failed += [
        f"pushers, disturbed, {loop.title}: {v}" for loop in disturbed for v in loop.outcome.violations
    ]
    failed += [f"pushers, start {loop.title}: {v}" for loop in random for v in loop.outcome.violations]
    return Part([("Two pushers in the loop", text)], figures, failed)


def cartpole_part(settings: Settings) -> Part:
    """Pushes on the cart-pole, by what controls."""
    settings.say("pushes on the cart-pole")
    figures: dict[str, Any] = {"cartpole_pushes": list(settings.pushes)}
    rows, failed = [[f"{push:g}"] for push in settings.pushes], []
    for key, (controller, has_walls) in CONTROLLERS.items():
        taken = []
        for row, push in zip(rows, settings.pushes, strict=True):
            choice: dict[str, Any] = {"controller": controller, "walls": has_walls, "push": push}
            loop = close_loop(CartpoleWalls(), key, settings.duration, **choice)
            m, end = loop.outcome.metrics, float(loop.run.t[-1])
            word = f'<span class="bad">fell, {end:.2f} s</span>' if m["fell"] else "stands"
            row.append(word if m["fell"] else f"{word}, {m['largest_angle']:.2f} rad")
            taken += [] if m["fell"] else [push]
            failed += [f"cart-pole, {key}, push {push:g}: {v}" for v in loop.outcome.violations]
        figures[f"cartpole_{key}_taken"] = taken
    names = {"mpc": "predictive", "lqr": "regulator"}
    head = ["push [rad/s]"]
    head += [f"{names[c]}, {'walls' if walls else 'no walls'}" for c, walls in CONTROLLERS.values()]
    note = paragraph(
        "The pole has the velocity of the push at the start; the cart's force is limited to 10 N. The "
        "regulator is linear-quadratic with the same weights and knows no walls. Fallen: beyond 1.4 rad, "
        "with the time; else the largest angle."
    )
    return Part(
        [("Cart-pole between walls: pushes", note + table(head, rows, range(len(head))))], figures, failed
    )


def scenario_part(settings: Settings) -> Part:
    """Every scenario with its defaults: metrics, motion, predicted against realised forces."""
    sections, loops = [], []
    for name in CASES:
        settings.say(name)
        scenario = get_scenario(name)
        assert isinstance(scenario, PredictiveScenario)
        loops.append(close_loop(scenario, name, settings.duration))
    note = paragraph(
        "Scenarios with their defaults. A force of a plan is that of its first step, of all contacts "
        "together; that of the simulator is the mean over this step. They differ where the simulator's "
        "steps are shorter than those of the plan, or the world is not what the plan knows."
    )
    sections.append(("Scenarios", note + case_table(loops, MEASURES)))
    sections += [(f"Scenario {loop.title}", loop_figures(loop)) for loop in loops]
    figures = {f"{loop.title}_{key}": loop.outcome.metrics[key] for loop in loops for key in MEASURES}
    return Part(sections, figures, [f"{loop.title}: {v}" for loop in loops for v in loop.outcome.violations])


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
