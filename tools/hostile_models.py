"""Robots and meshes that a stranger made to do harm: XML that grows or leads elsewhere, and forged counts.

Each trick is a function of a random generator, a folder to write into and a folder elsewhere; it returns the
file to read.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from hostile_archives import put_no_file

Trick = Callable[[Random, Path, Path], Path]

MANY = (3, 100, 3000, 20_000)
FAR = (
    "1e308", "-1e308", "nan", "inf", "1e31", "-1", "0", "1e-320", "1e400", "9" * 400, "\u0663", "1_0", "0x7",
)  # fmt: skip
NAMES = (
    "\x1b]0;owned\x07", "&#27;[2J", "<script>", "../../x", "x" * 5000, "\u202e", "%s%n", "{0}", "world", "",
    " ", "a&#10;b", "&#0;", "&#xD800;", "__proto__", "\t",
)  # fmt: skip
TARGETS = (
    "/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/mem", "/etc/passwd", ".", "..", "",
    "robot.xml", "loop.xml",
    "http://127.0.0.1:9/x.stl", "file:///etc/passwd", "package://../../secret", "a&#1;b.stl",
    "x" * 5000, "~/.ssh/id_rsa", "\\\\host\\share\\x.stl",
)  # fmt: skip
BODY = '<body><freejoint/><geom size="0.1"/></body>'
MESHED = '<body><geom type="mesh" mesh="m"/></body>'
SHEET = '<geom type="hfield" hfield="h"/>'
PAIR = (
    '<body name="b"><joint name="j"/><geom name="g" size="0.1"/><site name="s"/></body>'
    '<body name="c"><joint name="k"/><geom name="h" size="0.1"/></body>'
)
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
STL_ROW = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])


def _write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


def _mjcf(folder: Path, world: str, before: str = "", after: str = "", name: str = "robot.xml") -> Path:
    return _write(folder, name, f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>")


def _asset(inside: str) -> str:
    return f"<asset>{inside}</asset>"


def _model(name: str, file: str) -> str:
    return _asset(f'<model name="{name}" file="{file}"/>')


def _attach(prefix: str = "x", name: str = "m") -> str:
    return f'<body><attach model="{name}" prefix="{prefix}"/></body>'


def _urdf(folder: Path, inside: str) -> Path:
    return _write(folder, "robot.urdf", f'<robot name="r">{inside}</robot>')


# ----- XML ------------------------------------------------------------------------------------------------


def entities(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Text that grows, or comes from elsewhere."""
    secret = elsewhere / "secret"
    declared = rng.choice(
        (
            "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9)) + '<!ENTITY e0 "x">',
            f'<!ENTITY e9 "{"x" * 10**6}">',
            f'<!ENTITY e9 SYSTEM "file://{secret}">',
            f'<!ENTITY % p SYSTEM "file://{secret}"> %p; <!ENTITY e9 "x">',
            '<!ENTITY e9 SYSTEM "http://127.0.0.1:9/x">',
            '<!ENTITY e9 "&e9;">',
        )
    )
    outside = rng.choice(("", f' SYSTEM "file://{secret}"', f' PUBLIC "x" "{secret}"'))
    root, name = rng.choice((("mujoco", "robot.xml"), ("robot", "robot.urdf")))
    used = "&e9;" * rng.choice((1, 1000))
    text = f"<!DOCTYPE {root}{outside} [{declared}]><{root} name='r'><a>{used}</a></{root}>"
    return _write(folder, name, text)


def named_file(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Files of this machine in the place of parts, meshes, materials and terrain."""
    _mjcf(folder, "", '<include file="loop.xml"/>' + _model("m", "robot.xml"), name="loop.xml")
    own = (str(elsewhere / "secret"), f"../{elsewhere.name}/secret", str(elsewhere / "pipe"))
    target = rng.choice((*own, *TARGETS))
    if rng.random() < 0.4:
        shape = f'<geometry><mesh filename="{target}"/></geometry>'
        return _urdf(
            folder,
            f'<link name="l">{INERTIAL}<visual>{shape}</visual><collision>{shape}</collision></link>',
        )
    forms = (
        ("", f'<include file="{target}"/>'),
        (_attach(), _model("m", target)),
        (MESHED, _asset(f'<mesh name="m" file="{target}"/>')),
        (MESHED, _asset(f'<mesh name="m" file="{target}" content_type="model/obj"/>')),
        (SHEET, _asset(f'<hfield name="h" file="{target}" size="1 1 1 1"/>')),
        (
            '<geom size="1" material="k"/>',
            _asset(f'<texture name="t" type="2d" file="{target}"/><material name="k" texture="t"/>'),
        ),
        (
            MESHED,
            f'<compiler meshdir="{target}" assetdir="{target}"/>' + _asset('<mesh name="m" file="secret"/>'),
        ),
    )
    return _mjcf(folder, *rng.choice(forms))


def growing(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """A few lines that stand for millions of parts."""
    depth, count = rng.choice((8, 16, 24)), rng.choice((10, 1000, 10**6, 10**9, 10**30))
    inside = BODY
    for _ in range(depth):
        inside = f'<replicate count="{rng.choice((2, 7, count))}" offset="1 0 0">{inside}</replicate>'
    _mjcf(folder, BODY, name="m0.xml")
    for k in range(depth):
        _mjcf(folder, _attach("l") + _attach("r"), _model("m", f"m{k}.xml"), name=f"m{k + 1}.xml")
    forms = (
        (inside, ""),
        (f'<replicate count="{count}">{BODY}</replicate>', ""),
        (_attach(), _model("m", f"m{depth}.xml")),
        ("".join(_attach(f"p{k}") for k in range(depth * 50)), _model("m", "m0.xml")),
        (f'<composite type="grid" count="{count} {count} 1" spacing="0.1"/>', ""),
        (f'<flexcomp name="f" type="grid" count="{count} {count} 2" dim="3"/>', ""),
        (SHEET, _asset(f'<hfield name="h" nrow="{count}" ncol="{count}" size="1 1 1 1"/>')),
        (BODY, _asset(f'<texture name="t" builtin="flat" width="{count}" height="{count}"/>')),
        (MESHED, _asset(f'<mesh name="m" builtin="sphere" params="{count}"/>')),
        (BODY, f'<size memory="{count}G" nuserdata="{count}" nkey="{count}" njmax="{count}"/>'),
        (BODY, f'<custom><numeric name="n" size="{count}" data="1"/></custom>'),
    )
    return _mjcf(folder, *rng.choice(forms))


def deep(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Elements in each other."""
    depth = rng.choice((100, 1000, 4000, 6000, 10**5))
    jointed = '<joint type="hinge"/><geom size="0.1"/>'
    kinds = (("body", jointed), ("frame", ""), ("default", ""), ("x", ""), ("replicate", ""))
    tag, more = rng.choice(kinds)
    opening = "".join(
        (f'<{tag} class="c{k}">' if tag == "default" else f"<{tag}>") + more for k in range(depth)
    )
    inside = opening + f"</{tag}>" * (depth if rng.random() < 0.9 else 0)
    return _mjcf(folder, "", inside) if tag in ("default", "x") else _mjcf(folder, inside)


def many(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Very many parts of one kind."""
    n = rng.choice(MANY)
    forms = (
        ("worldbody", BODY),
        ("worldbody", '<geom size="0.1"/>'),
        ("worldbody", '<body><joint/><geom size="1"/><geom size="1"/></body>'),
        ("worldbody", "<site/>"),
        ("worldbody", '<body mocap="true"><geom size="0.1"/></body>'),
        ("worldbody", "<light/>"),
        ("contact", '<exclude body1="b" body2="c"/>'),
        ("contact", '<pair geom1="g" geom2="h"/>'),
        ("equality", '<joint joint1="j" joint2="k"/>'),
        ("equality", '<weld body1="b" body2="c"/>'),
        ("equality", '<connect body1="b" anchor="0 0 0"/>'),
        ("actuator", '<motor joint="j"/>'),
        ("sensor", '<jointpos joint="j"/>'),
        ("tendon", '<fixed><joint joint="j" coef="1"/></fixed>'),
        ("tendon", '<spatial><site site="s"/><geom geom="h"/><site site="s"/></spatial>'),
        ("keyframe", '<key qpos="0 0"/>'),
        ("nosuch", "<nosuch/>"),
        ("custom", '<text name="t" data="x"/>'),
        ("asset", '<material name="m{}"/>'),
        ("default", '<default class="c{}"/>'),
    )
    section, part = rng.choice(forms)
    inside = "".join(part.format(k) for k in range(n))
    if section == "tendon" and rng.random() < 0.5:
        inside = "<fixed>" + '<joint joint="j" coef="1"/>' * n + "</fixed>"
    if section == "worldbody":
        return _mjcf(folder, PAIR + inside)
    return _mjcf(folder, PAIR, after=f"<{section}>{inside}</{section}>")


def long_text(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """One attribute, or very many, of very much text."""
    size = rng.choice((10**4, 10**6, 2 * 10**7, 6 * 10**7))
    values = rng.choice(("1 ", "x", "1e", " ", "0.5 1 2 ", "&amp;"))
    text = values * (size // len(values))
    attributes = " ".join(f'a{k}="1"' for k in range(min(size // 8, 10**5)))
    forms = (
        (MESHED, _asset(f'<mesh name="m" vertex="{text}"/>')),
        (f'<body pos="{text}"><geom size="1"/></body>', ""),
        (f'<body name="{text}"><geom size="1"/></body>', ""),
        (BODY, f'<keyframe><key qpos="{text}"/></keyframe>'),
        (BODY + text, ""),
        (f"<!--{text}-->{BODY}", ""),
        (f"<body {attributes}/>", ""),
        (BODY, f'<compiler meshdir="{text}"/>' + _asset(f'<mesh file="{text}.stl"/>')),
        (BODY, f'<option timestep="{text}"/>'),
    )
    return _mjcf(folder, *rng.choice(forms))


def odd_values(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Numbers and names that no robot has."""
    x, y, name = rng.choice(FAR), rng.choice(FAR), rng.choice(NAMES)
    if rng.random() < 0.4:
        inertia = f'<mass value="{x}"/><inertia ixx="{y}" iyy="1" izz="1" ixy="0" ixz="{x}" iyz="0"/>'
        shape = f'<collision><geometry><box size="{x} {y} 1"/></geometry></collision>'
        limit = f'<limit lower="{x}" upper="{y}" effort="{x}" velocity="{y}"/>'
        return _urdf(
            folder,
            f'<link name="{name}"/><link name="b"><inertial>{inertia}</inertial>{shape}</link>'
            f'<joint name="{name}" type="revolute"><parent link="{name}"/><child link="b"/>{limit}'
            f'<mimic joint="{name}" multiplier="{x}"/></joint>',
        )
    solver = f'solref="{x} {y}" solimp="{x} {y} 1 1 1"'
    forms = (
        (
            f'<body name="{name}"><freejoint/><geom size="{x}"/></body>',
            f'<option timestep="{x}" gravity="0 0 {y}"/>',
            "",
        ),
        (
            f'<body name="{name}" pos="{x} 0 {y}"><joint axis="0 {x} {y}" range="{x} {y}" damping="{x}"/>'
            f'<geom mass="{y}" size="0.1"/></body>',
            "",
            "",
        ),
        (
            f'<body quat="{x} {y} 0 0"><freejoint/>'
            f'<inertial pos="0 0 0" mass="{x}" diaginertia="{y} 1 1"/></body>',
            "",
            "",
        ),
        (
            f'<body><joint name="{name}"/>'
            f'<geom name="{name}" friction="{x} {y} 0" size="0.1" {solver}/></body>',
            "",
            f'<actuator><general joint="{name}" gainprm="{x}" biasprm="{y}" ctrlrange="{x} {y}"/></actuator>',
        ),
        (
            f'<body><joint name="j" stiffness="{x}" springref="{y}" frictionloss="{x}" armature="{y}"/>'
            '<geom size="0.1"/></body>',
            "",
            f'<equality><joint joint1="j" polycoef="{x} {y} 1 0 0"/></equality>',
        ),
    )
    return _mjcf(folder, *rng.choice(forms))


def many_links(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Long chains, wide stars and circles of links, and of what follows from each other."""
    n = rng.choice((10, 300, 2000, 5000, 12_000))
    shape = rng.choice(("chain", "star", "circle", "mimic"))
    text = "".join(f'<link name="l{k}">{INERTIAL if n < 3000 else ""}</link>' for k in range(n))
    for k in range(1, n):
        leader = f'<mimic joint="j{k - 1 if k > 1 else n - 1}"/>' if shape == "mimic" else ""
        parent = f'<parent link="l{0 if shape == "star" else k - 1}"/>'
        text += f'<joint name="j{k}" type="continuous">{parent}<child link="l{k}"/>{leader}</joint>'
    if shape == "circle":
        text += f'<joint name="last" type="fixed"><parent link="l{n - 1}"/><child link="l0"/></joint>'
    return _urdf(folder, text)


# ----- Meshes ---------------------------------------------------------------------------------------------


def _stl(folder: Path, corners: np.ndarray, head: bytes = b"binary", count: int | None = None) -> Path:
    rows = np.zeros(len(corners), STL_ROW)
    rows["corners"] = corners
    counted = struct.pack("<I", len(corners) if count is None else count)
    return _write(folder, "part.stl", head.ljust(80) + counted + rows.tobytes())


def stl(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Counts that are not there, numbers that are none, holes, and as many corners as may be."""
    n, kind = rng.choice((1, 100, 10_000, 790_000, 810_000)), rng.randrange(6)
    corners = np.random.default_rng(rng.randrange(10**6)).normal(size=(n, 3, 3))
    if kind == 0:
        corners /= np.linalg.norm(corners, axis=2, keepdims=True)
    elif kind == 1:
        corners[rng.randrange(n)] = rng.choice((np.nan, np.inf, 3e38, 1e-45))
    elif kind == 2:
        corners[:, :, 2] = rng.choice((0.0, 1e-30))
    elif kind == 3:
        text = b"solid x\n" + b"vertex 1 2 3 " * rng.choice((3, 10**6)) + b"endfacet endsolid"
        return _write(folder, "part.stl", text)
    count = rng.choice((0, 1, 2**31, 2**32 - 1, 10**6)) if kind == 4 else None
    path = _stl(folder, corners, rng.choice((b"solid", b"binary")), count)
    if kind == 5:
        with path.open("r+b") as file:
            file.truncate(rng.choice((10**8, 5 * 10**9)))
    return path


def obj(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Faces of a million corners, a material for each face, libraries elsewhere, numbers that are none."""
    n = rng.choice((10, 1000, 10**5, 10**6, 14 * 10**5))
    least = min(n, 10**5)
    vertices = "".join(f"v {k % 97} {k % 89} {k * 7 % 83}\n" for k in range(least))
    wrong = ("f 0 1 2", "f -1 -2 -99999", "f 1 2 99999999999999999999", "f 1/ 2/ 3/", "f a b c", "f 1 2")
    secret = elsewhere / rng.choice(("secret", "secret.mtl", "pipe"))
    forms: tuple[Callable[[], str], ...] = (
        lambda: vertices + "f" + " 1" * n + "\n",
        lambda: vertices + "f " + " ".join(str(k % least + 1) for k in range(n)) + "\n",
        lambda: vertices + "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(n)),
        lambda: vertices + "".join(f"mtllib {secret}{'.' * (k % 3)}\n" for k in range(n)) + "f 1 2 3\n",
        lambda: f"mtllib part.obj\nmtllib ../{elsewhere.name}/secret.mtl\n{vertices}f 1 2 3\n",
        lambda: f"{vertices}{rng.choice(wrong)}\n",
        lambda: "v 1 2 nan\nv inf 1 2\nv 1e999 1 1\nf 1 2 3\n",
        lambda: "v 1 2\nf 1 1 1\n",
        lambda: f"v {'1' * n} 2 3\n",
        lambda: rng.choice(("\\\n", "f", "#", "\0")) * n,
        lambda: (
            vertices
            + "".join(f"f {k % least + 1} {k * 7 % least + 1} {k * 13 % least + 1}\n" for k in range(n))
        ),
        lambda: "".join(f"o part{k}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -3\n" for k in range(least)),
        lambda: (
            "mtllib part.mtl\n" + vertices + "".join(f"usemtl m{k}\nf 1 2 {k % 9 + 1}\n" for k in range(n))
        ),
    )
    colours = "".join(f"newmtl m{k}\nKd {k / n} {k % 7 / 7} 0\n" for k in range(least))
    _write(folder, "part.mtl", colours)
    return _write(folder, "part.obj", rng.choice(forms)())


DAE = """<?xml version="1.0"?>{bomb}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="m" meter="{unit}"/><up_axis>Z_UP</up_axis></asset>
<library_images><image id="i"><init_from>file://{elsewhere}/secret</init_from></image></library_images>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="{count}">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#pa" count="{count}" stride="{stride}">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>{corners}</p></triangles>
</mesh></geometry></library_geometries>
<library_nodes><node id="n0"><instance_geometry url="#g"/></node>{nodes}</library_nodes>
<library_visual_scenes>
<visual_scene id="s"><node id="n"><instance_node url="#n{depth}"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


def dae(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """Nodes that double or go round, counts and strides that are not there, text that grows."""
    depth, corners = rng.choice((1, 5, 12, 30)), "0 1 2 0 2 3"
    if rng.random() < 0.2:
        corners = rng.choice(("0 1 99999999", "-1 -2 -3", "", "x", "0 1 2 " * 10**6))
    nodes = "".join(
        f'<node id="n{k + 1}"><instance_node url="#n{k}"/><instance_node url="#n{k}"/></node>'
        for k in range(depth)
    )
    if rng.random() < 0.3:
        nodes += f'<node id="round"><instance_node url="#round"/><instance_node url="#n{depth}"/></node>'
    text = DAE.format(
        bomb=rng.choice(
            (
                "",
                "",
                '<!DOCTYPE COLLADA [<!ENTITY a "b">]>',
                f'<!DOCTYPE COLLADA SYSTEM "file://{elsewhere}/secret">',
            )
        ),
        unit=rng.choice(("1", "1", "1e308", "nan", "-1", "0")),
        count=rng.choice(("4", "4", "0", "-1", "99999999999", "x")),
        stride=rng.choice(("3", "3", "0", "-3", "99999999")),
        elsewhere=elsewhere,
        corners=corners,
        nodes=nodes,
        depth=depth,
    )
    return _write(folder, "part.dae", text)


def msh(rng: Random, folder: Path, elsewhere: Path) -> Path:
    counts = [rng.choice((0, 1, 4, -1, 2**31 - 1, 10**6)) for _ in range(4)]
    return _write(folder, "part.msh", struct.pack("<4i", *counts) + rng.randbytes(rng.choice((0, 48, 1000))))


def special(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """What is no file, in the place of a robot or a mesh."""
    path = folder / rng.choice(("robot.xml", "robot.urdf", "part.stl", "part.obj", "part.dae", "part.msh"))
    put_no_file(rng, path, elsewhere)
    return path


def many_meshes(rng: Random, folder: Path, elsewhere: Path) -> Path:
    """One mesh, of a thousand scales."""
    n, count = rng.choice((10, 300, 3000)), rng.choice((100, 100_000))
    _stl(folder, np.random.default_rng(1).normal(size=(count, 3, 3)))
    assets = "".join(f'<mesh name="m{k}" file="part.stl" scale="1 1 {1 + k}"/>' for k in range(n))
    geoms = "".join(f'<geom type="mesh" mesh="m{k}"/>' for k in range(n))
    return _mjcf(folder, f"<body><freejoint/>{geoms}</body>", _asset(assets))


MODELS: tuple[Trick, ...] = (
    entities, entities, named_file, named_file, named_file, growing, growing, growing, deep, many, many, many,
    long_text, long_text, odd_values, odd_values, odd_values, many_links, special, many_meshes,
)  # fmt: skip
MESHES: tuple[Trick, ...] = (stl, stl, obj, obj, obj, dae, dae, msh, special)
