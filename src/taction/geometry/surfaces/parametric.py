"""Any smooth surface, given as a Python function of two parameters.

What it solves: f(u_1, u_2) → (x, y, z), written with NumPy's functions, is a surface. Its derivatives come
from `jet`, exactly; normal and curvature from them, as in `base`.

Method for the parameters of a point p, which contact kinematics asks for at every step:
1. Start from the nearest of a grid of points of the surface.
2. Newton's method on ½‖f(u) − p‖²: gradient f_*ᵀ e, Hessian f_*ᵀ f_* + Σ e_k ∂²f_k with e = f(u) − p. Where
   that is not positive definite, its first part alone.
This is the nearest point; p need not be on the surface.

The domain says where the grid is laid. Functions are asked beyond it: a seam of a closed surface is no edge.
Where ∂f/∂u_1 and ∂f/∂u_2 are dependent there is no normal, and the message says where.

Cost: four to eight evaluations with jets per question, 0.4 ms each for a function of a dozen operations.

References: [DuindamStramigioli2003, Section 2.2]; [NocedalWright2006, Section 3.3] for the step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float, frozen
from taction._core.errors import BadInput
from taction._core.expect import function as expect_function
from taction._core.show import brief
from taction.geometry.surfaces.base import Samples, Surface, as_parameters, as_point
from taction.geometry.surfaces.jet import as_jet, parameters_as_jets

NEWTON_STEPS = 30
LAST_STEP = 1e-9  # after a step as small as this, relative to the domain, the next changes nothing


@dataclass(frozen=True, eq=False)
class Parametric(Surface):
    """The surface f(u_1, u_2).

    Attributes:
        function: from two numbers to three, with NumPy's functions.
        domain: range of u_1 and of u_2, shape (2, 2).
        name: what messages call it; the function's own name by default.
        is_flipped: whether the outside is where −∂f/∂u_1 × ∂f/∂u_2 points to.
        grid: points of the grid along u_1 and u_2.
    """

    function: Callable[[Any, Any], Any]
    domain: Any
    name: str = ""
    is_flipped: bool = False
    grid: tuple[int, int] = (24, 24)
    _places: Array = field(init=False, repr=False)
    _points: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        expect_function(self.function, "u1, u2", "the function of a parametric surface")
        domain = as_float(self.domain, (2, 2), "domain of a parametric surface")
        if not (domain[:, 0] < domain[:, 1]).all():
            raise BadInput(f"{self.label}: its domain is empty")
        object.__setattr__(self, "domain", frozen(domain))
        axes = [np.linspace(a, b, n) for (a, b), n in zip(domain, self.grid, strict=True)]
        places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        object.__setattr__(self, "_places", frozen(places))
        object.__setattr__(self, "_points", frozen([self.point(u) for u in places]))

    def __repr__(self) -> str:
        return f"Parametric({self.name or getattr(self.function, '__name__', 'function')})"

    @property
    def size(self) -> float:
        """The diagonal of a box around its grid [m]."""
        return float(np.linalg.norm(np.ptp(self._points, axis=0)))

    def point(self, u: ArrayLike) -> Array:
        """f(u)."""
        a, b = as_parameters(u)
        try:
            with np.errstate(all="ignore"):
                values = [float(x) for x in self.function(a, b)]
        except (TypeError, ValueError, ArithmeticError) as error:
            raise BadInput(f"{self.label}: no point at u = ({a:.6g}, {b:.6g}): {error}") from None
        if len(values) != 3 or not np.isfinite(values).all():
            raise BadInput(f"{self.label}: f({a:.6g}, {b:.6g}) must be three finite numbers, got {values}")
        return np.array(values)

    def tangents(self, u: ArrayLike) -> Array:
        """Gradients of the three jets."""
        return self._jets(u)[1]

    def second(self, u: ArrayLike) -> Array:
        """Hessians of the three jets."""
        return self._jets(u)[2]

    def normal(self, u: ArrayLike) -> Array:
        """∂f/∂u_1 × ∂f/∂u_2 at unit length, or its opposite."""
        n = super().normal(u)
        return -n if self.is_flipped else n

    def shape_operator(self, u: ArrayLike) -> Array:
        """g_*, with the sign of the normal."""
        g_star = super().shape_operator(u)
        return -g_star if self.is_flipped else g_star

    def parameters(self, p: ArrayLike) -> Array:
        """Parameters of the nearest point of the surface."""
        p = as_point(p)
        u = self._places[np.argmin(((self._points - p) ** 2).sum(axis=1))].copy()
        span = np.ptp(self.domain, axis=1)
        for _ in range(NEWTON_STEPS):
            value, F, second = self._jets(u)
            e = value - p
            slope, flat = F.T @ e, F.T @ F
            bent = flat + np.einsum("k,kij->ij", e, second)
            is_convex = bent[0, 0] > 0.0 and bent[0, 0] * bent[1, 1] > bent[0, 1] * bent[1, 0]
            try:
                step = -np.linalg.solve(bent if is_convex else flat, slope)
            except np.linalg.LinAlgError:
                raise BadInput(f"{self.label}: tangents are dependent at u = {brief(u)}") from None
            share = float(np.abs(step / span).max())
            u = u + step * min(1.0, 0.1 / max(share, 1e-300))
            if share <= LAST_STEP:
                return u
        raise BadInput(f"{self.label}: the nearest point to {brief(p)} was not found")

    def onto(self, x: ArrayLike) -> Array:
        """The nearest point."""
        return self.point(self.parameters(x))

    def samples(self) -> Samples:
        """The points of the grid that have a normal."""
        return self._samples

    @cached_property
    def _samples(self) -> Samples:
        points, normals = [], []
        for u, p in zip(self._places, self._points, strict=True):
            with contextlib.suppress(BadInput):  # a pole of the parameterisation
                normals.append(self.normal(u))
                points.append(p)
        return Samples(np.array(points), np.array(normals))

    def _jets(self, u: ArrayLike) -> tuple[Array, Array, Array]:
        """f, its first and its second derivatives: (3,), (3, 2), (3, 2, 2)."""
        a, b = as_parameters(u)
        try:
            jets = [as_jet(x) for x in self.function(*parameters_as_jets(a, b))]
        except BadInput as error:
            raise BadInput(f"{self.label}: at u = ({a:.6g}, {b:.6g}): {error}") from None
        value, first, second = (
            np.array([getattr(x, name) for x in jets]) for name in ("value", "first", "second")
        )
        if value.shape != (3,) or not (np.isfinite(first).all() and np.isfinite(second).all()):
            raise BadInput(f"{self.label}: derivatives are not finite at u = ({a:.6g}, {b:.6g})")
        return value, first, second
