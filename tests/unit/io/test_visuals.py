"""What robots look like: visuals of descriptions, and the mesh files they name."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from dae_text import TEXT
from mjcf_text import TETRAHEDRON, scene
from taction.io.urdf import parse_urdf, read_urdf
from taction.io.visual_meshes import read_visual_mesh, visual_parts
from taction.model.absolute import in_absolute_coordinates
from taction.model.spec_bytes import from_bytes, to_bytes
from taction.model.visual import looks
from urdf_text import INERTIAL, joint, link, robot

SPHERE = "<geometry><sphere radius='1'/></geometry>"
RED, BLUE, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5), (0.0, 1.0, 0.0, 1.0)
OBJ = """mtllib {library}
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1
f 1 3 2
usemtl red paint
f 1 2 4
usemtl unknown
f 1 4 3
usemtl also red
f 2 3 4
"""
MTL = """newmtl red paint\nKd 1 0 0\nd 0.5\nnewmtl also red\nKd 1 0 0\nd 0.5
newmtl broken\nKd 1 zero\nd\nnewmtl none\nKd nan 0 0\n"""


def visual(inside: str, name: str = "") -> str:
    return f'<visual name="{name}">{inside}</visual>' if name else f"<visual>{inside}</visual>"


def material(name: str = "", rgba: str = "") -> str:
    return f'<material name="{name}">' + (f'<color rgba="{rgba}"/>' if rgba else "") + "</material>"


# ----- Values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ta.Visual("box"), "geometry of a visual must be a Box"),
        (lambda: ta.Visual(ta.Sphere(1.0), colour=(1, 0, 0)), "colour of a visual must be 4 numbers"),
        (lambda: ta.Visual(ta.Sphere(1.0), colour=(1, 0, 0, 2)), "from 0 to 1"),
        (lambda: ta.Visual(ta.Sphere(1.0), colour=(1, 0, 0, np.nan)), "from 0 to 1"),
        (lambda: ta.Visual(ta.Sphere(1.0), pose=3), "pose of a visual"),
        (lambda: ta.MeshFile(3), "path of a mesh file must be"),
        (lambda: ta.MeshFile("a.stl", scale=(1, 1)), "scale of a mesh file must be 3 numbers"),
        (lambda: ta.MeshFile("a.stl", origin=(1, 1, np.inf)), "origin of a mesh file must be finite"),
    ],
)
def test_wrong_values_are_one_clear_line(make, message):
    with pytest.raises(ta.BadInput, match=message):
        make()


def test_mesh_files_are_equal_if_they_say_the_same():
    assert ta.MeshFile("a.stl", [1, 2, 3]) == ta.MeshFile(Path("a.stl"), (1.0, 2.0, 3.0))
    assert len({ta.MeshFile("a.stl"), ta.MeshFile("a.stl"), ta.MeshFile("a.stl", has_colours=False)}) == 2


def test_shapes_are_drawn_where_there_are_no_visuals():
    shapes = [ta.Shape(ta.Sphere(1.0), name="s"), ta.Shape(ta.Plane()), ta.Shape(ta.Mesh(path=Path("a.stl")))]
    assert [(v.geometry, v.colour, v.name) for v in looks(shapes, [])] == [(ta.Sphere(1.0), None, "s")]
    only = ta.Visual(ta.Box((1, 1, 1)))
    assert looks(shapes, [only]) == [only]


# ----- URDF -----------------------------------------------------------------------------------------------


def test_urdf_shapes_places_and_names():
    origin = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    kinds = ['<box size="1 2 3"/>', '<cylinder radius="1" length="2"/>', '<capsule radius="1" length="2"/>']
    inside = [visual(f"{origin}<geometry>{kind}</geometry>", f"v{k}") for k, kind in enumerate(kinds)]
    body = parse_urdf(robot(link("a", INERTIAL, *inside))).body("a")
    assert [v.geometry for v in body.visuals] == [
        ta.Box((1.0, 2.0, 3.0)),
        ta.Cylinder(1.0, 2.0),
        ta.Capsule(1.0, 2.0),
    ]
    assert [v.name for v in body.visuals] == ["v0", "v1", "v2"] and not body.shapes
    expected = ta.Transform.from_rpy((1, 2, 3), (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(body.visuals[0].pose.matrix, expected.matrix)


def test_urdf_materials_by_name_or_their_own():
    text = robot(
        material("red", "1 0 0 1"),
        link(
            "a",
            visual(SPHERE + material("red")),
            visual(SPHERE + material("red", "0 1 0 1")),  # the robot's own goes first
            visual(SPHERE + material("", "0 0 1 0.5")),
            visual(SPHERE + material("later")),
            visual(SPHERE + material("absent")),
            visual(SPHERE + material("", "1 2")),
            visual(SPHERE + material("", "-1 9 0 1")),
            visual(SPHERE),
        ),
        link("b", INERTIAL, visual(SPHERE + material("later", "0 0 1 0.5"))),
        joint("j", "a", "b"),
    )
    colours = [v.colour for v in parse_urdf(text).body("a").visuals]
    assert colours == [RED, RED, BLUE, BLUE, None, None, GREEN, None]


def test_urdf_meshes_are_named_and_not_read(tmp_path, monkeypatch):
    (tmp_path / "there.stl").write_bytes(b"this is no mesh")
    names = ["there.stl", "package://p/missing.dae", "odd.blend", "http://nobody.reads/this.stl"]
    inside = [visual(f'<geometry><mesh filename="{n}" scale="1 2 3"/></geometry>') for n in names]
    (tmp_path / "r.urdf").write_text(robot(link("a", INERTIAL, *inside)))
    monkeypatch.chdir(tmp_path)
    visuals = read_urdf("r.urdf", strict=True).body("a").visuals
    assert [v.geometry.scale for v in visuals] == [(1.0, 2.0, 3.0)] * 4
    assert visuals[0].geometry.path == tmp_path / "there.stl"  # wherever it is drawn from later
    for v, reason in zip(visuals, ["truncated", "no such", "format '.blend'", "no such"], strict=True):
        with pytest.raises(ta.ModelError, match=rf"{v.geometry.path.name}: .*{reason}"):
            read_visual_mesh(v.geometry)


def test_urdf_visuals_that_are_not_well_formed_are_left_out():
    wrong = ["", "<geometry/>", "<geometry><plane/></geometry>", "<geometry><sphere radius='-1'/></geometry>"]
    wrong += [SPHERE + '<origin xyz="a b c"/>', '<geometry><mesh filename=""/></geometry>']
    body = parse_urdf(robot(link("a", INERTIAL, *map(visual, wrong), visual(SPHERE))), strict=True).body("a")
    assert [v.geometry for v in body.visuals] == [ta.Sphere(1.0)]


def test_urdf_root_called_world_gives_the_ground_its_looks():
    text = robot(link("world", visual(SPHERE)), link("b", INERTIAL), joint("j", "world", "b"))
    assert [v.geometry for v in parse_urdf(text).ground_visuals] == [ta.Sphere(1.0)]
    assert len(parse_urdf(text, floating_base=True).body("world_link").visuals) == 1


# ----- MJCF -----------------------------------------------------------------------------------------------


def test_mjcf_meshes_are_named_with_their_frame(tmp_path):
    spec = scene(
        """<body name="b"><geom size="1"/>
        <geom name="g" type="mesh" mesh="m" contype="0" conaffinity="0" mass="0" group="2"/></body>""",
        '<asset><mesh name="m" file="nowhere.stl" scale="1 2 3" refpos="4 5 6" refquat="0 2 0 0"/></asset>'
        '<compiler inertiagrouprange="0 1"/>',
    )
    named = spec.body("b").visuals[1]
    assert (named.name, named.colour) == ("g", (0.5, 0.5, 0.5, 1.0))
    expected = ta.MeshFile("nowhere.stl", (1, 2, 3), (4, 5, 6), (0, 1, 0, 0), has_colours=False)
    assert named.geometry == expected


def test_mjcf_mesh_in_the_text_is_itself():
    geom = '<geom type="mesh" mesh="m" contype="0" conaffinity="0" mass="0"/>'
    spec = scene(
        f'<body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geom}</body>',
        f'<asset><mesh name="m" scale="2 2 2" {TETRAHEDRON}/></asset>',
    )
    [shown] = spec.body("b").visuals
    assert shown.geometry.vertices.max() == 2.0 and len(shown.geometry.faces) == 4


def test_mjcf_colours_must_be_colours():
    with pytest.raises(ta.ModelError, match="rgba='1 1 1' needs 4 numbers"):
        scene('<geom size="1" rgba="1 1 1"/>')


# ----- Mesh files -----------------------------------------------------------------------------------------


def test_obj_with_a_library_of_colours(tmp_path):
    (tmp_path / "m.obj").write_text(OBJ.format(library="my paint.mtl"))
    bare = read_visual_mesh(ta.MeshFile(tmp_path / "m.obj"))
    assert [(len(mesh.faces), colour) for mesh, colour in bare] == [(4, None)]
    (tmp_path / "my paint.mtl").write_text(MTL)
    parts = read_visual_mesh(ta.MeshFile(tmp_path / "m.obj"))
    assert [(len(mesh.faces), colour) for mesh, colour in parts] == [(2, None), (2, (1.0, 0.0, 0.0, 0.5))]
    corners = [mesh.vertices[mesh.faces].reshape(-1, 9) for mesh, _ in parts]
    whole = bare[0][0].vertices[bare[0][0].faces].reshape(-1, 9)
    np.testing.assert_array_equal(np.concatenate(corners), whole[[0, 2, 1, 3]])
    assert [c for _, c in visual_parts(ta.Visual(ta.MeshFile(tmp_path / "m.obj"), colour=GREEN))] == [
        GREEN,
        (1.0, 0.0, 0.0, 0.5),
    ]
    file = ta.MeshFile(tmp_path / "m.obj", has_colours=False)
    assert [c for _, c in visual_parts(ta.Visual(file, colour=GREEN))] == [GREEN]


def test_collada_with_diffuse_colours(tmp_path):
    pytest.importorskip("collada")
    effect = """<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
      <diffuse><color>0.25 0.5 0.75 0</color></diffuse></lambert></technique></profile_COMMON></effect>
      </library_effects><library_materials><material id="k"><instance_effect url="#e"/></material>
      </library_materials><library_geometries>"""
    painted = TEXT.replace("<library_geometries>", effect).replace("#absent", "#k")
    for text, colour in ((painted, (0.25, 0.5, 0.75, 1.0)), (TEXT, None)):  # TEXT: a broken material
        (tmp_path / "m.dae").write_text(text)
        parts = read_visual_mesh(ta.MeshFile(tmp_path / "m.dae", (1, 1, 2)))
        faces = [(len(mesh.faces), c) for mesh, c in parts]
        assert faces == ([(3, colour), (1, None)] if colour else [(4, None)])
        assert np.concatenate([mesh.vertices for mesh, _ in parts]).max() == pytest.approx(0.12)


def test_frame_and_scale_of_a_file(tmp_path):
    (tmp_path / "m.obj").write_text("v 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
    half = np.sqrt(0.5)  # the mesh's x axis is the file's y axis
    file = ta.MeshFile(tmp_path / "m.obj", (1, 1, -2), (0, 0, 1), (half, 0, 0, half))
    [(mesh, _)] = read_visual_mesh(file)
    np.testing.assert_allclose(mesh.vertices, [[0, -1, 2], [1, 0, 2], [0, 0, 0]], atol=1e-15)
    np.testing.assert_array_equal(mesh.faces, [[2, 1, 0]])  # mirrored


@pytest.mark.parametrize(
    "scale, turn, reason", [((1, 0, 1), (1, 0, 0, 0), "zero"), ((1, 1, 1), (0,) * 4, "zero")]
)
def test_frames_that_are_none_are_found_when_drawn(tmp_path, scale, turn, reason):
    (tmp_path / "m.obj").write_text("v 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
    with pytest.raises(ta.ModelError, match=rf"m\.obj: .*{reason}"):
        read_visual_mesh(ta.MeshFile(tmp_path / "m.obj", scale, turn=turn))


# ----- They go where their bodies go ----------------------------------------------------------------------


def painted_model(name: str = "painted", **ground: ta.Visual) -> ta.Model:
    b = ta.ModelBuilder(name)
    for body in ("one", "two"):
        b.body(body, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
        b.visual(body, ta.MeshFile("a.stl"), colour=RED, name="seen")
    b.revolute("j", parent="world", child="one")
    b.revolute("k", parent="one", child="two", pose=ta.Transform(translation=(1, 0, 0)))
    for visual in ground.values():
        b.visual("world", visual.geometry, colour=visual.colour)
    return b.build()


def test_a_world_keeps_what_its_models_look_like():
    sphere = ta.Visual(ta.Sphere(1.0), colour=BLUE)
    one, two = painted_model(sphere=sphere), painted_model()
    floor = ta.ModelBuilder("floor")
    floor.shape("world", ta.Box((1, 1, 1)))
    floor.body("b", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    floor.revolute("j", parent="world", child="b")
    spec = ta.World(one, two, floor.build(), ground=[ta.Plane(), ta.Cone(1.0, 1.0)]).model.spec
    seen = {body.name: [v.name for v in body.visuals] for body in spec.bodies}
    assert seen == {
        "painted1/one": ["painted1/seen"],
        "painted1/two": ["painted1/seen"],
        "painted2/one": ["painted2/seen"],
        "painted2/two": ["painted2/seen"],
        "floor": [],
    }
    # where one part says what the ground looks like, the rest of it is drawn as well
    ground = [(v.geometry, v.colour) for v in spec.ground_visuals]
    assert ground == [(ta.Cone(1.0, 1.0), None), (ta.Sphere(1.0), BLUE), (ta.Box((1, 1, 1)), None)]
    assert ta.World(two, floor.build(), ground=ta.Box((1, 1, 1))).model.spec.ground_visuals == []
    assert len(one.spec.ground_visuals) == 1 and one.spec.body("one").visuals[0].name == "seen"


def test_descriptions_in_files_keep_them_and_old_ones_have_none():
    spec = painted_model(sphere=ta.Visual(ta.Sphere(1.0), colour=BLUE)).spec
    again = from_bytes(to_bytes(spec))
    assert to_bytes(again) == to_bytes(spec)
    assert again.body("one").visuals[0].geometry == ta.MeshFile("a.stl")
    assert [(v.geometry, v.colour) for v in again.ground_visuals] == [(ta.Sphere(1.0), BLUE)]
    text = json.loads(zlib.decompress(to_bytes(spec)))
    del text["fields"]["ground_visuals"]  # as a file was before there were visuals
    for body in text["fields"]["bodies"]:
        del body["fields"]["visuals"]
    old = from_bytes(zlib.compress(json.dumps(text).encode()))
    assert old.ground_visuals == [] and [body.visuals for body in old.bodies] == [[], []]


def test_a_recorded_run_keeps_them(tmp_path):
    run = ta.Simulation(painted_model(), dt=1e-3).run(2e-3)
    run.save(tmp_path / "run.npz")
    again = ta.load_run(tmp_path / "run.npz")
    assert again.model.spec.body("two").visuals[0].colour == RED


def test_absolute_coordinates_keep_them():
    bodies = in_absolute_coordinates(painted_model()).bodies.spec.bodies
    assert [len(body.visuals) for body in bodies] == [1, 1]
