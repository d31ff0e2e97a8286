"""Drawings as bytes: read again, by a reader of this file alone, they are the same to rounding."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from taction.drawing.draw import draw_run
from taction.drawing.encode import Packer, encode_drawing, encode_frames

EPS4 = 2.0**-24  # largest relative error of rounding to 32 bits


def read(data: bytes) -> dict:
    """Head with its arrays in place; what begins with an odd byte is compressed."""
    raw = gzip.decompress(data) if data[0] % 2 else data
    length = int.from_bytes(raw[:4], "little")
    start = 4 + length
    assert start % 8 == 0

    def fill(value):
        if isinstance(value, list):
            return [fill(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "at" not in value:
            return {key: fill(item) for key, item in value.items()}
        assert value["at"] % 8 == 0
        count = int(np.prod(value["shape"]))
        array = np.frombuffer(raw, "<" + value["type"], count, start + value["at"]).reshape(value["shape"])
        return value["shift"] + value["scale"] * array if "scale" in value else array

    return fill(json.loads(raw[4:start]))


@pytest.fixture(scope="module")
def drawing():
    hull = np.random.default_rng(0).normal(size=(30, 3))
    b = ta.ModelBuilder("stone")
    b.body(
        "stone",
        ta.Inertia.solid(ta.Sphere(0.3), mass=1.0),
        [ta.Shape(ta.Mesh(0.1 * hull), material=ta.Material((0.5, 0.2)))],
    )
    b.floating("free", child="stone", initial=np.array([0, 0, 0.4, 1.0, 0, 0, 0]))
    world = ta.World(b.build(), ground=ta.Plane())
    return draw_run(ta.Simulation(world, dt=2e-3).run(0.3, v=[1.0, 0, 0, 1, 2, 3]), title="<stone> ±")


@pytest.fixture(scope="module")
def found(drawing):
    return read(encode_drawing(drawing))


def assert_rounded(a, b, levels: float):
    """16-bit numbers: half a step of the range, and rounding of the sum."""
    assert np.abs(a - b).max() <= (0.5 + 1e-9) * np.ptp(b) / levels + 1e-15


def test_frames(drawing, found):
    frames, read_back = drawing.frames, found["frames"]
    assert frames.first[-1] > 0
    np.testing.assert_array_equal(read_back["t"], frames.t)
    for name in ("position", "quaternion", "com", "point", "force"):
        written, wanted = read_back[name], getattr(frames, name)
        assert written.dtype == "<f4" and written.shape == wanted.shape
        assert (np.abs(written - wanted) <= EPS4 * np.abs(wanted) + 1e-45).all(), name
    for name, key in (("first", "first"), ("state", "state"), ("pair", "pair"), ("is_open", "open")):
        np.testing.assert_array_equal(read_back[key], getattr(frames, name))
    for name in ("normal", "tangent", "friction"):
        assert_rounded(read_back[name], getattr(frames, name), 65534.0)


def test_parts_meshes_and_view(drawing, found):
    for part, written in zip(drawing.parts, found["parts"], strict=True):
        assert (written["kind"], written["body"], written["mesh"]) == (part.kind, part.body, part.mesh)
        assert tuple(written["size"]) == part.size
        assert (
            written["position"] == part.position.tolist()
            and written["quaternion"] == part.quaternion.tolist()
        )
    (mesh,), (written,) = drawing.meshes, found["meshes"]
    np.testing.assert_array_equal(written["faces"], mesh.faces)
    assert_rounded(written["vertices"], mesh.vertices, 65534.0)
    assert (
        found["view"]["target"] == drawing.view.target.tolist()
        and found["view"]["radius"] == drawing.view.radius
    )
    assert found["title"] == "<stone> ±" and found["bodies"] == ["stone"] and found["notes"] == drawing.notes


def test_curves_are_exact(drawing, found):
    assert [panel["title"] for panel in found["panels"]] == [panel.title for panel in drawing.panels]
    for panel, written in zip(drawing.panels, found["panels"], strict=True):
        for curve, points in zip(panel.curves, written["curves"], strict=True):
            assert points["name"] == curve.name
            np.testing.assert_array_equal(points["t"], curve.t)
            np.testing.assert_array_equal(points["y"], curve.y)


def test_equal_drawings_have_equal_bytes(drawing):
    assert encode_drawing(drawing) == encode_drawing(replace(drawing))
    assert encode_drawing(drawing) != encode_drawing(replace(drawing, title="another"))


def test_more_frames(drawing):
    t, y = np.arange(3.0), np.array([1.0, np.nan, 2.0])
    written = read(encode_frames(drawing.frames, [(t, y)], paused=True))
    assert written["paused"] is True
    np.testing.assert_array_equal(written["curves"][0]["y"], y)
    np.testing.assert_array_equal(written["frames"]["t"], drawing.frames.t)


@pytest.mark.parametrize("values", [[], [3.5, 3.5], [-1e6, 1e-6, 1e6]])
def test_rounded_numbers(values):
    packer = Packer()
    values = np.array(values)
    written = read(packer.pack({"x": packer.rounded(values)}))["x"]
    assert written.shape == values.shape
    if len(values):
        assert_rounded(written, values, 65534.0)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        Packer().pack({"x": float("nan")})
