"""Turns the C++ blocks of all pages into a project with as few files to compile as possible."""

import re
import subprocess
from pathlib import Path

from code_blocks import Block

INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.MULTILINE)
MAIN = re.compile(r"^\s*int\s+main\s*\(", re.MULTILINE)
PRELUDE = "#include <iostream>\n#include <kempe/kempe.hpp>\n"
# Output of earlier blocks is not part of the output of the block that continues them.
MARKER = "----- the block itself -----"


def located(block: Block, hoist: bool) -> str:
    """The code with its place in the page, for the compiler's messages."""
    code = INCLUDE.sub("", block.code) if hoist else block.code
    return f'#line {block.line} "{block.page}"\n{code}'


def chain(block: Block) -> list[Block]:
    return [*block.before, block]


class CppPrograms:
    """Blocks without `main` share one program, which takes the number of the block to run."""

    def __init__(self, blocks: list[Block], folder: Path, prefix: Path):
        self.folder = folder
        self.prefix = prefix
        self.blocks = blocks
        self.commands: dict[str, list[str]] = {}
        self.problem: str | None = None
        self.write()
        self.build()

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        includes: list[str] = []
        functions, calls, programs = "", "", []
        for number, block in enumerate(self.blocks):
            if any(MAIN.search(part.code) for part in chain(block)):
                name = f"program_{number}"
                self.put(f"{name}.cpp", "".join(located(part, False) for part in chain(block)))
                programs.append(name)
                self.commands[str(block)] = [str(self.folder / "build" / name)]
                continue
            declarations, statements = "", ""
            for part in chain(block):
                if part is block and block.before:
                    statements += f'std::cout << "{MARKER}\\n" << std::flush;\n'
                includes += INCLUDE.findall(part.code)
                if "declarations" in part.flags:
                    declarations += located(part, True)
                else:
                    statements += located(part, True)
            functions += f"namespace block_{number} {{\n{declarations}"
            functions += f"void run() {{\n{statements}}}\n}}\n"
            calls += f"    case {number}: block_{number}::run(); return 0;\n"
            self.commands[str(block)] = [str(self.folder / "build" / "blocks"), str(number)]
        self.put("blocks.cpp", PRELUDE + "#include <cstdlib>\n" + "\n".join(dict.fromkeys(includes))
                 + f"\n{functions}int main(int, char** argv) {{\n  switch (std::atoi(argv[1])) {{\n"
                 + f"{calls}    default: return 2;\n  }}\n}}\n")
        self.put("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(blocks CXX)\n"
                 "find_package(kempe REQUIRED)\nlink_libraries(kempe::kempe)\n"
                 + "".join(
                     f"add_executable({name} {name}.cpp)\n" for name in ["blocks", *programs]))

    def put(self, name: str, text: str) -> None:
        """Writes a file only when it changes, so that it is not compiled again."""
        path = self.folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)

    def build(self) -> None:
        build = str(self.folder / "build")
        for command in (
            ["cmake", "-S", str(self.folder), "-B", build, "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
             f"-DCMAKE_PREFIX_PATH={self.prefix}"],
            ["cmake", "--build", build],
        ):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode != 0:
                self.problem = result.stdout + result.stderr
                return
