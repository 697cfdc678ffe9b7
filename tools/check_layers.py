"""Checks that files under src/ include one another, and public headers, in one direction only.

    tools/check_layers.py           fails on an include against the order
    tools/check_layers.py --draw    draws the includes: docs/drawings/layers.svg
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A directory includes from itself and from those before it. The last few do not include one
# another; BESIDE names what they may.
LAYERS = ("text", "expressions", "flexible", "mechanism", "spatial", "tables", "loops",
          "constraints", "model", "kernels", "algorithms")
BESIDE = {"lanes": LAYERS, "batch": LAYERS, "simulation": LAYERS,
          "io": ("text", "expressions", "mechanism")}
# The directory that implements a public header, by its name under include/kempe/. Those without one
# (types, errors and vectors) may be included everywhere, and kempe.hpp, robots and version by none.
EVERYWHERE, NOWHERE = "", "-"
PUBLIC = {
    **dict.fromkeys(("errors", "export", "jet", "method", "spatial", "types", "vector"),
                    EVERYWHERE),
    **dict.fromkeys(("kempe", "robots", "version"), NOWHERE),
    "expression": "expressions",
    **dict.fromkeys(("beam_elements", "finite_elements", "flexible"), "flexible"),
    "mechanism": "mechanism",
    "constraints": "constraints",
    "model": "model",
    **dict.fromkeys((
        "all_terms", "configuration", "constrained_forward_dynamics_derivatives", "coriolis",
        "forward_dynamics", "forward_dynamics_derivatives", "inverse_dynamics",
        "inverse_dynamics_derivatives", "inverse_dynamics_second_derivatives", "joint_forces",
        "kinematics", "kinematics_derivatives", "mass_matrix", "momentum", "momentum_derivatives",
        "named_states", "operational_inertia", "project_velocities_derivatives",
        "static_deflection"), "algorithms"),
    "instruction_set": "lanes",
    "batch": "batch",
    **dict.fromkeys(("force_elements", "recording", "simulator"), "simulation"),
    **dict.fromkeys(("io", "matrix_files"), "io"),
}
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def allowed(directory: str) -> tuple[str, ...]:
    if directory in BESIDE:
        return (*BESIDE[directory], directory)
    return LAYERS[:LAYERS.index(directory) + 1]


def includes(source: Path, public: bool = False) -> list[tuple[Path, int, str]]:
    """(file, line, included file) of all includes of our own private headers, or public ones."""
    found = []
    for file in sorted(source.rglob("*")):
        if file.suffix not in (".cpp", ".hpp", ".cu"):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match[1].startswith("kempe/") == public:
                found.append((file, number, match[1]))
    return found


def problems(source: Path) -> list[str]:
    texts = []
    for file in sorted(source.rglob("*")):
        directory = file.relative_to(source).parts[0]
        if file.is_file() and file.parent != source and directory not in (*LAYERS, *BESIDE):
            texts.append(f"{file}: the directory {directory} has no place in the order; give it "
                         "one in tools/check_layers.py")
    for file, line, target in includes(source):
        if file.parent == source:
            continue
        directory, to = file.relative_to(source).parts[0], target.split("/")[0]
        if "/" not in target:
            texts.append(f'{file}:{line}: "{target}" must be given from src/')
        elif directory in (*LAYERS, *BESIDE) and to not in allowed(directory):
            texts.append(f'{file}:{line}: {directory} must not include "{target}"; it may include '
                         + ", ".join(allowed(directory)))
    return texts + public_problems(source)


def public_problems(source: Path) -> list[str]:
    """Includes of public headers, which stand where they are implemented."""
    texts = []
    for file, line, target in includes(source, public=True):
        directory = file.relative_to(source).parts[0]
        if file.parent == source or directory not in (*LAYERS, *BESIDE):
            continue
        header = target.removeprefix("kempe/").split("/")[0].removesuffix(".hpp")
        at = PUBLIC.get(header)
        if at is None:
            texts.append(f'{file}:{line}: "{target}" has no place in the order; name the directory '
                         "that implements it in tools/check_layers.py")
        elif at != EVERYWHERE and at not in allowed(directory):
            texts.append(f'{file}:{line}: {directory} must not include "{target}"'
                         + (f", which is implemented in {at}" if at != NOWHERE else ""))
    return texts


def arrows(source: Path) -> dict[str, set[str]]:
    """Which directory includes which, without the arrows that follow from others."""
    direct: dict[str, set[str]] = {}
    for file, _, target in includes(source):
        directory, to = file.relative_to(source).parts[0], target.split("/")[0]
        if file.parent != source:
            direct.setdefault(directory, set()).update({to} - {directory})

    def reach(directory: str) -> set[str]:
        below = direct.get(directory, set())
        return below.union(*(reach(each) for each in below))

    return {directory: {to for to in below
                        if not any(to in reach(other) for other in below - {to})}
            for directory, below in direct.items()}


def drawing(source: Path) -> str:
    """An SVG of the arrows; a directory stands above all that it includes."""
    below = arrows(source)

    def height(directory: str) -> int:
        return 1 + max((height(to) for to in below.get(directory, set())), default=-1)

    rows: dict[int, list[str]] = {}
    for directory in sorted({*below, *(to for each in below.values() for to in each)}):
        rows.setdefault(height(directory), []).append(directory)
    wide, high, gap = 110, 30, 34
    widest, top = max(map(len, rows.values())), max(rows)
    size = (widest * (wide + 20) + 20, (top + 1) * (high + gap) + 10)
    at = {directory: (size[0] / 2 + (i - (len(names) - 1) / 2) * (wide + 20),
                      10 + (top - row) * (high + gap))
          for row, names in rows.items() for i, directory in enumerate(names)}
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
             'font-family="sans-serif" font-size="14" text-anchor="middle">',
             '<defs><marker id="tip" orient="auto" markerWidth="8" markerHeight="8" refX="7" '
             'refY="4"><path d="M0,0 L8,4 L0,8 Z" fill="#555"/></marker></defs>',
             '<rect width="100%" height="100%" fill="#fff"/>']
    for directory in sorted(below):
        for to in sorted(below[directory]):
            (x, y), (toX, toY) = at[directory], at[to]
            lines.append(f'<line x1="{x:g}" y1="{y + high:g}" x2="{toX:g}" y2="{toY:g}" '
                         'stroke="#555" marker-end="url(#tip)"/>')
    for directory, (x, y) in sorted(at.items()):
        lines += [f'<rect x="{x - wide / 2:g}" y="{y:g}" width="{wide}" height="{high}" rx="5" '
                  'fill="#e8eef7" stroke="#456"/>',
                  f'<text x="{x:g}" y="{y + 20:g}" fill="#123">{directory}</text>']
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="write docs/drawings/layers.svg")
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    if options.draw:
        (ROOT / "docs" / "drawings" / "layers.svg").write_text(drawing(options.source))
        return
    found = problems(options.source)
    for text in found:
        print(text, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
