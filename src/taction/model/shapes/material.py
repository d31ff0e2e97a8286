"""What a surface is made of."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from taction._core.errors import ModelError
from taction._core.expect import number, numbers


@dataclass(frozen=True)
class Material:
    """Surface parameters of a shape.

    Attributes:
        friction: Coulomb coefficients along the shape's x and y axes, each ≥ 0; one number for both.
        restitution: Newton's coefficient, 0 to 1.
        viscous: viscous contact friction [N s/m], ≥ 0.
        backward: coefficient while the shape slides against its x-axis; that of the x-axis by default.
        adhesion: force with which the shape holds on to what it touches [N], ≥ 0. Of two shapes the larger
            counts, for the pair of them: its contact points share it evenly.
        combine: how its friction combines with a partner's: ``"smaller"``, ``"larger"`` or ``"mean"``
            (geometric); "" where it does not say. Of two that differ ``"larger"`` wins over ``"smaller"``,
            and both over ``"mean"``.
        priority: of two shapes the one with the higher number gives its friction, whatever the other has.
        slick: without friction against other slick shapes; against any other its friction counts.
        stiffness: of the shape in soft contact, along the normal [N/m]; see `taction.Penalty`.
        damping: likewise [N s/m], or [s/m] for Hunt and Crossley's damper.
        young: Young's modulus [Pa], in place of a stiffness: Hertz's contact.
        poisson: Poisson's ratio that goes with it, from 0 to 0.5.
    """

    friction: tuple[float, float] = (1.0, 1.0)
    restitution: float = 0.0
    viscous: float = 0.0
    backward: float | None = None
    adhesion: float = 0.0
    combine: str = ""
    priority: int = 0
    slick: bool = False
    stiffness: float | None = None
    damping: float | None = None
    young: float | None = None
    poisson: float = 0.3

    def __post_init__(self) -> None:
        if self.combine not in ("", "smaller", "larger", "mean"):
            raise ModelError(f"combine {self.combine!r}: choose from smaller, larger, mean")
        if isinstance(self.friction, (int, float)) or np.ndim(self.friction) == 0:
            both = number(self.friction, "friction", ModelError)
            object.__setattr__(self, "friction", (both, both))
        object.__setattr__(self, "friction", numbers(self.friction, 2, "friction along x and y", ModelError))
        for name in ("restitution", "viscous", "adhesion"):
            number(getattr(self, name), name, ModelError)
        if self.backward is not None:
            number(self.backward, "backward friction", ModelError)
        if self.backward is not None and not (np.isfinite(self.backward) and self.backward >= 0):
            raise ModelError(f"backward friction must be non-negative, got {self.backward}")
        if not all(np.isfinite(f) and f >= 0 for f in self.friction):
            raise ModelError(f"friction must be non-negative, got {self.friction}")
        if not 0.0 <= self.restitution <= 1.0:
            raise ModelError(f"restitution must lie in [0, 1], got {self.restitution}")
        if not (np.isfinite(self.viscous) and self.viscous >= 0):
            raise ModelError(f"viscous friction must be non-negative, got {self.viscous}")
        if not (np.isfinite(self.adhesion) and self.adhesion >= 0):
            raise ModelError(f"adhesion must be non-negative, got {self.adhesion}")
        self._check_softness()

    def __repr__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        shown = {"friction": self.friction, **given}
        return f"Material({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def _check_softness(self) -> None:
        for name in ("stiffness", "damping", "young"):
            value = getattr(self, name)
            if value is None:
                continue
            number(value, name, ModelError)
            if not (np.isfinite(value) and (value > 0 or (value == 0 and name == "damping"))):
                raise ModelError(
                    f"{name} must be {'non-negative' if name == 'damping' else 'positive'}, got {value}"
                )
        if not 0.0 <= number(self.poisson, "poisson", ModelError) <= 0.5:
            raise ModelError(f"poisson must lie in [0, 0.5], got {self.poisson}")
        if self.stiffness is not None and self.young is not None:
            raise ModelError("a material has a stiffness or a Young's modulus, not both")
