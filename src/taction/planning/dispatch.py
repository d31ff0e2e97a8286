"""Planning methods by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from taction._core.errors import BadInput
from taction._core.names import instead
from taction.planning.planner import Planner
from taction.planning.problem import PlanningProblem

METHODS = {
    "miqp": ("taction.planning.mixed_integer", "MixedInteger"),
    "admm": ("taction.planning.consensus", "Consensus"),
    "direct": ("taction.planning.direct", "Direct"),
    "enumeration": ("taction.planning.enumeration", "Enumeration"),
}


def make_planner(name: str, problem: PlanningProblem, **options: Any) -> Planner:
    """A method of `METHODS` for a problem.

    Raises:
        BadInput: an unknown name, or options that it does not have.
    """
    if name not in METHODS:
        raise BadInput(f"unknown planning method {name!r}; {instead(str(name), list(METHODS))}")
    module, kind = METHODS[name]
    try:
        planner: Planner = getattr(import_module(module), kind)(problem, **options)
    except TypeError as error:
        raise BadInput(f"{name}: {error}") from None
    return planner
