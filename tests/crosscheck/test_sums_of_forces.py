"""Joints and tendons bound the sum of their actuators' forces, as MuJoCo does (``actuatorfrcrange``).

Sliders of 1 kg that start in motion: the change of velocity over one short step is the force. Servos refer to
the end of the step here and to its start there: with h = 1e-6 s and gains below 1e2 the forces differ by
less than h (K v + D v̇) ~ 1e-6 · 1e2 · 1e2.
"""

import warnings

import numpy as np
import pytest

import taction as ta

mujoco = pytest.importorskip("mujoco")

H = 1e-6
TOLERANCE = 1e-2

JOINT = {  # what acts on a slider, and its range
    '<motor {}/>': "-0.1 0.1",
    '<motor {} gear="-3" forcerange="-9 2"/>': "-2 4",
    '<motor {}/><motor {} gear="2" forcerange="-1 1"/>': "-3 40",
    '<position {} kp="50" kv="2"/>': "-5 3",
    '<position {} kp="50" kv="2" gear="-2"/>': "-1 7",
    '<position {} kp="50" forcerange="-4 4"/>': "-3 9",
    '<position {} kp="9" kv="1"/><velocity {} kv="7"/>': "-2 2",
    '<position {} kp="9" kv="1"/><velocity {} kv="7" gear="-0.5"/><motor {}/>': "-200 200",
    '<position {} kp="9" kv="1"/><motor {} gear="3" forcerange="-2 2"/>': "-1 20",
    '<general {} gainprm="3" biastype="affine" biasprm="1 -2 -1"/><motor {}/>': "-2 0.5",
    '<intvelocity {} kp="20" kv="1"/>': "-1 1",
    '<cylinder {} area="3" timeconst="0.2" bias="1 -2 -3"/>': "0 2",
}  # fmt: skip
TENDON = {
    '<motor {}/>': "-0.1 0.1",
    '<motor {} gear="3"/><motor {} forcerange="-1 1"/>': "-4 4",
    '<position {} kp="20" kv="2" gear="2"/>': "-3 8",
    '<position {} kp="20" gear="-2"/><velocity {} kv="4" gear="-2"/><motor {} gear="-2"/>': "-2 5",
    '<general {} gainprm="3" gear="2"/><motor {} gear="-1"/>': "-2 1",
    '<general {} gainprm="-3" forcerange="-4 1"/>': "-2 3",
}  # fmt: skip


def scene() -> str:
    bodies, actuators, tendons = [], [], []
    for i, (acting, bounds) in enumerate(JOINT.items()):
        name = f"j{i}"
        bodies.append(slider(name, i, f'actuatorfrcrange="{bounds}"'))
        actuators.append(acting.replace("{}", f'joint="{name}"'))
    for i, (acting, bounds) in enumerate(TENDON.items()):
        bodies += [slider(f"a{i}", 100 + i), slider(f"b{i}", 200 + i)]
        for kind, parts in (
            ("fixed", f'<joint joint="a{i}" coef="2"/><joint joint="b{i}" coef="-3"/>'),
            ("spatial", f'<site site="a{i}"/><site site="b{i}"/>'),
        ):
            tendons.append(f'<{kind} name="{kind}{i}" actuatorfrcrange="{bounds}">{parts}</{kind}>')
            actuators.append(acting.replace("{}", f'tendon="{kind}{i}"'))
    # two stages: a tendon that bounds its motors, on a joint that bounds its forces, one of them a servo
    for k, limit in enumerate(("-1 1", "-30 4", "-2 9")):
        bodies.append(slider(f"c{k}", 300 + k, f'actuatorfrcrange="{limit}"'))
    tendons.append(
        '<fixed name="both" actuatorfrcrange="-3 3"><joint joint="c0" coef="2"/><joint joint="c1" coef="2"/>'
        '<joint joint="c2" coef="-1"/></fixed>'
    )
    actuators += [
        '<motor tendon="both" gear="5"/>', '<motor tendon="both" gear="2"/>', '<motor joint="c1"/>',
        '<position joint="c2" kp="7"/>',
    ]  # fmt: skip
    return (
        f'<mujoco><option gravity="0 0 0" timestep="{H}"><flag contact="disable"/></option><worldbody>'
        f"{''.join(bodies)}</worldbody><tendon>{''.join(tendons)}</tendon>"
        f"<actuator>{''.join(actuators)}</actuator></mujoco>"
    )


def slider(name: str, i: int, options: str = "") -> str:
    return (
        f'<body pos="{i} {0.3 * i} 0"><joint name="{name}" type="slide" axis="1 0 0" {options}/>'
        f'<geom size="0.1" mass="1"/><site name="{name}" pos="0 0.2 0.1"/></body>'
    )


def test_forces_over_a_short_step():
    text = scene()
    theirs, ours = mujoco.MjModel.from_xml_string(text), ta.load_mjcf(text, strict=True)
    rng = np.random.default_rng(5)
    sim, data, bounded = ta.Simulation(ours), mujoco.MjData(theirs), 0
    for _ in range(5):
        mujoco.mj_resetData(theirs, data)
        data.qpos[:], data.qvel[:] = rng.normal(size=theirs.nq), rng.normal(size=theirs.nv)
        data.ctrl[:] = 3.0 * rng.normal(size=theirs.nu)
        start = data.qvel.copy()
        run = sim.run(H, q=data.qpos, v=start, controller=ta.Actuators(ours, data.ctrl.copy()))
        mujoco.mj_step(theirs, data)
        force, wanted = (run.v[-1] - start) / H, (data.qvel - start) / H
        np.testing.assert_allclose(force, wanted, atol=TOLERANCE, rtol=1e-4)
        bounded += int(
            np.isclose(np.abs(wanted[:, None]), theirs.jnt_actfrcrange, atol=1e-3).any(axis=1).sum()
        )
    assert bounded > 20


@pytest.mark.parametrize(
    "acting, where",
    [
        ('<position joint="j" kp="9" forcerange="-1 1"/><motor joint="j"/>', "joint"),
        ('<position joint="j" kp="9" forcerange="-1 1"/><position joint="j" kv="2"/>', "joint"),
        ('<motor site="s" gear="1 0 0 0 0 0"/>', "joint"),
        ('<motor tendon="path"/>', "joint"),
        ('<position tendon="sum" kp="5"/>', "joint"),
        ('<position tendon="free" kp="5" forcerange="-1 1"/><motor tendon="free"/>', "tendon"),
    ],
)
def test_what_is_not_bounded_together_is_listed(acting, where):
    text = f"""<mujoco><worldbody><site name="w" pos="3 0 0"/>
      <body><joint name="j" type="slide" axis="1 0 0" actuatorfrcrange="-2 2"/><geom size="0.1"/>
        <site name="s"/></body>
      <body><joint name="k" type="slide" axis="1 0 0"/><geom size="0.1"/></body></worldbody>
      <tendon><spatial name="path"><site site="w"/><site site="s"/></spatial>
        <fixed name="sum"><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed>
        <fixed name="free" actuatorfrcrange="-2 2"><joint joint="k" coef="1"/></fixed></tendon>
      <actuator>
{acting}</actuator></mujoco>"""
    with pytest.warns(ta.UnsupportedFeatureWarning):
        model = ta.load_mjcf(text)
    (unread,) = model.unread
    assert unread.what == f"{where} actuatorfrcrange of several forces"
    assert unread.changes.endswith("is bounded, not their sum") and unread.where == "<text>:9"
    with pytest.raises(ta.ModelError, match="several forces"):
        ta.load_mjcf(text, strict=True)


def test_long_runs_end_where_mujocos_do():
    """The file of a bug report: a slide joint with a range of ±0.1 N, and a control of 100."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="j" type="slide" axis="1 0 0" actuatorfrcrange="-0.1 0.1"/><geom size="0.1" mass="1"/>
      </body></worldbody><actuator>{}</actuator></mujoco>"""
    for acting in ('<motor joint="j"/>', '<position joint="j" kp="1e5" kv="1e2"/>'):
        model = ta.load_mjcf(text.format(acting))
        for scene_of in (model, ta.World(model)):
            run = ta.Simulation(scene_of, stepper="stewart-trinkle").run(
                0.278, controller=ta.Actuators(model, [100.0])
            )
            # v = n h a after n steps of h = 2 ms, so the path is a h² n (n + 1)/2
            assert run.q[-1, 0] == pytest.approx(0.1 * 0.002**2 * 139 * 140 / 2, rel=1e-12)


def test_ranges_without_zero():
    """MuJoCo pushes such a joint even where nothing drives it, and refuses such a tendon."""
    text = """<mujoco><worldbody><body><joint name="j" actuatorfrcrange="1 2"/><geom size="1"/></body>
      </worldbody>{}</mujoco>"""
    with pytest.warns(ta.UnsupportedFeatureWarning, match="joint actuatorfrcrange without zero"):
        ta.load_mjcf(text.format(""))
    tendon = '<tendon><fixed actuatorfrcrange="1 2"><joint joint="j" coef="1"/></fixed></tendon>'
    with pytest.raises(ta.ModelError, match="actuatorfrcrange='1 2' must contain 0"):
        ta.load_mjcf(text.format(tendon))


def test_a_joint_without_a_largest_force_is_refused():
    b = ta.ModelBuilder("arm")
    b.body("rod", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.revolute("hinge", parent="world", child="rod", effort=0.0)
    b.actuator("motor", "hinge")
    with pytest.raises(ta.BadInput, match="joint 'hinge' has actuators, but its effort limit is 0"):
        ta.Actuators(b.build(), [1.0])


def test_an_asymmetric_range_is_kept():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ta.load_mjcf(
            '<mujoco><worldbody><body><joint name="j" actuatorfrcrange="-1 3"/><geom size="1"/></body>'
            "</worldbody></mujoco>"
        )
    joint = model.spec.joint("j")
    assert (joint.effort, joint.force_range) == (3.0, (-1.0, 3.0))
