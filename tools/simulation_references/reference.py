"""Solves equations of motion in two ways that check each other, and describes the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from integration import (
    Advance,
    Array,
    Mode,
    gauss_advance,
    motion,
    radau_advance,
    scipy_advance,
)

GRAVITY = 9.81

Parameters = dict[str, float]
States = list[Array]
Reference = dict[str, object]
Shown = Callable[[Array], Array]  # positions of the joints, then their velocities, of a state


def unchanged(x: Array) -> Array:
    return x


def reference(joints: Sequence[str], parameters: Parameters, times: Sequence[float],
              solve: Callable[[Advance, Array], States], start: Sequence[float],
              shown: Shown, longest: float | None) -> Reference:
    """Solves by the Gauss-Legendre method with steps of at most `longest` and half of it, whose
    difference is "reached", and by SciPy. Stiff equations, `longest` None: by two methods of SciPy.

    The amplification is that of errors of the start: the error of a simulation cannot be expected
    to be below its tolerance times this."""
    x = np.asarray(start, dtype=np.float64)

    def by(advance: Advance, start: Array = x) -> Array:
        return np.array([shown(state) for state in solve(advance, start)], dtype=np.float64)

    scipy = by(scipy_advance)
    if longest is None:
        states, other = scipy, by(radau_advance)
    else:
        states = by(lambda f, y, time: gauss_advance(f, y, time, 0.5 * longest))
        other = by(lambda f, y, time: gauss_advance(f, y, time, longest))
    amplification = 1.0
    for i in range(len(x)):
        moved = x.copy()
        moved[i] += 1e-7
        amplification = max(amplification, np.abs(by(scipy_advance, moved) - scipy).max() / 1e-7)
    return described(joints, parameters, times, [shown(x), *states], np.abs(states - other).max(),
                     np.abs(states - scipy).max(), amplification)


def described(joints: Sequence[str], parameters: Parameters, times: Sequence[float],
              states: States, reached: float, scipy: float | None, amplification: float
              ) -> Reference:
    """As it is stored; the first state is that at t = 0."""
    n = len(joints)
    return {
        "parameters": parameters,
        "times": [0.0, *(float(time) for time in times)],
        "positions": {name: [float(x[i]) for x in states] for i, name in enumerate(joints)},
        "velocities": {name: [float(x[n + i]) for x in states] for i, name in enumerate(joints)},
        "reached": float(reached),
        "scipy_differs": None if scipy is None else float(scipy),
        "amplification": float(amplification),
    }


def smooth(joints: Sequence[str], parameters: Parameters, start: Sequence[float],
           times: Sequence[float], rates: Callable[[Array], Array],
           shown: Shown = unchanged,
           longest: float | None = 2e-3) -> Reference:
    """A motion without events. `shown` turns the state into that of the joints."""

    def solve(advance: Advance, x: Array) -> States:
        states, now = [], 0.0
        for time in times:
            x = advance(rates, x, time - now)
            now = time
            states.append(x)
        return states

    return reference(joints, parameters, times, solve, start, shown, longest)


def hybrid(joints: Sequence[str], parameters: Parameters, start: Sequence[float],
           times: Sequence[float], mode_of: Callable[[object], Mode], first: object,
           shown: Shown = unchanged,
           longest: float = 2e-3) -> Reference:
    """A motion of several pieces."""
    return reference(joints, parameters, times,
                     lambda advance, x: motion(mode_of, first, x, times, advance), start, shown,
                     longest)
