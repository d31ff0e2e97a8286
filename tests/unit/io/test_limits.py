"""What a stranger's robot or mesh may take: parts, depth, text, corners, and which files it may name."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import taction as ta
from taction._core.plain_file import VARIABLE
from taction.geometry import hull
from taction.io import obj, visual_meshes, xml
from taction.io.mjcf import load_mjcf
from taction.io.urdf import parse_urdf
from taction.io.xml import PART, floats, parse_xml

INERTIAL = '<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'
BODY = '<body><joint/><geom size="0.1"/></body>'


def mjcf(world: str, before: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody></mujoco>"


def model_of(folder, name: str, world: str, before: str = ""):
    (folder / name).write_text(mjcf(world, before))
    return folder / name


# ----- Parts ----------------------------------------------------------------------------------------------


def test_parts_of_a_file_are_counted(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(100 * PART))
    load_mjcf(mjcf(BODY * 20))
    with pytest.raises(ta.ModelError, match=r":1: a model of more than 100 elements .* TACTION_MOST_BYTES="):
        load_mjcf(mjcf(BODY * 40))
    with pytest.raises(ta.ModelError, match="more than 100 elements"):
        parse_urdf("<robot name='r'>" + "".join(f"<link name='l{k}'/>" for k in range(101)) + "</robot>")


def test_copies_count_before_they_are_made(monkeypatch):
    monkeypatch.setenv(VARIABLE, str(100 * PART))
    load_mjcf(mjcf(f'<replicate count="10">{BODY}</replicate>'))
    for count in (60, 10**9):
        with pytest.raises(ta.ModelError, match="more than 100 elements"):
            load_mjcf(mjcf(f'<replicate count="{count}">{BODY}</replicate>'))


def test_attached_and_included_parts_count(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(200 * PART))
    attach = "".join(f'<body><attach model="m" prefix="{side}"/></body>' for side in "lr")
    model_of(tmp_path, "m0.xml", BODY)
    for k in range(8):
        asset = f'<asset><model name="m" file="m{k}.xml"/></asset>'
        model_of(tmp_path, f"m{k + 1}.xml", attach, asset)
    assert len(load_mjcf(tmp_path / "m2.xml").spec.bodies) >= 4
    with pytest.raises(ta.ModelError, match="more than 200 elements"):
        load_mjcf(tmp_path / "m8.xml")
    for k in range(4):
        (tmp_path / f"part{k}.xml").write_text(f"<mujoco>{BODY * 20}</mujoco>")
    includes = "".join(f'<include file="part{k}.xml"/>' for k in range(4))
    with pytest.raises(ta.ModelError, match="more than 200 elements"):
        load_mjcf(model_of(tmp_path, "main.xml", includes))


def test_text_is_counted(monkeypatch):
    monkeypatch.setenv(VARIABLE, "100_000")
    parse_xml("<a>" + "x" * 20_000 + "</a>")
    with pytest.raises(ta.ModelError, match=r"<text>: would take .* MB of memory"):
        parse_xml("<a>" + "x" * 25_000 + "</a>")


def test_messages_quote_both_ends_of_a_long_text():
    with pytest.raises(ta.ModelError) as error:
        load_mjcf(mjcf(f'<body pos="{"x" * 100_000}y"><geom size="1"/></body>'))
    assert len(str(error.value)) < 1000
    assert str(error.value).endswith("xy' is not numeric")


# ----- Files that a file names ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["secret", "/etc/passwd", "secret.txt"])
def test_what_is_no_description_is_not_opened(tmp_path, name, monkeypatch):
    (tmp_path / "secret").write_text(mjcf(BODY))
    (tmp_path / "secret.txt").write_text(mjcf(BODY))
    forms = (
        ("", f'<include file="{name}"/>'),
        ('<body><attach model="m" prefix="x"/></body>', f'<asset><model name="m" file="{name}"/></asset>'),
    )
    for world, before in forms:
        with pytest.raises(ta.ModelError, match=r"is no MJCF file: its name must end in \.xml or \.mjcf"):
            load_mjcf(model_of(tmp_path, "robot.xml", world, before))


def test_colours_come_from_the_folder_of_the_mesh(tmp_path):
    folder = tmp_path / "meshes"
    (folder / "more").mkdir(parents=True)
    for place in (folder / "a.mtl", folder / "more" / "a.mtl", tmp_path / "a.mtl", folder / "a"):
        place.write_text("newmtl m\nKd 1 0 0\n")

    def colour(library: str):
        text = f"mtllib {library}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"
        (folder / "part.obj").write_text(text)
        return visual_meshes.read_visual_mesh(ta.MeshFile(str(folder / "part.obj")))[0][1]

    assert colour("a.mtl") == colour("./a.mtl") == colour("more/../a.mtl") == colour("more/a.mtl") is not None
    for library in ("../a.mtl", "more/../../a.mtl", str(folder / "a.mtl"), "a"):
        assert colour(library) is None


def test_a_mesh_of_very_many_colours_has_fewer_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(visual_meshes, "MOST_COLOURS", 3)
    faces = "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(7))
    colours = "".join(f"newmtl m{k}\nKd {k / 7} 0 0\n" for k in range(7))
    (tmp_path / "part.obj").write_text(f"mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")
    (tmp_path / "part.mtl").write_text(colours)
    parts = visual_meshes.read_visual_mesh(ta.MeshFile(str(tmp_path / "part.obj")))
    assert [len(mesh.faces) for mesh, _ in parts] == [5, 1, 1]
    assert len({colour for _, colour in parts}) == 3


# ----- Meshes ---------------------------------------------------------------------------------------------


def test_one_mesh_of_many_scales_takes_its_room_each_time(tmp_path, monkeypatch):
    corners = np.random.default_rng(0).normal(size=(300, 3))
    text = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 2 3\n" * 3000
    (tmp_path / "part.obj").write_text(text)
    assets = "".join(f'<mesh name="m{k}" file="part.obj" scale="1 1 {k + 1}"/>' for k in range(30))
    geoms = "".join(f'<geom type="mesh" mesh="m{k}"/>' for k in range(30))
    path = model_of(
        tmp_path,
        "robot.xml",
        f"<body>{INERTIAL}{geoms}</body>",
        f"<asset>{assets}</asset>",
    )
    load_mjcf(path)
    monkeypatch.setenv(VARIABLE, "1e6")
    with pytest.raises(ta.BadInput, match="with the meshes before it would take"):
        load_mjcf(path)


def test_more_corners_than_a_hull_may_have_are_refused(monkeypatch):
    rng = np.random.default_rng(0)
    sphere = rng.normal(size=(400, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    inside = 0.3 * rng.uniform(-1, 1, size=(2000, 3))
    whole = hull.convex_hull(np.concatenate([sphere[:200], inside]))
    monkeypatch.setattr(hull, "MOST_CORNERS", 300)
    found = hull.convex_hull(np.concatenate([sphere[:200], inside]))  # those inside do not count
    np.testing.assert_array_equal(found.vertices, whole.vertices)
    with pytest.raises(ta.ModelError, match="mesh: more than 300 corners may be on its hull; simplify"):
        hull.convex_hull(sphere)


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_lines_read_as_lines_do(seed, monkeypatch):
    """The same from blocks of a few bytes, where every line is torn, as from one."""
    rng = random.Random(seed)
    count, rows = 0, []
    for _ in range(rng.randrange(1, 60)):
        kind = rng.random()
        if kind < 0.5 or count < 4:
            numbers = [f"{rng.uniform(-9, 9):.{rng.randrange(1, 9)}{rng.choice('efg')}}" for _ in range(3)]
            rows.append(
                rng.choice((" ", "\t", "  ")).join(["v", *numbers]) + rng.choice(("", " ", "\r", " 1.0"))
            )
            count += 1
        elif kind < 0.8:
            corners = [
                rng.choice((k + 1, k - count)) for k in rng.sample(range(count), rng.choice((3, 3, 4)))
            ]
            form = rng.choice(("{}", "{}/1", "{}//1", "{}/1/1"))
            rows.append("f " + " ".join(form.format(k) for k in corners))
        else:
            rows.append(
                rng.choice(("", "# v 1 2 3", "usemtl a b", "usemtl c", "mtllib x y.mtl", "vn 0 0 1", "o f"))
            )
    data = "\n".join(rows).encode()
    whole = obj.read_obj(data)
    monkeypatch.setattr(obj, "BLOCK", 64)
    torn = obj.read_obj(data)
    for one, other in zip(whole, torn, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(whole.vertices) == count


@pytest.mark.parametrize("shape", ["doubling", "round"])
def test_nodes_that_stand_for_each_other_are_counted(tmp_path, shape):
    pytest.importorskip("collada")
    from taction.io.meshes import read_mesh

    nodes = "".join(
        f'<node id="n{k + 1}"><instance_node url="#n{k}"/><instance_node url="#n{k}"/></node>'
        for k in range(30)
    )
    if shape == "round":
        nodes = '<node id="n30"><instance_node url="#n30"/></node>'
    (tmp_path / "part.dae").write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        f'<library_nodes><node id="n0"/>{nodes}</library_nodes><library_visual_scenes><visual_scene id="s">'
        '<node><instance_node url="#n30"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )
    with pytest.raises(ta.ModelError, match=r"part\.dae: a model of more than 20000 elements"):
        read_mesh(tmp_path / "part.dae")


def test_odd_lines_of_an_obj_file_are_few(monkeypatch):
    monkeypatch.setattr(obj, "MOST_ODD", 3)
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0 # the third\n"
    plain = corners + "f 1 2 3 # a face\n# nothing\nf 1/1 2//2 3/3/3\n" * 100
    assert len(obj.read_obj(plain.encode()).faces) == 200
    odd = "f +1 +2 +3\n"
    assert len(obj.read_obj((plain + 3 * odd).encode()).faces) == 203
    with pytest.raises(ta.ModelError, match="line 307: more than 3 lines are not of plain numbers"):
        obj.read_obj((plain + 4 * odd).encode())


@pytest.mark.parametrize(
    "line", ["f 1-2 3 1", "f 1 - 2 3", "f 1 2 99999999999999999999", "v 1 2-3 4e", "v 1-2 3 4", "f 1 2 --3"]
)
def test_words_that_are_no_numbers_are_named(line):
    text = f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\nf 1 2 3\n"
    with pytest.raises(ta.ModelError, match=re.escape(f"corrupt OBJ, line 4: {line!r}")):
        obj.read_obj(text.encode())


def test_numbers_of_a_long_text_are_those_of_its_pieces(monkeypatch):
    words = [str(k / 7) for k in range(1000)]
    whole = parse_xml(f'<a x="{" ".join(words)}"/>')
    expected = floats(whole, "x")
    for piece in (1, 7, 5000):
        monkeypatch.setattr(xml, "PIECE", piece)
        assert (floats(whole, "x") == expected).all()
    with pytest.raises(ta.ModelError, match="is not numeric"):
        floats(parse_xml('<a x="1 2 x 4 5"/>'), "x")


def test_changes_of_material_are_few(monkeypatch):
    monkeypatch.setattr(obj, "MOST_MATERIALS", 3)
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\nusemtl b # the second\nf 1 2 3\n"
    assert obj.read_obj(text.encode()).materials == ("", "a", "b")
    with pytest.raises(ta.ModelError, match="its material changes 3 times or more"):
        obj.read_obj((text + "usemtl a\n").encode())
