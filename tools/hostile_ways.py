"""Pages of hostile names, one function for each way in: names and a path in, a page out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import taction as ta
from hostile_runs import STEP, STEPS, build_world, forge_run, mjcf_text, plain_run, run_world, urdf_text
from taction.cli.main import main
from taction.drawing.draw import draw_run
from taction.drawing.panels import Curve, Panel
from taction.report.figures import save_figures
from taction.report.page import Key, definitions, legend, make_bare_page, make_page, section, write_page
from taction.report.panel_pictures import panel_pictures
from taction.report.profiles import save_profiles
from taction.report.replay import replay_part, runs_part, script_part
from taction.report.run_report import write_outcome
from taction.scenarios import get_scenario
from taction.sim.run import Run
from taction.studies.comparison import Comparison, compare_models
from taction.studies.comparison_page import write_comparison

Maker = Callable[[Sequence[str], Path], Path]


def page_of_builder(names: Sequence[str], path: Path) -> Path:
    """The page of a run of a model made by `ta.ModelBuilder`."""
    return run_world(build_world(names), names).report(path)


def page_of_urdf(names: Sequence[str], path: Path) -> Path:
    """The page of a run of a robot from URDF text."""
    return _page_of_model(ta.load_urdf(urdf_text(names)), names, path)


def page_of_mjcf(names: Sequence[str], path: Path) -> Path:
    """The page of a run of a robot from MJCF text."""
    return _page_of_model(ta.load_mjcf(mjcf_text(names)), names, path)


def _page_of_model(model: ta.Model, names: Sequence[str], path: Path) -> Path:
    return run_world(ta.World(model, ground=ta.Plane()), names).report(path)


def page_of_forged_h5(names: Sequence[str], path: Path) -> Path:
    """What ``taction view RUN.h5 --html`` makes of a forged file."""
    return _viewed(forge_run(plain_run(len(names), names), names, path.with_suffix(".h5")), path)


def page_of_forged_npz(names: Sequence[str], path: Path) -> Path:
    """The same of a forged ``.npz`` file."""
    return _viewed(forge_run(plain_run(len(names), names), names, path.with_suffix(".npz")), path)


def _viewed(run: Path, path: Path) -> Path:
    said, sys.stderr = sys.stderr, open(path.with_suffix(".txt"), "w", encoding="utf-8")
    try:
        if main(["view", str(run), "--html", str(path)]):
            sys.stderr.flush()
            raise ta.BadInput(path.with_suffix(".txt").read_text(encoding="utf-8").strip())
    finally:
        sys.stderr.close()
        sys.stderr = said
    return path


def page_of_outcome(names: Sequence[str], path: Path) -> Path:
    """The page of a scenario whose name, parameters, metrics, units and answers are hostile."""
    made = get_scenario("double-pendulum").run(duration=0.005)
    said = dict(zip(names, names, strict=True))
    outcome = replace(
        made,
        scenario=names[0],
        integrator=names[-1],
        parameters=said,
        metrics=said,
        metric_units=said,
        violations=list(names),
    )
    return write_outcome(outcome, path)


@cache
def _compared() -> Comparison:
    return compare_models("block-slope", ["exact", "convex"], duration=0.02)


def page_of_comparison(names: Sequence[str], path: Path) -> Path:
    """The page of ``taction compare``."""
    found, said = _compared(), dict(zip(names, names, strict=True))
    models = [
        replace(
            model,
            name=name,
            missed=list(names),
            outcome=replace(model.outcome, metrics=said, integrator=name),
        )
        for model, name in zip(found.models, (names[0], names[-1]), strict=True)
    ]
    return write_comparison(replace(found, scenario=names[0], parameters=said, models=models), path)


def page_of_profiles(names: Sequence[str], path: Path) -> Path:
    """The page of ``taction bench solvers``: solvers and problems by name."""
    record = {"contacts": 1, "seconds": 1e-3, "iterations": 3, "residual": 1e-9, "solved": True}
    solvers = names[:3]
    records = [record | {"solver": s, "case": case, "status": case} for case in names for s in solvers]
    records += [r | {"solved": False, "case": f"{r['case']}!"} for r in records]
    return save_profiles(records, path.parent, title=names[0], note=names[-1])[1]


def page_of_parts(names: Sequence[str], path: Path) -> Path:
    """What ``taction reproduce`` makes its pages of: sections, definitions, legends, panels as pictures."""
    line = np.linspace(0.0, 1.0, 3)
    panels = [
        Panel(
            name, name, [Curve(name, line, line), Curve(f"{name}'", line, line)], note=name, limit=(0.5, name)
        )
        for name in names[:8]
    ]
    keys = legend([Key(name, "#123456") for name in names])
    parts = [section(name, keys) for name in names[:1]] + [definitions(dict(zip(names, names, strict=True)))]
    parts += [panel_pictures(panels), runs_part({names[0]: _one_run(), names[-1]: _one_run()}), script_part()]
    return write_page(path, make_page(names[0], parts, list(names)))


@cache
def _one_run() -> Run:
    return run_world(build_world(["ball"]), ["ball"])


def page_of_render(names: Sequence[str], path: Path) -> Path:
    """The page that ``taction render`` takes its pictures of, and the pictures of matplotlib beside it."""
    world = build_world(names)
    run = ta.Simulation(world, dt=STEP).run(STEP * STEPS)
    drawing = draw_run(run, panels=[], title=names[0])
    parts = [replay_part([(drawing.title, drawing)]), script_part()]
    return write_page(path, make_bare_page(drawing.title, parts))


def pictures_of_builder(names: Sequence[str], path: Path) -> Path:
    """The pictures of ``taction run --out`` and of `Run.plot`."""
    for some in (names, names[:4]):
        run = ta.Simulation(build_world(some), dt=STEP).run(STEP * STEPS)
        save_figures(run, path.parent / "pictures", title=names[0])
        run.plot().savefig(path.with_suffix(".png"))
    return path


class Page(NamedTuple):
    """A page and the ways that names go into it and out of it.

    Attributes:
        way_in: where names come from.
        way_out: what makes the page.
        make: names and a path in, the page out.
        is_checked: whether names that a description refuses are left out.
        is_shown: whether all names are to be read in the page.
    """

    way_in: str
    way_out: str
    make: Maker
    is_checked: bool = False
    is_shown: bool = True


PAGES = (
    Page("ModelBuilder", "run.report", page_of_builder, is_checked=True),
    Page("URDF text", "run.report", page_of_urdf, is_checked=True),
    Page("MJCF text", "run.report", page_of_mjcf, is_checked=True),
    Page("forged .h5", "view --html", page_of_forged_h5),
    Page("forged .npz", "view --html", page_of_forged_npz),
    Page("scenario", "run --report", page_of_outcome),
    Page("scenario", "compare", page_of_comparison),
    Page("problem files", "bench solvers --out", page_of_profiles),
    Page("parts of pages", "reproduce", page_of_parts),
    Page("ModelBuilder", "render", page_of_render, is_checked=True, is_shown=False),
)
