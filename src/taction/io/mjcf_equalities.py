"""Equality constraints of an MJCF model: loops that are closed, and joints that are coupled.

Notation: q₀ MuJoCo's ``qpos0``, at which every joint is at its ``ref``; X₁, X₂ the placements of two bodies.

What becomes what
* ``connect`` is a `LoopSpec` of kind "point". Between bodies, ``anchor`` is a point of the first, and the
  point of the second is where that is at q₀. Between sites, their origins coincide, whatever q₀ says.
* ``weld`` is a `LoopSpec` of kind "weld". Between bodies, ``anchor`` is a point of the second. ``relpose``
  is where it is seen from the first body, and how the second is turned; without it (or with a zero
  quaternion) both are as at q₀. Between sites, their frames coincide. ``torquescale="0"`` leaves the turning
  free: kind "point".
* ``joint`` is a `Mimic`: q₁ − q₁₀ = a₀ + a₁ (q₂ − q₂₀); without a second joint, q₁ is held.
* ``tendon`` says the same of lengths. Fixed tendons that come to one joint or two are a `Mimic`; others are
  held at a length (`TendonSpec.held`), those of two tendons as one tendon more.
* ``active="false"`` is an equality that may be switched on later. Nothing does so here: it is not read, and
  not listed.

A loop between two bodies that are one piece says nothing about motion and is left out.

Departures: MuJoCo's equalities are soft. Here they are exact, and ``solref`` and ``solimp`` are listed.
Polynomials of higher order (``polycoef``), spatial tendons and flexes are listed and left out.

References: MuJoCo XML reference, section "equality".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taction.io.mjcf_bodies import Place
from taction.io.mjcf_source import Source, flag, least, located, named, unit, vector
from taction.io.xml import Element, fail, floats
from taction.math.transform import Transform, rotation_from_quaternion
from taction.model.spec import WORLD, JointSpec, LoopSpec, Mimic, ModelSpec, SiteSpec, TendonSpec

_KINDS = ("connect", "weld", "joint", "tendon")
_UNTIED = "the joints are not coupled"
_PARTS = ("body1", "body2", "joint1", "joint2", "site1", "site2")
_LINEAR = (0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass
class _Reading:
    """The model in the making, with its parts by name."""

    source: Source
    spec: ModelSpec
    joints: Mapping[str, JointSpec]
    places: Mapping[str, Place]
    tendons: dict[str, TendonSpec]

    @cached_property
    def n_single(self) -> int:
        """How many joints have one axis."""
        return sum(joint.kind.is_single for joint in self.joints.values())

    @cached_property
    def sites(self) -> dict[str, SiteSpec]:
        """By their names."""
        return {site.name: site for site in self.spec.sites}

    def is_known(self, name: str) -> bool:
        """Whether a body, a joint, a tendon or a site has that name."""
        return any(name in names for names in (self.places, self.joints, self.tendons, self.sites))


def read_equalities(
    source: Source, spec: ModelSpec, joints: Mapping[str, JointSpec], places: Mapping[str, Place]
) -> None:
    """Add loops and couplings to a model that has its bodies, sites and tendons.

    Raises:
        ModelError: a name that does not exist or is used twice, or a bad value.
    """
    reading = _Reading(source, spec, joints, places, {tendon.name: tendon for tendon in spec.tendons})
    for name, written in named(source.sections("equality"), "equality"):
        if written.tag not in _KINDS:
            continue  # listed by the survey
        element = source.completed(written, tag="equality")
        if not flag(element, "active", True):
            continue
        lost = _lost_part(element, reading)
        if lost:
            what = f"equality/{element.tag} with {lost!r}, which is not read"
            source.notes.add(what, element, "these parts are not joined")
        elif written.tag in ("connect", "weld"):
            _read_loop(element, name, reading)
        else:
            _read_coupling(element, name, reading)


def _lost_part(element: Element, reading: _Reading) -> str:
    """A body or joint that an equality names and that something not read would have made."""
    lost = (name for part in _PARTS if (name := element.get(part)) and not reading.is_known(name))
    return next((name for name in lost if reading.source.unread_around(name)), "")


# ----- Loops ------------------------------------------------------------------------------------------------


def _read_loop(element: Element, name: str, reading: _Reading) -> None:
    by_sites = bool(element.get("site1") or element.get("site2"))
    if by_sites and (element.get("body1") or element.get("body2")):
        fail(element, "names both sites and bodies")
    loop = _between_sites(element, name, reading) if by_sites else _between_bodies(element, name, reading)
    if loop.body == loop.other:
        fail(element, f"joins body {loop.body!r} to itself")
    if reading.places[loop.body].carrier != reading.places[loop.other].carrier:
        reading.spec.loops.append(loop)


def _between_sites(element: Element, name: str, reading: _Reading) -> LoopSpec:
    sites = reading.sites
    for attribute in ("site1", "site2"):
        if element.get(attribute, "") not in sites:
            reading.source.missing(element, attribute, element.get(attribute, ""), sites)
    one, two = sites[element.get("site1", "")], sites[element.get("site2", "")]
    return LoopSpec(name, one.body, two.body, one.pose, two.pose, _kind(element))


def _between_bodies(element: Element, name: str, reading: _Reading) -> LoopSpec:
    bodies = (element.get("body1", ""), element.get("body2", WORLD))
    for body in bodies:
        if body not in reading.places:
            reading.source.missing(element, "body", body, reading.places)
    if element.tag == "connect" and element.get("anchor") is None:
        fail(element, "has no attribute 'anchor'")
    anchor = vector(element, "anchor", (0.0, 0.0, 0.0))
    home, other_home = (reading.places[body].home for body in bodies)
    with located(element):
        from_other = home.inverse() @ other_home
        if element.tag == "connect":
            there = from_other.inverse().apply(anchor)
            frames = Transform(translation=anchor), Transform(translation=there)
        else:
            seen = Transform(from_other.rotation, from_other.apply(anchor))
            frames = _relative_pose(element) or seen, Transform(translation=anchor)
    return LoopSpec(name, *bodies, *frames, _kind(element))


def _relative_pose(element: Element) -> Transform | None:
    """The frame on the first body that ``relpose`` gives, or None if it leaves that to q₀."""
    values = floats(element, "relpose", 7)
    if values is None or not values[3:].any():
        return None
    return Transform(rotation_from_quaternion(unit(element, values[3:], "relpose")), values[:3])


def _kind(element: Element) -> str:
    is_point = element.tag == "connect" or least(element, "torquescale", 1.0) == 0.0
    return "point" if is_point else "weld"


# ----- Couplings --------------------------------------------------------------------------------------------


def _read_coupling(element: Element, name: str, reading: _Reading) -> None:
    """An equation Σ c (q − q₀) = a₀ over joints, as a mimic joint or as a tendon that is held."""
    values = floats(element, "polycoef")
    if values is not None and len(values) > len(_LINEAR):
        fail(element, f"polycoef={element.get('polycoef')!r} has more than {len(_LINEAR)} numbers")
    coefficients = np.array(_LINEAR)
    if values is not None:
        coefficients[: len(values)] = values
    first = _combination(element, f"{element.tag}1", reading)
    second = _combination(element, f"{element.tag}2", reading) if element.get(f"{element.tag}2") else {}
    if first is None or second is None:
        reading.source.notes.add("equality/tendon of a spatial tendon", element, _UNTIED)
        return
    if second and coefficients[2:].any():
        reading.source.notes.add(f"equality/{element.tag} of higher order", element, _UNTIED)
        return
    for joint, c in second.items():
        first[joint] = first.get(joint, 0.0) - float(coefficients[1]) * c
    row = {joint: c for joint, c in first.items() if c != 0.0}
    if not row:
        fail(element, "says nothing about any joint: all its coefficients are zero")
    constant = coefficients[0] + sum(c * _initial(reading.joints[joint]) for joint, c in row.items())
    with np.errstate(all="ignore"):
        if not np.isfinite([constant, *row.values()]).all():
            fail(element, "its coefficients are too large")
    _couple(element, name, row, float(constant), reading)


def _initial(joint: JointSpec) -> float:
    """Position of a single-axis joint at q₀."""
    return 0.0 if joint.initial is None else float(joint.initial[0])


def _combination(element: Element, attribute: str, reading: _Reading) -> dict[str, float] | None:
    """Coefficients of joints in the length that an attribute names; None for a spatial tendon."""
    name = element.get(attribute, "")
    if element.tag == "tendon":
        if name not in reading.tendons:
            reading.source.missing(element, "tendon", name, reading.tendons)
        tendon = reading.tendons[name]
        return None if tendon.path else dict(tendon.joints)
    if name not in reading.joints:
        reading.source.missing(element, "joint", name, reading.joints)
    if not reading.joints[name].kind.is_single:
        fail(element, f"joint {name!r} is not a hinge or slide")
    return {name: 1.0}


def _couple(element: Element, name: str, row: dict[str, float], constant: float, reading: _Reading) -> None:
    """Σ c q = constant: the first joint that can follows the other one, or is held."""
    for follower, c in row.items():
        others = [joint for joint in row if joint != follower]
        leader = others[0] if others else ""
        if len(others) > 1 or not _can_follow(follower, leader, reading):
            continue
        multiplier = -row[leader] / c if leader else 0.0
        if np.isfinite(multiplier) and np.isfinite(constant / c):
            reading.joints[follower].mimic = Mimic(leader, multiplier, constant / c)
            return
    whole = element.get("tendon1", "")
    if element.tag == "tendon" and not element.get("tendon2"):
        reading.tendons[whole].held = constant
    else:
        while name in reading.tendons:
            name += "_"
        reading.tendons[name] = TendonSpec(name, joints=row, held=constant)
        reading.spec.tendons.append(reading.tendons[name])


def _can_follow(follower: str, leader: str, reading: _Reading) -> bool:
    """Whether a joint is free to follow another one, or to be held; each follows one, and never itself."""
    joints = reading.joints
    if joints[follower].mimic is not None:
        return False
    if not leader:
        return reading.n_single > 1
    while leader:
        if leader == follower:
            return False
        mimic = joints[leader].mimic
        leader = mimic.joint if mimic is not None else ""
    return True
