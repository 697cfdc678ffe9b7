#!/usr/bin/env bash
# The main job from end to end: each command is printed, then run. Needs `make python`.
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
show "Can its model be trusted?" \
  "kempe check tello"
show "Two seconds of running on a test stand: motors follow a motion, loops and rotors included" \
  "kempe simulate tello --fixed-base --controller examples/controllers/tello_run.py --duration 2 \\
    --out $out/run.npz --plot $out/run.png --html $out/run.html"
show "Let go: the same legs and arms fall and swing under gravity alone, and no energy is lost" \
  "kempe simulate tello --fixed-base --start random:5 --duration 2 \\
    --out $out/fall.npz --plot $out/fall.png --html $out/fall.html"
show "Measuring how long it takes, for the summary below" \
  "kempe bench tello --seconds 3 --json > $out/bench.json"
show "What a mistake looks like: a loop that names a link that is not there" \
  "sed 's|<predecessor link=\"rod\">|<predecessor link=\"rodd\">|' examples/geared_four_bar_leg.urdf \\
    > $out/leg.urdf; kempe check $out/leg.urdf || true"

printf '\n\n# In short\n\n'
python tools/demo_figures.py "$out"
