"""Robots from MJCF files, compared with MuJoCo: mass matrix, bias forces, accelerations, loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mjcf_pairs import Pair, compare_loops, compare_tree
from mjcf_robots import (
    CLOSED,
    FOUR_BAR,
    GEOM,
    LOOPS,
    TENDONS,
    THREE,
    TREES,
    about,
    written,
)

import kempe

mujoco = pytest.importorskip(
    "mujoco", reason='MuJoCo is not installed: pip install "kempe[mjcf]"')

SEEDS = range(3)


# --- trees ---------------------------------------------------------------------------------------

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
