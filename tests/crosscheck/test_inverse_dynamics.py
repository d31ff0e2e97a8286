"""Inverse dynamics against linear programs: can any forces bring about what is wanted?

The programs know nothing of the solvers. Mass matrix, gravity, Jacobians and gaps come from the public
functions of a model, in states at rest, where the equation of a step is M a = τ − g + Jᵀ F with a = v⁺/h. The
law with a pyramid is a set of linear programs, one for each combination of what the contacts may do: open;
stick; slide, so that one corner of the polygon, or two neighbours, oppose the slip most. Each asks how near
the driven joints can come to what is wanted, and the least of all is the truth.
"""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import taction as ta
from taction.sim.inverse_dynamics import Answer

H, MU, RADIUS = 1e-3, 0.6, 0.03
CLOSED = 1e-6  # a gap that the scheme takes as closed [m]
EXACT = 1e-6  # of accelerations [rad/s²], which are tens
LINK = '<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass="1.5" contype="0" conaffinity="0"/>'
FOOT = f'<geom type="sphere" pos="0 0 -.3" size="{RADIUS}" mass=".1" friction="{MU}"/>'


def leg(side, x):
    """A thigh and a shin with a sphere as a foot."""
    return f"""<body pos="0 {x} 0"><joint name="hip{side}" axis="1 0 0"/>
    <joint name="thigh{side}" axis="0 1 0"/>{LINK}
    <body name="shin{side}" pos="0 0 -.3"><joint name="knee{side}" axis="0 1 0"/>{LINK}{FOOT}</body></body>"""


def robot(name):
    """A world, the driven joints and the links with feet: one leg, two legs, an arm on a stand."""
    trunk = '<body pos="0 0 .8"><freejoint/><geom type="box" size=".2 .1 .05" mass="6"/>'
    body = {
        "hopper": f"{trunk}{leg('', 0)}</body>",
        "biped": f"{trunk}{leg('L', 0.15)}{leg('R', -0.15)}</body>",
        "arm": f"""<body pos="0 0 .45"><joint name="shoulder" axis="0 1 0"/>{LINK}
        <body name="shin" pos="0 0 -.3"><joint name="elbow" axis="0 1 0"/>{LINK}{FOOT}</body></body>""",
    }[name]
    model = ta.load_mjcf(f"<mujoco><compiler angle='radian'/><worldbody>{body}</worldbody></mujoco>")
    joints = [j.name for j in model.joints if j.kind.value == "revolute"]
    return ta.World(model, ground=ta.Plane(friction=MU)), joints, [b for b in model.body_names if "shin" in b]


def bent(world, rng):
    """A configuration with a foot on the ground: a leg that is bent, or an arm that just reaches down."""
    model = world.model
    q = ta.integrate(model, model.q0, 0.3 * rng.normal(size=model.nv))
    if model.nv > 2:
        return world.place_on_ground(q)
    first = rng.uniform(0.3, 1.0)
    reach = (0.45 - RADIUS - 0.3 * np.cos(first)) / 0.3
    return np.array([first, -first + rng.choice([-1.0, 1.0]) * np.arccos(reach)])


class Program:
    """The problem at rest at q: how near it comes to accelerations ``wanted`` of the freedoms ``dofs``."""

    def __init__(self, world, feet, q, dofs, wanted, limit):
        model = world.model
        self.M, self.g, self.limit = ta.mass_matrix(model, q), ta.gravity_forces(model, q), limit
        self.dofs, self.wanted, self.contacts = dofs, wanted, []
        place = ta.forward_kinematics(model, q)
        for foot in feet:
            i = model.body(foot)
            arm = place.rotation[i] @ [0.0, 0.0, -0.3] - [0.0, 0.0, RADIUS]
            J, gap = ta.jacobian(model, q, foot), place.position[i][2] + arm[2]
            rows = J[3:] + np.cross(J[:3].T, arm).T
            self.contacts.append((rows, gap / H**2 if gap > CLOSED else 0.0))

    def miss(self, modes, sides=4, friction=MU):
        """How near the joints come in these modes, one per contact, or ∞ if these cannot be [rad/s²]."""
        n, m, k = len(self.g), len(self.dofs), len(self.contacts)
        width = n + m + k * (1 + sides) + 1  # a, τ, then load and shares of each contact, what is missed
        angles = 2.0 * np.pi * np.arange(sides) / sides
        corners = friction * np.array([np.cos(angles), np.sin(angles)]).T
        equal, less = [], []

        def row(first, values, missed=0.0):
            out = np.zeros(width)
            out[first : first + len(values)], out[-1] = values, missed
            return out

        motion = np.zeros((n, width))
        motion[:, :n] = self.M
        motion[self.dofs, n + np.arange(m)] = -1.0
        for c, ((J, closing), mode) in enumerate(zip(self.contacts, modes, strict=True)):
            at = n + m + c * (1 + sides)
            motion[:, at] = -J[2]
            motion[:, at + 1 : at + 1 + sides] = -(corners @ J[:2]).T
            slip, share = corners @ J[:2], np.eye(1 + sides)
            less.append((row(0, -J[2]), closing))
            if mode == "open":
                equal += [(row(at, s), 0.0) for s in share]
                continue
            equal.append((row(0, J[2]), -closing))
            full = np.r_[-1.0, np.ones(sides)]
            if mode == "stick":
                equal += [(row(0, J[0]), 0.0), (row(0, J[1]), 0.0)]
                less.append((row(at, full), 0.0))
                continue
            equal.append((row(at, full), 0.0))
            equal += [(row(at, share[1 + j]), 0.0) for j in range(sides) if j not in mode]
            equal += [(row(0, slip[mode[0]] - slip[j]), 0.0) for j in mode[1:]]
            less += [(row(0, slip[mode[0]] - slip[j]), 0.0) for j in range(sides) if j not in mode]
        for d, x in zip(self.dofs, self.wanted, strict=True):
            less += [(row(0, np.eye(n)[d], -1.0), x), (row(0, -np.eye(n)[d], -1.0), -x)]
        most = np.inf if self.limit is None else self.limit
        bounds = [(None, None)] * n + [(-most, most)] * m + [(0, None)] * (k * (1 + sides) + 1)
        found = linprog(
            np.r_[np.zeros(width - 1), 1.0],
            A_eq=np.vstack([motion, *(r for r, _ in equal)]),
            b_eq=np.r_[-self.g, [x for _, x in equal]],
            A_ub=np.vstack([r for r, _ in less]),
            b_ub=[x for _, x in less],
            bounds=bounds,
        )
        return found.fun if found.status == 0 else np.inf

    def least(self, sides=4):
        """How near the joints come by the law with a pyramid."""
        slides = [(j,) for j in range(sides)] + [(j, (j + 1) % sides) for j in range(sides)]
        return min(
            self.miss(m, sides) for m in product(["open", "stick", *slides], repeat=len(self.contacts))
        )


@pytest.mark.parametrize(
    ("name", "contact", "limit", "count"),
    [
        ("hopper", "lcp", 2.0, 20),
        pytest.param("biped", "lcp", 25.0, 6, marks=pytest.mark.long),
        pytest.param("arm", "lcp", None, 20, marks=pytest.mark.long),
        ("arm", "exact", None, 20),
        ("arm", "exact", 15.0, 20),
    ],
)
def test_what_is_said_to_be_possible_is_and_the_rest_is_not(name, contact, limit, count):
    """Solved: some forces within limits do it. Else none do, nor come nearer than was said."""
    world, joints, feet = robot(name)
    sim = ta.Simulation(world, dt=H, contact=contact, tol=1e-12, stepper="stewart-trinkle")
    inverse, rng = ta.InverseDynamics(sim, joints=joints, limit=limit), np.random.default_rng(3)
    dofs, answers = inverse.drives.dofs, []
    for _ in range(count):
        q = bent(world, rng)
        wanted = rng.choice([0.0, 3.0, 30.0, 100.0]) * rng.normal(size=len(joints))
        found = inverse.solve(sim.state(q), wanted)
        least = Program(world, feet, q, dofs, wanted, limit).least()
        answers.append(found.answer)
        if found.is_solved:
            assert least <= EXACT and (limit is None or np.abs(found.tau).max() <= limit * (1.0 + 1e-9))
        else:
            assert found.answer is (Answer.LIMITED if limit else Answer.INFEASIBLE)
            assert least > 100.0 * EXACT and np.abs(found.missed).max() / H >= least - EXACT
    assert answers.count(Answer.SOLVED) >= 4 or name == "biped"
    assert len(set(answers)) == 2 and len(answers) - answers.count(Answer.SOLVED) >= 2


def test_modes_are_allowed_where_a_program_finds_forces_for_them():
    """Feet that stick or are open, with polygons within and around the cone; some would have to pull."""
    world, joints, feet = robot("biped")
    sim = ta.Simulation(world, dt=H, tol=1e-12, stepper="stewart-trinkle")
    inverse, rng = ta.InverseDynamics(sim, joints=joints), np.random.default_rng(5)
    dofs, seen, sides = inverse.drives.dofs, [], 32
    for _ in range(100):
        q = bent(world, rng)
        wanted = rng.choice([0.0, 3.0, 100.0, 1000.0]) * rng.normal(size=len(joints))
        modes = {foot: str(rng.choice(["stick", "open"])) for foot in feet}
        program = Program(world, feet, q, dofs, wanted, None)
        inner = program.miss(list(modes.values()), sides)
        outer = program.miss(list(modes.values()), sides, MU / np.cos(np.pi / sides))
        found = inverse.solve(sim.state(q), wanted, modes=modes)
        touches = not any("does not touch" in what for what in found.violated)
        if touches and (inner <= EXACT) == (outer <= EXACT):
            assert (found.violated == ()) == (inner <= EXACT), (modes, found.violated, inner)
            seen += found.violated or ("allowed",)
    assert (
        "allowed" in seen and any("pulls" in what for what in seen) and any("enters" in what for what in seen)
    )
