"""Prints the figures that matter of what `make demo` has written into a folder."""

import json
import sys
from pathlib import Path

import kempe

folder = Path(sys.argv[1])
run = kempe.Run.load(folder / "run.npz")
bench = json.loads((folder / "bench.json").read_text())
times = {(row["algorithm"], row["method"]): row for row in bench["results"]}


def microseconds(method: str, kind: str) -> str:
    return f"{1e6 * times['forward_dynamics', method][kind]['median']:.1f} µs"


print(f"energy drift      {run.energy_drift:.1e} of what moved, in {run.t[-1]:g} s")
print(f"loops open by     at most {run.loop_error.max():.1e}")
print(f"forward dynamics  {microseconds('cluster', 'single')} a call from Python, exact; "
      f"{microseconds('cluster', 'batch')} a state in batches")
if ("forward_dynamics", "pinocchio") in times:
    print(f"Pinocchio's aba   {microseconds('pinocchio', 'single')} a call, on the open tree "
          "without the loops")
else:
    print("Pinocchio         not installed; .venv/bin/pip install pin puts it beside")
for name, what in (("run.html", "plays the run in a browser"), ("run.png", "plots it"),
                   ("run.npz", "is the run; kempe view tello --fixed-base --run shows it")):
    print(f"{folder / name}  {what}")
