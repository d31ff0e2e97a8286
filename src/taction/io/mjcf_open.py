"""From an MJCF file to the text that is read: includes, attached models and replicas.

* ``<include>`` is replaced by the children of the included file's root, whatever that root is called. The
  file is looked for next to the main file, then next to the including one, and is included once at most.
* ``<attach model= body= prefix=>`` is replaced by a body of another model (``<asset><model>``), or by all of
  its world, with the prefix before every name. With it come the model's meshes, and those of its tendons,
  equalities, actuators, contacts and sensors that name nothing else. Its angles, default classes and mesh
  folder stay its own.
* ``<replicate count= offset= euler=>`` is replaced by so many copies of what is inside, each placed by one
  more step of offset and rotation, with ``sep`` and the number of the copy, padded with zeros, after every
  name. What names something in it elsewhere is copied with it, at the end of its section; what names other
  things as well is dropped.

Departures: options and keyframes of attached models are not read; their keyframes are listed.

References: MuJoCo XML reference, sections "include", "asset/model", "body/attach" and "replicate".
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from taction.io.mjcf_copies import adopt, copied, names_in, renamed, selected
from taction.io.mjcf_source import (
    Compiler,
    DefaultClass,
    Source,
    children,
    integers,
    is_file,
    located,
    placement,
    read_class,
    read_compiler,
)
from taction.io.mjcf_survey import survey
from taction.io.notes import Notes
from taction.io.xml import Element, fail, read_xml
from taction.math.transform import Transform

# More copies than this are refused: a file of a few bytes must not fill the memory.
_MOST_COPIES = 100_000


def open_source(root: Element, file: str) -> Source:
    """Expand a file, note what is not supported, and read compiler settings and defaults.

    Raises:
        ModelError: wrong root, bad include, bad number, unknown keyword or bad default class.
    """
    source = Source(root, Notes())
    _open(root, file, source, ())
    return source


def _open(root: Element, file: str, source: Source, above: tuple[Path, ...]) -> None:
    """Read one model into the source: the main one, or one that it attaches; ``above``: those around it."""
    if root.tag != "mujoco":
        fail(root, "an MJCF file must have <mujoco> as its root element")
    here, origin = Path(file).resolve(), len(source.compilers)
    _expand_includes(root, Path(file).parent, {here})
    survey(root, source.notes)
    source.folders.append(Path(file).parent)
    source.compilers.append(Compiler())
    for element in children(root, "compiler"):
        read_compiler(element, source.compilers[origin])
    for element in children(root, "default"):
        if element.get("class", "main") != "main":
            fail(element, "the top-level default class is 'main' and cannot be renamed")
    if origin:
        adopt(root, origin)
    main = f"{origin}:main" if origin else "main"
    source.classes.setdefault(main, DefaultClass())
    for element in children(root, "default"):
        read_class(element, main, source)
    _attach(root, source, (*above, here))
    _replicate(root, source)


# ----- Includes ---------------------------------------------------------------------------------------------


def _expand_includes(element: Element, folder: Path, included: set[Path]) -> None:
    """Put the contents of included files in the place of every ``<include>``; forget blank attributes."""
    waiting = [element]
    while waiting:
        parent = waiting.pop()
        for name in [name for name, text in parent.items() if not text.strip() and "class" not in name]:
            del parent.attrib[name]
        while (
            place := next((i for i, child in enumerate(parent) if child.tag == "include"), None)
        ) is not None:
            parent[place : place + 1] = _included(cast(Element, parent[place]), folder, included)
        waiting.extend(children(parent))


def _included(include: Element, folder: Path, included: set[Path]) -> list[Element]:
    name = include.get("file")
    if not name:
        fail(include, "has no attribute 'file'")
    if len(include):
        fail(include, "cannot have children")
    candidates = [folder / name, Path(include.file).parent / name]
    path = next((p for p in candidates if is_file(p)), None)
    if path is None:
        fail(include, f"file {name!r} does not exist")
    if path.resolve() in included:
        fail(include, f"file {name!r} is included twice, or includes itself")
    included.add(path.resolve())
    inserted = children(read_xml(path))
    if not inserted:
        fail(include, f"file {name!r} has nothing to include")
    return inserted


# ----- Attached models --------------------------------------------------------------------------------------


def _attach(root: Element, source: Source, above: tuple[Path, ...]) -> None:
    """Put bodies of other models in the place of every ``<attach>``."""
    elements = [element for section in children(root, "asset") for element in children(section, "model")]
    models: dict[str, Element] = {}
    for element in elements:
        file = element.get("file", "")
        path = source.folders[element.origin] / file
        if not file or not is_file(path):
            fail(element, f"file {file!r} does not exist")
        if path.resolve() in above:
            fail(element, f"file {file!r} attaches itself")
        model = read_xml(path)
        _open(model, str(path), source, above)
        models[element.get("name") or model.get("model") or ""] = model
    for parent in [cast(Element, element) for element in root.iter()]:
        for place, child in enumerate(children(parent)):
            if child.tag == "attach":
                parent[place] = _attached(child, models, root, source)


def _attached(attach: Element, models: dict[str, Element], root: Element, source: Source) -> Element:
    """What stands for an ``<attach>``: a frame with bodies; sections of the model go to the root."""
    name, body, prefix = (attach.get(key, "") for key in ("model", "body", "prefix"))
    if name not in models:
        fail(attach, f"model {name!r} does not exist")
    model = copied(models[name])
    for key in (key for section in children(model, "keyframe") for key in children(section)):
        source.notes.add("key of an attached model", key, "no such key")
    worlds = children(model, "worldbody")
    inside = [child for world in worlds for child in children(world)]
    if body:
        inside = [cast(Element, e) for world in worlds for e in world.iter("body") if e.get("name") == body]
        if not inside:
            fail(attach, f"body {body!r} does not exist in model {name!r}")
    origin = model.origin
    frame = Element("frame", {"childclass": f"{origin}:main"})
    frame.file, frame.line, frame.origin = attach.file, attach.line, origin
    frame.extend(inside)
    names = names_in(frame)
    for section in selected(model, names):
        renamed(section, prefix, "", None)
        root.append(section)
    for asset in children(model, "asset"):
        for mesh in children(asset, "mesh"):
            mesh.set("name", mesh.get("name") or Path(mesh.get("file", "")).stem)
        renamed(asset, prefix, "", None)
        root.append(asset)
    renamed(frame, prefix, "", None)
    return frame


# ----- Replicas ---------------------------------------------------------------------------------------------


def _replicate(root: Element, source: Source) -> None:
    """Put copies in the place of every ``<replicate>``, inner ones first."""
    for parent in reversed([cast(Element, element) for element in root.iter()]):
        for child in children(parent, "replicate"):
            place = children(parent).index(child)
            parent[place : place + 1] = _replicas(child, root, source)


def _replicas(element: Element, root: Element, source: Source) -> list[Element]:
    counts = integers(element, "count", 1) or [0]
    count, sep = counts[0], element.get("sep", "")
    if not 0 < count * sum(1 for _ in element.iter()) <= _MOST_COPIES:
        fail(
            element,
            f"count={element.get('count')!r} must be positive, and not make more than {_MOST_COPIES} parts",
        )
    names, width = names_in(element), len(str(count - 1))
    mentions = selected(root, names, take=True)
    step_element = Element("frame", {k: v for k, v in element.items() if k == "euler"})
    step_element.file, step_element.line = element.file, element.line
    step_element.set("pos", element.get("offset", "0 0 0"))
    with located(element):
        step, pose, out = placement(step_element, source.settings(element)), Transform(), []
        for k in range(count):
            frame = copied(element)
            frame.tag = "frame"
            frame.attrib = {key: v for key, v in element.items() if key == "childclass"}
            frame.set("pos", " ".join(map(repr, pose.translation.tolist())))
            frame.set("quat", " ".join(map(repr, np.asarray(pose.quaternion).tolist())))
            suffix = f"{sep}{k:0{width}d}"
            renamed(frame, "", suffix, names)
            out.append(frame)
            for section in mentions:
                copy = copied(section)
                renamed(copy, "", suffix, names)
                root.append(copy)
            pose = pose @ step
    return out
