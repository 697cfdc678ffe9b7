#!/usr/bin/env python3
"""Runs clang-tidy over every C++ source, in parallel.

A file that was clean is not looked at again until it, a header of this project that it includes,
its compile command or the settings change.
"""

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLEAN = ROOT / "build" / "lint"
# The compile commands of the library and all programs, and those of the Python extension.
DATABASES = [ROOT / "build" / "release", ROOT / "build" / "python"]
DATABASE = ROOT / "build" / "lint_database"
ONLY_GCC = re.compile(r" --param=\S+")
MOST_CODE = re.compile(r"-DKEMPE_ISA=v3 -DKEMPE_SCALAR=double")
INCLUDE_FOLDERS = [ROOT / "include", ROOT / "src", ROOT / "tests", ROOT / "python" / "src"]
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
    for database in DATABASES:
        for entry in json.loads((database / "compile_commands.json").read_text()):
            source = (Path(entry["directory"]) / entry["file"]).resolve()
            ours = source.is_relative_to(ROOT) and not source.is_relative_to(ROOT / "build")
            if ours and not source.is_relative_to(ROOT / ".venv") and source.is_file():
                entry["command"] = ONLY_GCC.sub("", entry["command"])
                if source not in commands or MOST_CODE.search(entry["command"]):
                    commands[source] = entry
    return commands


def main() -> int:
    settings = (ROOT / ".clang-tidy").read_bytes()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    commands = compile_commands()
    CLEAN.mkdir(parents=True, exist_ok=True)
    DATABASE.mkdir(parents=True, exist_ok=True)
    (DATABASE / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    waiting = []
    stamps = set()
    for source, entry in sorted(commands.items()):
        digest = hashlib.sha256(settings + version + entry["command"].encode())
        for file in all_included(source):
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + read(file))
        stamp = CLEAN / digest.hexdigest()
        stamps.add(stamp)
        if not stamp.exists():
            waiting.append((source, stamp))
    print(f"clang-tidy: {len(commands)} files, {len(waiting)} to check", flush=True)

    def check(job: tuple[Path, Path]) -> bool:
        source, stamp = job
        result = subprocess.run(
            ["clang-tidy", "--quiet", "-p", str(DATABASE), str(source)],
            capture_output=True, text=True, cwd=ROOT, check=False)
        if result.returncode == 0:
            stamp.touch()
            return True
        print(f"{source.relative_to(ROOT)}\n{result.stdout}{result.stderr}", flush=True)
        return False

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [ok for ok in pool.map(check, waiting) if not ok]
    if failed:
        print(f"clang-tidy: {len(failed)} files with findings")
        return 1
    for old in set(CLEAN.iterdir()) - stamps:
        old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
