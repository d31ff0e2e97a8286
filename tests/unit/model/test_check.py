"""Names that nothing can show, and numbers that no robot has."""

import zlib

import pytest

import taction as ta
from taction.model.check import LARGEST, LONGEST_NAME
from taction.model.spec_bytes import from_bytes


def named(name):
    return lambda: ta.free_body(name, ta.Sphere(0.1), mass=1.0)


@pytest.mark.parametrize(
    "name", ["a\x1b[2J", "a\nb", "\x9b", "\u202e", "\ud800", "x" * (LONGEST_NAME + 1), "\u2028", "a\0"]
)
def test_names_that_cannot_be_shown_are_refused(name):
    with pytest.raises(ta.ModelError, match=r"has control characters|characters, more than") as error:
        named(name)()
    assert len(str(error.value)) < 500
    assert str(error.value).isprintable()


@pytest.mark.parametrize("name", ["ä 漢 🤖", "<script>", "x" * (LONGEST_NAME - 9), "a/b c", "%s{0}"])
def test_other_names_are_nobodys_business(name):
    assert named(name)().spec.bodies[0].name == name


HUGE = 1.1 * LARGEST


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ta.free_body("b", ta.Sphere(0.1), mass=HUGE), "mass or inertia"),
        (
            lambda: ta.free_body("b", ta.Sphere(0.1), mass=1.0, material=ta.Material(HUGE)),
            "friction",
        ),
        (lambda: ta.load_mjcf(GRAVITY), "gravity"),
        (lambda: ta.load_mjcf(FRICTION), "friction"),
    ],
)
def test_numbers_that_no_step_survives_are_refused(make, what):
    with pytest.raises(ta.ModelError, match=rf"{what}.* of 1\.1e\+30 is more than 1e\+30"):
        make()


JOINT = f'<joint frictionloss="{HUGE}"/><geom size="1"/>'
FRICTION = f"<mujoco><worldbody><body>{JOINT}</body></worldbody></mujoco>"
BODY = '<body><joint/><geom size="1"/></body>'
GRAVITY = f'<mujoco><option gravity="0 0 -{HUGE}"/><worldbody>{BODY}</worldbody></mujoco>'


def test_a_description_that_unpacks_without_end_is_refused(monkeypatch):
    monkeypatch.setenv("TACTION_MOST_BYTES", "1e6")
    with pytest.raises(ta.BadInput, match=r"^its description would take .* or more$"):
        from_bytes(zlib.compress(b'"' + b" " * 1_000_000 + b'"'))
    with pytest.raises(ta.BadInput, match="ends too soon"):
        from_bytes(zlib.compress(b'"x"')[:-2])
    assert from_bytes(zlib.compress(b'"x"')) == "x"
