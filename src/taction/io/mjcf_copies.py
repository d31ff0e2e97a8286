"""Copies of parts of an MJCF text under other names, with all that names them.

A name belongs to a kind (body, joint, geom, site, tendon, actuator, mesh, material); attributes refer to it
by kind. A copy gets a prefix or a suffix on its own names and on its references. What stands in other
sections and refers to copied parts is copied with them: tendons first, since actuators and sensors refer to
tendons. Equalities and actuators must refer to nothing else but the world for that; tendons, sensors, pairs
and exclusions may refer to other parts as well, which stay what they are. This is what MuJoCo does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from taction.io.mjcf_source import children
from taction.io.xml import Element
from taction.model.spec import WORLD

# Kinds of names, by section or tag of the elements that have them.
_NAMED = {"body": "body", "joint": "joint", "freejoint": "joint", "geom": "geom", "site": "site"}
_SECTIONS = {
    "tendon": "tendon",
    "equality": "equality",
    "contact": "contact",
    "actuator": "actuator",
    "sensor": "",
}

# Sections whose elements are copied although they refer to other parts as well.
_MIXED = ("tendon", "contact", "sensor")

# Attributes that refer to a name, by its kind.
_REFERENCES = {
    "joint": "joint jointinparent joint1 joint2",
    "tendon": "tendon tendon1 tendon2",
    "site": "site site1 site2 refsite cranksite slidersite sidesite",
    "body": "body body1 body2",
    "geom": "geom geom1 geom2",
    "actuator": "actuator",
    "mesh": "mesh",
    "material": "material",
}
_KIND_OF = {attribute: kind for kind, words in _REFERENCES.items() for attribute in words.split()}

# Kinds of assets: who refers to them is not a part of what is copied.
_ASSETS = ("mesh", "material")

# Sections whose elements inherit from default classes, like meshes.
_CLASSED = ("tendon", "equality", "contact", "actuator", "asset")

Names = dict[str, set[str]]


def copied(element: Element) -> Element:
    """A deep copy that keeps places and origins."""
    copy = Element(element.tag, dict(element.items()))
    copy.file, copy.line, copy.origin = element.file, element.line, element.origin
    copy.extend([copied(child) for child in children(element)])
    return copy


def adopt(root: Element, origin: int) -> None:
    """Make all of a model's elements those of that origin, with default classes of their own."""
    for element in cast("Iterator[Element]", root.iter()):
        element.origin = origin
        for attribute in ("class", "childclass"):
            if element.get(attribute):
                element.set(attribute, f"{origin}:{element.get(attribute)}")
    for section in (section for tag in _CLASSED for section in children(root, tag)):
        for element in children(section):
            if element.tag != "exclude" and not element.get("class"):
                element.set("class", f"{origin}:main")


def names_in(element: Element) -> Names:
    """Names of the bodies, joints, geoms and sites at and below an element, by kind."""
    names: Names = {kind: set() for kind in _REFERENCES}
    for each in element.iter():
        if each.tag in _NAMED and each.get("name"):
            names[_NAMED[each.tag]].add(each.get("name", ""))
    return names


def selected(root: Element, names: Names, *, take: bool = False, mixed: bool = False) -> list[Element]:
    """Sections with copies of the elements that refer to these names, and of sensors that refer to nothing.

    Names of elements that are selected count from then on.

    Args:
        root: the model.
        names: by kind; those of selected tendons and actuators are added.
        take: remove from the model whatever refers to one of the names; what refers to nothing stays.
        mixed: other references are to parts of the same model; tendons, contacts and sensors may have some.
    """
    out = []
    for tag, kind in _SECTIONS.items():
        for section in children(root, tag):
            kept = Element(tag)
            kept.file, kept.line, kept.origin = section.file, section.line, section.origin
            for element in children(section):
                found = [name in names[of] for of, name in _references(element) if not _is_world(of, name)]
                is_of_all = tag == "sensor" and not found and not take  # a clock, say
                if is_of_all or (any(found) and (all(found) or (mixed and tag in _MIXED))):
                    kept.append(copied(element))
                    if kind in names and element.get("name"):
                        names[kind].add(element.get("name", ""))
                if any(found) and take:
                    section.remove(element)
            if len(kept):
                out.append(kept)
    return out


def _is_world(kind: str, name: str) -> bool:
    return kind == "body" and name == WORLD


def _references(element: Element) -> Iterator[tuple[str, str]]:
    """Kinds and names that an element and its children refer to, but for assets."""
    for each in cast("Iterator[Element]", element.iter()):
        for attribute, kind in _reference_attributes(each).items():
            if kind not in _ASSETS:
                yield kind, each.get(attribute, "")


def _reference_attributes(element: Element) -> dict[str, str]:
    """Attributes of an element that refer to something, with the kind."""
    out = {name: _KIND_OF[name] for name, text in element.items() if name in _KIND_OF and text}
    for attribute, of in (("objname", "objtype"), ("refname", "reftype")):
        kind = element.get(of, "").removeprefix("x")
        if element.get(attribute) and kind in _REFERENCES:
            out[attribute] = kind
    return out


def renamed(element: Element, prefix: str, suffix: str, names: Mapping[str, set[str]] | None) -> None:
    """Put a prefix and a suffix on all names at and below an element, and on its references.

    ``names``: references to others than these stay as they are; None for no such others.
    """
    for each in cast("Iterator[Element]", element.iter()):
        for attribute, kind in _reference_attributes(each).items():
            name = each.get(attribute, "")
            if not _is_world(kind, name) and (names is None or name in names[kind]):
                each.set(attribute, f"{prefix}{name}{suffix}")
        if each.get("name"):
            each.set("name", f"{prefix}{each.get('name')}{suffix}")
