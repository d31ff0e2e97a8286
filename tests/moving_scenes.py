"""Scenes in motion that time steps may spoil: what moves, and how it starts; the same for several tests."""

import numpy as np
from scipy.spatial.transform import Rotation

import taction as ta

GRAVITY = 9.81


def wheel(radius, thickness, mass, friction):
    """A disc on rough ground, and its moments of inertia across and about its axis."""
    material = ta.Material(friction=friction)
    body = ta.free_body("disc", ta.Cylinder(radius, thickness), mass=mass, material=material)
    across, about = mass * (radius**2 / 4 + thickness**2 / 12), mass * radius**2 / 2
    return ta.World(body, ground=ta.Plane(friction=friction)), across, about


def start(centre, axes, velocity, spin):
    """q and v of a free body whose axes are the columns of a matrix; spin in the world."""
    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return [*centre, w, x, y, z], [*velocity, *(axes.T @ spin)]


def axis_height(run):
    """Vertical part of the body's z-axis in every state."""
    return 1.0 - 2.0 * (run.q[:, 4] ** 2 + run.q[:, 5] ** 2)


def tilted_disc(degrees, radius=0.04, thickness=0.002, mass=0.5):
    """A disc that rolls in place on its rim, its centre at rest: world, q, v, of steady precession."""
    world, across, about = wheel(radius, thickness, mass, 5.0)
    a = np.radians(degrees)
    s, c = np.sin(a), np.cos(a)
    half = 0.5 * thickness
    torque = mass * GRAVITY * (half * s - radius * c)
    rate = np.sqrt(torque / (s * (about * s * half / radius - c * across)))
    axes = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    spin = rate * s * (axes[:, 2] * half / radius - axes[:, 0])
    return world, *start([0, 0, radius * s + half * c], axes, [0, 0, 0], spin)


def tilt(run):
    """Of the disc in every state [degrees]."""
    return np.degrees(np.arccos(axis_height(run)))


def crank(r=0.05, length=0.2):
    """A slider crank without weight, as a file has it."""
    thin = 0.3 * length**2 / 12
    return f"""<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="crank"><joint type="hinge" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
    <body name="rod" pos="{r} 0 0"><joint type="hinge" axis="0 0 1"/>
      <inertial pos="{0.5 * length} 0 0" mass="0.3" diaginertia="{thin} {thin} {thin}"/></body></body>
  <body name="slider" pos="{r + length} 0 0"><joint type="slide" axis="1 0 0"/>
    <inertial pos="0 0 0" mass="0.5" diaginertia="1e-4 1e-4 1e-4"/></body></worldbody>
  <equality><connect body1="rod" body2="slider" anchor="{length} 0 0"/></equality></mujoco>"""
