"""Impacts with Poisson's law of restitution: compression, then expansion.

What it solves: Poisson's coefficient relates impulses, not velocities: of what was stored in the compression
of an impact the share e comes back. Each phase is an ordinary contact problem.

Notation: u⁻ = b the velocities before, Λ_c impulses of the compression, Λ_e of the expansion, Λ = Λ_c + Λ_e.

Method
1. *Compression*: solve the problem with b = u⁻ and no restitution: Λ_c, u_c = W Λ_c + b.
2. *Restitution*: the impulses e Λ_c are given back, normal and tangential alike.
3. *Expansion*: solve the problem with b' = u_c + W e Λ_c for Λ_2, so that the given-back impulses press
   nothing into anything else. Λ_e = e Λ_c + Λ_2, u⁺ = b' + W Λ_2.

The total (1 + e) Λ_c + Λ_2 lies in the friction cone, because the cone is convex.

Energy never rises if e ≤ 1 is the same everywhere and W is symmetric. In compression and expansion an impulse
that obeys the laws at the velocity u that it leads to changes the kinetic energy by uᵀΛ − ½ΛᵀWΛ with uᵀΛ ≤ 0.
Steps 1 and 2 add up to (1 + e) u_cᵀΛ_c + ½(e² − 1) Λ_cᵀWΛ_c ≤ 0, and step 3 takes only more. With different
coefficients at different elements (eΛ)ᵀW(eΛ) ≤ ΛᵀWΛ can fail: the bound is then not guaranteed.

Differences to others: [AnitescuPotra1997] give back the normal impulse only; [GlockerPfeiffer1995] let the
tangential impulse come back within the friction cone of the expansion, with a coefficient of its own. To give
back the whole impulse reverses some sliding (a superball more than a billiard ball), but is the variant with
the energy bound above. To Newton's law (`taction.contact.restitution`): equal without friction as long as e
is the same everywhere and the same contacts act in both phases; different where contacts open in between,
where coefficients differ, and where friction changes from sliding to sticking. Simultaneous impacts are not
sequences: a row of equal balls does not pass on its momentum to the last one under either law.

Dry friction in a joint acts in both phases, each time with its own bound.

Cost: two solves.

References: [GlockerPfeiffer1995]; [AnitescuPotra1997].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction.contact.problem import ContactProblem
from taction.contact.restitution import coefficients
from taction.solvers.base import Solution, Solver, Status

LOOSEST = 0.5  # tolerance of the expansion, relative to its own velocities


@dataclass(frozen=True, eq=False)
class Impact:
    """An impact in two phases.

    Attributes:
        compression: solution of the first phase.
        expansion: solution of the second phase, Λ_2 only.
        impulse: of both phases together, (n,).
        velocity: after the impact, (n,).
    """

    compression: Solution
    expansion: Solution
    impulse: Array
    velocity: Array

    @property
    def status(self) -> Status:
        """That of the first phase that did not converge, or converged."""
        return self.compression.status if not self.compression.converged else self.expansion.status

    @property
    def converged(self) -> bool:
        """Whether both phases reached the tolerance."""
        return self.status is Status.CONVERGED


def solve_poisson(
    problem: ContactProblem, restitution: ArrayLike, solver: str | Solver = "auto", **options: Any
) -> Impact:
    """Solve an impact with Poisson's law.

    Args:
        problem: W and the velocities before the impact as b.
        restitution: e, one number or one per element.
        solver: for both phases, as in `taction.solvers.solve`.
        options: of the solver.
    """
    from taction.solvers import make_solver

    instance(problem, ContactProblem, "problem")
    if problem.adhesion.any():
        raise BadInput("Poisson's law does not know adhesion: a pull would be given back; use Newton's law")
    e = coefficients(problem, restitution)
    method = make_solver(solver, **options)
    compression = method.solve(problem)
    share = np.repeat(e, [element.rows for element in problem.elements])
    first = (1.0 + share) * compression.impulse
    b = problem.velocity(first)
    # the same absolute accuracy in both phases: after a plastic impact b' is rounding, and worth no digits
    before, between = float(np.linalg.norm(problem.b)), float(np.linalg.norm(b))
    tol = min(method.tol * before / between, LOOSEST) if between > 0.0 else method.tol
    expansion = replace(method, tol=tol).solve(replace(problem, b=b))
    return Impact(compression, expansion, first + expansion.impulse, expansion.velocity)
