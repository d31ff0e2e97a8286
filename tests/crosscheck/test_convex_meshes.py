"""Meshes that MJCF gives by points alone, or whose inertia is that of their hull, weigh what MuJoCo says."""

import numpy as np
import pytest

from taction.dynamics.crba import mass_matrix
from taction.io.mjcf import load_mjcf

mujoco = pytest.importorskip("mujoco")

# an L of boxes: not convex, so that its hull is another body
CORNERS = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
POINTS = [(0.1 * x, 0.1 * y, 0.1 * z) for z in (0, 1) for x, y in CORNERS]
SIDES = [t for i in range(6) for t in ((i, (i + 1) % 6, i + 6), ((i + 1) % 6, (i + 1) % 6 + 6, i + 6))]
CAPS = [(0, 3, 1), (1, 3, 2), (0, 5, 3), (3, 5, 4)]
FACES = [*SIDES, *CAPS, *((a + 6, c + 6, b + 6) for a, b, c in CAPS)]


def words(rows):
    return " ".join(str(value) for row in rows for value in row)


@pytest.mark.parametrize(
    "attributes",
    [
        f'vertex="{words(POINTS)}"',
        f'vertex="{words(POINTS)}" scale="1 -2 1" refpos="0.1 0 0" refquat="1 1 0 0"',
        f'vertex="{words(POINTS)}" face="{words(FACES)}" inertia="convex"',
        f'vertex="{words(POINTS)}" face="{words(FACES)}" inertia="exact"',
    ],
)
def test_mass_matrix(attributes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f"""<mujoco><asset><mesh name="m" {attributes}/></asset><worldbody>
      <body><freejoint/><geom type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="10 20 30"/></body>
      </worldbody></mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), load_mjcf(text)
    data, M = mujoco.MjData(theirs), np.zeros((6, 6))
    mujoco.mj_forward(theirs, data)
    mujoco.mj_fullM(theirs, data, M)
    # MuJoCo keeps vertices in single precision
    np.testing.assert_allclose(mass_matrix(ours, ours.q0), M, atol=1e-6 * np.abs(M).max())
