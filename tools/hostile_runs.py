"""Runs, models and files whose every name is hostile: the ways in of `hostile_names`.

A description refuses names that no page and no terminal can show (`taction.model.check`); what it lets pass
is built and moved. Run files are forged besides: their digests are right, and every text in them that no
check of a description has seen is a name of ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

import taction as ta
from taction.model.spec import SensorSpec, SiteSpec, Unread
from taction.sim.run import Run

STEP, STEPS = 1e-3, 5
TEXTS = ("scheme", "contact", "solver", "springs", "taction_version", "numpy_version", "more")
LISTS = ("bodies", "shapes", "shape_bodies")


def build_world(names: Sequence[str]) -> ta.World:
    """Balls above the ground, each with a name of ours for all that belongs to it."""
    b = ta.ModelBuilder(names[0])
    ball = ta.Sphere(0.1)
    for k, name in enumerate(names):
        b.body(name, ta.Inertia.solid(ball, mass=1.0))
        b.shape(name, ball, name=name)
        b.visual(name, ball, name=name)
        pose = ta.Transform(translation=(0.3 * k, 0.0, 0.1))
        b.prismatic(name, parent="world", child=name, axis=(0, 0, 1), pose=pose)
        b.actuator(name, name)
        b.spec.sites.append(SiteSpec(name, name))
        b.spec.sensors.append(SensorSpec(name, "framepos", "site", name))
    b.spec.ground.append(ta.Shape(ta.Plane(), name=names[-1]))
    return ta.World(b.build())


def run_world(world: ta.World, names: Sequence[str]) -> Run:
    """A few steps, with names for events, metrics and the rest of what a run says."""
    events = {name: lambda t, q, v: t - 0.5 * STEP * STEPS for name in names}
    run = ta.Simulation(world, dt=STEP).run(STEP * STEPS, events=events)
    return replace(run, metrics={name: name for name in names}, left_out=tuple(names))


def plain_run(count: int, names: Sequence[str]) -> Run:
    """A run of balls with harmless names, so many of them, that says hostile things of itself."""
    world = build_world([f"ball {k}" for k in range(count)])
    run = run_world(world, names)
    said = " | ".join(names)
    unread = tuple(Unread(name, name, name) for name in names)
    run.model.spec.unread = unread
    run.model.spec.source = said
    return replace(
        run,
        certificate=replace(run.certificate, residual_at=said),
        blew_up=said,
        integrator=said,
        contact=said,
        solver=said,
        springs=said,
    )


def forge_run(run: Run, names: Sequence[str], path: Path) -> Path:
    """Write a run file whose attributes are names of ours, too, with the digest that belongs to it."""
    shown = [name.encode("utf-8", "replace").decode() for name in names]
    if path.suffix == ".npz":
        return _forge_npz(run, shown, path)
    import h5py

    from taction.sim.run_file import content_digest, read_attributes, write_attributes

    encodable = {
        key: getattr(run, key).encode("utf-8", "replace").decode()
        for key in ("integrator", "contact", "solver", "springs")
    }
    replace(run, **encodable).save(path)
    with h5py.File(path, "a", libver="latest") as file:
        write_attributes(file, _attributes(read_attributes(file), shown))
        tables = {key: data for key, data in file.items() if key not in ("written", "contacts", "digest")}
        tables |= {f"contacts/{key}": data for key, data in file["contacts"].items()}
        for data in tables.values():
            write_attributes(data, _columns(read_attributes(data), shown))
        about = {key: read_attributes(data) for key, data in tables.items()} | {"": read_attributes(file)}
        file["digest"][:] = content_digest(about, {key: data[()] for key, data in tables.items()})
    return path


def _forge_npz(run: Run, names: Sequence[str], path: Path) -> Path:
    run.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(str(arrays.pop("header")))
    head["attributes"] = _attributes(head["attributes"], names)
    head["tables"] = {key: _columns(about, names) for key, about in head["tables"].items()}
    np.savez(path, **arrays, header=json.dumps(head))
    return path


def _attributes(known: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    lists = {key: _filled(known[key], names) for key in LISTS}
    return known | lists | dict.fromkeys(TEXTS, " | ".join(names)) | {"model": names[0]}


def _columns(known: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {
        key: _filled(value, names) if isinstance(value, list) else names[0] for key, value in known.items()
    }


def _filled(known: Sequence[str], names: Sequence[str]) -> list[str]:
    """As many names as there were; names may come again."""
    return [names[k % len(names)] or "x" for k in range(len(known))]


def urdf_text(names: Sequence[str]) -> str:
    """A robot of balls with names of ours, and things in it that are not heeded."""
    links = "".join(
        f"<link name={quoteattr(name)}><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
        f"<collision name={quoteattr(name)}><geometry><sphere radius='0.1'/></geometry></collision>"
        f"<visual name={quoteattr(name)}><geometry><mesh filename={quoteattr(name)}/></geometry>"
        f"<material name={quoteattr(name)}/></visual></link>"
        for name in names
    )
    joints = "".join(
        f"<joint name={quoteattr(name)} type='prismatic'><parent link='world'/>"
        f"<child link={quoteattr(name)}/><axis xyz='0 0 1'/><origin xyz='{0.3 * k} 0 0.1'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/>"
        f"<safety_controller k_velocity={quoteattr(name)}/></joint>"
        for k, name in enumerate(names)
    )
    return f"<robot name={quoteattr(names[0])}><link name='world'/>{links}{joints}</robot>"


def mjcf_text(names: Sequence[str]) -> str:
    """The same as MJCF."""
    bodies = "".join(
        f"<body name={quoteattr(name)} pos='{0.3 * k} 0 0.1'><joint name={quoteattr(name)} type='slide'/>"
        f"<geom name={quoteattr(name)} size='0.1'/><site name={quoteattr(name)}/>"
        f"<camera name={quoteattr(name)}/></body>"
        for k, name in enumerate(names)
    )
    motors = "".join(f"<motor name={quoteattr(name)} joint={quoteattr(name)}/>" for name in names)
    return (
        f"<mujoco model={quoteattr(names[0])}><worldbody><geom type='plane' size='1 1 1'/>{bodies}"
        f"</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def damaged_texts(name: str) -> list[str]:
    """Files of robots with a name where something else belongs."""
    value, ball = quoteattr(name), "<geometry><sphere radius='0.1'/></geometry>"
    return [
        f'<robot name="{name}"><link name="{name}"/></robot>',
        f"<robot name='r'><link name={value}/><link name={value}/></robot>",
        f"<robot name='r'><link name='a'/><joint name={value} type={value}><parent link={value}/>"
        f"<child link={value}/></joint></robot>",
        f"<robot name='r'><link name='a'><collision>{ball}<origin xyz={value}/></collision></link></robot>",
        f"<robot name='r'><link name='a'><collision><geometry><mesh filename={value}/></geometry></collision>"
        "</link></robot>",
        f"<mujoco model={value}><compiler angle={value}/><worldbody/></mujoco>",
        f"<mujoco><worldbody><body name={value} childclass={value}/></worldbody></mujoco>",
        f"<mujoco><worldbody><geom type={value} size={value}/></worldbody></mujoco>",
        f"<mujoco><asset><mesh name={value} file={value}/></asset><worldbody><geom type='mesh' mesh={value}/>"
        "</worldbody></mujoco>",
        f"<mujoco><include file={value}/></mujoco>",
        f"<mujoco><worldbody/><actuator><motor joint={value}/></actuator></mujoco>",
    ]  # fmt: skip
