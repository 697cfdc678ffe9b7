"""MJCF files, compared with MuJoCo: mass matrix, bias forces, accelerations, actuators."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from mjcf_pairs import Pair, compare_loops, compare_tree
from program import ROOT, kempe_program

import kempe
from kempe.cli.common import hold_base

mujoco = pytest.importorskip(
    "mujoco", reason='MuJoCo is not installed: pip install "kempe[mjcf]"')

SEEDS = range(3)
GEOM = '<geom type="box" size=".03 .05 .1" pos=".02 .03 .1" density="800"/>'
ROD = '<geom type="capsule" fromto="0 0 0 {} 0 0" size=".02" density="900"/>'


def written(folder: Path, bodies: str, rest: str = "", head: str = "") -> Path:
    file = folder / "robot.xml"
    file.write_text(f"""<mujoco model="robot">
  <compiler angle="radian"/>
  {head}
  <worldbody>{bodies}</worldbody>
  {rest}
</mujoco>
""")
    return file


def about(model: kempe.Model, *words: str) -> list[str]:
    """The warnings that contain all these words."""
    return [text for text in model.warnings if all(word in text for word in words)]


# --- trees ---------------------------------------------------------------------------------------

TREES = {
    "hinge": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint axis="1 2 3"/>{GEOM}</body>',
    "slide": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint type="slide" axis="1 2 3"/>{GEOM}'
             f'<body pos="0 0 .2"><joint type="hinge" axis="0 1 0"/>{GEOM}</body></body>',
    "ball": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><joint type="ball" pos=".1 -.2 .3"/>{GEOM}'
            f'<body pos="0 0 .2"><joint axis="0 1 0"/>{GEOM}</body></body>',
    "free": f'<body pos=".1 .2 .3" euler=".3 .2 .1"><freejoint/>{GEOM}'
            f'<body pos="0 0 .2"><joint axis="0 1 0" damping=".1"/>{GEOM}</body>'
            f'<body pos="0 .2 .2"><joint type="ball" damping=".1"/>{GEOM}</body></body>',
    "anchors": f'<body pos=".1 .2 .3"><joint axis="0 0 1" pos=".1 .2 .3"/>{GEOM}'
               f'<body pos="0 0 .2" euler="1 2 3"><joint axis="0 1 1" pos="-.1 .3 0"/>{GEOM}'
               '</body></body>',
    "references": f'<body pos=".1 .2 .3"><joint axis="0 1 1" pos=".1 .2 .3" ref=".7"/>{GEOM}'
                  f'<body pos="0 0 .2"><joint type="slide" axis="1 1 0" ref="-.3"/>{GEOM}'
                  '</body></body>',
    "several joints": f"""<body pos=".1 .2 .3" euler="1 2 3">
        <joint name="x" axis="1 0 0" pos=".1 0 0" ref=".3" armature=".2"/>
        <joint name="s" type="slide" axis="0 1 1" ref=".1"/>
        <joint name="z" axis="0 1 1" pos="0 .2 .1" ref="-.5" damping=".3"/>{GEOM}
        <body pos="0 0 .2"><joint name="u" axis="0 1 0"/><joint name="v" axis="1 0 0"/>
          <joint name="w" axis="0 0 1"/>{GEOM}</body></body>""",
    "passive": f"""<body pos="0 0 1"><joint axis="0 1 0" armature=".3" damping=".4" stiffness="5"
          springref=".6" ref=".2"/>{GEOM}
        <body pos="0 0 .3"><joint type="slide" axis="1 0 0" armature=".1" damping=".2"
          stiffness="3"/>{GEOM}</body></body>""",
    "ball with armature": f'<body><joint type="ball" armature=".2" damping=".1"/>{GEOM}</body>',
    "inertias": """<body pos="0 0 1"><joint axis="0 1 0"/>
        <inertial pos=".1 .2 .3" mass="2" fullinertia=".03 .02 .025 .001 .002 -.003"/>
        <body pos="0 0 .3"><joint axis="1 0 0"/>
          <inertial pos="0 .1 0" euler=".3 .5 .7" mass="1" diaginertia=".01 .02 .015"/></body>
        <body pos="0 .2 .3"><joint axis="0 0 1"/><geom type="ellipsoid" size=".1 .2 .3"/>
          <geom type="cylinder" size=".1 .2" pos=".2 0 0" euler="1 0 0" mass="2"/></body></body>""",
    "static": f"""<body pos="0 0 1" euler=".1 .2 .3">{GEOM}<body pos=".1 0 0">
        <joint axis="0 1 0"/>{GEOM}<body pos="0 0 .3" euler=".5 0 0">{GEOM}
        <body pos=".1 .1 .1"><joint axis="1 0 0"/>{GEOM}</body></body></body></body>""",
    "two robots": f'<body><freejoint/>{GEOM}</body><body pos="1 0 0"><joint/>{GEOM}</body>',
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("bodies", TREES.values(), ids=TREES)
def test_trees(bodies: str, seed: int, tmp_path: Path) -> None:
    pair = Pair(written(tmp_path, bodies, head='<option gravity="1 2 -7"/>'))
    compare_tree(pair, np.random.default_rng(seed))


def test_armature_and_damping_of_actuators(tmp_path: Path) -> None:
    file = written(tmp_path, TREES["several joints"], """<actuator>
      <motor joint="x" gear="3" armature=".2" damping=".1"/><motor joint="s" gear="-2"/>
      <motor joint="x" gear="2" armature=".1"/></actuator>""")
    try:
        pair = Pair(file)
    except kempe.ModelError:
        pytest.skip("this version of MuJoCo has no armature of actuators")
    joint = pair.model.mechanism.find_joint("x")
    assert joint is not None
    assert joint.armature == pytest.approx(0.2 + 9 * 0.2 + 4 * 0.1)
    compare_tree(pair, np.random.default_rng(1))


def test_disabled_springs_dampers_and_gravity(tmp_path: Path) -> None:
    head = '<option><flag gravity="disable" spring="disable" damper="disable"/></option>'
    pair = Pair(written(tmp_path, TREES["passive"], head=head))
    np.testing.assert_array_equal(pair.model.gravity, 0)
    compare_tree(pair, np.random.default_rng(1))
    assert about(pair.model, "springs of joints: disabled in the file")


def test_friction_loss_slides(tmp_path: Path) -> None:
    file = written(tmp_path, f'<body><joint name="j" axis="0 1 0" frictionloss=".3"/>{GEOM}</body>')
    model = kempe.load(file)
    with_friction = model.bias_forces([0.4], [2.0])
    file.write_text(file.read_text().replace('frictionloss=".3"', ""))
    np.testing.assert_allclose(with_friction - kempe.load(file).bias_forces([0.4], [2.0]), 0.3)


def test_neutral_is_the_reference_of_the_file(tmp_path: Path) -> None:
    pair = Pair(written(tmp_path, TREES["references"] + TREES["free"]))
    np.testing.assert_allclose(pair.to_mujoco(pair.model.neutral()), pair.m.qpos0, atol=1e-12)


def test_sites_and_bodies_are_frames(tmp_path: Path) -> None:
    bodies = f"""<body name="arm" pos=".1 .2 .3"><joint name="a" axis="0 1 1" pos=".1 .2 0"
        ref=".4"/>{GEOM}<site name="tip" pos=".1 .2 .3" euler=".3 .2 .1"/>
        <body name="hand" pos="0 0 .2"><joint type="ball"/>{GEOM}<site name="arm"/></body>
        <body name="fixed" pos="0 .3 0" euler="1 0 0">{GEOM}</body></body>
        <site name="origin" pos="1 2 3"/>"""
    pair = Pair(written(tmp_path, bodies))
    q = pair.model.random_configuration(2)
    pair.evaluate(pair.to_mujoco(q), np.zeros(pair.m.nv))
    for kind, frames in (("body", ("arm", "hand", "fixed")), ("site", ("tip", "origin"))):
        for frame in frames:
            element = getattr(pair.d, kind)(frame)
            R, p = pair.model.frame_placement(q, frame)
            np.testing.assert_allclose(p, element.xpos, atol=1e-12)
            np.testing.assert_allclose(R, element.xmat.reshape(3, 3), atol=1e-12)
    assert about(pair.model, 'site "arm"', "a body has the same name")
    assert np.allclose(pair.model.frame_placement(q, "arm_2")[1], pair.d.site("arm").xpos)


# --- loops ---------------------------------------------------------------------------------------

FOUR_BAR = f"""<body name="crank" pos="0 0 1"><joint name="motor" axis="0 1 0"/>{ROD.format(".2")}
    <body name="coupler" pos=".2 0 0"><joint name="knee" axis="0 1 0"/>{ROD.format(".6")}
      <site name="end" pos=".6 0 0" euler="0 .3 0"/></body></body>
  <body name="rocker" pos=".5 0 1"><joint name="pivot" axis="0 1 0"/>{ROD.format(".4")}
    <site name="top" pos=".4 0 0" euler="0 .3 0"/></body>"""
# The four-bar, closed in its reference position: crank and rocker 1.2 and 1.7 rad up.
CLOSED = """<body name="crank" pos="0 0 1"><joint name="motor" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .1 0 .2" size=".02"/>
    <body name="coupler" pos=".1 0 .2"><joint name="knee" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .6 0 .1" size=".02"/></body></body>
  <body name="rocker" pos=".5 0 1"><joint name="pivot" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .2 0 .3" size=".02"/></body>{}"""
CHAIN = f"""<body name="a" pos="0 0 1" euler=".1 .2 .3"><joint name="a1" axis="0 0 1"/>
    <joint name="a2" axis="0 1 0"/><joint name="a3" axis="1 0 0"/>{GEOM}
    <body name="b" pos=".3 0 0"><joint name="b1" type="ball"/>{GEOM}
      <body name="c" pos=".3 0 0"><joint name="c1" axis="0 1 0"/><joint name="c2" axis="0 0 1"/>
        {GEOM}<site name="tip" pos=".1 .2 .3" euler=".5 0 .1"/></body></body></body>
  <body name="d" pos=".5 .1 1"><joint name="d1" axis="0 1 0"/><joint name="d2" axis="1 0 0"/>{GEOM}
    <site name="top" pos=".1 .2 0" euler=".5 0 .3"/></body>"""
THREE = f"""<body name="a" pos="0 0 1"><joint name="a" axis="0 1 0" ref=".3"/>{GEOM}
    <body name="b" pos="0 0 .2"><joint name="b" axis="1 0 0" ref="-.2"/>{GEOM}</body></body>
  <body name="c" pos=".5 0 1"><joint name="c" type="slide" axis="1 0 1" ref=".1"/>{GEOM}</body>"""
TENDONS = """<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-1"/></fixed>
  <fixed name="u"><joint joint="c" coef="3"/><joint joint="b" coef=".5"/></fixed></tendon>"""
LOOPS = {
    "connect bodies": (CLOSED.format(""), '<connect body1="coupler" body2="rocker" '
                       'anchor=".6 0 .1"/>'),
    "connect to the world": (CHAIN, '<connect body1="c" anchor=".1 .2 .3"/>'),
    "connect sites": (FOUR_BAR, '<connect site1="end" site2="top"/>'),
    "weld": (CHAIN, '<weld body1="c" body2="d"/>'),
    "weld with a pose": (CHAIN, '<weld body1="c" body2="d" anchor=".1 .2 0" '
                         'relpose=".3 .1 .2 .9 .1 .3 .2"/>'),
    "weld sites": (CHAIN, '<weld site1="tip" site2="top"/>'),
    "joint": (THREE, '<joint joint1="a" joint2="b" polycoef=".1 -2 0 0 0"/>'),
    "joint alone": (THREE, '<joint joint1="a" polycoef=".1 0 0 0 0"/>'),
    "quadratic": (THREE, '<joint joint1="a" joint2="b" polycoef=".1 -2 .5 0 0"/>'),
    "quartic": (THREE, '<joint joint1="c" joint2="b" polycoef=".1 .3 -.2 .1 .05"/>'),
    "tendons": (THREE, '<tendon tendon1="t" tendon2="u" polycoef=".1 .5 0 0 0"/>', TENDONS),
    "tendon alone": (THREE, '<tendon tendon1="t" polycoef=".1 0 0 0 0"/>', TENDONS),
    "tendons, cubic": (THREE, '<tendon tendon1="t" tendon2="u" polycoef=".1 .5 .2 .1 0"/>',
                       TENDONS),
    "rod": (FOUR_BAR, '<tendon tendon1="r" polycoef=".2 0 0 0 0"/>',
            '<tendon><spatial name="r"><site site="end"/><site site="top"/></spatial></tendon>'),
    "two": (CLOSED.format(THREE.replace('"a"', '"aa"')),
            '<connect body1="coupler" body2="rocker" anchor=".6 0 .1"/>'
            '<joint joint1="motor" joint2="b" polycoef="0 .5 0 0 0"/>'),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)
def test_loops(case: tuple[str, ...], seed: int, tmp_path: Path) -> None:
    bodies, equality, *rest = case
    file = written(tmp_path, bodies, f"{''.join(rest)}<equality>{equality}</equality>")
    pair = Pair(file)
    assert len(pair.model.loops) == pair.m.neq
    compare_loops(pair, seed)
    (note,) = about(pair.model, "solref and solimp")
    assert str(file) in note


@pytest.mark.parametrize("name", ["connect bodies", "weld", "quadratic", "rod"])
def test_loops_that_are_left_cut(name: str, tmp_path: Path) -> None:
    bodies, equality, *rest = LOOPS[name]
    pair = Pair(written(tmp_path, bodies, f"{''.join(rest)}<equality>{equality}</equality>"))
    mechanism = pair.model.mechanism
    for loop in (*mechanism.loops, *mechanism.rods, *mechanism.functions):
        loop.cut = True
    pair.model = kempe.mjcf.MjcfModel(mechanism)
    assert pair.model.cut_loops
    compare_loops(pair, 1)


def test_a_tendon_of_constant_length_is_a_rod(tmp_path: Path) -> None:
    model = kempe.load(written(tmp_path, FOUR_BAR, """<tendon><spatial name="r" limited="true"
      range=".3 .3000000000001"><site site="end"/><site site="top"/></spatial></tendon>"""))
    q = model.random_configuration(1)
    ends = [model.frame_placement(q, site)[1] for site in ("end", "top")]
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(0.3, abs=1e-9)
    assert [loop.name for loop in model.loops] == ["r"] and model.nv == 2


def test_a_fixed_tendon_of_constant_length_is_a_coupling(tmp_path: Path) -> None:
    limits = TENDONS.replace('name="t"', 'name="t" limited="true" range=".2 .2000000000001"')
    limits = limits.replace('name="u"', 'name="u" limited="true" range="-.1 .1"')
    model = kempe.load(written(tmp_path, THREE, limits))
    q = model.random_configuration(1)
    positions = dict(zip(model.spanning_position_names, model.spanning_positions(q), strict=True))
    assert 2 * positions["a"] - positions["b"] == pytest.approx(0.2, abs=1e-9)
    assert [loop.name for loop in model.loops] == ["t"] and model.nv == 2
    assert about(model, 'tendon "u"', "limits of its length", "equality")


def test_equalities_that_are_not_held_are_reported(tmp_path: Path) -> None:
    file = written(tmp_path, CLOSED.format('<body name="still" pos="2 0 0"/>'), """
      <tendon><spatial name="s"><site site="x"/><site site="y"/><site site="z"/></spatial></tendon>
      <equality><connect name="off" body1="coupler" body2="rocker" anchor=".6 0 .1"
      active="false"/><weld name="same" body1="still"/><tendon name="bent" tendon1="s"/></equality>
      """)
    text = file.read_text().replace("</worldbody>", """<site name="x"/></worldbody>""").replace(
        '<body name="rocker" pos=".5 0 1">',
        '<body name="rocker" pos=".5 0 1"><site name="y"/><site name="z" pos="0 0 1"/>')
    file.write_text(text)
    model = kempe.load(file)
    assert not model.loops
    assert about(model, 'equality connect "off"', "not active")
    assert about(model, 'equality weld "same"', "fixed to each other")
    assert about(model, 'equality tendon "bent"', "straight between two sites")
    assert not about(model, "solref")
    text = file.read_text().replace("<worldbody>", '<option><flag equality="disable"/></option>'
                                    "<worldbody>").replace('active="false"', "")
    file.write_text(text)
    assert about(kempe.load(file), 'equality connect "off"', "disables all")


def test_warnings_name_elements(tmp_path: Path) -> None:
    bodies = f"""<body name="light" gravcomp="1"><joint name="b" type="ball" stiffness="2"
        range="0 1" limited="true"/>{GEOM}<site name="p"/></body>
      <body name="hand" mocap="true" pos="0 0 1"><geom name="egg" type="ellipsoid" size=".1 .1 .1"
        contype="0" conaffinity="0"/></body>
      <body name="heavy" pos="1 0 0"><joint name="f" type="free" armature=".1"/>{GEOM}
        <site name="q"/></body>"""
    rest = """<tendon><spatial name="string" stiffness="3" damping="1" limited="true" range="0 1">
      <site site="p"/><site site="q"/></spatial></tendon>
      <contact><exclude body1="light" body2="heavy"/></contact>
      <equality><weld name="held" body1="hand" body2="light"/></equality>"""
    model = kempe.load(written(tmp_path, bodies, rest, '<option density="1.2"/>'))
    assert about(model, 'body "light"', "gravcomp")
    assert about(model, 'joint "b"', "stiffness has no effect", "ball")
    assert about(model, 'joint "b"', "limit of its angle")
    assert about(model, 'body "hand"', "mocap")
    assert about(model, 'geom "egg"', "ellipsoid")
    assert about(model, 'joint "f"', "armature")
    assert about(model, 'tendon "string"', "stiffness", "add_point_spring")
    assert about(model, 'tendon "string"', "damping")
    assert about(model, 'tendon "string"', "limits of its length")
    assert about(model, 'equality weld "held"', "mocap")
    assert about(model, "contact/exclude")
    assert about(model, "contacts are not computed")
    assert about(model, "density")
    assert all(str(tmp_path / "robot.xml") in text for text in model.warnings)


def test_lines_of_elements(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(f"""<mujoco>
  <worldbody>
    <body>
      <joint name="j"
        type="ball" stiffness="2"/>
      {GEOM}
    </body>
  </worldbody>
</mujoco>""")
    (text,) = about(kempe.load(file), "stiffness")
    assert text.startswith(f'{file}:4: joint "j"')


# --- limits, actuators, keyframes, shapes ---------------------------------------------------------

def test_limits_and_names(tmp_path: Path) -> None:
    file = written(tmp_path, f"""<body name="arm"><joint name="j" axis="0 1 0" range="-1 2"
      limited="true" actuatorfrcrange="-3 3" actuatorfrclimited="true"/>{GEOM}
      <body><joint axis="1 0 0"/>{GEOM}</body></body>""")
    model = kempe.load(file)
    joint = model.mechanism.find_joint("j")
    assert joint is not None
    assert (joint.type, joint.lower, joint.upper, joint.max_effort) == ("revolute", -1, 2, 3)
    assert model.joint_names == ["j", "body2_hinge"]
    assert model.body_names == ["arm", "body2"]
    assert model.name == "robot"


ACTUATED = f"""<body name="base" pos="0 0 1"><freejoint name="base"/>{GEOM}
    <body name="arm" pos=".1 0 0"><joint name="arm" axis="0 1 0"/>{GEOM}
      <site name="p" pos="0 .1 .2" euler=".1 .2 .3"/>
      <body name="hand" pos=".1 0 .2"><joint name="hand" type="ball"/>{GEOM}</body></body>
    <body name="leg" pos="-.1 0 0"><joint name="leg" axis="1 0 0" damping=".1"/>{GEOM}
      <site name="r" pos=".1 .1 0"/></body></body>"""
ACTUATORS = """<tendon><fixed name="t"><joint joint="arm" coef="2"/><joint joint="leg" coef="-1"/>
    </fixed><spatial name="s"><site site="p"/><site site="r"/></spatial></tendon>
  <actuator><motor name="m" joint="arm" gear="3"/>
    <position name="x" joint="leg" kp="20" kv="3" ctrlrange="-1 1" ctrllimited="true"/>
    <velocity name="w" joint="arm" kv="5" gear="2"/>
    <general name="g" joint="leg" gainprm="3" biastype="affine" biasprm="1 -2 -.5" gear="2"
      forcerange="-4 4" forcelimited="true"/>
    <motor name="ball" joint="hand" gear="1 2 3"/>
    <motor name="ball_parent" jointinparent="hand" gear="1 2 3"/>
    <motor name="free" joint="base" gear="1 2 3 4 5 6"/>
    <motor name="free_parent" jointinparent="base" gear="1 2 3 4 5 6"/>
    <motor name="fixed" tendon="t" gear="2"/>
    <position name="spatial" tendon="s" kp="30" gear="1.5"/>
    <motor name="site" site="p" gear="1 2 3 4 5 6"/></actuator>"""


def test_actuators(tmp_path: Path) -> None:
    pair = Pair(written(tmp_path, ACTUATED, ACTUATORS))
    model, rng = pair.model, np.random.default_rng(3)
    assert model.actuator_names[:3] == ["m", "x", "w"]
    kinds = {actuator.name: actuator.kind for actuator in model.actuators}
    assert [kinds[name] for name in "mxwg"] == ["motor", "position", "velocity", "general"]
    x = model.actuators[1]
    assert (x.target, x.transmission, x.control_range) == ("leg", "joint", (-1, 1))
    assert x.gain == (20, 0, 0) and x.bias == (0, -20, -3)
    assert model.actuators[3].force_range == (-4, 4)
    assert model.actuated == [name for name in model.v_names]

    q, v = model.random_configuration(4), rng.normal(size=model.nv)
    qpos = pair.to_mujoco(q)
    T, _ = pair.velocity_map(qpos, np.zeros(pair.m.nv))
    order = [model.spanning_velocity_names.index(name) for name in model.v_names]
    T = T[order]
    controls = rng.normal(size=pair.m.nu)
    controls[[1, 3]] = 2.5, -6.0  # beyond the range of controls, and of forces
    pair.d.ctrl[:] = controls
    pair.evaluate(qpos, np.linalg.solve(T, v))
    np.testing.assert_allclose(model.actuator_forces(q, v, controls), pair.d.actuator_force,
                               atol=1e-10)
    assert model.actuator_forces(q, v, controls)[3] == -4
    np.testing.assert_allclose(T.T @ model.actuator_torques(q, v, controls),
                               pair.d.qfrc_actuator, atol=1e-10)
    by_name = dict(zip(model.actuator_names, controls, strict=True))
    np.testing.assert_array_equal(model.actuator_forces(q, v, by_name),
                                  model.actuator_forces(q, v, controls))
    many = np.stack([q, model.random_configuration(5)])
    A = model.actuation_matrix(many)
    assert A.shape == (2, model.nv, len(controls))
    np.testing.assert_allclose(A[0], model.actuation_matrix(q), atol=1e-14)
    torques = model.actuator_torques(many, np.stack([v, v]), controls)
    np.testing.assert_allclose(torques[0], model.actuator_torques(q, v, controls), atol=1e-12)
    with pytest.raises(ValueError, match='there is no actuator "n".*m, x'):
        model.actuator_forces(q, v, {"n": 1.0})
    for odd, reason in (([1.0], "expected 11 numbers"), ([np.nan] * 11, "controls is not finite"),
                        ({"m": "fast"}, "controls: expected real numbers"), (1.0, "expected 11")):
        with pytest.raises(ValueError, match=reason):
            model.actuator_torques(q, v, odd)
    with pytest.raises(ValueError, match="v: expected"):
        model.actuator_torques(q, v[1:], controls)
    with pytest.raises(ValueError, match="q: "):
        model.actuation_matrix(q[1:])


def test_actuators_through_loops(tmp_path: Path) -> None:
    """Power of the actuators: f · (velocity of the transmission) = tau · v."""
    pair = Pair(written(tmp_path, CLOSED.format(""), """<equality><connect body1="coupler"
      body2="rocker" anchor=".6 0 .1"/></equality><actuator><motor name="k" joint="knee" gear="7"/>
      <motor name="p" joint="pivot"/></actuator>"""))
    model = pair.model
    q, v, f = model.random_configuration(1), np.array([0.7]), np.array([1.3, -0.4])
    velocities = dict(zip(model.spanning_velocity_names, model.spanning(q, v)[1], strict=True))
    power = (model.actuation_matrix(q) @ f) @ v
    assert power == pytest.approx(7 * 1.3 * velocities["knee"] - 0.4 * velocities["pivot"])
    assert set(model.actuated) == {"knee", "pivot"}


def test_joints_with_actuators_are_independent(tmp_path: Path) -> None:
    equality = """<equality><connect body1="coupler" body2="rocker" anchor=".6 0 .1"/>
      <joint joint1="a" joint2="b" polycoef=".1 -2 0 0 0"/></equality>"""
    bodies = CLOSED.format(THREE)
    for driven in ("motor", "pivot"):
        model = kempe.load(written(
            tmp_path, bodies, f'{equality}<actuator><motor joint="{driven}"/></actuator>'))
        assert set(model.v_names) == {driven, "b", "c"} and model.actuated == [driven]
    model = kempe.load(written(tmp_path, bodies, equality + """<actuator><motor joint="a"/>
      <motor joint="b"/></actuator>"""))
    assert about(model, "2 coordinates are marked independent (a, b)")
    assert set(model.actuated) == {"a", "b"}


def test_unsupported_actuators_are_reported(tmp_path: Path) -> None:
    model = kempe.load(written(tmp_path, ACTUATED, """<actuator>
      <adhesion name="glue" body="arm" ctrlrange="0 1"/>
      <motor name="ref" site="p" refsite="r" gear="1 0 0 0 0 0"/>
      <general name="lag" joint="arm" dyntype="filter" dynprm=".1"/></actuator>"""))
    assert about(model, 'actuator "glue", "ref"', "column of actuation_matrix is zero")
    q = model.neutral()
    assert not model.actuation_matrix(q)[:, :2].any() and model.actuation_matrix(q)[:, 2].any()
    with pytest.raises(ValueError, match='"lag".*filter'):
        model.actuator_torques(q, np.zeros(model.nv), {"lag": 1.0})


def test_actuators_in_a_simulation(tmp_path: Path) -> None:
    model = kempe.load(written(tmp_path, f"""<body><joint name="j" axis="0 1 0" damping="1"/>
      {GEOM}</body>""", '<actuator><position name="servo" joint="j" kp="200" kv="20"/></actuator>'))
    run = kempe.simulate(model, duration=3.0, dt=0.01, controller=lambda t, q, v:
                         model.actuator_torques(q, v, {"servo": 0.5}))
    assert run.q[-1, 0] == pytest.approx(0.5, abs=0.05)
    assert abs(run.v[-1, 0]) < 1e-3


def test_keyframes(tmp_path: Path) -> None:
    bodies = ACTUATED.replace('<body name="base"', '<body name="base" ')
    pair = Pair(written(tmp_path, bodies, """<keyframe>
      <key name="home" qpos=".1 .2 .3 .5 .5 .5 .5 .7 0 0 1 0 .4"/>
      <key qpos="0 0 1 1 0 0 0 0 1 0 0 0 0" qvel="1 0 0 0 0 0 0 0 0 0 0"/></keyframe>"""))
    model = pair.model
    assert list(model.keyframes) == ["home", "key1"]
    np.testing.assert_allclose(pair.to_mujoco(model.keyframes["home"]), pair.m.key_qpos[0])
    np.testing.assert_allclose(pair.to_mujoco(model.keyframes["key1"]), pair.m.key_qpos[1])
    assert about(model, 'keyframe "key1"', "velocities")


def test_keyframes_are_closed(tmp_path: Path) -> None:
    rest = """<equality><connect body1="coupler" body2="rocker" anchor=".6 0 .1"/></equality>
      <keyframe><key name="near" qpos="{:.5f} {:.5f} {:.5f}"/><key name="off" qpos=".1 .3 .1"/>
      <key name="impossible" qpos="3 0 0"/></keyframe>"""
    file = written(tmp_path, CLOSED.format(""), rest.format(0, 0, 0))
    model = kempe.load(file)
    spanning = model.spanning_positions(model.integrate(model.neutral(), [0.3], 1.0))
    names = model.spanning_position_names
    file.write_text(file.read_text().replace("0.00000 0.00000 0.00000", " ".join(
        f"{spanning[names.index(name)]:.5f}" for name in ("motor", "knee", "pivot"))))
    model = kempe.load(file)
    near = model.keyframes["near"]
    assert abs(model.loop_residual(near)).max() < 1e-12
    np.testing.assert_allclose(model.spanning_positions(near), spanning, atol=2e-5)
    assert not about(model, '"near"')
    assert about(model, 'keyframe "off"', "was changed")
    for q in model.keyframes.values():
        assert abs(model.loop_residual(q)).max() < 1e-9


def test_copies_keep_actuators_and_keyframes(tmp_path: Path) -> None:
    rest = """<equality><connect body1="coupler" body2="rocker" anchor=".6 0 .1"/>
      <joint joint1="motor" joint2="x" polycoef="0 1 .3 0 0"/></equality>
      <actuator><motor name="m" joint="motor"/></actuator>
      <keyframe><key name="home" qpos="0 0 0 0"/></keyframe>"""
    file = written(tmp_path, CLOSED.format(
        f'<body name="x" pos="2 0 0"><joint name="x" axis="0 1 0"/>{GEOM}</body>'), rest)
    model = kempe.load(file)
    other = model.with_independent(["pivot"])
    assert other.v_names == ["pivot"] and model.v_names != other.v_names
    mechanism = kempe.read_mechanism(file)
    again = kempe.mjcf.MjcfModel(mechanism)
    for same in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model),
                 kempe.mjcf.MjcfModel(model.mechanism),
                 kempe.mjcf.MjcfModel(copy.deepcopy(mechanism)),
                 kempe.mjcf.MjcfModel(pickle.loads(pickle.dumps(mechanism))), again, other):
        assert isinstance(same, kempe.Model)
        assert same.actuator_names == ["m"] and same.actuators == model.actuators
        np.testing.assert_allclose(same.spanning_positions(same.keyframes["home"]),
                                   model.spanning_positions(model.keyframes["home"]), atol=1e-9)
        assert abs(same.loop_residual(same.random_configuration(1))).max() < 1e-9
    assert pickle.loads(pickle.dumps(other)).v_names == ["pivot"]


def test_geoms_are_shapes(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wedge.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    pair = Pair(written(tmp_path, """<body name="arm"><joint/>
      <geom name="box" type="box" size=".1 .2 .3" rgba="1 0 0 1"/>
      <geom name="pill" type="capsule" fromto="0 0 0 0 0 1" size=".1" group="3"/>
      <geom name="wedge" type="mesh" mesh="wedge" pos=".1 .2 .3" euler=".3 .2 .1" contype="0"
        conaffinity="0"/></body>""", head="""<asset><mesh name="wedge" file="parts/wedge.obj"
        scale="2 2 3"/></asset>"""))
    body = pair.model.mechanism.find_body("arm")
    assert body is not None
    visuals = {shape.name: shape for shape in body.visuals}
    collisions = {shape.name: shape for shape in body.collisions}
    assert set(visuals) == {"box", "wedge"} and set(collisions) == {"box", "pill"}
    np.testing.assert_allclose(visuals["box"].size, [0.2, 0.4, 0.6])
    assert visuals["box"].color == pytest.approx((1, 0, 0, 1))
    assert (collisions["pill"].radius, collisions["pill"].length) == pytest.approx((0.1, 1.0))
    wedge = visuals["wedge"]
    assert wedge.mesh == str(tmp_path / "parts" / "wedge.obj")
    R, p = wedge.origin
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) * np.array(wedge.size)
    pair.evaluate(np.zeros(1), np.zeros(1))
    geom = pair.d.geom("wedge")
    expected = pair.m.mesh_vert @ geom.xmat.reshape(3, 3).T + geom.xpos
    found = corners @ np.array(R).T + p
    for corner in found:
        assert np.linalg.norm(expected - corner, axis=1).min() < 1e-6


def test_floating_and_fixed_base(tmp_path: Path) -> None:
    file = written(tmp_path, f"""<body name="torso" pos="0 0 1" euler=".1 .2 .3">{GEOM}
      <body><joint name="j" axis="0 1 0"/>{GEOM}</body></body>""")
    still = kempe.load(file)
    free = kempe.load(file, floating_base=True)
    assert (still.nv, free.nv) == (1, 7)
    for frame in ("torso", "body2"):
        for one, other in zip(still.frame_placement(still.neutral(), frame),
                              free.frame_placement(free.neutral(), frame), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
    file.write_text(file.read_text().replace(GEOM, GEOM + "<freejoint/>", 1))
    result = kempe_program("info", str(file), "--fixed-base", "--json")
    assert json.loads(result.stdout)["nv"] == 1
    mechanism = kempe.read_mechanism(file)
    hold_base(mechanism)
    held = kempe.Model(mechanism)
    np.testing.assert_allclose(held.frame_placement([0.3], "body2")[1],
                               still.frame_placement([0.3], "body2")[1], atol=1e-12)
    assert about(kempe.load(file, floating_base=True), "already free")
    written(tmp_path, f"<body>{GEOM}</body><body><joint/>{GEOM}</body>")
    with pytest.raises(kempe.ModelError, match="Add a <freejoint/>"):
        kempe.load(file, floating_base=True)


def test_loading_by_the_module(tmp_path: Path) -> None:
    model = kempe.mjcf.load(written(tmp_path, TREES["hinge"]), start={"body1_hinge": 0.5},
                            fold_rotors=False)
    assert isinstance(model, kempe.mjcf.MjcfModel)
    assert model.neutral()[0] == 0.5 and not model.fold_rotors


def test_content_tells_the_format(tmp_path: Path) -> None:
    file = written(tmp_path, TREES["hinge"])
    other = tmp_path / "robot.urdf"
    other.write_text("<?xml version='1.0'?>\n<!-- a robot -->\n" + file.read_text())
    assert kempe.load(other).nv == 1
    assert kempe.load(other, start={"body1_hinge": 0.5}).neutral()[0] == 0.5


def test_includes_and_defaults(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        f'<mujoco><body name="arm"><joint name="j" class="stiff"/>{GEOM}</body></mujoco>')
    file = written(tmp_path, '<include file="part.xml"/>', head="""<default>
      <default class="stiff"><joint axis="0 1 0" stiffness="4" armature=".2"/></default></default>
      """)
    joint = kempe.load(file).mechanism.find_joint("j")
    assert joint is not None and (joint.stiffness, joint.armature) == (4, 0.2)


@pytest.mark.parametrize("arguments", [
    ["info"], ["info", "--json"], ["check", "--quick"],
    ["simulate", "--duration", "0.05", "--json"],
], ids=" ".join)
def test_commands(arguments: list[str], tmp_path: Path) -> None:
    file = written(tmp_path, CLOSED.format(""), """<equality><connect body1="coupler"
      body2="rocker" anchor=".6 0 .1"/></equality>""")
    result = kempe_program(arguments[0], str(file), *arguments[1:])
    assert result.returncode == 0, result.stderr
    if "--json" in arguments:
        assert json.loads(result.stdout)["robot"] == "robot"


@pytest.mark.parametrize("case", LOOPS.values(), ids=LOOPS)
def test_conversion_to_urdf(case: tuple[str, ...], tmp_path: Path) -> None:
    bodies, equality, *rest = case
    file = written(tmp_path, bodies + TREES["several joints"] + TREES["free"], "".join(rest)
                   + f"<equality>{equality}</equality>")
    model = kempe.load(file)
    result = kempe_program("convert", file, tmp_path / "robot.urdf")
    assert result.returncode == 0, result.stderr
    same = kempe.load(tmp_path / "robot.urdf", merge_gimbals=False)
    assert (same.q_names, same.v_names) == (model.q_names, model.v_names)
    assert set(same.frame_names) == set(model.frame_names)
    rng = np.random.default_rng(1)
    q, v, tau = model.random_configuration(1), *rng.normal(size=(2, model.nv))
    np.testing.assert_allclose(same.project(q), q, atol=1e-9)
    np.testing.assert_allclose(same.mass_matrix(q), model.mass_matrix(q), atol=1e-9)
    a = model.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(same.forward_dynamics(q, v, tau), a,
                               atol=1e-7 * max(1, abs(a).max()))


def test_conversion_lists_what_urdf_cannot_hold(tmp_path: Path) -> None:
    file = written(tmp_path, ACTUATED, ACTUATORS + '<keyframe><key name="home"/></keyframe>')
    out = tmp_path / "robot.urdf"
    text = kempe_program("convert", file, out).stderr
    assert "URDF cannot hold actuators, which are left out: m, x, w, g" in text
    assert "and 5 more" in text and "keyframes, which are left out: home" in text
    report = json.loads(kempe_program("convert", file, out, "--json").stdout)
    assert report["not_held"]["keyframes"] == ["home"]
    assert set(kempe.load(out).actuated) == set(kempe.load(file).actuated)


# --- hostile files -------------------------------------------------------------------------------

ARM = f"<body name='arm'><joint name='j'/>{GEOM}</body>"
HOSTILE = {
    "missing mesh": ("<mujoco><asset><mesh name='m' file='no.obj'/></asset><worldbody/></mujoco>",
                     "no.obj"),
    "wrong type": ("<mujoco><worldbody><body><joint type='bend'/></body></worldbody></mujoco>",
                   "robot.xml:1: .*joint"),
    "wrong number": ("<mujoco><worldbody><body pos='a 0 0'/></worldbody></mujoco>",
                     "robot.xml:1: .*pos.*body"),
    "unknown element": ("<mujoco><worldbody><bodie/></worldbody></mujoco>", "bodie|worldbody"),
    "nan": ("<mujoco><worldbody>" + ARM.replace("<body", "<body pos='nan 0 0'")
            + "</worldbody></mujoco>", 'body "arm": pos is not finite'),
    "nan axis": ("<mujoco><worldbody><body><joint name='j' axis='nan 0 1'/>" + GEOM
                 + "</body></worldbody></mujoco>", 'joint "j": '),
    "no mass": ("<mujoco><worldbody><body name='arm'><joint/></body></worldbody></mujoco>",
                "mass.*arm"),
    "nothing": ("<mujoco/>", "no degree of freedom"),
    "nothing that moves": (f"<mujoco><worldbody><body>{GEOM}</body></worldbody></mujoco>",
                           "no degree of freedom"),
    "include loop": ("<mujoco><include file='robot.xml'/></mujoco>", "already included|robot.xml"),
    "missing include": ("<mujoco><include file='none.xml'/></mujoco>", "none.xml"),
    "no such joint": (f"<mujoco><worldbody>{ARM}</worldbody><actuator><motor joint='k'/>"
                      "</actuator></mujoco>", "motor|k"),
    "loop that cannot close": (
        f"<mujoco><worldbody>{ARM}<body name='b' pos='9 0 0'><joint name='k'/>{GEOM}"
        "<site name='y'/></body><site name='x'/></worldbody><equality>"
        "<connect name='far' site1='x' site2='y'/></equality></mujoco>", "far"),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(case: tuple[str, str], tmp_path: Path,
                       monkeypatch: pytest.MonkeyPatch) -> None:
    text, reason = case
    monkeypatch.chdir(tmp_path)  # where MuJoCo would write a log
    file = tmp_path / "robot.xml"
    file.write_text(text)
    with pytest.raises(kempe.ModelError, match=reason) as caught:
        kempe.load(file)
    assert "robot.xml" in str(caught.value)
    assert caught.value.__cause__ is None
    assert not Path("MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize("size", ["1e30", "1e150", "1e300"])
def test_huge_numbers(size: str, tmp_path: Path) -> None:
    """Whatever comes out is a model, or an error with the name of the file."""
    file = written(tmp_path, ARM.replace("<joint", f"<joint pos='{size} 0 0'") + ARM.replace(
        "arm", "b").replace("'j'", "'k'").replace("<body", f"<body pos='0 {size} 0'"))
    try:
        kempe.load(file)
    except kempe.ModelError as error:
        assert "robot.xml" in str(error)


# --- documentation -------------------------------------------------------------------------------

def test_the_page_for_users_of_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "coming_from_mujoco.md").read_text()

    def blocks(language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)

    (robot,) = blocks("xml")
    (output,) = blocks("text")
    monkeypatch.chdir(tmp_path)
    Path("robot.xml").write_text(robot)
    program = blocks("python no-run")
    assert len(program) == 3
    names: dict[str, object] = {}
    exec(program[0], names)
    assert capsys.readouterr().out == output
    exec(program[1], names)
    assert capsys.readouterr().out == "['drive', 'servo']\n"
    exec(program[2], names)
