"""Hostile MJCF: whatever is read, nothing but a `ModelError` is raised."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mjcf_text import DATA
from mjcf_text import FILES as PLAIN
from taction._core.errors import ModelError, UnsupportedFeatureWarning
from taction.io.mjcf import parse_mjcf

FILES = [*PLAIN, DATA / "more" / "hand.xml"]

# ----- Fuzz -------------------------------------------------------------------------------------------------

EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.binary(min_size=1, max_size=6)), min_size=1, max_size=5
)
TOKENS = st.sampled_from(
    b'"" "0" "-1" "1e999" "nan" <body> </body> <joint/> <frame> <freejoint/> type="mesh" free ball mesh '
    b"class= 1e308 -0 <geom/> childclass= &a; <!-- ]]> fromto=".split()
)


def mutated(data, edits, tokens):
    """The bytes after replacing, inserting, deleting or repeating pieces at some places."""
    data = bytearray(data)
    for (place, kind, junk), token in zip(edits, tokens, strict=False):
        i = int(place * (len(data) - 1))
        match kind:
            case 0:
                data[i : i + len(junk)] = junk
            case 1:
                data[i:i] = token
            case 2:
                del data[i : i + 8 * len(junk)]
            case _:
                data[i:i] = data[i : i + 40]
    return bytes(data)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FILES), EDITS, st.lists(TOKENS, min_size=5, max_size=5))
def test_no_input_raises_anything_but_a_model_error(path, edits, tokens):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # above all no RuntimeWarning
        warnings.simplefilter("ignore", UnsupportedFeatureWarning)
        try:
            parse_mjcf(mutated(path.read_bytes(), edits, tokens), file=str(path))
        except ModelError:
            pass


WORDS = "0 -1 1 1e308 1e-320 true false auto mesh ball free slide plane box capsule main leg world j1"
VECTORS = ["", "0 0 0", "1 2 3", "1e308 -1e308 1e308", "0 0 0 0", "1 0 0 0 0 1e200"]
VALUES = st.sampled_from([*WORDS.split(), *VECTORS])
SHAKES = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 3), VALUES), min_size=1, max_size=6
)


def shaken(data, shakes):
    """Well-formed text with other attribute values, and elements in other places."""
    root = ET.fromstring(data)
    names = sorted({name for element in root.iter() for name in element.keys()})
    for first, second, kind, value in shakes:
        elements = list(root.iter())
        one, other = elements[first % len(elements)], elements[second % len(elements)]
        if kind == 0:
            one.set(names[second % len(names)], value)
        elif kind == 1 and len(one.keys()):
            one.set(sorted(one.keys())[second % len(one.keys())], value)
        elif kind == 2:
            one.append(deepcopy(other))
        elif len(one):
            one.remove(one[second % len(one)])
    return ET.tostring(root)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FILES), SHAKES)
def test_no_well_formed_input_raises_anything_but_a_model_error(path, shakes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnsupportedFeatureWarning)
        try:
            spec = parse_mjcf(shaken(path.read_bytes(), shakes), file=str(path))
        except ModelError:
            return
    for body in spec.bodies:
        body.inertia.check(body.name)
    for joint in spec.joints:
        assert np.all(np.isfinite(joint.pose.matrix))
