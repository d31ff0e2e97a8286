"""Concave meshes in convex pieces: the machinery with a library that only pretends, and CoACD where it is."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from bracket import ARM, SIDE, bracket
from taction._core import kept
from taction.geometry import decompose as module
from taction.geometry import surface_error
from taction.geometry.hull import hull_triangles

HULL_ERROR = 0.5 * (SIDE - ARM)  # of the slanted side of its hull, in the middle

PRETENDER = """
from itertools import product
from pathlib import Path
import numpy as np

class Mesh:
    def __init__(self, vertices, faces):
        self.vertices = vertices

def set_log_level(level):
    pass

def run_coacd(mesh, *, threshold, real_metric, max_ch_vertex, seed):
    with open(Path(__file__).with_name("asked"), "a") as file:
        file.write(f"{threshold:g} {real_metric} {max_ch_vertex} {seed}\\n")
    print("chatter")
    ACTION
    v = mesh.vertices
    arms = [v[v[:, 1] < 0.11], v[v[:, 0] < 0.11]]
    pieces = [np.array(list(product(*zip(arm.min(axis=0), arm.max(axis=0))))) for arm in arms]
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    return [[piece, None] for piece in (*pieces, flat)]
"""


def box() -> ta.Mesh:
    points = np.array([(a, b, c) for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)])
    return ta.Mesh(*hull_triangles(points))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty one for what is kept, and fewer samples: shapes here are plain."""
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(surface_error, "SAMPLES", 2000)
    return tmp_path


@pytest.fixture
def pretender(tmp_path, monkeypatch):
    """A module `coacd` that cuts the bracket in two; called with what it does instead of that."""

    def install(action: str = "pass") -> Path:
        place = tmp_path / "library"
        place.mkdir(exist_ok=True)
        (place / "coacd.py").write_text(PRETENDER.replace("ACTION", action))
        monkeypatch.syspath_prepend(str(place))
        return place / "asked"

    return install


def obj(mesh: ta.Mesh) -> str:
    lines = ["v {:g} {:g} {:g}".format(*point) for point in mesh.vertices]
    return "\n".join([*lines, *("f {} {} {}".format(*face) for face in mesh.faces + 1)])


def test_a_bracket_becomes_two_arms(pretender):
    asked = pretender()
    for _ in range(2):  # the second time from the disk
        found = ta.decompose(bracket(), 0.01)
        assert [type(part) for part, _ in found.shape.pieces()] == [ta.Mesh, ta.Mesh]
        assert found.error <= 1e-12 and found.hull_error == pytest.approx(HULL_ERROR, rel=0.1)
        volumes = [part.unit_inertia().mass for part, _ in found.shape.pieces()]
        assert np.allclose(volumes, SIDE * ARM * 0.1, rtol=1e-9)
    assert asked.read_text() == f"0.01 True {module.CORNERS} {module.SEED}\n"
    ta.decompose(bracket(), 0.02)
    assert len(asked.read_text().splitlines()) == 2


def test_a_mesh_whose_hull_is_near_enough_needs_no_library(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    for mesh, tolerance in ((box(), 1e-6), (bracket(), 0.15)):
        found = ta.decompose(mesh, tolerance)
        assert found.shape is mesh and found.error == found.hull_error <= tolerance


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ta.ModelError, match=r"pip install 'taction\[decompose\]'"):
        ta.decompose(bracket(), 0.01)


@pytest.mark.parametrize(
    ("action", "said"),
    [("raise ValueError('no manifold')", "no manifold"), ("import os; os.abort()", "it ended with -6")],
)
def test_a_library_that_fails_is_one_error(pretender, action, said):
    pretender(action)
    with pytest.raises(ta.ModelError, match=f"cannot be cut into pieces: CoACD failed .*{said}"):
        ta.decompose(bracket(), 0.01)


def test_wrong_calls():
    for tolerance in (0.0, -1.0, np.nan, "small"):
        with pytest.raises(ta.BadInput, match="tolerance"):
            ta.decompose(bracket(), tolerance)
    with pytest.raises(ta.ModelError, match="has no faces"):
        ta.decompose(ta.Mesh(bracket().vertices), 0.01)
    with pytest.raises(ta.BadInput, match="what is decomposed"):
        ta.decompose(ta.Box((1, 1, 1)), 0.01)


def test_damaged_pieces_are_made_again(pretender):
    asked = pretender()
    ta.decompose(bracket(), 0.01)
    (path,) = (path for path in kept.cache_root().rglob("pieces-*.kept"))
    count, points, errors = kept._read(path)
    for arrays in ([count + 1, points, errors], [count, points, errors[:1]]):
        kept._write(path, arrays)
        assert len(ta.decompose(bracket(), 0.01).shape.pieces()) == 2
    assert len(asked.read_text().splitlines()) == 3


URDF = """<robot name="hook"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 1"/><geometry><mesh filename="bracket.obj"/></geometry></collision>
</link></robot>"""
MJCF = """<mujoco><asset><mesh name="bracket" file="bracket.obj"/></asset><worldbody><body><freejoint/>
<geom type="mesh" mesh="bracket" pos="0 0 1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("name", "text"), [("hook.urdf", URDF), ("hook.xml", MJCF)])
def test_loaders_decompose_where_asked(folder, pretender, name, text):
    """A ball between the arms of a bracket: held out by its hull, let in by its pieces."""
    pretender()
    (folder / "bracket.obj").write_text(obj(bracket()))
    (folder / name).write_text(text)
    load = ta.load_urdf if name.endswith("urdf") else ta.load_mjcf
    ball = ta.free_body("ball", ta.Sphere(0.03), mass=1.0, position=(0.17, 0.17, 1.05))
    for decompose, shapes, overlaps in ((None, 2, 1), (0.01, 3, 0)):
        world = ta.World(load(folder / name, decompose=decompose), ball)
        assert len(world.shape_names) == shapes
        sim = ta.Simulation(world)
        assert len(sim.overlaps(sim.state())) == overlaps
    masses = [load(folder / name, decompose=decompose).total_mass for decompose in (None, 0.01)]
    assert masses[0] == masses[1]


def test_what_stays_farther_than_asked_is_named(folder, pretender):
    pretender("return [[mesh.vertices, None]]")
    (folder / "bracket.obj").write_text(obj(bracket()))
    (folder / "hook.urdf").write_text(URDF)
    with pytest.warns(ta.UnsupportedFeatureWarning, match=r"obj: 1 pieces, 0.1 m \(its hull 0.1 m\)"):
        ta.load_urdf(folder / "hook.urdf", decompose=0.01)
    with pytest.raises(ta.ModelError, match="farther from their surface than asked"):
        ta.load_urdf(folder / "hook.urdf", decompose=0.01, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ta.load_urdf(folder / "hook.urdf", decompose=0.2)


def test_coacd_itself_cuts_a_bracket_the_same_way_every_time(monkeypatch):
    pytest.importorskip("coacd", reason="coacd, an extra, is not installed")
    found = []
    for k in range(2):
        monkeypatch.setenv("TACTION_CACHE_DIR", str(kept.cache_root() / str(k)))
        found.append(ta.decompose(bracket(), 0.01))
    assert found[0].error == found[1].error <= 0.01
    ours, theirs = ([part.vertices for part, _ in one.shape.pieces()] for one in found)
    assert len(ours) >= 2 and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
