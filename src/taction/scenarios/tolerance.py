"""How large an error a method of order p may make: the yardstick of every scenario's check.

What it solves: a bound on the relative error of a run of length T with steps h, given the fastest rate ω of
the motion.

Notation: p order, n = T/h steps, ε rounding unit, S a safety factor for constants that Taylor's theorem
leaves open.

Method
1. The remainder of Taylor's theorem over one step is (ωh)^(p+1) / (p+1)! of the size of the solution. Errors
   of n steps add up, so a fixed-step method stays within

       S n (ωh)^(p+1) / (p+1)!  =  S ωT (ωh)^p / (p+1)!.

2. A method with error control keeps each inner step within its tolerance r, and takes inner steps no longer
   than (ωs)^(p+1) = (p+1)! r asks for: at most max(n, ωT ((p+1)! r)^(−1/(p+1))) of them, each within r and
   within the bound of 1.
3. Rounding adds S ε n, and a bound above 1 says nothing: the size of the solution itself is the limit.
4. Through contact, solvers stop at a natural map of r = 10⁻⁹ of the velocities that contacts would reach
   without impulses, h a in size where a is the largest free acceleration. So contact velocities are wrong by
   up to

       S r h a        in one step:     the speed at which a contact that sticks may creep,
       S r a T        after a run:     where nothing resets them, as in sliding,

   whatever the scheme: under constant loads all of them have the exact velocities.

Departures: errors of a chaotic motion grow exponentially, those of its energy and momentum do not. Checks of
chaotic motions therefore use conserved quantities only.

References: [HairerNorsettWanner1993, Sections II.3 and II.4].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.energy import totals
from taction.sim.run import Run
from taction.sim.simulation import TOLERANCE
from taction.steppers import INTEGRATORS
from taction.steppers.base import Integrator

SAFETY = 10.0
ROUNDING = float(np.finfo(float).eps)


def method_of(run: Run) -> type[Integrator]:
    """The integrator class that made a run."""
    return next(m for m in INTEGRATORS.values() if m.__name__ == run.integrator)


def error_bound(run: Run, rate: float, *, order: int | None = None) -> float:
    """Largest relative error that the method and step of a run allow.

    Args:
        run: the run to judge.
        rate: fastest rate of the motion ω [1/s].
        order: of the quantity, where it is lower than the method's own.
    """
    method, steps = method_of(run), run.steps
    p = method.order if order is None else min(order, method.order)
    phase = rate * run.dt
    local = phase ** (p + 1) / math.factorial(p + 1)
    tolerance = getattr(method, "rtol", None)
    if tolerance is not None and order is None:
        inner = rate * run.dt * steps * (math.factorial(p + 1) * tolerance) ** (-1.0 / (p + 1))
        steps, local = max(steps, math.ceil(inner)), min(local, tolerance)
    return min(1.0, SAFETY * steps * (local + ROUNDING))


def energy_error(run: Run) -> float:
    """Energy that the ledger leaves open, relative to the largest energy of the run or the neutral pose."""
    neutral = abs(totals(run.model, run.model.q0).potential)
    size = max(float(np.abs(run.kinetic).max()), float(np.abs(run.potential).max()), neutral)
    return abs(run.energy.remainder) / max(size, 1e-300)


def fastest_rate(velocity: Array, dt: float) -> float:
    """Fastest rate of angular coordinates [1/s]: the largest of |ω| and √|ω̇|; velocity (n + 1, k) [rad/s]."""
    change = np.abs(np.diff(velocity, axis=0)).max(initial=0.0) / dt
    return max(float(np.abs(velocity).max(initial=0.0)), math.sqrt(change))


def creep_speed(run: Run, acceleration: float) -> float:
    """Largest speed of a contact that sticks [m/s], given the largest free acceleration [m/s²] (4 above)."""
    return SAFETY * TOLERANCE * run.dt * acceleration
