"""Units of metrics: each scenario has a table of its own names, on top of those that its base classes share.

A unit is a text of `UNITS`; pure numbers, counts and answers of yes or no have none, the empty text. ``"SI"``
stands for the largest of several quantities of different units, e.g. of all entries of a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

UNITS = frozenset(
    (
        "", "m", "m²", "s", "ms", "1/s", "m/s", "µm/s", "m/s²", "rad", "deg", "rad/s", "N", "N m", "N s", "J",
        "J²", "(m/s)²", "(N s)²", "m or rad", "rad/s or m/s", "SI",
    )
)  # fmt: skip


def by_unit(table: Mapping[str, str]) -> dict[str, str]:
    """The unit of each name, from names by unit; ``#`` in a name stands for a number."""
    return {name: unit for unit, names in table.items() for name in names.split()}


def units_of(scenario: type, metrics: Iterable[str]) -> dict[str, str]:
    """The units of these metrics, from the tables ``units`` of a scenario and its bases; none of others."""
    known: dict[str, str] = {}
    for base in reversed(scenario.__mro__):
        known |= vars(base).get("units", {})
    listed = {name: name if name in known else f"{name.rstrip('0123456789')}#" for name in metrics}
    return {name: known[entry] for name, entry in listed.items() if entry in known}
