"""Numerical integration for the references of tools/simulation_proof.py: two ways that check each
other, and motions of several pieces with located events.

`scipy_advance` is DOP853 of SciPy at tolerances of 1e-13. `gauss_advance` is the Gauss-Legendre
method of order 12 with 80-bit numbers and steps of fixed length (Hairer, Lubich, Wanner, Geometric
Numerical Integration, II.1.3). Both advance x' = f(x) by a given time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy.integrate

Array = np.ndarray
Rates = Callable[[Array], Array]
Advance = Callable[[Rates, Array, float], Array]


def scipy_advance(rates: Rates, x: Array, time: float) -> Array:
    if time <= 0.0:
        return x
    solution = scipy.integrate.solve_ivp(lambda _, y: rates(y), (0.0, float(time)),
                                         np.asarray(x, dtype=np.float64), method="DOP853",
                                         rtol=1e-13, atol=1e-14)
    assert solution.success, solution.message
    return np.asarray(solution.y[:, -1])


def radau_advance(rates: Rates, x: Array, time: float) -> Array:
    """For stiff equations."""
    solution = scipy.integrate.solve_ivp(lambda _, y: rates(y), (0.0, float(time)),
                                         np.asarray(x, dtype=np.float64), method="Radau",
                                         rtol=1e-12, atol=1e-14)
    assert solution.success, solution.message
    return np.asarray(solution.y[:, -1])


def _gauss_tableau(stages: int) -> tuple[Array, Array]:
    """A and b of the collocation method at the zeros of the shifted Legendre polynomial."""
    import mpmath

    with mpmath.workdps(40):
        legendre = mpmath.taylor(lambda x: mpmath.legendre(stages, x), 0, stages)[::-1]
        nodes = sorted((mpmath.re(root) + 1) / 2
                       for root in mpmath.polyroots(legendre, maxsteps=200, extraprec=200))
        powers = mpmath.matrix(stages, stages)
        for i in range(stages):
            for k in range(stages):
                powers[k, i] = nodes[i] ** k

        def integrals_to(end: object) -> list[object]:
            """Weights of the nodes for the integral from 0 to `end`."""
            moments = mpmath.matrix([end ** (k + 1) / (k + 1) for k in range(stages)])
            return list(mpmath.lu_solve(powers, moments))

        def wide(numbers: list[object]) -> Array:
            return np.array([np.longdouble(mpmath.nstr(number, 25)) for number in numbers])

        return (np.array([wide(integrals_to(node)) for node in nodes]),
                wide(integrals_to(mpmath.mpf(1))))


_GAUSS: list[tuple[Array, Array]] = []


def gauss_advance(rates: Rates, x: Array, time: float, longest: float = 2e-3) -> Array:
    if not _GAUSS:
        _GAUSS.append(_gauss_tableau(6))
    matrix, weights = _GAUSS[0]
    x = np.asarray(x, dtype=np.longdouble)
    if time <= 0:
        return x
    steps = max(1, int(np.ceil(float(time) / longest)))
    h = np.longdouble(time) / steps
    for _ in range(steps):
        slopes = np.array([rates(x)] * len(weights))
        for _ in range(60):
            before = slopes
            slopes = np.array([rates(x + h * row @ before) for row in matrix])
            if np.abs(slopes - before).max() <= 1e-18 * (1 + np.abs(slopes).max()):
                break
        x = x + h * (weights @ slopes)
    return x


# --- motions of several pieces ---------------------------------------------------------------

@dataclasses.dataclass
class Event:
    """Ends a piece where `value` falls through zero; `then` returns the next mode and state."""

    value: Callable[[Array], float]
    then: Callable[[Array], tuple[object, Array]]


@dataclasses.dataclass
class Mode:
    """One piece of a motion: x' = rates(x) until one of the events, which are looked for at times
    `grid` apart."""

    rates: Rates
    events: list[Event]
    grid: float = 2e-3


def motion(mode_of: Callable[[object], Mode], key: object, x: Array, times: Sequence[float],
           advance: Advance) -> list[Array]:
    """The states at the times. Events are located by the regula falsi (Illinois) on the integrator
    itself, without interpolation."""
    now, states = 0.0, []
    mode = mode_of(key)
    for sample in times:
        while now < sample:
            step = min(mode.grid, sample - now)
            after = advance(mode.rates, x, step)
            found: tuple[float, Event] | None = None
            for event in mode.events:
                # A piece begins where its own event is at zero, so that it must first be above.
                if event.value(after) < 0.0 and (event.value(x) > 0.0 or event.value(
                        advance(mode.rates, x, 1e-3 * step)) > 0.0):
                    reached = _locate(mode.rates, x, step, event.value, advance)
                    if found is None or reached < found[0]:
                        found = (reached, event)
            if found is None:
                now, x = now + step, after
                continue
            x = advance(mode.rates, x, found[0])
            now += found[0]
            key, x = found[1].then(x)
            mode = mode_of(key)
        states.append(x)
    return states


def _locate(rates: Rates, x: Array, step: float, value: Callable[[Array], float],
            advance: Advance) -> float:
    left, right = 1e-3 * step if value(x) <= 0.0 else 0.0, step
    at_left = float(value(advance(rates, x, left)))
    at_right = float(value(advance(rates, x, right)))
    side = 0
    for _ in range(100):
        middle = (left * at_right - right * at_left) / (at_right - at_left)
        at_middle = float(value(advance(rates, x, middle)))
        if abs(right - left) <= 1e-17 or abs(at_middle) <= 1e-17:
            break
        if at_middle < 0.0:
            right, at_right = middle, at_middle
            at_left = 0.5 * at_left if side == -1 else at_left
            side = -1
        else:
            left, at_left = middle, at_middle
            at_right = 0.5 * at_right if side == 1 else at_right
            side = 1
    return middle
