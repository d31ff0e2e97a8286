"""What of MJCF is read, what is skipped in silence, and what is listed as not supported.

The survey walks the whole file once, before anything is built from it, so that a setting is found where it is
written (in a default class, say) and not once for every element that inherits it. An attribute is

* read: it has a meaning here;
* silent: it is drawn, logged or tunes MuJoCo's own solver (``rgba``, ``user``, ``iterations``), and says
  nothing about the mechanism;
* idle: it would change the physics, but has the value that switches it off (``margin="0"``);
* soft: it softens contacts, limits or dry friction (``solref``, ``solimp``), which are all rigid here.
  Listed, with that remark: a motion may differ by it;
* anything else, such as a setting of a newer MuJoCo: listed, by name, file and line, in one warning.

Friction cones are those of ``Simulation(contact=)``, round by default: ``cone="pyramidal"`` is listed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from taction._core.errors import UnsupportedFeatureWarning
from taction.io.xml import Element, floats

# Places written out per unsupported thing in the warning.
_PLACES_SHOWN = 8


@dataclass
class Notes:
    """What was met but is not supported: name → places."""

    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, element: Element) -> None:
        """Remember something unsupported."""
        self.places.setdefault(what, []).append(element.where)

    @property
    def summary(self) -> str:
        """Everything in one line, or nothing if all was supported."""
        listed = (f"{what} ({_shown(places)})" for what, places in sorted(self.places.items()))
        return "not supported: " + "; ".join(listed) if self.places else ""

    def warn(self, source: str, stacklevel: int) -> None:
        """Issue one warning that lists everything, or none if all was supported."""
        if self.places:
            warnings.warn(f"{source}: {self.summary}", UnsupportedFeatureWarning, stacklevel=stacklevel + 1)


def _shown(places: list[str]) -> str:
    more = len(places) - _PLACES_SHOWN
    return ", ".join(places[:_PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class _Rule:
    """What an element may hold.

    Attributes:
        numbers: attributes that are read and must be finite numbers.
        words: attributes that are read as text.
        silent: attributes that are skipped.
        soft: attributes that soften what is rigid here; listed as such.
        idle: attribute → values, separated by ``|``, at which it does nothing; otherwise it is listed.
        inside: children that have rules themselves.
        skip: children that are skipped.
    """

    numbers: str = ""
    words: str = ""
    silent: str = ""
    idle: Mapping[str, str] = field(default_factory=dict)
    inside: str = ""
    skip: str = ""
    soft: str = ""


_POSE = "pos quat axisangle euler xyaxes zaxis"
_TREE = "inertial joint freejoint geom site body frame"
_TENDON_NUMBERS = "range stiffness damping frictionloss armature springlength actuatorfrcrange"
_TENDON_WORDS = "name class limited actuatorfrclimited"
_TENDON_SILENT = "group width material rgba user"
_TENDON_SOFT = "solreflimit solimplimit solreffriction solimpfriction"
_TENDON_IDLE = {"margin": "0"}
_ACTUATOR_NUMBERS = "gear ctrlrange forcerange damping armature"
_ACTUATOR_WORDS = "name class joint jointinparent ctrllimited forcelimited"
_ACTUATOR_SILENT = "group user lengthrange cranklength interp nsample input"
_ACTUATOR_IDLE = {"delay": "0"}

# Every tag that stands for an actuator; those without a rule are listed where they are used.
ACTUATORS = frozenset(
    "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor "
    "plugin".split()
)

# By tag, or by the tag around it and its own where the same word means two things.
_RULES = {
    "mujoco": _Rule(
        words="model",
        inside="compiler option default asset worldbody contact equality tendon actuator keyframe",
        skip="visual statistic custom size sensor",
    ),
    "compiler": _Rule(
        numbers="boundmass boundinertia settotalmass inertiagrouprange",
        words="angle eulerseq autolimits coordinate meshdir assetdir strippath inertiafromgeom "
        "balanceinertia discardvisual",
        # fusing welded bodies changes no motion, and they are one link here in any case
        silent="texturedir usethread fusestatic fitaabb saveinertial savecompiled savecanonical conflict "
        "passthrough",
        idle={"alignfree": "false"},
        skip="lengthrange",
    ),
    "option": _Rule(
        numbers="timestep gravity",
        silent="integrator jacobian solver iterations tolerance ls_iterations ls_tolerance "
        "noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance "
        "sleep_tolerance sdf_iterations sdf_initpoints apirate",
        idle={"wind": "0", "density": "0", "viscosity": "0", "impratio": "1", "cone": "elliptic"},
        inside="flag",
    ),
    "flag": _Rule(
        words="gravity equality",
        silent="warmstart refsafe sensor midphase nativeccd island eulerdamp autoreset energy "
        "fwdinv invdiscrete multiccd sleep diagexact ipc speculative",
        idle={
            **dict.fromkeys("constraint frictionloss limit contact spring damper".split(), "enable"),
            **dict.fromkeys("clampctrl filterparent actuation".split(), "enable"),
            "override": "disable",
        },
    ),
    "default": _Rule(
        words="class",
        inside="default mesh joint geom site pair equality tendon general motor position velocity "
        "intvelocity cylinder",
        # classes of things that are drawn, or that are listed where they are used
        skip="texture material camera light orientation pid damper muscle adhesion dcmotor",
    ),
    "asset": _Rule(inside="mesh", skip="texture material skin"),
    "mesh": _Rule(
        numbers="scale refpos refquat vertex face",
        words="name class file inertia",
        silent="normal texcoord smoothnormal material content_type",
        idle={"maxhullvert": "-1"},
    ),
    "worldbody": _Rule(inside=_TREE, skip="camera light"),
    "frame": _Rule(
        numbers=_POSE, words="name childclass", idle={"scale": "1"}, inside=_TREE, skip="camera light"
    ),
    "body": _Rule(
        numbers=_POSE,
        words="name childclass",
        silent="user sleep simple fuse",
        idle={"mocap": "false", "gravcomp": "0"},
        inside=_TREE,
        skip="camera light",
    ),
    "inertial": _Rule(numbers=_POSE + " mass diaginertia fullinertia"),
    "joint": _Rule(
        numbers="pos axis ref springref range damping frictionloss armature stiffness actuatorfrcrange",
        words="name class type limited actuatorfrclimited",
        silent="group user",
        soft="solreflimit solimplimit solreffriction solimpfriction",
        idle={"margin": "0", "springdamper": "0", "springyield": "0", "actuatorgravcomp": "false"},
    ),
    "freejoint": _Rule(words="name", silent="group", idle={"align": "false|auto"}),
    "geom": _Rule(
        numbers=_POSE + " size fromto mass density friction contype conaffinity condim group priority",
        words="name class type mesh",
        silent="material rgba castshadow user fluidcoef fitscale hfield",
        soft="solref solimp solmix",
        idle={
            **dict.fromkeys("margin gap adhesion surfacevel".split(), "0"),
            "shellinertia": "false",
            "fluidshape": "none",
        },
    ),
    "site": _Rule(numbers=_POSE + " size fromto", words="name class type", silent="group material rgba user"),
    "contact": _Rule(inside="exclude pair"),
    "pair": _Rule(
        numbers="condim friction",
        words="name class geom1 geom2",
        soft="solref solimp solreffriction",
        idle={"margin": "0", "gap": "0"},
    ),
    "exclude": _Rule(words="name body1 body2"),
    "equality": _Rule(inside="connect weld joint tendon"),
    "connect": _Rule(
        numbers="anchor", words="name class active body1 body2 site1 site2", soft="solref solimp"
    ),
    "weld": _Rule(
        numbers="anchor relpose torquescale",
        words="name class active body1 body2 site1 site2",
        soft="solref solimp",
    ),
    "equality/joint": _Rule(
        numbers="polycoef", words="name class active joint1 joint2", soft="solref solimp"
    ),
    "equality/tendon": _Rule(
        numbers="polycoef", words="name class active tendon1 tendon2", soft="solref solimp"
    ),
    "default/equality": _Rule(words="active", soft="solref solimp"),
    "tendon": _Rule(inside="fixed spatial"),
    "fixed": _Rule(_TENDON_NUMBERS, _TENDON_WORDS, _TENDON_SILENT, _TENDON_IDLE, "joint", soft=_TENDON_SOFT),
    "spatial": _Rule(
        _TENDON_NUMBERS, _TENDON_WORDS, _TENDON_SILENT, _TENDON_IDLE, "site pulley", "geom", _TENDON_SOFT
    ),
    "default/tendon": _Rule(_TENDON_NUMBERS, _TENDON_WORDS, _TENDON_SILENT, _TENDON_IDLE, soft=_TENDON_SOFT),
    "fixed/joint": _Rule(numbers="coef", words="joint"),
    "spatial/site": _Rule(words="site"),
    "pulley": _Rule(numbers="divisor"),
    "actuator": _Rule(
        inside="general motor position velocity intvelocity cylinder",
        skip="damper muscle adhesion dcmotor pid orientation plugin",  # listed by the reader of actuators
    ),
    "motor": _Rule(_ACTUATOR_NUMBERS, _ACTUATOR_WORDS, _ACTUATOR_SILENT, _ACTUATOR_IDLE),
    "position": _Rule(
        _ACTUATOR_NUMBERS + " kp kv dampratio timeconst inheritrange",
        _ACTUATOR_WORDS,
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "velocity": _Rule(_ACTUATOR_NUMBERS + " kv", _ACTUATOR_WORDS, _ACTUATOR_SILENT, _ACTUATOR_IDLE),
    "intvelocity": _Rule(
        _ACTUATOR_NUMBERS + " kp kv dampratio inheritrange actrange",
        _ACTUATOR_WORDS + " actlimited",
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "cylinder": _Rule(
        _ACTUATOR_NUMBERS + " timeconst area diameter bias actrange",
        _ACTUATOR_WORDS + " actlimited",
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "general": _Rule(
        _ACTUATOR_NUMBERS + " gainprm biasprm dynprm actrange inheritrange",
        _ACTUATOR_WORDS + " gaintype biastype dyntype actlimited",
        # actdim, velrange and ffrange matter only with laws that are listed
        _ACTUATOR_SILENT + " actdim velrange ffrange",
        {**_ACTUATOR_IDLE, "actearly": "false"},
    ),
    "keyframe": _Rule(inside="key"),
    "key": _Rule(numbers="qpos qvel ctrl act", words="name", silent="time"),
}

# Attributes that name a target of an actuator other than a joint: the actuator as a whole is listed instead.
TRANSMISSIONS = ("tendon", "site", "refsite", "body", "cranksite", "slidersite")


def survey(root: Element, notes: Notes) -> None:
    """Note every element and attribute at or below ``root`` that is not supported.

    Raises:
        ModelError: an attribute that is read as numbers is something else.
    """
    waiting = [(root, "")]
    while waiting:
        element, around = waiting.pop()
        rule = _RULES.get(f"{around}/{element.tag}") or _RULES[element.tag]
        _survey_attributes(element, rule, notes)
        waiting.extend(
            (cast(Element, child), element.tag)
            for child in reversed(element)
            if child.tag in rule.inside.split()
        )
        for child in cast("list[Element]", list(element)):
            if child.tag in rule.inside.split():
                continue
            if child.tag in ("deformable", "extension") and len(child):
                for each in cast("list[Element]", list(child)):
                    notes.add(f"{child.tag}/{each.tag}", each)
            elif child.tag not in rule.skip.split():
                notes.add(child.tag if element.tag == "mujoco" else f"{element.tag}/{child.tag}", child)


def _survey_attributes(element: Element, rule: _Rule, notes: Notes) -> None:
    numbers, skipped = rule.numbers.split(), (rule.words + " " + rule.silent).split()
    for name, text in element.items():
        if name in numbers:
            _survey_numbers(element, name, notes)
        elif name in rule.soft.split():
            notes.add(f"{element.tag} {name} (rigid here)", element)
        elif name in rule.idle:
            if not any(_same(text, idle) for idle in rule.idle[name].split("|")):
                notes.add(f"{element.tag} {name}", element)
        elif name not in skipped and not (element.tag in ACTUATORS and name in TRANSMISSIONS):
            notes.add(f"{element.tag} {name}", element)


def _survey_numbers(element: Element, name: str, notes: Notes) -> None:
    values = floats(element, name)
    if values is None:
        return
    if name == "condim" and len(values) and values[0] > 3:
        notes.add(f"{element.tag} condim above 3 (torsional and rolling friction)", element)
    if name in ("damping", "stiffness") and values[1:].any():
        notes.add(f"{element.tag} {name} of higher order", element)


def _same(text: str, idle: str) -> bool:
    """Whether every word of an attribute equals the idle value, as text or as a number."""
    return all(word == idle or _as_number(word) == _as_number(idle) is not None for word in text.split())


def _as_number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
