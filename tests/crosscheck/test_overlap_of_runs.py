"""Loose bodies that fall and turn on each other, judged by Coal: no recorded state overlaps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import taction as ta
from helpers import random_rotation
from taction.kinematics.forward import forward_kinematics

coal = pytest.importorskip("coal")

SHAPES = {
    "box": (ta.Box((0.1, 0.14, 0.2)), coal.Box(0.1, 0.14, 0.2)),
    "capsule": (ta.Capsule(0.04, 0.15), coal.Capsule(0.04, 0.15)),
    "cylinder": (ta.Cylinder(0.08, 0.06), coal.Cylinder(0.08, 0.06)),
}


@pytest.mark.long
@pytest.mark.parametrize(("spin", "dt"), [(10.0, 2e-3), (30.0, 5e-3)])
@pytest.mark.parametrize("name", SHAPES)
def test_no_state_overlaps(name, spin, dt):
    """To a micrometre; Coal's own depths are good to a tenth of that (EPA, tolerance 1e-8).

    At 30 rad/s and 5 ms bodies turn by 0.15 rad, and their ends by a centimetre, in a step.
    """
    ours, peer = SHAPES[name]
    rng = np.random.default_rng(3)
    bodies = [
        ta.free_body(
            f"b{i}",
            ours,
            mass=1.0,
            position=(*rng.uniform(-0.03, 0.03, 2), 0.15 + 0.25 * i),
            rotation=random_rotation(rng),
        )
        for i in range(5)
    ]
    world = ta.World(*bodies, ground=ta.Plane(friction=0.5))
    v = np.zeros((5, 6))
    v[:, 3:] = spin * rng.normal(size=(5, 3))
    run = ta.Simulation(world, dt=dt).run(0.6, v=v.ravel())
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    least, near = np.inf, 0
    for q in run.q:
        pose = forward_kinematics(world.model, q)
        places = [coal.Transform3s(R, x) for R, x in zip(pose.rotation, pose.position, strict=True)]
        for a, b in combinations(places, 2):
            result.clear()
            d = coal.distance(peer, a, peer, b, request, result)
            least, near = min(least, d), near + (d < 1e-3)
    assert near > 10  # they did meet
    assert least >= -1.1e-6
