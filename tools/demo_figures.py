"""Prints a summary of the results that `make demo` has written into a folder."""

import json
import sys
from pathlib import Path

import numpy as np

import kempe

folder = Path(sys.argv[1])
run, fall = kempe.Run.load(folder / "run.recording"), kempe.Run.load(folder / "fall.recording")
bench = json.loads((folder / "bench.json").read_text())
times = {(row["algorithm"], row["method"]): row for row in bench["results"]}


def microseconds(method: str, kind: str) -> str:
    return f"{1e6 * times['forward_dynamics', method][kind]['median']:.1f} µs"


shoulders = [fall.q_names.index(f"torso-to-{side}-shoulder-ry") for side in ("left", "right")]
swing = np.degrees(np.ptp(fall.q[:, shoulders], axis=0)).max()
print(f"under gravity     an arm swings through {swing:.0f} degrees in {fall.t[-1]:g} s")
print(f"energy drift      {run.energy_drift:.1e} of the exchanged energy in the run, "
      f"{fall.energy_drift:.1e} in the fall")
print(f"loop error        at most {max(run.loop_error.max(), fall.loop_error.max()):.1e}")
print(f"forward dynamics  {microseconds('cluster', 'single')} per call from Python, exact; "
      f"{microseconds('cluster', 'batch')} per state in batches")
if ("forward_dynamics", "pinocchio") in times:
    print(f"Pinocchio's aba   {microseconds('pinocchio', 'single')} per call, on the open tree "
          "without the loops")
else:
    print("Pinocchio         not installed; .venv/bin/pip install pin adds it")
for name, what in (("run.html", "plays the run in a browser, fall.html the fall"),
                   ("run.png", "plots the run"),
                   ("run.recording", "is the run; kempe view tello --fixed-base --run plays it")):
    print(f"{folder / name}  {what}")
