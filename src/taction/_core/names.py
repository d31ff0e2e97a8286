"""What a message says about a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN = 12  # names that a message lists


def choose(name: object, names: Iterable[str]) -> str:
    """The end of a sentence about a choice that there is not: those that are like it, then all there are."""
    known = list(names)
    near = get_close_matches(str(name), known, n=1, cutoff=0.7)
    return f"{f'did you mean {near[0]!r}? ' if near else ''}choose from {', '.join(known)}"


def instead(name: object, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: those that are like it, or those that there are."""
    known = list(names)
    near = get_close_matches(str(name), known, n=3, cutoff=0.7)
    if near:
        return f"did you mean {' or '.join(repr(other) for other in near)}?"
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return f"there are {', '.join(known[:SHOWN])}{more}" if known else "there are none"


def a(noun: str) -> str:
    """A word for a kind of thing with its article."""
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"
