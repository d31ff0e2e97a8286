"""The experiment of the document on compliant contact on one page: its figures 5 and 6, and what differs.

Two ellipsoids fall on each other and on the floor (`taction.scenarios.ellipsoids`). Besides the document's
figures the page has what it does not show: replays, the energy and where it goes, the same motion with halved
steps, without dampers and friction, where energy must be kept, and with rigid bodies.

References: [DuindamStramigioli2003, Sections 5 and 6].
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.geometry.contact_kinematics import ContactPoints
from taction.geometry.surfaces.base import tangent_basis
from taction.report.overview import COLOURS, need_matplotlib
from taction.report.page import (
    Key,
    beside,
    drawn,
    escape,
    legend,
    make_page,
    section,
    table,
    write_page,
)
from taction.report.replay import runs_part, script_part
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.ellipsoids import BLACK, GREY, LABELS, SAMPLE, distances, poses
from taction.sim.interrupt import whole_runs
from taction.sim.run import Run

PAIRS = ("Δ₁ grey and floor", "Δ₂ grey and black", "Δ₃ black and floor")
STEPS = (4e-4, 2e-4, 1e-4)  # of the study [s]
CONSERVATIVE = {"damping": 0.0, "mu": 0.0}
OUTLINE = np.linspace(0.0, 2.0 * np.pi, 61)
FRAME = 0.03  # length of the axes of a contact frame in the pictures [m]


@whole_runs()
def write_ellipsoids_page(
    folder: str | Path,
    *,
    duration: float = 1.5,
    dt: float = 2e-4,
    progress: Callable[[str], Any] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Run the document's experiment, write ``ellipsoids.html`` to a folder; returns its path and the figures.

    Args:
        folder: made if need be.
        duration: simulated time [s].
        dt: time step [s].
        progress: called with what is being run.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    need_matplotlib()
    say = progress or (lambda text: None)
    scenario = get_scenario("ellipsoids")
    say("two ellipsoids")
    soft = scenario.run(duration=duration, dt=dt)
    assert soft.run is not None, soft.violations
    say("with other steps")
    study = [scenario.run(duration=duration, dt=h) for h in STEPS]
    say("without dampers and friction")
    kept = [scenario.run(duration=duration, dt=h, parameters=CONSERVATIVE) for h in STEPS]
    say("with rigid bodies")
    rigid = scenario.run(duration=duration, dt=dt, contact="exact")
    figures = measure(soft, study, kept, rigid)
    t, delta, points = distances(soft.run)
    body = [
        section("What the document says and what comes out", comparison(figures)),
        section("Figure 5: distances between the three objects", _distance_picture(t, delta, figures)),
        section(
            "Figure 6: snapshots with contact frames",
            runs_part({"two ellipsoids": soft.run}) + _snapshots(soft.run, points, figures),
        ),
        section(
            "Where the energy goes",
            runs_part({"dampers and friction": soft.run, "neither of them": kept[-1].run})
            + _energy_picture(soft.run),
        ),
        section("Steps", steps_table(study, kept)),
        section("With rigid bodies", runs_part({"compliant": soft.run, "rigid": rigid.run})),
        script_part(),
    ]
    failed = [text for o in (soft, rigid, *study, *kept) for text in o.violations]
    page = make_page("Compliant contact: two ellipsoids", body, failed)
    figures["violations"] = failed
    return write_page(Path(folder) / "ellipsoids.html", page), figures


def energy_error(outcome: Outcome) -> float:
    """Largest deviation of the energy, springs included, from its start [J]."""
    run = outcome.run
    assert run is not None, outcome.violations
    energy = run.total_energy
    return float(np.abs(energy - energy[0]).max())


def measure(soft: Outcome, study: list[Outcome], kept: list[Outcome], rigid: Outcome) -> dict[str, Any]:
    """The figures behind the page."""
    run, hard = soft.run, rigid.run
    assert run is not None and hard is not None
    errors = [energy_error(o) for o in kept]
    orders = [float(np.log2(a / b)) for a, b in pairwise(errors)]
    return {
        **{name: soft.metrics[name] for name in ("max_penetration", "energy_rise", "stored_energy_at_end")},
        **{f"t_{label}": soft.metrics[f"t_{label}"] for label in LABELS},
        "energy_start": soft.metrics["energy_start"],
        "energy_end": soft.metrics["energy_end"],
        "energy_rises": [float(o.metrics["energy_rise"]) for o in study],
        "conservation_errors": errors,
        "conservation_orders": orders,
        "us_per_step": 1e6 * run.wall_s / run.steps,
        "rigid_us_per_step": 1e6 * hard.wall_s / hard.steps,
        "rigid_end_distance": float(np.linalg.norm(run.q[-1, 7:10] - hard.q[-1, 7:10])),
        "rigid_penetration": float(hard.certificate.penetration or 0.0),
        "rigid_t_e": rigid.metrics["t_e"],
    }


def comparison(f: dict[str, Any]) -> str:
    """The table: what the document says, ours, why they differ."""
    open_numbers = "masses, sizes and springs are not printed; ours are soft, as it says"
    rows = [
        ("(a)", "start at some height, at rest, the black one farthest from the ground",
         f"t = {f['t_a']:.3f} s; Δ₃ is the largest", open_numbers),
        ("(b)", "the grey one hits the ground first; when the black one hits it, it is pressed in further",
         f"deepest at t = {f['t_b']:.3f} s; overlaps ≤ {1e3 * f['max_penetration']:.1f} mm", open_numbers),
        ("(c)", "they start to roll over each other", f"t = {f['t_c']:.3f} s",
         "the grey one starts tilted by 12°: straight, they balance, and roll only by rounding"),
        ("(d)", "the black one approaches the ground fast", f"t = {f['t_d']:.3f} s", ""),
        ("(e)", "the black one touches the ground",
         f"t = {f['t_e']:.3f} s; rigid bodies: {f['rigid_t_e']:.3f} s", "rigid ones do not bounce"),
        ("(f)", "both roll away", f"t = {f['t_f']:.3f} s, as far apart as at the start", ""),
        ("energy", "spring and damper store and dissipate it",
         f"{f['energy_start']:.3f} J to {f['energy_end']:.3f} J, {f['stored_energy_at_end']:.3f} J in the "
         f"springs; never rises by more than {f['energy_rise']:.1e} J", ""),
        ("without damper", "–",
         f"kept to {f['conservation_errors'][-1]:.1e} J, order {f['conservation_orders'][-1]:.1f}",
         "frictionless, so that nothing slips"),
        ("slip", "future work", "the tangential spring is bounded by Coulomb's cone, its anchor slides", ""),
        ("cost of a step", "–",
         f"{f['us_per_step']:.0f} µs; exact contact {f['rigid_us_per_step']:.0f} µs", ""),
    ]  # fmt: skip
    head = ["", "the document says", "we get", "why it differs"]
    return table(head, [[escape(cell) for cell in row] for row in rows], ())


def steps_table(study: list[Outcome], kept: list[Outcome]) -> str:
    """Energy against the step."""
    rows = []
    for h, o, c in zip(STEPS, study, kept, strict=True):
        cells = (f"{1e3 * h:g}", o.metrics["energy_rise"], o.metrics["max_penetration"], energy_error(c))
        rows.append([cells[0], *(f"{value:.2e}" for value in cells[1:])])
    head = [
        "step [ms]",
        "rise of the energy [J]",
        "deepest overlap [m]",
        "no damper, no friction: error of the energy [J]",
    ]
    return table(head, rows, (0, 1, 2, 3))


def _distance_picture(t: Array, delta: Array, figures: dict[str, Any]) -> str:
    def draw(axis: Any) -> None:
        for k in range(3):
            axis.plot(t, delta[:, k], color=COLOURS[k])
        axis.axhline(0.0, color="0.5", linewidth=0.8)
        top = float(delta.max())
        for label in LABELS:
            when = figures[f"t_{label}"]
            if when >= 0.0:
                axis.axvline(when, color="0.5", linewidth=0.8, linestyle=":")
                axis.annotate(f"({label})", (when, top), ha="center", fontsize=8)
        axis.set_xlabel("time [s]")
        axis.set_ylabel("distance [m]")

    keys = [Key(name, COLOURS[k]) for k, name in enumerate(PAIRS)]
    return drawn(
        draw, "signed distances of the closest points, negative where bodies overlap", (7.2, 3.2), keys
    )


def _energy_picture(run: Run) -> str:
    curves = {
        "kinetic": run.kinetic, "potential": run.potential, "in the springs": run.stored,
        "all": run.total_energy,
    }  # fmt: skip

    def draw(axis: Any) -> None:
        for k, values in enumerate(curves.values()):
            axis.plot(run.t[::10], values[::10], color=COLOURS[k])
        axis.set_xlabel("time [s]")
        axis.set_ylabel("energy [J]")

    return drawn(draw, "energies", (7.2, 2.8), [Key(name, COLOURS[k]) for k, name in enumerate(curves)])


def _outline(H: Array, radii: tuple[float, float, float]) -> Array:
    """The contour of an ellipsoid seen along y, points (x, z) in the world, shape (k, 2)."""
    shape = H[:3, :3] @ np.diag(np.square(radii)) @ H[:3, :3].T
    seen = shape[np.ix_([0, 2], [0, 2])]  # the shadow of an ellipsoid is that of its shape matrix
    circle = np.stack([np.cos(OUTLINE), np.sin(OUTLINE)])
    return (np.linalg.cholesky(seen) @ circle).T + H[[0, 2], 3]


def _draw_frames(axis: Any, hulls: tuple[Array, ...], now: tuple[ContactPoints, ...]) -> None:
    """The closest points of all pairs with their normals and one tangent each, seen along y."""
    floor, grey, black = hulls
    for k, (points, (one, two)) in enumerate(
        zip(now, ((floor, grey), (grey, black), (floor, black)), strict=True)
    ):
        a, b = (H[:3, :3] @ p + H[:3, 3] for H, p in ((one, points.p1), (two, points.p2)))
        n = b - a if points.distance > 0.0 else a - b
        n = n / (np.linalg.norm(n) or 1.0)
        tangent = tangent_basis(n)[:, 0]
        axis.plot([a[0], b[0]], [a[2], b[2]], color=COLOURS[k], linewidth=0.8, linestyle=":")
        for at, along in ((a, -n), (b, n)):
            axis.plot(at[0], at[2], "o", color=COLOURS[k], markersize=2.5)
            for d in (along, tangent):
                ends = np.stack([at, at + FRAME * d])
                axis.plot(ends[:, 0], ends[:, 2], color=COLOURS[k], linewidth=1.2)


def _snapshots(run: Run, points: list[tuple[ContactPoints, ...]], figures: dict[str, Any]) -> str:
    every = max(round(SAMPLE / run.dt), 1)
    low, high = run.q[:, [0, 7]].min() - 0.14, run.q[:, [0, 7]].max() + 0.14

    def draw(n: int) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            grey, black = poses(run.model, run.q[n])
            for H, radii, colour in ((grey, GREY, "0.6"), (black, BLACK, "0.2")):
                axis.fill(*_outline(H, radii).T, facecolor=colour, alpha=0.6, edgecolor=colour)
            axis.axhline(0.0, color="0.5", linewidth=1.0)
            _draw_frames(axis, (np.eye(4), grey, black), points[n // every])
            axis.set_xlim(max(low, -0.25), min(high, 0.6))
            axis.set_ylim(-0.05, 0.52)
            axis.set_aspect("equal")
            axis.set_xlabel("x [m]")
            axis.set_ylabel("z [m]")

        return fill

    shown = []
    for label in LABELS:
        when = figures[f"t_{label}"]
        if when >= 0.0:
            n = round(when / run.dt)
            shown.append(drawn(draw(n), f"({label}) t = {when:.3f} s", (4.0, 2.8), []))
    return legend(Key(name, COLOURS[k]) for k, name in enumerate(PAIRS)) + beside(shown)
