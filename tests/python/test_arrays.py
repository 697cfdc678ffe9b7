"""Arrays of every kind as arguments and as out=: correct results or an error."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import odd_arguments
import pytest

import kempe
from algorithms import close, random_states


def test_odd_arguments_are_answered_or_refused() -> None:
    """In another process, because this test is about crashes."""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", Path(odd_arguments.__file__), "4000", "four_bar",
         "planar_leg", "mini_cheetah"],
        capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    answered, refused = map(int, result.stdout.split())
    assert answered > 1000
    assert refused > 1000


def test_no_function_of_a_model_is_left_out() -> None:
    functions = {name for name in dir(kempe.Model)
                 if not name.startswith("_") and callable(getattr(kempe.Model, name))}
    assert functions == {name.rstrip("*") for name in odd_arguments.FUNCTIONS}


@pytest.mark.parametrize("scalar", [
    np.timedelta64(3), np.datetime64("2020-01-01"), np.void(b"12345678"), np.str_("one")])
def test_scalars_that_are_no_numbers_are_refused(four_bar: kempe.Model, scalar: object) -> None:
    with pytest.raises(ValueError, match="q: expected real numbers, got an array of type"):
        four_bar.gravity_forces(scalar)


@pytest.mark.parametrize("guise", [
    odd_arguments.unaligned, odd_arguments.field_of_records, odd_arguments.frozen,
    odd_arguments.OnlyDlpack, lambda x: x.view(odd_arguments.Subclass), memoryview,
    lambda x: x.astype(">f8"), np.asfortranarray])
def test_numbers_are_read_in_every_guise(guise: object) -> None:
    model = kempe.robots.load("mini_cheetah")
    states = random_states(model, 3)
    expected = model.forward_dynamics(states.q, states.v, states.tau)
    close(model.forward_dynamics(guise(states.q), guise(states.v), guise(states.tau)), expected,
          1e-12)
    close(model.forward_dynamics(guise(states.q[0]), states.v[0], states.tau[0]), expected[0],
          1e-12)


@pytest.mark.parametrize("guise", [memoryview, odd_arguments.OnlyDlpack,
                                   lambda x: x.view(odd_arguments.Subclass)])
def test_out_in_other_guises(four_bar: kempe.Model, guise: object) -> None:
    q = four_bar.random_configuration(1)
    memory = np.full(four_bar.nv, np.nan)
    out = guise(memory)
    assert four_bar.gravity_forces(q, out=out) is out
    np.testing.assert_array_equal(memory, four_bar.gravity_forces(q))


@pytest.mark.parametrize("guise", [odd_arguments.unaligned, odd_arguments.frozen,
                                   lambda x: x.astype(">f8"), lambda x: x.astype("m8[s]"),
                                   lambda x: x.tolist(), lambda _: np.timedelta64(3)])
def test_out_that_cannot_be_written_is_refused(four_bar: kempe.Model, guise: object) -> None:
    with pytest.raises(ValueError, match="out: expected a writable, C-contiguous array"):
        four_bar.gravity_forces(four_bar.neutral(), out=guise(np.zeros(four_bar.nv)))


def test_errors_of_objects_are_told_with_their_text(four_bar: kempe.Model) -> None:
    with pytest.raises(ValueError, match=r"q: expected an array of real numbers; no array \\udc80"):
        four_bar.project(odd_arguments.Raising())
    with pytest.raises(ValueError, match="frame: expected a name .* got an object of type Raising"):
        four_bar.frame_placement(four_bar.neutral(), odd_arguments.Raising())


def test_ctrl_c_in_an_object_is_no_wrong_argument(four_bar: kempe.Model) -> None:
    class Interrupted:
        def __array__(self, *_: object, **__: object) -> np.ndarray:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        four_bar.project(Interrupted())


# --- out= that shares memory with inputs ---------------------------------------------------------

def arm(joints: int) -> kempe.Model:
    """As many positions as velocities, so that results fit into inputs."""
    mechanism = kempe.Mechanism("arm")
    mechanism.add_body("link0")
    for i in range(joints):
        mechanism.add_body(f"link{i + 1}", mass=1 + i, center_of_mass=(0.1, 0.2, 0.1 * i),
                           inertia=(0.1, 0.2, 0.15))
        mechanism.add_revolute(f"joint{i}", parent=f"link{i}", child=f"link{i + 1}",
                               xyz=(0.3, 0.1 * i, 0), axis=(1, i, 2))
    return kempe.Model(mechanism)


WITH_OUT = [name.rstrip("*") for name in odd_arguments.FUNCTIONS if name.endswith("*")]


@pytest.mark.parametrize("name", WITH_OUT)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("states", [None, 1, 5, 300])
def test_out_that_overlaps_an_input(name: str, kind: type, states: int | None) -> None:
    """Overlapping before, behind, within and exactly: the result is that of separate memory."""
    model = arm(6)
    arguments = odd_arguments.FUNCTIONS[name + "*"]
    random = np.random.default_rng(1)
    shape = (6,) if states is None else (states, 6)
    good: dict[str, object] = {"frame": "link6", "frames": ["link3", "link6"], "dt": 0.01,
                               "external": {"link6": random.uniform(-1, 1, shape)}}

    def result(values: dict[str, object], out: np.ndarray | None = None) -> np.ndarray:
        return getattr(model, name)(*(values[argument] for argument in arguments), out=out)

    arrays = [argument for argument in arguments if argument in odd_arguments.ARRAYS]
    for overlapped in arrays:
        values = good | {argument: random.uniform(-1, 1, shape).astype(kind)
                         for argument in arrays}
        expected = result(values)
        if expected.size == 0:
            continue
        for shift in (-expected.size // 2, -6, -1, 0, 1, 5, 6, 7):
            memory = np.zeros(3 * (expected.size + 6 * (states or 1)), kind)
            start = len(memory) // 3
            given = memory[start:start + 6 * (states or 1)].reshape(shape)
            given[...] = values[overlapped]
            out = memory[start + shift:start + shift + expected.size].reshape(expected.shape)
            result(values | {overlapped: given}, out)
            close(out, expected, 1e-12 if kind is np.float64 else 1e-5)


def test_out_that_overlaps_external_forces() -> None:
    model = arm(6)
    states = random_states(model, 9)
    memory = np.zeros(200)
    for shift in (0, 3, 6):
        wrenches = memory[60:60 + 54].reshape(9, 6)
        wrenches[...] = states.a
        expected = model.forward_dynamics(
            states.q, states.v, states.tau, {"link6": wrenches.copy()})
        out = memory[60 + shift:60 + shift + 54].reshape(9, 6)
        model.forward_dynamics(states.q, states.v, states.tau, {"link6": wrenches}, out=out)
        close(out, expected, 1e-12)


def test_out_that_overlaps_what_is_strided() -> None:
    """One row for all states, and rows in reverse."""
    model = arm(3)
    states = random_states(model, 8)
    expected = model.inverse_dynamics(states.q, states.v[0], states.a)
    memory = np.zeros((8, 3))
    memory[4] = states.v[0]
    model.inverse_dynamics(states.q, memory[4], states.a, out=memory)
    close(memory, expected, 1e-12)
    expected = model.inverse_dynamics(states.q, states.v, states.a)
    backwards = states.a[::-1].copy()
    model.inverse_dynamics(states.q, states.v, backwards[::-1], out=backwards)
    close(backwards, expected, 1e-12)


@pytest.mark.parametrize("thing", odd_arguments.THINGS, ids=lambda thing: type(thing).__name__)
def test_builders_refuse_odd_numbers(thing: object) -> None:
    """Or accept them, if they are numbers."""
    mechanism = kempe.Mechanism("odd")
    for attributes in ({"mass": thing}, {"center_of_mass": thing}, {"inertia": thing}):
        with contextlib.suppress(TypeError, ValueError):
            mechanism.add_body("body", **attributes)
    for attributes in ({"axis": thing}, {"origin": thing}, {"lower": thing}, {"xyz": thing}):
        with contextlib.suppress(TypeError, ValueError):
            mechanism.add_joint("joint", "revolute", parent="a", child="b", **attributes)
    with contextlib.suppress(TypeError, ValueError):
        mechanism.add_coupling("coupling", thing)
    with contextlib.suppress(TypeError, ValueError):
        mechanism.add_function("function", thing, 1, lambda q: q)
