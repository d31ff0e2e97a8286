"""Every joint is one row of a table with every part, and few files know joints by name."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import taction
from taction._core.kinds import LinkKind, TurnKind
from taction.model import joints
from taction.model.builder import ModelBuilder
from taction.model.joints import MOTIONS, JointKind
from taction.model.spec import JointSpec
from taction.report.figures import PANEL_LABELS
from taction.sim.columns import FORCE_UNITS

PACKAGE = Path(taction.__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
FREEDOMS = {LinkKind.REVOLUTE: 1, LinkKind.PRISMATIC: 1, LinkKind.SPHERICAL: 3, LinkKind.FLOATING: 6}
TURNING = {TurnKind.LOCKED: [], TurnKind.HINGE: [5], TurnKind.CARDAN: [4, 5], TurnKind.FREE: [3, 4, 5]}
# Who may name a kind: what makes joints of that kind, or reads a format that has its own idea of it.
CHOOSERS = {
    "model/joints.py": "the table",
    "model/builder.py": "a method for each",
    "model/dh.py": "the two joints of Denavit and Hartenberg",
    "model/loose.py": "what a hinge lacks, in words",
    "model/absolute.py": "two hinges that meet are a universal joint",
    "io/urdf.py": "planar joints have a normal there, continuous ones no limits",
    "io/mjcf_joints.py": "MJCF's four joints",
    "control/waves.py": "the joints of a snake",
}


def test_the_table_is_complete():
    assert list(MOTIONS) == list(JointKind)


@pytest.mark.parametrize("kind", list(JointKind))
def test_a_joint_has_every_part(kind):
    motion = kind.motion
    rows = list(motion.rows)
    assert rows == sorted(set(rows)) and len(rows) == kind.nv  # velocities: position first, then orientation
    assert [row for row in rows if row >= 3] == TURNING[motion.turn]
    assert sum(FREEDOMS[link] for link, _ in motion.links) == kind.nv
    for coordinates in (motion.positions, motion.velocities):
        names = [c.name for c in coordinates]
        assert len(set(names)) == len(names) and ("" not in names or len(names) == 1)
        assert {c.unit for c in coordinates} <= PANEL_LABELS.keys()
    units = [c.unit for c in motion.velocities]
    assert units == ["m" if row < 3 else "rad" for row in rows] and set(units) <= FORCE_UNITS.keys()
    for link, axis in motion.links:
        needs_axis = link in (LinkKind.REVOLUTE, LinkKind.PRISMATIC)
        assert (axis is not None) == needs_axis and (needs_axis or len(motion.links) == 1)
    assert set(motion.axes) <= vars(JointSpec("j", kind, "a", "b")).keys()
    assert kind is JointKind.CONTINUOUS or inspect.getdoc(getattr(ModelBuilder, kind.value))


@pytest.mark.parametrize("kind", [k for k in JointKind if k is not JointKind.FIXED])
def test_a_joint_is_documented(kind):
    assert f"\n{kind.value} " in joints.__doc__
    assert f"`{kind.value}`" in (DOCS / "models.md").read_text("utf-8")
    rows = [line for line in (DOCS / "conventions.md").read_text("utf-8").splitlines() if line[:1] == "|"]
    assert any(kind.value in line.split("|")[1] for line in rows)


def test_nobody_else_knows_joints_by_name():
    """Welds and free bodies are no joints like the others: they are known wherever bodies are."""
    for path in PACKAGE.rglob("*.py"):
        nodes = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Attribute)]
        named = {n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id == "JointKind"}
        where = path.relative_to(PACKAGE).as_posix()
        assert where in CHOOSERS or named <= {"FIXED", "FLOATING"}, where
