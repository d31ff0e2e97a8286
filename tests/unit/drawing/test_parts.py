"""Parts: every geometry is seen, looks go before collision shapes, meshes stay within their budget."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taction as ta
from taction.drawing import parts as room
from taction.drawing.description import BOTH, COLLISION, KINDS, LOOK, Triangles
from taction.drawing.motion import rotate
from taction.drawing.parts import corners, own_colours, parts_of_model, simplified, terrain_triangles
from taction.math.transform import rotation_from_quaternion
from taction.model.shapes import SOLIDS

HEIGHTS = np.array([[0.0, 0.1, 0.0], [0.1, 0.3, 0.1]])
TURNED = ta.Transform.from_rpy((0.1, -0.2, 0.3), (0.4, 0.5, 0.6))


def carrying(*shapes: ta.Shape, visuals=(), ground=()) -> ta.Model:
    """A body with shapes and looks."""
    b = ta.ModelBuilder("carrier")
    b.body("body", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0), list(shapes))
    for visual in visuals:
        b.visual("body", visual.geometry, pose=visual.pose, colour=visual.colour)
    b.floating("free", child="body")
    model = b.build()
    return ta.World(model, ground=list(ground)).model if ground else model


def torus(n: int = 100) -> Triangles:
    """A closed surface of 2 n² triangles that is not convex."""
    a, b = (x.ravel() for x in np.meshgrid(*(2 * np.pi * np.arange(n) / n,) * 2, indexing="ij"))
    vertices = np.stack(
        [(1 + 0.3 * np.cos(b)) * np.cos(a), (1 + 0.3 * np.cos(b)) * np.sin(a), 0.3 * np.sin(b)], 1
    )
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    at = lambda i, j: (i % n) * n + j % n  # noqa: E731
    faces = [[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]
    return Triangles(vertices, np.concatenate([np.stack(f, axis=1) for f in faces]))


# ----- Kinds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOLIDS)
def test_every_solid_is_seen_where_it_is(name):
    geometry = SOLIDS[name]
    shop = parts_of_model(carrying(ta.Shape(geometry, TURNED)))
    (part,) = shop.parts
    assert part.kind in KINDS and (part.kind == "mesh") == (name == "hull") and part.body == 0
    np.testing.assert_allclose(part.position, TURNED.translation, atol=1e-15)
    np.testing.assert_allclose(rotation_from_quaternion(part.quaternion), TURNED.rotation, atol=1e-14)
    ((_, box),) = corners(shop.parts, shop.meshes)
    outline = TURNED.apply(geometry.outline())
    local, seen = (TURNED.inverse().apply(x) for x in (box, outline))
    np.testing.assert_allclose([local.min(0), local.max(0)], [seen.min(0), seen.max(0)], atol=1e-3)


def test_a_plane_is_seen_and_has_no_corners():
    shop = parts_of_model(carrying(ta.Shape(ta.Sphere(0.1)), ground=[ta.Plane()]))
    plane = next(part for part in shop.parts if part.kind == "plane")
    assert plane.body == -1 and plane.shown == BOTH
    assert [body for body, _ in corners(shop.parts, shop.meshes)] == [0]


def test_terrain_is_a_mesh_through_its_heights():
    field = ta.HeightField(HEIGHTS, (1.0, 1.0))
    shop = parts_of_model(carrying(ta.Shape(ta.Sphere(0.1)), ground=[ta.Shape(field)]))
    (mesh,) = shop.meshes
    assert len(mesh.vertices) == 6 and len(mesh.faces) == 4
    np.testing.assert_allclose(np.sort(mesh.vertices[:, 2]), np.sort(HEIGHTS.ravel()))
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [2.0, 1.0, 0.3])


def test_triangles_of_terrain_look_up():
    vertices, faces = terrain_triangles(np.random.default_rng(0).uniform(0, 0.1, (4, 5)), 0.3, 0.2)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert (normals[:, 2] > 0).all() and normals[:, 2].sum() / 2 == pytest.approx(4 * 0.3 * 3 * 0.2)


def test_pieces_of_a_union_are_parts():
    union = ta.Union([(ta.Sphere(0.1), ta.Transform()), (ta.Box((0.1, 0.2, 0.3)), TURNED)])
    shop = parts_of_model(carrying(ta.Shape(union, TURNED)))
    assert [part.kind for part in shop.parts] == ["sphere", "box"]
    np.testing.assert_allclose(shop.parts[1].position, (TURNED @ TURNED).translation, atol=1e-14)


def test_a_body_without_shapes_is_a_rod_to_its_centre_of_mass():
    b = ta.ModelBuilder("bare")
    b.body("rod", ta.Inertia(1.0, np.array([0.0, 0.3, -0.4]), 0.1 * np.eye(3)))
    b.revolute("pin", parent="world", child="rod", axis=(1, 0, 0))
    (part,) = parts_of_model(b.build()).parts
    assert part.kind == "capsule" and part.size[1] == pytest.approx(0.25)
    ends = part.position + rotate(
        np.tile(part.quaternion, (2, 1)), part.size[1] * np.array([[0, 0, 1.0], [0, 0, -1]])
    )
    ends = ends[np.argsort(np.linalg.norm(ends, axis=1))]
    np.testing.assert_allclose(ends, [[0, 0, 0], [0, 0.3, -0.4]], atol=1e-15)


def test_equal_meshes_are_kept_once():
    mesh = ta.Mesh(SOLIDS["hull"].vertices)
    shop = parts_of_model(carrying(ta.Shape(mesh), ta.Shape(mesh, TURNED)))
    assert [part.mesh for part in shop.parts] == [0, 0] and len(shop.meshes) == 1


# ----- Looks ---------------------------------------------------------------------------------------------


def test_looks_are_shown_and_collision_shapes_on_request():
    red = (1.0, 0.0, 0.0, 0.5)
    shop = parts_of_model(
        carrying(ta.Shape(ta.Sphere(0.1)), visuals=[ta.Visual(ta.Box((0.1, 0.1, 0.1)), colour=red)])
    )
    assert [(part.kind, part.shown) for part in shop.parts] == [("box", LOOK), ("sphere", COLLISION)]
    assert shop.parts[0].colour == red and shop.notes == []


def test_a_missing_mesh_is_said_and_its_collision_shapes_are_shown():
    seen, lost = ta.Visual(ta.Box((0.1, 0.1, 0.1))), ta.Visual(ta.MeshFile(Path("lost.stl")))
    shop = parts_of_model(carrying(ta.Shape(ta.Sphere(0.1)), visuals=[seen, lost]))
    assert [(part.kind, part.shown) for part in shop.parts] == [("sphere", BOTH)]
    (note,) = shop.notes
    assert (
        note.startswith("body is drawn by its collision shapes: ") and "lost.stl" in note and "\n" not in note
    )


def test_shapes_that_do_not_collide_are_seen_where_there_are_no_looks():
    ghost = ta.Shape(ta.Box((0.1, 0.1, 0.1)), collides=False)
    assert [part.kind for part in parts_of_model(carrying(ghost)).parts] == ["box"]
    looked = parts_of_model(carrying(ghost, visuals=[ta.Visual(ta.Sphere(0.1))]))
    assert [part.kind for part in looked.parts] == ["sphere"]


def test_colours_alternate_along_a_chain_and_differ_between_robots():
    one, two = ta.robots.chain(4), ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(9, 0, 0))
    colours = own_colours(ta.World(one, two).model)
    assert colours[0] == colours[2] and colours[1] == colours[3] and colours[0] != colours[1]
    assert all(light > dark for light, dark in zip(colours[1][:3], colours[0][:3], strict=True))
    assert colours[4] not in colours[:4]
    assert all(0.0 <= x <= 1.0 for colour in colours for x in colour)


# ----- Simplification ------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [300, 2000, 10_000])
def test_a_simplified_mesh_keeps_its_box_and_its_budget(most):
    mesh = torus()
    small = simplified(mesh, most)
    assert most / 4 < len(small.faces) <= most
    assert small.faces.max() < len(small.vertices) and small.faces.min() >= 0
    # no vertex moves farther than a cell, whose side gives at least so many triangles
    sides = np.linalg.norm(
        small.vertices[small.faces] - small.vertices[np.roll(small.faces, 1, axis=1)], axis=-1
    )
    cell = sides.max()
    for end in (np.min, np.max):
        assert np.abs(end(small.vertices, axis=0) - end(mesh.vertices, axis=0)).max() < cell


def test_a_small_mesh_stays_as_it_is():
    mesh = torus(10)
    assert simplified(mesh, 200) is mesh


def test_meshes_of_a_model_share_a_budget(monkeypatch):
    mesh = torus(40)
    shop = room.Workshop()
    for key in (1, 2):
        shop.mesh(key, mesh.vertices, mesh.faces)
    monkeypatch.setattr(room, "MOST_TRIANGLES", 2000)
    out = room._within_budget(shop)
    left = sum(len(m.faces) for m in out)
    assert left <= 2000
    assert shop.notes == [f"Meshes are simplified from 6400 to {left} triangles by merging close vertices."]
