#!/usr/bin/env python3
"""Writes the benchmark report: the tables in benchmarks/README.md and its two drawings.

Reads build/bench.json and build/bench_scaling.json, which `make bench` writes. Only the text
between `<!-- begin name -->` and `<!-- end name -->` is replaced; the rest of the page is kept.
"""

import argparse
import json
import math
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import bench_drawings

ROOT = Path(__file__).resolve().parent.parent

ROBOTS = ["mini_cheetah", "mit_humanoid", "tello", "jvrc1", "geared_chain", "belt_chain",
          "four_bar", "four_bar_quadruped"]
LEGGED = ROBOTS[:4]
ALGORITHMS = ["forward_dynamics", "inverse_dynamics", "forward_dynamics_derivatives",
              "inverse_dynamics_derivatives", "mass_matrix", "inverse_operational_inertia",
              "constrained_dynamics"]
METHODS = ["cluster", "cluster_batch", "projection", "lagrange", "approximate", "unconstrained",
           "pinocchio", "pinocchio_exact", "mujoco", "mujoco_exact"]


@dataclass
class Measured:
    time: float  # median, µs per call, or per state of a batch
    spread: float  # standard deviation / mean
    label: str = ""


class Results:
    """Measured times by (algorithm, robot, method)."""

    def __init__(self, document: dict) -> None:
        self.context = document["context"]
        self.measured: dict[tuple[str, str, str], Measured] = {}
        scale = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
        medians, spreads = {}, {}
        for entry in document["benchmarks"]:
            name = tuple(entry["run_name"].split("/"))
            kind = entry.get("aggregate_name")
            if len(name) != 3:
                continue
            if kind == "median":
                time = entry["cpu_time"] * scale[entry["time_unit"]]
                if "items_per_second" in entry:
                    time = 1e6 / entry["items_per_second"]
                medians[name] = time, entry.get("label", "")
            elif kind == "cv":
                spreads[name] = entry["cpu_time"]
        for name, (time, label) in medians.items():
            self.measured[name] = Measured(time, spreads.get(name, math.nan), label)

    def time(self, algorithm: str, robot: str, method: str) -> float | None:
        found = self.measured.get((algorithm, robot, method))
        return found.time if found else None

    def ratio(self, algorithm: str, robot: str, method: str, other: str) -> float | None:
        a, b = self.time(algorithm, robot, method), self.time(algorithm, robot, other)
        return a / b if a and b else None


# --- tables ------------------------------------------------------------------------------------

def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def figure(x: float) -> str:
    """Three significant digits, no exponent."""
    return f"{x:.{max(0, 2 - math.floor(math.log10(x)))}f}"


def cell(measured: Measured | None) -> str:
    if measured is None:
        return "–"
    spread = "" if math.isnan(measured.spread) else f" ±{max(1, round(100 * measured.spread))} %"
    return figure(measured.time) + spread


def algorithm_table(results: Results, algorithm: str) -> str:
    robots = [robot + suffix for suffix in ("", "_tree") for robot in ROBOTS]
    methods = [method for method in METHODS
               if any((algorithm, robot, method) in results.measured for robot in robots)]
    rows = [[f"`{robot}`", *(cell(results.measured.get((algorithm, robot, method)))
                             for method in methods)] for robot in robots]
    return table(["robot", *(f"`{method}`" for method in methods)], rows)


def cluster_table(results: Results, algorithms: list[str]) -> str:
    """Times of several algorithms by Kempe's recursion."""
    rows = [[f"`{robot}`", *(cell(results.measured.get((algorithm, robot, "cluster")))
                             for algorithm in algorithms)] for robot in ROBOTS]
    return table(["robot", *(f"`{algorithm}`" for algorithm in algorithms)], rows)


ARMS = {"flexible_arm_6x4": "six links that bend, four modes each",
        "jointed_arm_6x4": "six rigid links with four more revolute joints each",
        "rigid_arm_6": "six rigid links"}


def arms_table(results: Results) -> str:
    """Forward and inverse dynamics of an arm with flexible links, and of its rigid counterparts."""
    algorithms = ["forward_dynamics", "inverse_dynamics"]
    rows = [[f"`{arm}`", links, *(cell(results.measured.get((algorithm, arm, "cluster")))
                                  for algorithm in algorithms)] for arm, links in ARMS.items()]
    return table(["arm", "links", *(f"`{algorithm}`" for algorithm in algorithms)], rows)


def modes_to_joints(results: Results) -> float | None:
    """What modes add to forward dynamics of a rigid arm, over what as many joints add."""
    flexible, jointed, rigid = (results.time("forward_dynamics", arm, "cluster") for arm in ARMS)
    if flexible is None or jointed is None or rigid is None:
        return None
    return (flexible - rigid) / (jointed - rigid)


def pinocchio_methods_table(results: Results) -> str:
    """All of Pinocchio's exact methods of forward dynamics; `pinocchio_exact` is the fastest."""
    rows = []
    for robot in ROBOTS:
        times = {name[2].removeprefix("pinocchio_exact_"): measured.time
                 for name, measured in results.measured.items()
                 if name[:2] == ("forward_dynamics", robot)
                 and name[2].startswith("pinocchio_exact_")}
        chosen = results.measured.get(("forward_dynamics", robot, "pinocchio_exact"))
        ordered = sorted(times.items(), key=lambda item: item[1])
        rows.append([f"`{robot}`", f"`{chosen.label}`" if chosen else "–",
                     ", ".join(f"`{name}` {figure(time)}" for name, time in ordered)])
    return table(["robot", "fastest", "all methods, µs"], rows)


@dataclass
class Comparison:
    name: str
    ratios: dict[str, float | None]  # by robot

    def row(self) -> list[str]:
        known = {robot: ratio for robot, ratio in self.ratios.items() if ratio is not None}
        if not known:
            return [self.name, "–", "–"]
        mean = math.exp(sum(map(math.log, known.values())) / len(known))
        worst = max(known, key=lambda robot: known[robot])
        return [self.name, f"{mean:.2f}", f"{known[worst]:.2f} (`{worst}`)"]


def comparisons(results: Results, scaling: Results) -> list[Comparison]:
    def over(algorithm: str, robots: list[str], method: str, other: str) -> dict[str, float | None]:
        return {robot: results.ratio(algorithm, robot, method, other) for robot in robots}

    def per_link(chain: str) -> float | None:
        long = scaling.time("forward_dynamics", f"{chain}_200", "cluster")
        short = scaling.time("forward_dynamics", f"{chain}_50", "cluster")
        return (long / 200) / (short / 50) if long and short else None

    def to_dynamics(algorithm: str, robots: list[str]) -> dict[str, float | None]:
        """Ratios to forward dynamics, which costs the same order of operations."""
        both = {robot: [results.time(name, robot, "cluster")
                        for name in (algorithm, "forward_dynamics")] for robot in robots}
        return {robot: a / b if a and b else None for robot, (a, b) in both.items()}

    trees = [f"{robot}_tree" for robot in ROBOTS]
    return [
        Comparison("forward dynamics of open trees: Kempe / Pinocchio's `aba`",
                   over("forward_dynamics", trees, "cluster", "pinocchio")),
        Comparison("inverse dynamics of open trees: Kempe / Pinocchio's `rnea`",
                   over("inverse_dynamics", trees, "cluster", "pinocchio")),
        Comparison("mass matrix of open trees: Kempe / Pinocchio's `crba`",
                   over("mass_matrix", trees, "cluster", "pinocchio")),
        Comparison("derivatives of forward dynamics of open trees: Kempe / Pinocchio's "
                   "`computeABADerivatives`",
                   over("forward_dynamics_derivatives", trees, "cluster", "pinocchio")),
        Comparison("derivatives of inverse dynamics of open trees: Kempe / Pinocchio's "
                   "`computeRNEADerivatives`",
                   over("inverse_dynamics_derivatives", trees, "cluster", "pinocchio")),
        Comparison("derivatives of forward dynamics with loops: Kempe / Pinocchio's "
                   "`computeConstraintDynamicsDerivatives`",
                   over("forward_dynamics_derivatives", ROBOTS, "cluster", "pinocchio_exact")),
        Comparison("derivatives of forward dynamics / forward dynamics, all rotors and loops",
                   to_dynamics("forward_dynamics_derivatives", ROBOTS)),
        Comparison("derivatives of forward dynamics on one core: one state of a batch / a single "
                   "state",
                   over("forward_dynamics_derivatives", ROBOTS, "cluster_batch", "cluster")),
        Comparison("derivatives of inverse dynamics on one core: one state of a batch / a single "
                   "state",
                   over("inverse_dynamics_derivatives", ROBOTS, "cluster_batch", "cluster")),
        Comparison("forward dynamics, exact: Kempe with all rotors and loops / Pinocchio's `aba` "
                   "on the open tree without them",
                   over("forward_dynamics", ROBOTS, "cluster", "pinocchio")),
        Comparison("forward dynamics, exact: Kempe / Pinocchio's fastest exact method",
                   over("forward_dynamics", ROBOTS, "cluster", "pinocchio_exact")),
        Comparison("inverse dynamics, exact: Kempe with all rotors and loops / Pinocchio's `rnea` "
                   "on the open tree without them",
                   over("inverse_dynamics", ROBOTS, "cluster", "pinocchio")),
        Comparison("forward dynamics with feet and hands held: Kempe with all rotors and loops / "
                   "Pinocchio's `constraintDynamics` on the open tree",
                   over("constrained_dynamics", ROBOTS, "cluster", "pinocchio")),
        Comparison("forces in all joints with the accelerations / accelerations alone",
                   to_dynamics("joint_forces", ROBOTS)),
        Comparison("velocities of all feet and hands / forward dynamics",
                   to_dynamics("frame_velocities", LEGGED)),
        Comparison("forward dynamics: exact / approximate, both Kempe",
                   over("forward_dynamics", ["mini_cheetah", "mit_humanoid"], "cluster",
                        "approximate")),
        Comparison("the same for Tello",
                   over("forward_dynamics", ["tello"], "cluster", "approximate")),
        Comparison("inverse operational-space inertia of all feet and hands: recursion / "
                   "projection, both Kempe",
                   over("inverse_operational_inertia", LEGGED, "cluster", "projection")),
        Comparison("forward dynamics on one core: one state of a batch / a single state",
                   over("forward_dynamics", ROBOTS, "cluster_batch", "cluster")),
        Comparison("forward dynamics beyond a rigid arm: four modes of each link / four more "
                   "joints in each", {"flexible_arm_6x4": modes_to_joints(results)}),
        Comparison("forward dynamics per link: 200 links / 50 links",
                   {chain: per_link(chain) for chain in ("chain", "geared_chain", "belt_chain")}),
    ]


def scaling_table(scaling: Results) -> str:
    names = sorted({name[1] for name in scaling.measured},
                   key=lambda robot: (robot.rsplit("_", 1)[0], int(robot.rsplit("_", 1)[1])))
    methods = ["cluster", "cluster_cut", "cut_joint", "projection", "lagrange", "pinocchio",
               "pinocchio_exact"]
    rows = []
    for robot in names:
        links = int(robot.rsplit("_", 1)[1])
        times = [scaling.time("forward_dynamics", robot, method) for method in methods]
        rows.append([f"`{robot}`", *(figure(1e3 * t / links) if t else "–" for t in times)])
    return table(["robot", *(f"`{method}`" for method in methods)], rows)


# --- the machine -------------------------------------------------------------------------------

def machine_table(results: Results) -> str:
    context = results.context
    cpu = re.search(r"^model name\s*:\s*(.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    flags = set(re.findall(r"\w+", next(iter(re.findall(r"^flags\s*:(.*)$", _read("/proc/cpuinfo"),
                                                         re.MULTILINE)), "")))
    sets = [name for flag, name in [("avx2", "AVX2"), ("fma", "FMA"), ("avx512f", "AVX-512")]
            if flag in flags]
    rows = [
        ["processor", f"{cpu.group(1) if cpu else platform.machine()}, "
                      f"{context['num_cpus']} cores, {context['mhz_per_cpu'] / 1000:.1f} GHz; "
                      f"has {', '.join(sets) or 'none of AVX'}"],
        ["Kempe", f"compiled by {compiler()}, without `-march=native`; instruction set chosen at "
                  f"load: {context.get('instruction_set', 'unknown')}"],
        ["Pinocchio", context.get("pinocchio", "not measured").strip()],
        ["MuJoCo", context.get("mujoco", "not measured")],
        ["date", context["date"][:10]],
        ["other load", "load average at the start "
                       + ", ".join(f"{load:.1f}" for load in context["load_avg"])],
    ]
    return table(["", ""], rows).replace("|---:|", "|---|")


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def compiler() -> str:
    try:
        cache = (ROOT / "build" / "bench" / "CMakeCache.txt").read_text()
        path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE).group(1)
        return subprocess.run([path, "--version"], capture_output=True, text=True,
                              check=True).stdout.splitlines()[0]
    except (OSError, AttributeError, subprocess.CalledProcessError):
        return "unknown compiler"


# --- the page ----------------------------------------------------------------------------------

def filled(page: str, parts: dict[str, str]) -> str:
    """Returns the page with the text between the markers of each part replaced."""
    for name, text in parts.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f'the page needs one "{begin}" and one "{end}"')
        head, rest = page.split(begin)
        page = head + begin + "\n" + text + "\n" + end + rest.split(end)[1]
    return page


def parts_of(results: Results, scaling: Results) -> dict[str, str]:
    parts = {"machine": machine_table(results),
             "summary": table(["time ratio", "geometric mean", "worst robot"],
                              [one.row() for one in comparisons(results, scaling)]),
             "pinocchio_methods": pinocchio_methods_table(results),
             "joint_forces": cluster_table(results, ["forward_dynamics", "joint_forces",
                                                     "joint_and_loop_forces"]),
             "kinematics": cluster_table(results, ["frame_velocities", "frame_jacobians",
                                                   "momentum", "centroidal_momentum_matrix",
                                                   "all_terms"]),
             "other_derivatives": cluster_table(results, ["gravity_forces_derivatives",
                                                          "momentum_rate_derivatives",
                                                          "frame_acceleration_derivatives"]),
             "arms": arms_table(results),
             "scaling": scaling_table(scaling)}
    return parts | {name: algorithm_table(results, name) for name in ALGORITHMS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--scaling", type=Path, default=ROOT / "build" / "bench_scaling.json")
    parser.add_argument("--page", type=Path, default=ROOT / "benchmarks" / "README.md")
    arguments = parser.parse_args()

    results = Results(json.loads(arguments.results.read_text()))
    scaling = Results(json.loads(arguments.scaling.read_text()))
    page = filled(arguments.page.read_text(), parts_of(results, scaling))
    arguments.page.write_text(page)
    folder = arguments.page.parent
    (folder / "forward_dynamics.svg").write_text(bench_drawings.bars(
        ROBOTS, ["cluster", "projection", "lagrange", "pinocchio_exact", "mujoco_exact"],
        lambda robot, method: results.time("forward_dynamics", robot, method)))
    (folder / "scaling.svg").write_text(bench_drawings.lines(
        {"chain": ["cluster", "pinocchio"],
         "geared_chain": ["cluster", "projection", "pinocchio_exact"],
         "loop": ["cluster", "projection", "pinocchio_exact"]},
        {name[1:]: measured.time for name, measured in scaling.measured.items()}))
    print(f"wrote {arguments.page}")


if __name__ == "__main__":
    main()
