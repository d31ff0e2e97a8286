"""The parts of the page on predictive control that run loops: pushers, cart-pole, and every scenario.

Scenarios are named once, in `CASES`: a further one is one more line.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.report.page import table
from taction.report.replay import runs_part
from taction.scenarios import get_scenario
from taction.scenarios.base import above
from taction.scenarios.cartpole_walls import CartpoleWalls
from taction.scenarios.predictive_scenario import PredictiveScenario
from taction.sim.run import Run
from taction.studies.mpc_cases import (
    BELOW,
    BY_KEY,
    LimitedPushers,
    Settings,
    close_loop,
    limited,
    moving_time,
)
from taction.studies.mpc_figures import loop_figures, puck_figures
from taction.studies.mpc_tables import case_table, loop_table
from taction.studies.page_part import Part
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
LIMIT = 0.2  # of a plan by branch and bound over many steps [s]
ERROR, PUSH = 0.1, 0.5  # of masses, relative; on the puck [N s]
MEASURES = (
    "final_error", "objective", "planned_objective", "gap", "solve_ms_median", "solve_ms_p99",
    "infeasible_solves", "state_violation", "prediction_error", "complementarity",
)  # fmt: skip


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
    text += runs_part({loop.title: loop.run for loop in loops[:3]})
    text += puck_figures(loops[:3], target) + loop_table(loops)
    text += paragraph(
        f"All masses {100 * ERROR:g} % larger than the plans know, and {PUSH:g} N s on the puck at 1.5 s."
    )
    text += runs_part({loop.title: loop.run for loop in disturbed})
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
    runs: dict[tuple[str, float], Run] = {}
    for key, (controller, has_walls) in CONTROLLERS.items():
        taken = []
        for row, push in zip(rows, settings.pushes, strict=True):
            choice: dict[str, Any] = {"controller": controller, "walls": has_walls, "push": push}
            loop = close_loop(CartpoleWalls(), key, settings.duration, **choice)
            runs[key, push] = loop.run
            m, end = loop.outcome.metrics, float(loop.run.t[-1])
            word = f'<span class="bad">fell, {end:.2f} s</span>' if m["fell"] else "stands"
            row.append(word if m["fell"] else f"{word}, {m['largest_angle']:.2f} rad")
            taken += [] if m["fell"] else [push]
            failed += [f"cart-pole, {key}, push {push:g}: {v}" for v in loop.outcome.violations]
        figures[f"cartpole_{key}_taken"] = taken
    names = {"mpc": "predictive", "lqr": "regulator"}
    titles = [f"{names[c]}, {'walls' if walls else 'no walls'}" for c, walls in CONTROLLERS.values()]
    head = ["push [rad/s]", *titles]
    shown = max(figures["cartpole_mpc_walls_taken"], default=settings.pushes[0])
    note = paragraph(
        "The pole has the velocity of the push at the start; the cart's force is limited to 10 N. The "
        "regulator is linear-quadratic with the same weights and knows no walls. Fallen: beyond 1.4 rad, "
        f"with the time; else the largest angle. The replay is of the push of {shown:g} rad/s."
    )
    watched = runs_part({title: runs[key, shown] for key, title in zip(CONTROLLERS, titles, strict=True)})
    content = watched + note + table(head, rows, range(len(head)))
    return Part([("Cart-pole between walls: pushes", content)], figures, failed)


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
    sections += [
        (f"Scenario {loop.title}", runs_part({loop.title: loop.run}) + loop_figures(loop)) for loop in loops
    ]
    figures = {f"{loop.title}_{key}": loop.outcome.metrics[key] for loop in loops for key in MEASURES}
    return Part(sections, figures, [f"{loop.title}: {v}" for loop in loops for v in loop.outcome.violations])
