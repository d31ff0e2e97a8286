"""The contact problem: a document of numbers, and all that a solver sees.

Find impulses Λ and velocities u = W Λ + b such that every element obeys its law. W = J M⁻¹ Jᵀ is the
contact-space inverse inertia (Delassus operator), b the relative velocity that the motion would have without
the impulses.

Laws, over the same elements:

* ``exact``       Signorini, Coulomb and maximum dissipation as the textbooks state them;
* ``convex``      cone complementarity: a sliding contact separates at μ‖u_T‖, in exchange for convexity;
* ``pyramid``     the disc becomes a polygon with an even number of ``sides``, the problem a linear one;
* ``frictionless``  friction is left out.

Compliance: R ≥ 0 per row, so that laws hold between Λ and u + R Λ (a spring and damper in series with the
contact, Kelvin–Voigt over one step: R = 1/(h² k + h d) for stiffness k, damping d, step h).

Restitution enters through b, see `taction.contact.restitution`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float
from taction._core.errors import BadInput, one_line
from taction._core.show import brief, count, rows
from taction.contact.elements import Contact, Element, Unilateral

LAWS = ("exact", "convex", "pyramid", "frictionless")
ASYMMETRY = 0.01  # W is refused above this, relative to its largest entry


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """A frictional contact problem.

    Attributes:
        W: inverse inertia seen by the rows [1/kg], (n, n): dense, SciPy sparse, or anything with ``shape``
        and ``@``
            (matrix-free).
        b: velocity without impulses [m/s], (n,).
        elements: force elements in row order; their rows add up to n.
        law: one of `LAWS`.
        sides: sides of the friction pyramid, even; for that law only.
        compliance: R per row [1/kg], (n,); None for rigid.
        name: for messages and files.
    """

    W: Any
    b: Array
    elements: Sequence[Element]
    law: str = "exact"
    sides: int = 4
    compliance: Array | None = None
    name: str = "problem"

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("b", as_float(self.b, (None,), "b"))
        if not isinstance(self.elements, Sequence):
            raise BadInput(f"elements: expected a list of elements, got {type(self.elements).__name__}")
        put("elements", tuple(self.elements))
        for k, element in enumerate(self.elements):
            if not isinstance(element, Element):
                raise BadInput(f"elements[{k}]: {element!r} is not a contact element")
        n = sum(element.rows for element in self.elements)
        if n != len(self.b):
            raise BadInput(f"b: {len(self.b)} rows, but the elements have {n}")
        if self.law not in LAWS:
            raise BadInput(f"unknown law {self.law!r}; choose from {', '.join(LAWS)}")
        if (
            isinstance(self.sides, bool)
            or not isinstance(self.sides, int)
            or self.sides < 4
            or self.sides % 2
        ):
            raise BadInput(f"sides: {self.sides!r} must be an even number, at least 4")
        if self.compliance is not None:
            put("compliance", as_float(self.compliance, (n,), "compliance"))
            if (self.compliance < 0).any():
                raise BadInput("compliance: must not be negative")
        put("W", _check_matrix(self.W, n))

    def __repr__(self) -> str:
        kinds = Counter(type(element).__name__ for element in self.elements)
        return rows(
            f"<ContactProblem {self.name!r}: {count(self.size, 'row')}, law {self.law!r}>",
            ", ".join(f"{number} {name}" for name, number in kinds.items()),
            f"W {type(self.W).__name__} {tuple(self.W.shape)}, b {brief(self.b)}",
            "" if self.compliance is None else f"compliance {brief(self.compliance)}",
        )

    @classmethod
    def from_friction(cls, W: Any, b: ArrayLike, mu: ArrayLike, **options: Any) -> ContactProblem:
        """A problem of contacts only.

        Args:
            W: inverse inertia, (3k, 3k).
            b: free velocity, (3k,), frames (normal, t₁, t₂).
            mu: coefficient per contact, (k,); or (k, 2) along t₁ and t₂; or (k, 3) with that of −t₁ last.
            **options: further attributes of the problem.
        """
        try:
            mu = np.asarray(mu, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadInput(f"mu: not a numeric array ({one_line(error)})") from None
        if mu.ndim not in (1, 2) or (mu.ndim == 2 and mu.shape[1] not in (1, 2, 3)):
            raise BadInput(f"mu: expected shape (k,), (k, 2) or (k, 3), got {mu.shape}")
        rows = [[value] for value in mu.tolist()] if mu.ndim == 1 else mu.tolist()
        for k, row in enumerate(rows):
            if not all(0.0 <= value < np.inf for value in row):
                raise BadInput(f"mu[{k}]: {row} must be finite and not negative")
        for name in options.keys() - {"law", "sides", "compliance", "name"}:
            raise BadInput(f"{name}: no such attribute of a contact problem")
        return cls(W, np.asarray(b), [Contact(*row) for row in rows], **options)

    @property
    def size(self) -> int:
        """Number of rows n."""
        return len(self.b)

    @property
    def contacts(self) -> int:
        """Number of elements with friction."""
        return sum(isinstance(element, Contact) for element in self.elements)

    @cached_property
    def first_row(self) -> tuple[int, ...]:
        """First row of each element."""
        return tuple(np.cumsum([0, *(element.rows for element in self.elements)])[:-1].tolist())

    @cached_property
    def matrix(self) -> Any:
        """W as a dense array or SciPy matrix; a matrix-free W is applied to n unit vectors, once."""
        if isinstance(self.W, np.ndarray) or hasattr(self.W, "tocsr"):
            return self.W
        columns = [as_float(self.W @ e, (self.size,), "W @ e") for e in np.eye(self.size)]
        W = np.array(columns).T.reshape(self.size, self.size)
        return _check_matrix(W, self.size)

    def velocity(self, impulse: ArrayLike) -> Array:
        """Relative velocity W Λ + b, (n,)."""
        return np.asarray(self.W @ np.asarray(impulse, dtype=float)).ravel() + self.b

    def law_velocity(self, impulse: ArrayLike) -> Array:
        """Velocity that the laws speak about, W Λ + b + R Λ, (n,)."""
        u = self.velocity(impulse)
        return u if self.compliance is None else u + self.compliance * np.asarray(impulse, dtype=float)

    @cached_property
    def viscosity(self) -> Array:
        """ν of each row, (n,): viscous friction on tangential rows, else zero."""
        nu = np.zeros(self.size)
        if self.law != "frictionless":
            for row, element in zip(self.first_row, self.elements, strict=True):
                if isinstance(element, Contact):
                    nu[row + 1 : row + 3] = element.viscous
        return nu

    @cached_property
    def adhesion(self) -> Array:
        """Adhesion a of each row, (n,) [N s]: of the normal rows of contacts that have it, else zero."""
        pairs = zip(self.first_row, self.elements, strict=True)
        a = np.zeros(self.size)
        for row, element in pairs:
            a[row] = getattr(element, "adhesion", 0.0)
        return a

    def without_adhesion(self) -> ContactProblem:
        """The same problem in the unknown Λ + a e_N, which obeys the laws without adhesion."""
        if not self.adhesion.any():
            return self
        elements = [
            replace(e, adhesion=0.0) if isinstance(e, (Contact, Unilateral)) else e for e in self.elements
        ]
        return replace(self, b=self.law_velocity(-self.adhesion), elements=elements)

    def with_law(self, law: str, **changes: Any) -> ContactProblem:
        """The same elements under another law."""
        return replace(self, law=law, **changes)


def _check_matrix(W: Any, n: int) -> Any:
    """W as float64, of shape (n, n), finite and symmetric to `ASYMMETRY`."""
    shape = tuple(getattr(W, "shape", None) or np.shape(W))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise BadInput(f"W: must be square, got shape {shape}")
    if shape[0] != n:
        raise BadInput(f"W: {shape[0]} rows, but b has {n}")
    if hasattr(W, "tocsr"):
        W = W.tocsr().astype(np.float64)
        if not np.isfinite(W.data).all():
            raise BadInput("W: contains NaN or infinity")
        difference, largest = abs(W - W.T), abs(W)
        off, scale = (float(m.max()) if m.nnz else 0.0 for m in (difference, largest))
    elif isinstance(W, (np.ndarray, list, tuple)):
        W = as_float(W, (n, n), "W")
        off, scale = (float(np.abs(m).max(initial=0.0)) for m in (W - W.T, W))
    else:
        return W  # matrix-free: checked where it is applied
    if off > ASYMMETRY * scale:
        raise BadInput(f"W: not symmetric, entries differ by {off / scale:.1%} of the largest")
    return W
