"""Newton's law of restitution as a contact problem.

What it solves: at an impact with relative velocities u⁻ before and u⁺ after, Newton's law of a unilateral
element is
    0 ≤ u⁺_N + e u⁻_N  ⊥  Λ_N ≥ 0        where u⁻_N < 0,
with 0 ≤ e ≤ 1. Since u⁺ = W Λ + b, adding e u⁻_N to the normal entries of b leaves an ordinary contact
problem in ũ = u⁺ + e u⁻_N e_N: every solver, law and certificate applies as it is. Elements that do not
approach, bilateral rows, joint friction and tangential rows are left alone.

Notation: b the velocities after the step without impulses; at a pure impact b = u⁻.

What it leaves out: Newton's law speaks of velocities, element by element. A contact that is pressed by a blow
elsewhere but not approached gives nothing back, and with friction the energy can rise: the coefficient
prescribes the normal velocity whatever friction did to it in the meantime. [KaneLevinson1985] found a double
pendulum that gains energy at e < 1. Where that matters use Poisson's law, `taction.solvers.poisson`; at e = 0
the two are the same.

References: [Moreau1988] for restitution in this form; [GlockerPfeiffer1995] for the comparison with Poisson's
law.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, JointFriction
from taction.contact.problem import ContactProblem


def coefficients(problem: ContactProblem, restitution: ArrayLike) -> Array:
    """Coefficients of restitution per element, from one for all or one for each, checked to lie in [0, 1]."""
    count = len(problem.elements)
    shape: tuple[int, ...] = () if np.ndim(restitution) == 0 else (count,)
    e = np.broadcast_to(as_float(restitution, shape, "restitution"), (count,))
    if ((e < 0.0) | (e > 1.0)).any():
        raise BadInput("restitution: must lie in [0, 1]")
    return np.array(e)


def with_newton_restitution(
    problem: ContactProblem, restitution: ArrayLike, approach: ArrayLike
) -> ContactProblem:
    """The problem whose solution obeys Newton's law of restitution.

    Args:
        problem: without restitution.
        restitution: e, one number or one per element.
        approach: relative velocities before the impact u⁻ [m/s], (n,); only normal rows are used.

    Returns:
        A problem in ũ = u⁺ + e u⁻_N: its impulses are those of the impact, and the velocities after it are
        ``problem.velocity(impulse)`` of the problem *without* restitution.
    """
    e = coefficients(problem, restitution)
    before = as_float(approach, (problem.size,), "approach")
    b = problem.b.copy()
    for k, (row, element) in enumerate(zip(problem.first_row, problem.elements, strict=True)):
        if not isinstance(element, (Bilateral, JointFriction)):
            b[row] += e[k] * min(before[row], 0.0)
    return replace(problem, b=b)
