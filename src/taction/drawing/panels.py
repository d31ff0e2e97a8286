"""The curves of a run: which quantities are drawn over time, in which panel, with which unit.

A `Panel` is data, no picture: `taction.report.overview` draws panels into one figure,
`taction.report.run_report` into a page. Long records are thinned so that no peak is lost: of every stretch of
steps the smallest and the largest value stay.

Curves through contact come from the records of the steps. The remainder is E − E₀ − works up to each time;
it ends at the remainder of the ledger. The friction in use is the largest of `taction.drawing.friction_use`
among the contacts that press. Contacts of one body may pull against each other without moving it, and which
of these impulses a solver finds is not determined (`taction.drawing.open_forces`); so the same is shown for
pairs of bodies: the size of the sum of their friction forces over the sum of what each contact could give in
its direction. That is 1 where a body slides, and what the load asks for where it rests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.drawing.friction_use import friction_use
from taction.drawing.number_text import short
from taction.drawing.open_forces import describe_steps, open_steps
from taction.scenarios.base import MOTION_LIMIT, RESIDUAL_LIMIT
from taction.sim.columns import RECORD_COLUMNS, position_columns, velocity_columns
from taction.sim.run import Run
from taction.steppers.schemes.base import SLOP

# Stretches into which a long curve is cut; each leaves two points.
STRETCHES = 500
# Curves of one panel; of more those that span most are drawn.
MOST_CURVES = 48
# What a logarithmic axis shows of a residual of zero.
FLOOR = 1e-18
# An axis is cut where a few peaks would leave the rest flat: so many times above all but one in a hundred.
PEAK = 8.0
WORK_NAMES = {
    "actuation": "actuators",
    "joint_friction": "joint friction",
    "friction": "contact friction",
    "impact": "impacts",
    "pressing": "pressing",
    "joints": "loops and joints",
    "correction": "position correction",
}
QUANTITIES = {
    "m": "position [m]",
    "rad": "angle [rad]",
    "1": "quaternion",
    "m/s": "velocity [m/s]",
    "rad/s": "angular velocity [rad/s]",
}
_RECORD = {column.name: c for c, column in enumerate(RECORD_COLUMNS)}


@dataclass(frozen=True, eq=False)
class Curve:
    """A line over time: its name, times [s] and values, both of shape (k,)."""

    name: str
    t: Array
    y: Array
    is_dashed: bool = False
    is_total: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over a shared axis.

    Attributes:
        title: what is shown.
        label: quantity and unit of the vertical axis.
        curves: what is drawn.
        is_log: whether the axis is logarithmic.
        limit: a line not to be crossed, and what it is called.
        is_count: whether the values are whole numbers from zero on.
        top: where the axis is cut, None if nowhere.
        note: one sentence for the reader.
        across: quantity and unit of the horizontal axis.
        is_log_across: whether that one is logarithmic.
    """

    title: str
    label: str
    curves: list[Curve] = field(default_factory=list)
    is_log: bool = False
    is_count: bool = False
    limit: tuple[float, str] | None = None
    top: float | None = None
    note: str = ""
    across: str = "time [s]"
    is_log_across: bool = False


def motion_panels(run: Run) -> list[Panel]:
    """Coordinates and velocities, by what they measure."""
    model = run.model
    out = []
    for array, columns in ((run.q, position_columns(model)), (run.v, velocity_columns(model))):
        for unit in dict.fromkeys(column.unit for column in columns):
            label = QUANTITIES[unit]
            mine = [c for c, column in enumerate(columns) if column.unit == unit]
            kept, note = most_moving(array[:, mine])
            curves = [Curve(columns[mine[k]].name, *thin(run.t, array[:, mine[k]])) for k in kept]
            out.append(Panel(label.split(" [")[0].capitalize(), label, curves, note=note))
    return out


def energy_panels(run: Run) -> list[Panel]:
    """Energies and works, and what the time steps added or lost."""
    total = run.total_energy
    works = cumulative_works(run)
    curves = [
        Curve("kinetic", *thin(run.t, run.kinetic)),
        Curve("potential", *thin(run.t, run.potential)),
        *([Curve("in springs of contact", *thin(run.t, run.stored))] if run.stored.any() else []),
        Curve("total", *thin(run.t, total), is_total=True),
    ]
    curves += [
        Curve(f"work of {WORK_NAMES[name]}", *thin(run.t, work), is_dashed=True)
        for name, work in works.items()
        if work.any()
    ]
    rest = total - total[0] - sum(works.values(), np.zeros_like(total))
    return [
        Panel("Energies and works", "energy [J]", curves),
        Panel(
            "Remainder",
            "remainder [J]",
            [Curve("total − initial − works", *thin(run.t, rest))],
            note="What the time steps added or lost.",
        ),
    ]


def cumulative_works(run: Run) -> dict[str, Array]:
    """Work done up to each time, by the names of the ledger [J], shape (n + 1,) each."""
    if run.records is not None:
        return {
            name: np.concatenate([[0.0], np.cumsum(run.records[:, _RECORD[name]])]) for name in WORK_NAMES
        }

    def work(force: Array) -> Array:
        power = (force * run.v).sum(axis=1)
        return np.concatenate([[0.0], np.cumsum(0.5 * run.dt * (power[1:] + power[:-1]))])

    return {"actuation": work(run.tau), "joint_friction": work(-run.model.damping * run.v)}


def certificate_panel(run: Run) -> Panel | None:
    """Residual of every step on a logarithmic axis with its limit; None where none was recorded."""
    curves = []
    if run.records is not None and run.steps:
        t = run.t[:-1]
        curves = [
            Curve(name, *thin(t, np.maximum(run.records[:, _RECORD[key]], FLOOR)))
            for name, key in (("contact laws", "residual"), ("equation of motion", "motion"))
        ]
        limit = RESIDUAL_LIMIT
    elif run.residuals is not None:
        curves = [Curve("equation of motion", *thin(run.t, np.maximum(run.residuals, FLOOR)))]
        limit = MOTION_LIMIT
    if not curves:
        return None
    zeros = any((curve.y <= FLOOR).any() for curve in curves)
    return Panel(
        "Residual of every step",
        "residual",
        curves,
        is_log=True,
        limit=(limit, f"limit {limit:g}"),
        note=f"Zero is drawn at {FLOOR:g}." if zeros else "",
    )


def error_panel(run: Run) -> Panel | None:
    """Estimated error of every step on a logarithmic axis; None in smooth motion, and where there is none."""
    if run.records is None or not run.steps:
        return None
    errors, t = run.errors, run.t[:-1]
    if not errors.position.any():
        return None
    curves = [
        Curve("places [m]", *thin(t, np.maximum(errors.position, FLOOR))),
        Curve("velocities [m/s]", *thin(t, np.maximum(errors.velocity, FLOOR))),
    ]
    note = "Where something strikes it is a bound." if errors.is_event.any() else ""
    return Panel("Estimated error of every step", "error [m], [m/s]", curves, is_log=True, note=note)


def contact_panels(run: Run) -> list[Panel]:
    """Normal forces, number of contacts, saturation of friction, overlap; nothing in smooth motion."""
    if run.records is None or run.contacts is None or not run.steps:
        return []
    t = run.t[:-1]
    forces = normal_forces(run)
    values = np.stack(list(forces.values()), axis=1) if forces else np.zeros((run.steps, 0))
    kept, words = most_moving(values)
    top, note = cut_peaks(list(values.T))
    is_open = open_forces(run)
    out = [
        Panel(
            "Normal force on each body",
            "force [N]",
            [Curve(name, *thin(t, forces[name])) for name in np.array(list(forces))[kept].tolist()],
            top=top,
            note=" ".join(sentence for sentence in (note, words, is_open) if sentence),
        ),
        Panel(
            "Contacts",
            "number",
            [Curve("contacts", *thin(t, run.records[:, _RECORD["contacts"]]))],
            is_count=True,
        ),
    ]
    used = saturation(run)
    if np.isfinite(used.contact).any():
        curves = [
            Curve("contact that uses most", *thin(t, used.contact)),
            Curve("pair of bodies that does", *thin(t, used.pair)),
        ]
        limit = 1.0, "all of it"
        out.append(Panel("Friction in use", "share of the cone", curves, limit=limit, note=is_open))
    overlap = run.records[:, _RECORD["penetration"]]
    if overlap.max() > SLOP:
        out.append(Panel("Overlap", "depth [m]", [Curve("deepest contact", *thin(t, overlap))]))
    return out


def open_forces(run: Run) -> str:
    """A sentence about steps in which single contact forces are not determined; empty if there are none."""
    return describe_steps(open_steps(run), run)


def normal_forces(run: Run) -> dict[str, Array]:
    """Sum of the normal forces on each body that is ever touched, the world left out [N], shape (n,) each."""
    table, world = run.contacts, run.world
    if table is None or world is None:
        return {}
    out: dict[str, Array] = {}
    for side in (0, 1):
        for shape in np.unique(table.key[:, side]):
            if world.shape_body[shape] < 0:
                continue
            rows = table.key[:, side] == shape
            force = out.setdefault(world.body_name(int(shape)), np.zeros(run.steps))
            np.add.at(force, table.step[rows], table.impulse[rows, 0] / run.dt)
    order = {name: k for k, name in enumerate(run.model.body_names)}
    return {name: out[name] for name in sorted(out, key=order.__getitem__)}


class Saturation(NamedTuple):
    """Share of the friction cone in use in each step, NaN where nothing presses, shape (n,) each."""

    contact: Array  # by the contact that uses most of its own
    pair: Array  # by the pair of bodies that does, its contacts taken together


def saturation(run: Run) -> Saturation:
    """How much of what friction can do is in use in each step of a run."""
    out = Saturation(np.full(run.steps, np.nan), np.full(run.steps, np.nan))
    table, world = run.contacts, run.world
    keep, along, _, share = friction_use(run)
    if table is None or world is None or not len(keep):
        return out
    step, (normal, t1, t2) = table.step[keep], table.impulse[keep].T
    np.fmax.at(out.contact, step, share)
    size = np.hypot(t1, t2)
    room = np.where(
        size > 0, size / np.where(share > 0, share, 1.0), along * normal
    )  # friction possible that way
    frame = table.frame.reshape(-1, 3, 3)[keep]
    force = frame[:, :, 1] * t1[:, None] + frame[:, :, 2] * t2[:, None]
    a, b = world.shape_body[table.key[keep, :2]].T + 1  # the world is 0
    # one number for a pair of bodies in a step, and the contacts of each together
    together, group = np.unique((a * (b.max() + 1) + b) * run.steps + step, return_inverse=True)
    net = np.stack([np.bincount(group, force[:, k]) for k in range(3)], axis=1)
    most = np.bincount(group, room)
    acts = most > 0
    np.fmax.at(out.pair, together[acts] % run.steps, np.linalg.norm(net[acts], axis=1) / most[acts])
    return out


def thin(t: Array, y: Array, stretches: int = STRETCHES) -> tuple[Array, Array]:
    """Times and values with at most two points per stretch: its smallest and its largest value."""
    n = len(y)
    if n <= 2 * stretches:
        return t, y
    edges = np.linspace(0, n, stretches + 1).astype(int)
    inside = edges[:-1, None] + np.arange(np.diff(edges).max())
    is_mine = inside < edges[1:, None]
    inside = np.minimum(inside, n - 1)
    part = y[inside]
    is_mine &= np.isfinite(part)
    low = np.where(is_mine, part, np.inf).argmin(axis=1)
    high = np.where(is_mine, part, -np.inf).argmax(axis=1)
    at = np.arange(stretches)
    # of a stretch without numbers the first point stays: a gap stays a gap
    k = np.unique(np.concatenate([[0, n - 1], inside[at, low], inside[at, high]]))
    return t[k], y[k]


def most_moving(values: Array) -> tuple[IntArray, str]:
    """Which columns (k,) of values (n, c) are drawn, in order, and the sentence that says so if not all."""
    spans = np.ptp(values, axis=0)
    if len(spans) <= MOST_CURVES:
        return np.arange(len(spans)), ""
    kept = np.sort(np.argsort(-spans, kind="stable")[:MOST_CURVES])
    return kept, f"Of {len(spans)} curves the {MOST_CURVES} that span most are drawn."


def cut_peaks(values: Sequence[Array]) -> tuple[float | None, str]:
    """Where to cut an axis so that a few peaks do not flatten the rest, and the sentence that says so."""
    positive = [value[value > 0] for value in values]
    every = np.concatenate(positive) if positive else np.zeros(0)
    if not len(every):
        return None, ""
    usual, largest = float(np.quantile(every, 0.99)), float(every.max())
    if largest <= PEAK * usual:
        return None, ""
    return 1.5 * usual, f"Impacts leave the axis: the largest mean force over a step is {short(largest)} N."
