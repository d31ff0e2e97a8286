"""What a run file says of itself besides its tables: of the right kind, or the file is refused.

A file may come from anywhere, and its digest only guards against accidents. So names, numbers and lists are
looked at before anything is made of them. That a certificate is the file's own is another matter: what it
judges is in the tables, and can be judged anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from taction._core.errors import BadInput
from taction.sim.run import Certificate, EnergyLedger

LARGEST = 2**63  # of whole numbers
LISTS = ("bodies", "shapes", "shape_bodies")  # attributes that are lists of text
NUMBERS = ("version", "dt")  # that are numbers
TEXTS = ("format", "model", "scheme", "contact", "solver", "coordinates", "springs", "accuracy")
PLAIN = (str, int, float, bool, type(None))
PARTS = {"certificate": Certificate, "energy": EnergyLedger}


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Raise `BadInput` unless attributes are text, single numbers, or lists of text where these belong."""
    for key, value in attributes.items():
        if key in LISTS:
            is_good = _is_text(value)
        elif key in NUMBERS:
            is_good = _fits(value, float)
        elif key in TEXTS:
            is_good = isinstance(value, str)
        else:
            is_good = isinstance(value, str) or _fits(value, float) or _is_text(value)
        if not is_good:
            raise BadInput(f"damaged: {key!r} is not what a run file has there")


def read_summary(text: bytes) -> dict[str, Any]:
    """The summary of a run that is over; empty of one that was cut off.

    Raises:
        BadInput: it is no summary.
    """
    found = json.loads(text or b"{}")
    if not isinstance(found, dict):
        raise BadInput("damaged: its summary is none")
    if not found:
        return found
    found = {
        "left_out": [],
        "blew_up": "",
        "stopped": False,
        "metrics": {},
        "events": [],
        "wall_s": 0.0,
    } | found
    bad = [name for name, made in PARTS.items() if not _is_part(found.get(name), made)]
    bad += [
        name
        for name, kind in (("blew_up", str), ("stopped", bool), ("wall_s", float))
        if not _fits(found[name], kind)
    ]
    bad += [] if _is_text(found["left_out"]) else ["left_out"]
    metrics, events = found["metrics"], found["events"]
    if not (isinstance(metrics, dict) and all(isinstance(value, PLAIN) for value in metrics.values())):
        bad.append("metrics")
    if not (isinstance(events, list) and all(_is_event(event) for event in events)):
        bad.append("events")
    if bad:
        raise BadInput(f"damaged: its summary has another {bad[0]!r} than a run has")
    return found


def _is_part(value: Any, made: type) -> bool:
    """Whether a part of a summary has the fields of its class."""
    hints, more = _hints(made), {"drift"} if made is EnergyLedger else set()
    if not isinstance(value, dict) or not value.keys() <= hints.keys() | more:
        return False
    needed = {name for name in hints if not hasattr(made, name)}  # without a default
    return needed <= value.keys() and all(_fits(x, hints.get(name, float)) for name, x in value.items())


@cache
def _hints(made: type) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(made).items() if name in made.__dataclass_fields__}  # type: ignore[attr-defined]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is text, a truth value, a whole number or a number, or none where that may be."""
    if kind in (str, bool):
        return isinstance(value, kind)
    if value is None:
        return kind == float | None
    is_number = isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)
    return is_number and (isinstance(value, float) or abs(value) < LARGEST)


def _is_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _is_event(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and _fits(value[0], float) and isinstance(value[1], str)
    )
