"""Scenes in motion that time steps may spoil: what moves, and how it starts; the same for several tests."""

import numpy as np
from scipy.optimize import brentq
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


def leaning_coin(lean=20.0, rate=2.0, radius=0.05, mass=0.1, thickness=1e-4):
    """A coin that rolls on a circle: world, q, v, of steady motion, solved for its own spin."""
    world, across, about = wheel(radius, thickness, mass, 2.0)
    a, up = np.radians(lean), np.array([0.0, 0.0, 1.0])
    down, axis = np.array([np.sin(a), 0, -np.cos(a)]), np.array([np.cos(a), 0, np.sin(a)])
    touch = radius * down - 0.5 * thickness * axis

    def motion(s):
        """Moment about y that is missing, spin and velocity of the centre, for the own spin s."""
        spin = rate * up + s * axis
        velocity = -np.cross(spin, touch)
        force = mass * (rate * np.cross(up, velocity) + GRAVITY * up)
        along = (spin @ axis) * axis
        momentum = across * (spin - along) + about * along
        return (rate * np.cross(up, momentum) - np.cross(touch, force))[1], spin, velocity

    grid = np.linspace(-400.0, 400.0, 801)
    first = np.flatnonzero(np.diff(np.sign([motion(s)[0] for s in grid])))[0]
    s = brentq(lambda s: motion(s)[0], grid[first], grid[first + 1], xtol=1e-14)
    _, spin, velocity = motion(s)
    axes = np.stack([np.cross([0.0, 1.0, 0.0], axis), [0.0, 1.0, 0.0], axis], axis=1)
    return world, *start(-touch, axes, velocity, spin)


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


BAR = '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'
GIMBAL = f"""<mujoco><option gravity="0 0 0"/><worldbody>
  <body><joint type="hinge" axis="0 0 1"/>{BAR}
    <body><joint type="hinge" axis="1 0 0"/>{BAR}
      <body><joint type="hinge" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="0.5" diaginertia="4e-4 4e-4 8e-4"/></body></body></body>
</worldbody></mujoco>"""

PENDULUM = """<mujoco><worldbody>
  <body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03" mass="1"/>
    <body pos="0 0 -0.5"><joint type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="0.8"/></body></body>
</worldbody></mujoco>"""
