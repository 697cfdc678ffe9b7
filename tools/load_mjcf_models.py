#!/usr/bin/env python3
"""Loads all MJCF files below a folder, such as a clone of google-deepmind/mujoco_menagerie, and
prints what became of each: its size, or the reason why it was refused.

    .venv/bin/python tools/load_mjcf_models.py FOLDER [--warnings]

Every file is loaded in a process of its own, within a minute. Ends with exit code 1 if one of them
ended in anything but a model or a kempe.ModelError.
"""

import argparse
import subprocess
import sys
from pathlib import Path

SECONDS = 60

PROGRAM = """
import sys
import numpy as np
import kempe
try:
    model = kempe.load(sys.argv[1])
except kempe.ModelError as error:
    print("refused:", str(error).removeprefix(sys.argv[1]).lstrip(": "))
    sys.exit()
q = model.random_configuration(1)
model.forward_dynamics(q, np.zeros(model.nv), np.zeros(model.nv))
open_by = abs(model.loop_residual(q)).max(initial=0)
print(f"loaded: {model.nv} DoF of {model.nv_spanning}, {len(model.loops)} loops closed to "
      f"{open_by:.0e}, {len(model.actuators)} actuators, {len(model.keyframes)} keyframes, "
      f"{len(model.warnings)} warnings")
if sys.argv[2] == "True":
    for warning in model.warnings:
        print("    " + warning.removeprefix(sys.argv[1]).lstrip(": "))
"""


def outcome(file: Path, warnings: bool) -> str:
    try:
        result = subprocess.run([sys.executable, "-c", PROGRAM, str(file), str(warnings)],
                                capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"failed: took more than {SECONDS} s"
    if result.returncode != 0:
        return "failed: " + (result.stderr.strip().splitlines() or ["no message"])[-1]
    return result.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--warnings", action="store_true", help="print the warnings of each")
    arguments = parser.parse_args()
    counts: dict[str, int] = {}
    for file in sorted(arguments.folder.rglob("*.xml")):
        if "<mujoco" not in file.read_text(errors="replace"):
            continue
        text = outcome(file, arguments.warnings)
        word = text.partition(":")[0]
        counts[word] = counts.get(word, 0) + 1
        print(f"{file.relative_to(arguments.folder)}: {text}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if counts.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
