"""The text behind an MJCF model: defaults, compiler settings, placements and limits.

What is read here, with the meaning that MuJoCo 4.0's compiler gives it
* ``<compiler>`` may be repeated and stand anywhere: the last setting of an attribute holds for all of it.
* ``<default>`` makes classes of attribute values. A class starts as a copy of its parent and is then changed;
  an element takes what it does not say itself from its ``class``, or else from the nearest ``childclass``
  around it, or else from "main". Two rules of detail: a list shorter than the inherited one replaces only
  the front of it (``size``, ``friction``, ``gear`` and the like), and any orientation replaces any other.
* Angles are in degrees unless ``angle="radian"``. An orientation is one of

      quat        w x y z, of any length
      axisangle   x y z angle
      euler       three angles; ``eulerseq`` names the axes: lower case turn with the frame, upper case do not
      xyaxes      x axis, then y axis, the latter made orthogonal to the former
      zaxis       the z axis; the shortest turn from (0, 0, 1), about x when it points down

* Limits come as a range and a flag. The flag "auto" means limited if ``autolimits`` is set and lower < upper.

How a file becomes that text, with what it includes, attaches and replicates: `taction.io.mjcf_open`.

References: MuJoCo XML reference, sections "compiler", "default" and "Frame orientations".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, cast

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.names import instead
from taction._core.plain_file import Room
from taction.io.mjcf_vocabulary import ACTUATORS
from taction.io.notes import Notes
from taction.io.xml import Element, fail, floats, most_parts, number, too_many
from taction.math.transform import Transform, rotation_about, rotation_from_quaternion
from taction.model.model import Model

# Elements that stand for bodies and joints which are not made.
HIDDEN = ("composite", "flexcomp")

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")

# Attributes of which a class or an element may give the front only.
_PARTIAL = frozenset({"size", "friction", "gear", "damping", "stiffness", "gainprm", "biasprm"})

# Shorter vectors have no direction; MuJoCo's mjMINVAL.
MIN_LENGTH = 1e-15

# Elements that are looked at in the time of one that is made.
SEARCHED = 100

# How a message begins that says where its cause is: file:line.
_PLACE = re.compile(r"[^\n]*?:\d+: ")

# Attributes by which a default of an actuator says what force it makes; these are not plain attribute values.
LAW_ATTRIBUTES = frozenset(
    "kp kv dampratio timeconst gaintype gainprm biastype biasprm dyntype dynprm inheritrange".split()
)


# Sets values of the description that depend on a compiled model and its inverse mass matrix (nv, nv).
Settle = Callable[[Model, Array], None]


@dataclass
class Compiler:
    """Settings of ``<compiler>``; angles of the file times ``angle_unit`` are radians."""

    angle_unit: float = np.pi / 180
    eulerseq: str = "xyz"
    autolimits: bool = True
    mesh_folder: str = ""
    strip_path: bool = False
    inertia_from_geom: str = "auto"
    inertia_groups: tuple[int, int] = (0, 5)
    balance_inertia: bool = False
    bound_mass: float = 0.0
    bound_inertia: float = 0.0
    total_mass: float = -1.0
    discard_visual: bool = False
    conflict: str = "warning"


@dataclass
class DefaultClass:
    """Attribute values per tag, those of the parents included; actuators share the tag "actuator".

    Attributes:
        parent: the class around it, None for "main".
        values: tag → attribute → text.
        actuators: the actuator elements of this class alone, in order.
    """

    parent: DefaultClass | None = None
    values: dict[str, dict[str, str]] = field(default_factory=dict)
    actuators: list[Element] = field(default_factory=list)


@dataclass
class Source:
    """An MJCF model after includes, defaults and compiler settings are worked out.

    Attributes:
        root: the main file, with all that it includes, attaches and replicates.
        notes: what is not supported.
        folders: of the main file, and of every model that it attaches; `Element.origin` says which.
        compilers: their settings.
        classes: default classes by name.
        later: what waits for the compiled model and the inverse of its mass matrix at ``qpos0``.
        parts: elements so far, those of all files and copies.
        searched: elements looked at for what names copied parts.
        room: for meshes.
    """

    root: Element
    notes: Notes
    folders: list[Path] = field(default_factory=list)
    compilers: list[Compiler] = field(default_factory=list)
    classes: dict[str, DefaultClass] = field(default_factory=lambda: {"main": DefaultClass()})
    later: list[Settle] = field(default_factory=list)
    parts: int = 0
    searched: int = 0
    room: Room = field(default_factory=Room)

    def add_parts(self, element: Element, copies: int = 1) -> None:
        """Count an element and those inside it, so often; before they are copied.

        Raises:
            ModelError: the model has too many, as one of a few lines can.
        """
        self.parts += copies * sum(1 for _ in element.iter())
        if self.parts > most_parts():
            fail(element, too_many(self.parts))

    def add_search(self, element: Element) -> None:
        """Count a search for what names copied parts, before an element is copied.

        Raises:
            ModelError: together they take too long.
        """
        self.searched += sum(1 + len(section) for section in self.root if section.tag != "worldbody")
        if self.searched > SEARCHED * most_parts():
            fail(element, "there are too many copies in too large a model")

    @property
    def compiler(self) -> Compiler:
        """Settings of the main file."""
        return self.compilers[0]

    def settings(self, element: Element) -> Compiler:
        """Settings of the model that an element was written in."""
        return self.compilers[element.origin]

    def sections(self, tag: str) -> Iterator[Element]:
        """Children of every top-level section of that name, in order."""
        for section in children(self.root, tag):
            yield from children(section)

    @property
    def can_sleep(self) -> bool:
        """Whether bodies may be left out of the motion."""
        flags = [flag for option in children(self.root, "option") for flag in children(option, "flag")]
        words = [flag.get("sleep") for flag in flags if flag.get("sleep")]
        return bool(words) and words[-1] == "enable"

    def unread_around(self, name: str) -> Element | None:
        """What is not read and would have made a part of that name, such as a ``<flexcomp>``."""
        makers = (cast(Element, e) for tag in HIDDEN for e in self.root.iter(tag))
        stems = ((e, e.get("name") or e.get("prefix") or "") for e in makers)
        return next((maker for maker, stem in stems if stem and name.startswith(stem)), None)

    def missing(self, element: Element, kind: str, name: str, known: Iterable[str]) -> NoReturn:
        """Refuse an element that names a part which does not exist."""
        maker = self.unread_around(name)
        if maker is not None:
            fail(
                element,
                f"{kind} {name!r} does not exist here: {maker.label} in line {maker.line} is not read, "
                "and its parts are missing",
            )
        fail(element, f"{kind} {name!r} does not exist; {instead(name, known)}")

    def default_class(self, element: Element, active: str) -> DefaultClass:
        """The class that holds for an element inside the ``childclass`` ``active``."""
        name = element.get("class", active)
        if name not in self.classes:
            fail(element, f"unknown default class {name!r}; {instead(name, self.classes)}")
        return self.classes[name]

    def completed(self, element: Element, active: str = "main", tag: str = "") -> Element:
        """A copy of the element that also has the attributes it inherits, as those of ``tag``."""
        tag = tag or ("actuator" if element.tag in ACTUATORS else element.tag)
        values = self.default_class(element, active).values.get(tag, {})
        copy = Element(element.tag, overlaid(values, element))
        copy.file, copy.line, copy.origin = element.file, element.line, element.origin
        return copy


def named(elements: Iterable[Element], kind: str) -> list[tuple[str, Element]]:
    """Elements of a kind that may have names, with a name for each: made of kind and number if there is none.

    Raises:
        ModelError: a name is used twice.
    """
    listed = list(elements)
    used: dict[str, Element] = {}
    for element in listed:
        name = element.get("name", "")
        if name in used:
            fail(element, f"the name {name!r} is used twice, first in line {used[name].line}")
        if name:
            used[name] = element
    out = []
    for index, element in enumerate(listed):
        name = element.get("name") or f"{kind}{index}"
        while not element.get("name") and name in used:
            name += "_"
        used[name] = element
        out.append((name, element))
    return out


def children(element: Element, tag: str | None = None) -> list[Element]:
    """Child elements, of one tag or all."""
    return [cast(Element, child) for child in element if tag is None or child.tag == tag]


@contextmanager
def located(element: Element) -> Iterator[None]:
    """Give errors in values built from an element its file, line and name, unless they have a place."""
    try:
        yield
    except (BadInput, ArithmeticError, np.linalg.LinAlgError) as error:
        if _PLACE.match(str(error)):
            raise
        fail(element, str(error))


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that cannot be one counts as no."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


# ----- Compiler settings ------------------------------------------------------------------------------------


def keyword(element: Element, attribute: str, choices: str, default: str) -> str:
    """An attribute that must be one of the words in ``choices``."""
    word = element.get(attribute, default)
    if word not in choices.split():
        fail(element, f"{attribute}={word!r} must be one of {', '.join(choices.split())}")
    return word


def flag(element: Element, attribute: str, default: bool) -> bool:
    """An attribute that is true or false."""
    return keyword(element, attribute, "false true", "true" if default else "false") == "true"


def read_compiler(element: Element, settings: Compiler) -> None:
    """Change settings by what a ``<compiler>`` says."""
    if keyword(element, "coordinate", "local global", "local") == "global":
        fail(
            element, "coordinate='global' is not supported, by MuJoCo neither; save the model in MuJoCo 2.3.3"
        )
    if element.get("angle") is not None:
        is_radian = keyword(element, "angle", "radian degree", "degree") == "radian"
        settings.angle_unit = 1.0 if is_radian else np.pi / 180
    settings.eulerseq = element.get("eulerseq", settings.eulerseq)
    if len(settings.eulerseq) != 3 or set(settings.eulerseq) - set("xyzXYZ"):
        fail(element, f"eulerseq={settings.eulerseq!r} must be three letters out of x, y, z, X, Y, Z")
    settings.autolimits = flag(element, "autolimits", settings.autolimits)
    settings.mesh_folder = element.get("meshdir", element.get("assetdir", settings.mesh_folder))
    settings.strip_path = flag(element, "strippath", settings.strip_path)
    settings.inertia_from_geom = keyword(
        element, "inertiafromgeom", "false true auto", settings.inertia_from_geom
    )
    first, last = settings.inertia_groups
    groups = integers(element, "inertiagrouprange", 2)
    settings.inertia_groups = (first, last) if groups is None else (groups[0], groups[1])
    settings.balance_inertia = flag(element, "balanceinertia", settings.balance_inertia)
    settings.bound_mass = least(element, "boundmass", settings.bound_mass)
    settings.bound_inertia = least(element, "boundinertia", settings.bound_inertia)
    settings.total_mass = cast(float, number(element, "settotalmass", settings.total_mass))
    settings.conflict = keyword(element, "conflict", "warning merge error", settings.conflict)
    settings.discard_visual = flag(element, "discardvisual", settings.discard_visual)


# ----- Defaults ---------------------------------------------------------------------------------------------


def read_class(element: Element, name: str, source: Source) -> None:
    """Change a class by the elements of a ``<default>``, then make the classes inside it."""
    this = source.classes[name]
    for child in children(element):
        if child.get("name"):
            fail(child, "a default has no name")
        if child.tag != "default" and child.get("class"):
            source.notes.add(f"default/{child.tag} class", child, "values are those of the class around it")
            del child.attrib["class"]
        if child.tag in ACTUATORS:
            this.actuators.append(child)
            values = this.values.get("actuator", {})
            kept = {k: v for k, v in overlaid(values, child).items() if k not in LAW_ATTRIBUTES}
            this.values["actuator"] = kept
        elif child.tag != "default":
            this.values[child.tag] = overlaid(this.values.get(child.tag, {}), child)
    for child in children(element, "default"):
        inner = child.get("class")
        if not inner:
            fail(child, "a nested default needs a class name")
        if inner in source.classes:
            fail(child, f"default class {inner!r} is defined twice")
        copies = {tag: dict(values) for tag, values in this.values.items()}
        source.classes[inner] = DefaultClass(this, copies)
        read_class(child, inner, source)


def overlaid(values: dict[str, str], element: Element) -> dict[str, str]:
    """Inherited attribute values, changed by those of the element."""
    if any(element.get(name) for name in ORIENTATIONS):
        values = {k: v for k, v in values.items() if k not in ORIENTATIONS}
    given = dict(element.items())
    for name in _PARTIAL & given.keys() & values.keys():
        words = given[name].split()
        given[name] = " ".join([*words, *values[name].split()[len(words) :]])
    return {**values, **given}


# ----- Numbers, placements and limits -----------------------------------------------------------------------


def vector(element: Element, attribute: str, default: tuple[float, ...]) -> Array:
    """The attribute as a vector of the length of the default."""
    values = floats(element, attribute, len(default))
    return np.array(default) if values is None else values


def least(
    element: Element, attribute: str, default: float = 0.0, *, minimum: float = 0.0, most: int = 1
) -> float:
    """The first number of an attribute of at most so many; it must not be below the minimum."""
    values = floats(element, attribute)
    if values is not None and len(values) > most:
        fail(element, f"{attribute}={element.get(attribute)!r} has more than {most} numbers")
    value = default if values is None else float(values[0])
    if value < minimum:
        fail(element, f"{attribute}={value:g} must not be below {minimum:g}")
    return value


def resistance(element: Element, attribute: str, source: Source, *, most: int = 1) -> float:
    """The first of at most so many numbers; zero, and listed, where it would give energy and not take it."""
    value = least(element, attribute, minimum=-np.inf, most=most)
    if value < 0.0:
        source.notes.add(f"negative {attribute}", element, "taken as none")
    return max(value, 0.0)


def integers(element: Element, attribute: str, count: int | None = None) -> list[int] | None:
    """The attribute as 32-bit integers, or None if absent."""
    values = floats(element, attribute, count)
    if values is None:
        return None
    if np.any(values != np.round(values)) or np.any(np.abs(values) > 2**31):
        fail(element, f"{attribute}={element.get(attribute)!r} is not an integer")
    return [int(v) for v in values]


def unit(element: Element, values: Array, what: str) -> Array:
    """The vector at unit length."""
    size = np.abs(values).max()
    if size < MIN_LENGTH:
        fail(element, f"{what} is zero")
    scaled = values / size  # so that the norm neither overflows nor underflows
    return scaled / np.linalg.norm(scaled)


def placement(element: Element, settings: Compiler) -> Transform:
    """Position and orientation of an element."""
    return Transform(_rotation(element, settings), vector(element, "pos", (0.0, 0.0, 0.0)))


def _rotation(element: Element, settings: Compiler) -> Array:
    given = [name for name in ORIENTATIONS if element.get(name)]
    if len(given) > 1:
        fail(element, f"gives its orientation more than once: {', '.join(given)}")
    match given:
        case ["quat"]:
            return rotation_from_quaternion(unit(element, vector(element, "quat", (0.0,) * 4), "quat"))
        case ["axisangle"]:
            *axis, angle = vector(element, "axisangle", (0.0,) * 4)
            return rotation_about(
                unit(element, np.array(axis), "axis of axisangle"), angle * settings.angle_unit
            )
        case ["euler"]:
            return _euler(vector(element, "euler", (0.0,) * 3) * settings.angle_unit, settings.eulerseq)
        case ["xyaxes"]:
            both = vector(element, "xyaxes", (0.0,) * 6)
            x, y = unit(element, both[:3], "x axis"), unit(element, both[3:], "y axis")
            y = unit(element, y - (x @ y) * x, "y axis, after taking out its part along x,")
            return np.column_stack([x, y, np.cross(x, y)])
        case ["zaxis"]:
            return turn_to(unit(element, vector(element, "zaxis", (0.0,) * 3), "zaxis"))
    return np.eye(3)


def _euler(angles: Array, sequence: str) -> Array:
    R = np.eye(3)
    for angle, letter in zip(angles, sequence, strict=True):
        turn = rotation_about(np.eye(3)["xyz".index(letter.lower())], angle)
        R = R @ turn if letter.islower() else turn @ R
    return R


def turn_to(z: Array) -> Array:
    """The shortest rotation that takes (0, 0, 1) to a unit vector; about x if that is (0, 0, −1)."""
    axis = np.array([-z[1], z[0], 0.0])
    sine = float(np.hypot(z[0], z[1]))
    axis = axis / sine if sine > MIN_LENGTH else np.array([1.0, 0.0, 0.0])
    return rotation_about(axis, float(np.arctan2(sine, z[2])))


def limits(element: Element, attribute: str, flag: str, source: Source) -> tuple[float, float] | None:
    """The range in ``attribute`` if the flag, or else ``autolimits``, says that it holds."""
    span = floats(element, attribute, 2, is_bound=True)
    lower, upper = (0.0, 0.0) if span is None else span.tolist()
    switch = keyword(element, flag, "false true auto", "auto")
    if switch == "auto" and (lower or upper):
        if not source.settings(element).autolimits:
            fail(element, f"has a {attribute} but no {flag}, and autolimits is off")
        if lower >= upper:
            source.notes.add(f"{element.tag} {attribute} that is not increasing", element, "no limit")
    if switch == "true" and lower >= upper:
        fail(element, f"{attribute}: lower {lower:g} is not below upper {upper:g}")
    return (lower, upper) if switch != "false" and lower < upper else None
