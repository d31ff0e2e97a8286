"""Kinematics and dynamics against Pinocchio: real robots, fixed and floating, and random trees.

Pinocchio measures a free-flyer's velocity in body axes, ours is linear in the joint's axes: with R the
orientation, v_pin = S v where S = diag(Rᵀ, 1) per free-flyer and the identity elsewhere. Then

    v̇_pin = S v̇ + s,  s = −ω × Rᵀ v_linear        τ = Sᵀ τ_pin        M = Sᵀ M_pin S        J = J_pin S

Its continuous joints carry (cos q, sin q), quaternions are (x, y, z, w), spatial vectors linear first.

Run as a script, this file prints the worst relative errors as a Markdown table.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import EPS, PROPERTY, ROBOTS, assert_close, random_case, relative_error
from taction._core.arrays import Array
from taction.bench.dynamics import robot_data
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.energy import totals
from taction.dynamics.rnea import bias_forces, rnea
from taction.io.urdf import read_urdf
from taction.kinematics.configuration import random_state
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.math.transform import Transform, rotation_from_quaternion
from taction.model.compile import compile_model
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.spec import JointSpec, ModelSpec

pin = pytest.importorskip("pinocchio")

FOLDER = robot_data()
N_STATES = 20
SPREAD = 3.0  # of coordinates and velocities [rad, m, rad/s, m/s]
TOLERANCE = 1e-10
# As written, their mass matrices are singular somewhere, so they get rotors: fingers of Romeo move no mass,
# the head of iCub is a point mass that crosses the axis of the neck, massless links of the human model fold
# into gimbal lock. All other robots are compared as they are.
ROTORS = {"romeo", "icub", "human"}
QUANTITIES = ("FK", "velocity", "J", "J̇v", "M", "bias", "ABA", "RNEA", "energy", "CoM", "momentum")


# ----- The same mechanism twice ---------------------------------------------------------------------------


class Pair(NamedTuple):
    """One mechanism in both libraries."""

    ours: Model
    theirs: Any
    data: Any
    frames: dict[str, int]  # their frame of each of our bodies


def pair(ours: Model, theirs: Any, root: str = "") -> Pair:
    frames = {f.name: i for i, f in enumerate(theirs.frames) if f.type == pin.FrameType.BODY}
    names = {name: "world" if name == root else name for name in ours.body_names}
    return Pair(ours, theirs, theirs.createData(), {ours: frames[name] for ours, name in names.items()})


def load_pair(name: str, *, floating: bool, rotors: bool | None = None) -> Pair:
    """A robot of example-robot-data, read by both."""
    assert FOLDER is not None
    path = FOLDER / ROBOTS[name]
    base = [pin.JointModelFreeFlyer()] if floating else []
    theirs = pin.buildModelFromUrdf(str(path), *base)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # meshes that are not installed, inertias kept as they are
        spec = read_urdf(path, floating_base=floating, load_meshes=False, check_inertia=False)
    if rotors or (rotors is None and name in ROTORS):
        rng = np.random.default_rng(1)
        for joint in spec.joints:
            if joint.kind not in (JointKind.FIXED, JointKind.FLOATING):
                joint.armature = rng.uniform(0.01, 0.1)
                theirs.armature[theirs.joints[theirs.getJointId(joint.name)].idx_v] = joint.armature
    return pair(compile_model(spec), theirs, root="world_link")


def rebuild(spec: ModelSpec) -> Any:
    """Pinocchio's model of a description; joints of several axes become joints name/0, name/1, …"""
    theirs = pin.Model()
    theirs.gravity.linear = np.array(spec.gravity)
    placed = {"world": (0, Transform())}
    for joint in depth_first(spec, "world"):
        parent, pose = placed[joint.parent]
        pose = pose @ joint.pose
        axes = pinocchio_joints(joint)
        for k, kind in enumerate(axes):
            name = joint.name if len(axes) == 1 else f"{joint.name}/{k}"
            parent = theirs.addJoint(parent, kind, se3(pose), name)
            rows = slice(theirs.joints[parent].idx_v, theirs.nv)
            theirs.armature[rows] = np.broadcast_to(joint.armature, joint.kind.nv)[
                k : k + theirs.joints[parent].nv
            ]
            pose = Transform()
        pose = pose @ joint.child_pose.inverse()
        placed[joint.child] = parent, pose
        body = spec.body(joint.child)
        inertia = pin.Inertia(body.inertia.mass, body.inertia.com, body.inertia.matrix)
        theirs.appendBodyToJoint(parent, inertia, se3(pose))
        theirs.addFrame(pin.Frame(joint.child, parent, 0, se3(pose), pin.FrameType.BODY), False)
    return theirs


def depth_first(spec: ModelSpec, body: str) -> Iterator[JointSpec]:
    """Joints below a body in the order that Pinocchio's mass matrix needs: every sub-tree in one piece."""
    for joint in spec.joints:
        if joint.parent == body:
            yield joint
            yield from depth_first(spec, joint.child)


def pinocchio_joints(joint: JointSpec) -> list[Any]:
    def unit(axis: Any) -> Array:
        return np.array(axis) / np.linalg.norm(axis)

    match joint.kind:
        case JointKind.FIXED:
            return []
        case JointKind.PRISMATIC:
            return [pin.JointModelPrismaticUnaligned(unit(joint.axis))]
        case JointKind.UNIVERSAL:
            return [pin.JointModelRevoluteUnaligned(unit(axis)) for axis in (joint.axis, joint.axis2)]
        case JointKind.CYLINDRICAL:
            axis = unit(joint.axis)
            return [pin.JointModelPrismaticUnaligned(axis), pin.JointModelRevoluteUnaligned(axis)]
        case JointKind.PLANAR:
            return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
        case JointKind.SPHERICAL:
            return [pin.JointModelSpherical()]
        case JointKind.FLOATING:
            return [pin.JointModelFreeFlyer()]
    return [pin.JointModelRevoluteUnaligned(unit(joint.axis))]


def se3(pose: Transform) -> Any:
    return pin.SE3(pose.rotation, pose.translation)


# ----- Coordinates ----------------------------------------------------------------------------------------


class State(NamedTuple):
    """One state in Pinocchio's coordinates; see the module text."""

    q: Array
    v: Array
    S: Array
    s: Array


def their_state(both: Pair, q: Array, v: Array) -> State:
    theirs = both.theirs
    out_q, S, s = np.empty(theirs.nq), np.zeros((theirs.nv, theirs.nv)), np.zeros(theirs.nv)
    for joint in both.ours.joints:
        if not theirs.existJointName(joint.name):  # one of several axes
            for k in range(joint.kind.nv):
                axis = theirs.joints[theirs.getJointId(f"{joint.name}/{k}")]
                out_q[axis.idx_q] = q[joint.iq + k]
                S[axis.idx_v, joint.iv + k] = 1.0
            continue
        peer = theirs.joints[theirs.getJointId(joint.name)]
        x, rows = q[joint.q_slice], slice(peer.idx_v, peer.idx_v + peer.nv)
        S[rows, joint.v_slice] = np.eye(peer.nv)
        if joint.kind in (JointKind.SPHERICAL, JointKind.FLOATING):
            out_q[peer.idx_q : peer.idx_q + peer.nq] = [*x[:-4], *x[-3:], x[-4]]
        elif peer.nq == 2:
            out_q[peer.idx_q : peer.idx_q + 2] = np.cos(x[0]), np.sin(x[0])
        else:
            out_q[peer.idx_q] = x[0]
        if joint.kind is JointKind.FLOATING:
            R = rotation_from_quaternion(x[3:])
            u, w = np.split(v[joint.v_slice], 2)
            S[rows.start : rows.start + 3, joint.iv : joint.iv + 3] = R.T
            s[rows.start : rows.start + 3] = -np.cross(w, R.T @ u)
    return State(out_q, S @ v, S, s)


# ----- Comparison -----------------------------------------------------------------------------------------


def errors_at(
    both: Pair, q: Array, v: Array, vdot: Array, tau: Array, bodies: Sequence[str]
) -> dict[str, float]:
    """Relative error of every quantity at one state, Jacobians for the given bodies only."""
    ours, theirs, data = both.ours, both.theirs, both.data
    x = their_state(both, q, v)
    out: dict[str, float] = {}

    def compare(what: str, ours: Any, theirs: Any, scale: float = 0.0) -> None:
        out[what] = max(out.get(what, 0.0), relative_error(ours, theirs, scale))

    M = pin.crba(theirs, data, x.q)
    M = np.triu(M) + np.triu(M, 1).T
    compare("M", mass_matrix(ours, q), x.S.T @ M @ x.S)
    compare("bias", bias_forces(ours, q, v), x.S.T @ (pin.nonLinearEffects(theirs, data, x.q, x.v) + M @ x.s))
    compare("RNEA", rnea(ours, q, v, vdot), x.S.T @ pin.rnea(theirs, data, x.q, x.v, x.S @ vdot + x.s))
    their_vdot = pin.aba(theirs, data, x.q, x.v, np.linalg.solve(x.S.T, tau))
    compare("ABA", aba(ours, q, v, tau), np.linalg.solve(x.S, their_vdot - x.s))

    sums = totals(ours, q, v)
    weight = sums.mass * np.linalg.norm(ours.tree.gravity)  # potential energy has no natural zero: per metre
    compare("energy", sums.kinetic, their_kinetic_energy(both, x))
    compare("energy", sums.potential, pin.computePotentialEnergy(theirs, data, x.q), weight)
    compare("CoM", sums.com, pin.centerOfMass(theirs, data, x.q), 1.0)
    momentum = pin.computeCentroidalMomentum(theirs, data, x.q, x.v)
    compare("momentum", sums.linear_momentum, momentum.linear)
    at_one_metre = np.sqrt(2.0 * sums.mass * sums.kinetic)  # a body that slides has no spin at all
    compare("momentum", sums.angular_momentum, momentum.angular, at_one_metre)
    compare_bodies(both, q, v, x, bodies, compare)
    return out


def compare_bodies(both: Pair, q: Array, v: Array, x: State, bodies: Sequence[str], compare: Any) -> None:
    """Placements and velocities of all bodies, Jacobians and J̇ v of the given ones."""
    ours, theirs, data = both.ours, both.theirs, both.data
    pin.computeJointJacobians(theirs, data, x.q)
    pin.forwardKinematics(theirs, data, x.q, x.v, x.s)
    pin.updateFramePlacements(theirs, data)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    poses, speeds = forward_kinematics(ours, q), body_velocities(ours, q, v)
    frames = list(both.frames.values())
    twists = [pin.getFrameVelocity(theirs, data, frame, world) for frame in frames]
    compare("FK", poses.rotation, [data.oMf[frame].rotation for frame in frames])
    compare("FK", poses.position, [data.oMf[frame].translation for frame in frames], 1.0)
    compare("velocity", speeds.angular, [twist.angular for twist in twists], 1.0)
    compare("velocity", speeds.linear, [twist.linear for twist in twists], 1.0)
    for name in bodies:
        frame = both.frames[name]
        J = pin.getFrameJacobian(theirs, data, frame, world).reshape(6, ours.nv) @ x.S
        compare("J", jacobian(ours, q, name), np.vstack([J[3:], J[:3]]), 1.0)
        rate = pin.getFrameClassicalAcceleration(theirs, data, frame, world)
        compare("J̇v", jacobian_dot_v(ours, q, v, name), np.r_[rate.angular, rate.linear], 1.0)


def their_kinetic_energy(both: Pair, x: State) -> float:
    """Pinocchio's, with the rotors added here: it counts them for some joint types only (4.1.0)."""
    armature = both.theirs.armature.copy()
    both.theirs.armature[:] = 0.0
    bodies = pin.computeKineticEnergy(both.theirs, both.data, x.q, x.v)
    both.theirs.armature[:] = armature
    return bodies + 0.5 * float(armature @ (x.v * x.v))


def worst_errors(both: Pair, seed: int = 0, n_states: int = N_STATES) -> dict[str, float]:
    """Largest error of every quantity over random states."""
    rng = np.random.default_rng(seed)
    worst = dict.fromkeys(QUANTITIES, 0.0)
    names = both.ours.body_names
    for k in range(n_states):
        q, v = random_state(both.ours, rng, SPREAD)
        vdot, tau = rng.uniform(-SPREAD, SPREAD, (2, both.ours.nv))
        # Jacobians of all bodies are the slow part: all of them once, then some of them in each state
        bodies = (
            names if k == 0 else [str(name) for name in rng.choice(names, min(6, len(names)), replace=False)]
        )
        for what, error in errors_at(both, q, v, vdot, tau, bodies).items():
            worst[what] = max(worst[what], error)
    return worst


def check(both: Pair, n_states: int = N_STATES) -> None:
    worst = worst_errors(both, n_states=n_states)
    assert set(worst) == set(QUANTITIES)
    too_large = {what: f"{error:.1e}" for what, error in worst.items() if not error <= TOLERANCE}
    assert not too_large, f"{both.ours.name}: {too_large}"


# ----- Tests ----------------------------------------------------------------------------------------------

needs_robots = pytest.mark.skipif(FOLDER is None, reason="example-robot-data is not installed")


@needs_robots
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_real_robots_agree(name, floating):
    check(load_pair(name, floating=floating))


@needs_robots
@pytest.mark.parametrize("name", ["icub", "human"])
def test_nearly_singular_robots(name):
    """v̇ is determined to ε·cond(M) only: the results are that close, and ours solves the equation of motion.

    Worst of 300 states: cond(M) = 3e13 and a difference of 5e-5 (iCub), both residuals below 1e-15.
    """
    both, rng = load_pair(name, floating=False, rotors=False), np.random.default_rng(0)
    for _ in range(N_STATES):
        q, v = random_state(both.ours, rng, SPREAD)
        vdot, tau = rng.uniform(-SPREAD, SPREAD, (2, both.ours.nv))
        error = errors_at(both, q, v, vdot, tau, [])
        M, ours = mass_matrix(both.ours, q), aba(both.ours, q, v, tau)
        assert error.pop("ABA") <= EPS * np.linalg.cond(M)
        assert max(error.values()) <= TOLERANCE
        assert_close(rnea(both.ours, q, v, ours), tau, 1e-14, (np.abs(M) @ np.abs(ours)).max(), "residual")


@needs_robots
@pytest.mark.parametrize("name", ["panda", "solo12", "talos"])
def test_rotors_agree(name):
    check(load_pair(name, floating=True, rotors=True))


@settings(PROPERTY, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12))
def test_random_trees_agree(seed, n):
    """Covers what robots lack: joints of several axes, spherical ones, and floating ones inside a tree."""
    model = random_case(seed, n).model
    check(pair(model, rebuild(model.spec)), n_states=2)


# ----- Table ----------------------------------------------------------------------------------------------


def main() -> None:
    """Print the worst relative error per robot over 20 random states, as Markdown."""
    print("| robot | base | nv | " + " | ".join(QUANTITIES) + " |")
    print("|" + "---|" * (3 + len(QUANTITIES)))
    for name in ROBOTS:
        for floating in (False, True):
            both = load_pair(name, floating=floating)
            worst = worst_errors(both)
            label = name + (" (with rotors)" if name in ROTORS else "")
            row = [label, "floating" if floating else "fixed", str(both.ours.nv)]
            print("| " + " | ".join([*row, *(f"{worst[what]:.0e}" for what in QUANTITIES)]) + " |")


if __name__ == "__main__":
    main()
