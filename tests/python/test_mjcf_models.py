"""Models of MJCF files: actuators, keyframes, shapes, copies, commands; hostile files."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from mjcf_pairs import Pair
from mjcf_robots import (
    ACTUATED,
    ACTUATORS,
    CLOSED,
    GEOM,
    LOOPS,
    THREE,
    TREES,
    about,
    written,
)
from program import ROOT, kempe_program

import kempe
from kempe.cli.common import hold_base

mujoco = pytest.importorskip(
    "mujoco", reason='MuJoCo is not installed: pip install "kempe[mjcf]"')


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


WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_geoms_are_shapes(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wedge.obj").write_text(WEDGE)
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


@pytest.mark.parametrize("start", ["models", "."])
def test_meshes_of_a_file_with_a_relative_path(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """Their paths do not depend on the working folder."""
    (tmp_path / "models" / "parts").mkdir(parents=True)
    (tmp_path / "models" / "parts" / "wedge.obj").write_text(WEDGE)
    file = written(tmp_path / "models", """<body name="arm"><joint/>
      <geom type="mesh" mesh="wedge"/></body>""",
                   head="""<compiler meshdir="parts"/>
      <asset><mesh name="wedge" file="wedge.obj"/></asset>""")
    monkeypatch.chdir(tmp_path / start)
    mechanism = kempe.read_mechanism(file.relative_to(tmp_path / start))
    body = mechanism.find_body("arm")
    assert body is not None
    assert body.visuals[0].mesh == str(tmp_path / "models" / "parts" / "wedge.obj")


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
    written(tmp_path, f'<body>{GEOM}</body><site name="s"/>')
    assert kempe.load(file, floating_base=True).nv == 6
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


@pytest.mark.parametrize("name", ["robot.mjcf", "robot", "robot.XML"])
def test_names_that_mujoco_does_not_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "wedge.obj").write_text(WEDGE)
    text = written(tmp_path, """<body name="arm"><joint/><geom type="mesh" mesh="wedge"/></body>""",
                   head='<asset><mesh name="wedge" file="wedge.obj"/></asset>').read_text()
    file = tmp_path / name
    file.write_text(text)
    model = kempe.load(file)
    body = model.mechanism.find_body("arm")
    assert body is not None and body.visuals[0].mesh == str(tmp_path / "wedge.obj")
    (tmp_path / "part.xml").write_text("<mujoco/>")
    file.write_text(text.replace("<worldbody>", '<include file="part.xml"/><worldbody>'))
    with pytest.raises(kempe.ModelError, match="ends in .xml"):
        kempe.load(file)


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
