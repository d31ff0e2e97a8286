"""Drawings of many bodies with made-up motion: what a page has to draw, without the time to simulate it."""

from __future__ import annotations

import numpy as np

import taction as ta
from taction.drawing.description import EDGE, INSIDE, Drawing, Frames
from taction.drawing.motion import MOST_CONTACTS, centre_of_mass, poses
from taction.drawing.parts import parts_of_model
from taction.drawing.view import choose_view
from taction.robots.snake import place_snake

FRAMES, RATE = 31, 30.0  # frames and their number per second


def snake_of(links: int) -> Drawing:
    """A snake whose wave goes through it, with a contact under each link as far as they are kept."""
    model = ta.World(ta.robots.snake(links=links), ground=ta.Plane(friction=1.0)).model
    k = np.arange(links - 1)
    waves = [np.stack([0.3 * np.cos(0.25 * k - 0.2 * i), 0.0 * k], axis=1) for i in range(FRAMES)]
    return drawn(model, np.array([place_snake(model, position=(0, 0, 0.08), angles=w) for w in waves]))


def pile_of(boxes: int) -> Drawing:
    """Boxes in layers that sway, with as many contacts as are kept."""
    place = [(0.25 * (k % 5), 0.25 * (k // 5 % 5), 0.1 + 0.2 * (k // 25)) for k in range(boxes)]
    parts = [ta.free_body(f"box{k}", ta.Box((0.2,) * 3), mass=1.0, position=p) for k, p in enumerate(place)]
    model = ta.World(*parts, ground=ta.Plane(friction=0.5)).model
    Q = np.tile(model.q0, (FRAMES, 1)).reshape(FRAMES, boxes, 7)
    Q[:, :, 0] += 0.05 * np.sin(0.3 * np.arange(FRAMES))[:, None] * Q[:, :, 2]
    return drawn(model, Q.reshape(FRAMES, -1))


def drawn(model: ta.Model, Q: np.ndarray) -> Drawing:
    """A drawing of configurations (n, nq)."""
    position, quaternion = poses(model, Q)
    bodies = position.shape[1]
    body = np.arange(MOST_CONTACTS) % bodies
    corner = np.arange(MOST_CONTACTS) // bodies
    shift = 0.08 * np.stack([np.cos(1.6 * corner), np.sin(1.6 * corner), -np.ones(MOST_CONTACTS)], axis=1)
    count = FRAMES * MOST_CONTACTS
    force = np.tile([2.0, 0.0, 10.0], (count, 1)) * np.linspace(0.2, 1.0, count)[:, None]
    frames = Frames(
        t=np.arange(FRAMES) / RATE,
        position=position,
        quaternion=quaternion,
        com=centre_of_mass(model, position, quaternion),
        first=MOST_CONTACTS * np.arange(FRAMES + 1),
        point=(position[:, body] + shift).reshape(-1, 3),
        normal=np.tile([0.0, 0.0, 1.0], (count, 1)),
        tangent=np.tile([1.0, 0.0, 0.0], (count, 1)),
        friction=np.full((count, 2), 0.4),
        force=force,
        state=np.where(np.arange(count) % 3 == 0, EDGE, INSIDE),
        pair=np.stack([np.tile(body, FRAMES), np.full(count, -1)], axis=1),
        is_open=np.zeros(FRAMES, dtype=bool),
    )
    shop = parts_of_model(model)
    view = choose_view(frames, shop.parts, shop.meshes)
    return Drawing(model.name, tuple(model.body_names), shop.parts, shop.meshes, frames, view, 1.0 / RATE)
