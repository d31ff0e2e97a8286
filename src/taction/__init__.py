"""taction: robot motion through contact, exact, certified, in Python that can be read.

The names below are the stable interface; everything else may move between releases.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from taction import robots
from taction._core.errors import (
    AccuracyWarning,
    BadInput,
    BlowUpWarning,
    CertificateError,
    ContactLimitError,
    IntegrationError,
    LoopWarning,
    ModelError,
    OutputError,
    OverlapWarning,
    PlanningError,
    RangeWarning,
    StabilityWarning,
    StoppedWarning,
    TactionError,
    UnsupportedFeatureWarning,
)
from taction.control.actuators import Actuators
from taction.control.joint_path import JointPath
from taction.control.pd import PD
from taction.control.pid import PID
from taction.control.tracking import Tracking
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.io.mjcf import load_mjcf
from taction.io.urdf import load_urdf
from taction.kinematics.configuration import difference, integrate
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.kinematics.loops import close_loops, loop_gaps
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder, free_body
from taction.model.dh import DHRow, dh_chain
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightField,
    Material,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Union,
)
from taction.model.visual import MeshFile, Visual
from taction.sim.run import Run
from taction.sim.simulation import Simulation

__version__ = "0.1.0"

if TYPE_CHECKING:
    from taction.contact.certificate import Certificate, certify
    from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
    from taction.contact.forces.parameters import Compliant, Penalty
    from taction.contact.indeterminacy import choose_impulse, indeterminacy
    from taction.contact.lcp import LinearComplementarityProblem, certify_lcp
    from taction.contact.problem import ContactProblem
    from taction.contact.restitution import with_newton_restitution
    from taction.control.drives import Drives
    from taction.control.path_drives import PathDrives
    from taction.control.push import Push, with_push
    from taction.control.replay import Replay
    from taction.control.walking.jump import jump
    from taction.control.walking.planar_walk import planar_walk
    from taction.control.walking.soles import sole
    from taction.control.walking.walk import walk
    from taction.control.walking.whole_body_walk import WholeBodyWalk
    from taction.control.whole_body import WholeBody
    from taction.geometry import contact_kinematics, surfaces
    from taction.geometry.decompose import Decomposition, decompose
    from taction.geometry.surface_error import hull_error
    from taction.io.fclib import read_fclib, write_fclib
    from taction.io.problem_file import load_problem, save_problem
    from taction.planning.dispatch import make_planner
    from taction.planning.linearise import Lineariser
    from taction.planning.predictive import PredictiveControl
    from taction.planning.problem import Cost, Plan, PlanningProblem, Polytope
    from taction.planning.system import ContactSystem
    from taction.sim.computed_torque import ComputedTorque
    from taction.sim.inverse_dynamics import InverseDynamics, Torques, inverse_dynamics
    from taction.sim.recorded_run import RecordedRun, load_run
    from taction.sim.state import SimState
    from taction.sim.world import ContactPair, World
    from taction.solvers import SOLVERS, Solution, Status, solve
    from taction.solvers.lemke import solve_lcp
    from taction.solvers.poisson import solve_poisson
    from taction.solvers.quadratic_program import solve_quadratic_program

# Contact is loaded when it is first asked for: a run without it starts a fifth of a second sooner.
_LATER = {
    "Bilateral": "taction.contact.elements",
    "Certificate": "taction.contact.certificate",
    "Compliant": "taction.contact.forces.parameters",
    "ComputedTorque": "taction.sim.computed_torque",
    "Contact": "taction.contact.elements",
    "ContactPair": "taction.sim.world",
    "ContactProblem": "taction.contact.problem",
    "ContactSystem": "taction.planning.system",
    "Cost": "taction.planning.problem",
    "Decomposition": "taction.geometry.decompose",
    "Drives": "taction.control.drives",
    "InverseDynamics": "taction.sim.inverse_dynamics",
    "JointFriction": "taction.contact.elements",
    "JointLimit": "taction.contact.elements",
    "LinearComplementarityProblem": "taction.contact.lcp",
    "Lineariser": "taction.planning.linearise",
    "PathDrives": "taction.control.path_drives",
    "Penalty": "taction.contact.forces.parameters",
    "Plan": "taction.planning.problem",
    "PlanningProblem": "taction.planning.problem",
    "Polytope": "taction.planning.problem",
    "PredictiveControl": "taction.planning.predictive",
    "Push": "taction.control.push",
    "RecordedRun": "taction.sim.recorded_run",
    "Replay": "taction.control.replay",
    "SOLVERS": "taction.solvers",
    "SimState": "taction.sim.state",
    "Solution": "taction.solvers",
    "Status": "taction.solvers",
    "Torques": "taction.sim.inverse_dynamics",
    "Unilateral": "taction.contact.elements",
    "WholeBody": "taction.control.whole_body",
    "WholeBodyWalk": "taction.control.walking.whole_body_walk",
    "World": "taction.sim.world",
    "certify": "taction.contact.certificate",
    "certify_lcp": "taction.contact.lcp",
    "choose_impulse": "taction.contact.indeterminacy",
    "decompose": "taction.geometry.decompose",
    "hull_error": "taction.geometry.surface_error",
    "indeterminacy": "taction.contact.indeterminacy",
    "inverse_dynamics": "taction.sim.inverse_dynamics",
    "jump": "taction.control.walking.jump",
    "load_problem": "taction.io.problem_file",
    "load_run": "taction.sim.recorded_run",
    "make_planner": "taction.planning.dispatch",
    "planar_walk": "taction.control.walking.planar_walk",
    "read_fclib": "taction.io.fclib",
    "save_problem": "taction.io.problem_file",
    "sole": "taction.control.walking.soles",
    "solve": "taction.solvers",
    "solve_lcp": "taction.solvers.lemke",
    "solve_poisson": "taction.solvers.poisson",
    "solve_quadratic_program": "taction.solvers.quadratic_program",
    "walk": "taction.control.walking.walk",
    "with_newton_restitution": "taction.contact.restitution",
    "with_push": "taction.control.push",
    "write_fclib": "taction.io.fclib",
}
_LATER_FOLDERS = {
    "contact_kinematics": "taction.geometry.contact_kinematics",
    "surfaces": "taction.geometry.surfaces",
}


def __getattr__(name: str) -> Any:
    """Load what `_LATER` and `_LATER_FOLDERS` name."""
    if name in _LATER_FOLDERS:
        value = import_module(_LATER_FOLDERS[name])
    elif name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
    else:
        raise AttributeError(f"module 'taction' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


__all__ = [
    "PD",
    "PID",
    "SOLVERS",
    "AccuracyWarning",
    "Actuators",
    "BadInput",
    "Bilateral",
    "BlowUpWarning",
    "Box",
    "Capsule",
    "Certificate",
    "CertificateError",
    "Compliant",
    "ComputedTorque",
    "Cone",
    "Contact",
    "ContactLimitError",
    "ContactPair",
    "ContactPoint",
    "ContactProblem",
    "ContactSystem",
    "Cost",
    "Cylinder",
    "DHRow",
    "Decomposition",
    "Drives",
    "Ellipsoid",
    "HeightField",
    "Inertia",
    "IntegrationError",
    "InverseDynamics",
    "JointFriction",
    "JointLimit",
    "JointPath",
    "LinearComplementarityProblem",
    "Lineariser",
    "LoopWarning",
    "Material",
    "Mesh",
    "MeshFile",
    "Model",
    "ModelBuilder",
    "ModelError",
    "OutputError",
    "OverlapWarning",
    "PathDrives",
    "Penalty",
    "Plan",
    "Plane",
    "PlanningError",
    "PlanningProblem",
    "Polytope",
    "PredictiveControl",
    "Push",
    "RangeWarning",
    "RecordedRun",
    "Replay",
    "Run",
    "Shape",
    "SimState",
    "Simulation",
    "Solution",
    "Sphere",
    "StabilityWarning",
    "Status",
    "StoppedWarning",
    "TactionError",
    "Torques",
    "Tracking",
    "Transform",
    "Unilateral",
    "Union",
    "UnsupportedFeatureWarning",
    "Visual",
    "WholeBody",
    "WholeBodyWalk",
    "World",
    "aba",
    "bias_forces",
    "body_velocities",
    "certify",
    "certify_lcp",
    "choose_impulse",
    "close_loops",
    "contact_inertia",
    "contact_jacobian",
    "contact_kinematics",
    "decompose",
    "dh_chain",
    "difference",
    "factor_mass_matrix",
    "forward_kinematics",
    "free_body",
    "gravity_forces",
    "hull_error",
    "indeterminacy",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot_v",
    "jump",
    "lagrangian_form",
    "load_mjcf",
    "load_problem",
    "load_run",
    "load_urdf",
    "loop_gaps",
    "make_planner",
    "mass_matrix",
    "planar_walk",
    "read_fclib",
    "rnea",
    "robots",
    "save_problem",
    "sole",
    "solve",
    "solve_lcp",
    "solve_poisson",
    "solve_quadratic_program",
    "surfaces",
    "totals",
    "walk",
    "with_newton_restitution",
    "with_push",
    "write_fclib",
]
