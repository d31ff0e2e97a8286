"""Time steps: one file per method, one line each in `INTEGRATORS`."""

from __future__ import annotations

from taction._core.errors import BadInput
from taction._core.names import choose
from taction.steppers.base import Integrator
from taction.steppers.dormand_prince import DormandPrince
from taction.steppers.explicit_euler import ExplicitEuler
from taction.steppers.implicit_euler import ImplicitEuler
from taction.steppers.runge_kutta4 import RungeKutta4
from taction.steppers.semi_implicit_euler import SemiImplicitEuler

INTEGRATORS: dict[str, type[Integrator]] = {
    "explicit-euler": ExplicitEuler,
    "semi-implicit-euler": SemiImplicitEuler,
    "implicit-euler": ImplicitEuler,
    "rk4": RungeKutta4,
    "dormand-prince": DormandPrince,
}


def make_integrator(choice: str | Integrator) -> Integrator:
    """An integrator from its name, or itself."""
    if isinstance(choice, Integrator):
        return choice
    if choice not in INTEGRATORS:
        raise BadInput(f"unknown integrator {choice!r}; {choose(choice, INTEGRATORS)}")
    return INTEGRATORS[choice]()
