"""From an MJCF file to the text that is read: includes, attached models and replicas.

* ``<include>`` is replaced by the children of the included file's root, whatever that root is called. The
  file is looked for next to the main file, then next to the including one, and is included once at most.
  Its name must end as those of descriptions do: a stranger's file opens none that is something else.
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

ENDINGS = (".xml", ".mjcf")  # of files that a file may name


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
    source.add_parts(root)
    _expand_includes(root, Path(file).parent, {here}, source)
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
        path = _named_file(element, file, [source.folders[element.origin]])
        if path.resolve() in above:
            fail(element, f"file {file!r} attaches itself")
        model = read_xml(path)
        _open(model, str(path), source, above)
        models[element.get("name") or model.get("model") or ""] = model
    attach_parts(root, models, source)


def _named_file(element: Element, name: str, folders: list[Path]) -> Path:
    """The file that an element names, in the first of the folders that has it."""
    path = next((folder / name for folder in folders if name and is_file(folder / name)), None)
    if path is None:
        fail(element, f"file {name!r} does not exist")
    if path.suffix.lower() not in ENDINGS:
        fail(element, f"file {name!r} is no MJCF file: its name must end in {' or '.join(ENDINGS)}")
    return path


# ----- Includes ---------------------------------------------------------------------------------------------


def _expand_includes(root: Element, folder: Path, included: set[Path], source: Source) -> None:
    """Put the contents of included files in the place of every ``<include>``; forget blank attributes."""
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for name in [name for name, text in parent.items() if not text.strip() and "class" not in name]:
            del parent.attrib[name]
        left, whole = children(parent)[::-1], []
        while left:
            child = left.pop()
            if child.tag == "include":
                left.extend(reversed(_included(child, folder, included, source)))
            else:
                whole.append(child)
        parent[:] = whole
        waiting.extend(whole)


def _included(include: Element, folder: Path, included: set[Path], source: Source) -> list[Element]:
    """What stands for an ``<include>``."""
    name = include.get("file")
    if not name:
        fail(include, "has no attribute 'file'")
    if len(include):
        fail(include, "cannot have children")
    path = _named_file(include, name, [folder, Path(include.file).parent])
    if path.resolve() in included:
        fail(include, f"file {name!r} is included twice, or includes itself")
    included.add(path.resolve())
    read = read_xml(path)
    source.add_parts(read)
    if not len(read):
        fail(include, f"file {name!r} has nothing to include")
    return children(read)


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
