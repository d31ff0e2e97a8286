"""Make a `Drawing` of a run, or of poses that come from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array
from taction.drawing.description import Drawing, Frames, Trail
from taction.drawing.motion import MOST_CONTACTS, frames_of_poses, frames_of_run
from taction.drawing.open_forces import describe_steps, open_steps
from taction.drawing.outline import outline_bodies
from taction.drawing.panels import (
    Panel,
    certificate_panel,
    contact_panels,
    energy_panels,
    error_panel,
    motion_panels,
)
from taction.drawing.parts import parts_of_model
from taction.drawing.sampling import BUDGET, choose_rows
from taction.drawing.view import choose_view
from taction.model.model import Model
from taction.sim.run import Run

# Ends of a mechanism whose paths can be shown.
MOST_TRAILS = 8


def draw_run(
    run: Run, *, title: str = "", budget: int = BUDGET, panels: Sequence[Panel] | None = None
) -> Drawing:
    """All there is to draw of a run.

    Args:
        run: in memory, or ``load_run(path).as_run()``.
        title: the model's name by default.
        budget: bytes that frames may take before they are compressed.
        panels: curves; by default those of certificate, energy, motion and contact.
    """
    rows, sentence = choose_rows(run, budget)
    notes = [sentence]
    if run.contacts is not None and run.steps:
        if np.bincount(run.contacts.step, minlength=1).max() > MOST_CONTACTS:
            notes.append(f"Of each frame the {MOST_CONTACTS} contacts with the largest forces are shown.")
        if sentence := describe_steps(open_steps(run), run):
            notes.append(f"{sentence} Only their sums are determined; they have a colour of their own there.")
    if panels is None:
        panels = run_panels(run)
    return draw_frames(run.model, frames_of_run(run, rows), run.dt, title=title, panels=panels, notes=notes)


def draw_poses(model: Model, t: Array, position: Array, quaternion: Array, *, title: str = "") -> Drawing:
    """A motion known by the poses of a model's bodies alone, every one of them a frame.

    Args:
        model: what moves.
        t: times [s], at least two, shape (n,).
        position: of each body's frame [m], shape (n, b, 3).
        quaternion: of each body, w first, shape (n, b, 4).
        title: the model's name by default.
    """
    notes = [f"{len(t)} frames, in 32-bit numbers."]
    frames = frames_of_poses(model, t, position, quaternion)
    return draw_frames(model, frames, float(t[1] - t[0]), title=title, notes=notes)


def draw_frames(
    model: Model,
    frames: Frames,
    dt: float,
    *,
    title: str = "",
    panels: Sequence[Panel] = (),
    notes: Sequence[str] = (),
) -> Drawing:
    """Frames with what is seen of a model; dt is the step of what made them [s]."""
    shop = parts_of_model(model)
    return Drawing(
        title=title or model.name,
        bodies=tuple(model.body_names),
        parts=shop.parts,
        meshes=shop.meshes,
        frames=frames,
        view=choose_view(frames, shop.parts, shop.meshes),
        dt=dt,
        trails=trails_of_model(model),
        panels=list(panels),
        notes=[*notes, *shop.notes],
    )


def run_panels(run: Run) -> list[Panel]:
    """The curves of a run: residual, errors, energies, contacts, motion."""
    if not run.steps:
        return []
    first = [panel for panel in (certificate_panel(run), error_panel(run)) if panel is not None]
    return [*first, *energy_panels(run), *contact_panels(run), *motion_panels(run)]


def trails_of_model(model: Model) -> list[Trail]:
    """The centre of mass, and the tips of bodies that carry no other, if there are a few."""
    out = [Trail("centre of mass", -1)]
    parents = {joint.parent for joint in model.spec.joints}
    tips = outline_bodies(model)
    ends = [
        Trail(body.name, number, tips[number].tip)
        for number, body in enumerate(model.spec.bodies)
        if body.name not in parents
    ]
    return out + (ends if len(ends) <= MOST_TRAILS else [])
