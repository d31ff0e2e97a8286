"""Text of strangers cannot steer a terminal, wherever it is said."""

import warnings

import pytest

import taction as ta
from taction._core import errors
from taction._core.errors import one_line, printable
from taction._core.show import rows

HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202eb\ud800"


def is_harmless(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


def test_what_would_steer_is_shown():
    assert printable("plain – ä 漢") == "plain – ä 漢"
    assert printable("two\nlines") == "two\nlines"
    assert printable("\x1b[2J\x9b\u202e\ud800") == r"\x1b[2J\x9b\u202e\ud800"


@pytest.mark.parametrize(
    "kind", [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
)
def test_every_error_and_warning_is_harmless(kind):
    assert is_harmless(str(kind(HOSTILE)))


def test_one_line_is_one_line():
    text = one_line(ValueError(f"{HOSTILE}\nmore"))
    assert is_harmless(text)
    assert "\n" not in text


def test_a_warning_on_stderr_is_harmless():
    warning = ta.UnsupportedFeatureWarning(HOSTILE)
    assert is_harmless(warnings.formatwarning(warning, type(warning), "x.py", 1, ""))


def test_representations_are_harmless():
    assert is_harmless(rows("first", HOSTILE))
    body = ta.free_body("ball", ta.Sphere(0.1), mass=1.0)
    assert is_harmless(repr(body))
