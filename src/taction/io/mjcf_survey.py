"""What of MJCF is read, what is skipped in silence, and what is listed as not supported.

The survey walks the whole file once, before anything is built from it, so that a setting is found where it is
written (in a default class, say) and not once for every element that inherits it. An attribute is

* read: it has a meaning here;
* silent: it is drawn, logged or tunes MuJoCo's own solver (``texture``, ``user``, ``iterations``), and says
  nothing about the mechanism;
* idle: it would change the physics, but has the value that switches it off (``margin="0"``);
* soft: it softens contacts, limits or dry friction (``solref``, ``solimp``), which are all rigid here.
  Listed, with that remark: a motion may differ by it;
* anything else, such as a setting of a newer MuJoCo: listed, by name, place and what it changes.

The tables are in `taction.io.mjcf_vocabulary`.

Friction cones are those of ``Simulation(contact=)``, round by default: ``cone="pyramidal"`` is listed.
"""

from __future__ import annotations

from typing import cast

from taction.io.mjcf_vocabulary import ACTUATORS, CHANGES, RULES, TRANSMISSIONS, Rule
from taction.io.notes import Notes
from taction.io.xml import Element, floats


def survey(root: Element, notes: Notes) -> None:
    """Note every element and attribute at or below ``root`` that is not supported.

    Raises:
        ModelError: an attribute that is read as numbers is something else.
    """
    waiting = [(root, "")]
    while waiting:
        element, around = waiting.pop()
        rule = RULES.get(f"{around}/{element.tag}") or RULES[element.tag]
        is_ambiguous = f"{around}/{element.tag}" in RULES and around != "default"
        _survey_attributes(element, f"{around}/{element.tag}" if is_ambiguous else element.tag, rule, notes)
        waiting.extend(
            (cast(Element, child), element.tag)
            for child in reversed(element)
            if child.tag in rule.inside.split()
        )
        for child in cast("list[Element]", list(element)):
            if child.tag in rule.inside.split():
                continue
            if child.tag in ("deformable", "extension") and len(child):
                for each in cast("list[Element]", list(child)):
                    notes.add(f"{child.tag}/{each.tag}", each, _changes(child.tag, each.tag))
            elif child.tag not in rule.skip.split():
                what = child.tag if element.tag == "mujoco" else f"{element.tag}/{child.tag}"
                notes.add(what, child, _changes(element.tag, child.tag))


def _survey_attributes(element: Element, label: str, rule: Rule, notes: Notes) -> None:
    numbers, skipped = rule.numbers.split(), (rule.words + " " + rule.silent).split()
    for name, text in element.items():
        if name in numbers:
            _survey_numbers(element, name, notes)
        elif name in rule.soft.split():
            notes.add(f"{label} {name}", element, "rigid here")
        elif name in rule.idle:
            if not any(_same(text, idle) for idle in rule.idle[name].split("|")):
                notes.add(f"{label} {name}", element, _changes(element.tag, name))
        elif name not in skipped and not (element.tag in ACTUATORS and name in TRANSMISSIONS):
            notes.add(f"{label} {name}", element, _changes(element.tag, name))


def _changes(tag: str, name: str) -> str:
    """What it changes that an attribute or a child is not heeded."""
    return CHANGES.get(f"{tag} {name}") or CHANGES.get(name, "not known here")


def _survey_numbers(element: Element, name: str, notes: Notes) -> None:
    values = floats(element, name, is_bound=name.endswith("range"))
    if values is None:
        return
    if name == "condim" and len(values) and values[0] > 3:
        lost = "no torsional friction" if values[0] < 6 else "no torsional and no rolling friction"
        notes.add(f"{element.tag} condim {values[0]:g}", element, lost)
    if name in ("damping", "stiffness") and values[1:].any():
        notes.add(f"{element.tag} {name} of higher order", element, "the first number counts")


def _same(text: str, idle: str) -> bool:
    """Whether every word of an attribute equals the idle value, as text or as a number."""
    return all(word == idle or _as_number(word) == _as_number(idle) is not None for word in text.split())


def _as_number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
