"""Files of real robots: by name from example-robot-data where it is installed, or by path."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from taction._core.errors import BadInput
from taction._core.names import choose

FOLDER = "cmeel.prefix/share/example-robot-data/robots"


def robot_files(
    name: str, known: Mapping[str, tuple[str, str | None]], others: tuple[str, ...] = ()
) -> tuple[Path, Path | None]:
    """URDF and SRDF of a robot, the latter None if there is none.

    Args:
        name: one of ``known``, or the path of a URDF file, whose SRDF may lie beside it.
        known: URDF and SRDF below the folder of example-robot-data.
        others: names that need no file, for the message.

    Raises:
        BadInput: no such robot.
    """
    if name in known:
        folder = _robot_folder()
        if folder is None:
            raise BadInput(f"robot {name!r} needs example-robot-data: pip install 'taction[bench]'")
        urdf, srdf = known[name]
        beside = folder / srdf if srdf else None
        return folder / urdf, beside if beside is not None and beside.exists() else None
    path = Path(name)
    if path.suffix != ".urdf" or not path.exists():
        raise BadInput(f"robot {name!r}: {choose(name, [*others, *known])}, or name a URDF file")
    found = [path.with_suffix(".srdf"), path.parent.parent / "srdf" / f"{path.stem}.srdf"]
    return path, next((other for other in found if other.exists()), None)


def _robot_folder() -> Path | None:
    """Where example-robot-data keeps its robots, if it is installed."""
    for place in sys.path:
        folder = Path(place) / FOLDER
        if folder.is_dir():
            return folder
    return None
