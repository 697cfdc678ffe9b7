#!/usr/bin/env bash
# Shows what Kempe does: each command is printed, then run. Needs `make build python`.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"

show() {
  printf '\n\n# %s\n$ %s\n\n' "$1" "$2"
  bash -c "$2"
}

show "A geared leg with a four-bar knee, described in C++ and walked through a stride" \
  "build/release/examples/geared_four_bar_leg"
show "The robots that come with Kempe, each in 100 random configurations" \
  "python examples/bundled_robots.py"
show "Tello, a humanoid with differentials in hips, knees and ankles" \
  "kempe info tello"
show "Do its loops stay closed when it moves?" \
  "kempe check tello --samples 1000"
show "What a mistake looks like: a loop that names a link that is not there" \
  "sed 's|<predecessor link=\"rod\">|<predecessor link=\"rodd\">|' examples/geared_four_bar_leg.urdf > build/leg.urdf; kempe check build/leg.urdf || true"
printf '\n\nNext: read examples/geared_four_bar_leg.cpp, then try `.venv/bin/kempe check YOUR_ROBOT.urdf`.\n'
