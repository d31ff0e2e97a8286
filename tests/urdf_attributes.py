"""For every attribute of every element of URDF that is read, two values in a scene where it could matter.

What a row means: `mjcf_scenes`. `identity/test_urdf_attributes` reads both texts, moves both, and wants a
difference.
"""

from __future__ import annotations

from mjcf_scenes import HOLE, Row
from mjcf_text import DATA

BALL = '<mass value="2"/><inertia ixx="0.3" ixy="0" ixz="0" iyy="0.25" iyz="0" izz="0.2"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0.05 0.02"/>{BALL}</inertial>'
COLLISION = '<collision><origin xyz="0 0 -0.25"/><geometry>{}</geometry></collision>'
PARTS = '<link name="top"/><link name="arm">{0}</link><link name="end">' + INERTIAL + "</link>"
SECOND = (
    '<joint name="j2" type="revolute"><origin xyz="0.3 0 0"/><parent link="arm"/><child link="end"/>'
    '<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/></joint>'
)
FIRST = (
    '<joint name="j1" type="continuous"><parent link="top"/><child link="arm"/><axis xyz="0.3 1 0.2"/>'
    "{0}</joint>"
)


def robot(inside: str = INERTIAL, first: str = FIRST.format(""), second: str = SECOND) -> str:
    """Two links in a row that hang from a third one."""
    return f'<robot name="r">{PARTS.format(inside)}{first}{second}</robot>'


def touching(shape: str, collision: str = COLLISION) -> str:
    """Its first link touches a floor 0.3 m below, or almost."""
    return robot(INERTIAL + collision.format(shape))


def single(kind: str, inside: str) -> str:
    joint = FIRST.replace("continuous", kind).replace('<axis xyz="0.3 1 0.2"/>', "")
    return robot(first=joint.format(inside))


TABLE: list[Row] = [
    ("robot", robot().replace('name="r"', "{}"), "name: a | b \n version: 1.0 | 1.1 & name=\"a\""),
    ("link", robot().replace('"arm"', '"x"', 1).replace('<link name="x"', "<link {}"), "name: arm | other"),
    ("origin", robot(INERTIAL.replace('<origin xyz="0.1 0.05 0.02"/>', "<origin {}/>")), """
        xyz: 0 0 0.1 | 0.1 0.2 0
        rpy: 0 0 0 | 0.1 0.2 0.3 & xyz="0.1 0 0"
        """),
    ("origin", robot(second=SECOND.replace('<origin xyz="0.3 0 0"/>', "<origin {}/>")), """
        xyz: 0.3 0 0 | 0.4 0.2 0
        rpy: 0 0 0 | 0.1 0.2 0.3
        """),
    ("origin", touching('<box size="0.1 0.1 0.1"/>').replace('<origin xyz="0 0 -0.25"/>', "<origin {}/>"), """
        xyz: 0 0 -0.2502 | 0 0 0
        rpy: 0 0 0 | 0.5 0 0 & xyz="0 0 -0.2502"
        """),
    ("mass", robot(INERTIAL.replace('value="2"', HOLE)), "value: 2 | 3"),
    ("inertia", robot(INERTIAL.partition("<inertia ")[0] + "<inertia {}/></inertial>"), """
        ixx: 0.3 | 0.35 & ixy="0" ixz="0" iyy="0.25" iyz="0.03" izz="0.2"
        ixy: 0 | 0.02 & ixx="0.3" ixz="0" iyy="0.25" iyz="0" izz="0.2"
        ixz: 0 | 0.02 & ixx="0.3" ixy="0.03" iyy="0.25" iyz="0" izz="0.2"
        iyy: 0.25 | 0.3 & ixx="0.3" ixy="0" ixz="0" iyz="0" izz="0.2"
        iyz: 0 | 0.02 & ixx="0.3" ixy="0" ixz="0" iyy="0.25" izz="0.2"
        izz: 0.2 | 0.22 & ixx="0.3" ixy="0" ixz="0" iyy="0.25" iyz="0"
        """),
    ("collision", touching('<sphere radius="0.05"/>').replace("<collision", "<collision {}"), "name: a | b"),
    ("geometry", touching('<sphere radius="0.05"/>').replace("<geometry", "<geometry {}"), "name: a | b"),
    ("box", touching("<box {}/>"), "size: 0.1 0.1 0.1 | 0.1 0.1 0.12"),
    ("sphere", touching("<sphere {}/>"), "radius: 0.05 | 0.06"),
    ("cylinder", touching("<cylinder {}/>"), """
        radius: 0.05 | 0.06 & length="0.12"
        length: 0.1 | 0.12 & radius="0.05"
        """),
    ("capsule", touching("<capsule {}/>"), """
        radius: 0.02 | 0.04 & length="0.06"
        length: 0.06 | 0.12 & radius="0.02"
        """),
    ("mesh", touching("<mesh {}/>"), f"""
        filename: {DATA}/parts/channel.obj | {DATA}/parts/none.obj & scale="0.1 0.1 0.1"
        scale: 0.1 0.1 -0.04 | 0.1 0.1 -0.06 & filename="{DATA}/parts/channel.obj"
        """),
    ("joint", robot(second=SECOND.replace('name="j2" type="revolute"', HOLE)), """
        name: a | b & type="revolute"
        type: revolute | prismatic & name="a"
        dont_collapse: false | true & name="a" type="revolute"
        """),
    ("parent", robot(second=SECOND.replace('<parent link="arm"', "<parent {}")), "link: arm | top"),
    ("child", robot(second=SECOND.replace('<child link="end"', "<child {}")), "link: end | none"),
    ("axis", robot(second=SECOND.replace('<axis xyz="0 1 0"', "<axis {}")), "xyz: 0 1 0 | 0 1 0.5"),
    ("axis", single("planar", "<axis {}/>"), "xyz: 0 0 1 | 0 1 0.5"),
    ("axis2", single("universal", '<axis xyz="1 0 0"/><axis2 {}/>'), "xyz: 0 1 0 | 0 1 0.5"),
    ("limit", single("revolute", '<axis xyz="0 1 0"/><limit {}/>'), """
        lower: -1 | 0 & upper="1" effort="1" velocity="1"
        effort: 1 | 2 & lower="-1" upper="1" velocity="1"
        velocity: 1 | 2 & lower="-1" upper="1" effort="1"
        """),
    ("limit", robot(second=SECOND.replace('lower="-2" upper="2" effort="9" velocity="9"', HOLE)), """
        upper: 1 | 0.001 & lower="-1" effort="1" velocity="1"
        """),
    ("limit", single("planar", '<axis xyz="0 0 1"/><limit {}/>'), "lower: | -1 \n upper: | 1"),
    ("dynamics", robot(first=FIRST.format("<dynamics {}/>")), "damping: 0 | 5 \n friction: 0 | 5"),
    ("dynamics", single("spherical", "<dynamics {}/>"), "damping: 0 | 5 \n friction: 0 | 5"),
    ("dynamics", single("planar", '<axis xyz="0 0 1"/><dynamics {}/>'), "damping: 0 | 5 \n friction: 0 | 5"),
    ("mimic", robot(second=SECOND.replace("</joint>", "<mimic {}/></joint>")), """
        joint: j1 | none
        multiplier: 1 | 2 & joint="j1"
        offset: 0 | 0.1 & joint="j1"
        """),
]  # fmt: skip
