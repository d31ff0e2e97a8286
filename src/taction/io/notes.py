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
    _owners: dict[int, tuple[str, str]] = field(default_factory=dict)  # of entries that have one, by number

    def add(self, what: str, element: Element, changes: str, of: str = "") -> None:
        """Remember something that is not supported, in a few words what that changes, and whose it is."""
        if of:
            self._owners[len(self.entries)] = what, of
        self.entries.append(Unread(f"{what}, of {of}" if of else what, element.where, changes))

    @property
    def summary(self) -> str:
        """Everything in one line, or nothing if all was supported."""
        places: dict[tuple[str, str], list[str]] = {}
        for number, entry in enumerate(self.entries):
            what, of = self._owners.get(number, (entry.what, ""))
            place = os.path.basename(entry.where)
            places.setdefault((what, entry.changes), []).append(f"{of} {place}" if of else place)
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
    """The first of many places."""
    more = len(places) - _PLACES_SHOWN
    return ", ".join(places[:_PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")
