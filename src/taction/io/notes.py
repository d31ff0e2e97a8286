"""What a file says and is not heeded: collected while reading, then said once.

Every note has the same three parts as `Unread`: what it is, where it stands, and what it changes.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field

from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.xml import Element
from taction.model.spec import Unread

# Places written out per thing in a message.
_PLACES_SHOWN = 8


@dataclass
class Notes:
    """What was met and is not supported, in the order in which it was found."""

    entries: list[Unread] = field(default_factory=list)

    def add(self, what: str, element: Element, changes: str) -> None:
        """Remember something that is not supported, and in a few words what that changes."""
        self.entries.append(Unread(what, element.where, changes))

    @property
    def summary(self) -> str:
        """Everything in one line, or nothing if all was supported."""
        places: dict[tuple[str, str], list[str]] = {}
        for entry in self.entries:
            places.setdefault((entry.what, entry.changes), []).append(entry.where)
        listed = (f"{what} ({_shown(p)}): {changes}" for (what, changes), p in sorted(places.items()))
        return "not supported: " + "; ".join(listed) if places else ""

    def report(self, source: str, *, strict: bool, stacklevel: int) -> None:
        """Issue one warning that lists everything, or none if all was supported.

        Raises:
            ModelError: there is something to list, and strict reading was asked for.
        """
        if self.entries and strict:
            raise ModelError(f"{source}: {self.summary}")
        if self.entries:
            warnings.warn(f"{source}: {self.summary}", UnsupportedFeatureWarning, stacklevel=stacklevel + 1)


def _shown(places: list[str]) -> str:
    """The first places, each by the name of its file without folders."""
    more = len(places) - _PLACES_SHOWN
    names = [os.path.basename(place) for place in places[:_PLACES_SHOWN]]
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
