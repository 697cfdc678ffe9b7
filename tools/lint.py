#!/usr/bin/env python3
"""Runs clang-tidy over every C++ source, in parallel.

A file that was clean is not looked at again until it, a header of this project that it includes,
its compile command or the settings change.

Most of the time goes into Eigen and the standard library, which clang-tidy parses and walks through
again for every source. Sources that are compiled alike are therefore checked several at once, in a
file that includes them. Where that has findings, its halves are checked, down to each source by
itself: names that are local to one file may occur in another. Unused using declarations are looked
for here, because clang-tidy finds them in the main file only.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The compile commands of the library, all programs and the Python extension.
COMMANDS = ROOT / "build" / "lint" / "compile_commands.json"
CLEAN = ROOT / "build" / "lint" / "clean"
DATABASE = ROOT / "build" / "lint" / "database"
TOGETHER = ROOT / "build" / "lint" / "together"
MOST_TOGETHER = 12
ONLY_GCC = re.compile(r" --param=\S+")
MOST_CODE = re.compile(r"-DKEMPE_ISA=v3 -DKEMPE_SCALAR=double")
# Sources of this project too, which are included where several are checked at once.
OURS = r"(include/kempe|/src|/robots|/tests|/benchmarks|/examples)/[^.]*\.[hc]pp$"
INCLUDE_FOLDERS = [ROOT / "include", ROOT / "src", ROOT / "tests", ROOT / "python" / "src"]
USING = re.compile(rb"^\s*using (?:[\w]+::)+(\w+);", re.MULTILINE)
INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


@functools.cache
def read(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def included(path: Path) -> tuple[Path, ...]:
    """Headers of this project that a file includes itself."""
    found = []
    for name in INCLUDE.findall(read(path)):
        for folder in [path.parent, *INCLUDE_FOLDERS]:
            candidate = folder / name.decode()
            if candidate.is_file() and candidate.resolve().is_relative_to(ROOT):
                found.append(candidate.resolve())
                break
    return tuple(found)


def all_included(source: Path) -> list[Path]:
    seen, waiting = {source}, [source]
    while waiting:
        for header in included(waiting.pop()):
            if header not in seen:
                seen.add(header)
                waiting.append(header)
    return sorted(seen)


def compile_commands() -> dict[Path, dict[str, str]]:
    """Our sources, each with one entry of a compile database.

    Of the kernels, which are compiled for several instruction sets, one that has all of the code.
    """
    commands: dict[Path, dict[str, str]] = {}
    for entry in json.loads(COMMANDS.read_text()):
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        ours = source.is_relative_to(ROOT) and not source.is_relative_to(ROOT / "build")
        if ours and not source.is_relative_to(ROOT / ".venv") and source.is_file():
            entry["command"] = ONLY_GCC.sub("", entry["command"])
            if source not in commands or MOST_CODE.search(entry["command"]):
                commands[source] = entry
    return commands


def grouped(sources: list[Path], commands: dict[Path, dict[str, str]]) -> list[list[Path]]:
    """Sources of one folder that have the same flags, a few at a time."""
    alike: dict[tuple[Path, str], list[Path]] = {}
    for source in sources:
        # The flags end where the output and the source are named.
        flags = commands[source]["command"].partition(" -o ")[0]
        alike.setdefault((source.parent, flags), []).append(source)
    return [group[start:start + MOST_TOGETHER]
            for group in alike.values() for start in range(0, len(group), MOST_TOGETHER)]


def unused_names(source: Path) -> str:
    """Using declarations of a source whose name it does not use again."""
    text = INCLUDE.sub(b"", read(source))
    unused = [name for name in USING.findall(text)
              if len(re.findall(rb"\b%s\b" % name, text)) == text.count(b"::%s;" % name)]
    return "".join(f"using declaration of {name.decode()} is unused\n" for name in unused)


def main() -> int:
    settings = (ROOT / ".clang-tidy").read_bytes()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    commands = compile_commands()
    CLEAN.mkdir(parents=True, exist_ok=True)
    DATABASE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(TOGETHER, ignore_errors=True)
    TOGETHER.mkdir(parents=True)

    stamps = {}
    for source, entry in sorted(commands.items()):
        digest = hashlib.sha256(settings + version + entry["command"].encode())
        for file in all_included(source):
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + read(file))
        stamps[source] = CLEAN / digest.hexdigest()
    waiting = [source for source, stamp in stamps.items() if not stamp.exists()]
    groups = grouped(waiting, commands)
    print(f"clang-tidy: {len(commands)} files, {len(waiting)} to check", flush=True)

    (DATABASE / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    def tidy(file: Path, database: Path) -> str:
        """Findings in a file and in what it includes of this project."""
        result = subprocess.run(
            ["clang-tidy", "--quiet", f"--header-filter={OURS}", "-p", str(database), str(file)],
            capture_output=True, text=True, cwd=ROOT, check=False)
        return result.stdout + result.stderr if result.returncode else ""

    def tidy_together(group: list[Path]) -> bool:
        """Whether a file that includes all of a group has no findings."""
        folder = TOGETHER / hashlib.sha256(repr(group).encode()).hexdigest()
        folder.mkdir()
        together = folder / "together.cpp"
        together.write_text("".join(f'#include "{source}"\n' for source in group))
        entry = commands[group[0]]
        command = entry["command"].replace(entry["file"], str(together))
        (folder / "compile_commands.json").write_text(
            json.dumps([{**entry, "file": str(together), "command": command}]))
        return not tidy(together, folder)

    def findings_in(group: list[Path]) -> list[str]:
        if len(group) == 1:
            return [tidy(group[0], DATABASE)]
        if tidy_together(group):
            return [""] * len(group)
        middle = len(group) // 2
        return findings_in(group[:middle]) + findings_in(group[middle:])

    def check(group: list[Path]) -> int:
        """Number of files with findings."""
        findings = [text + unused_names(source)
                    for source, text in zip(group, findings_in(group), strict=True)]
        for source, text in zip(group, findings, strict=True):
            if text:
                print(f"{source.relative_to(ROOT)}\n{text}", flush=True)
            else:
                stamps[source].touch()
        return sum(map(bool, findings))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(pool.map(check, groups))
    if failed:
        print(f"clang-tidy: {failed} files with findings")
        return 1
    for old in set(CLEAN.iterdir()) - set(stamps.values()):
        old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
