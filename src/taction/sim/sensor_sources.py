"""States and steps for sensors: of a run, of a step, of a state alone.

What ended at state k is step k − 1: its joint forces and contacts, and the change of velocity from state
k − 1. At the first state of a run no step ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.model.absolute import Absolute, in_absolute_coordinates
from taction.model.model import Model
from taction.sim.sensor_forces import Pushes, Touches
from taction.sim.sensors import Moments

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.contact_list import ContactList
    from taction.sim.world import World
    from taction.steppers.records import ContactTable


def moments_of_run(
    model: Model,
    dt: float,
    arrays: Mapping[str, Array],
    bodies: Sequence[str],
    table: ContactList | None,
    wrench: Callable[[], tuple[Array, str]],
) -> Moments:
    """All states of a run of n steps.

    Args:
        model: what moved.
        dt: time step [s].
        arrays: ``t``, ``q``, ``v`` of n + 1 states; ``tau`` of the steps.
        bodies: names of the bodies that carry the shapes.
        table: all contacts, in a run through contact.
        wrench: what was held on links from outside (links, 6), and in which coordinates.
    """
    q, v, n = arrays["q"], arrays["v"], len(arrays["v"]) - 1
    rate, tau = np.full((n + 1, model.nv), np.nan), np.full((n + 1, model.nv), np.nan)
    rate[1:], tau[1:] = np.diff(v, axis=0) / dt, arrays["tau"][:n]
    parts: dict[str, Any] = {}
    if table is not None:
        held, coordinates = wrench()
        is_absolute = coordinates == "absolute" and bool(held.any())
        parts["touches"] = touches_of(model, bodies, table, table.step + 1, dt)
        parts["pushes"] = pushes_of(held, in_absolute_coordinates(model) if is_absolute else None)
    return Moments(arrays["t"], q, v, rate, tau, **parts)


def moment_of_state(t: float, q: Array, v: Array) -> Moments:
    """A state alone: no step is known that ended there."""
    none = np.full((1, len(v)), np.nan)
    return Moments(np.array([t]), q[None], v[None], none, none)


def moment_after(
    model: Model,
    rows: Mapping[str, Array],
    dt: float,
    world: World | None = None,
    table: ContactTable | None = None,
    wrench: Array | None = None,
    absolute: Absolute | None = None,
) -> Moments:
    """The state after a step.

    Args:
        model: the mechanism.
        rows: ``t``, ``q``, ``v`` before and after, two rows each; ``tau``, the first row counts.
        dt: duration of the step [s].
        world: whose shapes touch.
        table: contacts of the step.
        wrench: held on links from outside, shape (links, 6) or (0, 6).
        absolute: the same mechanism in absolute coordinates, if the steps are taken there.
    """
    v = rows["v"]
    parts: dict[str, Any] = {}
    if world is not None and table is not None:
        bodies = [world.body_name(i) for i in range(len(world.shape_names))]
        row = np.zeros(int(table.count[0]), dtype=np.int64)
        parts["touches"] = touches_of(model, bodies, table, row, dt)
        parts["pushes"] = None if wrench is None else pushes_of(wrench, absolute)
    return Moments(rows["t"][1:], rows["q"][1:], v[1:], np.diff(v, axis=0) / dt, rows["tau"][:1], **parts)


def touches_of(
    model: Model, bodies: Sequence[str], table: ContactTable | ContactList, row: IntArray, dt: float
) -> Touches:
    """Contacts of a table as forces; bodies: names of those that carry the shapes; row: state of each."""
    number, c = {name: i for i, name in enumerate(model.body_names)}, len(row)
    carrier = np.array([number.get(body, -1) for body in bodies], dtype=np.int64)
    frame = table.frame[:c].reshape(-1, 3, 3)
    force = np.matmul(frame, table.impulse[:c, :, None])[..., 0] / dt
    return Touches(row, carrier[table.key[:c, :2]], table.point[:c], frame[:, :, 0], force)


def pushes_of(wrench: Array, absolute: Absolute | None) -> Pushes | None:
    """Wrenches on links (links, 6) as a state has them; on bodies in absolute coordinates, if given."""
    held = np.flatnonzero(wrench.any(axis=1))
    if not len(held):
        return None
    everywhere = np.full(len(held), -1)
    if absolute is None:
        return Pushes(everywhere, held, np.zeros((len(held), 3)), wrench[held])
    return Pushes(everywhere, absolute.link[held], absolute.centre[held], wrench[held])


def stacked(moments: Sequence[Moments]) -> Moments:
    """States of many worlds, one of each, as rows."""
    columns = {
        name: np.concatenate([getattr(m, name) for m in moments]) for name in ("t", "q", "v", "rate", "tau")
    }
    touches = [m.touches._replace(row=m.touches.row + i) for i, m in enumerate(moments)]
    pushes = [m.pushes._replace(row=np.full(len(m.pushes.row), i)) for i, m in enumerate(moments) if m.pushes]
    return Moments(
        **columns,
        touches=Touches(*(np.concatenate(parts) for parts in zip(*touches, strict=True))),
        pushes=Pushes(*(np.concatenate(parts) for parts in zip(*pushes, strict=True))) if pushes else None,
    )
