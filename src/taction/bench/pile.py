"""Piles: spheres poured into a bin and boxes that fall on each other, against MuJoCo.

Both engines read one MJCF text (`taction.bench.step_models`), use the same time step and one thread, and go
through the whole motion once, each its own from the same start: unlike `taction.bench.step` this measures a
mean over impact, settling and rest, where contacts and costs change all the time.

Judged besides the time: the residual of every step of ours by the certificate, and of some of the peer's by
the same measure (`taction.bench.mujoco_peer`); the deepest overlap; the largest rise of the mechanical energy
from one step to the next, less what the correction of positions lifts, in units of what there was to lose;
bodies whose centres end outside the bin or below the floor.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step import Stepper
from taction.bench.step_models import BIN, bin_mjcf, pile_mjcf
from taction.bench.timing import machine
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.sim.examples import flow_through_a_pile, take_step_of_many
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers.columns import (
    CONTACTS,
    CORRECTION,
    ITERATIONS,
    KINETIC,
    PENETRATION,
    POTENTIAL,
    RESIDUAL,
    UNCONVERGED,
)

TOLERANCE = 1e-8
COMPILED = 100  # steps of a small pile after which all kernels are there
SAMPLES = 20  # steps of the peer that are judged


@dataclass(frozen=True)
class Case:
    """What is measured.

    Attributes:
        name: of the row.
        mjcf: what both engines read.
        steps: of the whole motion.
        half: half the width of the bin [m], or infinity.
        limit: of the mean time of a step [ms], or of the ratio.
        contact: our law.
    """

    name: str
    mjcf: str
    steps: int
    half: float = float("inf")
    limit: str = ""
    contact: str = "exact"


def pile_cases() -> tuple[Case, ...]:
    """The cases of the bench."""
    return (
        Case("200 spheres, poured", bin_mjcf(200), 600, BIN, "20 ms"),
        Case("20 boxes, falling", pile_mjcf(), 500, limit="1.5"),
        Case("1000 spheres, poured", bin_mjcf(1000), 60, BIN),
        Case("200 spheres, poured, convex law", bin_mjcf(200), 600, BIN, contact="convex"),
    )


def bench_pile(*, tol: float = TOLERANCE, cases: Sequence[Case] | None = None) -> dict[str, Any]:
    """Mean time of a step, ours and MuJoCo's, over whole motions; rows as in the documentation.

    Args:
        tol: tolerance of our contact solver on the relative natural-map residual.
        cases: those of `pile_cases` by default.
    """
    take_step_of_many()
    flow_through_a_pile()
    for mjcf in (bin_mjcf(20), pile_mjcf()):
        Stepper(Simulation(World(compile_model(parse_mjcf(mjcf))), tol=tol), None).advance(COMPILED)
    rows = [compare(case, tol) for case in (pile_cases() if cases is None else cases)]
    return {"bench": "pile", "machine": machine(), "tol": tol, "rows": rows}


def compare(case: Case, tol: float) -> dict[str, Any]:
    """The row of a case."""
    peer = None if mujoco_name() is None else MujocoPeer(case.mjcf)
    world = World(compile_model(parse_mjcf(case.mjcf)))
    ours = Stepper(Simulation(world, tol=tol, contact=case.contact), None)
    ours.advance(1)
    ours.restore()
    times = np.empty(case.steps)
    records = []
    for n in range(case.steps):
        begin = time.perf_counter()
        ours.advance(1)
        times[n] = time.perf_counter() - begin
        records.append(ours.record.step[0].copy())
    step = np.array(records)
    row: dict[str, Any] = {
        "case": case.name,
        "ours": 1e3 * float(times.mean()),
        "peer": None,
        "peer_name": mujoco_name(),
        "unit": "ms",
        "ratio": None,
        "limit": case.limit,
        "residual": float(step[:, RESIDUAL].max()),
        "peer_residual": None,
        "unconverged": int((step[:, UNCONVERGED] > 0).sum()),
        "penetration": float(step[:, PENETRATION].max()),
        "energy_rise": energy_rise(step),
        "escaped": escaped(ours.state.q, case.half),
        "contacts": float(step[:, CONTACTS].mean()),
        "iterations": float(step[:, ITERATIONS].mean()),
        "median": 1e3 * float(np.median(times)),
        "worst": 1e3 * float(times.max()),
        "nv": ours.sim.model.nv,
        "steps": case.steps,
        "dt": ours.sim.dt,
    }
    if peer is not None:
        begin = time.perf_counter()
        peer.advance(case.steps)
        row["peer"] = 1e3 * (time.perf_counter() - begin) / case.steps
        row["ratio"] = row["ours"] / row["peer"]
        row["peer_escaped"] = escaped(np.array(peer.data.qpos), case.half)
        peer.restore()
        row |= peer.judge(case.steps, SAMPLES)
    return row


def energy_rise(step: Array) -> float:
    """Largest gain of energy in a step, records (n, COLUMNS), relative to all that was lost in the end."""
    energy = step[:, KINETIC] + step[:, POTENTIAL]
    gain = np.diff(energy) - step[:-1, CORRECTION]
    lost = float(energy[0] - energy[-1]) or 1.0
    return float(gain.max(initial=0.0)) / abs(lost)


def escaped(q: Array, half: float) -> int:
    """Free bodies, seven coordinates each, whose centres lie outside the bin or below the floor."""
    at = q.reshape(-1, 7)
    return int(((np.abs(at[:, :2]).max(axis=1) > half) | (at[:, 2] < 0.0)).sum())
