"""`SimState`: where a run starts, and where it ended.

>>> import taction as ta
>>> sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3)
>>> first = sim.run(0.1, q=[1.0, 0.5])
>>> both, rest = sim.run(0.2, q=[1.0, 0.5]), sim.run(0.1, state=first.state)
>>> both.hashes[100:] == rest.hashes
True
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.archive import read_archive
from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction._core.expect import as_path
from taction._core.show import brief_repr
from taction._core.whole_file import written_whole
from taction.kinematics.configuration import normalize_configuration
from taction.model.model import Model


@dataclass(frozen=True, eq=False)
class SimState:
    """A moment of a simulation: all that is needed to continue bit for bit.

    Attributes:
        t: time [s].
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        last: where the last step looked, shape (nq,).
        key: shapes and feature of each contact of the last step, shape (c, 3).
        impulse: their impulses [N s], shape (c, 3).
        joint_impulse: impulses of stops, dry friction, couplings and loops.
        not_unique: what was not unique about these, of `taction.contact.redundancy`, shape (1,).
        memory: what a law of contact forces keeps of each contact besides, shape (c, m).
        angle: of each joint in absolute coordinates, turns included [rad], shape (m, 3).
        wrench: held on each link from outside, moment about its origin first, world axes [N m, N], shape
            (links, 6); or none, shape (0, 6).
        exempt: bodies of one robot that overlapped where the motion started and so do not collide in it, by
            number, shape (p, 2).
        act: activations of the actuators that have one, or what a controller keeps of the motion (the
            integrals of a `PID`), shape (na,); or none, shape (0,), for zeros.
    """

    t: float
    q: Array
    v: Array
    last: Array
    key: IntArray
    impulse: Array
    joint_impulse: Array
    not_unique: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    memory: Array = field(default_factory=lambda: np.zeros((0, 0)))
    angle: Array = field(default_factory=lambda: np.zeros((0, 3)))
    wrench: Array = field(default_factory=lambda: np.zeros((0, 6)))
    exempt: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    act: Array = field(default_factory=lambda: np.zeros(0))

    __repr__ = brief_repr

    def save(self, path: str | Path) -> None:
        """Write to a ``.npz`` file.

        Raises:
            BadInput: the file cannot be written.
        """
        path = as_path(path)
        # as NumPy has it: the ending is added where it is missing
        path = path if path.suffix == ".npz" else path.with_name(f"{path.name}.npz")
        with written_whole(path) as begun:
            begun.write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        file = io.BytesIO()
        np.savez(file, **{name: getattr(self, name) for name in self.__dataclass_fields__})
        return file.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> SimState:
        """Read what `save` wrote.

        Raises:
            BadInput: no such file, not one of ours, or a damaged one.
        """
        try:
            return cls._read(as_path(path))
        except BadInput as error:
            raise BadInput(f"{path}: not a saved state: {error}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> SimState:
        """Read what `to_bytes` gave.

        Raises:
            BadInput: not one of ours, or damaged.
        """
        return cls._read(data)

    @classmethod
    def _read(cls, source: str | Path | bytes) -> SimState:
        arrays, values = read_archive(source), dict[str, Any]()
        for name, (kind, dimensions) in _FIELDS.items():
            if name not in arrays:
                raise BadInput(f"it has no {name}")
            value = arrays[name]
            if value.dtype != kind or value.ndim != dimensions or not np.isfinite(value).all():
                raise BadInput(f"its {name} is not what a state has there")
            values[name] = value
        if len(values["last"]) != len(values["q"]) or values["key"].shape != values["impulse"].shape:
            raise BadInput("its numbers do not fit together")
        return cls(**{**values, "t": float(values["t"])})


# Type and number of axes of each array of a file.
_FIELDS: dict[str, tuple[type, int]] = {
    "t": (np.float64, 0),
    "q": (np.float64, 1),
    "v": (np.float64, 1),
    "last": (np.float64, 1),
    "key": (np.int64, 2),
    "impulse": (np.float64, 2),
    "joint_impulse": (np.float64, 1),
    "not_unique": (np.int64, 1),
    "memory": (np.float64, 2),
    "exempt": (np.int64, 2),
    "angle": (np.float64, 2),
    "wrench": (np.float64, 2),
    "act": (np.float64, 1),
}


def digest(q: Array, v: Array) -> str:
    """A digest of configurations and velocities: equal digests mean equal bits."""
    return blake2b(q.tobytes() + v.tobytes(), digest_size=8).hexdigest()


def smooth_state(t: float, q: Array, v: Array, act: Array | None = None) -> SimState:
    """A state in which nothing touches and no joint row carries: copies of q (nq,), v (nv,) and act (na,)."""
    none, act = np.zeros((0, 3)), np.zeros(0) if act is None else act.copy()
    return SimState(t, q.copy(), v.copy(), q.copy(), none.astype(np.int64), none, np.zeros(0), act=act)


def starting_point(model: Model, q: ArrayLike | None, v: ArrayLike | None) -> tuple[Array, Array]:
    """Configuration (nq,) and velocity (nv,) to start a run from, new arrays.

    The neutral configuration at rest by default. Mimic joints are put where their leaders say, quaternions
    made of unit length.

    Raises:
        BadInput: wrong shapes, or numbers that are not finite.
    """
    q = np.array(model.q0 if q is None else model.check_q(q))
    v = np.zeros(model.nv) if v is None else np.array(model.check_v(v))
    for c in model.couplings:
        q[c.follower_q] = c.multiplier * q[c.leader_q] + c.offset
        v[c.follower_v] = c.multiplier * v[c.leader_v]
    normalize_configuration(model.tree, q)
    return q, v
