"""Scenes of MJCF with a hole for the attributes of one element, and how two texts are made of each.

A *row* of a table is an element, a scene, and lines

    attribute: one value | another value & attributes that both have

where nothing before or after the bar stands for no such attribute. The rows are in `mjcf_attributes`.
"""

from __future__ import annotations

from typing import NamedTuple

from mjcf_text import DATA, TETRAHEDRON

HOLE = "{}"
Row = tuple[str, str, str]

# ----- Scenes -----------------------------------------------------------------------------------------------

CLASSES = """<default><default class="other"><mesh scale="2 2 2"/><material rgba="0 0 1 1"/>
<joint damping="5" frictionloss="1"/><geom size="0.3" friction="0.2" density="3000"/><site pos="0.1 0.2 0"/>
<pair friction="0.1"/><equality active="false"/><tendon damping="7"/><general gear="5"/></default></default>
<asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/>
<material name="grey" rgba="0 0 0 1"/></asset>"""
BALL = '<geom size="0.1" pos="0.2 0.1 0"/>'
FLOOR = '<geom name="floor" type="plane" size="9 9 1"/>'
MESH = f'<asset><mesh name="m" {TETRAHEDRON}/></asset>'
SLIDE = (
    '<body name="{0}" pos="{1} 0 1"><joint name="{0}" type="slide" axis="0 0 1" {3}/>'
    '<geom name="{0}" size="0.1"/>{2}</body>'
)
SITE = '<site name="{}" pos="0.1 0 0.02"/>'
# Two bodies that slide up and down, the second within limits, and sites of the world.
BODIES = (
    SLIDE.format("a", 0, SITE.format("s") + SITE.format("r").replace("0.02", "0.03"), "")
    + SLIDE.format("b", 0.5, SITE.format("u"), 'range="-1 2"')
    + '<site name="t" pos="0.5 0 3"/><site name="e" pos="0.5 1 3"/>'
)
# A body that nothing holds, with two sites beside those of the first one, and a body in a ball joint.
LOOSE = (
    '<body name="c" pos="0.1 0 1.02"><freejoint/><geom size="0.1" name="c" contype="0" conaffinity="0"/>'
    '<site name="v" pos="0 0.001 0"/><site name="w" pos="0.001 0 0"/></body>'
)
SOCKET = '<body name="d" pos="0 4 1"><joint name="ball" type="ball"/><geom size="0.1" pos="0 0 -0.2"/></body>'
FIXED = '<joint joint="a" coef="1"/>'
SPATIAL = '<site site="s"/><site site="t"/>'
TENDONS = (
    '<tendon><fixed name="t" range="-1 3"><joint joint="a" coef="2"/><joint joint="b" coef="1"/></fixed>'
    '<fixed name="u" range="-1 4"><joint joint="a" coef="3"/></fixed>'
    '<fixed name="w"><joint joint="b" coef="1"/></fixed></tendon>'
)


def scene(inside: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}{CLASSES}<worldbody>{inside}</worldbody>{after}</mujoco>"


def joint(kind: str = "", more: str = "") -> str:
    return scene(f'<body pos="0 0 1" euler="0 80 0"><joint name="j" {kind} {{}}/>{BALL}{more}</body>')


def pendulum(inside: str) -> str:
    """A body with two geoms, the second in a body of its own."""
    return scene(f'<body pos="0 0 1"><joint name="j" axis="1 0.2 0"/><geom size="0.1"/>{inside}</body>')


def resting(geom: str, floor: str = "") -> str:
    """A ball that touches a floor."""
    return scene(
        FLOOR.replace("/>", f" {floor}/>") + f'<body name="b" pos="0 0 0.1"><freejoint/>{geom}</body>'
    )


def driven(tag: str) -> str:
    return scene(BODIES, after=f"{TENDONS}<actuator><{tag} {{}}/></actuator>")


def turned(tag: str) -> str:
    return scene(SOCKET, after=f"<actuator><{tag} joint='ball' gear='1 0 0' {{}}/></actuator>")


def tied(tag: str) -> str:
    is_of_lengths = tag.split(maxsplit=1)[0] in ("joint", "tendon")
    inside = BODIES if is_of_lengths else BODIES + LOOSE + SOCKET
    return scene(inside, after=f"{TENDONS if is_of_lengths else ''}<equality><{tag} {{}}/></equality>")


def strung(tag: str, attributes: str = HOLE, inside: str = "", before: str = "") -> str:
    """A tendon, its motor, and bodies that it pulls."""
    inside = inside or (FIXED if tag == "fixed" else SPATIAL)
    tendon = f'<tendon><{tag} name="t" {attributes}>{inside}</{tag}></tendon>'
    return scene(BODIES, before, f'{tendon}<actuator><motor tendon="t"/></actuator>')


def in_class(tag: str) -> tuple[str, str]:
    """What to replace in a scene by what, so that its hole is in a class "x" of that element."""
    end = "</default></default>"
    return end, f'</default><default class="x"><{tag} {HOLE}/>{end}'


def compiled(body: str = "", asset: str = "") -> str:
    """A body that is tilted, within limits, driven, and seen."""
    return (
        f'<mujoco><compiler {{}}/>{asset}<worldbody><body pos="0 0 1" euler="10 20 30">'
        f'<joint name="j" axis="1 1 0" range="0 0.5"/>{body}<geom size="0.1" contype="0" conaffinity="0"/>'
        '</body></worldbody><actuator><motor joint="j"/></actuator></mujoco>'
    )


INERTIAL = '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.{}5"/>'
SWITCHED = (
    "<mujoco><option><flag {}/></option><worldbody>" + FLOOR
    + '<body pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>'
    + SLIDE.format("a", 2, "", 'stiffness="50" springref="0.1"') + SLIDE.format("b", 4, "", 'damping="9"')
    + SLIDE.format("d", 8, "", 'frictionloss="3"') + SLIDE.format("c", 6, "", 'range="-1 0.001"')
    + SLIDE.format("e", 10, "", "") + SLIDE.format("f", 12, SLIDE.format("g", 0.15, "", ""), "")
    + '</worldbody><equality><joint joint1="e" joint2="f"/></equality><actuator><motor joint="e" '
    'ctrlrange="-0.2 0.2"/></actuator><sensor><jointpos joint="a"/></sensor></mujoco>'
)  # fmt: skip
ATTACHED = (
    f'<mujoco><compiler {{}}/><asset><model name="m" file="{DATA}/arm.xml"/></asset><worldbody>'
    '<attach model="m" body="base" prefix="p"/></worldbody></mujoco>'
)

# ----- Lines that several elements share --------------------------------------------------------------------


def given(lines: str, context: str, without: str = "") -> str:
    """Lines with a context for each that has none, but for the attributes ``without``."""
    kept = [
        line
        for line in filter(str.strip, lines.splitlines())
        if line.split(":")[0].strip() not in without.split()
    ]
    return "\n".join(line if "&" in line else f"{line} & {context}" for line in kept) + "\n"


POSES = """
    pos: 0 0 0 | 0.1 0.2 0.3
    quat: 1 0 0 0 | 1 0.2 0.3 0.4
    axisangle: 1 0 0 0 | 1 0 0 30
    euler: 0 0 0 | 30 40 50
    xyaxes: 1 0 0 0 1 0 | 0 1 0 -1 0 0.2
    zaxis: 0 0 1 | 1 0 1
"""
SOFT_FRICTION = """
    solreffriction: | 0.1 1
    solimpfriction: | 0.8 0.9 0.01
"""
SOFT_LIMIT = f"""
    solreflimit: | 0.1 1
    solimplimit: | 0.8 0.9 0.01
    {SOFT_FRICTION}
"""
SOFT = """
    solref: | 0.1 1
    solimp: | 0.8 0.9 0.01
"""
TENDON_FORCES = f"""
    range: -1 0.001 | -1 1
    limited: true | false & range="-1 0.001"
    stiffness: 0 | 50 & springlength="0.1"
    springlength: 0.1 | 0.5 & stiffness="50"
    damping: 0 | 5
    frictionloss: 0 | 3
    armature: 0 | 5
    actuatorfrcrange: | -0.1 0.1
    actuatorfrclimited: true | false & actuatorfrcrange="-0.1 0.1"
    margin: 0 | 0.1 & range="-1 0.001"
    group: 0 | 2
    user: 0 | 1
    width: 0.01 | 0.02
    material: | grey
    rgba: 1 0 0 1 | 0 1 0 1
    {SOFT_LIMIT}
"""
TENDON = TENDON_FORCES + "\n name: t | v \n class: | other"
EQUALITY = f"""
    name: x | y
    class: | other
    active: true | false
    {SOFT}
"""
DRIVEN = """
    name: x | y & joint="b"
    class: | other & joint="b"
    joint: a | b
    jointinparent: a | b
    tendon: t | u
    gear: 1 | 3 & joint="b"
    ctrlrange: -1 1 | -0.2 0.2 & joint="b"
    ctrllimited: true | false & joint="b" ctrlrange="-0.2 0.2"
    forcerange: -1 1 | -1e-5 1e-5 & joint="b"
    forcelimited: true | false & joint="b" forcerange="-1e-5 1e-5"
    damping: 0 | 5 & joint="b"
    armature: 0 | 5 & joint="b"
    delay: 0 | 0.004 & joint="b" nsample="3"
    interp: zoh | linear & joint="b"
    nsample: 2 | 5 & joint="b"
    group: 0 | 2 & joint="b"
    user: 0 | 1 & joint="b"
    lengthrange: 0 1 | 0 2 & joint="b"
    cranklength: 0 | 1 & joint="b"
"""
SERVO = """
    kp: 1 | 50 & joint="b"
    kv: 1 | 50 & joint="b" kp="5"
    dampratio: 0.5 | 2 & joint="b" kp="5"
    inheritrange: 0.1 | 0.2 & joint="b"
"""

# ----- Texts ---------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """An attribute of an element in a scene, at two values."""

    element: str
    attribute: str
    texts: tuple[str, str]


def cases(table: list[Row]) -> list[Case]:
    """All lines of a table."""
    out = []
    for element, text, lines in table:
        for line in filter(None, map(str.strip, lines.splitlines())):
            attribute, _, rest = line.partition(":")
            values, _, context = rest.partition("&")
            one, other = (value.strip() for value in values.split("|"))
            written = [f'{attribute}="{value}" {context}' if value else context for value in (one, other)]
            out.append(
                Case(element, attribute, (text.replace(HOLE, written[0]), text.replace(HOLE, written[1])))
            )
    return out
