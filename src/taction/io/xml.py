"""Reading untrusted XML: bombs, external references, malformed and endless text become one clear error.

A file has at most `most_parts` elements, at most `DEEPEST` in each other. Elements remember the file and line
they came from, so that every message can point at its place. Nothing is ever fetched from the network.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from math import isfinite
from pathlib import Path
from typing import NoReturn

import numpy as np
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from taction._core.arrays import Array
from taction._core.errors import BadInput, ModelError
from taction._core.expect import as_path
from taction._core.plain_file import most_bytes, read_plain, too_large
from taction.io.xml_slips import put_right

PART = 10_000  # bytes of memory for an element, once it is part of a model
DEEPEST = 5_000  # elements in each other
GROWTH = 4  # bytes of memory for a byte of text
LONGEST = 600  # characters of a message
PIECE = 1_000_000  # characters whose words are numbers at a time
_BLANK = re.compile(r"\s")


def most_parts() -> int:
    """Elements of a file, or of a model with all that it includes, attaches and copies."""
    return most_bytes() // PART


def too_many(count: int) -> str:
    """What is said of a model with so many elements."""
    return f"a model of more than {most_parts()} elements {too_large(PART * count)}"


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
    raise ModelError(f"{element.where}: {_short(element.label)}: {_short(reason)}")


def _short(text: str) -> str:
    """Both ends of a text that quotes a file."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[-LONGEST // 2 :]}"


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
        text = read_plain(path, GROWTH)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from None
    except BadInput as error:
        raise ModelError(f"{path}: {error}") from None
    return parse_xml(text, str(path))


def parse_xml(text: str | bytes, file: str = "<text>") -> Element:
    """Parse text into `Element`s; ``file`` is used in messages. Blanks before a declaration are no error.

    Nor are the slips of `taction.io.xml_slips`, which other simulators pass over.
    """
    if GROWTH * len(text) > most_bytes():
        raise ModelError(f"{file}: {too_large(GROWTH * len(text))}")
    line, count, depth, most = 1, 0, 0, most_parts()
    body = text.lstrip()
    blanks = text[: len(text) - len(body)]
    above = (blanks if isinstance(blanks, str) else blanks.decode("ascii")).count("\n")

    def make(tag: str, attributes: dict[str, str]) -> Element:
        element = Element(tag, attributes)
        element.file, element.line = file, line
        return element

    def parse(body: str | bytes) -> Element:
        nonlocal count, depth
        count = depth = 0
        parser = DefusedXMLParser(target=ET.TreeBuilder(element_factory=make), forbid_dtd=False)
        start, end = parser.parser.StartElementHandler, parser.parser.EndElementHandler

        def note_start(*args: object) -> object:
            nonlocal line, count, depth
            line, count, depth = above + parser.parser.CurrentLineNumber, count + 1, depth + 1
            if depth > DEEPEST:
                raise ModelError(f"{file}:{line}: more than {DEEPEST} elements in each other")
            if count > most:
                whole = body.count("<") if isinstance(body, str) else body.count(b"<")
                raise ModelError(f"{file}:{line}: {too_many(whole)}")
            return start(*args)

        def note_end(*args: object) -> object:
            nonlocal depth
            depth -= 1
            return end(*args)

        parser.parser.StartElementHandler, parser.parser.EndElementHandler = note_start, note_end
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
    except ModelError:  # too many
        raise
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
        values = [float(word) for word in text.split()] if len(text) <= PIECE else _many(text)
    except ValueError:
        fail(element, f"{attribute}={text!r} is not numeric")
    finite = all(map(isfinite, values)) if isinstance(values, list) else np.isfinite(values).all()
    if not finite and (not is_bound or np.isnan(values).any()):
        fail(element, f"{attribute}={text!r} is not finite")
    if count is not None and len(values) != count:
        fail(element, f"{attribute}={text!r} needs {count} numbers")
    return np.array(values, dtype=float)


def _many(text: str) -> Array:
    """Numbers of a long text, a piece of it at a time: its words together take ten times the memory of them.

    Raises:
        ValueError: a word is no number.
    """
    pieces, at = [], 0
    while at < len(text):
        blank = _BLANK.search(text, at + PIECE)
        end = blank.start() if blank else len(text)
        pieces.append(np.array([float(word) for word in text[at:end].split()], dtype=float))
        at = end
    return np.concatenate(pieces)


def number(element: Element, attribute: str, default: float | None = None) -> float | None:
    """The attribute as one finite number, or the default if absent."""
    values = floats(element, attribute, 1)
    return default if values is None else float(values[0])
