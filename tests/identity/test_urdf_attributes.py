"""Every attribute of URDF that is read moves something, or is named in what was not read.

`urdf_attributes.TABLE` has a scene for each attribute of `taction.io.urdf_elements.SCHEMA`, which is read
at two values. The motion of five steps, or `Model.unread`, must differ, or one of the two is refused. `KEPT`
says of what nothing moves by where it goes, `IDLE` why there is nothing to keep.
"""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import taction as ta
from mjcf_scenes import cases
from taction.io.srdf import READ, SKIPPED
from taction.io.urdf_elements import SCHEMA
from taction.model.spec_bytes import to_bytes
from urdf_attributes import TABLE, robot

STEPS, DT, SPEED = 5, 2e-3, 0.5
FLOOR = ta.Shape(ta.Plane(), ta.Transform(translation=np.array([0.0, 0.0, -0.3])))

# Attributes that nothing moves by, and where they go.
KEPT = {
    **dict.fromkeys(("robot name", "link name", "joint name", "collision name"), "what things are called"),
    "limit effort": "what a motor can, for controllers",
    "limit velocity": "what a motor can, for controllers",
}
# Attributes that say nothing.
IDLE = {
    "robot version": "of the format",
    "geometry name": "nothing refers to it",
    "joint dont_collapse": "a hint to tools that merge links",
}
# Elements that are skipped without a word.
SKIPPED_ELEMENTS = {
    "material": "colours, read by `urdf_visuals`",
    "visual": "looks, read by `urdf_visuals`",
    "calibration": "where a sensor of a motor is zero",
    "safety_controller": "bounds for a controller",
}


@cache
def read(text: str) -> tuple[str, ta.Model | None]:
    """Why a text is refused, or the model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "", ta.load_urdf(text)
    except ta.ModelError as error:
        return str(error), None


@cache
def motion(text: str) -> bytes:
    world = ta.World(read(text)[1], ground=FLOOR)
    v = np.full(world.model.nv, SPEED)
    v[0] = -SPEED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.OverlapWarning)
        run = ta.Simulation(world, dt=DT).run(STEPS * DT, v=v)
    return run.q.tobytes() + run.v.tobytes()


def unread(model: ta.Model) -> list[tuple[str, str]]:
    return [(entry.what, entry.changes) for entry in model.unread]


CASES = cases(TABLE)


@pytest.mark.parametrize("case", CASES, ids=[f"{c.element} {c.attribute}" for c in CASES])
def test_an_attribute_moves_something_or_is_named(case):
    name = f"{case.element} {case.attribute}"
    (refusal, one), (_, other) = map(read, case.texts)
    assert one is not None or other is not None, refusal
    if one is None or other is None or unread(one) != unread(other) or name in IDLE:
        return
    if name in KEPT:
        assert to_bytes(one.spec) != to_bytes(other.spec)
    else:
        assert motion(case.texts[0]) != motion(case.texts[1])


def test_every_attribute_has_a_case():
    """Whoever adds an attribute to the vocabulary adds a scene for it."""
    known = {(tag, name) for tag, rule in SCHEMA.items() for name in rule.attributes.split()}
    assert known == {(case.element, case.attribute) for case in CASES}


def test_what_is_skipped_is_explained():
    assert set(" ".join(rule.skip for rule in SCHEMA.values()).split()) == SKIPPED_ELEMENTS.keys()


VISUAL = (
    '<visual name="{3}"><origin xyz="{0}" rpy="{4}"/><geometry><sphere radius="{1}"/></geometry>'
    '<material name="x"><color rgba="{2}"/></material></visual>'
)


@pytest.mark.parametrize(
    "other", [("0 0 1", 1, "1 0 0 1", "v", "0 0 0"), ("0 0 0", 2, "1 0 0 1", "v", "0 0 0"),
              ("0 0 0", 1, "0 1 0 1", "v", "0 0 0"), ("0 0 0", 1, "1 0 0 1", "w", "0 0 0"),
              ("0 0 0", 1, "1 0 0 1", "v", "0 1 0")],
)  # fmt: skip
def test_looks_reach_the_description(other):
    texts = [robot(VISUAL.format(*values)) for values in (("0 0 0", 1, "1 0 0 1", "v", "0 0 0"), other)]
    specs = [read(text)[1].spec for text in texts]
    assert to_bytes(specs[0]) != to_bytes(specs[1])


@pytest.mark.parametrize(
    ("element", "one", "other"),
    [
        ('<disable_collisions link1="arm" link2="{}"/>', "end", "none"),
        ('<disable_collision link1="{}" link2="end"/>', "arm", "top"),
        ('<disable_default_collisions link="{}"/>', "arm", "top"),
        ('<disable_default_collisions link="{}"/>', "", "none"),
        ('<disable_default_collisions link="end"/><enable_collisions link1="{}" link2="end"/>', "arm", "top"),
        ('<group_state name="{}"><joint name="j1" value="0.1"/></group_state>', "home", "other"),
        ('<group_state name="home"><joint name="{}" value="0.1"/></group_state>', "j1", "j2"),
        ('<group_state name="home"><joint name="j1" value="{}"/></group_state>', "0.1", "0.2"),
        ("<{}/>", "group", "rotor_params"),
        ("<{}/>", "group", "disable_colisions"),
    ],
)
def test_a_semantic_description_changes_the_model_or_is_named(element, one, other):
    def outcome(value: str) -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ta.UnsupportedFeatureWarning)
            try:
                model = ta.load_urdf(robot(), srdf=f'<robot name="r">{element.format(value)}</robot>')
            except ta.ModelError as error:
                return str(error)
        return to_bytes(model.spec), unread(model)

    assert outcome(one) != outcome(other)


def test_elements_of_semantic_descriptions_are_read_or_skipped():
    assert not READ & SKIPPED
