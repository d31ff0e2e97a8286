"""The judge: how well given impulses obey the laws of a problem, computed from the problem alone.

No method looks in here and this file calls none; what all of them share, `taction.solvers.base`, asks it
before it calls an answer converged. For impulses Λ, u = W Λ + b and γ = u + R Λ (compliance), with the
viscous part Λ_T + ν u_T put back into Coulomb's share, and the adhesion a into Λ_N + a, where there is any:

* **Signorini**: primal min(u_N, 0), dual min(Λ_N, 0), complementarity |u_N Λ_N|;
* **cone**: distance of Λ from its set;
* **maximum dissipation**: Λ_N σ(−u_T) + Λ_T·u_T, the power that friction leaves, zero for the right Λ_T;
* **natural map**: ‖Λ − P_K(Λ − γ − σ(−u_T) e_N)‖ per element and, relative to ‖b‖, over all: the measure
  of FCLib. The convex law leaves out σ.

Pyramid: σ and the section are those of the polygon; Λ_T is split over the two corners next to it, which
makes the variables of the linear complementarity problem, and the natural map is min(z, w) of that problem.
Its least w, least z and wᵀz are reported as such.

Rounding. u = W Λ + b is computed in floating point, and is off by up to ε (|W| |Λ| + |b|). Where no
solution exists some methods run off to impulses of 10¹⁶ N s that cancel in W Λ to the last bit: a small
residual then is an accident of rounding. So the certificate reports that bound beside the residual, and a
tolerance counts as met (`Certificate.proven`) only if both are below it.

Distances from cones come from `taction.contact.cone_distance`, which shares nothing with the projections that
solvers use.

References: [AcaryBremondHuber2018] for the relative measure; [DeSaxceFeng1998] for σ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput
from taction._core.show import brief_repr
from taction.contact.cone_distance import outside_cone, section_reach
from taction.contact.elements import Bilateral, Contact, Element, JointFriction
from taction.contact.problem import ContactProblem

EPSILON = 2.0**-52  # spacing of numbers near 1


@dataclass(frozen=True, eq=False)
class Certificate:
    """How well impulses obey the laws; everything is zero for a perfect solution.

    Attributes:
        residual: natural map over all elements relative to ‖b‖ (to 1 where b vanishes).
        rounding: ε ‖|W| |Λ| + |b|‖ likewise relative: what rounding can hide.
        natural_map: the same per element, absolute.
        primal: deepest approach, max of −u_N over unilateral elements [m/s].
        dual: strongest pull, max of −Λ_N, beyond the adhesion [N s].
        complementarity: largest |u_N Λ_N| [J].
        cone: largest distance of Λ from its set [N s].
        dissipation: largest power that friction leaves [J].
        bilateral: largest velocity of a bilateral row [m/s].
        worst: element with the largest natural map, or −1 for an empty problem.
        lcp: for the pyramid (min w, min z, wᵀz) of the complementarity problem, else None.
    """

    residual: float
    rounding: float
    natural_map: Array
    primal: float
    dual: float
    complementarity: float
    cone: float
    dissipation: float
    bilateral: float
    worst: int
    lcp: tuple[float, float, float] | None
    elements: tuple[Element, ...]

    __repr__ = brief_repr

    @property
    def proven(self) -> float:
        """The least tolerance that the impulses meet for certain: the larger of residual and rounding."""
        return max(self.residual, self.rounding)

    def __str__(self) -> str:
        if self.worst < 0:
            return "no elements"
        name = type(self.elements[self.worst]).__name__
        return f"residual {self.residual:.1e}, worst at element {self.worst} ({name})"


@np.errstate(over="ignore", invalid="ignore")
def certify(problem: ContactProblem, impulse: ArrayLike) -> Certificate:
    """Judge impulses (n,) of a problem; never fails on bad impulses, only on wrong shapes or NaN."""
    if not isinstance(problem, ContactProblem):
        raise BadInput(f"expected a ContactProblem, got {type(problem).__name__}; LCPs have certify_lcp")
    r = as_float(impulse, (problem.size,), "impulse")
    v = problem.law_velocity(r)
    c = r + problem.viscosity * v + problem.adhesion  # what Coulomb's law sees
    worst = dict.fromkeys(("primal", "dual", "complementarity", "cone", "dissipation", "bilateral"), 0.0)
    errors = np.zeros(len(problem.elements))
    lcp: list[tuple[Array, Array]] = []

    def keep(name: str, value: float | np.floating) -> None:
        worst[name] = max(worst[name], float(value))

    for k, (row, element) in enumerate(zip(problem.first_row, problem.elements, strict=True)):
        rows = slice(row, row + element.rows)
        x, u = c[rows], v[rows]
        if isinstance(element, Bilateral):
            errors[k] = np.linalg.norm(u)
            keep("bilateral", np.abs(u).max())
            lcp.append((np.zeros_like(u), u))
            continue
        if isinstance(element, JointFriction):
            target = x - u
            errors[k] = abs(u + (target - np.clip(target, -element.bound, element.bound)))[0]
            keep("cone", abs(x[0]) - element.bound)
            keep("dissipation", element.bound * abs(u[0]) + x[0] * u[0])
            lcp.append((element.bound + np.array([x[0], -x[0]]), np.array([max(u[0], 0.0), max(-u[0], 0.0)])))
            continue
        keep("primal", -u[0])
        keep("dual", -x[0])
        keep("complementarity", abs(u[0] * x[0]))
        if not isinstance(element, Contact):
            errors[k] = abs(min(x[0], u[0]))
            lcp.append((x, u))
        elif problem.law == "frictionless":
            errors[k] = np.linalg.norm([min(x[0], u[0]), x[1], x[2]])
            keep("cone", np.linalg.norm(x[1:]))
        elif problem.law == "pyramid":
            z, w, outside, left = _pyramid(element, problem.sides, x, u)
            errors[k] = np.linalg.norm(np.minimum(z, w))
            keep("cone", outside)
            keep("dissipation", left)
            lcp.append((z, w))
        else:
            shift = section_reach(*axes(element), -u[1], -u[2])
            gamma = u + np.array([0.0 if problem.law == "convex" else shift, 0.0, 0.0])
            # not Λ − P(Λ − γ): where Λ is so large that Λ − γ rounds γ off, that would be zero
            errors[k] = np.linalg.norm(gamma + outside_cone(*axes(element), *(x - gamma)))
            keep("cone", np.linalg.norm(outside_cone(*axes(element), *x)))
            keep("dissipation", x[0] * shift + x[1:] @ u[1:])
    size = length(problem.b) or 1.0
    return Certificate(
        residual=length(errors) / size,
        rounding=_rounding(problem, r) / size,
        natural_map=errors,
        worst=int(np.argmax(errors)) if len(errors) else -1,
        lcp=_lcp_measures(lcp) if problem.law == "pyramid" else None,
        elements=tuple(problem.elements),
        **worst,
    )


def length(x: Array) -> float:
    """‖x‖, without overflow or underflow on the way; infinite where x is not finite."""
    largest = float(np.abs(x).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return 0.0 if largest == 0.0 else math.inf
    return largest * float(np.linalg.norm(x / largest))


def _rounding(problem: ContactProblem, r: Array) -> float:
    """ε ‖|W| |Λ| + |b|‖; where W only offers products, how far W Λ moves if the last bits of Λ change."""
    own = np.abs(problem.b) + (0.0 if problem.compliance is None else problem.compliance * np.abs(r))
    if isinstance(problem.W, np.ndarray) or hasattr(problem.W, "tocsr"):
        return EPSILON * length(abs(problem.W) @ np.abs(r) + own)
    changed = r * np.where(np.cos(np.arange(len(r), dtype=float) ** 2) > 0.0, 1.0, 1.0 - EPSILON)
    return EPSILON * length(own) + length(problem.velocity(r) - problem.velocity(changed))


def _lcp_measures(parts: list[tuple[Array, Array]]) -> tuple[float, float, float]:
    if not parts:
        return 0.0, 0.0, 0.0
    z, w = (np.concatenate(column) for column in zip(*parts, strict=True))
    return float(w.min()), float(z.min()), float(z @ w)


def axes(element: Contact) -> tuple[float, float, float]:
    """Semi-axes of the friction section: where Λ_1 ≥ 0, where Λ_1 < 0, along t₂."""
    assert element.backward is not None and element.lateral is not None
    return element.backward, element.friction, element.lateral


def corners(element: Contact, sides: int) -> Array:
    """Corners (sides, 2) of the friction polygon for Λ_N = 1, on the section, the first on +t₁.

    Written again, not taken from the solver's side in `taction.contact.pyramid`: the judge is independent.
    """
    angle = 2.0 * np.pi * np.arange(sides) / sides
    unit = np.column_stack([np.cos(angle), np.sin(angle)])
    unit[np.abs(unit) < 1e-15] = 0.0
    along = np.where(unit[:, 0] >= 0.0, np.float64(element.backward or 0.0), element.friction)
    return unit * np.column_stack([along, np.full(sides, element.lateral)])


def _pyramid(element: Contact, sides: int, x: Array, u: Array) -> tuple[Array, Array, float, float]:
    """Variables z and w of one contact's complementarity problem, distance outside, power left."""
    polygon = corners(element, sides)
    speed = polygon @ u[1:]
    slack = max(0.0, float(-speed.min()))
    share = _split(polygon, x[1:])
    z = np.concatenate([x[:1], share, [slack]])
    w = np.concatenate([u[:1], slack + speed, [x[0] - share.sum()]])
    return z, w, max(0.0, share.sum() - x[0]), x[0] * slack + float(x[1:] @ u[1:])


def _split(polygon: Array, x: Array) -> Array:
    """Shares ≥ 0 of the corners with Σ share·corner = x and least sum: of the two corners next to x."""
    best, least = np.zeros(len(polygon)), np.inf
    if not x.any():
        return best
    for j in range(len(polygon)):
        pair = [j, (j + 1) % len(polygon)]
        edge = polygon[pair].T
        if abs(np.linalg.det(edge)) <= 1e-300:
            continue
        part = np.linalg.solve(edge, x)
        if part.min() >= -1e-12 * abs(part).max() and part.sum() < least:
            least = part.sum()
            best = np.zeros(len(polygon))
            best[pair] = part
    if not np.isfinite(least):  # a section without width: all of x lies outside
        best[0] = np.linalg.norm(x)
    return best
