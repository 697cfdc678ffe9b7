"""A figure of a run: coordinates, forces, energies and errors over time. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import kempe
from kempe.drawing import INK, dress
from kempe.runs import Vector

LEGEND = 7  # the most names that fit next to a panel
FLOOR = 1e-18  # value that represents zero on a logarithmic axis

STYLE = {"kinetic": "#d1495b", "potential": "#2e86ab", "total": INK, "work": "#edae49"}


def write_plot(run: kempe.Run, path: str) -> None:
    """Writes the figure to a .png, .pdf or .svg file."""
    independent = [name for name in run.v_names if name in run.q_names]
    positions = run.q[:, [run.q_names.index(name) for name in independent]]
    driven = bool(np.any(run.tau))
    panels = 3 + bool(independent) + driven
    figure = Figure(figsize=(11, 2.1 * panels + 0.8), layout="constrained")
    axes = iter(np.atleast_1d(figure.subplots(panels, 1, sharex=True)).tolist())
    figure.suptitle(f"{run.robot}: {run.method}, dt {run.dt:g} s", color=INK, weight="bold",
                    x=0.01, ha="left", parse_math=False)

    if independent:
        lines(next(axes), run, positions, independent, "position\nrad, m")
    lines(next(axes), run, run.v, run.v_names, "velocity\nrad/s, m/s")
    if driven:
        lines(next(axes), run, run.tau, run.v_names, "force\nN·m, N")
    energies(next(axes), run)
    last: Axes = next(axes)
    errors(last, run)
    last.set_xlabel("time, s", color=INK)
    figure.align_ylabels()
    figure.savefig(path, dpi=150)


def legend(axes: Axes, labels: list[tuple[str, Line2D]]) -> None:
    """Shows labels verbatim, including a $ or a leading underscore, which matplotlib would take
    for mathematics and for "no label"."""
    shown = axes.legend(
        [line for _, line in labels], [str(number) for number in range(len(labels))],
        loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    for text, (label, _) in zip(shown.get_texts(), labels, strict=True):
        text.set_parse_math(False)
        text.set_text(label)


def lines(axes: Axes, run: kempe.Run, values: Vector, names: list[str], label: str) -> None:
    """One line per coordinate; the legend names those with the largest range."""
    ranges = np.ptp(values, axis=0)
    named = set(np.argsort(-ranges, kind="stable")[:LEGEND].tolist())
    labels: list[tuple[str, Line2D]] = []
    for index, name in enumerate(names):
        colour = colormaps["turbo"](0.05 + 0.9 * index / max(1, len(names) - 1))
        (line,) = axes.plot(run.t, values[:, index], color=colour, linewidth=1.2)
        if index in named:
            labels.append((name, line))
    if len(names) > LEGEND:
        labels.append((f"and {len(names) - LEGEND} more", axes.plot([], [], " ")[0]))
    dress(axes, label)
    legend(axes, labels)


def energies(axes: Axes, run: kempe.Run) -> None:
    start = run.potential[0]
    curves: list[tuple[str, Vector, dict[str, Any]]] = [
        ("kinetic", run.kinetic, {"color": STYLE["kinetic"], "linewidth": 1.2}),
        ("potential, from its start", run.potential - start,
         {"color": STYLE["potential"], "linewidth": 1.2}),
        ("total", run.energy - start, {"color": STYLE["total"], "linewidth": 1.6}),
        ("start, work and losses", run.work - run.losses + run.kinetic[0],
         {"color": STYLE["work"], "linewidth": 1.6, "linestyle": "--"}),
    ]
    labels = [(label, axes.plot(run.t, values, **style)[0]) for label, values, style in curves]
    dress(axes, "energy\nJ")
    legend(axes, labels)


def errors(axes: Axes, run: kempe.Run) -> None:
    curves = [("energy balance, J", np.abs(run.energy_error), STYLE["kinetic"]),
              ("loops, m or rad", run.loop_error, STYLE["potential"])]
    labels = [(label, axes.semilogy(run.t, np.maximum(values, FLOOR), color=colour,
                                    linewidth=1.2)[0]) for label, values, colour in curves]
    dress(axes, "error")
    legend(axes, labels)
