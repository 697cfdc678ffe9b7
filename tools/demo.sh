#!/usr/bin/env bash
# Demonstration of the main commands: each one is printed, then run. Needs `make python`.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
out=build/demo
mkdir -p "$out"

show() {
  printf '\n\n# %s\n$ %s\n\n' "$1" "$2"
  bash -c "$2"
}

show "Tello: a humanoid whose hips, knees and ankles are driven through rods and differentials" \
  "kempe info tello"
show "Tests of its model in random states" \
  "kempe check tello"
show "Two seconds of running on a test stand: motors track a motion, loops and rotors included" \
  "kempe simulate tello --fixed-base --controller examples/controllers/tello_run.py --duration 2 \\
    --out $out/run.recording --plot $out/run.png --html $out/run.html"
show "No control: legs and arms swing under gravity alone, and energy is conserved" \
  "kempe simulate tello --fixed-base --start random:5 --duration 2 \\
    --out $out/fall.recording --plot $out/fall.png --html $out/fall.html"
show "Benchmark for the summary below" \
  "kempe bench tello --seconds 3 --json > $out/bench.json"
show "An error message: a loop that names a link that does not exist" \
  "sed 's|<predecessor link=\"rod\">|<predecessor link=\"rodd\">|' examples/geared_four_bar_leg.urdf \\
    > $out/leg.urdf; kempe check $out/leg.urdf || true"

printf '\n\n# Summary\n\n'
python tools/demo_figures.py "$out"
