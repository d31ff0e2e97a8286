"""Tendons of an MJCF model: lengths made from joints (``fixed``) or from a path over sites (``spatial``).

What becomes what
* ``fixed`` with joints and coefficients is `TendonSpec.joints`.
* ``spatial`` is `TendonSpec.path`: straight pieces from site to site. A ``pulley`` ends a branch and begins
  the next one, whose pieces count 1/divisor.
* ``range`` is a limit of the length; ``stiffness``, ``damping``, ``frictionloss`` and ``armature`` act on the
  length and its rate. ``springlength`` is one rest length or two with slack in between; −1, the default, is
  the length with all joints at their ``springref``. ``actuatorfrcrange`` bounds the sum of the forces of its
  actuators.

Departures: inertia along tendons is kept in the description, but nothing in a simulation heeds it: it is
listed. A path that winds round geoms is listed; its pieces run straight, through the geom.

References: MuJoCo XML reference, section "tendon".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from taction._core.arrays import Array
from taction.io.mjcf_joints import relaxed_places
from taction.io.mjcf_source import Source, children, least, limits, named
from taction.io.xml import Element, fail, floats
from taction.model.spec import JointSpec, ModelSpec, SiteSpec, TendonSpec

_FREE = (-np.inf, np.inf)
_RELAXED = (-1.0, -1.0)  # what stands for the length at springref


def read_tendons(source: Source, spec: ModelSpec, joints: Mapping[str, JointSpec]) -> None:
    """Add the tendons of a file to a model that has its bodies and sites.

    Raises:
        ModelError: unknown joint or site, repeated name, or a bad value.
    """
    sites, relaxed = {site.name: site for site in spec.sites}, _Relaxed(spec)
    elements = (e for e in source.sections("tendon") if e.tag in ("fixed", "spatial"))
    for name, written in named(elements, "tendon"):
        tendon = TendonSpec(name)
        if written.tag == "fixed":
            _read_joints(written, tendon, joints, source)
        else:
            _read_path(written, tendon, sites, source)
        _read_numbers(source.completed(written, tag="tendon"), tendon, source)
        if tendon.stiffness and tendon.rest == _RELAXED:
            length = relaxed.length(tendon)
            tendon.rest = (length, length)
        spec.tendons.append(tendon)


def _read_joints(
    element: Element, tendon: TendonSpec, joints: Mapping[str, JointSpec], source: Source
) -> None:
    for part in children(element, "joint"):
        name = part.get("joint", "")
        if name not in joints:
            source.missing(part, "joint", name, joints)
        if not joints[name].kind.is_single:
            fail(part, f"joint {name!r} is not a hinge or slide")
        if part.get("coef") is None:
            fail(part, "has no attribute 'coef'")
        coefficient = least(part, "coef", minimum=-np.inf)
        tendon.joints[name] = tendon.joints.get(name, 0.0) + coefficient
    if not tendon.joints:
        fail(element, "has no joints")


def _read_path(element: Element, tendon: TendonSpec, sites: Mapping[str, SiteSpec], source: Source) -> None:
    tendon.path.append((1.0, []))
    for part in children(element):
        if part.tag == "pulley":
            tendon.path.append((least(part, "divisor", minimum=0.0), []))
            if tendon.path[-1][0] == 0.0:
                fail(part, "needs a positive divisor")
        elif part.tag == "geom":
            source.notes.add("spatial/geom", part, "the path runs straight")
        elif part.tag == "site":
            name = part.get("site", "")
            if name not in sites:
                source.missing(part, "site", name, sites)
            tendon.path[-1][1].append(name)
    tendon.path = [branch for branch in tendon.path if branch[1]]
    if not tendon.path or any(len(names) < 2 for _, names in tendon.path):
        fail(element, "a path, and each branch of it, needs two sites")


class _Relaxed:
    """The mechanism with every single-axis joint at its ``springref``, the others where they begin."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec

    def length(self, tendon: TendonSpec) -> float:
        """Length of a tendon there."""
        length = sum(c * self._rest[joint] for joint, c in tendon.joints.items())
        for divisor, names in tendon.path:
            points = np.array([self._points[name] for name in names])
            length += np.linalg.norm(np.diff(points, axis=0), axis=1).sum() / divisor
        return float(length)

    @cached_property
    def _rest(self) -> dict[str, float]:
        return {joint.name: float(joint.rest) for joint in self._spec.joints if joint.kind.is_single}

    @cached_property
    def _points(self) -> dict[str, Array]:
        """Where the sites are."""
        placed = relaxed_places(self._spec.joints)
        return {
            site.name: placed[site.body][0] @ site.pose.translation + placed[site.body][1]
            for site in self._spec.sites
        }


def _read_numbers(element: Element, tendon: TendonSpec, source: Source) -> None:
    tendon.lower, tendon.upper = limits(element, "range", "limited", source) or _FREE
    tendon.force_range = limits(element, "actuatorfrcrange", "actuatorfrclimited", source) or _FREE
    if tendon.force_range[0] > 0.0 or tendon.force_range[1] < 0.0:
        fail(element, f"actuatorfrcrange={element.get('actuatorfrcrange')!r} must contain 0")
    tendon.stiffness = least(element, "stiffness", most=3)
    tendon.damping = least(element, "damping", most=3)
    tendon.friction, tendon.armature = least(element, "frictionloss"), least(element, "armature")
    given = floats(element, "springlength")
    rest = list(_RELAXED) if given is None else given.tolist()
    if len(rest) > 2:
        fail(element, f"springlength={element.get('springlength')!r} has more than 2 numbers")
    slack, taut = rest[0], rest[-1]
    tendon.rest = (slack, taut)
    if tendon.armature:
        source.notes.add("tendon armature", element, "no inertia along the tendon")
    if tendon.rest[0] > tendon.rest[1]:
        fail(element, f"springlength: {slack:g} is above {taut:g}")
