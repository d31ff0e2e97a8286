"""Public quadrupeds whose thighs overlap the trunk as they stand: named, and turned by little.

Their levers nearly vanish: a linearised displacement turned joints by 40, 7.4 and 0.94 rad in one step.
"""

import importlib.util
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from taction.sim.columns import position_columns

ROBOTS = {
    "go2": ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf", "base and FR_thigh"),
    "solo12": (
        "solo_description/robots/solo12.urdf",
        "solo_description/srdf/solo.srdf",
        "base_link and HL_UPPER_LEG",
    ),
    "anymal": (
        "anymal_b_simple_description/robots/anymal.urdf",
        "anymal_b_simple_description/srdf/anymal.srdf",
        "base and LF_THIGH",
    ),
}
H = 1e-3


def standing(name):
    """The robot and its first named posture."""
    spec = importlib.util.find_spec("cmeel")
    homes = [Path(p).parent for p in (spec.submodule_search_locations if spec else None) or []]
    places = [home / "cmeel.prefix/share/example-robot-data/robots" for home in homes]
    folder = next((p for p in places if p.is_dir()), None)
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    urdf, srdf, named = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is not read, and of inertias
        model = ta.load_urdf(folder / urdf, floating_base=True, check_inertia=False)
    q, columns = model.q0.copy(), position_columns(model)
    posture = next(ET.parse(folder / srdf).getroot().iter("group_state"))
    for joint in posture.iter("joint"):
        values = [float(x) for x in joint.get("value", "").split()]
        if len(values) == 1:
            q[[c.name.endswith(joint.get("name", "")) for c in columns].index(True)] = values[0]
        else:
            q[:3] = values[:3]
    return model, q, named


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_standing_robot_is_not_turned_about(name, coordinates):
    model, q, named = standing(name)
    world = ta.World(model, ground=ta.Plane(friction=0.7), self_collision="all")
    hold = ta.PD(kp=100, kd=3, target=q[7:])
    with pytest.warns(ta.OverlapWarning, match=named):
        run = ta.Simulation(world, dt=H, coordinates=coordinates).run(0.02, q=q, controller=hold)
    assert 0.0 < run.certificate.turned <= 1e-2
    assert run.certificate.pushed <= 1.0 * H * (1 + 1e-12)
    assert run.certificate.unconverged_steps == 0
    assert np.abs(run.q[-1, 7:] - q[7:]).max() <= 0.1  # of 40 rad in the first step
    assert run.records[:, 17].max() <= 200
    with pytest.raises(ta.CertificateError, match=named):
        ta.Simulation(world, dt=H, coordinates=coordinates, strict=True).run(H, q=q)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_stands_where_its_links_overlap(name):
    """Held by its motors on the ground, it settles and then stays: its shapes overlap, and do not collide."""
    model, q, _ = standing(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ta.OverlapWarning)
        world = ta.World(model, ground=ta.Plane(friction=0.8))
        q = world.place_on_ground(q)
        run = ta.Simulation(world, dt=H).run(1.5, q=q, controller=ta.PD(kp=300, kd=10, target=q[7:]))
    settled = run.q[1000:, :3]
    assert np.abs(settled - settled[0]).max() < 1e-3
    assert run.q[-1, 2] > 0.8 * q[2] and run.certificate.unconverged_steps == 0
    within = (run.q[:, 7:] >= model.lower[6:] - 1e-6) & (run.q[:, 7:] <= model.upper[6:] + 1e-6)
    assert within.all()
