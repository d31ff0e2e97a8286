"""What walking scenarios share: measures of a walk, robots that differ from their model, pushes, controllers.

Measures, all of a `Run` of a robot whose base floats or slides, on level ground at z = 0
1. *distance*: way of the base along x [m];
2. *falls*: 1 if the base came below half of its height at the start, or leant by more than 60°, else 0;
   *fall_time*: when that was [s], of those that fell;
3. *peak_torque*: largest force of a motor, mean over a step [N m]; *peak_force*: largest normal force on one
   body, mean over a step [N];
4. *cone_margin*: smallest (μ N − |T|)/(μ N) of all steps and contacts with the ground that carry more than
   `CARRYING` of the weight, N and T normal and tangential force. 1: no friction is used; 0: a contact
   slides, or is about to. Where contacts share a load in several ways, the shares are those that a vanishing
   compliance selects;
5. *round_trip_error*, of steps whose forces inverse dynamics found: each starts once more from its recorded
   state, with its recorded forces and no controller; the largest difference of its velocities from the
   recorded ones, relative to the largest of them or to what gravity does in a step. Of `SAMPLES` steps,
   evenly spread, where there are more;
6. *least_force*: smallest normal force of a contact [N], none of which pulls; *contact_work*: work of normal
   and friction forces with the velocities at the end of each step [J], which the laws of contact never make
   positive;
7. *curved_path*, of those that fell: by how much a foot may overlap because a step moves it on a straight
   line, where it moves on an arc [m].

The robot that moves may have other masses than the one that its controller knows (`heavier`).

References: [BhargavaReport, Sections 4 to 6].
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.control.walking.base import Base, base_link, base_of, dofs_to
from taction.model.compile import compile_model
from taction.model.model import Model
from taction.scenarios.base import Metrics, above, is_rigid
from taction.scenarios.metric_units import by_unit
from taction.scenarios.quadruped_motion import DEEPEST, LEANING, rigid_violations
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.state import SimState

LOW = 0.5  # of the height at the start: below, a robot has fallen
CARRYING = 1e-3  # of the weight
SAMPLES = 300
ROUND_TRIP = 1e-10  # what exact contact is held to
EXACT_PATHS = "stewart-trinkle"  # the scheme whose steps end where `PathDrives` aims


def heavier(model: Model, error: float) -> Model:
    """The robot with all masses and inertias larger by a relative error.

    Raises:
        BadInput: nothing would be left of them.
    """
    if not (np.isfinite(error) and error > -1.0):
        raise BadInput(f"model_error: must be finite and above -1, got {error!r}")
    spec = deepcopy(model.spec)
    for body in spec.bodies:
        own = body.inertia
        body.inertia = replace(own, mass=(1.0 + error) * own.mass, matrix=(1.0 + error) * own.matrix)
    return compile_model(spec)


def motor_dofs(model: Model) -> IntArray:
    """Degrees of freedom that actuators drive, shape (m,); all but the base's where there are none."""
    driven = [model.joint(a.joint) for a in model.spec.actuators if a.joint]
    dofs = [d for joint in driven for d in range(joint.iv, joint.iv + joint.kind.nv)]
    if not dofs:
        link = base_link(model)
        first = int(model.tree.iv[link]) + (6 if base_of(model).quaternion >= 0 else 1)
        dofs = list(range(first, model.nv))
    return np.array(sorted(set(dofs)), dtype=np.int64)


def has_fallen(base: Base, start: Array, q: Array) -> Array:
    """Whether a robot has fallen at configurations (n, nq), measured against its start (nq,): shape (n,)."""
    low = base.place(q)[:, 2] < LOW * base.place(start[None])[0, 2]
    return np.asarray(low | (base.upright(q) < np.cos(LEANING)))


def fall_time(run: Run) -> float | None:
    """When the robot of a run fell [s], None if it never did."""
    fallen = has_fallen(base_of(run.model), run.q[0], run.q)
    return float(run.t[int(np.argmax(fallen))]) if fallen.any() else None


def distance(run: Run) -> float:
    """Way of the base along x [m]."""
    place = base_of(run.model).place(run.q[[0, -1]])
    return float(place[1, 0] - place[0, 0])


def peak_torque(run: Run) -> float:
    """Largest force of a motor, mean over a step [N m]."""
    return float(np.abs(run.tau[:-1, motor_dofs(run.model)]).max(initial=0.0))


def peak_force(run: Run) -> float:
    """Largest normal force of level ground on one body, mean over a step [N]."""
    forces = [force[:, 2] for name, force in run.contact_forces().items() if name != "world"]
    return float(max((force.max(initial=0.0) for force in forces), default=0.0))


def cone_margin(run: Run, mu: float) -> float:
    """Smallest (μ N − |T|)/(μ N) of contacts with the ground that carry, of friction μ > 0; 1 if none do.

    See measure 4 of the module text.
    """
    assert run.contacts is not None and run.world is not None
    weight = run.model.total_mass * float(np.linalg.norm(run.model.tree.gravity))
    normal, tangent = run.contacts.impulse[:, 0], np.linalg.norm(run.contacts.impulse[:, 1:], axis=1)
    is_ground = (run.world.shape_body[run.contacts.key[:, :2]] < 0).any(axis=1)
    carries = is_ground & (normal > CARRYING * weight * run.dt)
    if not carries.any():
        return 1.0
    return float((1.0 - tangent[carries] / (mu * normal[carries])).min())


def least_force(run: Run) -> float:
    """Smallest normal force of a contact, mean over a step [N]; 0 if nothing touched."""
    assert run.contacts is not None
    return float(run.contacts.impulse[:, 0].min(initial=0.0)) / run.dt


def contact_work(run: Run) -> float:
    """Work of contact with the velocities at the end of each step, Σ Λ·u⁺ [J]."""
    assert run.contacts is not None
    return float((run.contacts.impulse * run.contacts.velocity).sum())


def curved_path(run: Run) -> float:
    """By how much a foot may miss the straight path of a step, ½ (ω h)² l [m], and a micrometre.

    Rates ω of base and leg joints together, l the height of the base.
    """
    model, base = run.model, base_of(run.model)
    ends = [i for i in range(1, model.n_links) if not (model.tree.parent == i).any()]
    rates = np.max([np.abs(run.v[:, dofs_to(model, i)]).sum(axis=1) for i in ends], axis=0)
    if base.quaternion >= 0:
        first = int(base.dofs[-1]) + 1
        rates = rates + np.linalg.norm(run.v[:, first : first + 3], axis=1)
    height = float(base.place(run.q[:1])[0, 2])
    return DEEPEST + 0.5 * (float(rates.max()) * run.dt) ** 2 * height


def state_at(run: Run, simulation: Simulation, k: int) -> SimState:
    """State k of a run, with the contacts of the step that led there."""
    assert run.contacts is not None
    state = simulation.state(run.q[k], run.v[k], float(run.t[k]))
    if k == 0:
        return replace(state, wrench=run.state.wrench)
    rows = slice(*np.searchsorted(run.contacts.step, [k - 1, k]))
    key, impulse = run.contacts.key[rows], run.contacts.impulse[rows]
    last = run.q[k - 1] if len(state.last) == run.model.nq else state.last
    return replace(
        state, last=last.copy(), key=key, impulse=impulse, wrench=run.state.wrench,
        memory=np.zeros((len(key), 0)),
    )  # fmt: skip


def round_trip_error(run: Run, samples: int = SAMPLES) -> float:
    """Largest relative difference of velocities when recorded forces act on recorded states (measure 5)."""
    assert run.world is not None
    again = Simulation(
        run.world, dt=run.dt, contact=run.contact, stepper=run.integrator, coordinates=run.coordinates
    )
    forward, worst = again.begin(state=state_at(run, again, 0)), 0.0
    least = run.dt * float(np.linalg.norm(run.model.tree.gravity))
    for k in np.unique(np.linspace(0, run.steps - 1, min(run.steps, samples)).astype(int)):
        forward.reset(state_at(run, again, int(k)))
        forward.step(run.tau[k])
        wanted = run.v[k + 1]
        worst = max(worst, float(np.abs(forward.v - wanted).max() / max(np.abs(wanted).max(), least)))
    return worst


WALKING_UNITS = by_unit(
    {
        "m": "distance curved_path",
        "N m": "peak_torque",
        "N": "peak_force least_force",
        "J": "contact_work",
        "s": "fall_time",
        "": "falls cone_margin residual real_time_factor round_trip_error",
    }
)


def walking_metrics(run: Run, mu: float, *, is_inverse: bool = False) -> Metrics:
    """Measures 1 to 7 of the module text, of a run with a coefficient of friction μ > 0.

    ``is_inverse`` says that inverse dynamics found the forces of each step.
    """
    fell = fall_time(run)
    out: Metrics = {
        "distance": distance(run),
        "falls": 0.0 if fell is None else 1.0,
        "peak_torque": peak_torque(run),
        "peak_force": peak_force(run),
        "cone_margin": cone_margin(run, mu),
        "least_force": least_force(run),
        "contact_work": contact_work(run),
        "residual": run.certificate.residual or 0.0,
        "real_time_factor": float((run.t[-1] - run.t[0]) / run.wall_s),
    }
    if fell is not None:
        out["fall_time"], out["curved_path"] = fell, curved_path(run)
    if is_rigid(run.contact or "exact") and run.integrator == EXACT_PATHS and is_inverse:
        out["round_trip_error"] = round_trip_error(run)
    return out


def walking_violations(metrics: Metrics, run: Run, round_trip: float = ROUND_TRIP) -> list[str]:
    """Falls of robots that should not, round trips that do not close, overlap, pull, energy from contact."""
    found = rigid_violations(metrics, run)
    if run.contact == "exact":
        found += above("the round trip's error", metrics.get("round_trip_error", 0.0), round_trip)
    if metrics["falls"] and not metrics["may_fall"]:
        found.append(f"the robot fell at t = {metrics['fall_time']:.3g} s")
    return found
