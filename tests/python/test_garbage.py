"""Reference cycles through Python functions are collected."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import kempe


def pendulum() -> kempe.Mechanism:
    mechanism = kempe.Mechanism("pendulum")
    mechanism.add_body("world")
    mechanism.add_body("arm", mass=1, center_of_mass=(0, 0, -1), inertia=(1, 1, 1))
    mechanism.add_body("wheel", mass=1, inertia=(1, 1, 1))
    mechanism.add_revolute("hinge", parent="world", child="arm", axis=(0, 1, 0))
    mechanism.add_revolute("spin", parent="world", child="wheel", axis=(0, 1, 0))
    return mechanism


def is_freed(make: type) -> bool:
    owner = make()
    reference = weakref.ref(owner)
    del owner
    gc.collect()
    return reference() is None


class Controller:
    """Owns the simulator that calls it."""

    def __init__(self) -> None:
        self.simulator = kempe.Simulator(kempe.Model(pendulum()))
        self.simulator.set_controller(self.command)
        self.simulator.set_external_forces(self.forces)
        self.simulator.add_motor("hinge")
        self.simulator.set_motor_controller(lambda t, q, v: [self.torque])
        self.torque = 0.1
        self.simulator.step(1e-3)

    def command(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return -v

    def forces(self, t: float, q: np.ndarray, v: np.ndarray) -> dict[str, list[float]]:
        return {"arm": [self.torque, 0, 0, 0, 0, 0]}


class Describer:
    """Owns a mechanism, its parts and models of it; one of its methods is a loop function."""

    def __init__(self) -> None:
        self.mechanism = pendulum()
        self.arm = self.mechanism.find_body("arm")
        self.hinge = self.mechanism.joints[0]
        self.function = self.mechanism.add_function("gear", ["hinge", "spin"], 1, self.phi)
        self.ratio = 2.0
        self.copies = [copy.copy(self.mechanism), copy.deepcopy(self.function)]
        self.model = kempe.Model(self.mechanism)
        self.other = self.model.with_independent(["spin"])
        self.again = self.model.mechanism
        self.simulator = kempe.Simulator(self.model)
        self.simulator.step(1e-3)
        self.own_model = self.simulator.model

    def phi(self, q: np.ndarray) -> list[object]:
        return [self.ratio * q[0] - q[1]]


class Constrainer:
    """Owns constraints that it computes."""

    def __init__(self) -> None:
        self.model = kempe.Model(pendulum())
        self.constraints = kempe.Constraints(self.model)
        self.constraints.function("gear", ["hinge", "spin"], 1, self.phi)
        self.constraints.prescribe("drive", "spin", self.motion)
        self.constraints.disable("drive")
        self.copy = copy.copy(self.constraints)
        self.simulator = kempe.Simulator(self.model)
        self.simulator.set_constraints(self.constraints)
        self.simulator.step(1e-3)

    def phi(self, q: np.ndarray, t: object) -> list[object]:
        return [q[0] - q[1]]

    def motion(self, t: float) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0


@pytest.mark.parametrize("make", [Controller, Describer, Constrainer])
def test_circles_are_freed(make: type) -> None:
    gc.collect()
    assert is_freed(make)


def test_circles_that_are_in_use_stay() -> None:
    describer = Describer()
    gc.collect()
    assert describer.model.loop_residual(describer.model.neutral()) == pytest.approx(0)
    simulator = Controller().simulator
    gc.collect()
    simulator.step(1e-3)


@pytest.mark.parametrize("kept", ["model", "other", "own_model", "again", "function", "arm",
                                  "simulator", "copies"])
def test_what_is_kept_keeps_its_functions(kept: str) -> None:
    """Any object that can call a function keeps it alive."""
    one = getattr(Describer(), kept)
    gc.collect()
    if kept == "function":
        assert one.name == "gear"
        one = pickle.loads(pickle.dumps(copy.copy(one).rows))
        return
    if kept == "arm":
        assert one.mass == 1
        return
    if kept == "copies":
        mechanism, function = one
        assert function.rows == 1
        one = mechanism
    if isinstance(one, kempe.Mechanism):
        one = kempe.Model(one)
    if isinstance(one, kempe.Simulator):
        one.step(1e-3)
        assert one.loop_error < 1e-12
        return
    q = one.random_configuration(1)
    assert abs(one.loop_residual(q)).max() < 1e-12


def test_constraints_keep_their_functions() -> None:
    for kept in ("constraints", "copy", "simulator"):
        one = getattr(Constrainer(), kept)
        gc.collect()
        if isinstance(one, kempe.Simulator):
            one.step(1e-3)
        else:
            assert one.model.constraint_errors([0.2, 0.3], one)[0] == pytest.approx(-0.1)


def test_replaced_functions_are_let_go_of() -> None:
    class Command:
        def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return 0 * v

    simulator = kempe.Simulator(kempe.Model(pendulum()))
    for replace in (lambda: simulator.set_controller(None),
                    lambda: simulator.set_forces([0.0, 0.0]),
                    lambda: simulator.set_controller(Command())):
        command = Command()
        reference = weakref.ref(command)
        simulator.set_controller(command)
        del command
        simulator.step(1e-3)
        assert reference() is not None
        replace()
        assert reference() is None


def test_a_controller_cannot_replace_itself() -> None:
    simulator = kempe.Simulator(kempe.Model(pendulum()))

    def first(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        simulator.set_controller(lambda t, q, v: -v)
        return np.ones(2)

    simulator.set_controller(first)
    with pytest.raises(RuntimeError, match="the simulator is computing"):
        simulator.step(1e-3)
    assert simulator.time == 0.0


def test_parts_outlive_nothing() -> None:
    """A part keeps its mechanism alive."""
    mechanism = pendulum()
    reference = weakref.ref(mechanism)
    body = mechanism.find_body("arm")
    assert body is not None
    del mechanism
    gc.collect()
    assert reference() is not None and body.mass == 1
    del body
    assert reference() is None


def test_functions_of_a_pickled_state_live() -> None:
    state = kempe.Model(gear()).__getstate__()
    gc.collect()
    assert kempe.Model(state[0]).nv == 1


def gear() -> kempe.Mechanism:
    mechanism = pendulum()
    mechanism.add_function("gear", ["hinge", "spin"], 1, lambda q: [q[0] - q[1]])
    return mechanism
