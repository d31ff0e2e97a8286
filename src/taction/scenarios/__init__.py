"""Scenarios: experiments with known answers, one file each, one line each in `SCENARIOS`."""

from __future__ import annotations

from taction._core.errors import BadInput
from taction.scenarios.base import Outcome, Parameter, Scenario
from taction.scenarios.double_pendulum import DoublePendulum
from taction.scenarios.quadruped_flight import QuadrupedFlight
from taction.scenarios.spinning_top import SpinningTop
from taction.scenarios.stiff_servo import StiffServo
from taction.scenarios.swinging_chain import SwingingChain

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        DoublePendulum(),
        SwingingChain(),
        SpinningTop(),
        QuadrupedFlight(),
        StiffServo(),
    )
}


def get_scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    if name not in SCENARIOS:
        raise BadInput(f"unknown scenario {name!r}; choose from {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


__all__ = ["SCENARIOS", "Outcome", "Parameter", "Scenario", "get_scenario"]
