"""Two soft ellipsoids fall on each other and on the floor: the experiment of Duindam and Stramigioli.

A grey ellipsoid above the floor, a black one right above it, both at rest; three pairs, each with its own
spring. The document prints pictures and tells the story; the instants it labels are found by what happens:

    a   the start
    b   the grey one is deepest in the floor, after the black one hit it
    c   the two begin to roll over each other: they touch, and the line of their centres leans by `LEANING`
    d   the black one approaches the floor at half the speed that it will land with
    e   the black one touches the floor
    f   both roll away: they are as far apart as at the start

Distances Δ₁ (grey and floor), Δ₂ (grey and black), Δ₃ (black and floor) come from the generalised kinematics
of their closest points (`taction.geometry.contact_kinematics`), apart or overlapping, not from the step's own
detection of contacts.

Exact answers: energy, springs included, only falls, but for the error of the scheme in the springs, of second
order in ω h; without damping and friction it is kept to that.

Departures: the document's numbers are not printed; masses, sizes and springs are ours, soft as it says. Its
spring has no bound; ours slips at the cone, which it names as future work. The grey one is tilted a little:
right above each other and straight they would balance.

References: [DuindamStramigioli2003, Section 6].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction.contact.forces.parameters import Compliant, SoftContact
from taction.geometry.contact_kinematics import ContactPoints, closest_points, correct
from taction.geometry.surfaces import Ellipsoid as EllipsoidSurface
from taction.geometry.surfaces import Plane as PlaneSurface
from taction.geometry.surfaces.base import Surface
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import rotation_about
from taction.model.builder import free_body
from taction.model.model import Model
from taction.model.shapes import Ellipsoid, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GREY, BLACK = (0.12, 0.10, 0.08), (0.11, 0.10, 0.07)  # semi-axes [m]
MASS = 1.0  # of each [kg]
HEIGHTS = (0.20, 0.42)  # of their centres at the start [m]
LEANING = 20.0  # [deg]
SAMPLE = 2e-3  # between two looks at the distances [s]
LABELS = ("a", "b", "c", "d", "e", "f")


class Ellipsoids(ContactScenario):
    """See the module text."""

    name = "ellipsoids"
    summary = "two soft ellipsoids fall on each other and roll off: three pairs, six instants"
    source = "Duindam and Stramigioli, Section 6"
    duration, dt = 1.5, 2e-4
    contact, stepper = "compliant", "midpoint"
    parameters = (
        Parameter("stiffness", 4e3, "N/m", "of each ellipsoid", minimum=1.0),
        Parameter("damping", 1.0, "s/m", "of each, Hunt and Crossley's", minimum=0.0),
        Parameter("mu", 0.8, "", "coefficient of friction", minimum=0.0),
        Parameter("tilt", 12.0, "deg", "of the grey one at the start", minimum=-90.0, maximum=90.0),
    )
    units = by_unit(
        {
            "m": "max_penetration",
            "J": "energy_rise energy_end energy_start stored_energy_at_end",
            "rad": "phase",
            "s": "t_a t_b t_c t_d t_e t_f",
        }
    )

    def law(self, parameters: Values) -> SoftContact:
        """Springs of these numbers; no damper along the tangents without one along the normal."""
        damping = parameters["damping"]
        drag = None if damping > 0.0 else 0.0
        return Compliant(stiffness=parameters["stiffness"], damping=damping, tangential_damping=drag)

    def world(self, parameters: Values) -> World:
        """Two ellipsoids above a floor."""
        material = Material((parameters["mu"], parameters["mu"]))
        tilt = rotation_about([0.0, 1.0, 0.0], math.radians(parameters["tilt"]))
        grey, black = (
            free_body(
                name, Ellipsoid(radii), mass=MASS, position=(0.0, 0.0, z), rotation=R, material=material
            )
            for name, radii, z, R in (("grey", GREY, HEIGHTS[0], tilt), ("black", BLACK, HEIGHTS[1], None))
        )
        return World(grey, black, ground=Plane(friction=parameters["mu"]))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Depth [m], energies [J], and when the labelled instants were [s]; −1 for one that never came."""
        t, delta, _ = distances(run)
        energy = run.total_energy
        times = instants(run, t, delta)
        omega = math.sqrt(parameters["stiffness"] / MASS)
        return {
            "max_penetration": float(run.certificate.penetration or 0.0),
            "energy_rise": float(max((energy - energy[0]).max(), 0.0)),
            "energy_end": float(energy[-1]),
            "energy_start": float(energy[0]),
            "stored_energy_at_end": float(run.energy.stored or 0.0),
            "phase": omega * run.dt,
            **{f"t_{label}": times.get(label, -1.0) for label in LABELS},
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy does not rise; the instants come one after the other."""
        most = metrics["phase"] ** 2 * metrics["energy_start"]
        found = above("the rise of the energy", metrics["energy_rise"], most, "J")
        times = [metrics[f"t_{label}"] for label in LABELS]
        there = [t for t in times if t >= 0.0]
        if there != sorted(there):
            found.append(f"the instants a to f are out of order: {', '.join(f'{t:.3g}' for t in times)} s")
        return found


def pairs() -> tuple[tuple[Surface, Surface], ...]:
    """Surfaces of the three pairs: floor and grey, grey and black, floor and black."""
    grey, black, floor = EllipsoidSurface(GREY), EllipsoidSurface(BLACK), PlaneSurface()
    return (floor, grey), (grey, black), (floor, black)


def poses(model: Model, q: Array) -> tuple[Array, Array]:
    """Poses (4, 4) of grey and black at a configuration (nq,)."""
    placed = forward_kinematics(model, q)
    out = np.tile(np.eye(4), (2, 1, 1))
    out[:, :3, :3], out[:, :3, 3] = placed.rotation, placed.position
    return out[0], out[1]


def distances(run: Run) -> tuple[Array, Array, list[tuple[ContactPoints, ...]]]:
    """Times (k,) [s], Δ₁, Δ₂, Δ₃ (k, 3) [m] and the closest points of the three pairs, every `SAMPLE`."""
    every = max(round(SAMPLE / run.dt), 1)
    which = range(0, len(run.t), every)
    found: list[tuple[ContactPoints, ...]] = []
    for n in which:
        grey, black = poses(run.model, run.q[n])
        relative = (grey, np.linalg.solve(grey, black), black)
        now = []
        for k, ((first, second), H) in enumerate(zip(pairs(), relative, strict=True)):
            now.append(correct(first, second, H, found[-1][k]) if found else closest_points(first, second, H))
        found.append(tuple(now))
    delta = np.array([[points.distance for points in now] for now in found])
    return run.t[::every], delta, found


def instants(run: Run, t: Array, delta: Array) -> dict[str, float]:
    """Times of the labelled instants that came, by label; delta (k, 3) at times t (k,)."""
    every = max(round(SAMPLE / run.dt), 1)
    q = run.q[::every]
    out = {"a": float(t[0])}
    hits, lands = np.flatnonzero(delta[:, 1] < 0.0), np.flatnonzero(delta[:, 2] < 0.0)
    end = int(lands[0]) if len(lands) else len(t) - 1
    if not len(hits) or hits[0] >= end:
        return out
    first = int(hits[0])
    between = q[:, 7:10] - q[:, :3]
    lean = np.degrees(np.arccos(np.clip(between[:, 2] / np.linalg.norm(between, axis=1), -1.0, 1.0)))
    rolling = np.flatnonzero((delta[:, 1] < 0.0) & (lean > LEANING) & (np.arange(len(t)) < end))
    c = int(rolling[0]) if len(rolling) else end
    out["b"] = float(t[first + int(np.argmin(delta[first:c, 0]))]) if c > first else float(t[first])
    if len(rolling):
        out["c"] = float(t[c])
    if not len(lands):
        return out
    out["e"] = float(t[end])
    if end > c + 1:
        slope = np.gradient(delta[c : end + 1, 2], t[c : end + 1])
        slower = np.flatnonzero(slope > 0.5 * slope[-1])
        out["d"] = float(t[c + (int(slower[-1]) + 1 if len(slower) else 0)])
    apart = np.flatnonzero(delta[end:, 1] > delta[0, 1])
    if len(apart):
        out["f"] = float(t[end + int(apart[0])])
    return out
