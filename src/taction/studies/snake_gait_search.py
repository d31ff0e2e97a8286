"""Gait search: speed and cost of transport of lateral undulation by amplitude, phase and frequency.

What it solves: which waves move a snake fast, and which move it cheaply, on given friction. Every point of
the grid is one world of a batch (`Simulation.rollout`), on all cores; the waves are its commands.

Method, for each wave
1. start straight, at rest; the wave grows during the first second;
2. speed: way of the centre of gravity head first over the last whole periods that fit into the second half of
   the run, or over that half if none does [m/s];
3. work over the same time, step by step as the energy ledger books it: the gains act at the end of a step,
   the work is done at the mean velocity,

       W = Σ h ½ (v + v⁺) · (k_p (ρ − q − h v⁺) + k_d (σ − v⁺)),                                         (1)

   with ρ, σ the reference at the start of the step;
4. cost of transport W / (m g d) with the way d over that time, positive or not; infinite without a way.

>>> from taction.studies.snake_gait_search import search_gaits
>>> scores = search_gaits(amplitudes=[0.3, 0.6], phases=[-0.9], frequencies=[2.0], links=3, duration=2.0)
>>> [round(s.amplitude, 1) for s in scores], scores[1].speed > scores[0].speed > 0.0
([0.3, 0.6], True)

Cost: that of one run per point, over the number of cores.

References: [Transeth2006, Section V-B] for the wave; the ledger is `taction.steppers.ledger`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.control.tracking import Tracking
from taction.control.waves import lateral_undulation
from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.model.shapes import Plane
from taction.robots.snake import snake
from taction.scenarios.snake_motion import GRAVITY, snake_control
from taction.sim.rollout import Rollout
from taction.sim.simulation import Simulation
from taction.sim.world import World

RAMP = 1.0  # time in which the waves grow [s]
MOST_BYTES = 2 << 30  # of commands and states of one batch


class GaitScore(NamedTuple):
    """What one wave is worth; a list of them is a table."""

    amplitude: float  # A_h [rad]
    phase: float  # δ_h [rad]
    frequency: float  # ω_h [rad/s]
    speed: float  # head first [m/s]; NaN if the world failed
    cost_of_transport: float  # work / (weight · way)
    work: float  # over the time that was measured [J]
    residual: float  # worst of the contact laws, relative
    status: str  # "done", or why the world stopped


def search_gaits(
    *,
    amplitudes: Sequence[float],
    phases: Sequence[float],
    frequencies: Sequence[float],
    links: int = 11,
    friction: tuple[float, float] = (0.01, 0.05),
    duration: float = 10.0,
    dt: float = 2e-3,
    threads: int | None = None,
) -> list[GaitScore]:
    """Score every combination of amplitude, phase and frequency.

    Args:
        amplitudes: A_h [rad].
        phases: δ_h, from joint to joint [rad]; negative waves run to the tail.
        frequencies: ω_h [rad/s].
        links: of the snake.
        friction: coefficients along and across the links.
        duration: of each run [s].
        dt: time step [s].
        threads: by default one per core.

    Returns:
        One row per combination, amplitudes outermost, frequencies innermost.

    Raises:
        BadInput: an empty or too large grid, an angle that no joint reaches, impossible numbers.
    """
    grid = list(itertools.product(amplitudes, phases, frequencies))
    if not grid:
        raise BadInput("gait search: no combination of amplitudes, phases and frequencies")
    if not (math.isfinite(duration) and duration > dt):
        raise BadInput(f"gait search: duration must be longer than a step of {dt:g} s, got {duration:g}")
    world = World(snake(links=links, friction=friction), ground=Plane(friction=1.0))
    simulation, model = Simulation(world, dt=dt, stepper="stewart-trinkle"), world.model
    steps = round(duration / dt)
    if len(grid) * steps * 8 * (model.nq + 3 * model.nv) > MOST_BYTES:
        raise BadInput(
            f"gait search: {len(grid)} waves of {steps} steps need too much memory; split the grid"
        )
    control = [
        snake_control(model, lateral_undulation(amplitude=a, phase=p, frequency=w, ramp=RAMP))
        for a, p, w in grid
    ]
    times = dt * np.arange(steps, dtype=np.float64)
    commands = np.array([c.schedule(times) for c in control])
    start = np.tile(np.concatenate([model.q0, np.zeros(model.nv)]), (len(grid), 1))
    batch = simulation.rollout(start, commands, controller=control[0], threads=threads)
    return [_score(model, control[i], grid[i], commands[i], batch, i) for i in range(len(grid))]


def drive_work(control: Tracking, model: Model, commands: Array, q: Array, v: Array, dt: float) -> Array:
    """Work of a tracking controller in each step by (1) [J], shape (n,).

    Args:
        control: the controller.
        model: its mechanism.
        commands: targets of each step, positions then rates, shape (n, 2 m).
        q: configurations, shape (n + 1, nq).
        v: velocities, shape (n + 1, nv).
        dt: time step [s].
    """
    law, d = control.gains(model), control.dofs
    end = v[1:, d]
    at = q[:-1][:, law.iq[d]] + dt * end
    torque = control.drive(model, commands)[:, d] - law.K[d] * at - law.D[d] * end
    return np.asarray(dt * (0.5 * (v[:-1, d] + end) * torque).sum(axis=1))


def _score(
    model: Model,
    control: Tracking,
    wave: tuple[float, float, float],
    commands: Array,
    batch: Rollout,
    i: int,
) -> GaitScore:
    """Speed, work and cost over the last whole periods of the second half of a run."""
    q, v, dt = batch.q[i], batch.v[i], batch.dt
    residual, status = float(batch.residual[i]), batch.status[i]
    if not batch.is_done[i]:
        return GaitScore(*wave, math.nan, math.nan, math.nan, residual, status)
    steps = len(v) - 1
    period = 2.0 * math.pi / abs(wave[2]) / dt if wave[2] != 0.0 else math.inf
    half = 0.5 * steps
    whole = math.floor(half / period) * period
    first = steps - round(whole if whole > 0.0 else half)
    x = [float(forward_kinematics(model, q[k]).position[:, 0].mean()) for k in (first, steps)]
    way, time = x[0] - x[1], (steps - first) * dt
    work = float(drive_work(control, model, commands, q, v, dt)[first:].sum())
    weight = float(model.total_mass) * GRAVITY
    cost = work / (weight * abs(way)) if way != 0.0 else math.inf
    return GaitScore(*wave, way / time, cost, work, residual, status)
