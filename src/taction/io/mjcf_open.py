"""From an MJCF file to the text that is read: includes, attached models and replicas.

* ``<include>`` is replaced by the children of the included file's root, whatever that root is called. The
  file is looked for next to the main file, then next to the including one, and is included once at most.
* ``<attach>``: `taction.io.mjcf_attach`.
* ``<replicate count= offset= euler=>`` is replaced by so many copies of what is inside, each placed by one
  more step of offset and rotation, with ``sep`` and the number of the copy, padded with zeros, after every
  name. What names something in it elsewhere is copied with it, at the end of its section; equalities and
  actuators that name other things as well are dropped, as in MuJoCo.

References: MuJoCo XML reference, sections "include" and "replicate".
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np

from taction.io.mjcf_attach import attach_parts
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
    source.add_parts(root)
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
    _read_models(root, source, (*above, here))
    _replicate(root, source)


def _read_models(root: Element, source: Source, above: tuple[Path, ...]) -> None:
    """Read the models that a file attaches, and put their parts into it."""
    models: dict[str, Element] = {}
    for element in (element for section in children(root, "asset") for element in children(section, "model")):
        file = element.get("file", "")
        path = source.folders[element.origin] / file
        if not file or not is_file(path):
            fail(element, f"file {file!r} does not exist")
        if path.resolve() in above:
            fail(element, f"file {file!r} attaches itself")
        model = read_xml(path)
        _open(model, str(path), source, above)
        models[element.get("name") or model.get("model") or ""] = model
    attach_parts(root, models, source)


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


# ----- Replicas ---------------------------------------------------------------------------------------------


def _replicate(root: Element, source: Source) -> None:
    """Put copies in the place of every ``<replicate>``, inner ones first."""
    for parent in reversed([cast(Element, element) for element in root.iter()]):
        if parent.find("replicate") is not None:
            made = ([c] if c.tag != "replicate" else _replicas(c, root, source) for c in children(parent))
            parent[:] = list(chain.from_iterable(made))


def _replicas(element: Element, root: Element, source: Source) -> list[Element]:
    counts = integers(element, "count", 1) or [0]
    count, sep = counts[0], element.get("sep", "")
    if count < 1:
        fail(element, f"count={element.get('count')!r} must be positive")
    source.add_parts(element, count)
    source.add_search(element)
    names, width = names_in(element), len(str(count - 1))
    mentions = selected(root, names, take=True, mixed=True)
    for section in mentions:
        source.add_parts(section, count)
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
