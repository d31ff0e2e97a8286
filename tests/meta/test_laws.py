"""Every law is one file with every part, the dispatch asks each, and nobody else knows laws by name."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import taction
from taction._core.jit import plain
from taction.contact.laws import box, dispatch

PACKAGE = Path(taction.__file__).parent
FOLDER = PACKAGE / "contact" / "laws"
LAWS = sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in ("__init__", "dispatch"))
# Each part, and the function of the dispatch that asks for it.
PARTS = {
    "nearest": "project_block",
    "in_turn": "project_in_turn",
    "shift": "correction",
    "apex": "apex_of",
    "origin": "origin_of",
    "solve_alone": "solve_block",
    "weights": "proximal_weights",
    "equations": "block_equations",
    "rescale": "scale_set",
    "judged": "judge_block",
}
# Who may say which law is meant: those that choose it for an element or build sets of their own.
CHOOSERS = {
    "contact/laws/dispatch.py": "the dispatch",
    "contact/blocks.py": "layout: elements become blocks",
    "contact/assembly.py": "memory of a step begins with rows that carry nothing",
    "contact/indeterminacy.py": "faces of sets, as a problem of its own",
    "steppers/elements.py": "rows become blocks",
    "steppers/push_problem.py": "a problem without friction of its own",
    "sim/step_options.py": "the user's choice of contact",
}


def module(name):
    return importlib.import_module(f"taction.contact.laws.{name}")


@pytest.mark.parametrize("name", LAWS)
def test_a_law_has_every_part(name):
    law = module(name)
    for part in PARTS:
        assert hasattr(law, part), f"{name}.py has no {part}"
        found, expected = (inspect.signature(plain(getattr(m, part))) for m in (law, box))
        assert list(found.parameters) == list(expected.parameters), f"{name}.{part}"
        assert plain(getattr(law, part)).__module__ == law.__name__, f"{name}.{part} is another law's"
    assert "References:" in law.__doc__


def kinds(law):
    """The law's own integer constants that the dispatch exports."""
    text = inspect.getsource(law)
    return {n: getattr(law, n) for n in dispatch.__all__ if f"\n{n} = " in text}


def test_kinds_are_all_different():
    numbers = [v for name in LAWS for v in kinds(module(name)).values()]
    assert len(set(numbers)) == len(numbers) == len(LAWS) and set(numbers) == set(range(len(LAWS)))


@pytest.mark.parametrize(("part", "asked_by"), PARTS.items())
def test_the_dispatch_asks_every_law(part, asked_by):
    tree = ast.parse(inspect.getsource(plain(getattr(dispatch, asked_by))))
    called = {
        node.func.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == part
    }
    assert called == set(LAWS)


def test_judged_does_not_compute():
    """What judges a law calls the judge's own geometry, never a part that solvers use."""
    for name in LAWS:
        law = module(name)
        nodes = ast.walk(ast.parse(inspect.getsource(plain(law.judged))))
        calls = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        for call in calls & vars(law).keys():
            assert plain(getattr(law, call)).__module__ == "taction.contact.cone_distance", (name, call)


def test_nobody_else_knows_laws_by_name():
    for path in PACKAGE.rglob("*.py"):
        where = path.relative_to(PACKAGE).as_posix()
        imports = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
        named = {
            a.name for n in imports if (n.module or "").startswith("taction.contact.laws") for a in n.names
        }
        if not where.startswith("contact/laws/"):
            assert where in CHOOSERS or not named & {*dispatch.__all__, *LAWS}, where
