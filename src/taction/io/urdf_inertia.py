"""Inertia of URDF links: ``<inertial>``, and what is said of links and joints that lack it.

* No ``<inertial>``, or one without a mass, is a link without mass.
* Without ``<inertia>``, or where one of ixx, iyy and izz is missing, the link is a point mass, as for
  Pinocchio. A missing product of inertia (ixy, ixz, iyz) is zero. Each is listed.
* An inertia that no rigid body has is listed where it makes something impossible of what is one, and refused
  where that moves and some motion of it has a negative energy.
* Kinematics need no mass. A joint that moves what has none is listed, and refused when it is to move
  (`taction.model.loose`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from taction._core.errors import BadInput, ModelError
from taction.io.urdf_elements import Reading, child, value
from taction.io.urdf_shapes import read_origin
from taction.io.xml import Element, fail
from taction.model.compile import impossible_bodies
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.loose import loose_motions
from taction.model.model import Model
from taction.model.spec import ModelSpec

MOMENTS, PRODUCTS = ("ixx", "iyy", "izz"), ("ixy", "ixz", "iyz")


def read_inertia(link: Element, reading: Reading) -> Inertia:
    """The ``<inertial>`` of a link."""
    inertial = child(link, "inertial")
    if inertial is None:
        return Inertia()
    mass = child(inertial, "mass")
    if mass is None or mass.get("value") is None:
        reading.notes.add("inertial without a mass", inertial, "the link has no mass", of=link.label)
        return Inertia()
    inertia = Inertia(value(mass, "value"), np.zeros(3), _moments(link, inertial, reading))
    pose = read_origin(inertial)
    with np.errstate(all="ignore"):
        try:
            return inertia.placed(pose)
        except BadInput as error:
            fail(inertial, str(error))


def _moments(link: Element, inertial: Element, reading: Reading) -> np.ndarray:
    """The matrix (3, 3) of an ``<inertial>``, about its centre of mass."""
    entries = child(inertial, "inertia")
    missing = MOMENTS if entries is None else [key for key in MOMENTS if entries.get(key) is None]
    if entries is None or missing:
        what = "inertial without inertia" if entries is None else f"inertia without {', '.join(missing)}"
        reading.notes.add(what, inertial, "the link is a point mass", of=link.label)
        return np.zeros((3, 3))
    absent = [key for key in PRODUCTS if entries.get(key) is None]
    if absent:
        reading.notes.add(f"inertia without {', '.join(absent)}", entries, "taken as zero", of=link.label)
    xx, yy, zz = (value(entries, key) for key in MOMENTS)
    xy, xz, yz = (value(entries, key, 0.0) for key in PRODUCTS)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def check_inertias(spec: ModelSpec, links: Mapping[str, Element], reading: Reading) -> None:
    """Refuse, or note, links that make something impossible of what moves as one.

    Args:
        spec: the robot.
        links: its links by name of the body.
        reading: takes the notes.
    """
    with np.errstate(all="ignore"):
        moving = {body.name for body in impossible_bodies(spec, is_moving=True)}
        for body in impossible_bodies(spec):
            element = child(links[body.name], "inertial")
            where = reading.file if element is None else element.where
            try:
                body.inertia.check(f"{where}: inertial of {links[body.name].label}")
            except ModelError as error:
                if reading.check_inertia and body.name in moving and not body.inertia.is_regular:
                    raise ModelError(f"{error}; check_inertia=False keeps it, for kinematics") from None
                if reading.check_inertia and reading.strict:
                    raise
                reading.unphysical.append(str(error))
    spec.check_inertia = reading.check_inertia and not reading.unphysical


def note_loose_joints(model: Model, reading: Reading) -> None:
    """Note joints that move what has no inertia."""
    for motion in loose_motions(model):
        joint = motion.joints[0]
        of = "the floating base" if joint.kind is JointKind.FLOATING else f"joint {joint.name!r}"
        what, changes = "joint that moves what has no inertia", "kinematics only: refused when simulated"
        reading.notes.add(what, reading.joints[joint.name], changes, of=of)
