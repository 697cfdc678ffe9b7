"""Mechanisms described in Python."""

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kempe


def four_bar() -> kempe.Mechanism:
    """Two cranks of 0.2 m that a coupler of 0.4 m connects, 0.3 m apart."""
    m = kempe.Mechanism("linkage")
    m.add_body("ground")
    for name, length in (("crank", 0.2), ("coupler", 0.4), ("rocker", 0.3)):
        m.add_body(name, mass=length, center_of_mass=(length / 2, 0, 0),
                   inertia=(1e-5, length**3 / 12, length**3 / 12))
    m.add_revolute("drive", parent="ground", child="crank", axis=(0, 1, 0), independent=True)
    m.add_revolute("elbow", parent="crank", child="coupler", xyz=(0.2, 0, 0), axis=(0, 1, 0))
    m.add_revolute("pivot", parent="ground", child="rocker", xyz=(0.3, 0, 0), axis=(0, 1, 0))
    m.add_loop("pin", "revolute", predecessor="coupler", predecessor_xyz=(0.4, 0, 0),
               successor="rocker", successor_xyz=(0.3, 0, 0), axis=(0, 1, 0))
    return m


def test_linkage_from_scratch() -> None:
    model = kempe.Model(four_bar())
    assert model.nv == 1
    assert model.v_names == ["drive"]
    (cluster,) = model.clusters
    assert cluster.loops == ["pin"] and cluster.redundant_rows == 3
    q = model.random_configuration(1)
    assert np.abs(model.loop_residual(q)).max() < 1e-12
    tau = model.inverse_dynamics(q, [1.0], [2.0])
    np.testing.assert_allclose(model.forward_dynamics(q, [1.0], tau), [2.0])


def test_parts_are_the_mechanisms_own() -> None:
    m = four_bar()
    assert [body.name for body in m.bodies] == ["ground", "crank", "coupler", "rocker"]
    crank = m.find_body("crank")
    assert crank is not None
    crank.mass = 5
    crank.center_of_mass = [0.1, 0.2, 0.3]
    crank.inertia = np.diag([1.0, 2.0, 3.0])
    assert m.bodies[1].mass == 5
    np.testing.assert_array_equal(m.bodies[1].center_of_mass, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(m.bodies[1].inertia, np.diag([1.0, 2.0, 3.0]))
    m.joints[0].lower, m.joints[0].upper = -1, 1
    joint = m.find_joint("drive")
    assert joint is not None and (joint.lower, joint.upper) == (-1, 1)
    above = m.joint_above("coupler")
    assert above is not None and above.name == "elbow"
    assert m.joint_above("ground") is None and m.find_body("none") is None
    del m  # the parts keep it alive
    assert crank.mass == 5


def test_vectors_cannot_be_changed_in_place() -> None:
    body = four_bar().bodies[1]
    with pytest.raises(ValueError, match="read-only"):
        body.center_of_mass[0] = 1
    R, p = four_bar().joints[1].origin
    with pytest.raises(ValueError, match="read-only"):
        p[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        R[0, 0] = 2


def test_all_attributes_of_joints() -> None:
    m = kempe.Mechanism()
    given = {
        "parent": "a", "child": "b", "axis": [1.0, 2.0, 3.0], "axis2": [0.0, 0.0, 1.0],
        "pitch": 0.5, "lower": -1.0, "upper": 2.0, "max_velocity": 3.0, "max_effort": 4.0,
        "damping": 0.1, "friction": 0.2, "armature": 0.3, "stiffness": 0.4,
        "spring_reference": -0.5, "independent": False}
    joint = m.add_joint("j", "helical", xyz=(1, 2, 3), rpy=(0, 0, np.pi / 2), **given)
    for name, value in given.items():
        np.testing.assert_array_equal(getattr(joint, name), value)
    R, p = joint.origin
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(p, [1, 2, 3])
    joint.origin = np.eye(3), [0, 0, 1]
    np.testing.assert_array_equal(joint.origin[1], [0, 0, 1])


def test_smooth_friction() -> None:
    """τ = F tanh(v / s) + (m a), through copies, pickles and files."""
    m = kempe.Mechanism("block")
    assert m.friction_slip_speed == 0
    m.add_body("ground")
    m.add_body("block", mass=2, inertia=(1, 1, 1))
    m.add_prismatic("slide", parent="ground", child="block", axis=(1, 0, 0), friction=0.6)
    m.friction_slip_speed = 0.25
    for other in (m, copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert other.friction_slip_speed == 0.25
    for model in (kempe.Model(m), pickle.loads(pickle.dumps(kempe.Model(m)))):
        np.testing.assert_allclose(model.inverse_dynamics([0], [0.1], [3]),
                                   0.6 * np.tanh(0.4) + 6, rtol=1e-15)
        byV = model.inverse_dynamics_derivatives([0], [0.1], [3])[1]
        np.testing.assert_allclose(byV, 2.4 * (1 - np.tanh(0.4)**2), rtol=1e-14)
    with pytest.raises(ValueError, match="friction_slip_speed"):
        m.friction_slip_speed = "fast"
    m.friction_slip_speed = -1
    with pytest.raises(kempe.ModelError, match="the slip speed of its friction is -1"):
        kempe.Model(m)


def test_couplings() -> None:
    m = kempe.Mechanism("geared")
    m.add_body("base")
    for name in ("motor", "link", "tip"):
        m.add_body(name, mass=1, inertia=(0.1, 0.1, 0.1), center_of_mass=(0.1, 0, 0))
    m.add_revolute("drive", parent="base", child="motor", axis=(0, 1, 0))
    m.add_revolute("shoulder", parent="base", child="link", axis=(0, 1, 0))
    m.add_revolute("wrist", parent="link", child="tip", xyz=(0.5, 0, 0), axis=(0, 1, 0))
    gear = m.add_gear("gear", "drive", 6, "shoulder")
    assert dict(gear.terms) in ({("drive", 0): 1, ("shoulder", 0): -6},
                                {("drive", 0): -1, ("shoulder", 0): 6})
    m.add_coupling("differential", {"shoulder": 1, ("wrist", 0): 2}, offset=0.5)
    model = kempe.Model(m)
    q = model.spanning_positions(model.random_configuration(2))
    drive, shoulder, wrist = (
        q[model.joint_position_index(name)] for name in ("drive", "shoulder", "wrist"))
    assert drive == pytest.approx(6 * shoulder)
    assert shoulder + 2 * wrist == pytest.approx(0.5)


def test_belt_and_rod() -> None:
    bundled = kempe.robots.mechanism("tello")
    rod = next(iter(bundled.rods), None)
    m = four_bar()
    added = m.add_rod("stay", predecessor="ground", predecessor_point=(0, 0, 0),
                      successor="rocker", successor_point=(0.1, 0, 0), length=0.25)
    assert added.length == 0.25 and m.rods[0].successor == "rocker"
    np.testing.assert_array_equal(m.rods[0].successor_point, [0.1, 0, 0])
    assert rod is None or rod.length > 0
    chain = kempe.robots.mechanism("geared_chain", 2)
    belt = chain.add_belt("belt", chain.joints[0].child, 2.0, chain.joints[-1].child)
    assert belt.name == "belt" and len(belt.terms) >= 1


@pytest.mark.parametrize("call, error, message", [
    (lambda m: m.add_body("x", mas=1), TypeError, "\"x\": there is no argument 'mas'"),
    (lambda m: m.add_body("x", mass="heavy"), ValueError, "mass: expected a number, got 'heavy'"),
    (lambda m: m.add_body("x", mass=None), ValueError, "mass: expected a number, got None"),
    (lambda m: m.add_body("x", center_of_mass=(1, 2)), ValueError,
     "center_of_mass: expected three numbers"),
    (lambda m: m.add_body("x", inertia=np.arange(9).reshape(3, 3)), ValueError, "symmetric"),
    (lambda m: m.add_body("x", visuals=[3]), ValueError, "visuals: expected a kempe.Shape"),
    (lambda m: m.add_revolute("x", parent="crank"), TypeError,
     '"x": the argument child is missing'),
    (lambda m: m.add_joint("x", "rotary", parent="a", child="b"), ValueError,
     'there is no "rotary"; there are "fixed", "revolute"'),
    (lambda m: m.add_joint("x", "free", parent="a", child="b", xyz=(0, 0, 1), origin=(1, 2)),
     ValueError, "origin is given twice"),
    (lambda m: m.add_loop("x", "helical", predecessor="a", successor="b"), ValueError,
     'there is no "helical"'),
    (lambda m: m.add_rod("x", predecessor="a"), TypeError, "predecessor_point is missing"),
    (lambda m: m.add_coupling("x", [1, 2]), ValueError, "terms: expected {joint: coefficient}"),
    (lambda m: m.add_function("x", ["drive"], 1, 3), ValueError, "phi must be a function"),
    (lambda m: m.add_function("x", ["drive"], 1, abs, curvature=abs), ValueError,
     "jacobian is not"),
    (lambda m: m.add_function("x", "drive", 1, abs), ValueError, "coordinates: expected a list"),
    (lambda m: kempe.Shape("cone"), ValueError, 'there is no "cone"'),
    (lambda m: setattr(m, "gravity", 9.81), ValueError, "gravity: expected three numbers"),
])
def test_mistakes_are_named(call: object, error: type, message: str) -> None:
    m = four_bar()
    before = repr(m)
    with pytest.raises(error, match=message):
        call(m)  # type: ignore[operator]
    assert repr(m) == before  # no partial element is left


def test_mistakes_that_compiling_finds() -> None:
    m = four_bar()
    m.add_revolute("loose", parent="crank", child="nobody")
    with pytest.raises(kempe.ModelError, match="nobody"):
        m.validate()
    with pytest.raises(kempe.ModelError, match="nobody"):
        kempe.Model(m)


# --- functions as constraints --------------------------------------------------------------------

def cam(**functions: object) -> kempe.Mechanism:
    """Two pendulums of which one follows half the sine of the other, plus a bit of its square."""
    m = kempe.Mechanism("cam")
    m.add_body("base")
    for name, x in (("leader", 0), ("follower", 1)):
        m.add_body(name, mass=1, center_of_mass=(0, 0, -1), inertia=(0.1, 0.1, 0.1))
        m.add_revolute(f"{name}_joint", parent="base", child=name, xyz=(x, 0, 0), axis=(0, 1, 0))
    m.add_function("cam", ["leader_joint", ("follower_joint", 0)], 1, **functions)
    return m


def phi(q: np.ndarray) -> list:
    return [0.5 * np.sin(q[0]) + 0.1 * q[0] ** 2 - q[1]]


def phi_of_numbers(q: np.ndarray) -> float:
    return 0.5 * math.sin(q[0]) + 0.1 * q[0] ** 2 - q[1]  # math refuses jets


def slopes(q: np.ndarray) -> list:
    return [0.5 * np.cos(q[0]) + 0.2 * q[0], -1.0]


def slopes_of_numbers(q: np.ndarray) -> list:
    return [0.5 * math.cos(q[0]) + 0.2 * q[0], -1.0]


def curvature(q: np.ndarray, v: np.ndarray) -> float:
    return (-0.5 * math.sin(q[0]) + 0.2) * v[0] ** 2


@pytest.mark.parametrize("functions", [
    {"phi": phi},
    {"phi": phi_of_numbers, "jacobian": slopes},
    {"phi": phi_of_numbers, "jacobian": slopes_of_numbers, "curvature": curvature},
])
def test_function_as_constraint(functions: dict) -> None:
    model = kempe.Model(cam(**functions))
    assert model.nv == 1
    Q = model.random_configuration(size=20)
    leader, follower = model.spanning_positions(Q).T
    np.testing.assert_allclose(follower, 0.5 * np.sin(leader) + 0.1 * leader**2, atol=1e-12)
    slope = 0.5 * np.cos(leader) + 0.2 * leader
    np.testing.assert_allclose(model.constraint_jacobian(Q)[:, 1, 0], slope, atol=1e-12)
    bias = (-0.5 * np.sin(leader) + 0.2) * 1.3**2
    np.testing.assert_allclose(model.constraint_bias(Q, [1.3])[:, 1], bias, atol=1e-12)
    # Two pendulums in closed form: energy of one degree of freedom.
    inertia = 1.1
    expected = inertia * (1 + slope**2)
    np.testing.assert_allclose(model.mass_matrix(Q)[:, 0, 0], expected, atol=1e-12)


@pytest.mark.parametrize("operation", [
    lambda x: x + 2, lambda x: 2 - x, lambda x: x * x, lambda x: 1 / x, lambda x: x / 3,
    lambda x: -x, lambda x: x**3, lambda x: abs(-x), np.sin, np.cos, np.tan, np.sqrt, np.exp,
    np.log, np.arctan,
    lambda x: np.arcsin(x / 2), lambda x: np.arccos(x / 2), lambda x: np.arctan2(x, x + 1),
    lambda x: np.hypot(x, 2 * x), lambda x: np.array([x, 2.0]) @ np.array([x, 1.0]),
    np.sinh, np.cosh, np.tanh, np.cbrt, np.expm1, np.log1p, np.exp2, np.log2, np.log10,
    np.radians, np.degrees, np.deg2rad, np.rad2deg, np.fabs, lambda x: 2.0**x, lambda x: x**x,
    lambda x: np.float64(3) * x, lambda x: x if x > 0.1 else -x, np.square,
])
def test_jets(operation: object) -> None:
    x, h = 0.7, 1e-4
    jet = operation(kempe.Jet(x, 1, 0))  # type: ignore[operator]
    below, at, above = (float(operation(x + s * h)) for s in (-1, 0, 1))  # type: ignore[operator]
    assert jet.value == pytest.approx(at)
    assert jet.first == pytest.approx((above - below) / (2 * h), abs=1e-6)
    assert jet.second == pytest.approx((above - 2 * at + below) / h**2, abs=1e-5)


@pytest.mark.parametrize("functions, error, message", [
    ({"phi": lambda q: [1, 2]}, ValueError, 'function "cam" must return 1 number, but returned'),
    ({"phi": lambda q: "text"}, ValueError, 'function "cam" returned .*not a number'),
    ({"phi": lambda q: math.sin(q[0])}, TypeError,
     'function "cam" cannot be differentiated: .*Jet.* or give the derivative'),
    ({"phi": lambda q: 1 / 0}, ZeroDivisionError, "zero"),
    ({"phi": phi_of_numbers, "jacobian": lambda q: [1]}, ValueError, "jacobian.* 2 numbers"),
])
def test_functions_that_fail(functions: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        kempe.Model(cam(**functions))


def gears(jacobian: object, curvature: object = None) -> kempe.Mechanism:
    """Three wheels on one axle: q0 = 2 q1 and q1 = 3 q2."""
    m = kempe.Mechanism("gears")
    m.add_body("base")
    for name in "abc":
        m.add_body(name, mass=1, inertia=(1, 1, 1))
        m.add_joint(f"j{name}", "continuous", parent="base", child=name)
    m.add_function("ratios", ["ja", "jb", "jc"], 2, lambda q: [q[0] - 2 * q[1], q[1] - 3 * q[2]],
                   jacobian=jacobian, curvature=curvature)
    return m


RATIOS = np.array([[1, -2, 0], [0, 1, -3.0]])


def test_given_derivatives_are_used() -> None:
    model = kempe.Model(gears(lambda q: RATIOS, lambda q, v: [0, 0]))
    G = model.constraint_jacobian(model.neutral())[:, 0]
    np.testing.assert_allclose(G / G[2], [6, 3, 1])


@pytest.mark.parametrize("jacobian, curvature, error, message", [
    (lambda q: RATIOS.T, None, ValueError, r"jacobian .* 2 × 3 numbers.*\(3, 2\)"),
    (lambda q: RATIOS.ravel(), None, ValueError, r"2 × 3 numbers.*\(6,\)"),
    (lambda q: 0 * RATIOS, None, kempe.ModelError,
     'function "ratios": its first derivative along "ja" is given as 0.0.* differences of phi'),
    (lambda q: np.nan * RATIOS, None, kempe.ModelError, "given as nan"),
    (lambda q: RATIOS, lambda q, v: [np.nan, 0], kempe.ModelError, "second derivative"),
    (lambda q: RATIOS, lambda q, v: [0, 1], kempe.ModelError, "second derivative.*row 1"),
    (lambda q: RATIOS, lambda q, v: [0], ValueError, "curvature.*2 numbers"),
])
def test_wrong_derivatives(
        jacobian: object, curvature: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        kempe.Model(gears(jacobian, curvature))


def test_functions_cannot_change_what_they_are_given() -> None:
    def careless(q: np.ndarray) -> list:
        q[0] *= 2
        return phi(q)

    with pytest.raises(ValueError, match="read-only"):
        kempe.Model(cam(phi=careless))


def test_function_that_fails_in_a_batch() -> None:
    calls = 0

    def tired(q: np.ndarray) -> list:
        nonlocal calls
        calls += 1
        if q[0] > 1e9 or calls > 2000:  # a branch on a value: it stays a callback
            raise RuntimeError("enough")
        return phi(q)

    model = kempe.Model(cam(phi=tired))
    q = np.repeat(model.random_configuration(1)[np.newaxis], 2000, axis=0)
    for compute in (model.forward_dynamics, model.inverse_dynamics):
        with pytest.raises(RuntimeError, match="enough"):
            compute(q, [1.0], [0.0])
    with pytest.raises(RuntimeError, match="enough"):
        model.coriolis_matrix(q, [1.0])
    calls = 0  # and continues
    assert model.forward_dynamics(q[:50], [1.0], [0.0]).shape == (50, 1)


# --- functions as formulas -----------------------------------------------------------------------

@pytest.mark.parametrize("operation", [
    lambda x: x + 2, lambda x: 2 - x, lambda x: x * x, lambda x: 1 / x, lambda x: x / 3,
    lambda x: -x, lambda x: +x, lambda x: x**3, lambda x: abs(-x), np.sin, np.cos, np.tan, np.sqrt,
    np.exp, np.log, np.arctan,
    lambda x: np.arcsin(x / 2), lambda x: np.arccos(x / 2), lambda x: np.arctan2(x, x + 1),
    lambda x: np.hypot(x, 2 * x + 1), lambda x: np.array([x, 2.0]) @ np.array([x, 1.0]),
    np.sinh, np.cosh, np.tanh, np.exp2, np.log2, np.log10, np.radians, np.degrees, np.deg2rad,
    np.rad2deg, np.fabs, lambda x: 2.0**x, lambda x: x**x, lambda x: np.float64(3) * x, np.square,
    lambda x: kempe.math.select(x > 0.1, x, -x), lambda x: kempe.math.select(x <= 0.1, 1, 2 * x),
    lambda x: kempe.math.minimum(x, 0.5) + kempe.math.maximum(2.0, x),
    lambda x: kempe.math.atan2(kempe.math.asin(x / 2), kempe.math.pi),
])
def test_symbols(operation: Callable[[object], object]) -> None:
    def function(q: np.ndarray) -> object:
        return operation(q[0] + 0.7) - q[1]  # type: ignore[operator]

    model = kempe.Model(cam(phi=function))
    assert not any("formula" in warning for warning in model.warnings)
    assert model.mechanism.functions[0].formula is not None
    leader, follower = model.spanning_positions(model.neutral())
    assert follower == pytest.approx(float(operation(leader + 0.7)), abs=1e-12)  # type: ignore


def test_symbols_show_their_formula() -> None:
    shown = []

    def function(q: np.ndarray) -> object:
        shown.extend([repr(q[0]), repr(np.sin(q[0]) * 2 - q[1])])
        return phi(q)

    assert cam(phi=function).functions[0].formula is not None
    assert shown[:2] == ["<kempe.Symbol: x0>", "<kempe.Symbol: sin(x0) * 2 - x1>"]
    assert repr(kempe.Symbol(0.5)) == "<kempe.Symbol: 0.5>"


def test_formula_of_a_function() -> None:
    (function,) = cam(phi=phi).functions
    assert function.formula == "0.5 * sin(x0) + 0.1 * x0^2 - x1"


@pytest.mark.parametrize("branching", [
    lambda q: [q[1] - (q[0] if q[0] > 0 else 2 * q[0])],
    lambda q: [q[1] - np.where(q[0] > 0, q[0], 2 * q[0])],
    lambda q: [q[1] - max(q[0], 2 * q[0])],
    lambda q: [q[1] - np.cbrt(q[0] + 3)],
])
def test_functions_that_are_no_formulas_are_called_back_with_a_warning(
        branching: Callable[[np.ndarray], list]) -> None:
    mechanism = cam(phi=branching)
    assert mechanism.functions[0].formula is None
    model = kempe.Model(mechanism)
    (warning,) = (text for text in model.warnings if "formula" in text)
    assert 'function "cam" is not a formula' in warning
    assert "kempe.math.select instead of branches" in warning
    assert ".)" not in warning
    with pytest.raises(kempe.ModelError, match='function "cam": a file can hold it only as a form'):
        kempe.write_urdf_text(mechanism)


def test_formulas_need_no_python() -> None:
    calls = 0

    def counted(q: np.ndarray) -> list:
        nonlocal calls
        calls += 1
        return phi(q)

    model = kempe.Model(cam(phi=counted))
    compiled = calls
    Q = model.random_configuration(size=100)
    model.forward_dynamics(Q, np.ones((100, 1)), np.zeros((100, 1)))
    kempe.simulate(model, duration=0.01)
    assert calls == compiled


def test_formulas_are_pickled_and_written() -> None:
    mechanism = cam(phi=lambda q: [0.5 * np.sin(q[0]) - q[1]])  # pickle refuses lambdas
    for again in (pickle.loads(pickle.dumps(mechanism)),
                  kempe.read_urdf_text(kempe.write_urdf_text(mechanism)),
                  copy.deepcopy(mechanism)):
        (function,) = again.functions
        assert function.formula == "0.5 * sin(x0) - x1"
        one, other = kempe.Model(mechanism), kempe.Model(again)
        q = one.random_configuration(1)
        np.testing.assert_allclose(one.forward_dynamics(q, [1.0], [2.0]),
                                   other.forward_dynamics(q, [1.0], [2.0]), rtol=1e-12)


# --- files, copies, pickles ----------------------------------------------------------------------

def test_write_and_read(tmp_path: Path) -> None:
    m = four_bar()
    m.bodies[1].visuals = [kempe.Shape("box", size=(1, 2, 3), color=(1, 0, 0, 1), xyz=(0, 0, 1))]
    text = kempe.write_urdf_text(m)
    again = kempe.read_urdf_text(text)
    assert kempe.write_urdf_text(again) == text
    (shape,) = again.bodies[1].visuals
    assert shape.kind == "box" and shape.color == (1, 0, 0, 1)
    np.testing.assert_array_equal(shape.origin[1], [0, 0, 1])
    kempe.write_urdf(m, tmp_path / "linkage.urdf")
    assert kempe.load(tmp_path / "linkage.urdf").nv == 1
    assert repr(kempe.read_mechanism(tmp_path / "linkage.urdf")) == repr(m)
    with pytest.raises(kempe.ModelError, match="cam"):
        kempe.write_urdf_text(cam(phi=phi_of_numbers))
    with pytest.raises(kempe.ModelError, match="here"):
        kempe.read_urdf_text("<robot", source="here")


def test_closures_from_yaml() -> None:
    m = four_bar()
    with pytest.raises(kempe.ModelError, match="there"):
        kempe.add_closures_from_yaml_text(m, "{", source="there")


def test_floating_base() -> None:
    m = four_bar()
    joint = m.add_floating_base()
    assert (joint.name, joint.type, joint.child) == ("floating_base", "free", "ground")
    assert [body.name for body in m.bodies][-1] == "world"


def same(a: kempe.Model, b: kempe.Model) -> None:
    q = a.random_configuration(4)
    v = np.linspace(-1, 1, a.nv)
    np.testing.assert_array_equal(b.random_configuration(4), q)
    np.testing.assert_array_equal(b.forward_dynamics(q, v, v), a.forward_dynamics(q, v, v))
    assert str(a) == str(b) and a.warnings == b.warnings


@pytest.mark.parametrize("robot", kempe.robots.names())
def test_robots_pickle_and_copy(robot: str) -> None:
    model = kempe.robots.load(robot, fold_rotors=False)
    again = pickle.loads(pickle.dumps(model))
    assert again.fold_rotors is False
    same(model, again)
    same(model, pickle.loads(pickle.dumps(again)))
    cluster = model.clusters[-1]
    for again in (copy.copy(cluster), copy.deepcopy(cluster), pickle.loads(pickle.dumps(cluster))):
        assert again.bodies == cluster.bodies and again.output_body == cluster.output_body
        assert again.mobility == cluster.mobility and again.implicit == cluster.implicit
    assert copy.copy(model) is model and copy.deepcopy(model) is model
    mechanism = model.mechanism
    same(model, kempe.Model(copy.deepcopy(mechanism), fold_rotors=False))
    same(model, kempe.Model(pickle.loads(pickle.dumps(mechanism)), fold_rotors=False))


def test_python_functions_pickle() -> None:
    mechanism = cam(phi=phi_of_numbers, jacobian=slopes, curvature=curvature)
    same(kempe.Model(mechanism), pickle.loads(pickle.dumps(kempe.Model(mechanism))))
    with pytest.raises(Exception, match="lambda"):
        pickle.dumps(cam(phi=lambda q: phi_of_numbers(q)))


def test_copies_are_independent() -> None:
    m = four_bar()
    for duplicate in (copy.copy(m), copy.deepcopy(m)):
        duplicate.bodies[1].mass = 7
        assert m.bodies[1].mass == 0.2
    body = copy.copy(m.bodies[1])
    body.mass = 9
    assert m.bodies[1].mass == 0.2
    joint = pickle.loads(pickle.dumps(m.joints[1]))
    assert joint.name == "elbow" and joint.origin[1][0] == 0.2
    model = kempe.Model(m)
    model.mechanism.bodies[1].mass = 8
    assert model.mechanism.bodies[1].mass == 0.2


@pytest.mark.parametrize("x", [0.0, 0.01, 2.0, -2.0, 300.0])
def test_tanh_of_symbols_is_flat_far_out(x: float) -> None:
    mechanism = kempe.Mechanism("saturating")
    mechanism.add_body("world")
    for name, above in [("first", "world"), ("second", "first")]:
        mechanism.add_body(name, mass=1, inertia=(0.01, 0.02, 0.03))
        mechanism.add_revolute(f"to_{name}", parent=above, child=name)
    mechanism.joints[0].independent = True
    mechanism.add_function("saturation", ["to_first", "to_second"], 1,
                           lambda q: [q[1] - np.tanh(q[0] / 0.005)])
    model = kempe.Model(mechanism)
    q = model.configuration({"to_first": x})
    slope = model.constraint_jacobian(q)[1, 0]
    np.testing.assert_allclose(slope, 200 / np.cosh(min(abs(x) / 0.005, 300.0))**2,
                               rtol=1e-9, atol=1e-12)
    assert np.isfinite(model.forward_dynamics(q, np.ones(1), np.zeros(1))).all()


def test_names_of_formulas_are_those_of_python() -> None:
    x = kempe.Symbol(-2.0)
    assert repr(kempe.math.abs(x)) == "<kempe.Symbol: 2>"
    assert kempe.math.abs(-2.0) == 2.0
