"""A small COLLADA file, for the tests of meshes."""

from __future__ import annotations

# a tetrahedron in centimetres, one face of it in a second set, moved and turned by its node, painted badly
TEXT = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>
    <unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="3" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 2 1 0 1 3 0 3 2</p></triangles>
    <polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/>
      <vcount>3</vcount><p>1 2 3</p></polylist>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n">
    <translate>0 0 5</translate><rotate>0 0 1 90</rotate>
    <instance_geometry url="#g"><bind_material><technique_common>
      <instance_material symbol="m" target="#absent"/></technique_common></bind_material></instance_geometry>
  </node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""
