"""Scenes in motion that steps of tens of milliseconds spoil: what moves, and how it starts."""

import numpy as np
from scipy.spatial.transform import Rotation

import taction as ta


def tilted_disc(degrees, radius=0.04, thickness=0.002, mass=0.5):
    """A disc that rolls in place on its rim, its centre at rest: world, q, v, of steady precession."""
    material = ta.Material(friction=5.0)
    body = ta.free_body("disc", ta.Cylinder(radius, thickness), mass=mass, material=material)
    world = ta.World(body, ground=ta.Plane(friction=5.0))
    across, about = mass * (radius**2 / 4 + thickness**2 / 12), mass * radius**2 / 2
    a, half = np.radians(degrees), 0.5 * thickness
    s, c = np.sin(a), np.cos(a)
    torque = mass * 9.81 * (half * s - radius * c)
    rate = np.sqrt(torque / (s * (about * s * half / radius - c * across)))
    axes = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    spin = rate * s * (axes[:, 2] * half / radius - axes[:, 0])
    x, y, z, w = Rotation.from_matrix(axes).as_quat()
    return world, [0, 0, radius * s + half * c, w, x, y, z], [0, 0, 0, *(axes.T @ spin)]


def tilt(run):
    """Of the disc in every state [degrees]."""
    return np.degrees(np.arccos(1.0 - 2.0 * (run.q[:, 4] ** 2 + run.q[:, 5] ** 2)))


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
