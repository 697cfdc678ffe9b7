"""Files of runs: one format in Python and C++, and archives of numpy.

four_bar.recording was written by Recording::save of the C++ library, from the motion of
`simulated()` below.
"""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import pytest

import kempe

FILE = pathlib.Path(__file__).with_name("four_bar.recording")
NUMBERS = ("t", "q", "v", "a", "tau", "kinetic", "potential", "work", "losses",
           "spanning_velocities", "spanning_forces", "body_forces")


def simulated() -> kempe.Run:
    model = kempe.robots.load("four_bar")
    return kempe.simulate(
        model, v=[1.0], duration=0.1, dt=0.025, integrator="adaptive",
        controller=lambda t, q, v: [0.1 * t], external={"joint3": [0.0, 0.2, 0.0, 0.0, 0.0, 0.0]})


def test_a_recording_of_the_library_is_loaded_as_the_run_that_python_records() -> None:
    loaded, run = kempe.Run.load(FILE), simulated()
    for name in NUMBERS:
        np.testing.assert_allclose(getattr(loaded, name), getattr(run, name), rtol=1e-9, atol=1e-9,
                                   err_msg=name)
    assert loaded.loop_error.max() < 1e-12
    for name in ("robot", "dt", "integrator", "q_names", "v_names", "integrators_used", "warnings"):
        assert getattr(loaded, name) == getattr(run, name)
    assert loaded.energy_exchanged == pytest.approx(run.energy_exchanged, rel=1e-9)


def test_forces_of_a_recording_need_its_robot() -> None:
    model = kempe.robots.load("four_bar")
    run = simulated()
    loaded = kempe.Run.load(FILE, model)
    for joint, forces in run.joint_forces.items():
        np.testing.assert_allclose(loaded.joint_forces[joint], forces, rtol=1e-7, atol=1e-7)
    with pytest.raises(ValueError, match="its coordinates are not those of"):
        kempe.Run.load(FILE, kempe.robots.load("six_bar"))


def test_a_recording_becomes_an_archive_of_numpy_and_a_recording_again(
        tmp_path: pathlib.Path) -> None:
    loaded = kempe.Run.load(FILE)
    loaded.save(tmp_path / "run.npz")
    np.testing.assert_array_equal(np.load(tmp_path / "run.npz")["q"], loaded.q)
    again = kempe.Run.load(tmp_path / "run.npz")
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(again, name), getattr(loaded, name))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_text() == FILE.read_text()


def test_a_run_is_saved_as_the_recording_that_the_library_writes(tmp_path: pathlib.Path) -> None:
    loaded = kempe.Run.load(FILE)
    for name in ("again.recording", "run.dat", "run"):
        loaded.save(tmp_path / name)
        assert (tmp_path / name).read_text() == FILE.read_text()
    with pytest.raises(FileNotFoundError, match="no/folder"):
        loaded.save(tmp_path / "no" / "folder.recording")


def test_texts_of_several_lines_are_kept(tmp_path: pathlib.Path) -> None:
    run = dataclasses.replace(kempe.Run.load(FILE), warnings=["one\ntwo", "\\n", "C:\\new"])
    run.save(tmp_path / "run")
    assert kempe.Run.load(tmp_path / "run").warnings == run.warnings


@pytest.mark.parametrize("ending", ["npz", "recording"])
def test_a_saved_run_continues_exactly(tmp_path: pathlib.Path, ending: str) -> None:
    model = kempe.robots.load("five_bar")  # changes its coordinates on the way

    def simulator() -> kempe.Simulator:
        made = kempe.Simulator(model, "auto")
        made.set_forces(0.1 * np.ones(model.nv))
        return made

    whole = simulator()
    whole.set_state(model.random_configuration(0), 4.0 * np.ones(model.nv))
    first = whole.run(0.5, 0.05)
    first.save(tmp_path / f"run.{ending}")
    rest = whole.run(0.2, 0.05)
    loaded = kempe.Run.load(tmp_path / f"run.{ending}")
    assert loaded.choices == first.choices
    assert len(first.choices) > 1
    continued = simulator()
    continued.restore(loaded.snapshot())
    again = continued.run(0.2, 0.05)
    np.testing.assert_array_equal(again.q, rest.q)
    np.testing.assert_array_equal(again.v, rest.v)
    np.testing.assert_array_equal(again.work, rest.work)
    with pytest.raises(ValueError, match="sample: 99 is not one of the 11"):
        loaded.snapshot(99)


def test_format_1_has_neither_accelerations_nor_forces(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "old.recording"
    header, samples = FILE.read_text().split("samples 5\n")
    short = [" ".join(line.split()[:21]) for line in samples.splitlines()]  # up to previousError
    path.write_text(header.replace("recording 2", "recording 1") + "samples 5\n"
                    + "\n".join(short) + "\n")
    old = kempe.Run.load(path)
    assert np.isnan(old.a).all()
    assert old.spanning_forces is None
    with pytest.raises(ValueError, match="has no spanning_forces: it was saved by a version"):
        old.save(tmp_path / "new.recording")
    np.testing.assert_array_equal(old.q, kempe.Run.load(FILE).q)


@pytest.mark.parametrize("content", [b"", b"garbage", b"kempe"])
@pytest.mark.parametrize("name", ["run.recording", "run.npz"])
def test_other_files_are_no_runs(tmp_path: pathlib.Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="neither a .recording, which begins with "
                                         '"kempe recording ", nor an .npz of numpy'):
        kempe.Run.load(tmp_path / name)


@pytest.mark.parametrize(("change", "text"), [
    (lambda whole: whole.replace("samples 5", "samples 99999999999"),
     r"at most 1e\+10 samples are possible, got 1e\+11"),
    (lambda whole: whole[:-200], r"bad\.recording:\d+: "),
    (lambda whole: whole.replace("recording 2", "recording 9"), "bad.recording:1: not a recording"),
    (lambda whole: whole.replace("\n0.025 ", "\n0 "), "times must increase"),
    (lambda whole: whole.replace("dt 0.025", "dt -1"), '"dt": expected a positive'),
    (lambda whole: whole.replace("0.40682304454360496", "nan"), '"q": expected finite numbers'),
])
def test_a_damaged_recording_is_refused(tmp_path: pathlib.Path, change: object, text: str) -> None:
    path = tmp_path / "bad.recording"
    path.write_text(change(FILE.read_text()))  # type: ignore[operator]
    with pytest.raises(ValueError, match=text):
        kempe.Run.load(path)


def test_the_fields_of_a_sample_are_those_of_a_run() -> None:
    simulator = kempe.Simulator(kempe.robots.load("four_bar"))
    simulator.set_state(simulator.model.neutral(), [1.0])
    fields = simulator.sample_fields
    assert len(simulator.sample()) == sum(size for _, size in fields)
    assert {name for name, _ in fields} <= set(kempe.Run.__dataclass_fields__)
