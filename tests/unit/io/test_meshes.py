"""STL and OBJ files, sound and broken, and the search for ``package://`` files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taction._core import kept as kept_arrays
from taction._core.errors import ModelError
from taction.io import meshes
from taction.io.meshes import find_mesh, read_mesh
from taction.model.inertia import Inertia

# a box of 1 × 2 × 3 m around (0.5, 1, 1.5), outward winding
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def binary_stl(header: bytes = b"made by a test", count: int | None = None) -> bytes:
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(t)].ravel(), 0) for t in TRIANGLES)
    return header.ljust(80, b" ") + struct.pack("<I", len(TRIANGLES) if count is None else count) + body


def ascii_stl() -> str:
    lines = ["solid box"]
    for t in TRIANGLES:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += ["  vertex {:.6e} {:g} {:g}".format(*CORNERS[i]) for i in t]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid box", ""])


def obj(corner: str = "{0}") -> str:
    vertices = ["v {:g} {:g} {:g}".format(*p) for p in CORNERS]
    faces = ["f " + " ".join(corner.format(i + 1, i - 8) for i in q) for q in QUADS]
    return "\n".join(["# a box", "mtllib box.mtl", "o box", *vertices, "vn 0 0 1", "vt 0 0", "s off", *faces])


def msh(faces: list[tuple[int, int, int]] = TRIANGLES) -> bytes:
    counts = struct.pack("<4i", 8, 2, 1, len(faces))
    floats = struct.pack("<32f", *CORNERS.ravel(), *[0.5] * 8)
    return counts + floats + struct.pack(f"<{3 * len(faces)}i", *np.ravel(faces))


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("box.stl", binary_stl()),
        ("box.STL", binary_stl(b"solid but binary")),
        ("box.stl", binary_stl() + b"\0\0trailing"),
        ("box.stl", ascii_stl()),
        ("box.stl", ascii_stl().upper().replace("E+", "e+")),
        ("box.stl", ascii_stl().replace("\n", "\r\n")),
        ("box.msh", msh()),
        ("box.obj", obj()),
        ("box.obj", obj("{0}/1")),
        ("box.obj", obj("{0}//1")),
        ("box.obj", obj("{0}/1/1")),
        ("box.OBJ", obj("{1}")),
        ("box.obj", obj().replace("\n", "\r\n")),
        ("box.obj", obj().replace("f 1 ", "f 1 \\\n ")),
        ("box.obj", obj().replace("v 0 0 0", "v 0 0 0 0.5 0.5 0.5  # coloured")),
    ],
)
def test_reads_a_box(tmp_path: Path, name: str, content: str | bytes) -> None:
    mesh = read_mesh(write(tmp_path, name, content))
    assert mesh.vertices.shape == (8, 3)
    assert mesh.faces.shape == (12, 3)
    assert mesh.path == tmp_path / name
    solid = Inertia.solid(mesh, density=1.0)
    assert solid.mass == pytest.approx(6.0)
    np.testing.assert_allclose(solid.com, [0.5, 1.0, 1.5])


@pytest.mark.parametrize("scale", [(2, 2, 2), (-1, 1, 1), (-1, -1, 1), (-1, -2, -3), (0.001, 0.001, 0.001)])
def test_scale_keeps_the_outside_out(tmp_path: Path, scale: tuple[float, ...]) -> None:
    mesh = read_mesh(write(tmp_path, "box.stl", binary_stl()), scale)
    solid = Inertia.solid(mesh, density=1.0)
    assert solid.mass == pytest.approx(6.0 * abs(np.prod(scale)))
    np.testing.assert_allclose(solid.com, np.array([0.5, 1.0, 1.5]) * scale)


@pytest.mark.parametrize(
    ("third", "triangles"),
    [
        ((0.5, 0.5, 0.5), [[0, 1, 2], [0, 2, 3]]),
        ((2.0, 2.0, 0.5), [[1, 2, 3], [1, 3, 0]]),
        ((1.0, 1.0, 0.0), [[1, 2, 3], [1, 3, 0]]),
    ],
)
def test_four_corners_are_cut_along_the_shorter_diagonal(tmp_path, third, triangles) -> None:
    """From the second corner in a square; faces of two corners are none."""
    corners = [(0, 0, 0), (1, 0, 0), third, (0, 1, 0)]
    lines = ["v {} {} {}".format(*corner) for corner in corners]
    mesh = read_mesh(write(tmp_path, "a.obj", "\n".join([*lines, "f 1 2", "f 1 2 3 4", "f 3 1 2"])))
    assert mesh.faces.tolist() == [*triangles, [2, 0, 1]]


def test_triangles_that_collapse_are_dropped(tmp_path: Path) -> None:
    flat = struct.pack("<12fH", *[0.0] * 12, 0)
    data = binary_stl(count=len(TRIANGLES) + 1) + flat
    assert len(read_mesh(write(tmp_path, "box.stl", data)).faces) == 12


def test_signed_zeros_are_one_vertex(tmp_path: Path) -> None:
    data = bytearray(binary_stl())
    data[84 + 12 : 84 + 16] = struct.pack("<f", -0.0)
    assert len(read_mesh(write(tmp_path, "box.stl", bytes(data))).vertices) == 8


BROKEN = {
    "empty": ("a.stl", b""),
    "short header": ("a.stl", b"x" * 40),
    "truncated": ("a.stl", binary_stl()[:-10]),
    "huge count": ("a.stl", binary_stl(count=2**32 - 1)),
    "no triangles": ("a.stl", binary_stl(count=0)[:84]),
    "nan": ("a.stl", binary_stl()[:100] + struct.pack("<f", np.nan) + binary_stl()[104:]),
    "ascii truncated": ("a.stl", ascii_stl()[:-20]),
    "ascii half a facet": ("a.stl", ascii_stl().replace("endfacet", "", 1)),
    "ascii word": ("a.stl", ascii_stl().replace("0.000000e+00", "zero", 1)),
    "ascii infinity": ("a.stl", ascii_stl().replace("0.000000e+00", "inf", 1)),
    "ascii nothing": ("a.stl", b"solid x\nendsolid x\n"),
    "obj nothing": ("a.obj", b""),
    "obj no faces": ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
    "obj short vertex": ("a.obj", obj().replace("v 0 0 0", "v 0 0")),
    "obj word": ("a.obj", obj().replace("v 0 0 0", "v 0 0 zero")),
    "obj nan": ("a.obj", obj().replace("v 0 0 0", "v 0 0 nan")),
    "obj two corners": (
        "a.obj",
        "\n".join(line for line in obj().split("\n") if line[:1] == "v") + "\nf 1 2",
    ),
    "obj index 0": ("a.obj", obj() + "\nf 0 1 2"),
    "obj far index": ("a.obj", obj() + "\nf 1 2 9"),
    "obj absurd index": ("a.obj", obj() + "\nf 1 2 " + "9" * 40),
    "obj far back": ("a.obj", obj() + "\nf -9 1 2"),
    "obj binary": ("a.obj", b"v \xff\xfe\x00 1 2\n"),
    "msh short": ("a.msh", b"1234"),
    "msh truncated": ("a.msh", msh()[:-1]),
    "msh negative": ("a.msh", struct.pack("<4i", -8, 0, 0, 8)),
    "msh far index": ("a.msh", msh([*TRIANGLES, (0, 1, 8)])),
    "msh no faces": ("a.msh", msh([])),
    "other format": ("a.ply", b"ply"),
    "no ending": ("a", binary_stl()),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_clear_error(tmp_path: Path, case: str) -> None:
    path = write(tmp_path, *BROKEN[case])
    with pytest.raises(ModelError) as caught:
        read_mesh(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_missing_file_folder_and_bad_scale(tmp_path: Path) -> None:
    (tmp_path / "folder.stl").mkdir()
    for name in ("absent.stl", "folder.stl", "x" * 500 + ".stl"):
        with pytest.raises(ModelError, match=r"no such mesh file|Is a directory|name too long"):
            read_mesh(tmp_path / name)
    path = write(tmp_path, "box.stl", binary_stl())
    for scale in ((1, 0, 1), (1, np.nan, 1), (1, 1)):
        with pytest.raises(ModelError, match="scale"):
            read_mesh(path, scale)
    with pytest.raises(ModelError, match="infinity"):
        read_mesh(write(tmp_path, "far.obj", "v 1e300 0 0\nv 0 0 0\nv 0 1 0\nf 1 2 3"), (1e300, 1, 1))


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files_raise_nothing_but_model_errors(tmp_path: Path, data: st.DataObject) -> None:
    name, content = data.draw(
        st.sampled_from(
            [
                ("a.stl", binary_stl()),
                ("a.stl", ascii_stl().encode()),
                ("a.obj", obj().encode()),
                ("a.msh", msh()),
            ]
        )
    )
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    try:
        read_mesh(write(tmp_path, name, bytes(mutated)))
    except ModelError as error:
        assert name in str(error)


# ----- find_mesh


@pytest.fixture
def robot_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    folder = tmp_path / "arm_description" / "urdf"
    folder.mkdir(parents=True)
    return folder


def place(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_finds_a_package_above_the_file_or_beside_it(robot_folder: Path, tmp_path: Path) -> None:
    own = place(tmp_path / "arm_description" / "meshes" / "a.stl")
    sibling = place(tmp_path / "hand_description" / "b.stl")
    assert find_mesh("package://arm_description/meshes/a.stl", robot_folder) == own
    assert find_mesh("model://arm_description/meshes/a.stl", robot_folder) == own
    assert find_mesh("package://hand_description/b.stl", robot_folder) == sibling


def test_a_folder_named_like_the_package_is_the_package(robot_folder: Path, tmp_path: Path) -> None:
    deep = tmp_path / "elsewhere" / "pkg"
    target = place(deep / "m.stl")
    assert find_mesh("package://pkg/m.stl", robot_folder, [deep]) == target
    assert find_mesh("package://pkg/m.stl", robot_folder, [str(deep.parent)]) == target


def test_package_dirs_come_before_ros_and_ros_before_ancestors(
    robot_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = place(tmp_path / "pkg" / "m.stl")
    ros = place(tmp_path / "ros" / "pkg" / "m.stl")
    given_dir = place(tmp_path / "given" / "pkg" / "m.stl")
    assert find_mesh("package://pkg/m.stl", robot_folder) == above
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ros'}")
    assert find_mesh("package://pkg/m.stl", robot_folder) == ros
    assert find_mesh("package://pkg/m.stl", robot_folder, [tmp_path / "given"]) == given_dir


def test_other_addresses(robot_folder: Path) -> None:
    assert find_mesh("package://none/m.stl", robot_folder) == Path("none/m.stl")
    assert find_mesh("../meshes/a.stl", robot_folder) == robot_folder / "../meshes/a.stl"
    assert find_mesh("/abs/a.stl", robot_folder) == Path("/abs/a.stl")
    assert find_mesh("file:///abs/a%20b.stl", robot_folder) == Path("/abs/a b.stl")
    for uri in ("http://a.b/c.stl", "https://a.b/c.stl", "ftp://a.b/c.stl"):
        with pytest.raises(ModelError, match="network"):
            find_mesh(uri, robot_folder)
    with pytest.raises(ModelError, match="names no file"):
        find_mesh("package://", robot_folder)


def large_obj() -> str:
    return obj() + "\n" + "# much to skip\n" * 400


def test_what_a_file_holds_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path / "kept"))
    times: list[int] = []
    reader = meshes._READERS[".obj"]
    monkeypatch.setitem(meshes._READERS, ".obj", lambda data: (times.append(1), reader(data))[1])
    one = read_mesh(write(tmp_path, "box.obj", large_obj()))
    other = read_mesh(write(tmp_path, "copy.obj", large_obj()), (2.0, 1.0, -1.0))
    assert len(times) == 1
    assert np.array_equal(one.vertices * (2.0, 1.0, -1.0), other.vertices)
    assert np.array_equal(one.faces[:, ::-1], other.faces) and other.faces.dtype == np.int64
    assert np.array_equal(one.vertices, CORNERS)
    read_mesh(write(tmp_path, "box.obj", large_obj().replace("v 1 2 3", "v 1 2 4")))
    assert len(times) == 2
    for _ in range(2):
        with pytest.raises(ModelError, match="the file has 8"):
            read_mesh(write(tmp_path, "box.obj", large_obj().replace("f 1 2", "f 1 9")))
    assert len(times) == 4


def test_kept_triangles_that_are_none_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path / "kept"))
    path = write(tmp_path, "box.obj", large_obj())
    mesh = read_mesh(path)
    (kept,) = (tmp_path / "kept").rglob("*.kept")
    faces = mesh.faces.astype(np.int32)
    for bad in ([mesh.vertices, faces + 1], [mesh.vertices, faces - 1], [mesh.vertices], [faces, faces]):
        kept_arrays._write(kept, bad)
        assert np.array_equal(read_mesh(path).faces, mesh.faces)
