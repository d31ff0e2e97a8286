"""The vocabulary of MJCF: which elements and attributes are read, skipped or listed, and what is lost by it.

`RULES` says it per element, `CHANGES` in a few words what a thing changes that is listed.
`taction.io.mjcf_survey` walks a file by these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
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
_TREE = "inertial joint freejoint geom site body frame attach replicate"
_TENDON_NUMBERS = "range stiffness damping frictionloss armature springlength actuatorfrcrange"
_TENDON_LIMITS = "limited actuatorfrclimited"
_TENDON_WORDS = "name class " + _TENDON_LIMITS
_TENDON_SILENT = "group width material rgba user"
_TENDON_SOFT = "solreflimit solimplimit solreffriction solimpfriction"
_TENDON_IDLE = {"margin": "0"}
_ACTUATOR_NUMBERS = "gear ctrlrange forcerange damping armature"
_ACTUATOR_WORDS = "name class joint jointinparent ctrllimited forcelimited"
_ACTUATOR_SILENT = "group user lengthrange cranklength interp nsample"
_ACTUATOR_IDLE = {"delay": "0"}

# Every tag that stands for an actuator; those without a rule are listed where they are used.
ACTUATORS = frozenset(
    "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor "
    "plugin".split()
)

# By tag, or by the tag around it and its own where the same word means two things.
RULES = {
    "mujoco": Rule(
        words="model",
        inside="compiler option default asset worldbody contact equality tendon actuator keyframe",
        skip="visual statistic custom size sensor",
    ),
    "compiler": Rule(
        numbers="boundmass boundinertia settotalmass inertiagrouprange",
        words="angle eulerseq autolimits coordinate meshdir assetdir strippath inertiafromgeom "
        "balanceinertia discardvisual conflict",
        # fusing welded bodies changes no motion, and they are one link here in any case
        silent="texturedir usethread fusestatic fitaabb saveinertial savecompiled savecanonical passthrough",
        idle={"alignfree": "false"},
        skip="lengthrange",
    ),
    "option": Rule(
        numbers="timestep gravity actuatorgroupdisable",
        silent="integrator jacobian solver iterations "
        "tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance ccd_iterations "
        "ccd_tolerance mpr_iterations mpr_tolerance sleep_tolerance sdf_iterations sdf_initpoints apirate",
        idle={"wind": "0", "density": "0", "viscosity": "0", "impratio": "1", "cone": "elliptic"},
        inside="flag",
    ),
    "flag": Rule(
        words="gravity constraint equality frictionloss limit contact spring damper clampctrl actuation",
        silent="warmstart refsafe midphase nativeccd island eulerdamp autoreset energy "
        "fwdinv invdiscrete multiccd sleep diagexact ipc speculative",
        idle={"filterparent": "enable", "override": "disable", "sensor": "enable"},
    ),
    "default": Rule(
        words="class",
        inside="default mesh material joint geom site pair equality tendon general motor position velocity "
        "intvelocity cylinder",
        # classes of things that are drawn, or that are listed where they are used
        skip="texture camera light orientation pid damper muscle adhesion dcmotor",
    ),
    "asset": Rule(inside="mesh model material", skip="texture skin"),
    "material": Rule(
        numbers="rgba",
        words="name class",
        silent="texture texrepeat texuniform emission specular shininess reflectance metallic roughness",
        skip="layer",
    ),
    "model": Rule(words="name file", silent="content_type"),
    "attach": Rule(words="model body frame prefix"),
    "replicate": Rule(
        numbers="count offset euler", words="sep childclass", inside=_TREE, skip="camera light"
    ),
    "mesh": Rule(
        numbers="scale refpos refquat vertex face",
        words="name class file inertia material",
        silent="normal texcoord smoothnormal content_type",
        idle={"maxhullvert": "-1"},
    ),
    "worldbody": Rule(inside=_TREE, skip="camera light"),
    "frame": Rule(
        numbers=_POSE,
        words="name childclass",
        silent="scaling",  # matters with a scale, which is listed
        idle={"scale": "1", "massscale": "0|1"},
        inside=_TREE,
        skip="camera light",
    ),
    "body": Rule(
        numbers=_POSE + " gravcomp",
        words="name childclass",
        silent="user sleep simple fuse",
        idle={"mocap": "false"},
        inside=_TREE,
        skip="camera light",
    ),
    "inertial": Rule(numbers=_POSE + " mass diaginertia fullinertia"),
    "joint": Rule(
        numbers="pos axis ref springref range damping frictionloss armature stiffness actuatorfrcrange "
        "springdamper",
        words="name class type limited actuatorfrclimited",
        silent="group user",
        soft="solreflimit solimplimit solreffriction solimpfriction",
        idle={"margin": "0", "springyield": "0", "actuatorgravcomp": "false"},
    ),
    "freejoint": Rule(words="name", silent="group", idle={"align": "false|auto"}),
    "geom": Rule(
        numbers=_POSE + " size fromto mass density friction contype conaffinity condim group priority rgba",
        words="name class type mesh material",
        silent="castshadow user fluidcoef fitscale hfield",
        soft="solref solimp solmix",
        idle={
            **dict.fromkeys("margin gap adhesion surfacevel".split(), "0"),
            "shellinertia": "false",
            "fluidshape": "none",
        },
    ),
    "site": Rule(numbers=_POSE + " size fromto", words="name class type", silent="group material rgba user"),
    "contact": Rule(inside="exclude pair"),
    "pair": Rule(
        numbers="condim friction",
        words="name class geom1 geom2",
        soft="solref solimp solreffriction",
        idle=dict.fromkeys(("margin", "gap", "adhesion"), "0"),
    ),
    "exclude": Rule(words="name body1 body2"),
    "equality": Rule(inside="connect weld joint tendon"),
    "connect": Rule(
        numbers="anchor", words="name class active body1 body2 site1 site2", soft="solref solimp"
    ),
    "weld": Rule(
        numbers="anchor relpose torquescale",
        words="name class active body1 body2 site1 site2",
        soft="solref solimp",
    ),
    "equality/joint": Rule(numbers="polycoef", words="name class active joint1 joint2", soft="solref solimp"),
    "equality/tendon": Rule(
        numbers="polycoef", words="name class active tendon1 tendon2", soft="solref solimp"
    ),
    "default/equality": Rule(words="active", soft="solref solimp"),
    "tendon": Rule(inside="fixed spatial"),
    "fixed": Rule(
        _TENDON_NUMBERS,
        _TENDON_WORDS,
        _TENDON_SILENT,
        _TENDON_IDLE,
        "joint",
        soft=_TENDON_SOFT,
    ),
    "spatial": Rule(
        _TENDON_NUMBERS,
        _TENDON_WORDS,
        _TENDON_SILENT,
        _TENDON_IDLE,
        "site pulley",
        "geom",
        _TENDON_SOFT,
    ),
    "default/tendon": Rule(_TENDON_NUMBERS, _TENDON_LIMITS, _TENDON_SILENT, _TENDON_IDLE, soft=_TENDON_SOFT),
    "fixed/joint": Rule(numbers="coef", words="joint"),
    "spatial/site": Rule(words="site"),
    "pulley": Rule(numbers="divisor"),
    "actuator": Rule(
        inside="general motor position velocity intvelocity cylinder",
        skip="damper muscle adhesion dcmotor pid orientation plugin",  # listed by the reader of actuators
    ),
    "motor": Rule(_ACTUATOR_NUMBERS, _ACTUATOR_WORDS, _ACTUATOR_SILENT, _ACTUATOR_IDLE),
    "position": Rule(
        _ACTUATOR_NUMBERS + " kp kv dampratio timeconst inheritrange",
        _ACTUATOR_WORDS,
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "velocity": Rule(_ACTUATOR_NUMBERS + " kv", _ACTUATOR_WORDS, _ACTUATOR_SILENT, _ACTUATOR_IDLE),
    "intvelocity": Rule(
        _ACTUATOR_NUMBERS + " kp kv dampratio inheritrange actrange",
        _ACTUATOR_WORDS + " actlimited",
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "cylinder": Rule(
        _ACTUATOR_NUMBERS + " timeconst area diameter bias actrange",
        _ACTUATOR_WORDS + " actlimited",
        _ACTUATOR_SILENT,
        _ACTUATOR_IDLE,
    ),
    "general": Rule(
        _ACTUATOR_NUMBERS + " gainprm biasprm dynprm actrange inheritrange",
        _ACTUATOR_WORDS + " gaintype biastype dyntype actlimited",
        # these matter only with laws that are listed
        _ACTUATOR_SILENT + " actdim velrange ffrange input",
        {**_ACTUATOR_IDLE, "actearly": "false"},
    ),
    "keyframe": Rule(inside="key"),
    "key": Rule(numbers="qpos qvel ctrl act", words="name", silent="time"),
}

# Attributes that name a target of an actuator other than a joint: the actuator as a whole is listed instead.
TRANSMISSIONS = ("tendon", "site", "refsite", "body", "cranksite", "slidersite")

# What something changes that is listed, by element and attribute, by attribute, or by element.
CHANGES = {
    "alignfree": "free bodies keep the frames they are written in",
    "wind": "no forces of a fluid",
    "density": "no forces of a fluid",
    "viscosity": "no forces of a fluid",
    "fluidshape": "no forces of a fluid",
    "impratio": "rigid here",
    "cone": "friction is that of Simulation(contact=), round by default",
    "filterparent": "a body does not touch its parent",
    "override": "contacts keep their own parameters",
    **dict.fromkeys(("o_margin", "o_solref", "o_solimp", "o_friction"), "contacts keep their own parameters"),
    "magnetic": "no magnetometers",
    "flag sensor": "sensors are read all the same",
    "maxhullvert": "the whole convex hull collides",
    "mocap": "fixed where the file puts it",
    "joint margin": "the stop acts at the limit",
    "tendon margin": "the limit acts where it is",
    "fixed margin": "the limit acts where it is",
    "spatial margin": "the limit acts where it is",
    "margin": "contact begins where surfaces meet",
    "gap": "contact begins where surfaces meet",
    "springyield": "the spring does not yield",
    "actuatorgravcomp": "gravity compensation is no actuator force",
    "align": "the body keeps the frame it is written in",
    "adhesion": "no adhesion",
    "surfacevel": "the surface does not move",
    "shellinertia": "mass fills the volume",
    "builtin": "no shape",
    "scale": "sizes are those written",
    "massscale": "masses are those written",
    "delay": "acts at once",
    "actearly": "the activation acts a step later",
    "composite": "these bodies are missing",
    "flexcomp": "these bodies are missing",
    "flex": "these bodies are missing",
    "hfield": "no terrain",
    "plugin": "no forces of a plugin",
}
