"""Loading takes work in proportion to the size of a file: calls are counted, not seconds."""

import cProfile
import pstats

import pytest

from taction.io.mjcf import load_mjcf

PARTS = {
    "spatial tendons with springs": (
        "tendon", '<spatial stiffness="1"><site site="s0"/><site site="s{i}"/></spatial>',
    ),
    "fixed tendons": ("tendon", '<fixed stiffness="1"><joint joint="j{i}" coef="2"/></fixed>'),
    "damping ratios": ("actuator", '<position joint="j{i}" kp="3" dampratio="1"/>'),
    "joints held": ("equality", '<joint joint1="j{i}"/>'),
}  # fmt: skip


def text(n: int, section: str, part: str) -> str:
    bodies = "".join(
        f'<body pos="{i} 0 0"><joint name="j{i}" type="slide"/><geom size="0.1"/><site name="s{i}"/></body>'
        for i in range(n)
    )
    parts = "".join(part.format(i=i) for i in range(1, n))
    return f"<mujoco><worldbody>{bodies}</worldbody><{section}>{parts}</{section}></mujoco>"


def calls(source: str) -> int:
    profile = cProfile.Profile()
    profile.enable()
    load_mjcf(source)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize("what", PARTS)
def test_twice_the_parts_take_twice_the_calls(what):
    few, many = calls(text(20, *PARTS[what])), calls(text(40, *PARTS[what]))
    assert many < 2.1 * few
