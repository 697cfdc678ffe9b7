"""`kempe simulate`: runs, controllers, files, and early stops."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from program import PROGRAM, ROOT, kempe_program
from test_simulation import flying_brick, geared_leg, velocity

import kempe
from kempe.cli.controllers import Hold

LEG = ROOT / "examples" / "geared_four_bar_leg.urdf"


def simulated(folder: Path, *arguments: str | Path, code: int = 0) -> dict:
    result = kempe_program("simulate", *arguments, "--json", folder=folder)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return json.loads(result.stdout)


def test_is_the_same_as_in_python(tmp_path: Path) -> None:
    report = simulated(tmp_path, LEG, "--start", "random:3", "--duration", "0.05", "--dt", "5e-4",
                       "--out", "run.recording")
    model = geared_leg()
    run = kempe.simulate(model, model.random_configuration(3), duration=0.05, dt=5e-4)
    np.testing.assert_array_equal(kempe.Run.load(tmp_path / "run.recording").q, run.q)
    assert report["steps"] == 100
    assert report["energy_drift"] == run.energy_drift
    assert report["loop_error"] == run.loop_error.max()
    assert report["files"] == ["run.recording"]
    assert report["stopped"] is None


def test_summary_for_people() -> None:
    result = kempe_program("simulate", LEG, "--duration", "0.01")
    assert result.stdout.startswith(
        "geared_four_bar_leg: 0.01 s in 10 intervals of 0.001 s, auto (adaptive)")
    for word in ("energy error", "loop error", "losses", "µs per interval"):
        assert word in result.stdout


def test_a_run_goes_on(tmp_path: Path) -> None:
    options = [LEG, "--start", "random:1"]
    simulated(tmp_path, *options, "--duration", "0.1", "--out", "whole.npz")
    simulated(tmp_path, *options, "--duration", "0.06", "--out", "first.npz")
    simulated(tmp_path, LEG, "--start", "first.npz", "--duration", "0.04", "--out", "second.npz")
    whole, second = (kempe.Run.load(tmp_path / f"{name}.npz") for name in ("whole", "second"))
    np.testing.assert_allclose(second.q[-1], whole.q[-1], atol=1e-12)
    np.testing.assert_allclose(second.v[-1], whole.v[-1], atol=1e-10)
    np.testing.assert_allclose(second.t, whole.t[60:], atol=1e-12)  # the time goes on too


def test_starts_from_files_and_closes_loops(tmp_path: Path) -> None:
    model = geared_leg()
    q = model.random_configuration(1)
    np.savetxt(tmp_path / "q.txt", q + 1e-3)
    np.save(tmp_path / "q.npy", q + 1e-3)
    for name in ("q.txt", "q.npy"):
        simulated(tmp_path, LEG, "--start", name, "--duration", "0.01", "--out", "run.npz")
        run = kempe.Run.load(tmp_path / "run.npz")
        np.testing.assert_allclose(run.q[0], model.project(q + 1e-3), atol=1e-12)


def test_speed_is_drawn_with_the_seed(tmp_path: Path) -> None:
    def first(start: str) -> np.ndarray:
        simulated(tmp_path, "six_bar", "--start", start, "--speed", "2", "--duration", "0.01",
                  "--out", "run.npz")
        return kempe.Run.load(tmp_path / "run.npz").v[0]
    assert 0 < np.abs(first("random:1")).max() <= 2
    np.testing.assert_array_equal(first("random:1"), first("random:1"))
    assert np.any(first("random:1") != first("random:2"))


def test_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    simulated(tmp_path, "tello", "--duration", "0.02", "--plot", "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    simulated(tmp_path, LEG, "--duration", "0.02", "--plot", "run.svg")
    drawn = (tmp_path / "run.svg").read_text()
    assert drawn.count("<path") > 20


@pytest.mark.parametrize("option, package, extra", [
    ("--plot", "matplotlib", "plot"), ("--html", "viser", "view")])
def test_missing_packages_are_named_before_the_run(
        tmp_path: Path, option: str, package: str, extra: str) -> None:
    file = tmp_path / {"--plot": "run.svg", "--html": "run.html"}[option]
    result = kempe_program("simulate", LEG, option, file, folder=tmp_path, without=package)
    assert result.returncode == 2
    assert f'pip install "kempe[{extra}]"' in result.stderr
    assert package in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert not file.exists()


def test_writes_a_page(tmp_path: Path) -> None:
    report = simulated(tmp_path, LEG, "--duration", "0.1", "--html", "run.html")
    assert report["files"] == ["run.html"]
    assert (tmp_path / "run.html").read_text().lstrip().lower().startswith("<!doctype html>")


# --- controllers ---------------------------------------------------------------------------------

@pytest.mark.parametrize("name", kempe.robots.names())
def test_hold_brings_every_robot_back(name: str) -> None:
    model = kempe.robots.load(name)
    q = model.random_configuration(1)
    types = {joint.name: joint.type for joint in model.mechanism.joints}
    motors = [i for i, one in enumerate(model.v_names)
              if types.get(one.rpartition(".")[0]) != "free"]
    v = velocity(model, 0.2)
    hold = Hold(model, q)
    run = kempe.simulate(model, q, v, duration=1.2, dt=1e-2, controller=hold)
    away = model.difference(q, run.q[-1])[motors]
    assert np.abs(run.v[:, motors]).max() > 0.05
    assert np.abs(away).max() < 2e-4
    assert np.abs(run.v[-1, motors]).max() < 2e-3
    others = [i for i in range(model.nv) if i not in motors]
    np.testing.assert_array_equal(run.tau[:, others], 0)


def test_hold_lets_a_base_fall() -> None:
    model = flying_brick()
    run = kempe.simulate(model, duration=0.1, dt=1e-2, controller=Hold(model, model.neutral()))
    assert run.v[-1, 2] == pytest.approx(-0.981)


def test_controller_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "gains.py").write_text("GAIN = 0.05\n")
    (tmp_path / "push.py").write_text("""
import numpy as np
from gains import GAIN  # files in the same folder can be imported

def setup(model):
    global size
    size = model.nv

def control(t, q, v):
    return np.full(size, GAIN * t)
""")
    simulated(tmp_path, LEG, "--controller", "push.py", "--duration", "0.1", "--out", "run.npz")
    run = kempe.Run.load(tmp_path / "run.npz")
    np.testing.assert_allclose(run.tau, np.outer(0.05 * run.t, [1, 1]))


@pytest.mark.parametrize("code, text", [
    ("", "no function control"),
    ("control = 3", "no function control"),
    ("def control(t, q, v):\n  return [", "push.py:2: SyntaxError"),
    ("import sys\nsys.exit(3)", "push.py:2: SystemExit: 3"),
    ("def setup(model):\n  exit()\ndef control(t, q, v): pass", "push.py:2: SystemExit"),
    ("def control(t, q, v):\n  raise SystemExit(3)", "sys.exit(3) was called (push.py:2)"),
    ("import nothing_of_the_kind", "push.py:1: ModuleNotFoundError"),
    ("def setup(model):\n  model.fly()\ndef control(t, q, v): pass", "push.py:2: AttributeError"),
    ("def control(t, q, v): pass", "control returned nothing; it must return nv = 2"),
    ("def control(t, q, v): return [1, 2, 3]", r"shape (3,)"),
    ("def control(t, q, v): return v / 0 * float('nan')", "finite"),
    ("def control(t, q, v):\n  return 1 / 0", "ZeroDivisionError: division by zero (push.py:2)"),
])
def test_controllers_that_are_wrong(tmp_path: Path, code: str, text: str) -> None:
    (tmp_path / "push.py").write_text(code)
    result = kempe_program("simulate", LEG, "--controller", "push.py", folder=tmp_path)
    assert result.returncode == 2
    assert text in result.stderr
    assert "Traceback" not in result.stderr


def test_what_a_controller_prints_does_not_spoil_json(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text("""
import os
import sys
print("imported")
stdout = sys.stdout

def setup(model):
    print("set up")
    os.system("echo from a shell")

def control(t, q, v):
    print("controls", file=stdout)
    print("past it", file=sys.__stdout__)
    return [0.0, 0.0]
""")
    options = ["simulate", LEG, "--controller", "chatty.py", "--duration", "0.01"]
    result = kempe_program(*options, "--json", folder=tmp_path)
    assert json.loads(result.stdout)["steps"] == 10
    for text in ("imported", "set up", "from a shell", "controls", "past it"):
        assert text in result.stderr
    assert "set up" in kempe_program(*options, folder=tmp_path).stdout


def test_controllers_may_use_dataclasses(tmp_path: Path) -> None:
    (tmp_path / "gains.py").write_text("""
from __future__ import annotations
import dataclasses
from typing import ClassVar

@dataclasses.dataclass
class Gains:
    unit: ClassVar[str] = "N m"
    p: float = 0.1

gains = Gains()

def control(t, q, v):
    return [gains.p, 0.0]
""")
    report = simulated(tmp_path, LEG, "--controller", "gains.py", "--duration", "0.01")
    assert report["work"] != 0


@pytest.mark.parametrize("leaving", ["sys.exit(0)", "raise SystemExit", "exit('enough')"])
def test_controllers_that_exit_do_not_lose_the_run(tmp_path: Path, leaving: str) -> None:
    (tmp_path / "push.py").write_text(f"""
import sys

def control(t, q, v):
    if t > 0.0055:
        {leaving}
    return [0.0, 0.0]
""")
    report = simulated(tmp_path, LEG, "--controller", "push.py", "--out", "run.npz", code=1)
    assert "sys.exit(" in report["stopped"]
    assert "(push.py:6)" in report["stopped"]
    assert len(kempe.Run.load(tmp_path / "run.npz")) == 6


# --- what is wrong on the command line, and files ------------------------------------------------

@pytest.mark.parametrize("arguments, text", [
    (["--dt", "0"], "dt: a positive"), (["--dt", "-1"], "dt: a positive"),
    (["--dt", "nan"], "dt: a positive"), (["--duration", "0"], "duration: a positive"),
    (["--duration", "soon"], "--duration"), (["--integrator", "euler"], "rk4"),
    (["--duration", "1e18"], "1e+21 steps are too many"),
    (["--controller", "nobody"], "neither hold nor none nor a Python file"),
    (["--start", "nowhere"], "neither neutral nor random nor JOINT=X nor a file"),
    (["--start", "random:one"], "not a whole number"),
    (["--start", f"random:{2**32}"], "from 0 to 4294967295"),
    (["--start", f"random:{'9' * 5000}"], "from 0 to 4294967295"),
    (["--start", "empty.npy"], "--start empty.npy: the file is empty"),
    (["--start", "empty.txt"], "kempe: --start empty.txt: holds numbers of shape (0,)"),
    (["--speed", "1e200"], "v: the initial velocities must be below 1e100"),
    (["--speed", "1.7e308"], "v: the initial velocities must be below 1e100"),
    (["--start", "short.txt"], "nq = 5 are needed"),
    (["--start", "words.txt"], "words.txt"),
    (["--start", "short.npz"], "not a run"),
    (["--speed", "-1"], "--speed"),
    (["--out", "no/folder/run.npz"], "no folder"), (["--out", "."], "that is a folder"),
    (["--plot", "run.gif"], "--plot run.gif: the name must end in .pdf or .png or .svg"),
    (["--out", "run.csv"], "--out run.csv: the name must end in .recording or .npz"),
    (["--html", "run.xml"], "--html run.xml: the name must end in .html or .htm"),
    (["--out", "/proc/run.npz"], "--out /proc/run.npz: cannot be written"),
    (["--plot", "/proc/run.png"], "--plot /proc/run.png: cannot be written"),
    (["--html", "/proc/run.html"], "--html /proc/run.html: cannot be written"),
])
def test_wrong_options(tmp_path: Path, arguments: list[str], text: str) -> None:
    (tmp_path / "short.txt").write_text("1 2 3\n")
    (tmp_path / "words.txt").write_text("up and down\n")
    (tmp_path / "empty.npy").touch()
    (tmp_path / "empty.txt").touch()
    np.savez(tmp_path / "short.npz", q=np.zeros(5))
    result = kempe_program("simulate", LEG, *arguments, folder=tmp_path)
    assert result.returncode == 2
    assert text in result.stderr
    assert "Warning" not in result.stderr
    assert "Traceback" not in result.stderr


def test_existing_files_that_cannot_be_written_are_told_before(tmp_path: Path) -> None:
    program = tmp_path / "run.npz"
    shutil.copy("/bin/sleep", program)  # not even root can write to a running program
    with subprocess.Popen([str(program), "60"]) as process:
        result = kempe_program("simulate", LEG, "--duration", "1e6", "--out", "run.npz",
                               folder=tmp_path)
        process.kill()
    assert result.returncode == 2
    assert result.stderr == "kempe: --out run.npz: cannot be written: Text file busy\n"


def test_looking_whether_files_can_be_written_leaves_them_alone(tmp_path: Path) -> None:
    (tmp_path / "old.npz").write_text("old")
    options = ["simulate", LEG, "--duration", "0"]
    for name in ("old.npz", "new.npz"):
        assert kempe_program(*options, "--out", name, folder=tmp_path).returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["old.npz"]
    assert (tmp_path / "old.npz").read_text() == "old"


def test_a_file_that_fails_does_not_lose_the_rest(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "run.recording").symlink_to("/dev/full")
    options = ["simulate", LEG, "--duration", "0.01", "--out", "run.recording", "--plot", "run.png"]
    result = kempe_program(*options, folder=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "kempe: --out run.recording: not written: No space left on device\n"
    assert "wrote        run.png" in result.stdout
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    report = simulated(tmp_path, *options[1:], code=1)
    assert report["files"] == ["run.png"]
    assert report["not_written"] == ["--out run.recording: not written: No space left on device"]


def test_a_step_is_not_longer_than_the_motion(tmp_path: Path) -> None:
    options = ["simulate", LEG, "--duration", "0.01", "--dt", "10"]
    result = kempe_program(*options)
    assert result.stdout.startswith(
        "geared_four_bar_leg: 0.01 s in 1 interval of 0.01 s, auto (adaptive)")
    assert simulated(tmp_path, *options[1:])["dt"] == 0.01


# --- ends before the end -------------------------------------------------------------------------

def test_what_cannot_go_on_is_kept(tmp_path: Path) -> None:
    (tmp_path / "push.py").write_text("def control(t, q, v): return 1e3 ** (50 * t) + 0 * v\n")
    options = [LEG, "--controller", "push.py", "--duration", "20", "--integrator", "rk4"]
    report = simulated(tmp_path, *options, "--out", "run.npz", code=1)
    assert "the motion stopped at t = " in report["stopped"]
    run = kempe.Run.load(tmp_path / "run.npz")
    assert run.t[-1] == report["reached"]
    assert 0 < report["reached"] < 20
    result = kempe_program("simulate", *options, folder=tmp_path)
    assert result.returncode == 1
    assert "the motion stopped at t = " in result.stderr
    assert result.stdout.startswith("geared_four_bar_leg: ")


def test_dead_points_are_passed(tmp_path: Path) -> None:
    report = simulated(tmp_path, "five_bar", "--duration", "1", "--integrator", "adaptive")
    assert report["reached"] == 1
    assert report["stopped"] is None
    assert report["energy_drift"] < 1e-5


def test_interrupted_runs_are_kept(tmp_path: Path) -> None:
    (tmp_path / "push.py").write_text("""
from pathlib import Path

def control(t, q, v):
    if t > 0.01:
        Path("started").touch()
    return [0.0, 0.0]
""")
    process = subprocess.Popen(
        [str(PROGRAM), "simulate", str(LEG), "--duration", "1000", "--controller", "push.py",
         "--out", "run.npz"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 30
    while not (tmp_path / "started").exists():
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, complained = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complained
    assert "interrupted at t = " in complained
    assert "wrote" in printed
    run = kempe.Run.load(tmp_path / "run.npz")
    assert 0 < run.t[-1] < 1000


def test_limits_that_do_not_exist_are_told(tmp_path: Path) -> None:
    result = kempe_program("simulate", "five_bar", "--duration", "0.01", "--limits",
                           folder=tmp_path)
    assert result.returncode == 0
    assert "--limits: no joint of the robot has limits" in result.stderr


def test_tolerances_and_steps_can_be_chosen(tmp_path: Path) -> None:
    options = (LEG, "--start", "random:1", "--duration", "0.5", "--dt", "0.1")
    drifts = [simulated(tmp_path, *options, *more)["energy_drift"]
              for more in ((), ("--tolerance", "1e-4"), ("--tolerance", "1e-12",
                                                         "--absolute-tolerance", "1e-13"))]
    assert drifts[1] > drifts[0] > drifts[2]
    assert simulated(tmp_path, *options, "--tolerance", "1e-4", "--max-step",
                     "1e-3")["energy_drift"] < drifts[1]
    for option in ("--tolerance", "--absolute-tolerance", "--max-step"):
        result = kempe_program("simulate", LEG, option, "-1", folder=tmp_path)
        assert result.returncode == 2
        assert option in result.stderr
