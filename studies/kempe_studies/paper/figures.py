"""The figures of the page, as PNG. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kempe.drawing import INK, dress
from kempe.runs import Vector
from kempe.timing import Spread
from kempe_studies.paper import published
from kempe_studies.paper.jump import Jump
from kempe_studies.paper.names import METHODS
from kempe_studies.paper.published import Comparison, Scaling
from kempe_studies.paper.speed import Key, Times, chain_name
from kempe_studies.paper.torque import ANKLE, FREQUENCY, KNEE, Torques

COLOURS = {"cluster": "#2e75b6", "cluster_bodies": "#8ab6dc",
           "approximate": "#edae49", "projection": "#1f9e89", "lagrange": "#8e6bbf",
           "unconstrained": "#b0413e", "pinocchio": "#8c8c8c",
           "pinocchio_exact": "#4d4d4d"}


def legend_above(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 5 else -(-len(labels) // 2)
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False,
                  fontsize=8)


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=150)


# --- bars: Figures 9, 10, 12 ---------------------------------------------------------------------

def draw_comparison(comparison: Comparison, times: Times, path: Path) -> None:
    """Times measured on this machine, and the paper's."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    ours, theirs = figure.subplots(1, 2)
    unknown = Spread(np.nan, np.nan, np.nan)
    measured = {}
    for method in COLOURS:
        keys = [Key(comparison.algorithm, robot, method) for robot in published.ROBOTS]
        if any(key in times for key in keys):
            measured[method] = [times.time(key) if key in times else unknown for key in keys]
    draw_bars(ours, {method: 1e6 * np.array(spreads) for method, spreads in measured.items()})
    dress(ours, "µs per call", "", "Here; error bars show the interquartile range")
    draw_bars(theirs, {method: np.column_stack([values] * 3)
                       for method, values in comparison.microseconds.items()})
    dress(theirs, "µs per call", "", f"The paper's program, {published.MACHINE}")
    for axes in (ours, theirs):
        axes.grid(visible=False, axis="x")
        axes.margins(x=0.02)
    legend_above(figure, ours)
    save(figure, path)


def draw_bars(axes: Axes, times: dict[str, Vector]) -> None:
    """Draws bars; `times` has a row (median, low, high) per robot for each method."""
    width = 0.84 / len(times)
    for number, (method, (median, low, high)) in enumerate(
            (method, spreads.T) for method, spreads in times.items()):
        places = np.arange(len(median)) + (number - (len(times) - 1) / 2) * width
        axes.bar(places, median, width, color=COLOURS[method], label=METHODS[method],
                 yerr=(median - low, high - median), error_kw={"elinewidth": 0.8, "ecolor": INK})
    names = [name.replace(" ", "\n") for name in published.ROBOTS.values()]
    axes.set_xticks(range(len(names)), names)


# --- chains: Figures 11 and 13 -------------------------------------------------------------------

def draw_scaling(scalings: Sequence[Scaling], times: Times, links: Sequence[int],
                 path: Path) -> None:
    """A row for each kind of chain: linear over the paper's range, the paper's own times, and
    logarithmic over all."""
    figure = Figure(figsize=(11, 3.2 * len(scalings)), layout="constrained")
    rows = np.atleast_2d(figure.subplots(len(scalings), 3))
    small = [count for count in links if count <= max(published.LINKS)]
    for scaling, (linear, theirs, logarithmic) in zip(scalings, rows, strict=True):
        for method in COLOURS:
            for axes, counts in ((linear, small), (logarithmic, links)):
                keys = {count: Key(scaling.algorithm, chain_name(scaling.robot, count), method)
                        for count in counts}
                known = {count: 1e6 * times.time(key).median for count, key in keys.items()
                         if key in times}
                if known:
                    axes.plot(list(known), list(known.values()), "o-", color=COLOURS[method],
                              markersize=3.5, linewidth=1.4, label=METHODS[method])
        for method, values in scaling.microseconds.items():
            theirs.plot(published.LINKS, values, "o-", color=COLOURS[method], markersize=3.5,
                        linewidth=1.4)
        kind = scaling.robot.replace("_", " ")
        dress(linear, "µs per call", "links", f"{kind}, here")
        dress(theirs, "µs per call", "links", f"{kind}, the paper's program")
        dress(logarithmic, "µs per call", "links", f"{kind}, here, to {max(links)} links")
        logarithmic.set_xscale("log")
        logarithmic.set_yscale("log")
        ticks = [n for n in (2, 5, 10, 20, 50, 100, 200) if n <= max(links)]
        logarithmic.set_xticks(ticks, labels=map(str, ticks))
        logarithmic.set_xticks([], minor=True)
        for axes in (linear, theirs):
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
    legend_above(figure, rows[0][0])
    save(figure, path)


# --- torques: Figure 14 --------------------------------------------------------------------------

def draw_torques(torques: Torques, path: Path) -> None:
    """Torques of knee and ankle over two periods of the sinusoid."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    shown = torques.t <= 2 / FREQUENCY
    panels = figure.subplots(1, 2)
    for axes, joint, name in zip(panels, (KNEE, ANKLE), ("knee", "ankle"), strict=True):
        for method in torques.tau:
            axes.plot(torques.t[shown], torques.tau[method][shown, joint], color=COLOURS[method],
                      linewidth=1.6, label=METHODS[method])
        dress(axes, "N·m", "time, s", f"Torque at the {name}")
    legend_above(figure, panels[0])
    save(figure, path)


# --- the jump ------------------------------------------------------------------------------------

def draw_jumps(jumps: Sequence[Jump], path: Path) -> None:
    """Motion with the softest controller over time, and the foot error of all controllers."""
    figure = Figure(figsize=(11, 6.2), layout="constrained")
    (angle, height), (error, feedback) = figure.subplots(2, 2)
    first = [jump for jump in jumps if jump.gains == jumps[0].gains]
    angle.plot(first[0].t, np.degrees(first[0].wanted[:, KNEE]), ":", color=INK, linewidth=2.2,
               label="wanted")

    def draw(axes: Axes, jump: Jump, values: Vector) -> None:
        axes.plot(jump.t, values, color=COLOURS[jump.method], linewidth=1.4,
                  label=METHODS[jump.method])
    for jump in first:
        draw(angle, jump, np.degrees(jump.joints[:, KNEE]))
        draw(height, jump, 1e3 * jump.height)
        draw(error, jump, 1e3 * jump.foot_error)
        draw(feedback, jump, np.linalg.norm(jump.feedback, axis=1))
    dress(angle, "degrees", "time, s", f"Knee, {first[0].gains} feedback")
    dress(height, "mm", "time, s", "Height of the torso")
    dress(error, "mm", "time, s", "Error of the foot's place below the torso")
    dress(feedback, "N·m", "time, s", "Feedback torque, all joints")
    legend_above(figure, angle)
    save(figure, path)
