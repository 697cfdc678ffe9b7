"""A figure of a run: coordinates, forces, energies and errors over time. Needs matplotlib."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import kempe
from kempe.drawing import INK, dress
from kempe.simulation import Vector

LEGEND = 7  # names of more lines than this do not fit beside a panel
FLOOR = 1e-18  # what a logarithmic axis shows zero as

STYLE = {"kinetic": "#d1495b", "potential": "#2e86ab", "total": INK, "work": "#edae49"}


def write_plot(run: kempe.Run, path: str) -> None:
    """Writes the figure to a file .png, .pdf or .svg."""
    independent = [name for name in run.v_names if name in run.q_names]
    positions = run.q[:, [run.q_names.index(name) for name in independent]]
    driven = bool(np.any(run.tau))
    panels = 3 + bool(independent) + driven
    figure = Figure(figsize=(11, 2.1 * panels + 0.8), layout="constrained")
    axes = iter(np.atleast_1d(figure.subplots(panels, 1, sharex=True)).tolist())
    figure.suptitle(f"{run.robot}: {run.integrator}, dt {run.dt:g} s", color=INK, weight="bold",
                    x=0.01, ha="left")

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


def legend(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def lines(axes: Axes, run: kempe.Run, values: Vector, names: list[str], label: str) -> None:
    """A line for each coordinate; the legend names those that move most."""
    ranges = np.ptp(values, axis=0)
    named = set(np.argsort(-ranges, kind="stable")[:LEGEND].tolist())
    for index, name in enumerate(names):
        colour = colormaps["turbo"](0.05 + 0.9 * index / max(1, len(names) - 1))
        axes.plot(run.t, values[:, index], color=colour, linewidth=1.2,
                  label=name if index in named else "_")
    if len(names) > LEGEND:
        axes.plot([], [], " ", label=f"and {len(names) - LEGEND} more")
    dress(axes, label)
    legend(axes)


def energies(axes: Axes, run: kempe.Run) -> None:
    axes.plot(run.t, run.kinetic, color=STYLE["kinetic"], linewidth=1.2, label="kinetic")
    axes.plot(run.t, run.potential - run.potential[0], color=STYLE["potential"], linewidth=1.2,
              label="potential, from its start")
    axes.plot(run.t, run.energy - run.potential[0], color=STYLE["total"], linewidth=1.6,
              label="total")
    axes.plot(run.t, run.work + run.kinetic[0], color=STYLE["work"], linewidth=1.6,
              linestyle="--", label="start and work")
    dress(axes, "energy\nJ")
    legend(axes)


def errors(axes: Axes, run: kempe.Run) -> None:
    axes.semilogy(run.t, np.maximum(np.abs(run.energy_error), FLOOR), color=STYLE["kinetic"],
                  linewidth=1.2, label="energy less work, J")
    axes.semilogy(run.t, np.maximum(run.loop_error, FLOOR), color=STYLE["potential"],
                  linewidth=1.2, label="loops, m or rad")
    dress(axes, "error")
    legend(axes)
