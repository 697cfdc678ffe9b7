"""Runs every code block of README.md, CONTRIBUTING.md and docs/ (rules: code_blocks.py)."""

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest
import yaml
from code_blocks import Block, PageError, blocks_of, matches, pages
from cpp_programs import MARKER, CppPrograms

import kempe

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "build" / "stage"
TIME_LIMIT = 300  # seconds, for one block


def collect() -> tuple[list[Block], dict[str, str]]:
    blocks, problems = [], {}
    for page in pages(ROOT):
        name = str(page.relative_to(ROOT))
        try:
            blocks += blocks_of(page.read_text(), name)
            problems[name] = ""
        except (PageError, OSError) as error:
            problems[name] = str(error)
    return blocks, problems


BLOCKS, PROBLEMS = collect()


def of(*languages: str):
    chosen = [block for block in BLOCKS if block.language in languages and block.runs]
    return pytest.mark.parametrize("block", chosen, ids=str)


def run(command: list[str], folder: Path, block: Block) -> str:
    """Runs a command with the project's own programs on the path and returns its output."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                            timeout=TIME_LIMIT, check=False)
    if result.returncode != 0:
        pytest.fail(f"{block}: exit code {result.returncode}\n{result.stdout}{result.stderr}",
                    pytrace=False)
    return result.stdout


def compare(expected: str | None, actual: str, block: Block) -> None:
    if expected is not None and not matches(expected, actual):
        pytest.fail(f"{block}: prints\n{actual}\nbut the page shows\n{expected}", pytrace=False)


@pytest.mark.parametrize("page", PROBLEMS)
def test_page_keeps_the_rules(page: str) -> None:
    if PROBLEMS[page]:
        pytest.fail(PROBLEMS[page], pytrace=False)


@pytest.fixture(scope="session")
def cpp_programs() -> CppPrograms:
    blocks = [block for block in BLOCKS if block.language == "cpp" and block.runs]
    return CppPrograms(blocks, ROOT / "build" / "docs", STAGE)


@of("cpp")
def test_cpp(block: Block, cpp_programs: CppPrograms, tmp_path: Path) -> None:
    if cpp_programs.problem:
        pytest.fail(cpp_programs.problem, pytrace=False)
    printed = run(cpp_programs.commands[str(block)], tmp_path, block)
    compare(block.output, printed.split(MARKER + "\n", 1)[-1], block)


@of("python")
def test_python(block: Block, tmp_path: Path) -> None:
    program = tmp_path / "block.py"
    before = "".join(part.code for part in block.before)
    program.write_text(f"{before}\nprint({MARKER!r})\n{block.code}")
    printed = run([sys.executable, str(program)], tmp_path, block)
    compare(block.output, printed.split(MARKER + "\n", 1)[1], block)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def without_make(line: str, block: Block) -> str:
    """Checks the targets of a `make` command, which is not run, because it may run this test."""
    words = shlex.split(line, comments=True)
    if not words or words[0] != "make":
        return line
    for target in (word for word in words[1:] if "=" not in word):
        assert target in make_targets(), f"{block}: the Makefile has no target {target}"
    return ":"


@of("sh")
def test_sh(block: Block) -> None:
    lines = [without_make(line, block) for line in block.code.splitlines()]
    compare(block.output, run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], ROOT, block),
            block)


@of("console")
def test_console(block: Block) -> None:
    steps: list[tuple[str, list[str]]] = []
    for line in block.code.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            assert steps, f"{block}: a console block begins with a command, `$ ...`"
            steps[-1][1].append(line)
    for command, output in steps:
        line = without_make(command, block)
        if line != ":":
            compare("\n".join(output), run(["bash", "-euo", "pipefail", "-c", line], ROOT, block),
                    block)


def is_robot(code: str) -> bool:
    return re.search(r"^\s*(<\?xml.*\?>\s*)?(<!--.*?-->\s*)*<robot\b", code, re.DOTALL) is not None


def robot_text(parts: list[Block]) -> str:
    """A robot with the fragments that continue it."""
    text = parts[0].code
    for part in parts[1:]:
        text = text.replace("</robot>", part.code + "</robot>")
    return text


@of("xml")
def test_xml(block: Block, tmp_path: Path) -> None:
    parts = [*block.before, block]
    if is_robot(parts[0].code):
        file = tmp_path / "robot.urdf"
        file.write_text(robot_text(parts))
        assert kempe.load(file).nv > 0
    else:
        xml.etree.ElementTree.fromstring(f"<fragment>{block.code}</fragment>")


@of("yaml")
def test_yaml(block: Block, tmp_path: Path) -> None:
    assert yaml.safe_load(block.code) is not None
    if block.robot:
        (tmp_path / "robot.urdf").write_text(robot_text(block.robot))
        file = tmp_path / "robot.yaml"
        file.write_text(block.code)
        assert kempe.load(file).nv > 0


@of("cmake")
def test_cmake(block: Block, tmp_path: Path) -> None:
    """The block is the CMakeLists.txt of a user's project with programs of one source file."""
    code = "".join(part.code for part in [*block.before, block])
    for source in set(re.findall(r"[\w/]+\.cpp", code)):
        file = tmp_path / source
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#include <kempe/version.hpp>\n"
                        "int main() { return kempe::version() == nullptr; }\n")
    head = "" if "project(" in code else (
        "cmake_minimum_required(VERSION 3.25)\nproject(block CXX)\n")
    if "add_executable" not in code:
        for target in set(re.findall(r"target_link_libraries\(\s*(\w+)", code)):
            (tmp_path / "main.cpp").write_text("int main() {}\n")
            head += f"add_executable({target} main.cpp)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + code)
    run(["cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={STAGE}"],
        tmp_path, block)
    run(["cmake", "--build", "build"], tmp_path, block)
