"""Pieces of a live motion as pages get them: frames, and points of the curves beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array
from taction.drawing.encode import encode_frames
from taction.drawing.motion import frames_of_run
from taction.drawing.panels import FLOOR, Curve, Panel, certificate_panel, normal_forces, thin
from taction.sim.run import Run
from taction.steppers.columns import MOTION, RESIDUAL

FRAMES = 60.0  # per second of simulated time


def live_panels(run: Run) -> list[Panel]:
    """Curves of a live motion: residual, energies, sum of normal forces."""
    certificate, points = certificate_panel(run), iter(live_points(run))
    panels = [] if certificate is None else [certificate]
    for panel in panels:
        panel.curves[:] = [Curve(curve.name, *next(points)) for curve in panel.curves]
    names = ("kinetic", "potential", "total")
    energy = [Curve(name, *next(points), is_total=name == "total") for name in names]
    panels.append(Panel("Energies", "energy [J]", energy))
    if run.contacts is not None:
        panels.append(Panel("Normal forces", "force [N]", [Curve("sum", *next(points))]))
    return panels


def live_points(run: Run) -> list[tuple[Array, Array]]:
    """More points of those curves, in their order."""
    points: list[tuple[Array, Array]] = []
    if run.records is not None:
        for column in (RESIDUAL, MOTION):
            points.append(thin(run.t[:-1], np.maximum(run.records[:, column], FLOOR), 2))
    elif run.residuals is not None:
        points.append(thin(run.t, np.maximum(run.residuals, FLOOR), 2))
    for energy in (run.kinetic, run.potential, run.total_energy):
        points.append(thin(run.t[1:], energy[1:], 2))
    if run.contacts is not None:
        forces = normal_forces(run)
        total = np.sum(list(forces.values()), axis=0) if forces else np.zeros(run.steps)
        points.append(thin(run.t[:-1], np.asarray(total), 2))
    return points


def encode_piece(runs: Sequence[Run], which: int) -> bytes:
    """A piece that was simulated in parts: its last state and some before it, and points of all parts."""
    run = runs[-1]
    stride = max(1, round(1.0 / (FRAMES * run.dt)))
    rows = np.arange(run.steps, 0, -stride)[::-1]
    points = [
        (np.concatenate([t for t, _ in curve]), np.concatenate([y for _, y in curve]))
        for curve in zip(*map(live_points, runs), strict=True)
    ]
    return encode_frames(frames_of_run(run, rows), points, which=which)
