"""What every scenario through contact is put to, over a short time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from taction.cli.output import to_json
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.steppers.time_steppers import TIME_STEPPERS


def run_short(
    short: Mapping[str, dict[str, Any]], name: str, parameters: dict[str, Any] | None = None, **options: Any
) -> Outcome:
    """A scenario with its short settings, and others on top."""
    given = {**short[name], **options}
    if "stepper" in options and TIME_STEPPERS[options["stepper"]].is_projected:
        given["coordinates"] = "absolute"
    given["parameters"] = {**short[name].get("parameters", {}), **(parameters or {})}
    return get_scenario(name).run(**given)


def assert_certified(o: Outcome) -> None:
    """Checks passed, numbers are numbers, every step certified and its energy accounted for."""
    assert o.violations == []
    assert all(isinstance(v, (bool, float)) and math.isfinite(v) for v in o.metrics.values())
    assert o.run is not None
    assert o.run.certificate.residual <= 1e-8 and o.run.certificate.unconverged_steps == 0
    assert o.run.energy.closure <= 1e-9
    summary = json.loads(to_json(o.summary()))
    assert summary["checks"] == [] and summary["metrics"].keys() == o.metrics.keys()
