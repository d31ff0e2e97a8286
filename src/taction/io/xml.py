"""Reading untrusted XML: entity bombs, external references and malformed text become one clear error.

Elements remember the file and line they came from, so that every message can point at its place.
Nothing is ever fetched from the network.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NoReturn

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.expect import as_path
from taction.io.xml_slips import put_right


class Element(ET.Element):
    """An XML element that knows its file and line, and by number which of several models it is of."""

    file: str = ""
    line: int = 0
    origin: int = 0

    @property
    def where(self) -> str:
        """``file:line`` of the opening tag."""
        return f"{self.file}:{self.line}"

    @property
    def label(self) -> str:
        """The tag with its name, if it has one, e.g. ``link 'base'``."""
        name = self.get("name")
        return f"{self.tag} {name!r}" if name else f"{self.tag}"


def fail(element: Element, reason: str) -> NoReturn:
    """Raise a `ModelError` that names file, line, element and reason."""
    raise ModelError(f"{element.where}: {element.label}: {reason}")


def is_text(source: object) -> bool:
    """Whether what a loader was given is the text of a file and not its name."""
    return isinstance(source, str) and source.lstrip().startswith("<")


def read_xml(path: str | Path) -> Element:
    """Parse a file into `Element`s.

    Raises:
        ModelError: the file is missing, unreadable, malformed or dangerous.
    """
    path = as_path(path)
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from None
    return parse_xml(text, str(path))


def parse_xml(text: str | bytes, file: str = "<text>") -> Element:
    """Parse text into `Element`s; ``file`` is used in messages. Blanks before a declaration are no error.

    Nor are the slips of `taction.io.xml_slips`, which other simulators pass over.
    """
    line = 1
    body = text.lstrip()
    blanks = text[: len(text) - len(body)]
    above = (blanks if isinstance(blanks, str) else blanks.decode("ascii")).count("\n")

    def make(tag: str, attributes: dict[str, str]) -> Element:
        element = Element(tag, attributes)
        element.file, element.line = file, line
        return element

    def parse(body: str | bytes) -> Element:
        nonlocal line
        parser = DefusedXMLParser(target=ET.TreeBuilder(element_factory=make), forbid_dtd=False)
        start = parser.parser.StartElementHandler

        def note_line(*args: object) -> object:
            nonlocal line
            line = above + parser.parser.CurrentLineNumber
            return start(*args)

        parser.parser.StartElementHandler = note_line
        parser.feed(body)
        return parser.close()

    try:
        try:
            return parse(body)
        except ET.ParseError as error:
            mended = _put_right(body)
            if mended == body:
                raise
            try:
                return parse(mended)
            except ET.ParseError:
                raise error from None
    except ET.ParseError as error:
        raise ModelError(f"{file}:{above + error.position[0]}: malformed XML ({error})") from None
    except DefusedXmlException as error:
        raise ModelError(
            f"{file}: refused, entities and external references are not allowed ({error})"
        ) from None
    except (LookupError, ValueError) as error:
        raise ModelError(f"{file}: cannot be decoded ({error})") from None


def _put_right(body: str | bytes) -> str | bytes:
    """The text without the slips that other simulators pass over."""
    if isinstance(body, bytes):
        return put_right(body.decode("latin-1")).encode("latin-1")  # byte by byte, whatever they mean
    return put_right(body)


def floats(
    element: Element, attribute: str, count: int | None = None, *, is_bound: bool = False
) -> Array | None:
    """The attribute as a finite float vector, or None if absent; a bound may be infinite.

    Raises:
        ModelError: not numbers, not finite, or not ``count`` of them.
    """
    text = element.get(attribute)
    if text is None:
        return None
    try:
        if "_" in text:
            raise ValueError
        values = [float(word) for word in text.split()]
    except ValueError:
        fail(element, f"{attribute}={text!r} is not numeric")
    if not all(map(math.isfinite, values)) and (not is_bound or any(map(math.isnan, values))):
        fail(element, f"{attribute}={text!r} is not finite")
    if count is not None and len(values) != count:
        fail(element, f"{attribute}={text!r} needs {count} numbers")
    return np.array(values, dtype=float)


def number(element: Element, attribute: str, default: float | None = None) -> float | None:
    """The attribute as one finite number, or the default if absent."""
    values = floats(element, attribute, 1)
    return default if values is None else float(values[0])
