"""Masses of very different size on each other: steps at rounding, none unconverged, and strict agrees."""

from __future__ import annotations

import pytest

import taction as ta
from taction.scenarios.box_stack import EDGE, masses


def stack(boxes, ratio):
    surface = ta.Material((0.5, 0.5))
    parts = [
        ta.free_body(
            f"b{k}", ta.Box((EDGE,) * 3), mass=float(x), position=(0, 0, (k + 0.5) * EDGE), material=surface
        )
        for k, x in enumerate(masses(boxes, ratio))
    ]
    return ta.World(*parts, ground=ta.Plane(friction=0.5))


@pytest.mark.parametrize("boxes", [2, 5])
@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e8])
def test_no_step_is_unconverged(boxes, ratio):
    run = ta.Simulation(stack(boxes, ratio), dt=1e-3, strict=True).run(0.1)
    certificate = run.certificate
    assert certificate.unconverged_steps == 0
    assert (certificate.steps_at_rounding > 0) == (ratio >= 1e6)
    assert certificate.residual <= 16.0 * 2.0**-52 * ratio * 100  # bound of rounding: ε |W| |Λ| over |b|
