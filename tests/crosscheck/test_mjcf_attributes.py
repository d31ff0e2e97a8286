"""Every attribute of MJCF that is read moves something, or is named in what was not read.

`mjcf_attributes.TABLE` has a scene for each attribute of `taction.io.mjcf_vocabulary.RULES`. It is read at
two values. What must differ is the motion (five steps from a moving start, under the model's own actuators),
or `Model.unread`, or one of the two is refused. Three kinds make do with less:

* `KEPT`: nothing moves by it; the description must differ, by which it reaches whoever looks;
* silent ones that MuJoCo's motion does not know either, bit for bit;
* `TUNES`: silent, and MuJoCo's motion does change, by nothing that exact laws have.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import taction as ta
from mjcf_attributes import TABLE
from mjcf_scenes import Case, cases
from taction.io.mjcf_sensors import PARTS
from taction.io.mjcf_survey import survey
from taction.io.mjcf_vocabulary import ACTUATORS, RULES, TRANSMISSIONS, Rule
from taction.io.notes import Notes
from taction.io.xml import parse_xml
from taction.model.sensors import KINDS
from taction.model.spec_bytes import to_bytes

mujoco = pytest.importorskip("mujoco")

STEPS = 5
SPEED, CONTROL = 0.5, 0.7

# Attributes that nothing moves by, and where they go.
KEPT = {
    "name": "what things are called",
    "mujoco model": "what it is called",
    "attach prefix": "what things are called",
    "replicate sep": "what things are called",
    "material class": "colours",
    **dict.fromkeys(("geom rgba", "geom material", "mesh material", "material rgba"), "colours"),
    "compiler discardvisual": "looks",
    "geom group": "which geoms are drawn",
    "site size": "the shape of a site",
    "site type": "the shape of a site",
    **dict.fromkeys(("key qpos", "key qvel", "key ctrl", "key act"), "keyframes"),
}

# Silent attributes that may change MuJoCo's motion, or that it refuses, and why that is no loss.
TUNES = {
    **dict.fromkeys("integrator solver iterations tolerance jacobian".split(), "how MuJoCo steps and solves"),
    **dict.fromkeys("ls_iterations ls_tolerance noslip_iterations noslip_tolerance".split(), "its solver"),
    **dict.fromkeys("warmstart refsafe eulerdamp diagexact".split(), "its solver"),
    **dict.fromkeys(
        "nativeccd multiccd midphase ccd_iterations ccd_tolerance".split(), "how it finds contacts"
    ),
    "speculative": "how it finds contacts",
    "island": "its solver",
    "ipc": "flexible bodies, which are listed",
    "hfield": "height fields, which are listed",
    "cranklength": "sliders and cranks, which are listed",
    "input": "laws with several controls, which are listed",
    **dict.fromkeys(("frame name", "pair name", "exclude name"), "nothing refers to it"),
    **dict.fromkeys(("fixed width", "fixed material", "fixed rgba"), "looks"),
    **dict.fromkeys(("equality/joint name", "equality/tendon name"), "nothing refers to it"),
    **dict.fromkeys("apirate mpr_iterations mpr_tolerance".split(), "of older versions"),
}


class Outcome(NamedTuple):
    """What came of a text: a refusal, or a model and what of the text it lacks."""

    refused: str = ""
    model: ta.Model | None = None
    unread: tuple[tuple[str, str], ...] = ()


def all_attributes(rule: Rule) -> list[str]:
    return " ".join((rule.numbers, rule.words, rule.silent, rule.soft, *rule.idle)).split()


@cache
def outcome(text: str) -> Outcome:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ta.load_mjcf(text)
    except ta.ModelError as error:
        return Outcome(str(error))
    return Outcome("", model, tuple((entry.what, entry.changes) for entry in model.unread))


def start(nv: int) -> np.ndarray:
    """Velocities by which what stands on a floor comes down, and all else goes up."""
    v = np.full(nv, SPEED)
    v[2::6] *= -1.0
    return v


@cache
def motion(text: str) -> bytes:
    """Positions and velocities of a short run; the message of a run that ends."""
    model = outcome(text).model
    n_controls = len(model.spec.actuators)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = ta.Simulation(ta.World(model))
        control = ta.Actuators(model, np.full(n_controls, CONTROL)) if n_controls else None
        try:
            run = sim.run(STEPS * sim.dt, v=start(model.nv), controller=control)
        except ta.TactionError as error:
            return str(error).encode()
    return run.q.tobytes() + run.v.tobytes() + repr(sim.dt).encode()


def peer_motion(text: str) -> bytes:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:], data.ctrl[:] = start(model.nv), CONTROL
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    return data.qpos.tobytes()


def complaint(case: Case) -> str:
    """What is wrong with an attribute, or nothing."""
    one, other = map(outcome, case.texts)
    if one.refused and other.refused:
        return f"both are refused: {one.refused} | {other.refused}"
    if one.refused or other.refused or one.unread != other.unread:
        return ""
    name, is_silent = f"{case.element} {case.attribute}", case.attribute in RULES[case.element].silent.split()
    if (case.attribute in TUNES and is_silent) or name in TUNES:
        return ""
    if case.attribute in KEPT or name in KEPT:
        return "the description is the same" if to_bytes(one.model.spec) == to_bytes(other.model.spec) else ""
    if motion(case.texts[0]) != motion(case.texts[1]):
        return ""
    if not is_silent:
        return "nothing moves by it, and it is not listed"
    try:
        return "" if peer_motion(case.texts[0]) == peer_motion(case.texts[1]) else "MuJoCo moves by it"
    except ValueError as error:
        return f"MuJoCo refuses the scene: {error}"


CASES = cases(TABLE)


@pytest.mark.parametrize("case", CASES, ids=[f"{c.element} {c.attribute}" for c in CASES])
def test_an_attribute_moves_something_or_is_named(case):
    assert complaint(case) == ""


def test_every_attribute_has_a_case():
    """Whoever adds an attribute to the vocabulary adds a scene for it."""
    covered = {(case.element, case.attribute) for case in CASES}
    known = {(tag, name) for tag, rule in RULES.items() for name in all_attributes(rule)}
    assert known - covered == set()


# ----- What MuJoCo's own schema has -------------------------------------------------------------------------


def schema() -> Iterator[tuple[tuple[str, ...], str]]:
    """Paths of elements below the root, and an attribute of each, of all that MuJoCo reads."""
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        tag, names = line[:30].split(), line[30:].split()
        if tag:
            depth = (len(line) - len(line.lstrip())) // 3
            path = [*path[:depth], tag[0].replace("(world)", "")]
        for name in names if len(path) > 1 else ():
            yield tuple(path[1:]), name


def is_skipped(path: tuple[str, ...]) -> bool:
    """Whether an element, or one around it, is skipped as a whole."""
    around = ("mujoco", *path)
    for outer, tag in pairwise(around):
        rule = RULES.get(outer)
        if rule is None or tag not in rule.inside.split():
            return rule is not None and tag in rule.skip.split()
    return False


# Elements that are skipped without a word, and why.
SKIPPED = {
    **dict.fromkeys("visual texture skin light camera layer".split(), "drawing"),
    "statistic": "drawing, and a scale of MuJoCo's solver",
    "size": "memory",
    "custom": "of the user",
    "geom": "listed by `taction.io.mjcf_tendons`, around which tendons wind",
    "sensor": "read by `taction.io.mjcf_sensors`",
    "lengthrange": "muscles, which are listed",
    "default": "classes of actuators that are listed where they are used",
    "actuator": "listed by `taction.io.mjcf_actuators`",
}


def test_what_mujoco_reads_is_read_or_listed():
    """Every attribute of MuJoCo's schema has a rule, or is listed where a file has it."""
    unheard = []
    for path, name in schema():
        rule = RULES.get("/".join(path[-2:])) or RULES.get(path[-1])
        if is_skipped(path) or (rule is not None and name in all_attributes(rule)):
            continue
        if path[-1] in ACTUATORS and name in TRANSMISSIONS:
            continue
        opened = "".join(f"<{tag}>" for tag in path[:-1])
        closed = "".join(f"</{tag}>" for tag in reversed(path[:-1]))
        notes = Notes()
        survey(parse_xml(f'<mujoco>{opened}<{path[-1]} {name}="1"/>{closed}</mujoco>'), notes)
        if not notes.entries:
            unheard.append((*path, name))
    assert unheard == []


def test_what_is_skipped_is_explained():
    skipped = {path for path, _ in schema() if is_skipped(path)}
    assert {path for path in skipped if not SKIPPED.keys() & set(path)} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sensor_has_nothing_else(kind):
    """Sensors with a reading: what they name, what is listed, and what has no use without delays."""
    known = {
        *PARTS,
        "objtype",
        "objname",
        "reftype",
        "refname",
        "name",
        "cutoff",
        "noise",
        "delay",
        "interval",
    }
    assert {name for path, name in schema() if path == ("sensor", kind)} <= known | {
        "interp",
        "nsample",
        "user",
    }
