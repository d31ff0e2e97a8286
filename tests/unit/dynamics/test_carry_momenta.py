"""Velocities after a displacement, against the mass matrix."""

import numpy as np

import taction as ta
from taction.dynamics.carry_momenta import carry_momenta
from taction.dynamics.tree_flight import FLIGHT_ROWS
from taction.kinematics.configuration import integrate, random_state
from taction.kinematics.forward import link_velocities, place_links
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS
from taction.model.workspace import AXES, OMEGA, SPEED, make_workspace, matrices, vectors
from taction.robots import quadruped
from taction.steppers.scene import FLIGHT_STATES, Flight


def scratch(model):
    sizes = {"FLIGHT_STATES": FLIGHT_STATES, "FLIGHT_ROWS": FLIGHT_ROWS}
    return Flight.allocate(_given={"links": make_workspace(model)}, nq=model.nq, nv=model.nv, **sizes)


def motions(model, q, v):
    """Velocities of the centres (n, 3), world axes, spins (n, 3), link axes, of all links."""
    ws = make_workspace(model)
    place_links(model.tree, q, ws)
    link_velocities(model.tree, v, ws)
    R, w, m = matrices(ws, AXES), vectors(ws, OMEGA), model.tree.constant[:, BODY_MASS]
    centre = model.tree.constant[:, BODY_FIRST : BODY_FIRST + 3] / np.where(m > 0, m, 1.0)[:, None]
    arm = np.einsum("nij,nj->ni", R, centre)
    return vectors(ws, SPEED) + np.cross(w, arm), np.einsum("nji,nj->ni", R, w)


def inertias(model):
    """Masses (n,) and moments of inertia about the centres (n, 3, 3), link axes."""
    m, S = model.tree.constant[:, BODY_MASS], model.tree.constant[:, BODY_INERTIA : BODY_INERTIA + 6]
    I = S[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    c = model.tree.constant[:, BODY_FIRST : BODY_FIRST + 3] / np.where(m > 0, m, 1.0)[:, None]
    square = np.einsum("ni,ni->n", c, c)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", c, c)
    return m, I - m[:, None, None] * square


def test_momenta_are_those_nearest_to_the_links_own():
    """M(q*) v* = Σ Jᵀ p, with J by columns from unit velocities; nothing moved keeps all velocities."""
    model, rng = quadruped(), np.random.default_rng(0)
    m, theta = inertias(model)
    for _ in range(3):
        q, v = random_state(model, rng, 0.5)
        to = integrate(model, q, 0.1 * rng.normal(size=model.nv))
        got = np.zeros(model.nv)
        assert carry_momenta(model.tree, q, to, v, scratch(model), got) == 0
        speed, spin = motions(model, q, v)
        columns = [motions(model, to, e) for e in np.eye(model.nv)]
        turned = np.einsum("nij,nj->ni", theta, spin)
        must = np.array([(m[:, None] * speed * u).sum() + (turned * w).sum() for u, w in columns])
        must += model.tree.armature * v
        M = ta.mass_matrix(model, to)
        np.testing.assert_allclose(M @ got, must, atol=1e-11 * np.abs(must).max())
        assert got @ M @ got <= v @ ta.mass_matrix(model, q) @ v
        assert carry_momenta(model.tree, q, q, v, scratch(model), got) == 0
        np.testing.assert_allclose(got, v, atol=1e-11 * np.abs(v).max())
