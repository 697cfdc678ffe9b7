"""`kempe paper`: its computations, and the page that it writes."""

import ctypes.util
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import PROGRAM, ROOT, kempe_program

import kempe
from kempe.timing import Spread, Timed, calls_of, measure
from kempe_studies.paper import jump, published, robots, speed, torque

LIBC = ctypes.util.find_library("c")  # a library, but not the right one

# --- what the paper says -------------------------------------------------------------------------

@pytest.mark.parametrize("comparison", published.COMPARISONS, ids=lambda c: c.table)
def test_published_times_give_the_published_percentages(comparison: published.Comparison) -> None:
    exact = np.array(comparison.microseconds["cluster"])
    for method, percents in comparison.percent.items():
        times = np.array(comparison.microseconds[method])
        np.testing.assert_allclose(100 * (times / exact - 1), percents, atol=0.07)


def test_published_chains_agree_with_the_robots_of_twelve_links() -> None:
    """Two runs of the authors' program: similar, not equal."""
    twelve = published.LINKS.index(12)
    for scaling in published.SCALINGS:
        comparison = next(c for c in published.COMPARISONS if c.algorithm == scaling.algorithm)
        place = list(published.ROBOTS).index(scaling.robot)
        for method, times in scaling.microseconds.items():
            assert times[twelve] == pytest.approx(comparison.microseconds[method][place], rel=0.05)


# --- robots --------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", published.ROBOTS)
def test_approximate_tree_computes_the_approximation(name: str) -> None:
    model = robots.in_link_coordinates(robots.load(name))
    tree = robots.approximate_tree(model)
    assert tree.v_names == model.v_names
    assert tree.nv == tree.nv_spanning  # no rotors
    q = model.random_configuration(1)
    places = [model.spanning_position_names.index(name) for name in tree.q_names]
    v, x = np.random.default_rng(0).uniform(-1, 1, (2, model.nv))
    of_tree = model.spanning_positions(q)[places], v, x
    for algorithm in ("inverse_dynamics", "forward_dynamics"):
        expected = getattr(model, algorithm)(q, v, x, method="approximate")
        np.testing.assert_allclose(getattr(tree, algorithm)(*of_tree), expected,
                                   atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", published.ROBOTS)
def test_approximation_can_keep_the_mass(name: str) -> None:
    model = robots.in_link_coordinates(robots.load(name))
    tree = robots.approximate_tree(model, keep_mass=True)
    assert tree.v_names == model.v_names
    assert tree.total_mass == pytest.approx(model.total_mass, rel=1e-12)
    # At rest and in the neutral position it is exact, but for masses that turn aside.
    places = [model.spanning_position_names.index(name) for name in tree.q_names]
    q = model.neutral()
    np.testing.assert_allclose(tree.gravity_forces(model.spanning_positions(q)[places]),
                               model.gravity_forces(q), atol=1e-9)


@pytest.mark.parametrize("name", published.ROBOTS)
def test_foot_is_the_end_of_a_branch(name: str) -> None:
    model = robots.in_link_coordinates(robots.load(name))
    foot = robots.foot_of(model)
    carrying = {joint.parent for joint in model.mechanism.joints
                if "rotor" not in joint.child and joint.type != "fixed"}
    assert foot not in carrying
    above = model.mechanism.joint_above(foot)
    assert above is not None and above.name in model.v_names


# --- times ---------------------------------------------------------------------------------------

def test_cases_take_turns() -> None:
    order: list[str] = []

    def case(name: str, seconds: float, unit: int = 1) -> Timed:
        def run(calls: int) -> float:
            order.append(f"{name} {calls}")
            return seconds
        return Timed(run, unit)
    cases = [case("short", 3e-6, unit=3), case("long", 1.0), case("alone", 1.0)]
    fractions: list[float] = []
    measure([cases[:2], cases[2:]], 1e-9, fractions.append, repetitions=50)
    assert [one.calls for one in cases] == [384, 1, 1]
    assert [len(one.times) for one in cases] == [50, 50, 50]
    # How many are needed?
    trials = [*(f"short {calls}" for calls in (3, 3, 24, 192, 384)), *["long 1"] * 2,
              *["alone 1"] * 2]
    assert order[:9] == trials
    measured, warming = order[10::2], order[9::2]
    assert set(warming) == {"short 128", "long 1", "alone 1"}
    short, long, alone = "short 384", "long 1", "alone 1"
    rounds = [tuple(measured[i:i + 3]) for i in range(0, len(measured), 3)]
    assert set(rounds) == {(short, long, alone), (long, short, alone),
                           (alone, short, long), (alone, long, short)}
    assert fractions[-1] == 1.0


def test_a_difference_does_not_tell_how_many_calls_are_needed() -> None:
    case = Timed(lambda calls: -1e-9, block=lambda calls: 1e-4)
    case.choose_calls()
    assert 10 <= case.calls <= 20
    case.repeat()
    assert case.times == [-1e-9]


def test_times_of_python_calls() -> None:
    calls: list[int] = []
    assert calls_of(lambda: calls.append(1))(7) > 0
    assert len(calls) == 7
    assert Spread.of([4, 1, 3, 2, 5]) == (3, 2, 4)


def test_seconds_per_call_times_what_it_says(four_bar: kempe.Model) -> None:
    q = four_bar.random_configuration(0, size=3)
    for algorithm in ("forward_dynamics", "inverse_dynamics", "mass_matrix",
                      "inverse_operational_inertia"):
        assert four_bar.seconds_per_call(algorithm, q, calls=2000) > 1e-8
    long, short = (kempe.robots.load("geared_chain", n=n) for n in (60, 3))
    times = [min(model.seconds_per_call("forward_dynamics", model.neutral(), calls=200)
                 for _ in range(20)) for model in (long, short)]
    assert times[0] > 4 * times[1]


@pytest.mark.parametrize("change, text", [
    ({"algorithm": "inverse"}, "algorithm: there is no \"inverse\""),
    ({"method": "magic"}, "method: there is no"),
    ({"algorithm": "mass_matrix", "method": "lagrange"}, "mass_matrix is computed by"),
    ({"calls": 0}, "calls"),
    ({"q": np.zeros((0, 3))}, "q"),
    ({"v": np.zeros(9)}, "v"),
    ({"q": [np.nan] * 3}, "q"),
    ({"algorithm": "inverse_operational_inertia", "frames": ["nobody"]}, "nobody"),
    ({"frames": ["nobody"]}, 'frames: "forward_dynamics" takes none'),
    ({"algorithm": "mass_matrix", "v": [0.0]}, 'v: "mass_matrix" takes none'),
    ({"algorithm": "inverse_operational_inertia", "x": [0.0]}, "x: ")])
def test_seconds_per_call_refuses(four_bar: kempe.Model, change: dict[str, Any],
                                  text: str) -> None:
    arguments: dict[str, Any] = {"algorithm": "forward_dynamics", "q": four_bar.neutral(), **change}
    with pytest.raises(ValueError, match=re.escape(text)):
        four_bar.seconds_per_call(**arguments)


def test_exponent_of_a_power() -> None:
    links = [2, 5, 9, 20]
    assert speed.exponent(links, 3e-7 * np.array(links)**2.5) == pytest.approx(2.5)


# --- torques -------------------------------------------------------------------------------------

def test_torque_errors_of_the_paper_are_found_at_the_knee() -> None:
    torques = torque.torques()
    for method, error in published.TORQUE_ERRORS.items():
        found = torques.error(method)[torque.KNEE]
        assert round(found, 2) == error.rms
        assert round(found / published.LARGEST_TORQUE, 3) == pytest.approx(error.share, abs=6e-4)
    assert torques.largest[torque.KNEE] == pytest.approx(published.LARGEST_TORQUE, rel=0.03)


def test_belt_explains_the_error_where_only_knee_and_ankle_move() -> None:
    """The ankle's rotor turns by 12 times the sum of both: its J N² couples them, and there are
    seven and a half turns of the sinusoid, so that the mean of its square is a half."""
    inertia = 0.00016841 * 12**2
    acceleration = torque.AMPLITUDE * (2 * np.pi * torque.FREQUENCY)**2
    found = torque.torques(moving=(torque.KNEE, torque.ANKLE)).error("approximate")
    expected = inertia * acceleration / np.sqrt(2)
    np.testing.assert_allclose(found[[torque.KNEE, torque.ANKLE]], expected, rtol=1e-3)


def test_torque_errors_of_robots() -> None:
    errors = torque.robot_errors(50)
    for methods in errors.values():
        assert methods["approximate"].all_joints <= methods["unconstrained"].all_joints
        assert methods["mass_kept"].all_joints <= methods["approximate"].all_joints * 1.001
    assert errors["geared_chain"]["mass_kept"].worst_joint < 1e-3
    assert "ankle" in errors["mit_humanoid"]["mass_kept"].worst_name


# --- the jump ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hopper() -> kempe.Model:
    return jump.hopper()


def test_plan_is_one_motion(hopper: kempe.Model) -> None:
    """Velocities and accelerations are derivatives, and the foot stands still on the ground."""
    step = 1e-5
    t = np.arange(0, jump.CROUCHING + jump.PUSHING + jump.FLYING, step)
    joints = jump.planned_joints(t)
    for order in (0, 1):
        found = np.gradient(joints[order], step, axis=0)[1:-1]
        np.testing.assert_allclose(found, joints[order + 1][1:-1],
                                   atol=3e-3 * np.abs(joints[order + 1]).max())
    plan = jump.Plan(hopper)
    places = np.array([hopper.frame_placement(plan.state(i)[0], jump.FOOT)[1]
                       for i in np.flatnonzero(plan.on_ground)])
    assert np.ptp(places, axis=0).max() < 1e-12


def test_torques_ahead_move_the_robot_as_planned(hopper: kempe.Model) -> None:
    plan = jump.Plan(hopper)
    torques = plan.torques("cluster")
    ground = kempe.Constraints(hopper)
    _, foot = hopper.frame_placement(plan.state(0)[0], jump.FOOT)
    ground.connect("ground", "fixed", successor=jump.FOOT, predecessor_xyz=foot)
    for index in range(5, len(plan.t), 40):
        q, v = plan.state(index)
        tau = np.concatenate([[0.0], torques[index]])
        if plan.on_ground[index]:
            a = hopper.constrained_forward_dynamics(q, v, tau, ground).a
        else:
            a = hopper.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(a[1:], plan.joints.acceleration[index],
                                   atol=1e-6 * np.abs(plan.joints.acceleration).max())


def test_exact_torques_leave_the_error_of_holding_them(hopper: kempe.Model) -> None:
    """It is smaller if they are held for a shorter time; that of the approximation is not."""
    def largest(method: str, step: float) -> float:
        found = jump.jump(hopper, jump.Plan(hopper, step), method, "medium")
        return float(found.foot_error.max())
    assert largest("cluster", 2.5e-4) < 0.4 * largest("cluster", 1e-3) < 1e-3
    assert largest("approximate", 2.5e-4) > 0.8 * largest("approximate", 1e-3) > 5e-3


def test_better_torques_ahead_track_better() -> None:
    by_gains: dict[str, dict[str, jump.Jump]] = {}
    for one in jump.jumps():
        by_gains.setdefault(one.gains, {})[one.method] = one
    assert list(by_gains) == list(jump.GAINS)
    for methods in by_gains.values():
        errors, feedback = ([methods[method].report()[key] for method in torque.METHODS]
                            for key in ("foot_error_rms", "feedback_rms"))
        assert errors == sorted(errors) and errors[1] > 4 * errors[0]
        assert feedback == sorted(feedback) and feedback[1] > 4 * feedback[0]
        for one in methods.values():
            assert one.take_off is not None
            assert jump.CROUCHING + jump.PUSHING / 2 < one.take_off < one.t[-1] - 0.2


def test_jump_ends_at_touch_down(hopper: kempe.Model) -> None:
    for one in jump.jumps(("soft",)):
        q = np.column_stack([one.height, one.joints])
        heights = hopper.frame_placement(q, jump.FOOT)[1][:, 2]
        above = heights - heights[0]
        assert above.max() > 0.05
        assert above.min() > -2e-3 and 0 <= above[-1] < 5e-3


def test_motor_torques_do_the_work_of_the_joints(hopper: kempe.Model) -> None:
    torques = np.array([[1.0, 2.0, 3.0, 4.0, 5.0]])
    at_rotors = jump.motor_torques(hopper, torques)[0]
    # The knee's rotor turns by 12 times the knee, the ankle's by 12 times knee and ankle.
    assert at_rotors[4] == pytest.approx(5 / 12)
    assert at_rotors[3] == pytest.approx(4 / 12 - 5 / 12)
    np.testing.assert_allclose(at_rotors[:3], torques[0, :3] / 6)


# --- the page ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    help_text = kempe_program("paper", "--help").stdout
    first = help_text.partition("examples:")[2].split("\n")[1].split()
    assert first == ["kempe", "paper", "--quick"]
    result = kempe_program(*first[1:], folder=folder, without="pinocchio")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "The page: paper/index.html\n"
    return folder / "paper"


def test_documentation_has_the_same_page(page: Path) -> None:
    """The same words in the same order; numbers, and the notes on this run, are its own."""
    def sentences(path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line and not line.startswith("|")]
        own = ("This is the quick run", "Pinocchio is ", "- Compared with Pinocchio")
        return [re.sub(r"[+−±]?\d[\d.]*( to [+−]?[\d.]+)?", "N", line) for line in lines
                if not line.startswith(own)]
    assert sentences(ROOT / "docs" / "paper" / "index.md") == sentences(page / "index.md")


def test_page_has_all_tables_and_figures(page: Path) -> None:
    text = (page / "index.html").read_text(encoding="utf-8")
    for words in ("Table II,", "Table III,", "Table IV,", "Fig. 9)", "Fig. 10)", "Fig. 12)",
                  "Figs. 11 and 13", "Fig. 14", "Summary", "quick run",
                  "Pinocchio is not installed", "compiled by", "1.04 (9.3 %)", "4.31 (38.4 %)",
                  "1.04 (9.5 %)", "4.31 (39.2 %)"):
        assert words in text, words
    assert text.count("data:image/png;base64,") == 7
    assert not re.search(r"https?://", text), "the page needs no network"
    words = re.sub(r"base64,[^\"]*", "", text)
    assert not re.search(r"\b(nan|inf|None)\b", words)


def test_page_is_markdown_too(page: Path) -> None:
    lines = (page / "index.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Results of the paper, reproduced"
    pictures = [match[1] for line in lines if (match := re.fullmatch(r"!\[.*\]\((.*)\)", line))]
    assert len(pictures) == 7 and all((page / name).is_file() for name in pictures)
    for number, line in enumerate(lines):
        if re.fullmatch(r"\|( -+:? \|)+", line):  # below the head of a table
            assert lines[number - 1].count("|") == lines[number + 1].count("|") == line.count("|")


def test_page_has_its_figures_beside(page: Path) -> None:
    pictures = sorted(path.name for path in page.glob("*.png"))
    assert pictures == ["chains_forward_dynamics.png", "chains_inverse_operational_inertia.png",
                        "forward_dynamics.png", "inverse_dynamics.png",
                        "inverse_operational_inertia.png", "jump.png", "torques.png"]
    for path in page.glob("*.png"):
        assert path.stat().st_size > 10_000


def test_page_has_its_numbers_beside(page: Path) -> None:
    results = json.loads((page / "results.json").read_text(encoding="utf-8"))
    times = {(row["algorithm"], row["robot"], row["method"]): row for row in results["robots"]}
    ratios = []
    for comparison in published.COMPARISONS:
        for robot in published.ROBOTS:
            for method in ("cluster", "approximate", "projection", "lagrange"):
                row = times[comparison.algorithm, robot, method]
                assert 0 < row["low"] <= row["median"] <= row["high"]
            ratios.append(times[comparison.algorithm, robot, "projection"]["ratio"]["median"])
    # Other programs may disturb one of these short measurements, but not most of them.
    assert statistics.median(ratios) > 1
    assert len(results["jumps"]) == 9
    assert results["quick"] is True
    for fact in ("processor", "Kempe", "Python", "date"):
        assert results["machine"][fact]


def test_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
              capsys: pytest.CaptureFixture[str]) -> None:
    """The output equals the file; with instant measurements, and a peer that takes one second."""
    from kempe import cli
    from kempe_studies.paper import peers, study

    def slow(robot: str, links: int | None, foot: str) -> peers.Cases:
        return {(algorithm, "pinocchio"): Timed(lambda calls: 1.0)
                for algorithm in ("forward_dynamics", "inverse_dynamics", "mass_matrix")}
    monkeypatch.setattr(peers, "installed_pinocchio",
                        lambda: peers.Peer("A peer.", "1.2.3", slow, at_its_best=True))
    monkeypatch.setattr(study, "QUICK", study.Extent(1e-9, 1e-9, (2, 24), 2, quick=True))
    monkeypatch.setattr(speed, "STATES", 2)
    out = tmp_path / "new" / "page"
    assert cli.main(["paper", "--quick", "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("page") == str(out / "index.html")
    assert printed == json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert printed["machine"]["Pinocchio"] == "1.2.3"
    text = (out / "index.md").read_text(encoding="utf-8")
    assert "takes 0.00 of the time of Pinocchio's recursion on the approximate tree" in text
    assert "| Pinocchio, no rotors | 1.00e+06 ±0 % |" in text


@pytest.mark.parametrize("prepare, arguments, text", [
    (lambda folder: (folder / "file").write_text(""), ["--out", "file"], "--out file"),
    (lambda folder: (folder / "file").write_text(""), ["--out", "file/below"], "--out file/below"),
    (lambda folder: (folder / "page").mkdir() or (folder / "page" / "index.md").write_text("mine"),
     ["--out", "page"], "there is another page in it"),
    (lambda folder: None, ["--out", ""], "--out: the name of a folder is needed"),
    (lambda folder: None, ["--pinocchio", "none.so"], "--pinocchio none.so: not a library"),
    (lambda folder: None, ["--pinocchio", str(LIBC)], "not a library that"),
    (lambda folder: None, ["tello"], "unrecognized arguments: tello")])
def test_bad_input(prepare: Callable[[Path], object], arguments: list[str], text: str,
                   tmp_path: Path) -> None:
    prepare(tmp_path)
    result = kempe_program("paper", "--quick", *arguments, folder=tmp_path)
    assert result.returncode == 2
    assert text in result.stderr


@pytest.mark.parametrize("text, note", [
    ("raise RuntimeError('built for another numpy')", "cannot be used: built for another numpy"),
    ("import no_such_library", "cannot be used: No module named 'no_such_library'"),
    ("", "cannot be used: module 'pinocchio' has no attribute")])
def test_broken_pinocchio(text: str, note: str, tmp_path: Path,
                          monkeypatch: pytest.MonkeyPatch) -> None:
    from kempe_studies.paper import peers
    (tmp_path / "pinocchio.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("pinocchio", "kempe_studies.pinocchio_tree"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delattr(sys.modules["kempe_studies"], "pinocchio_tree", raising=False)
    peer = peers.installed_pinocchio()
    assert note in peer.note and not peer.version
    assert peer.cases("tello", None, "left-foot") == {}
    for module in ("pinocchio", "kempe_studies.pinocchio_tree"):
        sys.modules.pop(module, None)


def test_drawing_that_fails_keeps_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    from kempe import cli
    from kempe_studies.paper import figures, study
    monkeypatch.setattr(study, "QUICK", study.Extent(1e-9, 1e-9, (2, 24), 2, quick=True))
    monkeypatch.setattr(speed, "STATES", 2)

    def fail(*arguments: object) -> None:
        raise RuntimeError("no fonts")
    monkeypatch.setattr(figures, "save", fail)
    assert cli.main(["paper", "--quick", "--out", str(tmp_path)]) == 1
    assert "the page could not be drawn: no fonts" in capsys.readouterr().err
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["jumps"]


def test_without_matplotlib(tmp_path: Path) -> None:
    result = kempe_program("paper", "--quick", folder=tmp_path, without="matplotlib")
    assert result.returncode == 2
    assert 'pip install "kempe[plot]"' in result.stderr
    assert not (tmp_path / "paper").exists()


def test_pinocchio_from_python_is_measured() -> None:
    pytest.importorskip("pinocchio")
    from kempe_studies.paper import peers
    peer = peers.installed_pinocchio()
    cases = peer.cases("mini_cheetah", None, "FR_knee_link")
    assert set(cases) == {("forward_dynamics", "pinocchio"), ("inverse_dynamics", "pinocchio")}
    measure([list(cases.values())], 0.1, lambda done: None)
    for case in cases.values():
        assert 1e-7 < Spread.of(case.times).median < 1e-4


def test_the_command_is_found_in_the_repository_only(tmp_path: Path) -> None:
    def run(folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(PROGRAM), "paper", "--help"], cwd=folder, capture_output=True,
                              text=True, timeout=60, check=False)
    assert run(ROOT / "docs").stdout.startswith("usage: kempe paper")
    outside = run(tmp_path)
    assert outside.returncode == 2
    assert "in a clone of the repository" in outside.stderr
