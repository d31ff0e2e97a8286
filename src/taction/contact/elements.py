"""The set-valued force elements a contact problem is made of.

An element is a few rows of the problem: directions along which an impulse Λ acts and a relative velocity
u = W Λ + b is measured, and the set-valued law that ties the two together.

| element | rows | law |
|---|---|---|
| `Contact` | 3: normal, t₁, t₂ | Signorini; Coulomb: disc, ellipse, two half-ellipses; viscous; adhesive |
| `Unilateral` | 1 | 0 ≤ u ⊥ Λ ≥ 0: a contact without friction; adhesive |
| `JointLimit` | 1 | the same, for a joint at its stop |
| `JointFriction` | 1 | −c ≤ Λ ≤ c, Λ = −c sign(u) while it moves: dry friction in a joint |
| `Bilateral` | any | u = 0: a joint or a loop closure |

Viscous friction is that of [Ayit2015, Eq. 4.22]: the tangential impulse is bounded by μ Λ_N + ν ‖u_T‖,
reached while sliding. Equivalently Λ_T = Λ_C − ν u_T with Λ_C obeying Coulomb's law alone; that linear part
acts on every element that has ν > 0, so give it to closed contacts only.

Adhesion a moves the law down the normal: 0 ≤ u_N ⊥ Λ_N + a ≥ 0, friction bounded by μ (Λ_N + a), see
`taction.contact.laws.adhesion`. An element that may pull is one that touches:
give it to closed contacts only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from taction._core.errors import BadInput


def _at_least_zero(value: float, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{what}: {value!r} is not a number") from None
    if not math.isfinite(number) or number < 0.0:
        raise BadInput(f"{what}: {number:g} must be finite and not negative")
    return number


@dataclass(frozen=True)
class Contact:
    """A unilateral contact with Coulomb friction; rows (normal, t₁, t₂).

    Attributes:
        friction: coefficient while sliding along +t₁ ("forward"), bound on Λ_1 < 0.
        lateral: coefficient while sliding along t₂; that of t₁ if None.
        backward: coefficient while sliding along −t₁, bound on Λ_1 > 0; that of +t₁ if None.
        viscous: ν, tangential impulse per sliding velocity over the step [kg], see the module text.
        adhesion: a, largest pull over the step [N s], force times step; see the module text.
    """

    friction: float
    lateral: float | None = None
    backward: float | None = None
    viscous: float = 0.0
    adhesion: float = 0.0

    rows = 3

    def __post_init__(self) -> None:
        for name in ("friction", "lateral", "backward", "viscous", "adhesion"):
            value = getattr(self, name)
            if value is None:
                value = self.friction
            object.__setattr__(self, name, _at_least_zero(value, f"Contact.{name}"))


@dataclass(frozen=True)
class Unilateral:
    """A contact without friction: one row along the normal.

    Attributes:
        adhesion: a, largest pull over the step [N s]; see the module text.
    """

    adhesion: float = 0.0

    rows = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "adhesion", _at_least_zero(self.adhesion, "Unilateral.adhesion"))


@dataclass(frozen=True)
class JointLimit:
    """A joint at its stop: one row along the direction that leads away from it."""

    rows = 1


@dataclass(frozen=True)
class JointFriction:
    """Dry friction in a joint: one row.

    Attributes:
        bound: largest friction impulse over the step, torque or force times step [N m s] or [N s].
    """

    bound: float

    rows = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", _at_least_zero(self.bound, "JointFriction.bound"))


@dataclass(frozen=True)
class Bilateral:
    """Rows whose velocity must vanish.

    Attributes:
        rows: how many.
    """

    rows: int

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise BadInput(f"Bilateral.rows: {self.rows!r} must be a whole number above 0")


Element: TypeAlias = Contact | Unilateral | JointLimit | JointFriction | Bilateral
