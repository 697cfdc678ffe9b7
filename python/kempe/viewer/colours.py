"""Colours of clusters, which people with any kind of colour vision can tell apart."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kempe import Cluster, Model

Colour = tuple[int, int, int]

# The palette of Okabe and Ito, less black and yellow, which do not show on bodies.
PALETTE: tuple[Colour, ...] = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0))
ALONE: Colour = (187, 190, 197)  # a cluster of one body
FIXED: Colour = (110, 113, 120)  # the root and bodies that are fixed to it
AXIS: Colour = (60, 60, 160)
LOOP: Colour = (200, 0, 60)
COUPLING: Colour = (120, 60, 160)
CENTRE_OF_MASS: Colour = (20, 20, 20)
# Bodies of one cluster, one after the other: as the cluster, lighter, darker.
SHADES = (0.0, 0.45, -0.35)


@dataclasses.dataclass(frozen=True)
class Palette:
    """The colour of each body, and a legend."""

    bodies: dict[str, Colour]
    legend: list[tuple[Colour, str]]


def cluster_colours(model: Model) -> Palette:
    """Bodies of one cluster have shades of one colour; bodies fixed to another have its colour."""
    bodies: dict[str, Colour] = {}
    legend: list[tuple[Colour, str]] = []
    coupled = 0
    for cluster in model.clusters:
        colour = ALONE
        if len(cluster.bodies) > 1:
            colour = PALETTE[coupled % len(PALETTE)]
            coupled += 1
            legend.append((colour, describe(cluster)))
        for number, name in enumerate(cluster.bodies):
            bodies[name] = shaded(colour, SHADES[number % len(SHADES)])

    mechanism = model.mechanism
    above = {joint.child: joint for joint in mechanism.joints}
    for body in mechanism.bodies:
        carrier = body.name
        while carrier not in bodies and carrier in above:
            carrier = above[carrier].parent
        bodies[body.name] = bodies.get(carrier, FIXED)
    if len(legend) < len(model.clusters):
        legend.append((ALONE, "bodies outside of loops"))
    return Palette(bodies, [*legend, (FIXED, "fixed")])


def shaded(colour: Colour, shade: float) -> Colour:
    """Lighter for shades above zero, darker below."""
    end = 255 if shade > 0 else 0
    red, green, blue = (round(value + abs(shade) * (end - value)) for value in colour)
    return red, green, blue


def describe(cluster: Cluster) -> str:
    dofs = "1 DoF" if cluster.mobility == 1 else f"{cluster.mobility} DoFs"
    return f"{', '.join(cluster.bodies)}: {dofs}"
