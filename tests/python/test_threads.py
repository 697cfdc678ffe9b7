"""Simulators that several threads use, callbacks that call back, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe

STIFF = """<robot name="stiff"><link name="ground"/>
  <link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.001" iyy="0.08" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="ground"/><child link="bar"/>
    <axis xyz="0 1 0"/><dynamics damping="0" spring_stiffness="1e10"/></joint></robot>"""


def swinging() -> kempe.Simulator:
    model = kempe.robots.load("five_bar")
    simulator = kempe.Simulator(model, "rk4")
    simulator.set_controller(lambda t, q, v: -0.01 * v)
    simulator.set_state(model.neutral(), np.full(model.nv, 1.0))
    return simulator


def in_threads(*actions: Callable[[], object]) -> list[BaseException]:
    errors: list[BaseException] = []

    def guarded(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return errors


def test_steps_of_several_threads_follow_each_other() -> None:
    alone, shared = swinging(), swinging()
    for _ in range(400):
        alone.step(1e-3)

    def steps() -> None:
        for _ in range(100):
            shared.step(1e-3)

    assert not in_threads(steps, steps, steps, steps)
    np.testing.assert_array_equal(shared.q, alone.q)
    np.testing.assert_array_equal(shared.v, alone.v)


def test_reading_does_not_change_a_run() -> None:
    expected = swinging().run(0.3)
    simulator, done = swinging(), threading.Event()
    runs: list[kempe.Run] = []

    def run() -> None:
        try:
            runs.append(simulator.run(0.3))
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            assert np.isfinite(sum(simulator.energy))
            assert np.isfinite(simulator.a).all()
            assert np.isfinite(simulator.q).all()
            assert simulator.loop_error < 1e-12

    assert not in_threads(run, read, read)
    np.testing.assert_array_equal(runs[0].q, expected.q)


def test_a_run_cannot_be_changed_by_another_thread() -> None:
    simulator, started, tried = swinging(), threading.Event(), threading.Event()

    def change() -> None:
        started.wait(10)
        try:
            simulator.step(1e-3)
        finally:
            tried.set()

    def wait_for_change(done: float) -> None:  # the run goes on until then
        started.set()
        tried.wait(10)

    errors = in_threads(lambda: simulator.run(0.3, progress=wait_for_change), change)
    assert len(errors) == 1
    assert "another thread runs this simulator" in str(errors[0])
    simulator.step(1e-3)  # the run has ended


def test_functions_may_be_replaced_while_others_step() -> None:
    simulator = swinging()

    def steps() -> None:
        for _ in range(200):
            simulator.step(1e-4)

    def replace() -> None:
        for i in range(200):
            simulator.set_controller(lambda t, q, v, gain=1e-4 * i: -gain * v)
            simulator.set_external_forces(lambda t, q, v: {})

    assert not in_threads(steps, replace, replace)


def test_callbacks_may_only_read_the_state() -> None:
    simulator = swinging()
    allowed: list[float] = []

    def reads(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        allowed.append(simulator.time + simulator.q.sum() + simulator.v.sum())
        return 0 * v

    simulator.set_controller(reads)
    simulator.step(1e-3)
    assert allowed
    for forbidden in (lambda: simulator.step(1e-3), lambda: simulator.energy,
                      lambda: simulator.set_forces(np.zeros(3)), lambda: simulator.a):
        def calls(t: float, q: np.ndarray, v: np.ndarray,
                  call: Callable[[], object] = forbidden) -> np.ndarray:
            call()
            return 0 * v

        simulator.set_controller(calls)
        with pytest.raises(RuntimeError, match="the simulator is computing"):
            simulator.step(1e-3)


def interrupted(arguments: list[str], folder: Path, ready: str = "") -> tuple[float, int, str]:
    """Seconds from a real SIGINT to the end, exit code and output."""
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    time.sleep(3.0)
    assert process.poll() is None
    start = time.perf_counter()
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    return time.perf_counter() - start, process.returncode, output


def test_ctrl_c_ends_one_long_step(tmp_path: Path) -> None:
    (tmp_path / "stiff.urdf").write_text(STIFF, encoding="utf-8")
    seconds, _, output = interrupted([sys.executable, "-c", """
import kempe
simulator = kempe.Simulator(kempe.load("stiff.urdf"), "adaptive")
simulator.set_state([0.1], [0.0])
try:
    simulator.step(1000.0)  # 3e7 oscillations
except KeyboardInterrupt:
    print("interrupted at", simulator.time)
"""], tmp_path)
    assert seconds < 1.0
    assert output == "interrupted at 0.0\n"


def test_ctrl_c_ends_a_run_of_many_samples(tmp_path: Path) -> None:
    # 1e8 samples, or as many as fit into memory.
    seconds, _, output = interrupted([sys.executable, "-c", """
import os, kempe
model = kempe.robots.load("planar_leg")
memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
samples = min(1e8, memory / 8 / 100)
try:
    kempe.simulate(model, duration=samples * 1e-3, dt=1e-3)
except kempe.SimulationInterrupted as error:
    print("interrupted", len(error.run.t) > 1)
"""], tmp_path)
    assert seconds < 1.0
    assert output == "interrupted True\n"


def test_runs_that_do_not_fit_into_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="samples take .* GiB of memory. Use a longer dt"):
        kempe.simulate(kempe.robots.load("planar_leg"), duration=9e8, dt=0.1)


def test_a_run_starts_at_the_time_at_which_it_locks_the_simulator() -> None:
    class StepsBefore(kempe.Simulator):
        def begin_run(self) -> None:  # as another thread could
            self.step_to(0.5)
            super().begin_run()

    simulator = StepsBefore(kempe.robots.load("planar_leg"))
    run = simulator.run(0.1, 0.01)
    np.testing.assert_allclose(run.t, 0.5 + 0.01 * np.arange(11), rtol=1e-15)
    assert simulator.time == 0.6


def test_ctrl_c_keeps_the_run_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "stiff.urdf").write_text(STIFF, encoding="utf-8")
    (tmp_path / "start.txt").write_text("0.1", encoding="utf-8")
    program = str(Path(sys.executable).parent / "kempe")
    seconds, code, output = interrupted(
        [program, "simulate", "stiff.urdf", "--start", "start.txt", "--integrator", "adaptive",
         "--duration", "100", "--dt", "50", "--out", "run.npz"], tmp_path)
    assert seconds < 2.0, output
    assert code == 130, output
    run = kempe.Run.load(tmp_path / "run.npz")
    assert len(run) == 1
    assert kempe_program("info", "stiff.urdf", folder=tmp_path).returncode == 0
