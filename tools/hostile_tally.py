"""What became of hostile names, counted by the way they came in and the way they went out.

- *executed*: a script of a name ran, or something that a name asked for was loaded;
- *escapes*: a name became more than text: elements or attributes of a page, sequences of a terminal, lines;
- *raw*: an error or a warning that is not taction's own, or a message of several lines.

A refusal in one line, free of escapes, is right. What the terminal may get is text, line breaks, `COLOURS`,
and a return followed by the clearing of its line, with which a bar is drawn anew.
"""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from taction import TactionError
from taction._core import errors

# Bold, italic, dim, red, green and their ends: no name here asks for any of them
COLOURS = ("0", "1", "2", "3", "31", "32", "1;31", "1;32", "3;31", "2;3")
KNOWN = re.compile(rf"\r\x1b\[K|\x1b\[(?:{'|'.join(COLOURS)})m|\r+\n|\n")
SHOWN = 120  # characters of what was found
OURS = tuple(each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Warning))
BAD = ("executed", "escapes", "raw")


class Tally:
    """Counts of a campaign."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], dict[str, int]] = {}
        self.found: list[str] = []

    def note(self, way_in: str, way_out: str, names: int = 0, refused: int = 0, **bad: Iterable[str]) -> None:
        """Add names that went this way, how many of them were refused, and what went wrong, by kind."""
        row = self.counts.setdefault((way_in, way_out), dict.fromkeys(("names", "refused", *BAD), 0))
        row["names"] += names
        row["refused"] += refused
        for kind, texts in bad.items():
            for text in texts:
                row[kind] += 1
                self.found.append(f"{way_in} → {way_out}: {kind}: {ascii(text)[:SHOWN]}")
                print(self.found[-1], file=sys.stderr, flush=True)

    def sum_of(self, key: str) -> int:
        """A column of all ways together."""
        return sum(row[key] for row in self.counts.values())

    @property
    def is_clean(self) -> bool:
        """Whether nothing went wrong."""
        return not self.found

    def table(self) -> str:
        """A line for each pair of ways, and their sums."""
        rows = [("way in", "way out", "names", "refused", *BAD)]
        rows += [(*ways, *(str(x) for x in row.values())) for ways, row in self.counts.items()]
        rows.append(("all", "", *(str(self.sum_of(key)) for key in ("names", "refused", *BAD))))
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(w) if c < 2 else cell.rjust(w)
                for c, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )


def unknown_bytes(data: str) -> list[str]:
    """What a terminal gets besides text, line breaks and the sequences that taction uses."""
    rest = KNOWN.sub("", data)
    return [rest[k : k + 12] for k, c in enumerate(rest) if not c.isprintable()]


def judge(act: Callable[..., Any], *given: Any) -> tuple[Any, str, dict[str, list[str]]]:
    """Result of a call, the message if it was refused, and what is wrong with its errors and warnings."""
    bad: dict[str, list[str]] = {"escapes": [], "raw": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out, message = act(*given), ""
        except TactionError as error:
            out, message = None, str(error) or "nothing was said"
        except Exception as error:  # whatever it is, it is the finding
            out, message = None, ""
            bad["raw"].append(f"{type(error).__name__}: {str(error)[:80]} at {_place(error)}")
    for warning in caught:
        if isinstance(warning.message, OURS):
            bad["escapes"] += unknown_bytes(str(warning.message))
    bad["escapes"] += unknown_bytes(message)
    if len(message.splitlines()) > 1:
        bad["raw"].append(message)
    return out, message, bad


def _place(error: Exception) -> str:
    """Where in taction an error arose."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "taction" in Path(frame.filename).parts] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"
