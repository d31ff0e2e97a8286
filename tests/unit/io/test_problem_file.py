"""Problem files: exact to the bit, without pickles, and clear about what is broken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taction._core.errors import BadInput
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.io.problem_file import KINDS, load_problem, problem_files, save_problem

ELEMENTS = [
    Contact(0.3),
    JointFriction(1.5),
    Contact(0.1, lateral=0.7, backward=1 / 3, viscous=2.0),
    Unilateral(),
    Bilateral(4),
    JointLimit(),
]
SIZE = sum(e.rows for e in ELEMENTS)


def make(**options):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(SIZE, SIZE))
    return ContactProblem(options.pop("W", A @ A.T), rng.normal(size=SIZE), ELEMENTS, **options)


def same(a, b) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("law", ["exact", "convex", "pyramid", "frictionless"])
def test_dense_round_trip(tmp_path, law):
    problem = make(law=law, sides=6, name="α 1", compliance=np.linspace(0, 1, SIZE))
    again = load_problem(save_problem(problem, tmp_path / "p.npz"))
    assert isinstance(again, ContactProblem)
    assert (
        same(again.W, problem.W) and same(again.b, problem.b) and same(again.compliance, problem.compliance)
    )
    assert again.elements == problem.elements and {type(e) for e in again.elements} == set(KINDS)
    assert (again.law, again.sides, again.name) == (law, 6, "α 1")


def test_sparse_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(SIZE, SIZE)) * (rng.random((SIZE, SIZE)) < 0.2)
    problem = make(W=sp.csr_array(W + W.T))
    again = load_problem(save_problem(problem, tmp_path / "p.npz"))
    for part in ("data", "indices", "indptr"):
        assert same(getattr(again.W, part), getattr(problem.W, part))
    assert again.compliance is None


def test_matrix_free_is_written_out(tmp_path):
    class Applied:
        shape = (SIZE, SIZE)

        def __matmul__(self, x):
            return 2.0 * np.asarray(x)

    again = load_problem(save_problem(make(W=Applied()), tmp_path / "p.npz"))
    assert (again.W == 2.0 * np.eye(SIZE)).all()


def test_no_elements(tmp_path):
    again = load_problem(save_problem(ContactProblem(np.zeros((0, 0)), [], []), tmp_path / "p.npz"))
    assert again.size == 0 and again.elements == ()


def test_linear_complementarity(tmp_path):
    problem = LinearComplementarityProblem(np.array([[2.0, 1.0], [0.0, 1 / 3]]), np.array([-1.0, 2.0]))
    again = load_problem(save_problem(problem, tmp_path / "p.npz"))
    assert isinstance(again, LinearComplementarityProblem)
    assert same(again.M, problem.M) and same(again.q, problem.q)
    with pytest.raises(BadInput, match="FCLib has no linear complementarity"):
        save_problem(problem, tmp_path / "p.hdf5")


@pytest.mark.parametrize("name", ["p.hdf5", "p.h5", "P.HDF5"])
def test_fclib_by_suffix(tmp_path, name):
    problem = ContactProblem(np.eye(3), np.ones(3), [Contact(0.3)])
    again = load_problem(save_problem(problem, tmp_path / name))
    assert again.elements == problem.elements and (again.b == problem.b).all()


def test_files_of_a_folder(tmp_path):
    for name in ("b.npz", "a.hdf5", "c.H5", "notes.txt", "peers.csv"):
        (tmp_path / name).touch()
    (tmp_path / "deep.npz").mkdir()
    assert [p.name for p in problem_files(tmp_path)] == ["a.hdf5", "b.npz", "c.H5"]
    with pytest.raises(BadInput, match="no problem files"):
        problem_files(tmp_path / "deep.npz")
    with pytest.raises(BadInput, match="No such file"):
        problem_files(tmp_path / "nowhere")


def broken(tmp_path, **changes):
    path = save_problem(make(W=sp.eye_array(SIZE).tocsr()), tmp_path / "p.npz")
    with np.load(path) as file:
        arrays = dict(file)
    for key, value in changes.items():
        arrays.pop(key, None)
        if value is not None:
            arrays[key] = value
    np.savez(path, **arrays)
    return path


BROKEN = {
    "array is missing": ({"law": None}, "array law is missing"),
    "no format": ({"format": None}, "neither a contact problem nor"),
    "format of the future": ({"format": np.array("taction contact problem 99")}, "problem 99' is unknown"),
    "text for numbers": ({"b": np.array(["x"] * SIZE)}, "array b: not what"),
    "nan": ({"b": np.full(SIZE, np.nan)}, "b: contains NaN"),
    "nan in an element": ({"parameter": np.full((6, 4), np.nan)}, "array parameter: contains NaN"),
    "unknown kind": ({"kind": np.full(6, 9)}, "do not describe elements"),
    "too few parameters": ({"parameter": np.ones((6, 3))}, "do not describe elements"),
    "negative friction": ({"parameter": np.full((6, 4), -1.0)}, "Contact.friction: -1"),
    "unknown law": ({"law": np.array("sticky")}, "unknown law 'sticky'"),
    "short b": ({"b": np.ones(SIZE - 1)}, "do not fit together"),
    "wild index": ({"W_indices": np.full(SIZE, SIZE)}, "do not fit together"),
    "rows too few": ({"W_indptr": np.arange(SIZE)}, "do not fit together"),
    "pickle": ({"name": np.array([{}], dtype=object)}, "cannot be read"),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_file(tmp_path, changes, message):
    path = broken(tmp_path, **changes)
    with pytest.raises(BadInput) as caught:
        load_problem(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ") and message in text and "\n" not in text


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 and then nothing"])
def test_not_an_archive(tmp_path, content):
    (tmp_path / "p.npz").write_bytes(content)
    with pytest.raises(BadInput, match=r"p\.npz: not an \.npz file"):
        load_problem(tmp_path / "p.npz")


def test_damaged_archive(tmp_path):
    path = save_problem(make(), tmp_path / "p.npz")
    data = bytearray(path.read_bytes())
    data[200:400] = bytes(200)
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"p\.npz: "):
        load_problem(path)


def test_files_that_are_not_there_or_not_ours(tmp_path):
    with pytest.raises(BadInput, match=r"p\.npz: no such file"):
        load_problem(tmp_path / "p.npz")
    with pytest.raises(BadInput, match=r"p\.mat: unknown kind of file; problems end in \.hdf5, \.h5, \.npz"):
        load_problem(tmp_path / "p.mat")
    with pytest.raises(BadInput, match=r"cannot be written \(No such file"):
        save_problem(make(), tmp_path / "nowhere" / "p.npz")


def test_lcp_file_that_is_not_square(tmp_path):
    np.savez(tmp_path / "p.npz", M=np.ones((2, 3)), q=np.ones(2))
    with pytest.raises(BadInput, match=r"p\.npz: "):
        load_problem(tmp_path / "p.npz")
