"""The contacts of a run, or of a step, as users have them: arrays with a row each, and one by one.

>>> import taction as ta
>>> ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
>>> run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3).run(0.003)
>>> len(run.contacts), [contact.step for contact in run.contacts]
(3, [0, 1, 2])
>>> run.contacts[-1].normal, run.contacts[run.contacts.step == 1].gap.shape
(array([-0., -0., -1.]), (1,))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, overload

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.show import count
from taction.sim.run_file import CONTACT_FIELDS


class Contact(NamedTuple):
    """One contact in one step."""

    step: int  # which step
    key: IntArray  # numbers of both shapes and of the feature, shape (3,)
    point: Array  # where [m], shape (3,)
    frame: Array  # columns normal, t₁, t₂, shape (9,)
    gap: float  # distance, negative in overlap [m]
    impulse: Array  # along the frame, on the first shape [N s], shape (3,)
    velocity: Array  # along the frame, first against second, at the end of the step [m/s], shape (3,)

    @property
    def normal(self) -> Array:
        """From the second shape to the first, shape (3,)."""
        return self.frame[0::3]


@dataclass(frozen=True, eq=False)
class ContactList:
    """Contacts with a row each, in the order of their steps.

    Attributes:
        step: which step, shape (c,).
        key: numbers of both shapes and of the feature, shape (c, 3).
        point: where [m], shape (c, 3).
        frame: columns normal, t₁, t₂, shape (c, 9).
        gap: distance, negative in overlap [m], shape (c,).
        impulse: along the frame, on the first shape [N s], shape (c, 3).
        velocity: along the frame, first against second, at the end of the step [m/s], shape (c, 3).
    """

    step: IntArray
    key: IntArray
    point: Array
    frame: Array
    gap: Array
    impulse: Array
    velocity: Array

    @property
    def count(self) -> IntArray:
        """How many there are, shape (1,)."""
        return np.array([len(self)])

    def __len__(self) -> int:
        return len(self.step)

    def __iter__(self) -> Iterator[Contact]:
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Contact: ...
    @overload
    def __getitem__(self, at: slice | np.ndarray) -> ContactList: ...
    def __getitem__(self, at: Any) -> Contact | ContactList:
        rows = {field.name: getattr(self, field.name)[at] for field in fields(self)}
        if isinstance(at, (int, np.integer)):
            return Contact(**{**rows, "step": int(rows["step"]), "gap": float(rows["gap"])})
        return ContactList(**rows)

    def __repr__(self) -> str:
        steps = len(np.unique(self.step))
        return f"<{count(len(self), 'contact')} in {count(steps, 'step')}: {', '.join(CONTACT_FIELDS)}>"
