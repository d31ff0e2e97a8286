"""Grasps: held and lost at the closed-form limit, in both coordinates; corners share alike."""

from __future__ import annotations

import pytest

from taction.scenarios import get_scenario

COORDINATES = ["reduced", "absolute"]


def grasp(duration=0.5, coordinates="reduced", **parameters):
    return get_scenario("grasp").run(duration=duration, coordinates=coordinates, parameters=parameters)


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize(("offset", "margin"), [(0.0, 0.005), (0.03, 0.01)])
def test_the_threshold_is_the_closed_form(coordinates, offset, margin):
    held = grasp(coordinates=coordinates, offset=offset, squeeze=1.0 + margin)
    lost = grasp(coordinates=coordinates, offset=offset, squeeze=1.0 - margin)
    assert held.violations == [] and held.metrics["slip"] <= 1e-9
    assert lost.violations == [] and lost.metrics["slip"] >= 1e-3
    assert held.run.certificate.no_choice == 0


def test_a_slipping_box_falls_by_what_friction_lacks():
    out = grasp(squeeze=0.98)
    assert out.metrics["slip"] == pytest.approx(0.5 * 0.02 * 9.81 * 0.5**2, rel=5e-3)


def test_lifting_and_shaking_does_not_slip():
    out = grasp(duration=3.5, squeeze=1.05, motion="shake")
    assert out.violations == [] and out.metrics["slip"] <= 1e-6
    assert out.metrics["imbalance"] <= 1e-6


def test_what_is_not_unique_is_counted():
    certificate = grasp(duration=0.05).run.certificate
    assert certificate.impulses_not_unique == certificate.velocities_not_unique == 50
