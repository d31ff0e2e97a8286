"""The snake document's experiments on one page: figures 5, 6 and 7 and replays of our runs, what differs.

Two simulations of each experiment, with the document's parameters (Section VII): ours, in absolute
coordinates with Moreau's scheme, exact friction and gains that act at the end of a step; and the document's
own method, `taction.reference.transeth_snake`, which shares no code with it. The document prints pictures,
not numbers: what it says is what its text claims.

References: [Transeth2006].
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.control.waves import lateral_undulation
from taction.drawing.description import Drawing
from taction.drawing.draw import draw_poses
from taction.drawing.number_text import number
from taction.kinematics.absolute import rotations
from taction.model.model import Model
from taction.reference.transeth_data import SnakeRun
from taction.reference.transeth_snake import TransethSnake
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
from taction.report.replay import replay_part, runs_part, script_part, small_drawing
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.snake_motion import Places, link_places
from taction.sim.interrupt import whole_runs
from taction.steppers.columns import ITERATIONS

ISOTROPIC = 0.05  # coefficient in all directions
PER_SECOND = 60.0  # frames of the document's method in replays
OURS, DOCUMENT = "ours, absolute coordinates", "the document's method"


class LinkPaths(NamedTuple):
    """Where the links went, from whichever method."""

    places: Places
    speed: Array  # (k,) vertical velocity of link 1 [m/s]


@whole_runs()
def write_snake_page(
    folder: str | Path,
    *,
    drop_time: float = 2.0,
    gait_time: float = 10.0,
    dt: float = 1e-3,
    progress: Callable[[str], Any] | None = None,
) -> tuple[Path, dict[str, Any]]:
    """Run the document's experiments, write ``snake.html`` to a folder; returns its path and the figures.

    Args:
        folder: made if need be.
        drop_time: simulated time of the drop [s].
        gait_time: simulated time of the lateral undulation, after the drop [s].
        dt: time step [s].
        progress: called with what is being run.

    Raises:
        BadInput: matplotlib is not installed, or the page cannot be written.
    """
    need_matplotlib()
    say = progress or (lambda text: None)
    say("drop")
    drop = _ours("snake-drop", drop_time, dt)
    say("lateral undulation")
    gait = _ours("snake-undulation", gait_time, dt, after_drop=True, compare=False, ramp=0.0)
    say("lateral undulation with isotropic friction")
    equal = _ours(
        "snake-undulation", gait_time, dt, after_drop=True, compare=False, ramp=0.0, mu_long=ISOTROPIC
    )
    say("the document's method")
    robot = TransethSnake()
    their_drop = robot.run(drop_time, dt)
    their_gait = robot.run(gait_time, dt, lateral_undulation(), state=robot.last_state(their_drop))
    figures = measure(drop, gait, equal, their_drop, their_gait, robot)
    length = float(np.mean(robot.parameters.length))
    here, there = _paths(drop), _their_paths(their_drop)
    walk, their_walk = _paths(gait), _their_paths(their_gait)
    body = [
        section("What the document says and what comes out", comparison(figures)),
        section(
            "Figure 5: the robot during drop and impact",
            _replay(drop, their_drop) + _drop_pictures(here, there, length),
        ),
        section("Figure 6: height and vertical velocity of link 1", _impact_pictures(here, there)),
        section(
            "Figure 7: centre of gravity during lateral undulation",
            _replay(gait, their_gait) + _gait_pictures(walk, their_walk),
        ),
        section("Lateral undulation with isotropic friction", _friction_replay(gait, equal)),
        script_part(),
    ]
    failed = [text for outcome in (drop, gait, equal) for text in outcome.violations]
    page = make_page("Snake robot: the document's experiments", body, failed)
    figures["violations"] = failed
    return write_page(Path(folder) / "snake.html", page), figures


def _ours(name: str, duration: float, dt: float, **parameters: Any) -> Outcome:
    return get_scenario(name).run(
        duration=duration, dt=dt, stepper="moreau", coordinates="absolute", parameters=parameters
    )


def _paths(outcome: Outcome) -> LinkPaths:
    run = outcome.run
    assert run is not None, outcome.violations
    return LinkPaths(link_places(run, most=None), run.v[:, 2])


def _their_paths(run: SnakeRun) -> LinkPaths:
    places = Places(run.t, run.q[:, :, :3], rotations(run.q[:, :, 3:])[..., 2])
    return LinkPaths(places, run.u[:, 0, 2])


def measure(
    drop: Outcome,
    gait: Outcome,
    equal: Outcome,
    their_drop: SnakeRun,
    their_gait: SnakeRun,
    robot: TransethSnake,
) -> dict[str, Any]:
    """The figures behind the comparison, ours and the document's method's."""
    assert drop.run is not None and gait.run is not None and equal.run is not None
    assert drop.run.world is not None and drop.run.records is not None
    jumps, their_jumps = np.diff(drop.run.v[:, 2]), np.diff(their_drop.u[:, 0, 2])
    way = robot.centre(their_gait.q[-1]) - robot.centre(their_gait.q[0])
    c = drop.run.certificate
    energy = drop.run.kinetic + drop.run.potential
    return {
        "freedoms": drop.run.model.nv,
        "contact_points": len([n for n in drop.run.world.shape_names if n.startswith("link")]),
        "largest_jump": float(jumps.max()),
        "document_largest_jump": float(their_jumps.max()),
        "settle_time": drop.metrics["settle_time"],
        "document_settle_time": _settled(their_drop),
        "energy_rise": float((energy - np.minimum.accumulate(energy)).max()),
        "document_energy_rise": float(np.diff(their_drop.energy).max()),
        "joint_gap": c.joint_gap,
        "document_joint_gap": float(their_drop.joint_gap.max()),
        "residual": max(o.run.certificate.residual or 0.0 for o in (drop, gait, equal) if o.run is not None),
        "iterations": float(np.mean(drop.run.records[:, ITERATIONS])),
        "document_iterations": float(their_drop.iterations.mean()),
        "distance": gait.metrics["distance"],
        "document_distance": float(-way[0]),
        "isotropic_distance": equal.metrics["distance"],
        "heading_drift": gait.metrics["heading_drift"],
        "lateral_drift": gait.metrics["lateral_drift"],
        "penetration": c.penetration,
    }


def _settled(run: SnakeRun) -> float:
    moving = np.flatnonzero(run.kinetic > 1e-9 * run.kinetic.max())
    return float(run.t[moving[-1]]) if len(moving) else 0.0


def comparison(f: dict[str, Any]) -> str:
    """The table: what the document says, ours, its method here, why they differ."""
    rows = [
        (
            "freedoms and contact points", "26 and 22", f"{f['freedoms']} and {f['contact_points']}",
            "the same", "",
        ),
        (
            "impacts", "velocity jumps at the impacts with the ground",
            f"u_z1 jumps by up to {f['largest_jump']:.2f} m/s",
            f"by up to {f['document_largest_jump']:.2f} m/s", "instants fall on different steps",
        ),
        (
            "rest after the drop", "lies, then moves on", f"after {f['settle_time']:.2f} s",
            f"after {f['document_settle_time']:.2f} s",
            "depth is repaired here and stays there, so that links land at other times",
        ),
        (
            "energy, joints limp", "–", f"rises by at most {f['energy_rise']:.2g} J",
            f"by {f['document_energy_rise']:.2g} J in a step",
            "here energies are those of the corrected positions",
        ),
        (
            "joints", "projected after each step, link 1 kept", f"gap {f['joint_gap']:.1e} m",
            f"gap {f['document_joint_gap']:.1e} m", "here bodies move along their joints",
        ),
        (
            "contact laws", "Modified Newton, r_N = 2, r_T = 0.5",
            f"residual {f['residual']:.1e}, {f['iterations']:.1f} Newton steps per step",
            f"{f['document_iterations']:.1f} iterations per step", "no ε is printed; 1e-6 N s is used",
        ),
        (
            "lateral undulation, μ = 0.01 along, 0.05 across", "moves forward",
            f"{number(f['distance'], '.2f')} m towards link 1", f"{number(f['document_distance'], '.2f')} m",
            "friction acts at the contact point here, at the sphere's centre there; gains are implicit here",
        ),
        (
            "the same, isotropic", "would not move forward",
            f"{number(f['isotropic_distance'], '.2f')} m", "", "it creeps back with the wave",
        ),
    ]  # fmt: skip
    head = ["", "the document says", "we get", "its method gives", "why it differs"]
    return table(head, [[escape(cell) for cell in row] for row in rows], ())


def _methods() -> str:
    return legend(Key(name, COLOURS[k]) for k, name in enumerate((OURS, DOCUMENT)))


def _replay(ours: Outcome, theirs: SnakeRun) -> str:
    """Both methods beside each other."""
    assert ours.run is not None
    model = ours.run.model
    return replay_part([(OURS, small_drawing(ours.run, OURS, 2)), (DOCUMENT, their_drawing(model, theirs))])


def their_drawing(model: Model, run: SnakeRun) -> Drawing:
    """A motion of the document's method: frames of its links are those of our model."""
    every = max(round(1.0 / (PER_SECOND * float(run.t[1] - run.t[0]))), 1)
    q = run.q[::every]
    return draw_poses(model, run.t[::every], q[:, :, :3], q[:, :, 3:], title=DOCUMENT)


def _friction_replay(gait: Outcome, equal: Outcome) -> str:
    along, across = gait.parameters["mu_long"], gait.parameters["mu_trans"]
    return runs_part(
        {
            f"μ = {along:g} along, {across:g} across": gait.run,
            f"μ = {ISOTROPIC:g} in all directions": equal.run,
        }
    )


def _drop_pictures(ours: LinkPaths, theirs: LinkPaths, length: float) -> str:
    return beside(
        _drop_picture(paths.places, name, length) for paths, name in ((ours, OURS), (theirs, DOCUMENT))
    )


def _drop_picture(at: Places, name: str, length: float) -> str:
    """The robot from the side at some moments; times stand in the legend, as robots at rest coincide."""
    stop = min(int(np.searchsorted(at.t, 0.75)), len(at.t) - 1)
    shown = dict(zip(np.linspace(0, stop, len(COLOURS)).astype(int).tolist(), COLOURS, strict=True))

    def draw(axis: Any) -> None:
        for k, colour in shown.items():
            ends = at.ends(k, length)
            axis.plot(ends[:, 0], ends[:, 2], color=colour)
        axis.set_xlabel("x [m]")
        axis.set_ylabel("z [m]")
        axis.set_aspect("equal")

    return drawn(draw, name, (4.8, 3.2), [Key(f"{at.t[k]:.2f} s", colour) for k, colour in shown.items()])


def _impact_pictures(ours: LinkPaths, theirs: LinkPaths) -> str:
    def draw(pick: Callable[[LinkPaths], Array], label: str) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for k, paths in enumerate((ours, theirs)):
                shown = paths.places.t <= 1.0
                axis.plot(paths.places.t[shown], pick(paths)[shown], color=COLOURS[k])
            axis.set_xlabel("time [s]")
            axis.set_ylabel(label)

        return fill

    return _methods() + beside(
        [
            drawn(draw(lambda m: m.places.centre[:, 0, 2], "z₁ [m]"), "(a) height of link 1"),
            drawn(draw(lambda m: m.speed, "u_z1 [m/s]"), "(b) its vertical velocity"),
        ]
    )


def _gait_pictures(ours: LinkPaths, theirs: LinkPaths) -> str:
    def draw(c: int, label: str) -> Callable[[Any], None]:
        def fill(axis: Any) -> None:
            for k, paths in enumerate((ours, theirs)):
                g = paths.places.gravity_centre
                axis.plot(paths.places.t[::10], g[::10, c] - g[0, c], color=COLOURS[k])
            axis.set_xlabel("time [s]")
            axis.set_ylabel(label)

        return fill

    return _methods() + beside(
        [
            drawn(draw(0, "x [m]"), "(a) along x"),
            drawn(draw(1, "y [m]"), "(b) along y"),
        ]
    )
