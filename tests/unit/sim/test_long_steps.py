"""What a strict run lets pass is right: moving scenes in steps from one to fifty milliseconds.

Right is what closed forms or energy say, within the bounds at which these scenes count as simulated. Where
steps are too long for that the run must raise; a millisecond must serve, but for the crank at 300 rad/s: a
third of a radian per step opens its loop by half a millimetre, which a strict run refuses.
"""

import numpy as np
import pytest

import taction as ta
from moving_scenes import GIMBAL, PENDULUM, crank, leaning_coin, tilt, tilted_disc

STEPS = (1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05)  # s


def disc(degrees):
    """Rolls in place: its tilt is kept within 0.1 degrees."""
    world, q, v = tilted_disc(degrees)
    return world, {"q": q, "v": v}, 10.0, lambda run: np.abs(tilt(run) - degrees).max() <= 0.1


def coin():
    """Rolls on a circle: its lean is kept within 0.05 degrees."""
    world, q, v = leaning_coin()
    return world, {"q": q, "v": v}, 20.0, lambda run: np.abs(90.0 - tilt(run) - 20.0).max() <= 0.05


def gimbal():
    """Nods as an integrator of order 5 says, within 0.05 degrees where both have a state."""
    model, start = ta.load_mjcf(GIMBAL), {"q": [0.0, 1.0, 0.0], "v": [0.0, 2.0, 100.0]}
    exact = ta.Simulation(model, dt=1e-2, integrator="dormand-prince").run(10.0, **start)

    def is_right(run):
        every = max(round(1e-2 / run.dt), 1)
        off = run.q[::every, 1] - exact.q[:: max(round(run.dt / 1e-2), 1), 1]
        return np.abs(np.degrees(off)).max() <= 0.05

    return ta.World(model), start, 10.0, is_right


def slider(rate):
    """Keeps its energy within a percent."""
    world = ta.World(ta.load_mjcf(crank()))
    start = {"v": [rate, -1.25 * rate, 0.0]}
    return world, start, 1.0, lambda run: np.abs(run.kinetic / run.kinetic[0] - 1.0).max() <= 0.01


def pendulum():
    """Keeps its energy within half a percent of the largest kinetic energy."""
    world = ta.World(ta.load_mjcf(PENDULUM), self_collision="none")

    def is_right(run):
        energy = run.kinetic + run.potential
        return np.abs(energy - energy[0]).max() <= 0.005 * run.kinetic.max()

    return world, {"q": [2.5, 1.0]}, 30.0, is_right


SCENES = {
    "disc-10": lambda: disc(10.0),
    "disc-30": lambda: disc(30.0),
    "coin": coin,
    "gimbal": gimbal,
    "crank-50": lambda: slider(50.0),
    "crank-300": lambda: slider(300.0),
    "pendulum": pendulum,
}


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("name", list(SCENES))
def test_what_a_strict_run_lets_pass_is_right(name, coordinates):
    world, start, seconds, is_right = SCENES[name]()
    for dt in STEPS:
        sim = ta.Simulation(world, dt=dt, coordinates=coordinates, strict=True)
        try:
            run = sim.run(seconds, **start)
        except (ta.CertificateError, ta.IntegrationError) as error:
            assert dt > STEPS[0] or name == "crank-300"
            assert "time step" in str(error) or "accuracy" in str(error)
        else:
            assert is_right(run), dt
