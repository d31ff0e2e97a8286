"""Equalities and tendons of MJCF files: what is refused, and what is listed."""

from __future__ import annotations

import numpy as np
import pytest

from mjcf_text import GEOM, scene, unsupported
from taction._core.errors import ModelError
from taction.model.compile import compile_model
from taction.model.shapes import Box
from taction.sim.simulation import Simulation

WORLD = f"""<site name="s"/>
    <body name="a"><joint name="j"/>{GEOM}<site name="z" type="box" size="1 2 3"/></body>
    <body name="b"><joint name="k"/>{GEOM}<body name="c"><joint name="l" type="ball"/>{GEOM}</body></body>"""


@pytest.mark.parametrize(
    "equality, reason",
    [
        ('<connect body1="a" body2="x" anchor="0 0 0"/>', "body 'x' does not exist"),
        ('<connect body1="a"/>', "has no attribute 'anchor'"),
        ('<connect body1="a" body2="a" anchor="0 0 0"/>', "joins body 'a' to itself"),
        ('<weld site1="s" site2="y"/>', "site2 'y' does not exist"),
        ('<weld site1="s" body2="a"/>', "names both sites and bodies"),
        ('<weld body1="a" relpose="0 0 0 1"/>', "relpose='0 0 0 1' needs 7 numbers"),
        ('<joint joint1="x"/>', "joint 'x' does not exist"),
        ('<joint joint1="l"/>', "joint 'l' is not a hinge or slide"),
        ('<joint joint1="j" polycoef="1 2 3 4 5 6"/>', "more than 5 numbers"),
        ('<joint joint1="j" active="maybe"/>', "active='maybe' must be one of"),
        ('<tendon tendon1="t"/>', "tendon 't' does not exist"),
        ('<weld name="e" body1="a"/><weld name="e" body1="b"/>', "the name 'e' is used twice"),
    ],
)
def test_equalities_that_are_refused(equality, reason):
    with pytest.raises(ModelError, match=reason):
        scene(WORLD, after=f"<equality>{equality}</equality>")


@pytest.mark.parametrize(
    "tendon, reason",
    [
        ('<fixed name="t"/>', "has no joints"),
        ('<fixed><joint joint="x" coef="1"/></fixed>', "joint 'x' does not exist"),
        ('<fixed><joint joint="l" coef="1"/></fixed>', "not a hinge or slide"),
        ('<fixed><joint joint="j"/></fixed>', "has no attribute 'coef'"),
        ('<fixed springlength="2 1"><joint joint="j" coef="1"/></fixed>', "2 is above 1"),
        ('<fixed springlength="2 1 3"><joint joint="j" coef="1"/></fixed>', "more than 2 numbers"),
        ('<spatial><site site="s"/></spatial>', "needs two sites"),
        ('<spatial><site site="s"/><site site="y"/></spatial>', "site 'y' does not exist"),
        ('<spatial><site site="s"/><site site="z"/><pulley/></spatial>', "positive divisor"),
    ],
)
def test_tendons_that_are_refused(tendon, reason):
    with pytest.raises(ModelError, match=reason):
        scene(WORLD, after=f"<tendon>{tendon}</tendon>")


def test_equalities_that_are_listed():
    _, message = unsupported(f"""<mujoco><worldbody>{WORLD}</worldbody>
      <tendon><spatial name="t"><site site="s"/><geom geom="g"/><site site="z"/></spatial></tendon>
      <equality><joint joint1="j" joint2="k" polycoef="0 1 2"/>
      <tendon tendon1="t"/><flex flex="f"/></equality></mujoco>""")
    for what in (
        "spatial/geom (model.xml:4)",
        "equality/joint of higher order (model.xml:5)",
        "equality/tendon of a spatial tendon (model.xml:6)",
        "equality/flex (model.xml:6)",
    ):
        assert what in message


def test_a_joint_that_is_held_stays():
    model = compile_model(scene(WORLD, after='<equality><joint joint1="j" polycoef="0.3"/></equality>'))
    (held,) = model.couplings
    assert (held.follower_v, held.leader_v, held.multiplier, held.offset) == (0, 1, 0.0, 0.3)
    run = Simulation(model, dt=1e-2).run(0.1, v=[1.0, 1.0, 0.0, 0.0, 0.0])
    assert np.all(run.q[:, 0] == 0.3) and run.q[-1, 1] > 0.09


def test_sites():
    spec = scene(WORLD)
    assert [(site.name, site.body) for site in spec.sites] == [("s", "world"), ("z", "a")]
    assert spec.sites[1].zone == Box((2.0, 4.0, 6.0))
