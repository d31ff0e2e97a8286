"""Options of attached MJCF models: which of them hold, by ``<compiler conflict=>`` of the attaching model.

    warning  the default. The options of the attaching model hold, also those that it does not write; others
             are listed.
    error    the same, and two that write different values are refused.
    merge    An option that the attached model alone writes holds. Of two time steps the shorter one holds,
             and what one of the two switches off (flags, groups of actuators) is off. Two that write
             different gravities are refused.

Options of MuJoCo's solver change no law of contact and are left where they are; others that are not read,
such as fluids, are listed where they are written.

References: MuJoCo programming chapter, "Attribute merging".
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.io.mjcf_source import Source, children
from taction.io.mjcf_vocabulary import RULES
from taction.io.notes import Notes
from taction.io.xml import Element, fail, floats

_USUAL = {"timestep": [0.002], "gravity": [0.0, 0.0, -9.81]}  # where a model does not say
_HOLDS = "that of the model around it holds"


def merge_options(root: Element, attached: Element, source: Source) -> None:
    """Give a model those options of one that it attaches that hold for both; list those that do not hold.

    Raises:
        ModelError: both say something, and its ``conflict`` refuses that.
    """
    policy, notes = source.compilers[root.origin].conflict, source.notes
    numbers, flags = _written(root)
    for option in children(attached, "option"):
        new = Element("option", {})
        new.file, new.line, new.origin = option.file, option.line, root.origin
        for name in _USUAL:
            _merge_number(option, name, numbers.get(name), policy, new, notes)
        if option.get("actuatorgroupdisable") and policy == "merge":
            new.set("actuatorgroupdisable", option.get("actuatorgroupdisable", ""))
        elif option.get("actuatorgroupdisable"):
            notes.add("option actuatorgroupdisable of an attached model", option, _HOLDS)
        for flag in children(option, "flag"):
            _merge_flag(flag, flags, policy, new, notes)
        if policy == "merge":
            root.append(new)


def _written(root: Element) -> tuple[dict[str, Array], dict[str, str]]:
    """Numbers and flags that a model writes; the last of a name holds."""
    numbers: dict[str, Array] = {}
    flags: dict[str, str] = {}
    for option in children(root, "option"):
        given = ((name, floats(option, name)) for name in _USUAL)
        numbers |= {name: values for name, values in given if values is not None}
        for flag in children(option, "flag"):
            flags |= flag.attrib
    return numbers, flags


def _merge_number(
    option: Element, name: str, own: Array | None, policy: str, new: Element, notes: Notes
) -> None:
    values = floats(option, name)
    if values is None or np.array_equal(values, _USUAL[name] if own is None else own):
        return
    if policy == "merge" and (own is None or name == "timestep"):
        chosen = values if own is None else np.minimum(values, own)
        new.set(name, " ".join(map(repr, chosen.tolist())))
    elif policy != "warning" and own is not None:
        _refuse(option, name, policy)
    else:
        notes.add(f"option {name} of an attached model", option, _HOLDS)


def _merge_flag(flag: Element, own: dict[str, str], policy: str, new: Element, notes: Notes) -> None:
    merged = Element("flag", {})
    merged.file, merged.line, merged.origin = flag.file, flag.line, new.origin
    for name in RULES["flag"].words.split():
        word = flag.get(name)
        if not word or word == own.get(name, "enable"):
            continue
        if policy == "merge" and word == "disable":
            merged.set(name, word)
        elif policy == "error" and name in own:
            _refuse(flag, name, policy)
        else:
            notes.add(f"flag {name} of an attached model", flag, _HOLDS)
    new.append(merged)


def _refuse(element: Element, name: str, policy: str) -> None:
    fail(
        element,
        f"{name}={element.get(name)!r} is not that of the model that attaches this one, whose "
        f"<compiler conflict={policy!r}> refuses it; write conflict='warning' to keep that model's own",
    )
