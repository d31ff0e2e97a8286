"""Friction of pairs from an MJCF file is that of MuJoCo: condim, priority, pairs asked for."""

import numpy as np
import pytest

import taction as ta
from taction._core.jit import plain
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.steppers.elements import pair_surface

mujoco = pytest.importorskip("mujoco")


def scene(rng, bodies=4):
    """Spheres around one point with random friction, condim and priority; some pairs asked for."""
    text, names = "", [f"k{i}" for i in range(bodies)]
    for name in names:
        friction, condim = round(float(rng.uniform(0.1, 1.5)), 3), rng.choice([1, 3])
        bits = rng.integers(0, 2)
        text += (
            f'<body><freejoint/><geom name="{name}" size="0.1" friction="{friction}" condim="{condim}" '
            f'priority="{rng.integers(0, 3)}" contype="{bits}" conaffinity="{bits}"/></body>'
        )
    pairs = ""
    for i in range(bodies - 1):
        if rng.random() < 0.5:
            friction = (
                f'friction="{(f := round(float(rng.uniform(0, 1)), 3))} {f}"' if rng.random() < 0.5 else ""
            )
            condim = f'condim="{rng.choice([1, 3])}"' if rng.random() < 0.5 else ""
            pairs += f'<pair geom1="k{i}" geom2="k{i + 1}" {friction} {condim}/>'
    return f"<mujoco><worldbody>{text}</worldbody><contact>{pairs}</contact></mujoco>"


def theirs(text):
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    out = {}
    for contact in data.contact:
        names = tuple(sorted(model.geom(int(g)).name for g in contact.geom))
        out[names] = 0.0 if contact.dim == 1 else float(contact.friction[0])
    return out


def ours(world, prefix=""):
    """Friction of every pair that may touch, of shapes whose names start with the prefix."""
    surfaces, out = world.scene().surfaces, {}
    for a, b in world.filter.pairs:
        names = tuple(sorted(world.shape_names[i] for i in (a, b)))
        if all(name.startswith(prefix + "k") for name in names):
            numbers = plain(pair_surface)(surfaces, world.combine, a, b)
            assert numbers[0] == numbers[1] == numbers[2]
            out[tuple(name.removeprefix(prefix) for name in names)] = float(numbers[0])
    return out


def test_friction_of_random_scenes():
    rng, total = np.random.default_rng(3), 0
    other = ta.free_body("other", ta.Sphere(0.1), mass=1.0, material=ta.Material(0.05))
    for _ in range(60):
        text = scene(rng)
        model = compile_model(parse_mjcf(text, file="scene.xml"))
        expected = theirs(text)
        assert ours(ta.World(model)) == pytest.approx(expected, abs=1e-12)
        # whatever else is in the world
        assert ours(ta.World(model, other), "scene/") == pytest.approx(expected, abs=1e-12)
        assert ours(ta.World(model, ground=ta.Plane(0.01))) == pytest.approx(expected, abs=1e-12)
        total += len(expected)
    assert total > 100
