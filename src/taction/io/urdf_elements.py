"""The vocabulary of URDF: which elements and attributes are read, and a list of those that are not.

`urdf.py` turns elements into bodies and joints; here they are surveyed and their attributes fetched. Every
function that does not find what it needs raises a `ModelError` with file, line, element and reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import UnsupportedFeatureWarning
from taction._core.plain_file import Room
from taction.io.notes import Notes
from taction.io.xml import Element, fail, floats, number
from taction.model.spec import ModelSpec


@dataclass(frozen=True)
class Rule:
    """What an element may hold: attributes, children once, children in any number, children skipped."""

    attributes: str = ""
    one: str = ""
    many: str = ""
    skip: str = ""


SCHEMA = {
    "robot": Rule("name version", many="link joint", skip="material"),
    "link": Rule("name", one="inertial", many="collision", skip="visual material"),
    "inertial": Rule(one="origin mass inertia"),
    "origin": Rule("xyz rpy"),
    "mass": Rule("value"),
    "inertia": Rule("ixx ixy ixz iyy iyz izz"),
    "collision": Rule("name", one="origin geometry", skip="material"),
    "geometry": Rule("name", one="box sphere cylinder capsule mesh"),
    "box": Rule("size"),
    "sphere": Rule("radius"),
    "cylinder": Rule("radius length"),
    "capsule": Rule("radius length"),
    "mesh": Rule("filename scale"),
    "joint": Rule(
        "name type dont_collapse",  # the last: a hint to tools that merge links
        one="origin parent child axis axis2 limit dynamics mimic",
        skip="calibration safety_controller",
    ),
    "parent": Rule("link"),
    "child": Rule("link"),
    "axis": Rule("xyz"),
    "axis2": Rule("xyz"),
    "limit": Rule("lower upper effort velocity"),
    "dynamics": Rule("damping friction"),
    "mimic": Rule("joint multiplier offset"),
}

# What an element or attribute changes that is listed.
CHANGES = {
    "gazebo": "settings of another simulator",
    "transmission": "no motor",
    "ros2_control": "no motor",
    "sensor": "no sensor",
}
_UNKNOWN = "not known here"


@dataclass
class Reading:
    """Options of one reading (those of `read_urdf`), and what it could not use.

    Attributes:
        notes: what is not read.
        unphysical: one message per inertia that no rigid body has.
        joints: where each joint stands, by name; that of the root is where its link stands.
        room: for meshes.
    """

    file: str
    floating_base: bool = False
    package_dirs: Sequence[str | Path] = ()
    load_meshes: bool = True
    check_inertia: bool = True
    srdf: str | Path | None = None
    strict: bool = False
    notes: Notes = field(default_factory=Notes)
    unphysical: list[str] = field(default_factory=list)
    joints: dict[str, Element] = field(default_factory=dict)
    room: Room = field(default_factory=Room)

    def report(self, spec: ModelSpec, stacklevel: int) -> None:
        """Keep in ``spec`` what was not read; one warning for all of it, one for all that is unphysical."""
        spec.unread = tuple(self.notes.entries)
        self.notes.report(self.file, strict=self.strict, stacklevel=stacklevel + 1)
        if self.unphysical:
            messages = "\n  ".join(["inertias that no rigid body has, kept as they are:", *self.unphysical])
            warnings.warn(f"{self.file}: {messages}", UnsupportedFeatureWarning, stacklevel=stacklevel + 1)


def strip_namespace(root: Element) -> None:
    """Drop a default namespace (``xmlns="..."``), which some exporters write."""
    namespace, brace, _ = root.tag.rpartition("}")
    if brace:
        for element in root.iter():
            element.tag = element.tag.removeprefix(namespace + brace)


def survey(element: Element, reading: Reading) -> None:
    """Note every element and attribute below ``element`` that is not read."""
    rule = SCHEMA[element.tag]
    for attribute in element.keys():
        if attribute not in rule.attributes.split():
            what = f"attribute {shown_tag(attribute)!r} of {element.tag}"
            reading.notes.add(what, element, CHANGES.get(attribute, _UNKNOWN))
    seen: set[str] = set()
    for child in children(element):
        if child.tag in rule.one.split() and child.tag in seen:
            reading.notes.add(f"second {child.tag} of one {element.tag}", child, "the first one counts")
            continue
        seen.add(child.tag)
        if child.tag in (rule.one + " " + rule.many).split():
            survey(child, reading)
        elif child.tag not in rule.skip.split():
            reading.notes.add(shown_tag(child.tag), child, CHANGES.get(child.tag, _UNKNOWN))


def shown_tag(tag: str) -> str:
    """A tag or attribute for messages: ``{http://www.ros.org/wiki/xacro}macro`` as ``xacro:macro``."""
    namespace, brace, local = tag.rpartition("}")
    return f"{namespace.rstrip('/').rpartition('/')[2].lstrip('{')}:{local}" if brace else tag


def by_name(root: Element, tag: str) -> dict[str, Element]:
    """Children with that tag by their names, which must exist and differ."""
    found: dict[str, Element] = {}
    for element in children(root, tag):
        name = text(element, "name")
        if name in found:
            fail(element, f"the name is already used on line {found[name].line}")
        found[name] = element
    return found


def children(element: Element, tag: str | None = None) -> list[Element]:
    """All children, or those with that tag."""
    return [cast(Element, child) for child in element if tag is None or child.tag == tag]


def child(element: Element, tag: str) -> Element | None:
    """The child with that tag, if there is one."""
    return cast("Element | None", element.find(tag))


def needed(element: Element, tag: str) -> Element:
    """The child with that tag, which must exist."""
    found = child(element, tag)
    if found is None:
        fail(element, f"has no <{tag}>")
    return found


def text(element: Element, attribute: str) -> str:
    """An attribute that must exist."""
    found = element.get(attribute)
    if not found:
        fail(element, f"has no attribute {attribute!r}")
    return found


def value(element: Element, attribute: str, default: float | None = None, *, least: float = -np.inf) -> float:
    """An attribute as one finite number; without a default it must exist."""
    found = number(element, attribute, default)
    if found is None:
        fail(element, f"has no attribute {attribute!r}")
    if found < least:
        fail(element, f"{attribute}={found:g} must not be below {least:g}")
    return found


def vector(element: Element, attribute: str, default: Sequence[float] | None = None) -> Array:
    """An attribute as three finite numbers; without a default it must exist."""
    found = floats(element, attribute, 3)
    if found is None and default is None:
        fail(element, f"has no attribute {attribute!r}")
    return np.array(default) if found is None else found
