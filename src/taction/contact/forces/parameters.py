"""`Penalty` and `Compliant`: contact as a force, and the numbers it has where nothing is said.

Numbers of a shape's own `Material` come first, then those given here, for all shapes alike; what neither says
follows from masses, once and for all, whatever the step:

* stiffness: the weight of the robot or body on one point of contact presses it in by `SINK`;
* tangential stiffness: `MINDLIN` of that;
* damping of Kelvin and Voigt: 2 ζ √(k m), with m what moves at the shape in the neutral pose, and ζ such that
  an impact returns the share e of its speed, the coefficient of restitution; at most 1, for e ≤ 0.14;
* of Hunt and Crossley: c = (3/2) (1 − e) / (1 m/s), that is e at an impact of 1 m/s, if it is near 1;
* tangential damping: 2 √(k m), and about the normal so that both relax alike.

What is fixed to the world is rigid unless its material says otherwise.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
>>> world = ta.World(ball, ground=ta.Plane(friction=0.7))
>>> run = ta.Simulation(world, dt=1e-3, contact=ta.Penalty(stiffness=1e4, damping=100.0)).run(1.0)
>>> bool(abs(run.q[-1, 2] - (0.1 - 9.81 / 1e4)) < 1e-6)
True

References: [HuntCrossley1975]; [Johnson1985, Section 7.2] for tangential against normal stiffness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from taction._core.errors import BadInput
from taction._core.expect import number
from taction.model.shapes import Material

SINK = 1e-3  # [m]
MINDLIN = 0.8  # 2 (1 − ν) / (2 − ν), for ν between 0.3 and 0.4
EARTH = 9.81  # [m/s²], where a world has no gravity
NUMBERS = ("stiffness", "damping", "tangential_stiffness", "tangential_damping", "torsional_stiffness")
DAMPERS = ("kelvin-voigt", "hunt-crossley")
INTEGRATIONS = ("explicit", "implicit")


@dataclass(frozen=True)
class SoftContact:
    """Springs and dampers for all shapes whose material has none of its own; None for what masses suggest.

    Attributes:
        stiffness: along the normal [N/m].
        damping: along the normal: [N s/m] for ``"kelvin-voigt"``, [s/m] for ``"hunt-crossley"``.
        tangential_stiffness: along the tangents [N/m]; 0.8 of the other by default.
        tangential_damping: along the tangents [N s/m].
        torsional_stiffness: about the normal [N m/rad]; 0 for none. Flat faces have none in any case.
        damper: one of `DAMPERS`.
        integration: ``"explicit"`` or ``"implicit"``; see `taction.steppers.soft_contacts`.
    """

    stiffness: float | None = None
    damping: float | None = None
    tangential_stiffness: float | None = None
    tangential_damping: float | None = None
    torsional_stiffness: float = 0.0
    damper: str = "kelvin-voigt"
    integration: str = "explicit"

    name: ClassVar[str]
    stepper: ClassVar[str]  # scheme by default

    def __post_init__(self) -> None:
        for key in NUMBERS:
            value = getattr(self, key)
            if value is None:
                continue
            value = number(value, key)
            least = "positive" if key == "stiffness" else "not negative"
            if not (math.isfinite(value) and (value > 0.0 if key == "stiffness" else value >= 0.0)):
                raise BadInput(f"{key}: must be {least} and finite, got {value:g}")
        if self.damper not in DAMPERS:
            raise BadInput(f"damper {self.damper!r}: choose from {', '.join(DAMPERS)}")
        if self.integration not in INTEGRATIONS:
            raise BadInput(f"integration {self.integration!r}: choose from {', '.join(INTEGRATIONS)}")

    @property
    def is_crossley(self) -> bool:
        """Whether dampers are Hunt and Crossley's."""
        return self.damper == "hunt-crossley"

    def __str__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        shown = {name: value for name, value in given.items() if value is not None and value != 0.0}
        return ", ".join(f"{n} {v:g}" if isinstance(v, float) else f"{n} {v}" for n, v in shown.items())

    def row(
        self,
        material: Material,
        *,
        weight: float,
        mass: float,
        mass_across: float,
        radius: float,
        is_fixed: bool,
    ) -> tuple[float, ...]:
        """Columns of `taction.contact.forces.soft_pair` of a shape.

        Args:
            material: of the shape.
            weight: of the robot or body that it belongs to [N].
            mass: what moves at the shape, along its normal [kg].
            mass_across: the same across it.
            radius: of its curvature [m], infinite if it is flat.
            is_fixed: it does not move.
        """
        m = material
        curvature = 1.0 / radius
        if is_fixed and m.stiffness is None and m.young is None:
            return (0.0, curvature, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        k = m.stiffness if m.stiffness is not None else self.stiffness
        k = weight / SINK if k is None else k
        softness, is_hertzian = 1.0 / k, 0.0
        if m.young is not None:
            softness, is_hertzian = (1.0 - m.poisson**2) / m.young, 1.0
            bend = math.sqrt(radius) if math.isfinite(radius) else 1.0
            sink = (weight * softness / (4.0 / 3.0 * bend)) ** (2.0 / 3.0)
            k = 1.5 * weight / sink  # slope of Hertz's force under that weight
        along = self.tangential_stiffness if self.tangential_stiffness is not None else MINDLIN * k
        damping = m.damping if m.damping is not None else self.damping
        if damping is None:
            damping = self._damping(k, mass, m.restitution)
        drag = self.tangential_damping
        if drag is None:
            drag = 0.0 if math.isinf(mass_across) else 2.0 * math.sqrt(along * mass_across)
        along_softness = 1.0 / along if along > 0.0 else math.inf
        about = self.torsional_stiffness
        turning = 1.0 / about if about > 0.0 else math.inf
        slow = about * drag / along if along > 0.0 else 0.0  # as fast as the tangential one
        return (softness, curvature, damping, along_softness, drag, turning, slow, is_hertzian)

    def _damping(self, k: float, mass: float, restitution: float) -> float:
        if self.is_crossley:
            return 1.5 * (1.0 - restitution)
        return 0.0 if math.isinf(mass) else 2.0 * damping_ratio(restitution) * math.sqrt(k * mass)


@dataclass(frozen=True)
class Penalty(SoftContact):
    """Contact that resists overlap by a spring and a damper, and sliding by another: [Ayit2015, Section 5.3].

    A stand-in for rigid contact: the stiffer, the closer to it, and the shorter the step must be.
    """

    name: ClassVar[str] = "penalty"
    stepper: ClassVar[str] = "stewart-trinkle"


@dataclass(frozen=True)
class Compliant(SoftContact):
    """Bodies as soft as their materials: springs attached where they first touch [DuindamStramigioli2003].

    Of order 2 in the springs, with Hunt and Crossley's damper by default.
    """

    damper: str = "hunt-crossley"

    name: ClassVar[str] = "compliant"
    stepper: ClassVar[str] = "midpoint"


SOFT: dict[str, type[SoftContact]] = {kind.name: kind for kind in (Penalty, Compliant)}


def as_soft(contact: object) -> SoftContact | None:
    """The soft model that a name or an object means, or None if contact is rigid."""
    if isinstance(contact, str) and contact in SOFT:
        return SOFT[contact]()
    return contact if isinstance(contact, SoftContact) else None


def damping_ratio(restitution: float) -> float:
    """ζ of a linear spring and damper that never pulls and returns this share of the speed of an impact.

    By bisection of `returned`; 1 where more would be needed.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if returned(middle) > restitution else (low, middle)
    return high


def returned(zeta: float) -> float:
    """Share of the speed of an impact that a linear spring and damper return, let go where they would pull.

    e^(−ζ φ / √(1 − ζ²)) with φ = π − atan2(2 ζ √(1 − ζ²), 1 − 2 ζ²), where the force ends; e⁻² for ζ = 1.
    """
    root = math.sqrt(max(1.0 - zeta * zeta, 0.0))
    if root < 1e-6:
        return math.exp(-2.0)
    phase = math.pi - math.atan2(2.0 * zeta * root, 1.0 - 2.0 * zeta * zeta)
    return math.exp(-zeta * phase / root)


def longest_step(stiffness: float, damping: float, mass: float) -> float:
    """2 (√(1 + ζ²) − ζ) / ω [s]: explicit steps of a mass on a spring and damper are stable below this.

    For v⁺ = v − h (ω² x + 2 ζ ω v), x⁺ = x + h v⁺, whose amplification has eigenvalues within the unit circle
    if and only if h² ω² + 4 ζ ω h < 4.
    """
    omega = math.sqrt(stiffness / mass)
    zeta = damping / (2.0 * math.sqrt(stiffness * mass))
    return 2.0 * (math.sqrt(1.0 + zeta * zeta) - zeta) / omega
