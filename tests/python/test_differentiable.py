"""Local coordinates, and the algorithms of them that all adapters offer."""

from pathlib import Path

import numpy as np
import pytest
from differences import assert_close, jacobian
from differentiable_cases import CASES, ROBOTS, case_name, options_of, prepared, state_of

import kempe
from kempe.differentiable import LocalCoordinates, TangentSpace, algorithm_names, chosen

# With damping, springs, and joints that turn in space.
MODELS = [*ROBOTS, "planar_leg"]


@pytest.fixture(scope="module", params=MODELS)
def model(request) -> kempe.Model:
    return kempe.robots.load(request.param)


def repeated(values, count):
    """Inputs of one state as those of many."""
    return [np.tile(y, (count, 1)) for y in values]


def test_local_coordinates_invert(model):
    reference, inputs = state_of(model)
    local = LocalCoordinates(model, reference)
    x = inputs["x"]
    np.testing.assert_allclose(local.coordinates(local.configuration(x)), x, atol=1e-9)


def test_the_change_of_the_tangent_is_that_of_differences(model):
    space, x = TangentSpace(model), state_of(model)[1]["x"]
    g = state_of(model)[1]["v"]
    found = space.curvature(5 * x, g)
    expected = jacobian(lambda many: np.swapaxes(space.by_step(many), -1, -2) @ g, 5 * x)
    assert_close(found, expected, 1e-9)
    assert_close(space.curvature(np.stack([x, 5 * x]), np.stack([x, g]))[1], found, 1e-12)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_derivatives_are_those_of_differences(model, case):
    one, _, inputs = prepared(model, case)
    found = one.derivatives(*inputs)
    assert [slope.shape for slope in found] == [(one.size, size) for size in one.sizes]
    for i, slope in enumerate(found):

        def along(many, i=i):
            others = repeated(inputs, len(many))
            return one.value(*others[:i], many, *others[i + 1 :])

        assert_close(slope, jacobian(along, inputs[i]))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_many_states_are_each_state(model, case):
    one, _, inputs = prepared(model, case)
    many = [np.stack([y, -0.5 * y]) for y in inputs]
    weights = np.random.default_rng(6).normal(size=(2, one.size))
    for k in range(2):
        own = [y[k] for y in many]
        assert_close(one.value(*many)[k], one.value(*own), 1e-9)
        for slopes, slope in zip(one.derivatives(*many), one.derivatives(*own), strict=True):
            assert_close(slopes[k], slope, 1e-9)
        if one.has_second_derivatives:
            own_curve = one.second_derivatives(weights[k], *own)
            assert_close(one.second_derivatives(weights, *many)[k], own_curve, 1e-9)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_second_derivatives_are_those_of_differences(model, case):
    one, _, inputs = prepared(model, case)
    weights = np.random.default_rng(6).normal(size=one.size)
    if not one.has_second_derivatives:
        with pytest.raises(NotImplementedError, match=f"{case[0]} has no second derivatives"):
            one.second_derivatives(weights, *inputs)
        return
    found = one.second_derivatives(weights, *inputs)
    assert_close(found, found.T, 1e-9)
    ends = np.cumsum(one.sizes)[:-1]

    def gradient(many):
        slopes = one.derivatives(*np.split(many, ends, axis=-1))
        return np.einsum("i,nij->nj", weights, np.concatenate(slopes, axis=-1))

    assert_close(found, jacobian(gradient, np.concatenate(inputs)), 1e-5)


def test_names_of_numbers():
    model = kempe.robots.load("four_bar")
    one = chosen(model, "kinetic_energy")
    assert (one.inputs, one.sizes, one.shape, one.size) == (("x", "v"), (1, 1), (), 1)
    two = chosen(model, "forward_dynamics", external=["link1", "link2"])
    assert (two.inputs[-1], two.sizes[-1]) == ("external", 12)


def test_forces_are_an_input(model):
    """A wrench that is an input is that of forward_dynamics."""
    reference, inputs = state_of(model)
    frame, wrench = model.frame_names[-1], inputs["external"][:6]
    one = chosen(model, "forward_dynamics", reference, external=frame, external_reference="local")
    q = one.coordinates.configuration(inputs["x"])
    expected = model.forward_dynamics(
        q, inputs["v"], inputs["tau"], external={frame: wrench}, external_reference="local")
    assert_close(one.value(inputs["x"], inputs["v"], inputs["tau"], wrench), expected, 1e-12)


def test_loops_that_are_left_cut_have_no_second_derivatives():
    mechanism = kempe.robots.load("four_bar").mechanism
    for loop in mechanism.loops:
        loop.cut = True
    model = kempe.Model(mechanism)
    assert model.cut_loops
    assert not chosen(model, "forward_dynamics").has_second_derivatives
    assert chosen(model, "inverse_dynamics").has_second_derivatives


@pytest.mark.parametrize("name", algorithm_names())
def test_flexible_bodies(name):
    """All algorithms have the derivatives that they have for rigid ones."""
    model = kempe.load(Path(__file__).parents[2] / "examples" / "flexible_arm.urdf")
    one = chosen(model, name, **options_of(model, (name, {})))
    random = np.random.default_rng(3)
    inputs = [1e-3 * random.normal(size=size) for size in one.sizes]
    expected = jacobian(lambda many: one.value(many, *repeated(inputs[1:], len(many))), inputs[0])
    assert_close(one.derivatives(*inputs)[0], expected, 1e-5)
    if not one.has_second_derivatives:
        return
    weights = np.random.default_rng(6).normal(size=one.size)
    ends = np.cumsum(one.sizes)[:-1]

    def gradient(many):
        slopes = one.derivatives(*np.split(many, ends, axis=-1))
        return np.einsum("i,nij->nj", weights, np.concatenate(slopes, axis=-1))

    found = one.second_derivatives(weights, *inputs)
    assert_close(found, jacobian(gradient, np.concatenate(inputs)), 1e-5)


@pytest.mark.parametrize("name", ["inverse_dynamics", "kinetic_energy"])
def test_states_without_a_result(name):
    """They raise, or are NaN if that is asked for, without harm to other states."""
    model = kempe.robots.load("tello")
    exact, tolerant = chosen(model, name), chosen(model, name, invalid="nan")
    x, others = np.zeros((4, model.nv)), [np.ones((4, model.nv))] * (len(exact.inputs) - 1)
    for rotor in (1, 2):
        x[1, model.v_names.index(f"right-hip-clamp-to-hip-rotor-{rotor}")] = -12.0
    x[2, 3] = np.nan
    weights = np.ones((4, exact.size))
    for call, given in (("value", []), ("derivatives", []), ("second_derivatives", [weights])):
        right = [getattr(exact, call)(*(y[3] for y in (*given, x, *others)))]
        many = [getattr(tolerant, call)(*given, x, *others)]
        if call == "derivatives":
            right, many = right[0], many[0]
        for own, found in zip(right, many, strict=True):
            assert np.isnan(found[1:3]).all()
            assert_close(found[[0, 3]], np.stack([own, own]), 1e-12)
        for state, error in ((1, kempe.AssemblyError), (2, ValueError)):
            one = [y[state] for y in (*given, x, *others)]
            with pytest.raises(error):
                getattr(exact, call)(*one)
            alone = getattr(tolerant, call)(*one)
            for found, own in zip(alone if call == "derivatives" else [alone], right, strict=True):
                assert found.shape == own.shape
                assert np.isnan(found).all()
    with pytest.raises(kempe.AssemblyError):
        exact.value(x[:2], *(y[:2] for y in others))


def test_wrong_options_are_named():
    model = kempe.robots.load("four_bar")
    constraints = kempe.Constraints(model)
    for mistake, name, options in [
        ("there is no algorithm 'dynamics'", "dynamics", {}),
        ("frame_position needs the name of a frame: frame=", "frame_position", {}),
        ("foot", "frame_position", {"frame": "foot"}),
        ("mass_matrix takes no frame", "mass_matrix", {"frame": "link1"}),
        ("takes no frame_reference", "frame_position", {"frame": 0, "frame_reference": "local"}),
        ("reference", "frame_velocity", {"frame": 0, "frame_reference": "body"}),
        ("needs Constraints of the model", "project_velocities", {}),
        ("takes no constraints", "forward_dynamics", {"constraints": constraints}),
        ("takes no external", "mass_matrix", {"external": "link1"}),
        ("hand", "forward_dynamics", {"external": "hand"}),
        ("different names", "forward_dynamics", {"external": ["link1", "link1"]}),
        ("name frames: external", "forward_dynamics", {"external_reference": "local"}),
        ('expected "raise" or "nan"', "forward_dynamics", {"invalid": "ignore"}),
    ]:
        with pytest.raises(ValueError, match=mistake):
            chosen(model, name, **options)
    with pytest.raises(TypeError, match="no option 'frames'"):
        chosen(model, "frame_position", frames="link1")
    assert len(algorithm_names()) == len(set(algorithm_names()))
