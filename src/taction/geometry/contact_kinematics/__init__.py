"""Kinematics of contact between curved surfaces: where two bodies are closest, and how these points move.

`closest_points` finds them, `generalised_rates` moves them (`regular_rates` while the bodies touch),
`conditions` says when that is possible, `correct` takes errors away, `track` follows a motion. Surfaces are
in `taction.geometry.surfaces`; H is the pose of body 2 in the frame of body 1, twists are angular first.
"""

from __future__ import annotations

from taction.geometry.contact_kinematics.conditions import Conditions, conditions
from taction.geometry.contact_kinematics.contact_points import ContactPoints, Rates
from taction.geometry.contact_kinematics.newton import correct
from taction.geometry.contact_kinematics.rates import generalised_rates, regular_rates
from taction.geometry.contact_kinematics.search import closest_points
from taction.geometry.contact_kinematics.track import Track, track

__all__ = [
    "Conditions",
    "ContactPoints",
    "Rates",
    "Track",
    "closest_points",
    "conditions",
    "correct",
    "generalised_rates",
    "regular_rates",
    "track",
]
