"""For every attribute of every element of MJCF that is read, two values in a scene where it could matter.

What a row means: `mjcf_scenes`. `crosscheck/test_mjcf_attributes` reads both texts, moves both, and wants a
difference.
"""

from __future__ import annotations

from mjcf_scenes import (
    ATTACHED,
    BALL,
    BODIES,
    DRIVEN,
    EQUALITY,
    FIXED,
    HOLE,
    INERTIAL,
    MESH,
    POSES,
    SERVO,
    SLIDE,
    SOFT,
    SOFT_LIMIT,
    SPATIAL,
    SWITCHED,
    TENDON,
    TENDON_FORCES,
    Row,
    compiled,
    driven,
    given,
    in_class,
    joint,
    pendulum,
    resting,
    scene,
    strung,
    tied,
    turned,
)
from mjcf_text import DATA, TETRAHEDRON

CHANNEL = '<geom mesh="channel" type="mesh"/>'
CORNERS = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'

TABLE: list[Row] = [
    ("mujoco", scene(BODIES).replace("<mujoco", "<mujoco {}"), "model: one | two"),
    ("compiler", compiled(INERTIAL.format(1)), """
        boundmass: 0 | 50
        boundinertia: 0 | 5
        settotalmass: -1 | 50
        angle: degree | radian
        eulerseq: xyz | zyx
        autolimits: true | false
        coordinate: local | global
        inertiafromgeom: auto | true
        discardvisual: false | true
        texturedir: one | two
        usethread: true | false
        fusestatic: false | true
        fitaabb: false | true
        saveinertial: false | true
        savecompiled: true | false
        savecanonical: true | false
        passthrough: none | textures
        """),
    ("compiler", compiled(INERTIAL.format(5)), "balanceinertia: false | true"),
    ("compiler", compiled('<geom size="0.1" pos="0.3 0 0" group="3"/>'), "inertiagrouprange: 0 5 | 0 2"),
    ("compiler", compiled(CHANNEL, '<asset><mesh file="channel.obj"/></asset>'), f"""
        meshdir: {DATA}/parts | {DATA}
        assetdir: {DATA}/parts | {DATA}
        """),
    ("compiler", compiled(CHANNEL, '<asset><mesh file="x/channel.obj"/></asset>'),
        f'strippath: true | false & meshdir="{DATA}/parts"'),
    ("compiler", ATTACHED, "alignfree: false | true"),
    ("option", SWITCHED.replace("<option><flag {}/></option>", "<option {}/>"), """
        timestep: 0.002 | 0.001
        gravity: 0 0 -9.81 | 0 0 -1
        actuatorgroupdisable: 1 | 0 1
        integrator: Euler | implicit
        jacobian: dense | sparse
        solver: Newton | CG
        iterations: 100 | 2
        tolerance: 1e-8 | 1e-2
        ls_iterations: 50 | 5
        ls_tolerance: 0.01 | 0.5
        noslip_iterations: 0 | 5
        noslip_tolerance: 1e-6 | 1e-2
        ccd_iterations: 50 | 5
        ccd_tolerance: 1e-6 | 1e-2
        mpr_iterations: 50 | 5
        mpr_tolerance: 1e-6 | 1e-2
        sleep_tolerance: 1e-4 | 1e-1
        sdf_iterations: 10 | 5
        sdf_initpoints: 40 | 5
        apirate: 100 | 50
        wind: 0 0 0 | 1 0 0
        density: 0 | 1000
        viscosity: 0 | 1
        impratio: 1 | 10
        cone: elliptic | pyramidal
        """),
    ("flag", SWITCHED, "\n".join(f"{name}: enable | disable" for name in (
        "gravity constraint equality frictionloss limit contact spring damper clampctrl actuation warmstart "
        "refsafe sensor midphase nativeccd island eulerdamp autoreset energy fwdinv invdiscrete multiccd "
        "diagexact speculative filterparent override sleep").split()) + "\n ipc: disable | enable"),
    ("default", scene(BODIES.replace('name="a" type', 'name="a" class="other" type')).replace(
        'class="other"', HOLE, 1), "class: other | another"),
    ("default/equality", tied('joint joint1="b" joint2="a" polycoef="0 2" class="x"')
        .replace(HOLE, "").replace(*in_class("equality")), "active: true | false" + SOFT),
    ("default/tendon", strung("fixed", 'class="x"').replace(*in_class("tendon")), TENDON_FORCES),
    ("material", scene('<body><joint/><geom size="0.1" material="x"/></body>',
        "<asset><material {}/></asset>"), """
        rgba: 1 0 0 1 | 0 1 0 1 & name="x"
        name: x | y & rgba="1 0 0 1"
        class: | other & name="x"
        texture: | t & name="x"
        texrepeat: 1 1 | 2 2 & name="x"
        texuniform: false | true & name="x"
        emission: 0 | 1 & name="x"
        specular: 0 | 1 & name="x"
        shininess: 0 | 1 & name="x"
        reflectance: 0 | 1 & name="x"
        metallic: 0 | 1 & name="x"
        roughness: 0 | 1 & name="x"
        """),
    ("model", scene('<attach model="m" body="base" prefix="p"/>', "<asset><model {}/></asset>"), f"""
        name: m | n & file="{DATA}/arm.xml"
        file: {DATA}/arm.xml | {DATA}/gantry.xml & name="m"
        content_type: | text/xml & name="m" file="{DATA}/arm.xml"
        """),
    ("attach", scene("<attach {}/>", f'<asset><model name="m" file="{DATA}/arm.xml"/>'
        f'<model name="n" file="{DATA}/gantry.xml"/></asset>'), """
        model: m | n & prefix="p"
        body: base | elbow & model="m" prefix="p"
        prefix: p | q & model="m" body="base"
        """),
    ("attach", scene('<frame name="k"><body><freejoint/><geom size="0.1"/></body></frame>'
        '<frame name="l" pos="0 1 0"><body><freejoint/><geom size="0.2"/></body></frame>'
        '<attach prefix="p" {}/>'), "frame: k | l"),
    ("replicate", scene('<body><joint axis="1 0 0"/><geom size="0.1"/><replicate {}>'
        '<geom name="k" size="0.1" pos="0.2 0.1 0"/></replicate></body>'), """
        count: 1 | 2 & offset="0.3 0 0"
        offset: 0.1 0 0 | 0.2 0 0 & count="2"
        euler: 0 0 10 | 0 0 20 & count="2"
        sep: - | _ & count="2"
        childclass: | other & count="2"
        """),
    ("mesh", scene('<body><joint axis="1 0 0"/><geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'
        "</body>",
        '<asset><material name="red" rgba="1 0 0 1"/><mesh {}/></asset>'), f"""
        scale: 1 1 1 | 1 2 1 & name="m" {TETRAHEDRON}
        refpos: 0 0 0 | 0.1 0.2 0 & name="m" {TETRAHEDRON}
        refquat: 1 0 0 0 | 1 0.2 0.3 0 & name="m" {TETRAHEDRON}
        name: m | n & {TETRAHEDRON}
        class: | other & name="m" {TETRAHEDRON}
        inertia: exact | shell & name="m" {TETRAHEDRON}
        material: | red & name="m" {TETRAHEDRON}
        normal: | 0 0 1 0 0 1 0 0 1 0 0 1 & name="m" {TETRAHEDRON}
        texcoord: | 0 0 0 1 1 0 1 1 & name="m" {TETRAHEDRON}
        smoothnormal: false | true & name="m" {TETRAHEDRON}
        maxhullvert: -1 | 4 & name="m" {TETRAHEDRON}
        vertex: 0 0 0 1 0 0 0 1 0 0 0 1 | 0 0 0 1 0 0 0 2 0 0 0 1 & name="m" face="0 2 1 0 1 3 0 3 2 1 2 3"
        face: 0 2 1 0 1 3 0 3 2 1 2 3 | 0 2 1 0 1 3 0 3 2 1 3 2 & name="m" inertia="exact" {CORNERS}
        file: {DATA}/parts/channel.obj | {DATA}/parts/none.obj & name="m"
        content_type: | model/obj & name="m" file="{DATA}/parts/channel.obj"
        """),
    ("frame", pendulum(f'<frame {{}}>{BALL}<geom size="0.1" pos="0 0.2 0.3"/></frame>'), POSES + """
        name: one | two
        childclass: | other
        scale: 1 | 2
        massscale: 1 | 2
        scaling: similar | geometry
        """),
    ("body", pendulum(f"<body {{}}>{BALL}</body>"), POSES + """
        gravcomp: 0 | 1
        name: x | y
        childclass: | other
        user: 0 | 1
        fuse: auto | false
        """),
    ("body", scene(f"<body {{}}><freejoint/>{BALL}</body>", '<option><flag sleep="enable"/></option>'), """
        sleep: allowed | never
        simple: auto | false
        """),
    ("body", scene(f"<body {{}}><freejoint/>{BALL}</body>"), "sleep: auto | init"),
    ("body", scene(f"<body {{}}>{BALL}</body>"), "mocap: false | true"),
    ("inertial", pendulum("<inertial {}/>").replace('<geom size="0.1"/>', ""),
        given(POSES, 'pos="0 0.1 0" mass="1" diaginertia="0.1 0.2 0.25"', "pos") + """
        pos: 0 0 0 | 0.1 0.2 0.3 & mass="1" diaginertia="0.1 0.2 0.25"
        mass: 1 | 2 & pos="0.1 0 0" diaginertia="0.1 0.2 0.25"
        diaginertia: 0.1 0.2 0.25 | 0.1 0.3 0.35 & pos="0.1 0 0" mass="1"
        fullinertia: 0.1 0.2 0.25 0 0 0 | 0.1 0.2 0.25 0.01 0 0 & pos="0.1 0 0" mass="1"
        """),
    ("joint", joint(), f"""
        class: | other
        type: hinge | slide
        pos: 0 0 0 | 0.1 0.2 0
        axis: 1 0 0 | 1 1 0
        ref: 0 | 30 & stiffness="5"
        springref: 0 | 30 & stiffness="5"
        range: -90 0.05 | -90 90
        limited: true | false & range="-90 0.05"
        damping: 0 | 5
        frictionloss: 0 | 5
        armature: 0 | 5
        stiffness: 0 | 50 & springref="10"
        springdamper: 0 0 | 0.1 1 & springref="10"
        group: 0 | 2
        user: 0 | 1
        margin: 0 | 0.1 & range="-90 0.05"
        springyield: 0 | 0.1 & stiffness="50"
        actuatorgravcomp: false | true
        {SOFT_LIMIT}
        """),
    ("joint", scene(f'<body pos="0 0 1"><joint {{}}/>{BALL}</body>'), "name: a | b"),
    ("joint", joint('type="ball"'), """
        damping: 0 | 5
        armature: 0 | 5
        frictionloss: 0 | 5
        stiffness: 0 | 5
        springdamper: 0 0 | 0.1 1
        range: | 0 0.001
        """),
    ("joint", scene(f'<body pos="0 0 1"><joint type="free" {{}}/>{BALL}</body>'), """
        damping: 0 | 5
        armature: 0 | 5
        frictionloss: 0 | 5
        stiffness: 0 | 5
        """),
    ("freejoint", scene(f"<body><freejoint {{}}/>{BALL}</body>"), """
        name: one | two
        group: 0 | 2
        align: false | true
        """),
    ("geom", pendulum("<geom {}/>"), given(POSES, 'size="0.1 0.2 0.3" type="box" pos="0 0.1 0.2"', "pos")
        + given(SOFT, 'size="0.1"') + """
        pos: 0 0 0 | 0.1 0.2 0.3 & size="0.1"
        size: 0.1 | 0.2 & pos="0.1 0 0"
        fromto: 0 0 0 0.1 0 0 | 0 0 0 0.2 0 0 & type="capsule" size="0.05"
        mass: 1 | 2 & size="0.1" pos="0.1 0 0"
        density: 1000 | 2000 & size="0.1" pos="0.1 0 0"
        type: sphere | box & size="0.1 0.2 0.3" pos="0.1 0 0"
        class: | other & size="0.1" pos="0.1 0 0"
        name: x | y & size="0.1"
        rgba: 1 0 0 1 | 0 1 0 1 & size="0.1"
        group: 0 | 4 & size="0.1"
        shellinertia: false | true & size="0.1"
        fluidshape: none | ellipsoid & size="0.1"
        fluidcoef: 0.5 0.25 1.5 1 1 | 1 1 1 1 1 & size="0.1"
        castshadow: true | false & size="0.1"
        user: 0 | 1 & size="0.1"
        solmix: | 2 & size="0.1"
        fitscale: 1 | 2 & size="0.1"
        hfield: | h & size="0.1"
        """),
    ("geom", pendulum('<geom type="mesh" contype="0" conaffinity="0" {}/>').replace("<worldbody>",
        f'{MESH}<asset><mesh name="n" scale="1 2 1" {TETRAHEDRON}/></asset><worldbody>'), """
        mesh: m | n
        material: | grey & mesh="m"
        """),
    ("geom", resting('<geom size="0.1" {}/>', 'friction="0.001"'), """
        friction: 0.1 | 1
        contype: 1 | 0 & conaffinity="0"
        conaffinity: 1 | 0 & contype="0"
        margin: 0 | 0.01
        gap: 0 | 0.01
        adhesion: 0 | 1
        surfacevel: 0 | 1
        """),
    ("geom", resting('<geom size="0.1" {}/>', 'condim="1"'), "condim: 1 | 3 \n condim: 3 | 6"),
    ("geom", resting('<geom size="0.1" {}/>'), 'priority: 0 | 1 & friction="0.01"'),
    ("site", scene(f'<body pos="0 0 1"><joint type="ball"/>{BALL}<site {{}}/></body>',
        after='<actuator><motor site="x" gear="9 0 0 0 0 9"/></actuator><sensor><touch site="x"/></sensor>'),
        given(POSES, 'name="x"') + """
        size: 0.1 | 0.2 & name="x"
        fromto: 0 0 0 0 0 1 | 0 0 0 0 1 0 & name="x" type="capsule"
        name: x | y
        class: | other & name="x"
        type: sphere | box & name="x" size="0.1 0.2 0.3"
        group: 0 | 2 & name="x"
        material: | grey & name="x"
        rgba: 1 0 0 1 | 0 1 0 1 & name="x"
        user: 0 | 1 & name="x"
        """),
    ("pair", resting('<geom name="g" size="0.1"/><geom name="h" size="0.1" pos="0 0 1"/>').replace(
        "</mujoco>", "<contact><pair {}/></contact></mujoco>"), """
        condim: 3 | 1 & geom1="g" geom2="floor"
        condim: 3 | 6 & geom1="g" geom2="floor"
        friction: 1 | 0.1 & geom1="g" geom2="floor"
        friction: 1 1 | 1 0.5 & geom1="g" geom2="floor"
        name: x | y & geom1="g" geom2="floor"
        class: | other & geom1="g" geom2="floor"
        geom1: g | h & geom2="floor" friction="0.1"
        geom2: floor | none & geom1="g" friction="0.1"
        margin: 0 | 0.01 & geom1="g" geom2="floor"
        gap: 0 | 0.01 & geom1="g" geom2="floor"
        adhesion: 0 | 1 & geom1="g" geom2="floor"
        solref: | 0.1 1 & geom1="g" geom2="floor"
        solimp: | 0.8 0.9 0.01 & geom1="g" geom2="floor"
        solreffriction: | 0.1 1 & geom1="g" geom2="floor"
        """),
    ("exclude", scene(SLIDE.format("a", 0, "", "") + SLIDE.format("c", 5, "", "")
        + SLIDE.format("b", 0.15, "", "").replace("0 0 1", "-1 0 0"),
        after="<contact><exclude {}/></contact>"), """
        name: x | y & body1="a" body2="b"
        body1: a | c & body2="b"
        body2: b | c & body1="a"
        """),
    ("connect", tied("connect"), given(EQUALITY, 'body1="c" body2="a" anchor="0 0 0"') + """
        anchor: 0 0 0 | 0.1 0 0 & body1="c" body2="a"
        body1: c | d & body2="a" anchor="0 0 0"
        body2: a | d & body1="c" anchor="0 0 0"
        site1: v | w & site2="s"
        site2: s | r & site1="v"
        """),
    ("weld", tied("weld"), given(EQUALITY, 'body1="c" body2="a"') + """
        anchor: 0 0 0 | 0.1 0 0 & body1="c" body2="a" torquescale="0"
        relpose: 0.1 0 0.02 1 0 0 0 | 0.1 0 0.025 1 0 0 0 & body1="a" body2="c"
        torquescale: 1 | 0 & body1="c" body2="a"
        body1: c | d & body2="a"
        body2: a | d & body1="c"
        site1: v | w & site2="s"
        site2: s | r & site1="v"
        """),
    ("equality/joint", tied("joint"), given(EQUALITY, 'joint1="b" joint2="a" polycoef="0 2"') + """
        polycoef: 0 1 0 0 0 | 0 2 0 0 0 & joint1="b" joint2="a"
        polycoef: 0 1 0 0 0 | 0 1 1 0 0 & joint1="b" joint2="a"
        joint1: a | b
        joint2: a | & joint1="b"
        """),
    ("equality/tendon", tied("tendon"), given(EQUALITY, 'tendon1="t" tendon2="u" polycoef="0 2"') + """
        polycoef: 0 1 0 0 0 | 0 2 0 0 0 & tendon1="t" tendon2="u"
        tendon1: t | w & tendon2="u"
        tendon2: u | w & tendon1="t"
        """),
    ("fixed", strung("fixed"), given(TENDON, "", "name")),
    ("fixed", scene(BODIES, after=f'<tendon><fixed {{}}>{FIXED}</fixed></tendon>'), "name: t | v"),
    ("spatial", strung("spatial"), given(TENDON, "", "name range limited margin") + """
        range: 2.0195 9 | 0 9
        limited: true | false & range="2.0195 9"
        margin: 0 | 0.1 & range="0 9"
        """),
    ("spatial", scene(BODIES, after=f'<tendon><spatial {{}}>{SPATIAL}</spatial></tendon>'), "name: t | v"),
    ("fixed/joint", strung("fixed", 'damping="5"', "<joint {}/>"), """
        coef: 1 | 2 & joint="a"
        joint: a | b & coef="1"
        """),
    ("spatial/site", strung("spatial", 'damping="5"', '<site {}/><site site="t"/>'), "site: s | u"),
    ("pulley", strung("spatial", 'damping="5"', SPATIAL + '<pulley {}/><site site="e"/><site site="u"/>'),
        "divisor: 1 | 2"),
    *((tag, driven(tag), DRIVEN) for tag in "motor position velocity intvelocity cylinder general".split()),
    ("motor", driven("motor"), """
        site: u | t & gear="0 0 1 0 0 0.1"
        refsite: | t & site="u" gear="0 0 1 0 0 0.1"
        """),
    ("position", driven("position"), SERVO + 'timeconst: 0 | 0.1 & joint="b"'),
    ("velocity", driven("velocity"), 'kv: 1 | 5 & joint="b"'),
    ("intvelocity", driven("intvelocity"), SERVO + """
        actrange: -1 1 | -0.0005 0.0005 & joint="b"
        actlimited: true | false & joint="b" actrange="-0.0005 0.0005"
        """),
    ("cylinder", driven("cylinder"), """
        timeconst: 1 | 0.1 & joint="b"
        area: 1 | 5 & joint="b"
        diameter: 1 | 5 & joint="b"
        bias: 0 0 0 | 1 -5 -1 & joint="b"
        actrange: -1 1 | -0.0005 0.0005 & joint="b" timeconst="0.1"
        actlimited: true | false & joint="b" timeconst="0.1" actrange="-0.0005 0.0005"
        """),
    ("general", driven("general"), """
        gainprm: 1 | 5 & joint="b"
        biasprm: 0 0 0 | 1 -5 -1 & joint="b" biastype="affine"
        dynprm: 1 | 0.1 & joint="b" dyntype="filter"
        actrange: -1 1 | -0.0005 0.0005 & joint="b" dyntype="integrator"
        actlimited: true | false & joint="b" dyntype="integrator" actrange="-0.0005 0.0005"
        inheritrange: 0.1 | 0.2 & joint="b" gainprm="5" biastype="affine" biasprm="0 -5"
        gaintype: fixed | affine & joint="b"
        biastype: none | affine & joint="b" biasprm="1 -5 -1"
        dyntype: none | filter & joint="b"
        actearly: false | true & joint="b" dyntype="filter"
        actdim: 1 | 2 & joint="b" dyntype="user"
        velrange: 0 1 | 0 2 & joint="b"
        ffrange: 0 1 | 0 2 & joint="b"
        input: | pos & joint="b"
        """),
    ("key", scene(BODIES, after='<actuator><intvelocity joint="b"/></actuator><keyframe><key {}/>'
        "</keyframe>"), """
        name: one | two
        qpos: 0.1 | 0.2
        qvel: 0.1 | 0.2
        ctrl: 0.1 | 0.2
        act: 0.1 | 0.2
        time: 0 | 1
        """),
    ("compiler", ATTACHED, "conflict: warning | merge"),
    ("body", scene(f"<body {{}}><freejoint/>{BALL}</body>", '<option><flag sleep="enable"/></option>'),
        "sleep: auto | init"),
    ("joint", joint().replace("</mujoco>", '<actuator><motor joint="j" gear="9"/></actuator></mujoco>'), """
        actuatorfrcrange: -0.1 0.1 | -1 1
        actuatorfrcrange: -0.1 0.1 | -0.1 1
        actuatorfrclimited: true | false & actuatorfrcrange="-0.1 0.1"
        """),
    *((tag, driven(tag), '''
        damping: 0 | 5 & tendon="t"
        armature: 0 | 5 & tendon="t"
        ''') for tag in "motor position velocity intvelocity cylinder general".split()),
    ("motor", turned("motor"), "damping: 0 | 5 \n armature: 0 | 5"),
]  # fmt: skip
