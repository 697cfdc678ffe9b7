"""The command line as a whole: help, examples, exit codes, pipes, terminals."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from program import PROGRAM, ROOT, kempe_program

import kempe
from kempe import cli

OF_ROBOTS = ["info", "check", "simulate", "view", "bench"]  # commands that take a robot
COMMANDS = [*OF_ROBOTS, "paper"]
COLOUR = re.compile(r"\x1b\[(\d+;)*3[0-7]")


def examples(*command: str) -> list[str]:
    """The commands that the help shows as examples."""
    text = kempe_program(*command, "--help").stdout
    part = text.partition("\nexamples:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in part.splitlines()]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help(command: list[str]) -> None:
    result = kempe_program(*command, "--help")
    assert result.returncode == 0
    assert result.stdout.startswith("usage: kempe")
    assert "exit codes:" in result.stdout
    assert len(examples(*command)) >= 3
    assert all(len(line) <= 100 for line in result.stdout.splitlines() if "usage" not in line)


@pytest.mark.parametrize("line", [
    line for command in ([], ["info"], ["check"], ["simulate"], ["bench"])
    for line in examples(*command)])
def test_examples_of_the_help_run(line: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    words = shlex.split(line)
    assert words[0] == "kempe"
    if words[1] == "bench":
        words += ["--seconds", "0.1", "--batch", "64"]
    result = kempe_program(*words[1:], folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_version() -> None:
    assert kempe_program("--version").stdout.strip() == f"kempe {kempe.__version__}"
    header = ROOT / "include" / "kempe" / "version.hpp"
    assert f'"{kempe.__version__}"' in header.read_text()


def test_module_is_the_same_program() -> None:
    result = subprocess.run([sys.executable, "-m", "kempe", "info", "no_such_robot"],
                            capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "no_such_robot" in result.stderr


@pytest.mark.parametrize("command, text", [
    *((f"{name} no_such_robot", "Bundled robots: .*mini_cheetah") for name in OF_ROBOTS),
    *((f"{name} broken.urdf", r"broken\.urdf") for name in OF_ROBOTS),
    ("info tello --floating-base", "--floating-base is for files"),
    ("info four_bar --fixed-base", "four_bar has no free base"),
    ("info broken.urdf -n 3", "-n is for bundled chains"),
    ("info tello -n 3", "tello"),
    ("info geared_chain -n 0", "n: a chain needs at least one link"),
    (f"info geared_chain -n {'9' * 30}", "-n: at most 1000000 links"),
    (f"check four_bar --seed {2**32}", "--seed: a whole number from 0 to 4294967295 is needed"),
    (f"check four_bar --samples {'9' * 30}", "--samples: a whole number from 1 to 10000000"),
    ("info .", "is a folder"),
    ("info", "ROBOT"),
    ("info tello --fast", "--fast"),
    ("fly tello", "fly"),
    ("", "COMMAND"),
])
def test_wrong_robots_and_options(command: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "broken.urdf").write_text("<robot name='x'><link")
    result = kempe_program(*command.split(), folder=tmp_path)
    assert result.returncode == 2
    assert re.search(text, result.stderr), result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", [
    ["info"], ["check", "--samples", "3"], ["simulate", "--duration", "0.01"],
    ["bench", "--seconds", "0.05", "--batch", "16"]], ids=lambda command: command[0])
def test_json_is_one_object_and_nothing_else(command: list[str]) -> None:
    result = kempe_program(command[0], "mini_cheetah", *command[1:], "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["robot"] == "mini_cheetah"


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """The output of the program on a pseudo-terminal."""
    reader, writer = pty.openpty()
    variables = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [str(PROGRAM), *arguments], stdout=writer, stderr=writer, stdin=subprocess.DEVNULL,
        env=variables | {"TERM": "xterm-256color"} | environment)
    os.close(writer)
    printed = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # the error on Linux when the other end is closed
            break
        if not part:
            break
        printed += part
    os.close(reader)
    assert process.wait(timeout=60) == 0
    return printed.decode()


@pytest.mark.parametrize("command", [["info"], ["check", "--samples", "2"]], ids=str)
def test_colour_only_on_a_terminal(command: list[str]) -> None:
    arguments = [command[0], "six_bar", *command[1:]]
    assert "\x1b" not in kempe_program(*arguments).stdout
    assert COLOUR.search(on_a_terminal(*arguments))
    assert not COLOUR.search(on_a_terminal(*arguments, NO_COLOR="1"))


def test_progress_is_shown_on_a_terminal_and_not_elsewhere() -> None:
    arguments = ["simulate", "six_bar", "--duration", "3"]
    assert "simulating" in on_a_terminal(*arguments)
    result = kempe_program(*arguments)
    assert "simulating" not in result.stdout + result.stderr


def test_a_reader_that_stops_reading_is_no_error() -> None:
    command = f"{shlex.quote(str(PROGRAM))} info tello | head -n 1; echo ${{PIPESTATUS[0]}}"
    for _ in range(3):
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                                timeout=60, check=False)
        assert result.stdout.splitlines()[-1] == "0"
        assert result.stderr == ""


# --- streams, signals, memory --------------------------------------------------------------------

def in_a_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = line.replace("kempe", shlex.quote(str(PROGRAM)), 1)
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60,
                          check=False, cwd=folder)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error(tmp_path: Path, closed: str) -> None:
    run = f"kempe simulate four_bar --duration 0.01 --out run.npz {closed}"
    for options in ("", " --json"):
        result = in_a_shell(run + options, tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        assert len(kempe.Run.load(tmp_path / "run.npz")) == 11
        (tmp_path / "run.npz").unlink()
    result = in_a_shell(f"kempe info nobody {closed}", tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert in_a_shell(f"kempe info six_bar {closed}", tmp_path).returncode == 0


@pytest.mark.parametrize("command", ["info tello", "simulate four_bar --duration 0.01 --json"])
def test_output_that_cannot_be_written_is_told(tmp_path: Path, command: str) -> None:
    result = in_a_shell(f"kempe {command} > /dev/full", tmp_path)
    assert result.returncode == 1
    assert result.stderr == "kempe: standard output: No space left on device\n"


@pytest.mark.parametrize("command, remedy", [
    ("info", "-n"), ("check", "--samples"), ("simulate", "--duration"), ("bench", "--batch"),
    ("view", "-n")])
def test_memory_that_does_not_suffice_is_told(
        command: str, remedy: str, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    def greedy(*arguments: object, **options: object) -> None:
        raise MemoryError
    monkeypatch.setattr(kempe, "Model", greedy)
    assert cli.main([command, "four_bar"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("kempe: there is not enough memory. Use ")
    assert remedy in errors


def test_ctrl_c_ends_loading_at_once() -> None:
    program = ("import signal, sys, kempe\n"
               "from kempe import cli\n"
               "kempe.Model = lambda *_, **options: signal.raise_signal(signal.SIGINT)\n"
               "sys.exit(cli.main(['info', 'four_bar']))")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            timeout=60, check=False)
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")


def test_ctrl_c_is_ours_again_after_loading(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert cli.main(["info", "four_bar"]) == 0
    assert signal.getsignal(signal.SIGINT) is before
