"""Hostile names through every page, the live view and the terminal: none may be more than text.

Usage: ``python tools/hostile_names.py [--count 200] [--seed 0] [--only pages,pictures,live,terminal]``. The
names are made from the seed alone (`hostile_words`). They come in as names in models, robots and scenarios,
in forged run files, as names of files and as words of commands (`hostile_runs`, `hostile_ways`,
`hostile_commands`), and go out in pages that a real Chromium opens, in the live view, in pictures, and in
what commands write on a pseudo-terminal (`hostile_pages`, `hostile_live`, `hostile_terminal`). The only
address in them is one of this machine, which nobody should ask for.

Prints a line for each pair of ways, with the columns of `hostile_tally`, and exits with 1 unless nothing was
executed, nothing escaped and no error was raw. What was found is said on stderr.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import taction as ta
from hostile_commands import content_cases, file_cases, make_problem, scenario_cases, word_cases
from hostile_live import watch_live
from hostile_pages import watched_browser
from hostile_runs import build_world, mjcf_text, run_world, urdf_text
from hostile_tally import BAD, Tally, judge, unknown_bytes
from hostile_terminal import RAW, read_terminal, run_cases
from hostile_ways import PAGES, pictures_of_builder
from hostile_words import as_word, hostile_names

TOGETHER = 50  # names in one page
IN_A_PICTURE = 8  # names in one picture: as many as a legend has
APART = 4  # names for which the command is a process of its own, as users start it
BUILDERS: dict[str, Callable[[str], object]] = {
    "ModelBuilder": lambda name: build_world([name]),
    "URDF text": lambda name: ta.load_urdf(urdf_text([name])),
    "MJCF text": lambda name: ta.load_mjcf(mjcf_text([name])),
}


def accepted_names(names: Sequence[str], way_in: str, tally: Tally) -> list[str]:
    """Names that a description may have; refusals are counted, and what is wrong with them."""
    out = []
    for name in names:
        _, message, bad = judge(BUILDERS[way_in], name)
        tally.note(way_in, "refusals", 1, bool(message), **bad)
        out += [] if message or bad["raw"] else [name]
    return out


def try_pages(count: int, seed: int, folder: Path, tally: Tally) -> None:
    """Every page, `TOGETHER` names at a time."""
    with watched_browser() as (watch, beacon):
        names = hostile_names(count, seed, beacon.address)
        accepted = {way_in: accepted_names(names, way_in, tally) for way_in in BUILDERS}
        for page in PAGES:
            mine = accepted[page.way_in] if page.is_checked else names
            for k in range(0, len(mine), TOGETHER):
                some, place = mine[k : k + TOGETHER], folder / f"{page.make.__name__}-{k}"
                place.mkdir()
                found, message, bad = judge(watch.compare, page.make, some, place, page.is_shown)
                tally.note(page.way_in, page.way_out, len(some), len(some) if message else 0, **bad)
                tally.note(page.way_in, page.way_out, **(found or {}))


def try_live(count: int, seed: int, folder: Path, tally: Tally) -> None:
    """The live view."""
    with watched_browser() as (watch, beacon):
        names = hostile_names(count, seed, beacon.address)
        shown = folder / "live"
        shown.mkdir()
        tally.note("files, settings", "live view", count, **watch_live(watch, names, shown))


def try_pictures(count: int, seed: int, folder: Path, tally: Tally) -> None:
    """Pictures of matplotlib, a legend full of names at a time."""
    names = accepted_names(hostile_names(count, seed), "ModelBuilder", Tally())
    for k in range(0, len(names), IN_A_PICTURE):
        some = names[k : k + IN_A_PICTURE]
        _, message, bad = judge(pictures_of_builder, some, folder / "pictures.txt")
        tally.note("ModelBuilder", "pictures", len(some), len(some) if message else 0, **bad)


def try_terminal(count: int, seed: int, folder: Path, tally: Tally) -> None:
    """Commands on a pseudo-terminal."""
    names = hostile_names(count, seed)
    run, problem = (
        run_world(build_world(["ball"]), ["x"]).save(folder / "run.h5"),
        make_problem(folder / "p.npz"),
    )
    places = [folder / name for name in ("contents", "files")]
    for place in places:
        place.mkdir()
    cases = word_cases(names, run, problem) + scenario_cases(names) + content_cases(names, places[0])
    for case, text in run_cases(cases + file_cases(names, run, problem, places[1]), folder):
        raw = [line for line in text.splitlines() if line.startswith(RAW) or "Traceback (most" in line]
        tally.note(case.way_in, case.way_out, 1, escapes=unknown_bytes(text), raw=raw)
    robot = places[0] / "robot.urdf"
    robot.write_bytes(urdf_text(accepted_names(names, "URDF text", Tally())[:TOGETHER]).encode())
    own = [(["list", as_word(name)], "") for name in names[:APART]]
    own.append((["view", str(robot), "--no-browser", "--port", "0"], "Ctrl-C ends it"))
    for words, until in own:
        text = read_terminal([sys.executable, "-m", "taction", *words], folder, until)
        raw = [line for line in text.splitlines() if "Traceback (most" in line]
        tally.note("own processes", f"taction {words[0]}", 1, escapes=unknown_bytes(text), raw=raw)


PARTS = {"pages": try_pages, "pictures": try_pictures, "live": try_live, "terminal": try_terminal}


def try_names(count: int, seed: int, parts: Sequence[str], folder: Path) -> Tally:
    """Send so many names all ways of these parts."""
    tally = Tally()
    for part in parts:
        place = folder / part
        place.mkdir()
        PARTS[part](count, seed, place, tally)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(PARTS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = try_names(given.count, given.seed, given.only.split(","), Path(folder))
    print(tally.table())
    sums = ", ".join(f"{tally.sum_of(kind)} {kind}" for kind in BAD)
    print(f"{given.count} hostile names through {given.only}, in Chromium and on a pseudo-terminal: {sums}")
    return 0 if tally.is_clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
