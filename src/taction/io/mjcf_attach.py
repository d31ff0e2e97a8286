"""Attached parts of an MJCF model: bodies and frames of another model, or copies of its own.

* ``<attach model= body= prefix=>`` is replaced by a body of another model (``<asset><model>``), by a frame of
  it (``frame=``), or by all of its world, with the prefix before every name. With it come the model's meshes,
  and those of its tendons, equalities, actuators, contacts and sensors that name nothing else. Its angles,
  default classes and mesh folder stay its own; a part keeps the default class in which it stands there.
* Without ``model``, it is replaced by a copy of a body or frame of the same model that stands before it, and
  meshes are those of the model. Tendons, contacts and sensors may then name other parts as well.
* Which options of an attached model hold: `taction.io.mjcf_conflicts`.

Departures: keyframes of attached models are listed. A part that would contain its own copy is refused.

References: MuJoCo XML reference, sections "asset/model", "body/attach" and "compiler".
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from taction._core.names import instead
from taction.io.mjcf_conflicts import merge_options
from taction.io.mjcf_copies import Names, copied, names_in, renamed, selected
from taction.io.mjcf_source import Source, children
from taction.io.xml import Element, fail

# Bodies and frames by tag and name.
Parts = dict[tuple[str, str], Element]


def attach_parts(root: Element, models: Mapping[str, Element], source: Source) -> None:
    """Put parts in the place of every ``<attach>``; models by name are expanded themselves.

    Raises:
        ModelError: no such model, body or frame, or options in conflict where that is refused.
    """
    around = {child: cast(Element, parent) for parent in root.iter() for child in parent}
    above: Parts = {}
    for section in children(root):
        waiting = [section]
        while waiting:  # in the order of the file
            element = waiting.pop()
            if element.tag == "attach":
                _replace(element, models, root, around, above, source)
            if section.tag == "worldbody":
                _note(element, above)
            waiting.extend(reversed(children(element)))


def _replace(
    attach: Element,
    models: Mapping[str, Element],
    root: Element,
    around: dict[ET.Element, Element],
    above: Parts,
    source: Source,
) -> None:
    """Make an ``<attach>`` the frame that stands for it."""
    name = attach.get("model", "")
    if not name:
        frame = _own(attach, root, around, above, source)
    elif name in models:
        frame = _attached(attach, models[name], name, root, source)
    else:
        fail(attach, f"model {name!r} does not exist in <asset>; {instead(name, models)}")
    attach.tag, attach.attrib, attach.origin = frame.tag, frame.attrib, frame.origin
    attach[:] = frame[:]
    around.update({child: cast(Element, element) for element in attach.iter() for child in element})


def _attached(attach: Element, written: Element, name: str, root: Element, source: Source) -> Element:
    """What stands for an ``<attach>`` of another model; its sections go to the root."""
    source.add_parts(written)
    model = copied(written)
    for key in (key for section in children(model, "keyframe") for key in children(section)):
        source.notes.add("key of an attached model", key, "no such key")
    merge_options(root, written, source)
    worlds, prefix = children(model, "worldbody"), attach.get("prefix", "")
    inside, active = [child for world in worlds for child in children(world)], f"{model.origin}:main"
    if attach.get("body") or attach.get("frame"):
        around = {child: cast(Element, parent) for parent in model.iter() for child in parent}
        known: Parts = {}
        for element in (element for world in worlds for element in world.iter()):
            _note(cast(Element, element), known)
        part = _named(attach, known, f"model {name!r}")
        inside, active = [part], _class_around(part, around) or active
    frame = _frame(attach, active, inside)
    frame.origin = model.origin
    for section in selected(model, names_in(frame)):
        renamed(section, prefix, "", None)
        root.append(section)
    for asset in children(model, "asset"):
        for mesh in children(asset, "mesh"):
            mesh.set("name", mesh.get("name") or Path(mesh.get("file", "")).stem)
        renamed(asset, prefix, "", None)
        root.append(asset)
    renamed(frame, prefix, "", None)
    return frame


def _own(
    attach: Element, root: Element, around: Mapping[ET.Element, Element], above: Parts, source: Source
) -> Element:
    """What stands for an ``<attach>`` without a model: a copy of a part that stands before it."""
    if not (attach.get("body") or attach.get("frame")):
        known = [element.get("name", "model") for element in root.iter("model")]
        hint = f"the models in <asset> are {', '.join(known)}" if known else "<asset> has no <model>"
        fail(
            attach,
            "names neither a model nor a body or frame of this file; write model= for one of another file "
            f"({hint}), or body= for a copy of a body above",
        )
    part = _named(attach, above, "this file, above the <attach>")
    if any(element is attach for element in part.iter()):
        fail(attach, f"stands inside {part.label}, which it would copy into itself")
    source.add_parts(part)
    source.add_search(attach)
    frame = _frame(attach, _class_around(part, around), [copied(part)])
    names: Names = names_in(frame)
    for section in selected(root, names, mixed=True):
        source.add_parts(section)
        renamed(section, attach.get("prefix", ""), "", names)
        root.append(section)
    renamed(frame, attach.get("prefix", ""), "", names)
    return frame


def _note(element: Element, known: Parts) -> None:
    """Take note of a body or a frame; of several with a name the first one counts."""
    if element.tag in ("body", "frame"):
        known.setdefault((element.tag, element.get("name", "")), element)


def _named(attach: Element, known: Parts, where: str) -> Element:
    """The body or frame that an ``<attach>`` names."""
    tag = "body" if attach.get("body") else "frame"
    name = attach.get(tag, "")
    if (tag, name) not in known:
        names = [other for kind, other in known if kind == tag and other]
        fail(attach, f"{tag} {name!r} does not exist in {where}; {instead(name, names)}")
    return known[tag, name]


def _class_around(part: Element, around: Mapping[ET.Element, Element]) -> str:
    """The default class in which a part stands."""
    while part in around:
        part = around[part]
        if part.get("childclass"):
            return part.get("childclass", "")
    return ""


def _frame(attach: Element, active: str, inside: list[Element]) -> Element:
    frame = Element("frame", {"childclass": active} if active else {})
    frame.file, frame.line, frame.origin = attach.file, attach.line, attach.origin
    frame.extend(inside)
    return frame
