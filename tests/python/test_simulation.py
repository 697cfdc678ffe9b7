"""Motion over time: laws of mechanics, orders of convergence, and runs that end early."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from program import ROOT
from test_assembly import short_four_bar  # noqa: F401

import kempe
from kempe.simulation import DEFAULT_INTEGRATOR


def brick(mechanism: kempe.Mechanism, name: str = "brick") -> kempe.Body:
    return mechanism.add_body(name, mass=2.0, center_of_mass=(0.1, -0.05, 0.2),
                              inertia=(0.02, 0.05, 0.06))


def brick_on(joint: str, *, gravity: float = -9.81, tied: bool = False) -> kempe.Model:
    """A brick on a joint, optionally with a rod to the ground."""
    mechanism = kempe.Mechanism(f"{joint}_brick")
    mechanism.gravity = (0, 0, gravity)
    mechanism.add_body("world")
    brick(mechanism)
    mechanism.add_joint("joint", joint, parent="world", child="brick")
    if tied:
        mechanism.add_rod("rod", predecessor="world", predecessor_point=(0.3, 0.4, -0.1),
                          successor="brick", successor_point=(0.2, 0.1, 0.3), length=0.6)
    return kempe.Model(mechanism)


def flying_brick(gravity: float = -9.81) -> kempe.Model:
    return brick_on("free", gravity=gravity)


def ball_pendulum() -> kempe.Model:
    return brick_on("spherical")


def held_ball_pendulum() -> kempe.Model:
    """Two of the ball joint's three velocities are independent."""
    return brick_on("spherical", tied=True)


def tied_brick() -> kempe.Model:
    """Five of the brick's six velocities are independent."""
    return brick_on("free", tied=True)


def bundled(name: str) -> Callable[[], kempe.Model]:
    return lambda: kempe.robots.load(name)


def geared_leg() -> kempe.Model:
    return kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf")


def velocity(model: kempe.Model, size: float = 1.0) -> np.ndarray:
    return np.random.default_rng(5).uniform(-size, size, model.nv)


def distance(model: kempe.Model, one: kempe.Run, other: kempe.Run) -> float:
    """Difference between the ends of two runs."""
    return float(np.linalg.norm(model.difference(one.q[-1], other.q[-1]))
                 + np.linalg.norm(one.v[-1] - other.v[-1]))


# --- orders of convergence -----------------------------------------------------------------------

@pytest.mark.parametrize("make", [
    flying_brick, ball_pendulum, held_ball_pendulum, tied_brick, geared_leg,
    bundled("mini_cheetah"), bundled("tello"),
], ids=["flying_brick", "ball_pendulum", "held_ball_pendulum", "tied_brick", "geared_leg",
        "mini_cheetah", "tello"])
def test_runge_kutta_is_of_order_four(make: Callable[[], kempe.Model]) -> None:
    model = make()
    q, v = model.random_configuration(1), velocity(model)
    duration = 0.08
    exact, coarse, fine = (
        kempe.simulate(model, q, v, duration=duration, dt=duration / steps, integrator="rk4")
        for steps in (128, 8, 16))
    ratio = distance(model, coarse, exact) / distance(model, fine, exact)
    assert 11 < ratio < 23  # 16, plus higher-order terms


@pytest.mark.parametrize("make", [tied_brick, geared_leg, bundled("tello")])
def test_implicit_midpoint_is_of_order_two(make: Callable[[], kempe.Model]) -> None:
    model = make()
    q, v = model.random_configuration(1), velocity(model)
    exact = kempe.simulate(model, q, v, duration=0.08, dt=1e-3)
    coarse, fine = (
        kempe.simulate(model, q, v, duration=0.08, dt=dt, integrator="implicit_midpoint")
        for dt in (2e-3, 1e-3))
    ratio = distance(model, coarse, exact) / distance(model, fine, exact)
    assert 3.5 < ratio < 4.5


def test_adaptive_keeps_its_tolerance() -> None:
    model = geared_leg()
    q, v = model.random_configuration(1), velocity(model)
    exact = kempe.simulate(model, q, v, duration=0.3, dt=1e-4)
    for tolerance in (1e-5, 1e-8):
        run = kempe.simulate(model, q, v, duration=0.3, dt=0.1, integrator="adaptive",
                             relative_tolerance=tolerance, absolute_tolerance=tolerance)
        assert len(run) == 4
        assert distance(model, run, exact) < 1e3 * tolerance


@pytest.mark.parametrize("make", [tied_brick, geared_leg])
def test_semi_implicit_euler_is_of_order_one(make: Callable[[], kempe.Model]) -> None:
    model = make()
    q, v = model.random_configuration(1), velocity(model)
    exact = kempe.simulate(model, q, v, duration=0.1, dt=1e-3)
    coarse, fine = (
        kempe.simulate(model, q, v, duration=0.1, dt=dt, integrator="semi_implicit_euler")
        for dt in (2e-4, 1e-4))
    ratio = distance(model, coarse, exact) / distance(model, fine, exact)
    assert 1.8 < ratio < 2.2


# --- laws ----------------------------------------------------------------------------------------

def test_free_flight_keeps_energy_and_momentum() -> None:
    model = flying_brick(gravity=0.0)
    v = np.array([0.3, -0.2, 0.1, 2.0, 5.0, -1.0])
    run = kempe.simulate(model, model.random_configuration(2), v, duration=1.0, dt=1e-3)
    momentum = model.momentum(run.q, run.v)
    np.testing.assert_allclose(momentum, momentum[[0] * len(run)], atol=1e-9)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-9)
    assert np.ptp(run.v[:, 3:]) > 1.0  # it tumbles


def test_free_fall() -> None:
    model = flying_brick()
    run = kempe.simulate(model, duration=1.0, dt=1e-2)
    centre = model.center_of_mass(run.q)
    np.testing.assert_allclose(centre[:, 2] - centre[0, 2], -0.5 * 9.81 * run.t**2, atol=1e-10)


@pytest.mark.parametrize("make", [
    geared_leg, bundled("four_bar"), bundled("tello"), bundled("mini_cheetah"),
], ids=["geared_leg", "four_bar", "tello", "mini_cheetah"])
def test_energy_and_loops_are_kept(make: Callable[[], kempe.Model]) -> None:
    model = make()
    v = velocity(model, 0.5)
    run = kempe.simulate(model, model.random_configuration(1), v, duration=0.3, dt=1e-3)
    assert run.energy_drift < 1e-8
    assert run.loop_error.max() < 1e-12
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.01


def test_work_is_what_the_controller_puts_in() -> None:
    model = geared_leg()

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.2 * np.sin(5 * t), 0.1 - 0.01 * v[1]])

    run = kempe.simulate(model, duration=0.4, dt=1e-3, controller=push)
    assert np.abs(run.work).max() > 1e-2
    assert np.abs(run.energy_error).max() < 1e-7 * run.kinetic.max()
    np.testing.assert_allclose(run.tau[:, 0], 0.2 * np.sin(5 * run.t))
    euler = kempe.simulate(model, duration=0.4, dt=1e-4, controller=push,
                           integrator="semi_implicit_euler")
    np.testing.assert_allclose(euler.work[-1], run.work[-1], rtol=0.02)


def test_damping_and_friction_take_energy() -> None:
    mechanism = kempe.Mechanism("pendulum")
    mechanism.add_body("world")
    brick(mechanism)
    mechanism.add_revolute("hinge", parent="world", child="brick", axis=(0, 1, 0), damping=0.05,
                           friction=0.01)
    model = kempe.Model(mechanism)
    run = kempe.simulate(model, duration=0.5, dt=1e-3)
    assert np.all(np.diff(run.energy) <= 1e-12)
    rate = np.abs(run.v[:, 0])
    taken = np.trapezoid if hasattr(np, "trapezoid") else np.trapz
    np.testing.assert_allclose(run.losses[-1],
                               taken(0.05 * rate**2 + 0.01 * rate, run.t), rtol=1e-4)
    assert np.abs(run.energy_error).max() < 1e-7 * run.kinetic.max()
    assert not run.warnings


def test_external_forces_do_work() -> None:
    model = flying_brick()
    weight = 2.0 * 9.81
    # At the frame's origin: the moment compensates for the offset of the centre of mass.
    held = {"brick": [0, 0, weight, -0.05 * weight, -0.1 * weight, 0]}
    run = kempe.simulate(model, duration=0.2, dt=1e-2, external=held)
    np.testing.assert_allclose(run.v, 0, atol=1e-12)
    lifted = kempe.simulate(
        model, duration=0.2, dt=1e-3, external=lambda t, q, v: {"brick": [1, t, 30, 0, 0, 0.1]})
    assert lifted.work[-1] > 0.1
    assert np.abs(lifted.energy_error).max() < 1e-6


# --- runs ----------------------------------------------------------------------------------------

def test_defaults_and_shapes() -> None:
    model = kempe.robots.load("planar_leg")
    run = kempe.simulate(model, duration=0.01)
    assert (run.robot, run.dt, run.integrator) == ("planar_leg", 1e-3, DEFAULT_INTEGRATOR)
    np.testing.assert_array_equal(run.q[0], model.neutral())
    np.testing.assert_array_equal(run.v[0], 0)
    assert run.t.shape == (11,)
    assert run.q.shape == (11, model.nq)
    assert run.v.shape == run.tau.shape == (11, model.nv)
    for one in (run.kinetic, run.potential, run.energy, run.work, run.loop_error):
        assert one.shape == (11,)
    assert "planar_leg" in repr(run)


def test_last_step_is_shorter_where_steps_do_not_fit() -> None:
    model = flying_brick()
    run = kempe.simulate(model, duration=0.25, dt=0.1)
    np.testing.assert_allclose(run.t, [0, 0.1, 0.2, 0.25])
    centre = model.center_of_mass(run.q)[:, 2]
    assert centre[-1] - centre[0] == pytest.approx(-0.5 * 9.81 * 0.25**2)
    assert len(kempe.simulate(model, duration=0.3, dt=0.1)) == 4
    short = kempe.simulate(model, duration=0.05, dt=0.1)
    assert (len(short), short.dt) == (2, 0.05)


def test_saved_runs_are_the_same(tmp_path: Path) -> None:
    model = kempe.robots.load("tello")
    run = kempe.simulate(model, v=velocity(model), duration=0.005, integrator="semi_implicit_euler")
    file = tmp_path / "a run"  # exactly this name
    run.save(file)
    again = kempe.Run.load(file)
    assert (again.robot, again.dt, again.integrator) == ("tello", 1e-3, "semi_implicit_euler")
    assert (again.q_names, again.v_names) == (model.q_names, model.v_names)
    for name in ("t", "q", "v", "a", "tau", "kinetic", "potential", "energy", "work", "losses",
                 "loop_error"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    again.check_fits(model)
    with pytest.raises(ValueError, match="tello.*four_bar"):
        again.check_fits(kempe.robots.load("four_bar"))


def test_runs_of_format_1_are_read(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    run = kempe.simulate(flying_brick(), duration=0.01)
    run.save(file)
    content = dict(np.load(file))
    for name in ("a", "losses", "warnings"):
        del content[name]
    np.savez(file, **(content | {"kempe_run": np.asarray(1)}))
    old = kempe.Run.load(file)
    np.testing.assert_array_equal(old.q, run.q)
    assert np.isnan(old.a).all() and old.a.shape == run.a.shape
    assert not old.losses.any()
    assert "format 1" in old.warnings[0]
    old.save(file)
    assert kempe.Run.load(file).warnings == old.warnings


def test_files_that_are_no_runs_are_named(tmp_path: Path) -> None:
    text = tmp_path / "text.npz"
    text.write_text("not a run")
    numbers = tmp_path / "numbers.npz"
    np.savez(numbers, q=np.zeros(3))
    array = tmp_path / "array.npy"
    np.save(array, np.zeros(3))
    empty = tmp_path / "empty.npz"
    empty.touch()
    for file in (text, numbers, array, empty):
        with pytest.raises(ValueError, match=file.name):
            kempe.Run.load(file)
    with pytest.raises(FileNotFoundError):
        kempe.Run.load(tmp_path / "nothing.npz")


def test_runs_with_wrong_shapes_are_refused(tmp_path: Path) -> None:
    model = flying_brick()
    file = tmp_path / "run.npz"
    kempe.simulate(model, duration=0.01).save(file)
    content = dict(np.load(file))
    np.savez(file, **(content | {"q": content["q"][:-1]}))
    with pytest.raises(ValueError, match=r'"q" has shape \(10, 7\), expected \(11, 7\)'):
        kempe.Run.load(file)


@pytest.mark.parametrize("field, value, text", [
    ("dt", "slow", "real numbers"), ("dt", [1e-3], "one number"), ("dt", np.nan, "positive"),
    ("dt", 0.0, "positive"), ("t", 1.0, "at least one sample"), ("t", ["a"] * 11, "real numbers"),
    ("t", [np.nan] * 11, "finite"), ("t", [0.0] * 11, "increasing"),
    ("t", [], "at least one sample"),
    ("q", np.full((11, 7), np.nan), "finite"), ("v", np.zeros((11, 6), bool), "real numbers"),
    ("robot", 3, "a string"), ("q_names", "x", "list of strings"),
    ("v_names", [1.0] * 6, "strings"),
    ("kempe_run", [1, 1], "format"),
])
def test_runs_with_malformed_fields_are_refused(
        tmp_path: Path, field: str, value: object, text: str) -> None:
    file = tmp_path / "run.npz"
    kempe.simulate(flying_brick(), duration=0.01).save(file)
    np.savez(file, **(dict(np.load(file)) | {field: np.asarray(value)}))
    with pytest.raises(ValueError, match=rf"run\.npz: .*{text}") as caught:
        kempe.Run.load(file)
    assert field == "kempe_run" or f'"{field}"' in str(caught.value)


def test_runs_without_samples_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    kempe.simulate(flying_brick(), duration=0.01).save(file)
    content = {name: value[:0] if value.ndim and not name.endswith("_names") else value
               for name, value in np.load(file).items()}
    np.savez(file, **content)
    with pytest.raises(ValueError, match=r'run\.npz: "t": .*at least one sample'):
        kempe.Run.load(file)


def test_progress_is_told_and_can_stop() -> None:
    model = flying_brick()
    heard: list[float] = []
    kempe.simulate(model, duration=0.1, dt=0.01, progress=heard.append)
    np.testing.assert_allclose(heard, np.arange(1, 11) / 10)
    run = kempe.simulate(model, duration=0.1, dt=0.01, progress=lambda part: part < 0.45)
    assert run.t[-1] == pytest.approx(0.05)


# --- what goes wrong -----------------------------------------------------------------------------

@pytest.mark.parametrize("wrong, text", [
    ({"dt": 0}, "dt: "), ({"dt": -1e-3}, "dt: "), ({"dt": np.nan}, "dt: "),
    ({"duration": 0}, "duration: "), ({"duration": np.inf}, "duration: "),
    ({"integrator": "euler"}, "semi_implicit_euler"),
    ({"q": [0.0]}, "q: "), ({"v": [0.0, 0.0]}, "v: "), ({"v": [np.nan]}, "v: "),
    ({"q": [np.nan] * 3}, "q"),
    *(({name: value}, f"{name}: expected real numbers") for name in ("duration", "dt")
      for value in (1 + 0j, True, "0.01", None, np.ma.masked_array(0.1, mask=False))),
    *(({"v": value}, "v: expected real numbers") for value in (
        [1j], [True], ["1"], [None], np.ma.masked_array([1.0], mask=[True]), [[1.0], [1.0, 2.0]])),
    *(({"q": np.zeros(3, kind)}, "q: expected real numbers") for kind in ("c16", "?", "U1", "O")),
    ({"q": np.ma.masked_array(np.zeros(3), mask=[True, False, False])}, "q: .*masked"),
    ({"v": [1e200]}, "v: the initial velocities must be below 1e100"),
    ({"integrator": []}, "integrator: "), ({"duration": [0.01]}, "duration: "),
])
def test_wrong_arguments_are_named(four_bar: kempe.Model, wrong: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        kempe.simulate(four_bar, **({"duration": 0.01} | wrong))


@pytest.mark.parametrize("wrong, text", [
    ({"model": "tello"}, "model: expected a kempe.Model, got 'tello'"),
    ({"model": kempe.robots.mechanism("four_bar")}, "model: "),
    ({"controller": "hold"}, "controller: expected a function .*'hold'"),
    ({"progress": 3}, "progress: "),
])
def test_arguments_of_other_kinds_are_refused(
        four_bar: kempe.Model, wrong: dict, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        kempe.simulate(**({"model": four_bar, "duration": 0.01} | wrong))


@pytest.mark.parametrize("given, found", [
    (None, "nothing"), ([1.0, 2.0], r"shape \(2,\)"), ([[1.0]], r"shape \(1, 1\)"),
    ("fast", "fast"), ([np.nan], "nan"), (1.0, r"shape \(\)"),
    ([1j], "complex128"), ([True], "bool"), (["1"], "<U1"), ([None], "object"),
    (np.ma.masked_array([1.0], mask=[True]), "masked array"),
])
def test_controllers_that_return_something_else_are_named(
        four_bar: kempe.Model, given: object, found: str) -> None:
    def push(t: float, q: np.ndarray, v: np.ndarray) -> object:
        return given
    with pytest.raises(ValueError, match=f"push returned .*{found}"):
        kempe.simulate(four_bar, duration=0.01, controller=push)


def test_a_controller_cannot_write_into_the_state(four_bar: kempe.Model) -> None:
    def meddle(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        v[0] = 0
        return [0.0]
    with pytest.raises(ValueError, match="meddle raised ValueError.*read-only"):
        kempe.simulate(four_bar, duration=0.01, controller=meddle)


def test_a_controller_that_fails_later_does_not_lose_the_run(four_bar: kempe.Model) -> None:
    def push(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.0055:
            raise KeyError("gain")
        return [0.1]
    with pytest.raises(kempe.SimulationError, match=r"push raised KeyError: 'gain'") as caught:
        kempe.simulate(four_bar, duration=1, controller=push)
    error = caught.value
    assert isinstance(error.__cause__, KeyError)
    assert len(error.run) == 6
    assert error.time == error.run.t[-1] == pytest.approx(0.005)
    assert error.run.work[-1] != 0
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.time, len(copy.run)) == (str(error), error.time, 6)


EXTERNAL_FAILURES = [
    (lambda: 1 / 0, "external: the function raised ZeroDivisionError"),
    (lambda: None, "external: .*None"),
    (lambda: {"brick": np.zeros((1, 6))}, r'external: "brick" needs 6 .*shape \(1, 6\)'),
    (lambda: {"brick": [np.inf] * 6}, "external: .*inf"),
    (lambda: {"brick": [1j] * 6}, 'external: of "brick": .*complex'),
    (lambda: {"nobody": [0] * 6}, 'external: "nobody" is not a frame'),
    (lambda: {99: [0] * 6}, 'external: "99" is not a frame'),
]


@pytest.mark.parametrize("given, text", EXTERNAL_FAILURES)
def test_external_forces_that_fail_do_not_lose_the_run(
        given: Callable[[], object], text: str) -> None:
    def later(t: float, q: np.ndarray, v: np.ndarray) -> object:
        return given() if t > 0.0055 else {"brick": [0.0] * 6}
    with pytest.raises(kempe.SimulationError, match=text) as caught:
        kempe.simulate(flying_brick(), duration=0.1, external=later)
    assert len(caught.value.run) == 6
    with pytest.raises(ValueError, match=text):
        kempe.simulate(flying_brick(), duration=0.1, external=lambda t, q, v: given())


@pytest.mark.parametrize("external", [
    {"brick": np.zeros((1, 6))}, {"nobody": [0] * 6}, 5, "brick", {"brick": None}])
def test_wrong_external_forces_are_refused(external: object) -> None:
    with pytest.raises(ValueError, match="external: "):
        kempe.simulate(flying_brick(), duration=0.1, external=external)


def coupled_pendulums(failing: dict[str, BaseException]) -> kempe.Model:
    """Two pendulums that a function in Python couples, until it fails."""
    mechanism = kempe.Mechanism("coupled_pendulums")
    mechanism.add_body("world")
    for name in ("one", "two"):
        brick(mechanism, name)
        mechanism.add_revolute(f"hinge_{name}", parent="world", child=name, axis=(0, 1, 0))

    def phi(q: np.ndarray) -> list[object]:
        if "now" in failing:
            raise failing["now"]
        return [q[0] - q[1] if q[0] < 1e9 else q[0]]  # a branch: it stays a callback

    mechanism.add_function("same", ["hinge_one", "hinge_two"], 1, phi)
    return kempe.Model(mechanism)


@pytest.mark.parametrize("error, expected", [
    (ZeroDivisionError("of phi"), kempe.SimulationError),
    (OSError("of phi"), kempe.SimulationError),
    (KeyboardInterrupt(), KeyboardInterrupt)], ids=["arithmetic", "os", "interrupt"])
def test_constraints_that_fail_do_not_lose_the_run(
        error: BaseException, expected: type[BaseException]) -> None:
    failing: dict[str, BaseException] = {}

    def progress(fraction: float) -> None:
        if fraction > 0.55:
            failing["now"] = error

    with pytest.raises(expected) as caught:
        kempe.simulate(coupled_pendulums(failing), duration=0.01, progress=progress)
    if isinstance(caught.value, kempe.SimulationError):
        assert f"{type(error).__name__}: of phi" in str(caught.value)
        assert len(caught.value.run) == 7
        assert caught.value.run.t[-1] == pytest.approx(0.006)


@pytest.mark.parametrize("where", ["controller", "external"])
def test_interrupts_stay_what_they_are(four_bar: kempe.Model, where: str) -> None:
    def interrupted(t: float, q: np.ndarray, v: np.ndarray) -> object:
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        kempe.simulate(four_bar, duration=0.01, **{where: interrupted})


def test_a_crank_that_cannot_turn_swings_back(
        short_four_bar: kempe.Model) -> None:  # noqa: F811
    run = kempe.simulate(short_four_bar, v=[2.0], duration=2, controller=lambda t, q, v: [5.0])
    crank = run.q[:, short_four_bar.q_names.index("motor")]
    assert crank.max() < np.pi
    assert (np.diff(np.sign(run.v[:, 0])) != 0).sum() > 2  # at its dead points
    assert run.loop_error.max() < 1e-12
    assert run.energy_drift < 1e-4


@pytest.mark.filterwarnings("ignore:invalid value")
def test_motion_beyond_what_loops_allow_ends_the_run() -> None:
    mechanism = kempe.Mechanism("walls")
    mechanism.add_body("world")
    for name in ("one", "two"):
        brick(mechanism, name)
        mechanism.add_revolute(f"hinge_{name}", parent="world", child=name, axis=(0, 1, 0))
    # Defined on one side of hinge_one = −0.5 only.
    mechanism.add_function("root", ["hinge_one", "hinge_two"], 1,
                           lambda q: q[1] - np.sqrt(q[0] + 0.5) ** 3)
    model = kempe.Model(mechanism)
    with pytest.raises(kempe.SimulationError, match="root") as caught:
        kempe.simulate(model, model.project(np.zeros(2)), [-2.0], duration=5,
                       controller=lambda t, q, v: [-20.0])
    assert isinstance(caught.value.__cause__, (kempe.AssemblyError, kempe.SingularityError))
    assert 10 < len(caught.value.run) < 5000
    assert caught.value.run.loop_error.max() < 1e-12


def test_a_singular_start_is_refused(four_bar: kempe.Model) -> None:
    with pytest.raises(kempe.SingularityError):
        kempe.simulate(four_bar, np.zeros(four_bar.nq), duration=0.01)


def test_an_exactly_singular_loop_is_described_without_numbers() -> None:
    mechanism = kempe.Mechanism("cube")
    mechanism.add_body("world")
    for name in ("one", "two"):
        brick(mechanism, name)
        mechanism.add_prismatic(name + "_slide", parent="world", child=name,
                                independent=name == "two")
    mechanism.add_function("cube", ["one_slide", "two_slide"], 1, lambda q: q[0] ** 3 - q[1])
    mechanism.start_pose = {"one_slide": 1.0, "two_slide": 1.0}
    model = kempe.Model(mechanism)
    with pytest.raises(kempe.SingularityError, match="K_d is exactly singular") as caught:
        model.forward_dynamics([0.0, 0.0], [1.0], [0.0])
    assert "nan" not in str(caught.value)
    assert caught.value.condition == np.inf


def test_velocities_that_grow_without_bound_end_the_run(four_bar: kempe.Model) -> None:
    with pytest.raises(kempe.SimulationError, match="stopped at t = "):
        kempe.simulate(four_bar, duration=10, dt=0.05,
                       controller=lambda t, q, v: 1e3 * v + 1)


def test_a_velocity_that_overflows_is_named() -> None:
    mechanism = kempe.Mechanism("slides")
    mechanism.add_body("world")
    for name in ("calm", "wild"):
        brick(mechanism, name)
        mechanism.add_prismatic(name + "_slide", parent="world", child=name)
    with pytest.raises(kempe.SimulationError, match='the velocity of "wild_slide" exceeded 1e100'):
        kempe.simulate(kempe.Model(mechanism), duration=10, dt=0.05, integrator="rk4",
                       controller=lambda t, q, v: [0.0, 1e5 * v[1] + 1.0])
