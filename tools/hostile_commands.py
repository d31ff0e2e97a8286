"""Commands with hostile words, files and contents, for `hostile_terminal`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import taction as ta
from hostile_runs import damaged_texts, forge_run, mjcf_text, plain_run, urdf_text
from hostile_terminal import Case
from hostile_words import as_file_name, as_word

# {word} is a hostile word; {run} and {problem} are files that are well
COMMANDS = (
    ("{word}",),
    ("{word}", "x"),
    ("list", "{word}"),
    ("run", "{word}"),
    ("run", "double-pendulum", "{word}"),
    ("run", "double-pendulum", "--{word}"),
    ("run", "double-pendulum", "--set", "{word}"),
    ("run", "double-pendulum", "--set", "{word}=1"),
    ("run", "double-pendulum", "--set", "m1={word}"),
    ("run", "double-pendulum", "--integrator", "{word}"),
    ("run", "double-pendulum", "--dt", "{word}"),
    ("run", "block-slope", "--contact", "{word}"),
    ("run", "block-slope", "--solver", "{word}"),
    ("run", "block-slope", "--coordinates", "{word}"),
    ("run", "double-pendulum", "--out", "{run}/{word}"),
    ("compare", "{word}"),
    ("compare", "block-slope", "--contact", "{word}"),
    ("reproduce", "{word}"),
    ("solve", "{word}"),
    ("solve", "{problem}", "--solver", "{word}"),
    ("solve", "{problem}", "--law", "{word}"),
    ("solve", "{problem}", "--out", "{run}/{word}"),
    ("view", "{word}"),
    ("view", "{word}.h5", "--html", "x.html"),
    ("view", "{run}", "--html", "{run}/{word}"),
    ("view", "double-pendulum", "--port", "{word}"),
    ("ui", "--folder", "{word}"),
    ("render", "{word}", "--gif"),
    ("render", "{run}", "--gif", "--camera", "{word}"),
    ("render", "{run}", "--png", "{word}"),
    ("render", "{run}", "--png", "t=0", "--size", "{word}"),
    ("bench", "{word}"),
    ("bench", "solvers", "{word}"),
    ("cache", "{word}"),
)


def word_cases(names: Sequence[str], run: Path, problem: Path) -> list[Case]:
    """Every command with every name where a word goes."""
    places = {"run": str(run), "problem": str(problem)}
    return [
        Case(
            "words",
            f"taction {words[0].format(word='WORD')}",
            ["taction", *(w.format(word=as_word(name), **places) for w in words)],
        )
        for words in COMMANDS
        for name in names
    ]


def scenario_cases(names: Sequence[str]) -> list[Case]:
    """Scenarios that are called like this, run, listed, and on their way."""
    out = []
    for name in names:
        word = as_word(name)
        if not word.startswith("-"):
            out += [Case("scenario", f"taction {do}", ["play", do, word]) for do in ("run", "list")]
            out.append(Case("scenario", "taction run", ["play", "run", word, "--json"]))
        out.append(Case("scenario", "progress", ["progress", name]))
    return out


def content_cases(names: Sequence[str], folder: Path) -> list[Case]:
    """Contents of files: robots that are refused or warned about, runs that say anything of themselves."""
    out = [Case("file contents", "errors", ["load", text]) for name in names for text in damaged_texts(name)]
    for name in names:
        out += [Case("file contents", "warnings", ["load", text([name])]) for text in (urdf_text, mjcf_text)]
    for k in range(0, len(names), 20):
        some = names[k : k + 20]
        for ending in (".h5", ".npz"):
            run = forge_run(plain_run(3, some), some, folder / f"forged-{k}{ending}")
            out.append(Case("forged runs", "repr", ["show", str(run)]))
            out.append(
                Case("forged runs", "taction view", ["taction", "view", str(run), "--html", f"{run}.html"])
            )
    return out


def file_cases(names: Sequence[str], run: Path, problem: Path, folder: Path) -> list[Case]:
    """Names of files that are there: problems, runs that are well or damaged, robots, folders."""
    out, problems = [], folder / "problems"
    problems.mkdir()
    for k, name in enumerate(names):
        here = folder / f"{k}"
        here.mkdir()
        solved = shutil.copy(problem, problems / as_file_name(name, ".npz"))
        shown = shutil.copy(run, here / as_file_name(name, ".h5"))
        damaged = here / as_file_name(name, ".hdf5")
        damaged.write_bytes(b"damaged")
        robot = here / as_file_name(name, ".urdf")
        robot.write_bytes(urdf_text([name]).encode("utf-8", "replace"))
        page = here / as_file_name(name, ".html")
        out += [
            Case("file names", "taction solve", ["taction", "solve", str(solved), "--out", str(here)]),
            Case("file names", "taction view", ["taction", "view", str(shown), "--html", str(page)]),
            Case("file names", "taction view", ["taction", "view", str(damaged), "--html", str(page)]),
            Case(
                "file names", "taction view", ["taction", "view", str(robot), "--no-browser", "--port", "0"]
            ),
            Case("file names", "taction render", ["taction", "render", str(damaged), "--gif"]),
            Case("file names", "taction run", ["taction", "run", "double-pendulum", "--out", str(damaged)]),
        ]
    out.append(Case("file names", "taction solve", ["taction", "solve", str(problems)]))
    return out


def make_problem(path: Path) -> Path:
    """A problem of one contact."""
    problem = ta.ContactProblem(np.eye(3), np.array([-1.0, 0.1, 0.0]), [ta.Contact(0.5, 0.5)])
    return ta.save_problem(problem, path)
