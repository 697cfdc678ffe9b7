"""Style of figures. Needs matplotlib."""

from __future__ import annotations

from matplotlib.axes import Axes

INK, GRID = "#24292f", "#d8dee4"


def dress(axes: Axes, y: str, x: str = "", title: str = "") -> None:
    """Labels, a light grid, and no frame."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GRID)
    axes.tick_params(colors=INK, labelsize=8)
    axes.margins(x=0)
