"""What the step and rollout benches simulate, as MJCF text: one description that both engines read.

* quadruped: 18 freedoms, three joints per leg under position servos, sphere feet: four contacts.
* humanoid: 29 freedoms, capsule limbs under position servos, box feet: eight contacts. It stands.
* pile: 20 free boxes that fall on the floor and on each other; 120 freedoms and, at rest, some 80 contacts.
* bin: spheres of 20 to 30 mm poured into a bin of four walls; 200 of them have some 500 contacts at rest.

Robots touch the floor, not themselves. Sizes and gains are round numbers of the right order; the servos are
soft enough for an engine that treats them explicitly.
"""

from __future__ import annotations

import numpy as np

BOXES = 20
SIDE = 0.2  # of a box [m]
OPTION = '<option timestep="{dt:g}" cone="elliptic" solver="Newton"/>'
FLOOR = '<geom type="plane" size="5 5 .1" friction="{mu:g}"/>'
BIN, WALL = 0.15, 0.02  # half the width of the bin, half the thickness of its walls [m]
PITCH = 0.065  # between spheres before they fall [m]
TOUCH = 'contype="0" conaffinity="1"'  # the floor's affair only


def quadruped_mjcf() -> str:
    """A quadruped of 18 freedoms, 82 kg, that drops by 2 cm onto its feet and stands."""
    legs, servos = "", ""
    for k, (x, y) in enumerate(((0.5, 0.3), (0.5, -0.3), (-0.5, 0.3), (-0.5, -0.3))):
        legs += f"""
      <body pos="{x} {y} 0">
        <joint name="roll{k}" axis="1 0 0" damping="1" armature=".1"/>
        <joint name="hip{k}" axis="0 1 0" damping="1" armature=".1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.28" size=".04" mass="4.4" contype="0" conaffinity="0"/>
        <body pos="0 0 -.28">
          <joint name="knee{k}" axis="0 1 0" damping="1" armature=".1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.27" size=".03" mass="3.65" contype="0" conaffinity="0"/>
          <geom type="sphere" pos="0 0 -.3" size=".03" mass=".1" {TOUCH}/>
        </body>
      </body>"""
        servos += "".join(f'<position joint="{j}{k}" kp="2000" kv="50"/>' for j in ("roll", "hip", "knee"))
    torso = f"""
    <body name="torso" pos="0 0 .63">
      <freejoint/>
      <geom type="box" size=".6 .3 .075" mass="50" contype="0" conaffinity="0"/>{legs}
    </body>"""
    return _scene("quadruped", torso, servos, dt=1e-3, mu=0.7)


def humanoid_mjcf() -> str:
    """A humanoid of 29 freedoms, 62 kg and 1.7 m, standing on flat feet."""

    def hinge(name: str, axis: str) -> str:
        gain = SERVOS[name.rstrip("LR")]
        servos.append(f'<position joint="{name}" kp="{gain}" kv="{0.1 * gain:g}"/>')
        return f'<joint name="{name}" axis="{axis}" damping="1" armature=".1"/>'

    def limb(end: str, radius: float, mass: float) -> str:
        return f'<geom type="capsule" fromto="0 0 0 {end}" size="{radius}" mass="{mass}" {TOUCH}/>'

    servos: list[str] = []
    x, y, z = "1 0 0", "0 1 0", "0 0 1"
    arms, legs = "", ""
    for side, s in (("L", 1), ("R", -1)):
        arms += f"""
        <body pos="0 {0.2 * s} .4">
          {hinge("swing" + side, y)}{hinge("lift" + side, x)}{hinge("twist" + side, z)}
          {limb("0 0 -.28", 0.04, 2.0)}
          <body pos="0 0 -.28">{hinge("elbow" + side, y)}{limb("0 0 -.25", 0.03, 1.3)}</body>
        </body>"""
        legs += f"""
      <body pos="0 {0.1 * s} -.06">
        {hinge("yaw" + side, z)}{hinge("roll" + side, x)}{hinge("hip" + side, y)}
        {limb("0 0 -.4", 0.06, 7.0)}
        <body pos="0 0 -.4">
          {hinge("knee" + side, y)}{limb("0 0 -.4", 0.045, 3.5)}
          <body pos="0 0 -.4">
            {hinge("ankle" + side, y)}{hinge("tilt" + side, x)}
            <geom type="box" pos=".04 0 -.055" size=".12 .05 .025" mass="1" {TOUCH}/>
          </body>
        </body>
      </body>"""
    pelvis = f"""
    <body name="pelvis" pos="0 0 .945">
      <freejoint/>
      <geom type="box" size=".08 .14 .06" mass="10" {TOUCH}/>
      <body name="chest" pos="0 0 .1">
        {hinge("turn", z)}{hinge("bend", y)}{hinge("lean", x)}
        <geom type="box" pos="0 0 .22" size=".1 .15 .2" mass="18" {TOUCH}/>
        <geom type="sphere" pos="0 0 .55" size=".1" mass="4.4" {TOUCH}/>{arms}
      </body>{legs}
    </body>"""
    return _scene("humanoid", pelvis, "".join(servos), dt=1e-3, mu=0.8)


# position gains [N m/rad]; velocity gains are a tenth of them
SERVOS = dict.fromkeys(("swing", "lift", "twist", "elbow"), 50)
SERVOS |= dict.fromkeys(("turn", "bend", "lean", "yaw", "roll", "hip", "knee", "ankle", "tilt"), 500)


def pile_mjcf(boxes: int = BOXES) -> str:
    """Boxes in crooked layers of four above the floor, the same every time."""
    rng, bodies = np.random.default_rng(0), ""
    for k in range(boxes):
        corner = np.array([k % 2 - 0.5, k // 2 % 2 - 0.5]) * 1.6 * SIDE
        x, y = corner + 0.05 * SIDE * rng.normal(size=2)
        z = (0.8 + 1.6 * (k // 4)) * SIDE
        turn = 0.2 * rng.normal(size=3)
        bodies += f"""
    <body pos="{x:.6f} {y:.6f} {z:.6f}" euler="{turn[0]:.6f} {turn[1]:.6f} {turn[2]:.6f}">
      <freejoint/><geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="1" friction=".6"/>
    </body>"""
    return _scene("pile", bodies, "", dt=2e-3, mu=0.6)


def bin_mjcf(spheres: int) -> str:
    """Spheres in loose layers of sixteen above a bin, the same every time; many have higher walls."""
    rng, bodies, height = np.random.default_rng(0), "", max(0.6, 0.003 * spheres)
    for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        middle, along = BIN + WALL, BIN + 2.0 * WALL
        size = (WALL, along) if x else (along, WALL)
        bodies += f"""
    <geom type="box" pos="{x * middle} {y * middle} {height / 2}" size="{size[0]} {size[1]} {height / 2}"
      friction=".5"/>"""
    for k in range(spheres):
        radius, (layer, place) = rng.uniform(0.02, 0.03), divmod(k, 16)
        x = (place % 4 - 1.5) * PITCH + 0.002 * rng.normal()
        y = (place // 4 - 1.5) * PITCH + 0.002 * rng.normal()
        mass = 1000.0 * 4.0 / 3.0 * np.pi * radius**3
        bodies += f"""
    <body pos="{x:.5f} {y:.5f} {0.05 + PITCH * layer:.5f}">
      <freejoint/><geom type="sphere" size="{radius:.5f}" mass="{mass:.6f}" friction=".5"/>
    </body>"""
    return _scene("bin", bodies, "", dt=5e-3, mu=0.5)


def _scene(name: str, bodies: str, servos: str, *, dt: float, mu: float) -> str:
    """A model of bodies over the floor, with a time step [s] and a friction coefficient."""
    return f"""<mujoco model="{name}">
  <compiler angle="radian"/>
  {OPTION.format(dt=dt)}
  <worldbody>
    {FLOOR.format(mu=mu)}{bodies}
  </worldbody>
  <actuator>{servos}</actuator>
</mujoco>"""
