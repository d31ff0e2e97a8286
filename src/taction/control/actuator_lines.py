"""Lines of force: actuators as joints and tendons feel them, and what these bear of their sum.

A *line* is a force f with moment arms c on the joints, τ = c f: one actuator, or several on one tendon that
act as one. A tendon may bound the sum of its actuators' forces fᵢ (`TendonSpec.force_range`), before their
gears, as MuJoCo does: all of them are scaled so that the sum is in the range, then each is clipped to its
own. A joint bounds the sum of the forces gᵢ fᵢ that it feels (`JointSpec.effort` and `force_range`).

With servos fᵢ = clip(bᵢ − Kᵢ ℓᵢ − Dᵢ ℓ̇ᵢ, lowᵢ, highᵢ) such sums are again one servo, or numbers that are
known beforehand, and so exact in a step at any gain, where

* all of them are motors: their forces are numbers;
* no servo has a range of its own: clip(Σ gᵢ fᵢ) is one servo, with K = Σ gᵢ² Kᵢ, D = Σ gᵢ² Dᵢ, b = Σ gᵢ bᵢ.
  On a tendon the gears must be the same, since ranges are those of Σ fᵢ, and motors have no ranges either;
* one servo is alone: clip(clip(f, a, b), c, d) = clip(f, clip(a, c, d), clip(b, c, d)).

Other sums are *loose*: a servo with a range beside others, and forces at a joint of which the arms change
with the configuration (paths over sites, sites) or that servos along tendons make. There each line that pulls
at the joint alone is bounded, not the sum. `loose_bounds` names them; a file that has them says so.

References: MuJoCo XML reference, ``actuatorfrcrange`` of joints and tendons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from taction.model.spec import WORLD, ActuatorSpec, JointSpec, ModelSpec, TendonSpec

Axis = tuple[str, int]  # a joint and the number of one of its degrees of freedom
Bounds = tuple[float, float]

UNBOUNDED = (-np.inf, np.inf)


@dataclass
class Line:
    """A line of force.

    Attributes:
        parts: what it sums, by number of the actuator, with factors.
        arms: joint force per force where that is constant.
        touched: joints that feel it in an amount that depends on the configuration.
        K: stiffness along it.
        D: damping along it.
        bounds: of the force.
        gear: length per coordinate of its joint, per length of its tendon.
        tendon: what it pulls, or ``""``.
        site: name of the actuator that pushes at a site, or ``""``.
    """

    parts: dict[int, float]
    arms: dict[Axis, float] = field(default_factory=dict)
    touched: frozenset[str] = frozenset()
    K: float = 0.0
    D: float = 0.0
    bounds: Bounds = UNBOUNDED
    gear: float = 1.0
    tendon: str = ""
    site: str = ""

    @property
    def has_gains(self) -> bool:
        """Whether its force depends on the motion."""
        return self.K > 0.0 or self.D > 0.0

    @property
    def is_bounded(self) -> bool:
        """Whether it has a largest force."""
        return bool(np.isfinite(self.bounds).any())

    @property
    def is_row(self) -> bool:
        """Whether it is always an element of the step by itself."""
        return bool(self.tendon or self.site) and (self.has_gains or not self.arms)


class Sum(NamedTuple):
    """Lines on one axis of a joint that are one servo there."""

    axis: Axis
    K: float
    D: float
    bounds: Bounds
    inputs: dict[int, float]  # factor by number of the line


@dataclass
class Lines:
    """The forces of all actuators of a description.

    Attributes:
        lines: all that make any force.
        sums: servos that stand for several lines on a joint; the lines themselves have no arms there.
        bounds: of the sum of forces that are known beforehand, by axis.
        shared: numbers of motors that are scaled together, and the bounds of the sum of their forces.
        loose: joints and tendons whose sum is not bounded, with the numbers of the actuators in it.
    """

    lines: list[Line] = field(default_factory=list)
    sums: list[Sum] = field(default_factory=list)
    bounds: dict[Axis, Bounds] = field(default_factory=dict)
    shared: list[tuple[list[int], Bounds]] = field(default_factory=list)
    loose: list[tuple[JointSpec | TendonSpec, list[int]]] = field(default_factory=list)


def stiffness(actuator: ActuatorSpec) -> float:
    """Force per length."""
    return actuator.kp if actuator.kind in ("position", "affine") else 0.0


def damping(actuator: ActuatorSpec) -> float:
    """Force per rate."""
    return actuator.kv if actuator.kind in ("position", "velocity", "affine") else 0.0


def loose_bounds(spec: ModelSpec) -> list[tuple[JointSpec | TendonSpec, list[int]]]:
    """Joints and tendons that bound a sum of forces which is not bounded here, and whose forces these are."""
    return make_lines(spec).loose


def make_lines(spec: ModelSpec) -> Lines:
    """The lines of a description's actuators."""
    tendons = {tendon.name: tendon for tendon in spec.tendons}
    joints = {joint.name: joint for joint in spec.joints}
    out = Lines()
    pulling: dict[str, list[Line]] = {}
    ways: dict[str, JointSpec] = {joint.child: joint for joint in spec.joints}
    for i, actuator in enumerate(spec.actuators):
        line = _line(i, actuator, tendons, joints)
        if line is None:
            continue
        if line.tendon and np.isfinite(tendons[line.tendon].force_range).any():
            pulling.setdefault(line.tendon, []).append(line)
        else:
            out.lines.append(line)
    for name, some in pulling.items():
        _bound_tendon(tendons[name], some, out)
    bounded = {joint.name: joint for joint in spec.joints if _has_bounds(joint)}
    if bounded:
        _mark_touched(spec, out.lines, ways)
        _bound_joints(bounded, out)
    return out


def _members(lines: Sequence[Line]) -> list[int]:
    return sorted(i for line in lines for i in line.parts)


def _line(
    i: int, actuator: ActuatorSpec, tendons: Mapping[str, TendonSpec], joints: Mapping[str, JointSpec]
) -> Line | None:
    """The line of one actuator; None if it makes no force."""
    if actuator.kind == "none":
        return None
    line = Line({i: 1.0}, K=stiffness(actuator), D=damping(actuator), bounds=actuator.force_range)
    if actuator.tendon:
        line.tendon, line.gear = actuator.tendon, actuator.gear
        line.arms = {(name, 0): line.gear * c for name, c in tendons[line.tendon].joints.items()}
        return line
    if actuator.site:
        line.site = actuator.name
        return None if actuator.refsite or line.has_gains else line
    nv = joints[actuator.joint].kind.nv
    if not actuator.gears:
        line.gear = actuator.gear
        line.arms = {(actuator.joint, k): line.gear for k in range(nv)}
    elif line.has_gains:
        return None
    else:
        line.arms = {(actuator.joint, k): gear for k, gear in enumerate(actuator.gears)}
    return line


# ----- Bounds -----------------------------------------------------------------------------------------------


def _clipped(bounds: Bounds, by: Bounds) -> Bounds:
    """Bounds of a force in ``bounds`` that is clipped to ``by`` as well."""
    low, high = (float(min(max(bound, by[0]), by[1])) for bound in bounds)
    return low, high


def _per_gear(bounds: Bounds, gear: float) -> Bounds:
    """Bounds of f where those of gear · f are given."""
    low, high = sorted(bound / gear for bound in bounds)
    return low, high


def _bound_tendon(tendon: TendonSpec, some: Sequence[Line], out: Lines) -> None:
    """Add lines along a tendon that bounds the sum of their forces."""
    first, bounds = some[0], tendon.force_range
    if not any(line.has_gains for line in some):
        out.lines += some
        out.shared.append((_members(some), bounds))
    elif len(some) > 1 and not any(line.is_bounded or line.gear != first.gear for line in some):
        whole = replace(first, parts={i: 1.0 for line in some for i in line.parts}, bounds=bounds)
        whole.K, whole.D = sum(line.K for line in some), sum(line.D for line in some)
        out.lines.append(whole)
    else:
        for line in some:
            line.bounds = _clipped(bounds, line.bounds)
        out.lines += some
        if len(some) > 1:
            out.loose.append((tendon, _members(some)))


def _has_bounds(joint: JointSpec) -> bool:
    return bool(np.isfinite(joint.effort).any() or np.isfinite(joint.force_range).any())


def _bounds_of(joint: JointSpec, k: int) -> Bounds:
    effort = float(np.broadcast_to(joint.effort, (joint.kind.nv,))[k])
    return _clipped(joint.force_range, (-effort, effort))


def _bound_joints(bounded: Mapping[str, JointSpec], out: Lines) -> None:
    """Bound the sums of forces on joints."""
    felt: dict[Axis, list[int]] = {}
    strange: dict[str, list[int]] = {}
    for n, line in enumerate(out.lines):
        if line.is_row:
            for name in {name for name, _ in line.arms} | line.touched:
                strange.setdefault(name, []).append(n)
            continue
        for axis, arm in line.arms.items():
            if axis[0] in bounded and arm != 0.0:
                felt.setdefault(axis, []).append(n)
    for axis, numbers in felt.items():
        bounds, some = _bounds_of(bounded[axis[0]], axis[1]), [out.lines[n] for n in numbers]
        if not np.isfinite(bounds).any():
            continue
        is_exact = _bound_axis(axis, numbers, some, bounds, out)
        if not is_exact or axis[0] in strange:
            also = [out.lines[n] for n in strange.pop(axis[0], [])]
            out.loose.append((bounded[axis[0]], _members(some + also)))
    for name, numbers in strange.items():
        if name in bounded:
            out.loose.append((bounded[name], _members([out.lines[n] for n in numbers])))


def _bound_axis(axis: Axis, numbers: Sequence[int], some: Sequence[Line], bounds: Bounds, out: Lines) -> bool:
    """Bound the sum of lines on one axis; whether that is exact."""
    gained = [line for line in some if line.has_gains]
    if gained and len(some) > 1 and not any(line.is_bounded for line in gained):
        K, D = (sum(line.gear**2 * gain for line, gain in zip(gained, gains, strict=True)) for gains in (
            [line.K for line in gained], [line.D for line in gained]
        ))  # fmt: skip
        out.sums.append(Sum(axis, K, D, bounds, {n: out.lines[n].arms.pop(axis) for n in numbers}))
        return True
    for line in gained:
        line.bounds = _clipped(line.bounds, _per_gear(bounds, line.gear))
    if len(gained) < len(some):
        out.bounds[axis] = bounds
    return not gained or len(some) == 1


# ----- Joints that feel a force at a site -------------------------------------------------------------------


def _mark_touched(spec: ModelSpec, lines: Sequence[Line], ways: Mapping[str, JointSpec]) -> None:
    """Note for lines over sites which joints feel them: those on the way of some ends, not of all."""
    holders = {site.name: site.body for site in spec.sites}
    pushed = {actuator.name: [actuator.site] for actuator in spec.actuators if actuator.site}
    paths = {
        tendon.name: [name for _, names in tendon.path for name in names]
        for tendon in spec.tendons
        if tendon.path
    }
    for line in lines:
        sites = pushed[line.site] if line.site else paths.get(line.tendon, [])
        chains = [frozenset(_way(holders[site], ways)) for site in sites]
        if chains:
            common = frozenset.intersection(*chains) if line.tendon else frozenset[str]()
            line.touched = frozenset.union(*chains) - common


def _way(body: str, ways: Mapping[str, JointSpec]) -> Iterator[str]:
    """Joints between a body and the world."""
    while body != WORLD:
        yield ways[body].name
        body = ways[body].parent
