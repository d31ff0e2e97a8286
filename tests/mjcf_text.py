"""MJCF texts of one joint, one geom or one warning, for the tests of the loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from taction._core.errors import UnsupportedFeatureWarning
from taction.io.mjcf import parse_mjcf

DATA = Path(__file__).parent / "data" / "mjcf"
FILES = sorted(DATA.glob("*.xml"))
GEOM = '<geom size="0.1"/>'
TETRAHEDRON = 'vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3"'


def scene(world="", before="", after=""):
    """A model with this worldbody and these sections around it."""
    return parse_mjcf(f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>")


def one_joint(attributes, before="", after=""):
    return scene(f'<body name="b">{GEOM}<joint name="j" {attributes}/></body>', before, after).joint("j")


def one_geom(attributes, before="", body='<body name="b"><joint/><geom {}/></body>'):
    spec = scene(body.format(attributes), before)
    return spec.bodies[0].shapes[0], spec.bodies[0].inertia


def unsupported(text):
    """The text of the one warning that reading gives."""
    with pytest.warns(UnsupportedFeatureWarning) as caught:
        spec = parse_mjcf(text, file="model.xml")
    assert len(caught) == 1
    return spec, str(caught[0].message)
