"""What every scenario is put to, over a short time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from taction.cli.output import to_json
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.metric_units import UNITS
from taction.steppers.schemes.dispatch import SCHEMES


def run_short(
    short: Mapping[str, dict[str, Any]], name: str, parameters: dict[str, Any] | None = None, **options: Any
) -> Outcome:
    """A scenario with its short settings, and others on top."""
    given = {**short[name], **options}
    if "stepper" in options and SCHEMES[options["stepper"]].is_projected:
        given["coordinates"] = "absolute"
    given["parameters"] = {**short[name].get("parameters", {}), **(parameters or {})}
    return get_scenario(name).run(**given)


def assert_described(name: str) -> None:
    """A scenario says what it is; its parameters have defaults they accept, and a line of help."""
    scenario = get_scenario(name)
    assert scenario.name == name and scenario.summary and scenario.source
    assert 0 < scenario.dt < scenario.duration
    names = [p.name for p in scenario.parameters]
    assert len(set(names)) == len(names)
    for p in scenario.parameters:
        assert p.read(p.default) == p.default and type(p.read(str(p.default))) is type(p.default)
        assert p.help and not p.help.endswith(".")


def assert_passed(o: Outcome) -> None:
    """Checks passed, and numbers are numbers."""
    assert o.violations == [] and o.metrics["blew_up"] is False
    assert all(isinstance(v, (bool, float)) and math.isfinite(v) for v in o.metrics.values())
    assert o.metric_units.keys() == o.metrics.keys() and set(o.metric_units.values()) <= UNITS


def assert_sees_certificate(o: Outcome, text: str, **changes: float) -> None:
    """With a certificate changed like this the check says one thing, and says it in these words."""
    assert o.run is not None
    bad = replace(o.run, certificate=replace(o.run.certificate, **changes))
    found = get_scenario(o.scenario).check(o.metrics, bad)
    assert len(found) == 1 and text in found[0]


def assert_sees_metric(o: Outcome, metric: str, *values: float) -> None:
    """With a metric of any of these values the check says one thing."""
    assert o.run is not None
    for value in values:
        assert len(get_scenario(o.scenario).check({**o.metrics, metric: value}, o.run)) == 1


def assert_certified(o: Outcome) -> None:
    """Checks passed, numbers are numbers, every step certified and its energy accounted for."""
    assert_passed(o)
    assert o.run is not None
    assert o.run.certificate.residual <= 1e-8 and o.run.certificate.unconverged_steps == 0
    assert o.run.energy.closure <= 1e-9
    summary = json.loads(to_json(o.summary()))
    assert summary["checks"] == [] and summary["metrics"].keys() == o.metrics.keys()
