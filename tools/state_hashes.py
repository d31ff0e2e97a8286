"""Digests of the last state of every scenario, in both coordinates where it has them.

For changes that must not change a number: run it before and after, with ``--against`` the earlier output.

Usage: ``python tools/state_hashes.py [--against FILE.json] > FILE.json``; progress goes to stderr. Settings
are those of the scenarios' tests (``SHORT`` in ``tests/scenarios``), else half a second. Exits with 1 if any
digest differs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("test_scenarios", "test_contact_impacts", "test_simbench", "test_snake")
ELSE = 0.5  # duration of scenarios whose tests name none [s]


def settings() -> dict[str, dict[str, Any]]:
    """Options of each scenario's short run."""
    from taction.scenarios import SCENARIOS

    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "scenarios")]
    out: dict[str, dict[str, Any]] = {name: {"duration": ELSE} for name in SCENARIOS}
    for module in MODULES:
        for name, short in importlib.import_module(module).SHORT.items():
            if isinstance(short, tuple):
                out[name] = {"duration": short[0], "parameters": short[1]}
            else:
                out[name] = short if isinstance(short, dict) else {"duration": short}
    return out


def digest(name: str, options: dict[str, Any]) -> str:
    from taction import BadInput
    from taction.scenarios import get_scenario

    try:
        outcome = get_scenario(name).run(**options)
    except BadInput as error:
        return f"refused: {str(error)[:60]}"
    return "no run" if outcome.run is None else outcome.run.hashes[-1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--against", type=Path)
    earlier = parser.parse_args().against
    table: dict[str, str] = {}
    for name, options in settings().items():
        is_smooth = name in importlib.import_module("test_scenarios").SHORT
        for coordinates in ("reduced",) if is_smooth else ("reduced", "absolute"):
            key = f"{name} {coordinates}"
            table[key] = digest(name, options if is_smooth else {**options, "coordinates": coordinates})
            print(key, table[key], file=sys.stderr, flush=True)
    print(json.dumps(table, indent=1))
    before = json.loads(earlier.read_text()) if earlier else table
    different = [key for key in table if before.get(key) != table[key]]
    for key in different:
        print(f"differs: {key}: {before.get(key)} before, {table[key]} now", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
