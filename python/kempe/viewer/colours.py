"""Colours of clusters, which people with any kind of colour vision can tell apart."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kempe.viewer.flexible import ElasticBodies

if TYPE_CHECKING:
    from kempe import Model

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
# Dark to bright at equal steps of brightness: viridis (N. Smith, S. van der Walt, CC0).
SCALE: tuple[Colour, ...] = (
    (68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129),
    (92, 200, 99), (170, 220, 50), (253, 231, 37))


@dataclasses.dataclass(frozen=True)
class Palette:
    """The colour of each body, and a legend."""

    bodies: dict[str, Colour]
    legend: list[tuple[Colour, str]]


def cluster_colours(model: Model) -> Palette:
    """Bodies of one cluster have shades of one colour; bodies fixed to another have its colour, and
    modes and nodes that of their flexible body."""
    bodies: dict[str, Colour] = {}
    legend: list[tuple[Colour, str]] = []
    flexible = ElasticBodies(model)
    coupled = 0
    for cluster in model.clusters:
        names = [name for name in cluster.bodies if name not in flexible.parts]
        colour = ALONE
        if len(names) > 1:
            colour = PALETTE[coupled % len(PALETTE)]
            coupled += 1
            legend.append((colour, describe(names, cluster.mobility)))
        for number, name in enumerate(names):
            bodies[name] = shaded(colour, SHADES[number % len(SHADES)])

    for elastic in flexible.bodies:
        colour = bodies.get(elastic.name, ALONE)  # alone where it is fixed to something
        bodies |= dict.fromkeys((elastic.name, *elastic.parts), colour)
    mechanism = model.mechanism
    above = {joint.child: joint for joint in mechanism.joints}
    for body in mechanism.bodies:
        carrier = body.name
        while carrier not in bodies and carrier in above:
            carrier = above[carrier].parent
        bodies[body.name] = bodies.get(carrier, FIXED)
    if ALONE in bodies.values():
        legend.append((ALONE, "bodies outside of loops"))
    return Palette(bodies, [*legend, (FIXED, "fixed")])


def shaded(colour: Colour, shade: float) -> Colour:
    """Lighter for shades above zero, darker below."""
    end = 255 if shade > 0 else 0
    red, green, blue = (round(value + abs(shade) * (end - value)) for value in colour)
    return red, green, blue


def of_fraction(fraction: float) -> Colour:
    """The colour of a number from 0 to 1 on the scale."""
    place = min(max(fraction, 0.0), 1.0) * (len(SCALE) - 1)
    first = min(int(place), len(SCALE) - 2)
    red, green, blue = (round(a + (place - first) * (b - a))
                        for a, b in zip(SCALE[first], SCALE[first + 1], strict=True))
    return red, green, blue


def scale_bar(title: str, top: str) -> str:
    """The scale as HTML, with its ends: 0 and `top`."""
    stops = ", ".join(f"rgb{colour}" for colour in SCALE)
    return (f'<div>{title}</div>'
            f'<div style="height:0.8em;background:linear-gradient(to right, {stops})"></div>'
            f'<div style="display:flex;justify-content:space-between"><span>0</span>'
            f'<span>{top}</span></div>')


def describe(bodies: list[str], mobility: int) -> str:
    dofs = "1 DoF" if mobility == 1 else f"{mobility} DoFs"
    return f"{', '.join(bodies)}: {dofs}"
