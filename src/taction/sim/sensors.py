"""`Readings`: the sensors of a model by name, read when they are asked for.

>>> import taction as ta
>>> text = '''<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 0.1"><freejoint/>
... <geom size="0.1" mass="2"/><site name="skin" size="0.11"/></body></worldbody>
... <sensor><touch name="weight" site="skin"/><accelerometer name="imu" site="skin"/></sensor></mujoco>'''
>>> run = ta.Simulation(ta.World(ta.load_mjcf(text)), dt=1e-3).run(0.01)
>>> run.sensors["weight"].shape, float(run.sensors["weight"][-1, 0].round(6))
((11, 1), 19.62)
>>> run.sensors["imu"][-1].round(6) + 0.0
array([0.  , 0.  , 9.81])

Steps pay nothing for them: a reading is made from what was recorded, states, joint forces and contacts.

A reading at a state is what a controller can see there. Sensors of positions and velocities read the state
itself. Those of accelerations and forces read the step that *ended* there (`taction.model.sensors`): v̇ is the
change of velocity over the step, divided by its duration, at the configuration and velocity of the state;
forces are impulses divided by the duration. Where no step ended, as at the start of a run, they are NaN.

Accelerometers and ``framelinacc`` contain −gravity, as in MuJoCo. Quaternions have w ≥ 0. A ``cutoff`` bounds
readings, but for quaternions and axes; noise is never added.

References: MuJoCo XML reference, section "sensor"; [Featherstone2008] for what lies behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.names import instead
from taction._core.show import count, rows, some
from taction.math.transform import quaternion_from_rotation
from taction.model.model import Model
from taction.model.sensors import KINDS, components, unit_of, why_not
from taction.model.spec import SensorSpec
from taction.sim.energy import energies
from taction.sim.sensor_forces import Pushes, Touches, joint_wrench, no_touches, touch
from taction.sim.sensor_frames import Frames, cross, turn_back
from taction.sim.sensor_lengths import Lengths


@dataclass(frozen=True, eq=False)
class Moments:
    """States to read sensors at, n of them, and the steps that ended there.

    Attributes:
        t: times [s], shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        rate: change of velocity per time over the step, shape (n, nv); NaN where no step ended.
        tau: joint forces of controllers and actuators over the step, shape (n, nv); likewise.
        touches: contacts of the steps.
        pushes: wrenches held on links from outside.
    """

    t: Array
    q: Array
    v: Array
    rate: Array
    tau: Array
    touches: Touches = field(default_factory=no_touches)
    pushes: Pushes | None = None

    @property
    def is_ended(self) -> np.ndarray:
        """Where a step ended, shape (n,)."""
        return np.asarray(~np.isnan(self.rate).any(axis=1))


class Readings(Mapping[str, Array]):
    """Readings of all sensors by name: shape (n, size) over n states, or (size,) at one.

    Args:
        model: the mechanism with its sensors.
        moments: makes the states to read at, when it is first asked.
        is_one: whether there is one state, and readings have no axis for it.
    """

    def __init__(self, model: Model, moments: Callable[[], Moments], is_one: bool = False) -> None:
        self._model, self._make, self._is_one = model, moments, is_one
        self._specs, self._lacks = _sensors_of(model)
        self._read: dict[str, Array] = {}

    @cached_property
    def _moments(self) -> Moments:
        return self._make()

    @property
    def _known(self) -> list[str]:
        return [name for name, reason in self._lacks.items() if not reason]

    @cached_property
    def _frames(self) -> Frames:
        m = self._moments
        return Frames(self._model, m.q, m.v, m.rate)

    @cached_property
    def _lengths(self) -> Lengths:
        return Lengths(self._model, self._moments.q, self._moments.v)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._lacks.get(name, "unknown") == ""

    def get(self, name: str, default: Any = None) -> Any:
        """The reading of a sensor, or the default if there is none."""
        return self[name] if name in self else default

    def __getitem__(self, name: str) -> Array:
        if name not in self._specs:
            raise BadInput(f"{self._model.name}: no sensor {name!r}; {instead(name, self._specs)}")
        sensor, reason = self._specs[name], self._lacks[name]
        if reason:
            raise BadInput(f"{self._model.name}: sensor {name!r} ({sensor.kind}) has no reading: {reason}")
        if name not in self._read:
            kind = KINDS[sensor.kind]
            value = np.asarray(self._evaluate(sensor), dtype=float).reshape(-1, kind.size)
            if kind.is_of_step:
                value = np.where(self._moments.is_ended[:, None], value, np.nan)
            self._read[name] = _cut(sensor, value)
            self._read[name].flags.writeable = False
        return self._read[name][0] if self._is_one else self._read[name]

    def columns(self) -> dict[str, tuple[Array, str]]:
        """Every number of every reading by name, ``imu.x``, with its unit; shape (n,) each."""
        out: dict[str, tuple[Array, str]] = {}
        for name in self:
            sensor, value = self._specs[name], self[name]
            for c, part in enumerate(components(sensor)):
                out[f"{name}.{part}" if part else name] = value[..., c], unit_of(self._model.spec, sensor)
        return out

    def __repr__(self) -> str:
        left = [name for name, reason in self._lacks.items() if reason]
        kinds = [f"{name} ({self._specs[name].kind})" for name in self._known]
        return rows(
            f"<Readings of {count(len(self), 'sensor')} of {self._model.name!r}>",
            some(kinds),
            f"no reading: {some(left)}" if left else "",
        )

    # ----- Kinds -----

    def _evaluate(self, sensor: SensorSpec) -> Array:
        kind = sensor.kind
        if kind.startswith("frame"):
            return self._frame(sensor)
        if sensor.part == "joint":
            return self._joint(sensor)
        if sensor.part in ("tendon", "actuator"):
            return self._length(sensor)
        if sensor.part == "site":
            return self._site(sensor)
        if kind.startswith("subtree"):
            return self._subtree(sensor)
        m = self._moments
        if kind == "clock":
            return m.t
        return energies(self._model, m.q, m.v)[kind == "e_potential"]

    def _joint(self, sensor: SensorSpec) -> Array:
        m, joint, kind = self._moments, self._model.joint(sensor.target), sensor.kind
        if kind == "jointactuatorfrc":
            return m.tau[:, joint.iv]
        if kind == "ballangvel":
            return m.v[:, joint.v_slice]
        if kind == "ballquat":
            q = m.q[:, joint.q_slice]
            q = q / np.linalg.norm(q, axis=1, keepdims=True)
            return np.where(q[:, :1] < 0.0, -q, q)
        at, rate = m.q[:, joint.iq], m.v[:, joint.iv]
        if kind.startswith("jointlimit"):
            lower, upper = self._model.lower[joint.iv], self._model.upper[joint.iv]
            return _beyond(kind.endswith("vel"), at, rate, lower, upper)
        return at if kind == "jointpos" else rate

    def _length(self, sensor: SensorSpec) -> Array:
        kind, lengths = sensor.kind, self._lengths
        if kind == "actuatorfrc":
            return lengths.force(sensor.target, self._moments.tau)
        part = lengths.tendon if sensor.part == "tendon" else lengths.actuator
        at, rate = part(sensor.target)
        if kind.startswith("tendonlimit"):
            tendon = next(t for t in self._model.spec.tendons if t.name == sensor.target)
            return _beyond(kind.endswith("vel"), at, rate, tendon.lower, tendon.upper)
        return at if kind.endswith("pos") else rate

    def _frame(self, sensor: SensorSpec) -> Array:
        frame, kind = self._frames.of_part(sensor.part, sensor.target), sensor.kind
        if kind == "framelinacc":
            return frame.pull
        if kind == "frameangacc":
            return frame.turning
        R, x, w, u = frame.axes, frame.position, frame.angular, frame.linear
        if sensor.other_part:
            by = self._frames.of_part(sensor.other_part, sensor.other)
            u = turn_back(by.axes, u - by.linear - cross(by.angular, x - by.position))
            x, w = turn_back(by.axes, x - by.position), turn_back(by.axes, w - by.angular)
            R = np.swapaxes(by.axes, -1, -2) @ R
        if kind == "framequat":
            return np.array([quaternion_from_rotation(one) for one in R])
        axes = {f"frame{name}axis": R[:, :, c] for c, name in enumerate("xyz")}
        return {"framepos": x, "framelinvel": u, "frameangvel": w, **axes}[kind]

    def _site(self, sensor: SensorSpec) -> Array:
        kind, m = sensor.kind, self._moments
        site = next(s for s in self._model.spec.sites if s.name == sensor.target)
        if kind == "touch":
            return touch(self._frames, site, m.touches)
        if kind in ("force", "torque"):
            return joint_wrench(self._frames, site, m.touches, m.pushes)[kind == "torque"]
        frame = self._frames.of_part("site", site.name)
        return turn_back(
            frame.axes, {"velocimeter": frame.linear, "gyro": frame.angular}.get(kind, frame.pull)
        )

    def _subtree(self, sensor: SensorSpec) -> Array:
        frames, kind = self._frames, sensor.kind
        parts = list(frames.weights(frames.hanging_on(sensor.target)))
        mass = sum(part.mass for part in parts)
        if not parts:
            centre = frames.of_part("body", sensor.target)
            return {"subtreecom": centre.position, "subtreelinvel": centre.linear}.get(
                kind, 0.0 * centre.linear
            )
        com = sum(part.mass * part.centre.position for part in parts) / mass
        velocity = sum(part.mass * part.centre.linear for part in parts) / mass
        if kind != "subtreeangmom":
            return np.asarray(com if kind == "subtreecom" else velocity)
        out = np.zeros((frames.n, 3))
        for part_mass, inertia, centre in parts:
            momentum = part_mass * (centre.linear - velocity)
            out += cross(centre.position - com, momentum)
            out += np.matmul(inertia, centre.angular[..., None])[..., 0]
        return out


@lru_cache(maxsize=8)  # controllers ask at every step
def _sensors_of(model: Model) -> tuple[dict[str, SensorSpec], dict[str, str]]:
    """The sensors of a model by name, and why some of them have no reading: empty for others."""
    sensors = {sensor.name: sensor for sensor in model.spec.sensors}
    return sensors, {name: why_not(model.spec, sensor) for name, sensor in sensors.items()}


def _beyond(is_rate: bool, at: Array, rate: Array, lower: float, upper: float) -> Array:
    """How far a coordinate is beyond a limit, negative, or its rate away from there; zero within."""
    is_below, is_above = at < lower, at > upper
    below, above = (rate, -rate) if is_rate else (at - lower, upper - at)
    return np.where(is_below, below, np.where(is_above, above, 0.0))


def _cut(sensor: SensorSpec, value: Array) -> Array:
    """A reading within its cutoff."""
    if sensor.cutoff > 0.0 and KINDS[sensor.kind].is_cut:
        return np.clip(value, -sensor.cutoff, sensor.cutoff)
    return np.array(value)
