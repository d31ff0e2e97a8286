"""Draw the pictures of docs/gallery.md: every scene is run and photographed by the client of replays.

Usage: python tools/draw_gallery.py [NAME ...]; needs Chromium and taction[render].
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from taction.drawing.draw import draw_run
from taction.scenarios import get_scenario
from taction.viewer.render import Look, open_camera

FOLDER = Path(__file__).parent.parent / "docs" / "images" / "gallery"
SIZE = (560, 360)


class Scene(NamedTuple):
    """A picture: a scenario, when, from where, with what."""

    scenario: str
    time: float
    camera: str = ""
    show: tuple[str, ...] = ("forces", "cones", "points")
    settings: Mapping[str, Any] = MappingProxyType({})


SCENES = (
    Scene("quadruped-trot", 2.6, "-50,18"),
    Scene("humanoid-3d-walk", 2.2, "-40,14"),
    Scene("quadruped-walk", 2.0, "-50,18", settings={"robot": "go2"}),
    Scene("snake-sidewinding", 2.0, "-60,40", ("forces", "points", "trails")),
    Scene("dominoes", 0.6, "-60,20"),
    Scene("grasp", 0.5, "-40,25"),
    Scene("planar-push", 1.5, "-70,50"),
    Scene("simbench-666", 1.2, "-60,30", ("forces",)),
    Scene("ellipsoids", 0.4, "-60,15"),
)


def draw(scene: Scene) -> Path:
    """Run a scene and write its picture."""
    outcome = get_scenario(scene.scenario).run(duration=scene.time, parameters=scene.settings)
    assert outcome.run is not None, outcome.violations
    look = Look(*SIZE, scene.camera, scene.show, has_legend=False)
    with open_camera([draw_run(outcome.run)], look) as camera:
        path = FOLDER / f"{scene.scenario}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(camera.take(scene.time))
    return path


def main(names: list[str]) -> None:
    for scene in SCENES:
        if not names or scene.scenario in names:
            print(draw(scene))


if __name__ == "__main__":
    main(sys.argv[1:])
