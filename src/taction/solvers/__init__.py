"""Ways to find the impulses of a contact problem: one file each, one line each in `SOLVERS`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from taction._core.errors import BadInput
from taction._core.names import choose
from taction.contact.problem import ContactProblem
from taction.solvers.admm import ADMM
from taction.solvers.apgd import APGD
from taction.solvers.auto import Auto
from taction.solvers.base import Solution, Solver, Status
from taction.solvers.enumeration import Enumeration
from taction.solvers.interior_point import InteriorPoint
from taction.solvers.lemke import Lemke
from taction.solvers.modified_newton import ModifiedNewton
from taction.solvers.newton import Newton
from taction.solvers.nsgs import NSGS
from taction.solvers.pgs import PGS
from taction.solvers.prox import Prox

SOLVERS: dict[str, type[Solver]] = {
    "auto": Auto,
    "lemke": Lemke,
    "pgs": PGS,
    "nsgs": NSGS,
    "prox": Prox,
    "modified-newton": ModifiedNewton,
    "admm": ADMM,
    "newton": Newton,
    "interior-point": InteriorPoint,
    "apgd": APGD,
    "enumeration": Enumeration,
}

__all__ = ["SOLVERS", "Solution", "Solver", "Status", "make_solver", "solve"]


def make_solver(choice: str | Solver, /, **options: Any) -> Solver:
    """A solver from its name and options, or itself."""
    if isinstance(choice, Solver):
        if options:
            raise BadInput(
                f"solver {choice.name!r} is given with its options; {', '.join(options)} would be lost"
            )
        return choice
    if not isinstance(choice, str) or choice not in SOLVERS:
        raise BadInput(f"unknown solver {choice!r}; {choose(choice, SOLVERS)}")
    try:
        return SOLVERS[choice](**options)
    except TypeError as error:
        raise BadInput(f"solver {choice!r}: {error}") from None


def solve(
    problem: ContactProblem,
    solver: str | Solver = "auto",
    *,
    guess: ArrayLike | None = None,
    **options: Any,
) -> Solution:
    """Find the impulses of a contact problem.

    Args:
        problem: W, b, elements and law.
        solver: name of a method (see `SOLVERS`) or a method with its options.
        guess: impulses to start from, (n,); zero by default.
        options: of the method, such as ``tol`` (relative natural-map residual) and ``max_iterations``.

    Returns:
        Impulses, velocities and how it ended; not having converged is a status, not an exception.
    """
    return make_solver(solver, **options).solve(problem, guess)
