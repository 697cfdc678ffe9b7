"""kempe.Simulator: dead points, force elements, snapshots."""

import pickle
import time
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import kempe


def link(mechanism: kempe.Mechanism, name: str, length: float) -> None:
    mechanism.add_body(name, mass=0.5, center_of_mass=(length / 2, 0, 0),
                       inertia=(1e-4, length**2 / 24, length**2 / 24))


def crank_slider(independent: str) -> kempe.Model:
    mechanism = kempe.Mechanism("crank_slider")
    mechanism.gravity = (0, -9.81, 0)
    mechanism.add_body("ground")
    link(mechanism, "crank_link", 0.1)
    link(mechanism, "rod", 0.3)
    mechanism.add_body("piston", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_revolute("crank", parent="ground", child="crank_link",
                           independent=independent == "crank")
    mechanism.add_revolute("swivel", parent="crank_link", child="rod", xyz=(0.1, 0, 0),
                           independent=False)
    mechanism.add_prismatic("slide", parent="ground", child="piston", axis=(1, 0, 0),
                            independent=independent == "slide")
    mechanism.add_loop("pin", "revolute", predecessor="rod", predecessor_xyz=(0.3, 0, 0),
                       successor="piston")
    return kempe.Model(mechanism)


def block() -> kempe.Model:
    mechanism = kempe.Mechanism("block")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("ground")
    mechanism.add_body("block", mass=2.0, inertia=(1, 1, 1))
    mechanism.add_prismatic("slide", parent="ground", child="block", axis=(1, 0, 0))
    return kempe.Model(mechanism)


def turning(model: kempe.Model) -> tuple[np.ndarray, np.ndarray]:
    """q and the velocities of all joints with the crank at 1 rad and 12 rad/s."""
    by_crank = model.with_independent(["crank"])
    q = by_crank.neutral()
    q[by_crank.q_names.index("crank")] = 1.0
    q = by_crank.project(q)
    return q, by_crank.spanning(q, [12.0])[1]


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "adaptive", "radau", "auto"])
def test_a_slider_coordinate_passes_its_dead_points(integrator: str) -> None:
    model = crank_slider("slide")
    assert model.v_names == ["slide"]
    simulator = kempe.Simulator(model, integrator)
    simulator.set_spanning_state(*turning(model))
    run = simulator.run(1.0, dt=5e-4)
    crank = run.q[:, model.q_names.index("crank")]
    assert crank[-1] > 4 * np.pi
    assert run.loop_error.max() < 1e-12
    assert run.energy_drift < (1e-3 if integrator == "implicit_midpoint" else 1e-6)
    assert np.abs(np.diff(crank)).max() < 0.03
    assert simulator.coordinate_changes >= 1
    assert simulator.coordinates != model.v_names
    assert simulator.model.v_names == ["slide"]
    reference = kempe.Simulator(model.with_independent(["crank"]), integrator)
    reference.set_spanning_state(*turning(model))
    other = reference.run(1.0, dt=5e-4)
    np.testing.assert_allclose(run.q, other.q, atol=1e-6 if integrator != "implicit_midpoint"
                               else 1e-2)


def test_auto_tells_what_it_chose() -> None:
    simulator = kempe.Simulator(block(), "auto")
    assert (simulator.integrator, simulator.integrator_in_use) == ("auto", "adaptive")
    assert simulator.statistics == {}
    simulator.add_spring("slide", 1e8, damping=1e5)
    simulator.set_state([0.01], [0.0])
    simulator.run(1.0, dt=0.1)
    assert simulator.integrator_in_use == "radau"
    effort = simulator.statistics
    assert set(effort) == {"adaptive", "radau"}
    assert effort["radau"]["steps"] >= 10
    assert effort["radau"]["newton_iterations"] >= effort["radau"]["steps"]
    assert effort["radau"]["jacobians"] >= 10
    assert effort["adaptive"]["newton_iterations"] == 0
    # Explicit steps are stable below 3.3e-5 s.
    assert sum(one["evaluations"] for one in effort.values()) < 3000
    assert abs(simulator.q[0]) < 1e-9


def test_simulate_passes_dead_points_too() -> None:
    model = crank_slider("slide")
    q, _ = turning(model)
    run = kempe.simulate(model, q, [-0.9], duration=0.8, dt=5e-4)
    assert abs(run.q[-1, model.q_names.index("crank")] - 1.0) > 2 * np.pi
    assert run.energy_drift < 1e-6


def test_springs_stops_friction_and_motors_act() -> None:
    simulator = kempe.Simulator(block(), "adaptive")
    simulator.add_spring("slide", 200.0, rest=0.3, damping=4.0)
    simulator.set_state([1.3], [0.0])
    run = simulator.run(0.5, dt=1e-2)
    omega = np.sqrt(99.0)
    np.testing.assert_allclose(
        run.q[:, 0], 0.3 + np.exp(-run.t) * (np.cos(omega * run.t) + np.sin(omega * run.t) / omega),
        atol=1e-7)
    assert simulator.work["damping"] > 1.0
    assert sum(simulator.energy) + simulator.work["damping"] == pytest.approx(100.0, rel=1e-6)

    simulator = kempe.Simulator(block())
    simulator.add_point_spring("ground", (-1, 0, 0), "block", (0, 0, 0), 8.0, rest_length=1.0)
    simulator.set_state([0.1], [0.0])
    simulator.run(np.pi / 2, dt=1e-2)  # half a period of √(8 / 2) rad/s
    assert simulator.q[0] == pytest.approx(-0.1, rel=1e-6)
    assert sum(simulator.energy) == pytest.approx(0.04, rel=1e-6)

    simulator = kempe.Simulator(block())
    simulator.add_limit("slide", 1e4, lower=-0.1, upper=0.1)
    simulator.set_state([0.0], [1.0])
    simulator.run(0.2, dt=1e-4)
    assert simulator.v[0] == pytest.approx(-1.0, rel=1e-3)

    simulator = kempe.Simulator(block())
    simulator.add_friction("slide", 3.0)
    simulator.set_state([0.0], [1.0])
    simulator.run(1.0, dt=1e-2)
    assert simulator.q[0] == pytest.approx(1.0 / 3.0, rel=1e-9)
    assert simulator.v[0] == 0.0

    simulator = kempe.Simulator(block())
    assert simulator.add_limit("slide", lower=-0.1, upper=0.1, restitution=0.5) == 0
    simulator.set_state([0.0], [1.0])
    simulator.run(0.3, dt=1e-2)
    assert simulator.q[0] == pytest.approx(0.0, abs=1e-9)
    assert simulator.v[0] == pytest.approx(-0.5)

    simulator = kempe.Simulator(block())
    motor = simulator.add_motor("slide", gear=10.0, rotor_inertia=0.01, torque_limit=0.5)
    simulator.set_motor_torque(motor, 7.0)
    simulator.set_state([0.0], [0.0])
    simulator.step(1.0)
    assert simulator.motor_torque(motor) == 0.5
    assert simulator.v[0] == pytest.approx(5.0 / 3.0)
    assert simulator.work["motors"] == pytest.approx(sum(simulator.energy))
    simulator.set_motor_controller(lambda t, q, v: [-0.1])
    assert simulator.motor_torque(motor) == -0.1


def test_controllers_and_external_forces() -> None:
    simulator = kempe.Simulator(block())
    simulator.set_controller(lambda t, q, v: [2.0 * t])
    simulator.set_external_forces({"block": [1.0, 0, 0, 0, 0, 0]})
    simulator.set_state([0.0], [0.0], time=1.0)
    simulator.step(1.0)
    assert simulator.time == 2.0
    assert simulator.v[0] == pytest.approx((3.0 + 1.0) / 2)
    assert simulator.tau[0] == 4.0
    simulator.set_external_forces(lambda t, q, v: {"block": [-4.0, 0, 0, 0, 0, 0]})
    simulator.set_forces([4.0])
    before = simulator.v[0]
    simulator.step(0.1)
    assert simulator.v[0] == pytest.approx(before)


def test_going_on_from_a_snapshot_is_the_same() -> None:
    model = crank_slider("slide")
    simulator = kempe.Simulator(model, "adaptive")
    simulator.set_spanning_state(*turning(model))
    simulator.run(0.1)
    moment = simulator.snapshot()
    first = simulator.run(0.1)
    simulator.restore(moment)
    assert simulator.time == moment.time
    again = simulator.run(0.1)
    for name in ("t", "q", "v", "kinetic", "potential", "loop_error"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


@pytest.mark.parametrize("action, error, text", [
    (lambda s: s.set_state([0.0, 1.0], [0.0]), ValueError, "q"),
    (lambda s: s.set_state([[0.0]], [0.0]), ValueError, "one state"),
    (lambda s: s.step(0.0), ValueError, "dt: a positive"),
    (lambda s: s.step(float("nan")), ValueError, "dt: a positive"),
    (lambda s: s.add_spring("nobody", 1.0), ValueError, '"nobody"'),
    (lambda s: s.add_spring("slide", -1.0), ValueError, "stiffness"),
    (lambda s: s.add_motor("slide", command_at="shaft"), ValueError, "command_at"),
    (lambda s: s.set_motor_torque(0, 1.0), ValueError, "0 motors"),
    (lambda s: s.set_controller(3), TypeError, "controller: expected a function"),
    (lambda s: s.set_external_forces({"nobody": [0] * 6}), ValueError, "nobody"),
    (lambda s: s.run(0.0), ValueError, "duration: "),
    (lambda s: kempe.Simulator(s.model, "euler"), ValueError, "implicit_midpoint"),
    (lambda s: kempe.Simulator(s.model, relative_tolerance=0.0), ValueError, "relative_tolerance"),
])
def test_wrong_arguments_are_named(
        action: Callable[[kempe.Simulator], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action(kempe.Simulator(block()))


def test_exceptions_of_callbacks_come_through() -> None:
    simulator = kempe.Simulator(block())

    def fails(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.05:
            raise KeyError("gain")
        return [1.0]

    simulator.set_controller(fails)
    simulator.step(0.04)
    with pytest.raises(KeyError, match="gain"):
        simulator.step(0.04)
    assert simulator.time == 0.04
    simulator.set_controller(lambda t, q, v: [1.0, 2.0])
    with pytest.raises(ValueError, match="controller"):
        simulator.step(0.01)


def test_other_coordinates(four_bar: kempe.Model) -> None:
    names = [name for name in four_bar.spanning_velocity_names if name not in four_bar.v_names]
    other = four_bar.with_independent(names[:1])
    assert other.v_names == names[:1]
    assert other.q_names == four_bar.q_names
    with pytest.raises(ValueError, match="nobody"):
        four_bar.with_independent(["nobody"])


def test_rejected_constraints_change_nothing() -> None:
    model = block()
    contradiction = kempe.Constraints(model)
    contradiction.lock("lock", "slide", q=[0.0])
    contradiction.prescribe("drive", "slide", lambda t: (t, 1.0, 0.0))
    simulator = kempe.Simulator(model)
    simulator.set_state([0.0], [0.5])
    with pytest.raises(kempe.AssemblyError):
        simulator.set_constraints(contradiction)
    run = simulator.run(1.0, dt=0.1)
    np.testing.assert_allclose(run.q[-1], 0.5, atol=1e-12)


def chattering() -> kempe.Simulator:
    """In sliding motion, with millions of steps before the first sample."""
    simulator = kempe.Simulator(block())
    simulator.set_controller(lambda t, q, v: -60 * np.sign(q + 0.3 * v))
    simulator.set_state([0.5])
    return simulator


def test_slow_runs_warn_and_report_between_samples() -> None:
    simulator, fractions = chattering(), []
    warned: list[float] = []

    def progress(fraction: float) -> bool:
        fractions.append(fraction)
        return not warned and time.monotonic() < start + 60

    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *text, **more: warned.append(time.monotonic())
        run = simulator.run(1000.0, dt=1000.0, progress=progress)
    assert warned
    assert len(run) == 1  # it ends at the sample before
    assert simulator.time == 0
    assert all(0 <= fraction < 1 for fraction in fractions)


def test_exceptions_of_progress_within_steps_stay_what_they_are() -> None:
    simulator = chattering()

    def fails(fraction: float) -> None:
        raise ZeroDivisionError("of the user")
    with pytest.raises(ZeroDivisionError, match="of the user"):
        simulator.run(1000.0, dt=1000.0, progress=fails)
    # One that evaluates the simulator, as it may after samples, is asked again there.
    simulator.set_controller(None)
    simulator.run(1.0, dt=0.5, progress=lambda fraction: simulator.energy)


def test_max_step_catches_pulses() -> None:
    def pulse(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [10000.0 if 0.50035 < t < 0.50055 else 0.0]
    for max_step, speed in ((np.inf, 0.0), (1e-4, 1.0)):
        run = kempe.simulate(block(), duration=1.0, controller=pulse, max_step=max_step)
        np.testing.assert_allclose(run.v[-1], speed, atol=1e-5)


def test_snapshots_can_be_pickled() -> None:
    model = crank_slider("slide")
    simulator, other = kempe.Simulator(model), kempe.Simulator(model)
    simulator.set_spanning_state(*turning(model))
    simulator.run(0.1, dt=1e-2)
    other.restore(pickle.loads(pickle.dumps(simulator.snapshot())))
    runs = [each.run(0.1, dt=1e-2) for each in (simulator, other)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].work, runs[1].work)


def test_elements_of_joints_with_several_coordinates() -> None:
    mechanism = kempe.Mechanism("piston")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("ground")
    mechanism.add_body("rod", mass=2.0, inertia=(1, 1, 1))
    mechanism.add_joint("s", "cylindrical", parent="ground", child="rod", axis=(1, 0, 0))
    model = kempe.Model(mechanism)
    distance = next(i for i, name in enumerate(model.spanning_position_names) if "dist" in name)
    runs = []
    for name in (model.spanning_position_names[distance], ("s", distance)):
        simulator = kempe.Simulator(model)
        simulator.add_spring(name, 8.0)
        simulator.set_state([0.1, 0.1])
        runs.append(simulator.run(0.5, dt=0.1).q)
    np.testing.assert_array_equal(*runs)
    np.testing.assert_allclose(runs[0][-1, distance], 0.1 * np.cos(2 * 0.5), atol=1e-8)
    with pytest.raises(ValueError, match="has 2 coordinates"):
        kempe.Simulator(model).add_spring("s", 8.0)


def test_springs_without_length_or_with_wrong_motors_are_refused() -> None:
    simulator = kempe.Simulator(block())
    simulator.add_point_spring("ground", (0, 0, 0), "block", (0, 0, 0), 10.0, rest_length=0.5)
    simulator.set_state([0.0])
    with pytest.raises(ValueError, match="its length is zero"):
        simulator.step(0.1)
    with pytest.raises(ValueError, match="the stall torque must be greater than zero"):
        simulator.add_motor("slide", stall_torque=-1.0)


def test_energy_exchanged_between_samples_counts(tmp_path) -> None:
    gain = 1e10
    run = kempe.simulate(
        block(), [0.5], duration=0.1, dt=0.01,
        controller=lambda t, q, v: -gain * q - 2 * np.sqrt(2 * gain) * v)
    assert run.warnings == []
    assert run.energy_drift < 1e-3
    assert run.energy_exchanged > 1e7
    run.save(tmp_path / "run.npz")
    assert kempe.Run.load(tmp_path / "run.npz").energy_drift == run.energy_drift
