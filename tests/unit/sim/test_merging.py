"""A world of several models keeps what hangs on their bodies and joints, under names of its own."""

from __future__ import annotations

import warnings

from mjcf_text import DATA
from taction.io.mjcf import load_mjcf
from taction.sim.world import World


def test_sites_tendons_actuators_and_sensors_come_along():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        hand = load_mjcf(DATA / "more" / "hand.xml")
    spec = World(hand, hand).model.spec  # compiling checks that every name still means something
    for part in ("sites", "tendons", "actuators", "sensors", "loops", "unread"):
        assert len(getattr(spec, part)) == 2 * len(getattr(hand.spec, part)) > 0
    curl = next(a for a in spec.actuators if a.name.startswith("hand2/curl"))
    assert curl.tendon in {tendon.name for tendon in spec.tendons} and curl.tendon.startswith("hand2/")
    bodies = {body.name for body in spec.bodies}
    assert all(site.body in bodies | {"world"} for site in spec.sites)
    assert {s.target for s in spec.sensors if s.part == "body"} == {"hand1/ball", "hand2/ball"}
