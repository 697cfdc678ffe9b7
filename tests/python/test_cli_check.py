"""`kempe check`: tests of a model."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program
from test_assembly import short_four_bar  # noqa: F401
from test_loading import PENDULUM

import kempe
from kempe import cli
from kempe.cli import check, checks, laws
from kempe.cli.dead_points import Clock, ClusterLoops, OutOfTime, Sweeper


def report(*arguments: str | Path) -> dict:
    result = kempe_program("check", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("robot", [*kempe.robots.names(), "examples/geared_four_bar_leg.urdf"])
def test_bundled_robots_pass(robot: str) -> None:
    result = report(robot, "--samples", "20", "--seed", "7")
    assert result["passed"]
    assert result["failed"] == []
    found = result["findings"]
    assert max(found["loops"]["standing"], found["loops"]["after_a_step"]) <= 1e-12
    assert 0 < max(found["methods"]["accelerations"].values()) < 1e-6
    assert found["mass matrix"]["smallest_eigenvalue"] > 0
    assert found["mass matrix"]["condition_worst"] >= found["mass matrix"]["condition_median"]
    assert found["energy"]["largest"] < 1e-6


def test_page_ends_with_a_verdict() -> None:
    result = kempe_program("check", "planar_leg", "--samples", "10")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("planar_leg: 2 DoFs")
    assert lines[-1].startswith("Verdict: the model can be trusted")
    assert "triangle inequality" in result.stdout  # a warning of the file
    assert all(line == line.rstrip() for line in lines)
    assert len(lines) < 60


def test_many_warnings_do_not_fill_the_page() -> None:
    assert len(kempe_program("check", "jvrc1", "--samples", "2").stdout.splitlines()) < 40


SCARA = """<robot name="scara"><link name="table"/>
  <link name="arm"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="hand"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="table"/><child link="arm"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="arm"/><child link="hand"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 0 1"/></joint>
  <loop name="feet" type="planar"><predecessor link="table"/><successor link="hand"/>
    <axis xyz="0 0 1"/></loop></robot>"""

SECOND_BALL = """<robot name="ball"><link name="base"/>
  <link name="bob"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="spherical"><parent link="base"/><child link="bob"/></joint>
  <loop name="twin" type="spherical"><predecessor link="base"/><successor link="bob"/></loop>
  </robot>"""


@pytest.mark.parametrize("text", [SCARA, SECOND_BALL])
@pytest.mark.parametrize("command", [["check"], ["info"], ["linearize"],
                                     ["simulate", "--duration", "0.01"]])
def test_loops_that_restrict_nothing(tmp_path: Path, text: str, command: list[str]) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    result = kempe_program(command[0], file, *command[1:], "--json")
    assert result.returncode == 0, result.stderr
    if command == ["check"]:
        found = json.loads(result.stdout)["findings"]
        assert [cluster["worst"] for cluster in found["conditioning"]["clusters"]] == [1.0]


def test_without_loops(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM)
    found = report(file)["findings"]
    assert found["loops"]["largest"] == 0
    assert "dead points" not in found


@pytest.mark.parametrize("robot", ["four_bar", "six_bar", "mini_cheetah"])
def test_loops_left_cut(tmp_path: Path, robot: str) -> None:
    mechanism = kempe.robots.mechanism(robot)
    for loop in (*mechanism.loops, *mechanism.couplings):
        loop.cut = True
    file = tmp_path / "cut.urdf"
    kempe.write_urdf(mechanism, file)
    result = report(file, "--samples", "20")
    assert result["passed"], result
    found = result["findings"]
    assert max(found["loops"]["standing"], found["loops"]["after_a_step"]) <= 1e-12
    assert list(found["methods"]["accelerations"]) == ["cut_joint"]


def test_joints_that_resist_take_their_power(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM.replace(
        "</joint>", '<dynamics damping="0.3" friction="0.2"/></joint>'))
    assert report(file)["findings"]["energy"]["largest"] < 1e-6


@pytest.mark.parametrize("arguments, text", [
    (["--samples", "0"], "--samples"), (["--seed", "-1"], "--seed"),
    (["--samples", "many"], "--samples"), (["--time-limit", "-1"], "--time-limit"),
    (["--time-limit", "nan"], "--time-limit")])
def test_wrong_options(arguments: list[str], text: str) -> None:
    result = kempe_program("check", "four_bar", *arguments)
    assert result.returncode == 2
    assert text in result.stderr


# --- what is wrong is found, what is only badly conditioned is not blamed -------------------------

class Tampered:
    """A model with a function that returns wrong results for some methods."""

    def __init__(self, model: kempe.Model, function: str,
                 change: Callable[[str, np.ndarray], np.ndarray]) -> None:
        self._model, self._function, self._change = model, function, change

    def __getattr__(self, name: str) -> object:
        original = getattr(self._model, name)
        if name != self._function:
            return original

        def changed(*arguments: object, **options: str) -> object:
            return self._change(options.get("method", "cluster"), original(*arguments, **options))
        return changed


def findings_of(model: object, samples: int = 10) -> dict[str, checks.Finding]:
    return {finding.what: finding
            for finding in checks.all_findings(model, samples, 0, math.inf, lambda _: None)}


@pytest.mark.parametrize("function, kind", [("inverse_dynamics", "forces"),
                                            ("forward_dynamics", "accelerations")])
@pytest.mark.parametrize("off", ["cluster", "projection", "lagrange", "cut_joint"])
def test_the_method_that_is_off_is_named(
        four_bar: kempe.Model, function: str, kind: str, off: str) -> None:
    def change(method: str, result: np.ndarray) -> np.ndarray:
        return result * (1 + 1e-6) if method == off else result

    found = findings_of(Tampered(four_bar, function, change))["methods"]
    assert found.passed is False
    assert found.figures["off"] == [off]
    assert f"{off} is off: {kind} by" in found.text


@pytest.mark.parametrize("function, what, change", [
    ("loop_residual", "loops", lambda r: r + 1e-3),
    ("forward_dynamics", "round trip", lambda a: a * (1 + 1e-6)),
    ("mass_matrix", "mass matrix", lambda H: H * (1 + 1e-6)),
    ("bias_forces", "mass matrix", lambda h: h * (1 + 1e-6)),
    ("energy", "energy", lambda e: (e[0] * (1 + 1e-4), e[1])),
])
def test_what_is_wrong_fails(function: str, what: str,
                             change: Callable[[np.ndarray], np.ndarray]) -> None:
    model = kempe.Model(four_bar_of(1.0))
    assert findings_of(model)[what].passed
    found = findings_of(Tampered(model, function, lambda _, result: change(result)))
    assert found[what].passed is False


def test_a_wrong_model_is_not_to_be_trusted(monkeypatch: pytest.MonkeyPatch,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    def load(_: object) -> object:
        return Tampered(kempe.robots.load("four_bar"), "forward_dynamics",
                        lambda _, result: result * (1 + 1e-6))

    monkeypatch.setattr(check, "load_robot", load)
    assert cli.main(["check", "four_bar", "--samples", "3"]) == 1
    printed = capsys.readouterr()
    assert "do not trust" in printed.out
    assert "FAILED" in printed.out
    assert "round trip" in printed.err


def geared(size: float) -> kempe.Mechanism:
    """A heavy arm and a very light rotor: multipliers lose nearly all digits."""
    mechanism = kempe.Mechanism("geared")
    mechanism.add_body("world")
    mechanism.add_body("arm", mass=10 * size**3, center_of_mass=(0.5 * size, 0, 0),
                       inertia=np.array((1, 1, 1)) * size**5)
    mechanism.add_body("rotor", mass=1e-3 * size**3,
                       inertia=np.array((1, 1, 1.5)) * 1e-13 * size**5)
    mechanism.add_revolute("hinge", parent="world", child="arm", axis=(0, 1, 0), independent=False)
    mechanism.add_revolute("spin", parent="world", child="rotor", independent=True)
    mechanism.add_gear("gear", "spin", 7.3, "hinge")
    return mechanism


def four_bar_of(size: float, coupler: float = 1.0, digits: int = 17) -> kempe.Mechanism:
    """Bars of different lengths, in metres times a size; a coupler of some mass."""
    mechanism = kempe.Mechanism("bars")
    mechanism.add_body("ground")
    lengths = [round(size * length, digits) for length in (0.31, 0.83, 0.71, 0.92)]
    for name, length, mass in zip(("crank", "coupler", "rocker"), lengths, (1, coupler, 1),
                                  strict=False):
        mechanism.add_body(name, mass=mass * size**3, center_of_mass=(length / 2, 0, 0),
                           inertia=np.array((0.01, 0.1, 0.1)) * mass * size**3 * length**2)
    mechanism.add_joint("motor", "continuous", parent="ground", child="crank", independent=True)
    mechanism.add_joint("elbow", "continuous", parent="crank", child="coupler",
                        xyz=(lengths[0], 0, 0), independent=False)
    mechanism.add_joint("pivot", "continuous", parent="ground", child="rocker",
                        xyz=(lengths[3], 0, 0), independent=False)
    mechanism.add_loop("pin", "revolute", predecessor="coupler", successor="rocker",
                       predecessor_xyz=(lengths[1], 0, 0), successor_xyz=(lengths[2], 0, 0))
    return mechanism


def slider(size: float) -> kempe.Mechanism:
    """The motor is a prismatic joint: a metre is far on a small robot."""
    mechanism = four_bar_of(size)
    mechanism.find_joint("motor").independent = False
    mechanism.add_body("piston", mass=size**3, inertia=np.ones(3) * size**5)
    mechanism.add_prismatic("slide", parent="ground", child="piston", axis=(1, 0, 0),
                            xyz=(-0.5 * size, 0, 0), independent=True)
    mechanism.add_rod("rod", predecessor="piston", predecessor_point=(0, 0, 0), successor="crank",
                      successor_point=(0.1 * size, 0.2 * size, 0), length=0.7 * size)
    return mechanism


def far_away() -> kempe.Mechanism:
    """Ten kilometres above the zero of potential energy."""
    mechanism = four_bar_of(1.0)
    mechanism.add_body("earth")
    mechanism.add_fixed("tower", parent="earth", child="ground", xyz=(0, 0, 1e4))
    return mechanism


def fast_gears() -> kempe.Mechanism:
    """Three wheels in a row, each 333 times as fast as the one before."""
    mechanism = kempe.Mechanism("fast")
    mechanism.add_body("world")
    for i in range(3):
        mechanism.add_body(f"wheel{i}", mass=1, inertia=(1, 1, 1))
        mechanism.add_revolute(f"axle{i}", parent="world", child=f"wheel{i}", independent=i == 0)
        if i > 0:
            mechanism.add_gear(f"gear{i}", f"axle{i}", 1000 / 3, f"axle{i - 1}")
    return mechanism


@pytest.mark.parametrize("mechanism", [
    fast_gears(), geared(1.0), geared(1e-3), four_bar_of(1e-3), four_bar_of(1e3),
    four_bar_of(1.0, 1e-12), four_bar_of(1.0, 0.0), four_bar_of(1.0, digits=3), slider(1e-3),
    slider(1e3), far_away(),
], ids=["fast gears", "rotor", "small rotor", "small", "large", "light", "massless", "rounded",
        "small slide", "large slide", "far away"])
def test_right_models_raise_no_alarm(mechanism: kempe.Mechanism) -> None:
    failed = {what: finding.text for what, finding in findings_of(
        kempe.Model(mechanism), 20).items() if finding.passed is False}
    assert failed == {}


def test_methods_agree_where_the_open_tree_is_ill_conditioned() -> None:
    found = findings_of(kempe.Model(geared(1.0)))["methods"]
    assert found.passed
    assert found.details == []
    assert max(found.figures["accelerations"].values()) < 1e-6


def test_methods_that_agree_need_no_excuse(tello: kempe.Model) -> None:
    """Tello has bodies without mass."""
    found = findings_of(tello)["methods"]
    assert found.details == []
    assert set(found.figures["accelerations"]) == {"projection", "lagrange", "cut_joint"}
    assert max(found.figures["accelerations"].values()) < 1e-9


# --- options -------------------------------------------------------------------------------------

def test_the_search_for_dead_points_ends_in_time() -> None:
    found = report("tello", "--samples", "2", "--time-limit", "0")["findings"]["dead points"]
    assert found["sweeps"] == []
    assert "left-thigh-to-knee-ankle-rotor-1" in found["not_swept"]
    text = kempe_program("check", "tello", "--samples", "2", "--time-limit", "0").stdout
    assert "no coordinate was swept" in text
    assert "not swept within 0 s" in text
    whole = report("tello", "--samples", "2", "--time-limit", "inf")["findings"]["dead points"]
    assert whole["not_swept"] == []
    assert {sweep["coordinate"] for sweep in whole["sweeps"]} == set(found["not_swept"])


def test_a_sweep_is_interrupted(four_bar: kempe.Model) -> None:
    with pytest.raises(OutOfTime):
        sweeper(four_bar, "joint1", 1e-3).sweep(1)


def test_quick() -> None:
    result = report("six_bar", "--quick")
    assert result["samples"] == 10
    assert result["findings"]["dead points"]["sweeps"] == []
    assert report("six_bar", "--quick", "--samples", "3")["samples"] == 3


def test_many_states_are_measured_in_parts(four_bar: kempe.Model,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    whole = findings_of(four_bar, 7)
    heard: list[float] = []
    monkeypatch.setattr(laws, "CHUNK", 3)
    parts = {finding.what: finding for finding in checks.all_findings(
        four_bar, 7, 0, math.inf, heard.append)}
    assert parts["loops"].figures["standing"] == whole["loops"].figures["standing"]
    assert parts["conditioning"].figures == whole["conditioning"].figures
    assert heard == sorted(heard)
    assert heard[0] == pytest.approx(0.6 * 3 / 7) and heard[-1] == pytest.approx(1.0)


# --- dead points ---------------------------------------------------------------------------------

def sweeper(model: kempe.Model, coordinate: str, seconds: float = math.inf) -> Sweeper:
    (cluster,) = (c for c in model.clusters if coordinate in c.independent)
    return Sweeper(model, ClusterLoops(model, cluster, 1.0), coordinate, Clock(seconds))


def test_ends_of_the_reach_are_found(short_four_bar: kempe.Model) -> None:  # noqa: F811
    """Ground 0.5, crank 0.4, coupler and rocker 0.3: the tip can be 0.6 from the pivot."""
    cosine = (0.5**2 + 0.4**2 - 0.6**2) / (2 * 0.5 * 0.4)
    expected = math.acos(cosine)
    both = [sweeper(short_four_bar, "motor").sweep(side) for side in (-1, 1)]
    assert all(sweep.dead_point for sweep in both)
    assert abs(both[0].end) == pytest.approx(expected, abs=1e-6)
    assert abs(both[1].end) == pytest.approx(expected, abs=1e-6)


def test_positions_that_can_be_passed_are_found(four_bar: kempe.Model) -> None:
    """A parallelogram is singular when its links are collinear, although it can move on."""
    ends = [abs(sweeper(four_bar, "joint1").sweep(side).end) for side in (-1, 1)]
    assert sorted(ends) == pytest.approx([0.0, math.pi], abs=1e-6)


def test_limits_end_a_sweep(tello: kempe.Model) -> None:
    sweep = sweeper(tello, "left-thigh-to-knee-ankle-rotor-1").sweep(1)
    joint = tello.mechanism.find_joint("left-thigh-to-knee-ankle-rotor-1")
    assert joint is not None
    assert not sweep.dead_point
    assert sweep.end <= joint.upper + 1e-9


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_ratios_are_those_of_the_library(kind: str) -> None:
    """G = −K_d⁻¹ K_i must follow from the same K, for joints with quaternions too."""
    mechanism = kempe.Mechanism("tied")
    mechanism.add_body("world")
    mechanism.add_body("brick", mass=1, inertia=(0.1, 0.2, 0.3))
    mechanism.add_joint("joint", kind, parent="world", child="brick")
    mechanism.add_rod("rod", predecessor="world", predecessor_point=(0.3, 0.4, -0.1),
                      successor="brick", successor_point=(0.2, 0.1, 0.3), length=0.6)
    model = kempe.Model(mechanism)
    loops = ClusterLoops(model, model.clusters[0], 0.3)
    q = model.random_configuration(3)
    K = loops._jacobians(q[None])[0]
    G = model.constraint_jacobian(q)
    assert np.abs(K).max() > 0.1
    np.testing.assert_allclose(K @ G, 0, atol=1e-8)


def test_unit_mistakes_are_remarked(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM.replace('ixx="0.1" iyy="0.1" izz="0.01"',
                                     'ixx="900" iyy="900" izz="900"'))
    found = report(file)["findings"]
    assert found["inertias"]["bodies"] == ["arm"]
    assert "inertias" not in report(ROOT / "examples" / "geared_four_bar_leg.urdf")["findings"]


def test_masses_that_no_robot_has_are_noted(tmp_path: Path) -> None:
    mechanism = kempe.robots.mechanism("five_bar")
    for body in mechanism.bodies:
        if "sphere" in body.name:
            body.mass, body.inertia = 1e5 * body.mass, 1e5 * np.asarray(body.inertia)
    kempe.write_urdf(mechanism, tmp_path / "heavy.urdf")
    result = kempe_program("check", tmp_path / "heavy.urdf", "--samples", "2")
    assert result.returncode == 0
    assert "sphere 6544.98 kg, sphere_2 6544.98 kg: is that kilograms?" in result.stdout


@pytest.mark.parametrize("name", kempe.robots.names())
def test_masses_of_bundled_robots_are_fine(name: str) -> None:
    assert checks.odd_masses(kempe.robots.load(name)) == {}


def test_masses_far_apart_are_noted() -> None:
    mechanism = kempe.Mechanism("arm")
    mechanism.add_body("world")
    for name, parent, mass in (("upper", "world", 900.0), ("middle", "upper", 1.0),
                               ("lower", "middle", 1e-4)):
        mechanism.add_body(name, mass=mass, inertia=(mass, mass, mass))
        mechanism.add_revolute(f"{name}_joint", parent=parent, child=name)
    assert checks.odd_masses(kempe.Model(mechanism)) == {"upper": 900.0, "lower": 1e-4}
    found = {finding.what: finding for finding in checks.remarks(kempe.Model(mechanism))}
    assert found["masses"].text == "upper 900 kg, lower 0.0001 kg: is that kilograms?"
    assert found["masses"].passed is None
