"""Pieces of URDF text, for the tests of the loader."""

from __future__ import annotations

from typing import Any

from taction.io.urdf import parse_urdf
from taction.model.spec import JointSpec

INERTIAL = """<inertial><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>"""


def robot(*parts: str, attributes: str = 'name="r"') -> str:
    return f"<robot {attributes}>\n" + "\n".join(parts) + "\n</robot>"


def link(name: str, *parts: str) -> str:
    return f'<link name="{name}">{"".join(parts)}</link>'


def joint(
    name: str, parent: str, child: str, *parts: str, kind: str = "revolute", axis: str = '<axis xyz="0 0 1"/>'
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{axis}{"".join(parts)}</joint>'


def shape(geometry: str, origin: str = "") -> str:
    return f"<collision>{origin}<geometry>{geometry}</geometry></collision>"


def inertial(mass: str = "1", ixx: str = "1", iyy: str = "1", izz: str = "1", ixy: str = "0") -> str:
    entries = f'ixx="{ixx}" ixy="{ixy}" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"'
    return f'<inertial><mass value="{mass}"/><inertia {entries}/></inertial>'


def one_joint(*parts: str, **options: Any) -> JointSpec:
    return parse_urdf(robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", *parts, **options))).joint(
        "j"
    )
