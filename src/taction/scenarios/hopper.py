"""Hopper: one leg hops in place or ahead by plans through contact, which find when it stands and flies.

The robot is `taction.robots.hopper`. A plan over less than a period drives hip and leg. What is given is
where body and leg should be, softly. When the foot stands, and how hard it pushes, is not: its gap and its
forces are complementary unknowns of the plan.

Targets, over a period T of which the body flies T_f = 0.6 T and stands T_s: with v = ½ g T_f,

    standing, s in it:  z = l − (v T_s/π) sin(π s/T_s),      flying, f in it:  z = l + v f − ½ g f²,

a foot on the ground, or C sin²(π f/T_f) above it, so that it leaves and meets the ground without speed; a
place that moves with ``speed`` once it is up, never more than `NEAR` from where the robot is. Forces of the
leg are wanted near those that carry this, m (g + z̈). A leg that stands leans as the body goes on; one that
flies swings to where the foot, at the body's rate ẋ, is

    ½ ẋ T_s + k_v (ẋ − ẋ_target) + k_x (x − x_target)

ahead of the hip when it lands. That is Raibert's rule: a linear system does not know that another place of
the foot changes what its force does later, since levers are held. For the same reason the world is linearised
along the targets, drawn to the state that is seen (`taction.planning.along_path`), and not there alone.

It starts where the target is lowest, at rest. A push acts on the trunk, `PUSHING` long.

Exact answers
1. The certificate: every step obeys Signorini's and Coulomb's laws.
2. Plans are complementary.
3. The ground's impulse is the weight's over the time, and the change of momentum: Σ Λ = m (g t + Δċ)
   (`impulse_error`, relative to m g t), up to the order of the step.
4. It hops once in each period, and does not fall, unless it is pushed or its masses are wrong.

Metrics: `hops`, flights of more than `AIR` that ended on the ground; `short_flights`, shorter ones of more
than `CHATTER`; `peak_height`, of the hip above that of a leg at rest [m]; `mean_speed`, over the last whole
periods [m/s]; `final_error`, of the hip's place along x, mean over the last period [m]; `impulse_error`; see
`taction.scenarios.predictive_scenario` for the others.

Methods: all but enumeration, whose modes are too many. The mixed-integer one is given `PATIENCE` per plan;
the direct one plans the world itself, its path that of a robot without errors.

References: [Raibert1986] for the machine and where its foot lands; [AydinogluWeiHuangPosa2024] for the
control.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction.control.walking.footsteps import smooth_step
from taction.dynamics.energy import totals
from taction.model.shapes import Plane
from taction.planning.along_path import along_path
from taction.planning.linearise import Lineariser
from taction.planning.problem import Cost, PlanningProblem, Polytope
from taction.planning.system import ContactSystem
from taction.robots.hopper import hopper
from taction.scenarios.base import Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup, predictive_parameters
from taction.scenarios.walking_motion import heavier
from taction.sim.run import Run
from taction.sim.world import World

LENGTH, RADIUS, GRAVITY = 0.5, 0.03, 9.81
FLYING = 0.6  # part of the period
CLEARANCE = 0.9  # of the foot, as a part of how high the body rises
RAMP = 1.0  # time in which the speed grows [s]
NEAR = 0.25  # how far ahead or behind a target may be along x [m]
AHEAD = (0.08, 0.1)  # k_v [s] and k_x
FARTHEST = 0.6  # sine of the leg's lean, at most
PUSHING = 0.1  # how long a push lasts [s]
LOW, LEANING = 0.5, 1.0  # fallen: below this part of the leg's length, or leaning by more [rad]
AIR, CHATTER = 0.1, 0.006  # [s]
PATIENCE = 0.5  # [s]
REACH = 2.0  # distance of the foot from the ground up to which a plan sees it [m]
IMPULSE = 0.01  # relative error of the balance of momentum, per length of the step [1/s]
STATES = (20.0, 200.0, 50.0, 20.0, 50.0, 1.0, 2.0, 1.0, 0.1, 0.5)  # weights, per m², rad² and so on
INPUTS, FINAL = (1e-3, 1e-4), 5.0  # per (N m)² and N²; of the last state, as a multiple
HIGHEST = np.array([1e3, 2.0, 1.2, 1.2, 0.25, 20.0, 20.0, 50.0, 50.0, 20.0])  # states of a plan
FORCES = np.array([40.0, 400.0])  # of hip [N m] and leg [N]


class Hopper(PredictiveScenario):
    """See the module text."""

    name = "hopper"
    summary = "a hopper on one leg, in place or ahead, by plans through contact that find stance and flight"
    duration = 11.0
    dt = 0.0025
    parameters = (
        *predictive_parameters(horizon=15, plan_dt=0.02),
        Parameter("speed", 0.0, "m/s", "ahead", minimum=-1.0, maximum=1.0),
        Parameter("period", 0.5, "s", "of a hop", minimum=0.3, maximum=0.8),
        Parameter("mu", 0.8, "", "coefficient of friction of the ground", minimum=0.05),
        Parameter("push", 0.0, "N s", "impulse on the trunk, ahead", minimum=-50.0, maximum=50.0),
        Parameter("push_time", 3.0, "s", "when the push begins", minimum=0.0),
    )
    units = by_unit(
        {
            "m": "peak_height final_error",
            "m/s": "mean_speed",
            "": "hops short_flights impulse_error periods may_fall",
        }
    )

    def make_world(self, parameters: Values, error: float) -> World:
        """The hopper on level ground."""
        model = hopper(length=LENGTH, radius=RADIUS)
        return World(heavier(model, error) if error else model, ground=Plane(friction=parameters["mu"]))

    def setup(self, parameters: Values, world: World) -> Setup:
        """Follow heights, the way ahead, and a leg that lands where it should."""
        p, h, count = parameters, parameters["plan_dt"], parameters["horizon"]
        lineariser = Lineariser(world, h, inputs=("hip", "leg"), reach=REACH)
        start, still = path(0.0, p)
        Q, R = np.diag(STATES), np.diag(INPUTS)
        problem = PlanningProblem(
            lineariser.at(start, still), count, Cost(Q, R, FINAL * Q), Polytope.box(-HIGHEST, HIGHEST),
            Polytope.box(-FORCES, FORCES),
        )  # fmt: skip
        steps, mass = h * np.arange(count + 1), world.model.total_mass
        seen: list[Array] = []  # q and v of the plan that is made

        def wanted(t: float) -> tuple[Array, Array]:
            q, v = seen or path(t, p)
            return leaning_path(t + steps, q, v, p)

        def systems(t: float, q: Array, v: Array, u: Array) -> tuple[ContactSystem, ...]:
            seen[:] = q.copy(), v.copy()
            place, rate = wanted(t)
            drawn = np.linspace(1.0, 0.0, count + 1)[:, None]
            place, rate = place + drawn * (q - place[0]), rate + drawn * (v - rate[0])
            return along_path(lineariser, q, place[:-1], rate[:-1])

        def target(t: float, system: ContactSystem = problem.system(0)) -> Array:  # noqa: B008  # never changed
            assert system.origin is not None
            q, v = wanted(t)
            return np.hstack([q - system.origin, v])

        def rest(t: float, system: ContactSystem | None = None) -> Array:
            return np.stack([np.zeros(count), mass * lift(t + steps[:-1], p)], axis=-1)

        again = None if p["method"] == "direct" else systems
        return Setup(problem, target, start, still, rest, again, {"time_limit": PATIENCE})

    def disturbance(self, parameters: Values, t: float) -> Array | float:
        """A push on the trunk."""
        begin = parameters["push_time"]
        acts = begin <= t + 1e-9 < begin + PUSHING
        return np.array([parameters["push"] / PUSHING, 0.0, 0.0, 0.0, 0.0]) if acts else 0.0

    def fell(self, q: Array, parameters: Values) -> bool:
        """Whether the hip is low, or the trunk leans."""
        return bool(q[1] < LOW * LENGTH or abs(q[2]) > LEANING)

    def error(self, run: Run, parameters: Values) -> float:
        """Of the place along x [m]."""
        last = run.t >= run.t[-1] - parameters["period"]
        return float(abs((run.q[last, 0] - path(run.t[last], parameters)[0][:, 0]).mean()))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        p, out = parameters, super().metrics(run, parameters)
        flights = flight_times(run)
        span = float(run.t[-1] - run.t[0])
        out["hops"] = float((flights > AIR).sum())
        out["short_flights"] = float(((flights > CHATTER) & (flights <= AIR)).sum())
        out["peak_height"] = float(run.q[:, 1].max()) - LENGTH
        whole = int(max(span - RAMP, 0.0) / p["period"])
        begin = int(np.searchsorted(run.t, run.t[-1] - whole * p["period"] - 1e-9))
        out["mean_speed"] = (
            float((run.q[-1, 0] - run.q[begin, 0]) / (run.t[-1] - run.t[begin])) if whole else 0.0
        )
        out["impulse_error"] = impulse_error(run)
        out["periods"] = float(int(span / p["period"] + 1e-9))
        out["may_fall"] = bool(p["push"] or p["model_error"])
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """See the exact answers."""
        found = super().violations(metrics, run)
        found += above("the error of the ground's impulse", float(metrics["impulse_error"]), IMPULSE * run.dt)
        if metrics["may_fall"]:
            return found
        if metrics["fell"]:
            found.append(f"the hopper fell at {run.t[-1]:.3g} s")
        elif metrics["hops"] < metrics["periods"] - 1.0:
            found.append(f"it hopped {metrics['hops']:g} times in {metrics['periods']:g} periods")
        return found


def path(t: ArrayLike, p: Values) -> tuple[Array, Array]:
    """Configurations and velocities (…, 5) that are wanted at times [s]."""
    t = np.asarray(t, dtype=float)
    v, s, f = _phase(t, p)
    flying, standing = FLYING * p["period"], (1.0 - FLYING) * p["period"]
    w, rise = np.pi / standing, 0.5 * v * flying / 2.0
    is_up, k = f >= 0.0, np.pi / flying
    z = np.where(is_up, v * f - 0.5 * GRAVITY * f * f, -v / w * np.sin(w * s))
    zd = np.where(is_up, v - GRAVITY * f, -v * np.cos(w * s))
    foot = np.where(is_up, CLEARANCE * rise * np.sin(k * f) ** 2, 0.0)
    foot_rate = np.where(is_up, CLEARANCE * rise * k * np.sin(2.0 * k * f), 0.0)
    none = np.zeros_like(t)
    early = np.minimum(t, RAMP)
    x = p["speed"] * (0.5 * early**2 / RAMP + t - early)
    q = np.stack([x, LENGTH + z, none, none, z - foot], axis=-1)
    return q, np.stack([p["speed"] * early / RAMP, zd, none, none, zd - foot_rate], axis=-1)


def leaning_path(t: Array, q: Array, v: Array, p: Values) -> tuple[Array, Array]:
    """`path` at times (n,) [s] from a state q, v (5,) at the first: near it along x, the leg leaning."""
    place, rate = path(t, p)
    standing, flying = (1.0 - FLYING) * p["period"], FLYING * p["period"]
    behind, slow = place[0, 0] - q[0], rate[0, 0] - v[0]
    change = -AHEAD[0] * slow - AHEAD[1] * np.clip(behind, -NEAR, NEAR)
    _, s, f = _phase(t, p)
    half = 0.5 * standing * v[0]
    swing = smooth_step(np.clip(f / flying, 0.0, 1.0))
    ahead = np.where(f >= 0.0, half - swing * (2.0 * half + change), v[0] * (s - 0.5 * standing) - change)
    stays = t - t[0] < -f[0]  # the foot that stands now
    ahead = np.where(stays, (LENGTH + q[4]) * np.sin(q[2] + q[3]) + v[0] * (t - t[0]), ahead)
    place[:, 0] -= behind - np.clip(behind, -NEAR, NEAR)
    place[:, 3] = np.arcsin(np.clip(ahead / LENGTH, -FARTHEST, FARTHEST))
    place[:, 4] = (LENGTH - RADIUS + place[:, 4]) / np.cos(place[:, 3]) - LENGTH + RADIUS
    rate[:, 3] = np.gradient(place[:, 3], t)
    return place, rate


def lift(t: Array, p: Values) -> Array:
    """Force of the ground over the mass that carries the path, g + z̈ [m/s²], at times (n,) [s]."""
    v, s, f = _phase(t, p)
    w = np.pi / ((1.0 - FLYING) * p["period"])
    return np.where(f >= 0.0, 0.0, GRAVITY + v * w * np.sin(w * s))


def _phase(t: Array, p: Values) -> tuple[float, Array, Array]:
    """Speed at which it leaves the ground [m/s], times since it stands, and since it flies or until then."""
    standing = (1.0 - FLYING) * p["period"]
    s = (t + 0.5 * standing) % p["period"]
    return 0.5 * GRAVITY * FLYING * p["period"], s, s - standing


def flight_times(run: Run) -> Array:
    """How long the foot was off the ground between two stances [s], shape (n,)."""
    forces = run.contact_forces()
    if "foot" not in forces:
        return np.zeros(0)
    stands = np.flatnonzero(forces["foot"][:, 2] > 0.0)
    steps = np.diff(stands) - 1
    return np.asarray(steps[steps > 0] * run.dt, dtype=float)


def impulse_error(run: Run) -> float:
    """|Σ Λ − m (g t + Δċ)|/(m g t) of the vertical impulses of the ground."""
    forces = run.contact_forces()
    pushed = float(forces["foot"][:, 2].sum() * run.dt) if "foot" in forces else 0.0
    mass = run.model.total_mass
    rates = [totals(run.model, run.q[k], run.v[k]).com_velocity[2] for k in (0, -1)]
    weight = mass * GRAVITY * float(run.t[-1] - run.t[0])
    return abs(pushed - weight - mass * float(rates[1] - rates[0])) / weight
