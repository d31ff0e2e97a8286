"""Pairs that may collide are those of MuJoCo: joints, welds, groups, exclusions, pairs asked for.

All shapes are spheres around one point, so MuJoCo reports exactly the pairs its rules allow.
"""

from __future__ import annotations

import numpy as np
import pytest

from taction.geometry.filters import candidate_pairs, joined_parents, make_filter

mujoco = pytest.importorskip("mujoco")

JOINTS = {
    "weld": "",
    "hinge": '<joint type="hinge"/>',
    "ball": '<joint type="ball"/>',
    "two": '<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>',
}


def random_world(rng):
    """A random tree as MJCF, and as the arrays of a filter."""
    bodies = int(rng.integers(2, 9))
    above = [-1] * bodies
    parent, solid, link_of = [0], [True], {-1: 0}
    link, group, mask, body = [], [], [], []
    xml, joints = dict.fromkeys(range(-1, bodies), ""), []
    for i in range(bodies):
        above[i] = int(rng.integers(-1, i))
        joints.append(str(rng.choice(list(JOINTS))))
        at = link_of[above[i]]
        for _ in range({"weld": 0, "two": 2}.get(joints[-1], 1)):
            parent.append(at)
            solid.append(False)
            at = len(parent) - 1
        solid[at] = True
        link_of[i] = at
    for i in range(-1, bodies):  # MuJoCo numbers shapes body by body, depth first: names tell which is which
        for _ in range(int(rng.integers(1, 3))):
            bits = rng.integers(0, 4, 2)
            xml[i] += f'<geom name="{len(link)}" size="1" contype="{bits[0]}" conaffinity="{bits[1]}"/>'
            link.append(link_of[i])
            group.append(int(bits[0]))
            mask.append(int(bits[1]))
            body.append(i)
    for i in reversed(range(bodies)):
        xml[above[i]] += f'<body name="b{i}">{JOINTS[joints[i]]}{xml[i]}</body>'
    names = ["world", *(f"b{i}" for i in range(bodies))]
    exclude = {tuple(sorted(map(int, p))) for p in rng.integers(-1, bodies, (3, 2)) if p[0] != p[1]}
    include = {
        tuple(sorted(map(int, p))) for p in rng.integers(0, len(link), (3, 2)) if link[p[0]] != link[p[1]]
    }
    text = "".join(f'<exclude body1="{names[a + 1]}" body2="{names[b + 1]}"/>' for a, b in exclude)
    text += "".join(f'<pair geom1="{a}" geom2="{b}"/>' for a, b in include)
    text = f"<mujoco><worldbody>{xml[-1]}</worldbody><contact>{text}</contact></mujoco>"
    joined = joined_parents(parent, solid)
    return text, make_filter(link, joined, group, mask, body=body, exclude=exclude, include=include)


def test_pairs_of_random_worlds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a log file in the current folder
    rng = np.random.default_rng(0)
    total = 0
    for _ in range(60):
        text, filter = random_world(rng)
        theirs = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(theirs)
        mujoco.mj_forward(theirs, data)
        name = [int(theirs.geom(i).name) for i in range(theirs.ngeom)]
        pairs = {tuple(sorted((name[a], name[b]))) for a, b in data.contact.geom}
        assert sorted(pairs) == [tuple(p) for p in candidate_pairs(filter).tolist()]
        total += len(pairs)
    assert total > 1000
