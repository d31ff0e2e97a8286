"""A run file may say of itself what it likes; whatever no run says is refused by one line."""

import json

import h5py
import numpy as np
import pytest

import taction as ta
from taction.sim.claims import check_attributes, read_summary


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    path = tmp_path_factory.mktemp("claims") / "run.h5"
    ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3).run(0.006, record=path)
    with h5py.File(path) as file:
        return path, bytes(np.asarray(file["summary"]).tobytes()).rstrip(b"\0")


def test_what_a_run_says_is_read(summary):
    _, text = summary
    assert read_summary(text)["certificate"]
    assert read_summary(b"") == {}


FORGED = {
    "certificate": [None, 3, {}, {"residual": "small"}, {"nothing": 1.0}],
    "energy": [[], {"initial": 10**400}, {"initial": {}}],
    "blew_up": [1, None, ["x"]],
    "stopped": [0, "no"],
    "wall_s": ["long", [1], 10**400, True],
    "left_out": ["x", [1], {"a": "b"}],
    "metrics": [[], {"a": {"b": 1}}, {"a": [1]}],
    "events": [{}, [[0.0]], [[0.0, 1]], [["x", "y"]], [None]],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, all_ in FORGED.items() for value in all_])
def test_what_no_run_says_is_refused(summary, key, value):
    _, text = summary
    forged = json.loads(text) | {key: value}
    with pytest.raises(ta.BadInput, match=f"damaged: its summary has another '{key}'"):
        read_summary(json.dumps(forged).encode())


@pytest.mark.parametrize("text", [b"[]", b"3", b'"x"'])
def test_a_summary_is_an_object(text):
    with pytest.raises(ta.BadInput, match="damaged: its summary is none"):
        read_summary(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bodies", "x"),
        ("bodies", [1]),
        ("dt", "x"),
        ("dt", True),
        ("model", 3),
        ("other", {"a": 1}),
        ("dt", None),
    ],
)
def test_attributes_are_text_numbers_or_lists_of_text(key, value):
    check_attributes({"bodies": ["a"], "dt": 0.1, "model": "m", "other": [""]})
    with pytest.raises(ta.BadInput, match=f"damaged: '{key}'"):
        check_attributes({key: value})


@pytest.mark.parametrize("forged", [b"[" * 100_000, b'{"certificate": ' + b"[" * 9000, b"{", b"\xff"])
def test_a_forged_summary_is_one_line(summary, tmp_path, forged):
    path, _ = summary
    copy = tmp_path / "run.h5"
    copy.write_bytes(path.read_bytes())
    with h5py.File(copy, "r+") as file:
        del file["summary"]
        file["summary"] = np.frombuffer(forged, np.uint8)
    with pytest.raises(ta.BadInput, match=r"run\.h5: ") as error:
        ta.load_run(copy)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "written", [np.array([7, 0, 1j]), np.array([7.0, 0.0, 1.0]), np.array([7, 0]), np.array(["7"] * 3, "S1")]
)
def test_how_much_is_written_is_three_whole_numbers(summary, tmp_path, written):
    path = tmp_path / "run.h5"
    path.write_bytes(summary[0].read_bytes())
    with h5py.File(path, "r+") as file:
        del file["written"]
        file["written"] = written
    with pytest.raises(ta.BadInput, match=r"run\.h5: a damaged or unfinished run file"):
        ta.load_run(path)
