"""Defaults and includes of MJCF files."""

from __future__ import annotations

import numpy as np
import pytest

from mjcf_text import one_geom, scene
from taction._core.errors import ModelError
from taction.io.mjcf import read_mjcf
from taction.model.shapes import Box, Sphere

# ----- Defaults and includes --------------------------------------------------------------------------------


CLASSES = """<default><geom size="1" friction="0.1 0.2"/><default class="a"><geom size="2"/>
  <default class="b"><geom type="box" size="3 4"/></default></default><geom size="1 8 9"/></default>"""


@pytest.mark.parametrize(
    "geom, geometry",
    [
        ("<geom/>", Sphere(1.0)),
        ('<geom class="a"/>', Sphere(2.0)),
        ('<geom class="b"/>', Box((6.0, 8.0, 18.0))),
        ('<geom class="b" size="5"/>', Box((10.0, 8.0, 18.0))),
        ('<frame childclass="a"><geom/></frame>', Sphere(2.0)),
        ('<frame childclass="a"><frame childclass="b"><geom class="main"/></frame></frame>', Sphere(1.0)),
    ],
)
def test_default_classes(geom, geometry):
    assert scene(geom, CLASSES).ground[0].geometry == geometry


def test_childclass_reaches_grandchildren():
    spec = scene('<body childclass="a"><body name="in"><geom/></body></body>', CLASSES)
    assert spec.body("in").shapes[0].geometry == Sphere(2.0)


def test_own_orientation_replaces_inherited():
    shape, _ = one_geom('size="1" zaxis="0 0 1"', '<default><geom euler="90 0 0"/></default>')
    np.testing.assert_allclose(shape.pose.rotation, np.eye(3))


def write(folder, **files):
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".xml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder / "main.xml"


def test_includes_are_found_next_to_the_main_file_first(tmp_path):
    path = write(
        tmp_path,
        main='<mujoco><include file="sub/a.xml"/><worldbody><include file="c.xml"/></worldbody></mujoco>',
        sub__a='<any><include file="b.xml"/><include file="d.xml"/></any>',
        sub__b='<x><default><geom size="2"/></default></x>',
        b='<x><default><geom size="3"/></default></x>',
        sub__d='<x><option timestep="7"/></x>',
        c="<x><geom/><geom/></x>",
    )
    spec = read_mjcf(path)
    assert [s.geometry for s in spec.ground] == [Sphere(3.0)] * 2
    assert spec.timestep == 7.0


@pytest.mark.parametrize(
    "main, included, reason",
    [
        ('\n<include file="b.xml"/>', "", r"main\.xml:2: include: file 'b\.xml' does not exist"),
        ("\n<include/>", "", r"main\.xml:2: include: has no attribute 'file'"),
        ('\n<include file="main.xml"/>', "", r"main\.xml:2: .*includes itself"),
        ('<include file="a.xml"/>', '\n<include file="a.xml"/>', r"a\.xml:2: .*includes itself"),
        ('<include file="a.xml"/>\n<include file="a.xml"/>', "<visual/>", r"main\.xml:2: .*included twice"),
        ('<include file="a.xml"/>', "", "nothing to include"),
        ('<include file="a.xml"/>', "\n<", r"a\.xml:2: malformed XML"),
        ('<include file="a.xml"><x/></include>', "<visual/>", "cannot have children"),
        ('<include file="a.xml"/>', '<worldbody>\n<geom size="0"/></worldbody>', r"a\.xml:2: geom"),
    ],
)
def test_bad_includes(tmp_path, main, included, reason):
    path = write(tmp_path, main=f"<mujoco>{main}</mujoco>", a=f"<x>{included}</x>")
    with pytest.raises(ModelError, match=reason):
        read_mjcf(path)
