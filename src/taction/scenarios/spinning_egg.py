"""A spinning egg rises: spun fast about the vertical, lying, it stands up.

A prolate ellipsoid of semi-axes (b, b, a), a > b, spins about a vertical axis on a floor. Its lowest point
slides; friction there turns the long axis up against gravity while the spin lasts [MoffattShimomura2002], and
takes spin and energy for it. Slower than a critical spin, or where friction ends the sliding first, it stays
down. Exact answers: the energy only falls, whatever the contact. And what is seen: with the spin of the
default or more, and friction between 0.05 and 0.25, the long axis comes within `UPRIGHT` of the vertical.

Source: Moffatt and Shimomura.

References: [MoffattShimomura2002].
"""

from __future__ import annotations

import math

import numpy as np

from taction.contact.forces.parameters import Compliant, SoftContact
from taction.math.transform import rotation_about
from taction.model.builder import free_body
from taction.model.shapes import Ellipsoid, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

LONG, SHORT, MASS = 0.03, 0.02, 0.06  # semi-axes [m], mass [kg]
LEAN = 0.98 * 90.0  # of the long axis from the vertical at the start [deg]
UPRIGHT = 15.0  # [deg]
RISES, LONG_ENOUGH = 200.0, 3.0  # spin from which, and time within which it is asked to rise [rad/s, s]


class SpinningEgg(ContactScenario):
    """See the module text."""

    name = "spinning-egg"
    summary = "an egg spun lying on a floor with little friction stands up"
    source = "Moffatt and Shimomura"
    duration, dt = 3.0, 2e-4
    contact, stepper = "compliant", "midpoint"
    parameters = (
        Parameter("spin", 200.0, "rad/s", "about the vertical", minimum=0.0),
        Parameter("mu", 0.2, "", "coefficient of friction", minimum=0.0),
        Parameter("stiffness", 5e3, "N/m", "of the egg", minimum=1.0),
    )
    units = by_unit(
        {
            "deg": "lean_start lean_least lean_end",
            "m": "height_rise",
            "": "momentum_rise energy_rise is_asked",
        }
    )

    def law(self, parameters: Values) -> SoftContact:
        """A spring of this stiffness, with the default damper."""
        return Compliant(stiffness=parameters["stiffness"])

    def world(self, parameters: Values) -> World:
        """An egg on a floor."""
        R, mu = rotation_about([0.0, 1.0, 0.0], math.radians(LEAN)), parameters["mu"]
        shape, material = Ellipsoid((SHORT, SHORT, LONG)), Material((mu, mu))
        egg = free_body("egg", shape, mass=MASS, position=(0.0, 0.0, SHORT), rotation=R, material=material)
        return World(egg, ground=Plane(friction=mu))

    def start(self, parameters: Values, world: World) -> dict[str, object]:
        """On the floor, spinning."""
        spin = rotation_about([0.0, 1.0, 0.0], math.radians(LEAN)).T @ [0.0, 0.0, parameters["spin"]]
        return {"q": world.place_on_ground(), "v": [0.0, 0.0, 0.0, *spin]}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Lean of the long axis [deg], and how much of its energy and angular momentum it ever gains."""
        x, y = run.q[:, 4], run.q[:, 5]
        lean = np.degrees(np.arccos(np.clip(np.abs(1.0 - 2.0 * (x * x + y * y)), 0.0, 1.0)))
        spins = vertical_momentum(run)
        energy = run.total_energy
        return {
            "lean_start": float(lean[0]),
            "lean_least": float(lean.min()),
            "lean_end": float(lean[-1]),
            "height_rise": float(run.q[:, 2].max() - run.q[0, 2]),
            "momentum_rise": float(np.diff(spins).max(initial=0.0)) / (abs(float(spins[0])) or 1.0),
            "energy_rise": float(max(energy.max() - energy[0], 0.0)) / (float(energy[0]) or 1.0),
            "is_asked": bool(parameters["spin"] >= RISES and 0.05 <= parameters["mu"] <= 0.25),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy does not rise, and the egg does, if it spins as fast as that for long enough."""
        found = above("the rise of the energy, relative,", metrics["energy_rise"], 1e-6)
        if metrics["is_asked"] and run.t[-1] >= LONG_ENOUGH - 1e-9:
            found += above("the least lean of the egg", metrics["lean_least"], UPRIGHT, "deg")
        return found


def vertical_momentum(run: Run) -> np.ndarray:
    """Angular momentum about the vertical through the centre of mass at every time (n + 1,) [kg m²/s]."""
    side, along = 0.2 * MASS * (SHORT**2 + LONG**2), 0.4 * MASS * SHORT**2
    w, x, y, z = run.q[:, 3:7].T
    up = np.stack([2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)
    return (up * run.v[:, 3:6] * [side, side, along]).sum(axis=1)
