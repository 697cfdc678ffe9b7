"""Many states at once: the same numbers as one by one, from arrays in place."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kempe
from algorithms import ALL, DOUBLE, GENERIC, ROBOTS, close, random_states


@pytest.fixture(params=ROBOTS, scope="module")
def model(request: pytest.FixtureRequest) -> kempe.Model:
    return kempe.robots.load(request.param)


@pytest.mark.parametrize("algorithm", ALL)
def test_batches_equal_single_states(model: kempe.Model, algorithm: str) -> None:
    states = random_states(model, 13)
    compute = ALL[algorithm]
    result = compute(model, states)
    assert result.dtype == np.float64
    one_by_one = np.stack([compute(model, states[i]) for i in range(13)])
    assert result.shape == one_by_one.shape
    close(result, one_by_one)


@pytest.mark.parametrize("algorithm", ALL)
def test_layouts(algorithm: str) -> None:
    model = kempe.robots.load("planar_leg")
    states = random_states(model, 9)
    compute = ALL[algorithm]
    expected = compute(model, states)

    def frozen(x: np.ndarray) -> np.ndarray:
        copy = x.copy()
        copy.flags.writeable = False
        return copy

    for change in (
            np.asfortranarray,
            lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
            lambda x: x[::-1].copy()[::-1],
            frozen,
            lambda x: x.astype(">f8"),
            lambda x: x.astype(np.longdouble)):
        close(compute(model, states.mapped(change)), expected, 1e-12)


@pytest.mark.parametrize("algorithm", GENERIC)
def test_floats_compute_in_float(algorithm: str) -> None:
    model = kempe.robots.load("mini_cheetah")
    states = random_states(model, 5)
    compute = GENERIC[algorithm]
    exact = compute(model, states)
    floats = states.mapped(lambda x: x.astype(np.float32))
    batch = compute(model, floats)
    assert batch.dtype == np.float32
    close(batch, exact, 2e-3)
    if "rotation" not in algorithm:  # those of the base are the same in both
        assert np.abs(batch - exact).max() > 0
    single = compute(model, floats[0])
    assert single.dtype == np.float32
    close(single, exact[0], 2e-3)


@pytest.mark.parametrize("algorithm", DOUBLE)
def test_floats_are_answered_by_floats(algorithm: str, four_bar: kempe.Model) -> None:
    states = random_states(four_bar, 5)
    compute = DOUBLE[algorithm]
    floats = compute(four_bar, states.mapped(lambda x: x.astype(np.float32)))
    assert floats.dtype == np.float32
    close(floats, compute(four_bar, states), 1e-4)


def test_mixed_precision_is_double(four_bar: kempe.Model) -> None:
    state = random_states(four_bar, 1)[0]
    mixed = four_bar.forward_dynamics(state.q, state.v.astype(np.float32), state.tau)
    assert mixed.dtype == np.float64


def test_masked_arrays_are_refused(four_bar: kempe.Model) -> None:
    masked = np.ma.masked_array([1.0], [True])
    with pytest.raises(ValueError, match="v: a masked array"):
        four_bar.forward_dynamics(four_bar.neutral(), masked, [0.0])


def test_ragged_lists_are_refused_in_one_line(four_bar: kempe.Model) -> None:
    with pytest.raises(ValueError, match="^q: expected an array of real numbers; ") as caught:
        four_bar.project([[0.0], [0.0, 1.0]])
    assert "\n" not in str(caught.value)


def test_one_state_goes_with_many(model: kempe.Model) -> None:
    states = random_states(model, 4)
    first = states[0]
    result = model.forward_dynamics(states.q, first.v, first.tau)
    for i in range(4):
        close(result[i], model.forward_dynamics(states.q[i], first.v, first.tau))
    result = model.inverse_dynamics(first.q, states.v, first.a)
    for i in range(4):
        close(result[i], model.inverse_dynamics(first.q, states.v[i], first.a))
    wrenches = np.arange(24.0).reshape(4, 6)
    result = model.forward_dynamics(
        first.q, first.v, first.tau, {model.body_names[-1]: wrenches, 0: np.ones(6)})
    for i in range(4):
        one = {model.body_names[-1]: wrenches[i], 0: np.ones(6)}
        close(result[i], model.forward_dynamics(first.q, first.v, first.tau, one))


def test_no_states(tello: kempe.Model) -> None:
    nothing = np.empty((0, tello.nv))
    q = np.empty((0, tello.nq))
    assert tello.forward_dynamics(q, nothing, nothing).shape == (0, tello.nv)
    assert tello.mass_matrix(q).shape == (0, tello.nv, tello.nv)
    assert tello.random_configuration(size=0).shape == (0, tello.nq)


def test_random_configurations(tello: kempe.Model) -> None:
    many = tello.random_configuration(5, size=3)
    for i in range(3):
        np.testing.assert_array_equal(many[i], tello.random_configuration(5 + i))
    with pytest.raises(ValueError, match="size"):
        tello.random_configuration(size=-1)


def test_out(model: kempe.Model) -> None:
    states = random_states(model, 7)
    expected = model.forward_dynamics(states.q, states.v, states.tau)
    out = np.full((7, model.nv), np.nan)
    assert model.forward_dynamics(states.q, states.v, states.tau, out=out) is out
    np.testing.assert_array_equal(out, expected)
    tau = states.tau.copy()
    model.forward_dynamics(states.q, states.v, tau, out=tau)  # one of the inputs
    np.testing.assert_array_equal(tau, expected)
    matrix = np.empty((model.nv_spanning, model.nv), np.float32)
    model.constraint_jacobian(states.q[0].astype(np.float32), out=matrix)
    close(matrix, model.constraint_jacobian(states.q[0].astype(np.float32).astype(float)), 1e-6)


@pytest.mark.parametrize("wrong", [
    np.empty(3), np.empty((2, 24), np.float32), np.empty((2, 24), order="F"), [[0.0] * 24] * 2,
    np.broadcast_to(0.0, (2, 24)),
])
def test_wrong_out(tello: kempe.Model, wrong: object) -> None:
    states = random_states(tello, 2)
    with pytest.raises(ValueError, match=r"out: .*C-contiguous.*float64.*\(2, 24\)"):
        tello.gravity_forces(states.q, out=wrong)


def test_states_that_do_not_fit_together(tello: kempe.Model) -> None:
    states = random_states(tello, 4)
    with pytest.raises(ValueError, match="v has 3 states, but q has 4"):
        tello.forward_dynamics(states.q, states.v[:3], states.tau)
    with pytest.raises(ValueError, match=r"external\['torso'\] has 2 states, but tau has 4"):
        tello.forward_dynamics(states.q, states.v, states.tau, {"torso": np.ones((2, 6))})


@pytest.mark.parametrize("external, message", [
    ({"no_such_frame": np.ones(6)}, "no_such_frame"),
    ({"torso": np.ones(5)}, r"external\['torso'\].*\(6,\)"),
    ({99999: np.ones(6)}, "99999"),
    ({2.5: np.ones(6)}, "2.5"),
    (np.ones(6), "dictionary"),
])
def test_wrong_external_forces(tello: kempe.Model, external: object, message: str) -> None:
    state = random_states(tello, 1)[0]
    with pytest.raises(ValueError, match=message):
        tello.forward_dynamics(state.q, state.v, state.tau, external)


@pytest.mark.parametrize("bad", [0, 3, 4095, 4096, 9000])
def test_errors_name_the_state(four_bar: kempe.Model, bad: int) -> None:
    states = random_states(four_bar, 1)
    q = np.repeat(states.q, 9001, axis=0)
    q[bad, 1] = np.nan
    with pytest.raises(ValueError, match=rf"state {bad}: q is not finite at entry 1"):
        four_bar.forward_dynamics(q, states.v[0], states.tau[0])
    with pytest.raises(ValueError, match=rf"state {bad}: q is not finite at entry 1"):
        four_bar.constraint_jacobian(q)
    q[bad] = 0  # all links on one line
    with pytest.raises(kempe.SingularityError, match=f"state {bad}: ") as caught:
        four_bar.forward_dynamics(q, states.v[0], states.tau[0])
    assert caught.value.loop in four_bar.loop_row_names


def test_number_of_threads(tello: kempe.Model) -> None:
    states = random_states(tello, 50)
    default = kempe.get_num_threads()
    expected = tello.forward_dynamics(states.q, states.v, states.tau)
    try:
        for count in (1, 3):
            kempe.set_num_threads(count)
            assert kempe.get_num_threads() == count
            result = tello.forward_dynamics(states.q, states.v, states.tau)
            np.testing.assert_array_equal(result, expected)
        for wrong in (-1, 10**6):
            with pytest.raises(ValueError, match=str(wrong)):
                kempe.set_num_threads(wrong)
    finally:
        kempe.set_num_threads(0)
    assert kempe.get_num_threads() == default


def test_python_runs_while_a_batch_computes() -> None:
    model = kempe.robots.load("jvrc1")
    states = random_states(model, 1)
    q = np.repeat(states.q, 4096, axis=0)  # computed in one piece
    counts = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counts[0] += 1

    model.coriolis_matrix(q[:1], states.v)
    counter = threading.Thread(target=count)
    counter.start()
    try:
        time.sleep(0.02)
        before = counts[0]
        model.coriolis_matrix(q, states.v[0])
        during = counts[0] - before
    finally:
        done.set()
        counter.join()
    assert during > 100


def test_threads_share_a_model_for_batches(tello: kempe.Model) -> None:
    states = random_states(tello, 40)
    expected = tello.forward_dynamics(states.q, states.v, states.tau)
    wrong: list[int] = []

    def work(index: int) -> None:
        for _ in range(10):
            result = tello.forward_dynamics(states.q, states.v, states.tau)
            if not np.array_equal(result, expected):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_interrupt() -> None:
    program = """if True:
        import numpy as np, kempe
        model = kempe.robots.load("tello")
        # Ten million states that share one memory: many seconds of work.
        q = np.broadcast_to(model.neutral(), (10_000_000, model.nq))
        v = np.zeros(model.nv)
        out = np.empty((10_000_000, model.nv))
        print("started", flush=True)
        model.forward_dynamics(q, v, v, out=out)
    """
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "started\n"
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert time.monotonic() - began < 3
    assert "KeyboardInterrupt" in errors
