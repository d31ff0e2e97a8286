"""Every shape is one file for kernels, the dispatch asks each for its parts, and nobody else knows them."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import taction
from taction._core.jit import plain
from taction._core.kinds import ShapeKind
from taction.geometry.shapes import box, capsule, cylinder, dispatch
from taction.model.shapes import SOLIDS

PACKAGE = Path(taction.__file__).parent
FOLDER = PACKAGE / "geometry" / "shapes"
SHAPES = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in ("__init__", "dispatch"))
GROUND = {ShapeKind.PLANE, ShapeKind.HEIGHT_FIELD}
NEEDED = ("box_around", "support")
# Parts that a shape may bring, and a shape that has the part, to compare arguments with
OPTIONAL = {
    "core_radius": capsule,
    "curvature": cylinder,
    "side_line": cylinder,
    "facing": box,
    "is_over_face": box,
    "set_part": box,
    "on_plane": box,
    "on_field": box,
    "height_over": box,
}
PARTS = {**dict.fromkeys(NEEDED, box), **OPTIONAL}
# Who may go by kind or by class: those that choose, and closed forms of pairs.
CHOOSERS = {
    "geometry/shapes/": "the shapes, and their dispatch",
    "geometry/detect.py": "pairs that have a closed form",
    "geometry/general.py": "ground is no convex shape",
    "geometry/bounds.py": "ground is no convex shape",
    "geometry/place_on_ground.py": "terrain is looked at in part",
    "model/shapes/": "the shapes",
    "planning/symbolic_shapes.py": "pairs that have a closed form, in symbols",
}


def module(name):
    return importlib.import_module(f"taction.geometry.shapes.{name}")


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_the_parts_it_needs_and_all_have_the_same_arguments(name):
    shape = module(name)
    for part, example in PARTS.items():
        assert hasattr(shape, part) or part in OPTIONAL, f"{name}.py has no {part}"
        if hasattr(shape, part):
            found, expected = (inspect.signature(plain(getattr(m, part))) for m in (shape, example))
            assert list(found.parameters) == list(expected.parameters), f"{name}.{part}"
            assert plain(getattr(shape, part)).__module__ == shape.__name__, f"{name}.{part} is another's"
    assert hasattr(shape, "facing") == hasattr(shape, "is_over_face")
    assert hasattr(shape, "set_part") or not hasattr(shape, "facing")
    assert "References:" in shape.__doc__


def test_every_kind_is_one_shape():
    assert {shape.KIND for shape in dispatch.SHAPES} | GROUND == set(ShapeKind)
    assert sorted(shape.__name__.rsplit(".", 1)[1] for shape in dispatch.SHAPES) == SHAPES
    assert max(ShapeKind) == ShapeKind.HEIGHT_FIELD and min(ShapeKind) == ShapeKind.PLANE


@pytest.mark.parametrize("part", PARTS)
def test_the_dispatch_asks_every_shape_that_has_the_part(part):
    tree = ast.parse(inspect.getsource(plain(getattr(dispatch, part))))
    called = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == part
    }
    assert called == {name for name in SHAPES if hasattr(module(name), part)}


def test_there_is_an_example_of_every_solid():
    assert sorted(SOLIDS) == SHAPES
    assert {g.collider().kind for g in SOLIDS.values()} == {shape.KIND for shape in dispatch.SHAPES}


def test_nobody_else_goes_by_kind():
    for path in PACKAGE.rglob("*.py"):
        where = path.relative_to(PACKAGE).as_posix()
        imports = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
        named = {f"{n.module}.{a.name}" for n in imports for a in n.names}
        by_kind = "taction._core.kinds.ShapeKind" in named
        by_file = named & {f"taction.geometry.shapes.{name}" for name in SHAPES} or any(
            n.module in {f"taction.geometry.shapes.{name}" for name in SHAPES} for n in imports
        )
        if not where.startswith(tuple(CHOOSERS)):
            assert not (by_kind or by_file), where
