"""COLLADA meshes, where pycollada is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dae_text import TEXT
from taction._core.errors import ModelError
from taction.io.meshes import read_mesh

pytest.importorskip("collada")


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "a.dae"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_nodes_units_and_polygons(tmp_path: Path) -> None:
    mesh = read_mesh(write(tmp_path, TEXT), (1.0, 1.0, 2.0))
    expected = 0.01 * np.array([[0, 0, 10], [0, 1, 10], [-1, 0, 10], [0, 0, 12.0]])
    order = np.lexsort(expected.T)
    np.testing.assert_allclose(
        mesh.vertices[np.lexsort(mesh.vertices.T.round(9))], expected[order], atol=1e-9
    )
    corners = mesh.vertices[mesh.faces] - mesh.vertices.mean(axis=0)
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(2e-6 / 6, rel=1e-6)  # outward, and closed


@pytest.mark.parametrize(
    "content, reason",
    [
        ("", "malformed"),
        ("<COLLADA/>", "corrupt DAE|no triangles"),
        (TEXT.replace("<p>0 2 1", "<p>0 2 9"), "corrupt DAE"),
        (
            TEXT.replace("<instance_geometry url", "<nothing url").replace("instance_geometry>", "nothing>"),
            "no tri",
        ),
        ('<!DOCTYPE C [<!ENTITY a "b">]><COLLADA>&a;</COLLADA>', "entities"),
    ],
)
def test_broken_files_are_one_clear_error(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(ModelError, match=rf"a\.dae: .*({reason})"):
        read_mesh(write(tmp_path, content))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files_raise_nothing_but_model_errors(tmp_path: Path, data: st.DataObject) -> None:
    mutated = bytearray(TEXT.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"9", b"-", b"x", b" "])
        )
    try:
        read_mesh(write(tmp_path, bytes(mutated)))
    except ModelError as error:
        assert "a.dae" in str(error)
