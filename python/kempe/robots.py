"""Robots bundled with the library, built from their published parameters.

Legged robots have frames at their feet and hands: `left_foot`, `right_foot`, `left_hand`,
`right_hand`; Mini Cheetah `front_left_foot` and so on; the single leg `foot`.
"""

from collections.abc import Mapping

from numpy.typing import ArrayLike

from kempe import _kempe

__all__ = ["load", "mechanism", "names"]


def names() -> list[str]:
    """All names that load() knows."""
    return _kempe.robot_names()


def mechanism(name: str, n: int | None = None, *, upright: bool = True) -> _kempe.Mechanism:
    """A robot by name, to inspect or change before it is compiled.

    `n` is the number of links of the chains (`geared_chain`, `belt_chain`; 12 if not given); the
    other robots do not take it. `upright=False` leaves the linkages (`four_bar`, `six_bar`,
    `planar_leg`) and the chains in the horizontal plane of the published files, where gravity does
    not move them. Raises ModelError for an unknown name.
    """
    if n is not None and n < 1:
        raise ValueError(f"n: a chain needs at least one link, got {n}")
    return _kempe.robot_mechanism(name, n or 0, upright)


def load(name: str, n: int | None = None, *, upright: bool = True, fold_rotors: bool = True,
         start: Mapping[str, float | ArrayLike] | None = None) -> _kempe.Model:
    """A robot by name, compiled; arguments as in mechanism() and kempe.load()."""
    robot = mechanism(name, n, upright=upright)
    if start is not None:
        robot.start_pose = {**robot.start_pose, **start}
    return _kempe.Model(robot, fold_rotors=fold_rotors, )
