"""Options of attached MJCF models: which hold, by what the model around them says of conflicts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from taction._core.errors import ModelError
from taction.io.mjcf import read_mjcf

CHILD = """<mujoco model="c">{}<worldbody><body name="x"><freejoint/><geom size="0.1"/></body></worldbody>
</mujoco>"""
MAIN = (
    '<mujoco><compiler conflict="{}"/>{}<asset><model name="c" file="c.xml"/></asset>'
    '<worldbody><attach model="c" body="x" prefix="p"/></worldbody></mujoco>'
)


def attached(folder, policy, own, child):
    (folder / "c.xml").write_text(CHILD.format(child))
    (folder / "main.xml").write_text(MAIN.format(policy, own))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what does not hold is listed
        return read_mjcf(folder / "main.xml")


@pytest.mark.parametrize(
    ("policy", "own", "child", "timestep", "gravity"),
    [
        ("warning", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.002, -9.81),
        ("error", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.002, -9.81),
        ("merge", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.02, -1.0),
        ("merge", '<option timestep="0.01"/>', '<option timestep="0.02" gravity="0 0 -1"/>', 0.01, -1.0),
        ("merge", '<option timestep="0.01"/>', '<option timestep="0.001"/>', 0.001, -9.81),
        ("merge", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -1.0"/>', 0.002, -1.0),
        ("merge", '<option gravity="0 0 -1"/>', '<option><flag gravity="disable"/></option>', 0.002, 0.0),
        ("warning", "", '<option><flag gravity="disable"/></option>', 0.002, -9.81),
    ],
)
def test_which_options_of_an_attached_model_hold(tmp_path, policy, own, child, timestep, gravity):
    spec = attached(tmp_path, policy, own, child)
    assert spec.timestep == timestep and spec.gravity == (0.0, 0.0, gravity)


@pytest.mark.parametrize(
    ("policy", "own", "child"),
    [
        ("merge", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -2"/>'),
        ("error", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -2"/>'),
        ("error", '<option timestep="0.1"/>', '<option timestep="0.2"/>'),
        (
            "error",
            '<option><flag contact="enable"/></option>',
            '<option><flag contact="disable"/></option>',
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path, policy, own, child):
    with pytest.raises(
        ModelError, match=f"c.xml:1: .* conflict='{policy}'> refuses it; write conflict='warning'"
    ):
        attached(tmp_path, policy, own, child)


@pytest.mark.parametrize("policy", ["warning", "merge", "error"])
def test_mujoco_says_the_same(tmp_path, policy):
    mujoco = pytest.importorskip("mujoco")
    for own in ("", '<option timestep="0.01"/>', '<option gravity="0 0 -5"/>'):
        for child in (
            "",
            '<option timestep="0.003"/>',
            '<option gravity="0 0 -1"><flag contact="disable"/></option>',
        ):
            try:
                spec = attached(tmp_path, policy, own, child)
            except ModelError:
                spec = None
            try:
                model = mujoco.MjModel.from_xml_path(str(tmp_path / "main.xml"))
            except ValueError:
                assert spec is None, (own, child)
                continue
            assert spec is not None, (own, child)
            assert spec.timestep == model.opt.timestep
            np.testing.assert_array_equal(spec.gravity, model.opt.gravity)
            is_off = bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT)
            assert spec.bodies[0].shapes[0].collides != is_off
