"""Slips of XML that the readers of other simulators pass over, put right before the text is parsed again.

MuJoCo and the readers of URDF parse with TinyXML, which is laxer than the standard. Files that only they have
read hold five slips, each without any doubt about what is meant:

    comment        <!-- a -- b -->              becomes blank; it ends at the first -->
    attributes     name="box"size="1"           a blank goes between them
    prefixes       <sensor:camera>, unbound     are bound, on the root
    zero bytes     after the root               are cut off, as by a reader of strings
    declaration    <?xml verison="1.0"?>        becomes blank

Lines stay what they are, so that messages point at the file as it is. One pass from the left: markup that
does not end leaves the rest as it is.
"""

from __future__ import annotations

import re

VALUE = re.compile(r"(\"[^\"]*\"|'[^']*')([^\s/>\"']?)")
PREFIX = re.compile(r"[<\s]/?([A-Za-z_][\w.-]*):[A-Za-z_]")
TAG_NAME = re.compile(r"<[A-Za-z_][\w.:-]*")
BEYOND_QUOTES = re.compile(r"[\"'>]")
ASIDES = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))  # markup that is no tag


def put_right(text: str) -> str:
    """The text without such slips; what else is wrong with it stays."""
    parts, at, root = [], 0, -1
    used: set[str] = set()
    text = text.rstrip("\0")
    while (start := text.find("<", at)) >= 0:
        parts.append(text[at:start])
        aside = next((ends for ends in ASIDES if text.startswith(ends[0], start)), None)
        end = _end_of_tag(text, start) if aside is None else _end(text, aside[1], start + len(aside[0]))
        if end < 0:
            at = start
            break
        markup, at = text[start:end], end
        if aside is None:
            used.update(PREFIX.findall(VALUE.sub("", markup)))
            markup = VALUE.sub(lambda value: f"{value[1]} {value[2]}" if value[2] else value[0], markup)
            root = len(parts) if root < 0 else root
        elif aside[0] == "<!--" or (markup.startswith("<?xml ") and " version" not in markup):
            markup = re.sub(r"[^\n]", " ", markup)
        parts.append(markup)
    if root >= 0:
        unbound = sorted(prefix for prefix in used - {"xml", "xmlns"} if f"xmlns:{prefix}" not in parts[root])
        bound = "".join(f' xmlns:{prefix}="{prefix}"' for prefix in unbound)
        parts[root] = TAG_NAME.sub(lambda name: name[0] + bound, parts[root], count=1)
    return "".join(parts) + text[at:]


def _end(text: str, closing: str, start: int) -> int:
    """Where the first ``closing`` from ``start`` ends; −1 if there is none."""
    found = text.find(closing, start)
    return found + len(closing) if found >= 0 else -1


def _end_of_tag(text: str, at: int) -> int:
    """Where the tag that begins there ends, ``>`` in quotes not counted; −1 if it does not."""
    while found := BEYOND_QUOTES.search(text, at):
        if found[0] == ">":
            return found.end()
        at = _end(text, found[0], found.end())
        if at < 0:
            return -1
    return -1
