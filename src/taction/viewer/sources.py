"""What the live view can show: scenarios by name, robot files and run files from one folder.

A choice is plain data, as it comes from a page: everything in it is checked here, and what is wrong is one
`BadInput` that the page shows. Files are named relative to a folder chosen when the view is started; a name
that leads out of it, by ``..``, from the root or through a link, is refused.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.errors import BadInput
from taction.model.compile import compile_model
from taction.model.shapes import Plane, Shape
from taction.scenarios import SCENARIOS, get_scenario
from taction.scenarios.base import ContactScenario
from taction.sim.contact_setup import LAW_SUMMARIES
from taction.sim.recorded_run import load_run
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import ContactPair, World
from taction.solvers import SOLVERS
from taction.steppers.coordinates.dispatch import COORDINATES
from taction.steppers.schemes.dispatch import SCHEMES

MODEL_FILES, RUN_FILES = (".urdf", ".xml", ".mjcf"), (".h5", ".hdf5", ".npz")
MOST_FILES = 500  # of a folder that are listed
QUIET = threading.RLock()  # held by who changes how warnings are shown: that is one thing for all threads
CHOSEN = ("contact", "solver", "stepper", "coordinates")


@dataclass(frozen=True)
class Choice:
    """What to show, and with what settings; None: as the scenario or the file has it.

    Attributes:
        scenario: name of a scenario, or empty.
        file: name of a file in the folder, or empty.
        contact: law of contact, or a force.
        solver: of contact problems.
        stepper: time-stepping scheme.
        coordinates: in which steps are taken.
        dt: time step [s].
        friction: coefficient of all surfaces.
        restitution: of all surfaces.
        parameters: of a scenario.
        beside: a second law of contact that is shown beside the first one, or empty.
    """

    scenario: str = ""
    file: str = ""
    contact: str | None = None
    solver: str | None = None
    stepper: str | None = None
    coordinates: str | None = None
    dt: float | None = None
    friction: float | None = None
    restitution: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    beside: str = ""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Choice:
        """A choice from what a page sent.

        Raises:
            BadInput: an unknown key, or a value of the wrong type.
        """
        if not isinstance(given, Mapping):
            raise BadInput("settings must be given by name")
        unknown = set(given) - set(cls.__dataclass_fields__)
        if unknown:
            raise BadInput(f"unknown setting {', '.join(sorted(map(str, unknown)))}")
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name == "parameters":
                if not isinstance(value, Mapping):
                    raise BadInput("parameters must be given by name")
                values[name] = {str(key): item for key, item in value.items()}
            elif value is None or value == "":
                continue
            elif name in ("dt", "friction", "restitution"):
                values[name] = _number(value, name)
            else:
                values[name] = str(value)
        return cls(**values)


def _number(value: Any, name: str) -> float:
    try:
        out = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{name}: expected a number, got {str(value)[:40]!r}") from None
    if not np.isfinite(out) or out < 0.0 or (name == "dt" and out <= 0.0):
        raise BadInput(f"{name}: must be {'positive' if name == 'dt' else 'at least 0'}, got {out:g}")
    return out


@dataclass(frozen=True, eq=False)
class Play:
    """Something to simulate: a simulation, the arguments of its runs, when it ends by itself [s]."""

    name: str
    simulation: Simulation
    start: dict[str, Any]
    duration: float
    words: tuple[str, ...] = ()


class Folder:
    """Files below one folder."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()
        if not self.path.is_dir():
            raise BadInput(f"{path}: no such folder")

    def find(self, name: str) -> Path:
        """The file of a name relative to the folder.

        Raises:
            BadInput: it leads out of the folder, or is no file.
        """
        try:
            path = (self.path / name).resolve()
            is_file = path.is_file()
        except (OSError, ValueError, RuntimeError):  # too long, a zero byte, links in a circle
            raise BadInput(f"{name[:60]!r} is no name of a file") from None
        if not path.is_relative_to(self.path):
            raise BadInput(f"{name}: outside of the folder {self.path.name}")
        if not is_file:
            raise BadInput(f"{name}: no such file in {self.path.name}")
        return path

    def names(self) -> list[str]:
        """Files that can be shown, relative to the folder, at most three folders deep."""
        out: list[str] = []
        for depth in ("*", "*/*", "*/*/*"):
            for path in sorted(self.path.glob(depth)):
                if path.suffix in (*MODEL_FILES, *RUN_FILES) and path.is_file():
                    if path.resolve().is_relative_to(self.path):
                        out.append(path.relative_to(self.path).as_posix())
                if len(out) >= MOST_FILES:
                    return out
        return out


def make_plays(choice: Choice, folder: Folder) -> list[Play]:
    """What a choice means: one simulation, or two beside each other.

    Raises:
        BadInput: a choice that does not exist or does not fit.
    """
    first = _make(choice, choice.contact, folder)
    if not choice.beside:
        return [first]
    return [first, _make(choice, choice.beside, folder)]


def _make(choice: Choice, contact: str | None, folder: Folder) -> Play:
    with QUIET, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play = _from_file(choice, contact, folder) if choice.file else _from_scenario(choice, contact)
    words = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(play, words=words)


def _chosen(choice: Choice, contact: str | None) -> dict[str, Any]:
    """Settings of contact that were asked for."""
    asked = {name: getattr(choice, name) for name in CHOSEN} | {"contact": contact}
    return {name: value for name, value in asked.items() if value is not None}


def _from_scenario(choice: Choice, contact: str | None) -> Play:
    scenario = get_scenario(choice.scenario)
    values = scenario.settings(choice.parameters)
    if (choice.friction, choice.restitution) != (None, None):
        if not isinstance(scenario, ContactScenario):
            raise BadInput(f"{scenario.name} has no contact: its surfaces cannot be chosen")
        scenario = copy(scenario)
        plain = scenario.world
        scenario.world = lambda parameters: with_surfaces(  # type: ignore[method-assign]
            plain(parameters), choice.friction, choice.restitution
        )
    dt = scenario.dt if choice.dt is None else choice.dt
    simulation, start = scenario.make(values, dt, None, _chosen(choice, contact))
    return Play(scenario.name, simulation, start, scenario.duration)


def _from_file(choice: Choice, contact: str | None, folder: Folder) -> Play:
    from taction.io.mjcf import load_mjcf
    from taction.io.urdf import load_urdf

    path = folder.find(choice.file)
    if path.suffix not in MODEL_FILES:
        raise BadInput(f"{choice.file}: not a robot's file; those end in {', '.join(MODEL_FILES)}")
    ground = None
    if path.suffix == ".urdf":
        model = load_urdf(path, floating_base=True)
        ground = Plane(friction=1.0 if choice.friction is None else choice.friction)
    else:
        model = load_mjcf(path)
    world = World(model, ground=ground)
    if (choice.friction, choice.restitution) != (None, None):
        world = with_surfaces(world, choice.friction, choice.restitution)
    simulation = Simulation(world, dt=choice.dt, **_chosen(choice, contact))
    start = {"q": world.place_on_ground()} if ground is not None else {}
    return Play(model.name, simulation, start, np.inf)


def with_surfaces(world: World, friction: float | None, restitution: float | None) -> World:
    """The same world with other coefficients on all surfaces; None leaves them."""

    def painted(shape: Shape) -> Shape:
        own = shape.material
        if friction is not None:
            own = replace(own, friction=(friction, friction), backward=None)
        if restitution is not None:
            own = replace(own, restitution=restitution)
        return replace(shape, material=own)

    spec = deepcopy(world.model.spec)
    spec.ground = [painted(shape) for shape in spec.ground]
    for body in spec.bodies:
        body.shapes = [painted(shape) for shape in body.shapes]
    options = world.options
    asked = {"friction": friction, "restitution": restitution}
    other = {name: value for name, value in asked.items() if value is not None}
    pairs = [ContactPair(**pair | other) for pair in options.pop("pairs")]
    return World(compile_model(spec), pairs=pairs, **options)


def open_run(name: str, folder: Folder) -> Run:
    """A recorded run of the folder.

    Raises:
        BadInput: not in the folder, not a run file, or damaged.
    """
    path = folder.find(name)
    try:
        return load_run(path).as_run()
    except BadInput as error:
        raise BadInput(str(error).replace(str(path), name)) from None


def offers(folder: Folder) -> dict[str, Any]:
    """What a page lets people choose from, as plain data."""
    return {
        "scenarios": [
            {
                "name": s.name,
                "summary": s.summary,
                "dt": s.dt,
                "duration": s.duration,
                "hasContact": isinstance(s, ContactScenario),
                "parameters": [
                    {
                        "name": p.name,
                        "value": p.default,
                        "unit": p.unit,
                        "help": p.help,
                        "choices": list(p.choices),
                        "minimum": p.minimum if np.isfinite(p.minimum) else None,
                        "maximum": p.maximum if np.isfinite(p.maximum) else None,
                    }
                    for p in s.parameters
                ],
            }
            for s in SCENARIOS.values()
        ],
        "files": folder.names(),
        "laws": list(LAW_SUMMARIES),
        "solvers": list(SOLVERS),
        "steppers": list(SCHEMES),
        "coordinates": list(COORDINATES),
    }
