"""States of the ready-made robots, and the spheres they touch the ground with."""

from __future__ import annotations

import numpy as np

from taction.kinematics.forward import forward_kinematics
from taction.model.model import Model
from taction.model.shapes import Shape, Sphere


def random_state(model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = model.q0 + rng.uniform(-0.8, 0.8, model.nq)
    if model.nq > model.nv:
        q[3:7] = rng.normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, rng.normal(size=model.nv)


def contact_spheres(model: Model) -> list[tuple[int, Shape]]:
    return [(i, s) for i, body in enumerate(model.spec.bodies) for s in body.shapes
            if s.collides and isinstance(s.geometry, Sphere)]  # fmt: skip


def sphere_centres(model: Model, q: np.ndarray) -> np.ndarray:
    poses = forward_kinematics(model, q)
    return np.array(
        [poses.rotation[i] @ s.pose.translation + poses.position[i] for i, s in contact_spheres(model)]
    )
