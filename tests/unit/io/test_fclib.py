"""FCLib files: what is written is read again, others' layouts are understood, broken files say so."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.io.fclib import read_fclib, read_fclib_impulses, write_fclib

RNG = np.random.default_rng(5)


def spd(n: int) -> np.ndarray:
    A = RNG.normal(size=(n, n))
    return A @ A.T + np.eye(n)


def put_matrix(parent, name, matrix, layout="rows", swap=False):
    """A matrix as other programs write it."""
    group = parent.create_group(name)
    match layout:
        case "rows":
            A, nz = sp.csr_array(matrix), -2
            p, i, x = A.indptr, A.indices, A.data
        case "columns":
            A, nz = sp.csc_array(matrix), -1
            p, i, x = A.indptr, A.indices, A.data
        case "triplets":
            A = sp.coo_array(matrix)
            nz = A.nnz
            p, i, x = (A.col, A.row, A.data) if swap else (A.row, A.col, A.data)
    numbers = {"m": matrix.shape[0], "n": matrix.shape[1], "nz": nz, "nzmax": len(x)}
    for key, value in numbers.items():
        group[key] = np.array([value], dtype=np.int32)
    group["p"], group["i"], group["x"] = np.asarray(p, np.int32), np.asarray(i, np.int32), x


def local_file(path, W, q, mu, *, spacedim=3, layout="rows", **equations):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([spacedim], dtype=np.int32)
        put_matrix(group, "W", W, layout)
        group["vectors/q"], group["vectors/mu"] = q, mu
        if equations:
            put_matrix(group, "V", equations["V"], layout)
            put_matrix(group, "R", equations["R"], layout)
            group["vectors/s"] = equations["s"]
    return path


@pytest.fixture
def simple(tmp_path):
    return local_file(tmp_path / "simple.hdf5", spd(6), RNG.normal(size=6), np.array([0.3, 0.7]))


@pytest.mark.parametrize("layout", ["rows", "columns", "triplets"])
def test_layouts_of_matrices(tmp_path, layout):
    W, q = spd(6), RNG.normal(size=6)
    W[0, 5] = W[5, 0] = 0.0
    W[1, 2] += 1e-3  # slightly asymmetric, so that rows and columns cannot be confused
    problem = read_fclib(local_file(tmp_path / "p.hdf5", W, q, np.array([0.3, 0.7]), layout=layout))
    assert (problem.W.toarray() == W).all() and (problem.b == q).all()
    assert problem.elements == (Contact(0.3), Contact(0.7)) and problem.name == "p"


def test_equations_of_a_local_problem(tmp_path):
    W, V, R, q, s = spd(3), RNG.normal(size=(3, 2)), spd(2), RNG.normal(size=3), RNG.normal(size=2)
    problem = read_fclib(local_file(tmp_path / "p.h5", W, q, np.array([0.5]), V=V, R=R, s=s))
    assert problem.elements == (Contact(0.5), Bilateral(2))
    r, multiplier = RNG.normal(size=3), RNG.normal(size=2)
    u = problem.velocity(np.concatenate([r, multiplier]))
    np.testing.assert_allclose(u[:3], W @ r + V @ multiplier + q, rtol=1e-13)
    np.testing.assert_allclose(u[3:], V.T @ r + R @ multiplier + s, rtol=1e-13)


@pytest.mark.parametrize(("layout", "swap"), [("rows", False), ("triplets", False), ("triplets", True)])
@pytest.mark.parametrize("equations", [0, 2])
def test_global_problem_is_reduced(tmp_path, layout, swap, equations):
    """u of the reduced problem is Hᵀv + w with M v = H r + G λ + f; its equations are Gᵀv + b."""
    n, m = 9, 6
    M, H, G = spd(n), RNG.normal(size=(n, m)), RNG.normal(size=(n, equations))
    f, w, b = RNG.normal(size=n), RNG.normal(size=m), RNG.normal(size=equations)
    with h5py.File(tmp_path / "g.hdf5", "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([3], dtype=np.int32)
        put_matrix(group, "M", M, "columns")
        put_matrix(group, "H", H, layout, swap)
        if equations:
            put_matrix(group, "G", G, layout, swap)
            group["vectors/b"] = b
        group["vectors/f"], group["vectors/w"], group["vectors/mu"] = f, w, np.array([0.2, 0.0])
    problem = read_fclib(tmp_path / "g.hdf5")
    r, multiplier = RNG.normal(size=m), RNG.normal(size=equations)
    v = np.linalg.solve(M, H @ r + G @ multiplier + f)
    want = np.concatenate([H.T @ v + w, G.T @ v + b])
    np.testing.assert_allclose(problem.velocity(np.concatenate([r, multiplier])), want, rtol=1e-10)
    assert problem.elements[:2] == (Contact(0.2), Contact(0.0))
    assert problem.elements[2:] == ((Bilateral(2),) if equations else ())


def test_plane_contacts_get_a_row_of_their_own(tmp_path):
    W, q = spd(4), RNG.normal(size=4)
    path = local_file(tmp_path / "plane.hdf5", W, q, np.array([0.3, 0.4]), spacedim=2)
    with h5py.File(path, "a") as file:
        file["solution/r"] = np.arange(1.0, 5.0)
    problem = read_fclib(path)
    rows = [0, 1, 3, 4]
    full = problem.W.toarray()
    assert problem.contacts == 2 and problem.size == 6
    assert (full[np.ix_(rows, rows)] == W).all() and (problem.b[rows] == q).all()
    for idle in (2, 5):
        assert problem.b[idle] == 0.0 and full[idle, idle] == pytest.approx(np.diag(W).mean())
        assert np.count_nonzero(full[idle]) == np.count_nonzero(full[:, idle]) == 1
    assert read_fclib_impulses(path).solution.tolist() == [1, 2, 0, 3, 4, 0]


def test_round_trip_is_exact(tmp_path):
    W, q = spd(8), RNG.normal(size=8)
    elements = [Contact(0.3), Contact(0.0), Bilateral(2)]
    problem = ContactProblem(W, q, elements, name="two")
    impulse = RNG.normal(size=8)
    again = read_fclib(write_fclib(problem, tmp_path / "two.hdf5", impulse))
    assert (again.W.toarray() == problem.W).all() and (again.b == q).all()
    assert list(again.elements) == elements and again.name == "two"
    stored = read_fclib_impulses(tmp_path / "two.hdf5")
    assert (stored.solution == impulse).all() and stored.guesses == ()


def test_layout_of_a_written_file(tmp_path):
    problem = ContactProblem(spd(5), RNG.normal(size=5), [Bilateral(2), Contact(0.4)], name="tänk")
    impulse = RNG.normal(size=5)
    with h5py.File(write_fclib(problem, tmp_path / "p.hdf5", impulse)) as file:
        local = file["fclib_local"]
        assert local["spacedim"][()].tolist() == [3]
        assert {"W", "V", "R", "vectors", "info", "spacedim"} == set(local)
        assert {key: local["W"][key].dtype.kind for key in "mnpix"} == dict.fromkeys("mnpi", "i") | {"x": "f"}
        assert all(local[f"W/{key}"].dtype == np.int32 for key in ("m", "n", "nz", "nzmax", "p", "i"))
        assert local["W/nz"][0] == -2 and local["W/nzmax"][0] == 9
        assert local["info/title"][()].decode() == "tänk" and "frame" in local["info/math_info"][()].decode()
        assert (local["vectors/q"][()] == problem.b[2:]).all()  # contacts come first
        assert (local["vectors/s"][()] == problem.b[:2]).all()
        assert (file["solution/r"][()] == impulse[2:]).all() and (file["solution/l"][()] == impulse[:2]).all()
        np.testing.assert_allclose(file["solution/u"][()], problem.velocity(impulse)[2:], rtol=1e-14)


def test_elements_without_friction_become_contacts_without_friction(tmp_path):
    problem = ContactProblem(spd(5), RNG.normal(size=5), [Unilateral(), Contact(0.4), JointLimit()])
    again = read_fclib(write_fclib(problem, tmp_path / "p.hdf5"))
    assert again.elements == (Contact(0.0), Contact(0.4), Contact(0.0))
    rows = [0, 3, 4, 5, 6]
    assert (again.W.toarray()[np.ix_(rows, rows)] == problem.W).all()
    assert (again.b[rows] == problem.b).all() and not again.b[[1, 2, 7, 8]].any()


def test_compliance_is_folded_in(tmp_path):
    W, give = spd(3), np.array([0.1, 0.2, 0.3])
    problem = ContactProblem(W, RNG.normal(size=3), [Contact(0.4)], compliance=give)
    again = read_fclib(write_fclib(problem, tmp_path / "p.hdf5"))
    assert (again.W.toarray() == W + np.diag(give)).all() and again.compliance is None


def test_guesses_are_read_in_order(simple):
    with h5py.File(simple, "a") as file:
        for k in (10, 2, 1):
            file[f"guesses/{k}/r"] = np.full(6, float(k))
        file["guesses/number_of_guesses"] = np.array([3], dtype=np.int32)
    stored = read_fclib_impulses(simple)
    assert stored.solution is None and [g[0] for g in stored.guesses] == [1.0, 2.0, 10.0]


@pytest.mark.parametrize(
    ("element", "law", "message"),
    [
        (JointFriction(2.0), "exact", r"elements\[1\]: FCLib cannot express JointFriction\(bound=2.0\)"),
        (Contact(0.3, lateral=0.5), "exact", r"elements\[1\]: FCLib has no orthotropic friction"),
        (Contact(0.3, backward=0.1), "exact", r"elements\[1\]: FCLib has no orthotropic friction"),
        (Contact(0.3, viscous=0.1), "exact", r"elements\[1\]: FCLib has no viscous friction"),
        (Contact(0.3), "convex", "the exact law only, the problem has 'convex'"),
    ],
)
def test_what_fclib_has_no_word_for(tmp_path, element, law, message):
    n = 3 + element.rows
    problem = ContactProblem(np.eye(n), np.ones(n), [Contact(0.3), element], law=law)
    with pytest.raises(BadInput, match=message):
        write_fclib(problem, tmp_path / "p.hdf5")
    assert not (tmp_path / "p.hdf5").exists()


def test_a_place_that_cannot_be_written(tmp_path):
    problem = ContactProblem(np.eye(3), np.ones(3), [Contact(0.3)])
    with pytest.raises(BadInput, match=r"p\.hdf5: cannot be written \(No such file"):
        write_fclib(problem, tmp_path / "nowhere" / "p.hdf5")


# ----- Broken files --------------------------------------------------------------------------------------


def replace(name, value):
    def change(file):
        del file[f"fclib_local/{name}"]
        if value is not None:
            file[f"fclib_local/{name}"] = value

    return change


def rename(file):
    file.move("fclib_local", "something")


BROKEN = {
    "no group": (rename, "not an FCLib file"),
    "group is data": (
        lambda f: (rename(f), f.create_dataset("fclib_local", data=1.0)),
        "fclib_local is missing",
    ),
    "no matrix": (replace("W", None), "group W is missing"),
    "no vectors": (replace("vectors", None), "group vectors is missing"),
    "no mu": (replace("vectors/mu", None), "vectors/mu: missing"),
    "no x": (replace("W/x", None), "W/x: missing"),
    "no spacedim": (replace("spacedim", None), "spacedim: missing"),
    "spacedim": (replace("spacedim", np.array([4])), "spacedim: 4, must be 2 or 3"),
    "spacedim is two": (replace("spacedim", np.array([2])), "vectors/mu: 2 numbers, expected 3"),
    "short q": (replace("vectors/q", np.ones(5)), "vectors/q: 5 numbers, expected 6"),
    "long mu": (replace("vectors/mu", np.ones(3)), "vectors/mu: 3 numbers, expected 2"),
    "negative mu": (replace("vectors/mu", np.array([0.1, -1.0])), "vectors/mu: coefficient 1 is negative"),
    "nan in q": (replace("vectors/q", np.full(6, np.nan)), "vectors/q: contains NaN"),
    "nan in W": (replace("W/x", np.full(36, np.nan)), "W/x: contains NaN"),
    "text in q": (replace("vectors/q", np.array([b"x"] * 6)), "vectors/q: not a numeric array"),
    "floats as indices": (replace("W/i", np.zeros(36)), "W/i: must be integers"),
    "short x": (replace("W/x", np.ones(4)), "W/p: not the starts"),
    "wild index": (replace("W/i", np.full(36, 6)), "W/i: indices outside"),
    "negative index": (replace("W/i", np.full(36, -1)), "W/i: indices outside"),
    "starts fall": (replace("W/p", np.array([0, 6, 5, 18, 24, 30, 36])), "W/p: not the starts"),
    "not square": (replace("W/n", np.array([7])), "W: is 6 × 7, must be square"),
    "other layout": (replace("W/nz", np.array([-3])), "W/nz: -3, must be"),
    "few triplets": (replace("W/nz", np.array([40])), "W: 40 triplets announced, 7 there"),
    "two sizes": (replace("W/m", np.array([6, 6])), "W/m: must be one number"),
    "not symmetric": (replace("W/x", np.arange(36.0)), "W: not symmetric"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_file(simple, change, message):
    with h5py.File(simple, "a") as file:
        change(file)
    with pytest.raises(BadInput) as caught:
        read_fclib(simple)
    text = str(caught.value)
    assert text.startswith(f"{simple}: ") and message in text and "\n" not in text


@pytest.mark.parametrize("content", [b"", b"not HDF5 at all", b"\x89HDF\r\n\x1a\n" + bytes(40)])
def test_not_hdf5(tmp_path, content):
    path = tmp_path / "p.hdf5"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"p\.hdf5: cannot be read as HDF5") as caught:
        read_fclib(path)
    assert "\n" not in str(caught.value)


def test_cut_off(simple):
    simple.write_bytes(simple.read_bytes()[:3000])
    with pytest.raises(BadInput, match=r"simple\.hdf5: "):
        read_fclib(simple)


def test_no_such_file(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        read_fclib(tmp_path / "p.hdf5")


def test_singular_mass(tmp_path):
    with h5py.File(tmp_path / "g.hdf5", "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([3], dtype=np.int32)
        put_matrix(group, "M", np.diag([1.0, 1.0, 0.0]))
        put_matrix(group, "H", np.eye(3))
        group["vectors/f"], group["vectors/w"], group["vectors/mu"] = np.ones(3), np.ones(3), np.ones(1)
    with pytest.raises(BadInput, match="M: singular"):
        read_fclib(tmp_path / "g.hdf5")
