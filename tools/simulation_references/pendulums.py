"""Open chains of slender bars: smooth motion, a stiff spring, Coulomb friction, end stops."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from integration import Array, Event, Mode
from reference import GRAVITY, Reference, hybrid, smooth


def bar_acceleration(q: float, length: float) -> float:
    """A slender bar on a hinge: m l²/3 q̈ = −m g l/2 cos q."""
    return -1.5 * GRAVITY / length * np.cos(q)


def pendulum() -> Reference:
    """A bar, m l²/3 q̈ = −m g l/2 cos q. Checked a third time by Jacobi's elliptic functions:
    with ψ = q + π/2 and κ = sin(ψ₀/2), from rest, sin(ψ/2) = κ cd(ω t, κ²), ω² = 3 g / (2 l)."""
    length, start = 1.0, 0.3
    times = [0.5, 1.0, 2.0, 3.0]
    made = smooth(["hinge"], {"length": length, "mass": 1.0}, [start, 0.0], times,
                  lambda x: np.array([x[1], bar_acceleration(x[0], length)]))
    with mpmath.workdps(30):
        omega = mpmath.sqrt(mpmath.mpf(1.5) * mpmath.mpf(GRAVITY) / length)
        kappa = mpmath.sin((mpmath.mpf(start) + mpmath.pi / 2) / 2)
        for time, position in zip(times, made["positions"]["hinge"][1:],
                                  strict=True):
            cd = mpmath.ellipfun("cd", omega * time, m=kappa**2)
            exact = 2 * mpmath.asin(kappa * cd) - mpmath.pi / 2
            assert abs(exact - position) < 1e-14, (time, exact, position)
    return made


def double_pendulum_forms(l1: float, m1: float, l2: float, m2: float, q: Array, v: Array
                          ) -> tuple[Array, Array, Array, Array, Array]:
    """M11, M12, M22 and the bias c of M q̈ + c = τ for two bars, q2 relative to the first bar.

    With φ = q1 + q2 the centre of the second bar is l1 e(q1) + l2/2 e(φ), so that
      2 T = m1 l1²/3 v1² + m2 (l1² v1² + l1 l2 cos(q2) v1 φ̇ + l2²/3 φ̇²),
      V = m1 g l1/2 sin q1 + m2 g (l1 sin q1 + l2/2 sin φ),
    and Lagrange's equations with ∂T/∂q2 = −m2 l1 l2/2 sin(q2) v1 φ̇ give the terms below.
    """
    cosine, half = np.cos(q[1]), 0.5 * m2 * l1 * l2
    m11 = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3) + 2 * half * cosine
    m12 = m2 * l2**2 / 3 + half * cosine
    m22 = m2 * l2**2 / 3 + 0 * cosine
    slope = half * np.sin(q[1])
    outer = m2 * GRAVITY * l2 / 2 * np.cos(q[0] + q[1])
    c1 = (-slope * (2 * v[0] * v[1] + v[1] ** 2) + (m1 / 2 + m2) * GRAVITY * l1 * np.cos(q[0])
          + outer)
    c2 = slope * v[0] ** 2 + outer
    return m11, m12, m22, c1, c2


def double_pendulum_rates(x: Array, lengths: Sequence[float], masses: Sequence[float],
                          torques: Callable[[Array], Sequence[float]]) -> Array:
    m11, m12, m22, c1, c2 = double_pendulum_forms(lengths[0], masses[0], lengths[1], masses[1],
                                                  x[:2], x[2:])
    tau = torques(x)
    r1, r2 = tau[0] - c1, tau[1] - c2
    determinant = m11 * m22 - m12 * m12
    return np.array([x[2], x[3], (m22 * r1 - m12 * r2) / determinant,
                     (m11 * r2 - m12 * r1) / determinant])


def double_pendulum() -> Reference:
    lengths, masses = (1.0, 0.8), (1.0, 0.7)
    return smooth(["shoulder", "elbow"],
                  {"length_1": lengths[0], "mass_1": masses[0], "length_2": lengths[1],
                   "mass_2": masses[1]},
                  [0.2, 0.5, 0.0, 1.0], [0.5, 1.0, 1.5, 2.0],
                  lambda x: double_pendulum_rates(x, lengths, masses, lambda _: (0.0, 0.0)))


def stiff_spring() -> Reference:
    """Two bars whose elbow has a spring k q2 and a damper d q̇2 of which the fast rate d / M is some
    1e5/s and the slow one k / d = 1000/s."""
    lengths, masses, k, d = (0.5, 0.5), (0.5, 0.5), 1e6, 1e3
    return smooth(["shoulder", "elbow"],
                  {"length_1": lengths[0], "mass_1": masses[0], "length_2": lengths[1],
                   "mass_2": masses[1], "stiffness": k, "damping": d},
                  [0.2, 0.0, 0.0, 0.0], [0.25, 0.5],
                  lambda x: double_pendulum_rates(
                      x, lengths, masses, lambda y: (0.0, -k * y[1] - d * y[3])),
                  longest=None)


# --- friction ----------------------------------------------------------------------------------

def friction_pendulum() -> Reference:
    """A bar with Coulomb friction F in its hinge: m l²/3 q̈ = −m g l/2 cos q − F sign(q̇). Where it
    comes to rest it stays if m g l/2 |cos q| ≤ F, else it slides on in the direction of gravity."""
    length, mass, friction = 1.0, 1.0, 1.0
    inertia, weight = mass * length**2 / 3, mass * GRAVITY * length / 2

    def mode_of(sign: object) -> Mode:
        if sign == 0:
            return Mode(lambda x: 0 * x, [])
        return Mode(lambda x: np.array(
            [x[1], (-weight * np.cos(x[0]) - sign * friction) / inertia]), [
                Event(lambda x: sign * x[1], at_rest)])

    def at_rest(x: Array) -> tuple[object, Array]:
        pull = -weight * np.cos(x[0])
        return (0 if abs(pull) <= friction else int(np.sign(pull))), np.array([x[0], 0 * x[1]])

    return hybrid(["hinge"], {"length": length, "mass": mass, "friction": friction}, [0.5, 0.0],
                  [0.5, 1.0, 2.0, 5.0], mode_of, -1)


def friction_holds() -> Reference:
    """A level bar whose friction of 5 N·m is larger than the 1.96 N·m of gravity: it stays."""
    length, mass, friction = 1.0, 0.4, 5.0
    return hybrid(["hinge"], {"length": length, "mass": mass, "friction": friction}, [0.0, 0.0],
                  [1.0, 10.0], lambda _: Mode(lambda x: 0 * x, []), 0)


def friction_chain() -> Reference:
    """Two bars with Coulomb friction in both hinges. A mode is the sign of each rate, 0 for a joint
    that sticks. At an event every combination of signs of the joints at rest is tried: a sticking
    joint needs a reaction of at most F, a sliding one an acceleration in its direction."""
    lengths, masses, friction = (1.0, 0.8), (1.0, 0.7), (1.5, 0.8)

    def solved(x: Array, signs: tuple[int, ...]) -> tuple[Array, Array]:
        """Accelerations and friction torques."""
        m11, m12, m22, c1, c2 = double_pendulum_forms(lengths[0], masses[0], lengths[1], masses[1],
                                                      x[:2], x[2:])
        tau = [-friction[i] * signs[i] + 0 * x[0] for i in range(2)]
        zero = 0 * x[0]
        if signs == (0, 0):
            return np.array([zero, zero]), np.array([c1, c2])
        if signs[0] == 0:
            a2 = (tau[1] - c2) / m22
            return np.array([zero, a2]), np.array([m12 * a2 + c1, tau[1]])
        if signs[1] == 0:
            a1 = (tau[0] - c1) / m11
            return np.array([a1, zero]), np.array([tau[0], m12 * a1 + c2])
        r1, r2 = tau[0] - c1, tau[1] - c2
        determinant = m11 * m22 - m12 * m12
        return (np.array([(m22 * r1 - m12 * r2) / determinant,
                          (m11 * r2 - m12 * r1) / determinant]), np.array(tau))

    def next_mode(x: Array, resting: set[int], signs: tuple[int, ...]) -> tuple[int, ...]:
        fitting = []
        for choice in itertools.product(*[(0, 1, -1) if i in resting else (signs[i],)
                                          for i in range(2)]):
            a, tau = solved(x, choice)
            if all(abs(tau[i]) <= friction[i] if choice[i] == 0 else choice[i] * a[i] > 0
                   for i in resting):
                fitting.append(choice)
        assert len(fitting) == 1, (x, fitting)
        return fitting[0]

    def mode_of(key: object) -> Mode:
        signs: tuple[int, ...] = key  # type: ignore[assignment]

        def rates(x: Array) -> Array:
            return np.concatenate([x[2:], solved(x, signs)[0]])

        def stopped(joint: int) -> Callable[[Array], tuple[object, Array]]:
            def then(x: Array) -> tuple[object, Array]:
                x = x.copy()
                x[2 + joint] = 0
                resting = {joint} | {i for i in range(2) if signs[i] == 0}
                return next_mode(x, resting, signs), x
            return then

        def slipped(joint: int) -> Callable[[Array], tuple[object, Array]]:
            def then(x: Array) -> tuple[object, Array]:
                """Against the friction, which is at its limit."""
                slip = -int(np.sign(solved(x, signs)[1][joint]))
                return tuple(slip if i == joint else signs[i] for i in range(2)), x
            return then

        events = []
        for i in range(2):
            if signs[i] != 0:
                events.append(Event(lambda x, i=i: signs[i] * x[2 + i], stopped(i)))
            elif signs != (0, 0):
                events.append(Event(
                    lambda x, i=i: friction[i] - abs(solved(x, signs)[1][i]), slipped(i)))
        return Mode(rates, events)

    return hybrid(["shoulder", "elbow"],
                  {"length_1": lengths[0], "mass_1": masses[0], "length_2": lengths[1],
                   "mass_2": masses[1], "friction_1": friction[0], "friction_2": friction[1]},
                  [0.5, 0.4, -0.5, 1.0], [0.5, 1.0, 2.0, 4.0], mode_of, (-1, 1))


# --- end stops -----------------------------------------------------------------------------------

def rigid_stop() -> Reference:
    """A bar that falls onto a stop from above and bounces with q̇⁺ = −e q̇⁻, more and more often, and
    then rests: bounces with less than 1e-4 rad/s, 5e-10 rad high, count as rest."""
    length, stop, restitution = 1.0, -0.3, 0.5

    def mode_of(key: object) -> Mode:
        if key == "rest":
            return Mode(lambda x: 0 * x, [])
        return Mode(lambda x: np.array([x[1], bar_acceleration(x[0], length)]),
                    [Event(lambda x: x[0] - stop, bounce)])

    def bounce(x: Array) -> tuple[object, Array]:
        rebound = -restitution * x[1]
        if rebound < 1e-4:
            return "rest", np.array([stop + 0 * x[0], 0 * x[1]])
        return "flight", np.array([stop + 0 * x[0], rebound])

    return hybrid(["hinge"], {"length": length, "mass": 1.0, "lower": stop,
                              "restitution": restitution}, [0.9, 0.0], [0.5, 0.7, 1.0, 3.0],
                  mode_of, "flight")


def spring_stop(stiffness: float, damping: float) -> Reference:
    """A bar of 0.3 kg against a stop that pushes with max(0, k (s − q) − d q̇) below s."""
    length, mass, stop = 0.5, 0.3, -0.3
    inertia = mass * length**2 / 3

    def push(x: Array) -> float:
        return stiffness * (stop - x[0]) - damping * x[1]

    def mode_of(key: object) -> Mode:
        def free(x: Array) -> Array:
            return np.array([x[1], bar_acceleration(x[0], length)])

        def pushed(x: Array) -> Array:
            return np.array([x[1], bar_acceleration(x[0], length) + push(x) / inertia])

        if key == "flight":
            return Mode(free, [Event(lambda x: x[0] - stop, lambda x: ("pushed", x))])
        if key == "pushed":
            return Mode(pushed, [Event(push, lambda x: ("released", x))],
                        grid=0.05 * (inertia / stiffness) ** 0.5)
        return Mode(free, [Event(lambda x: stop - x[0], lambda x: ("flight", x))])

    return hybrid(["hinge"], {"length": length, "mass": mass, "lower": stop,
                              "stiffness": stiffness, "damping": damping}, [0.9, 0.0],
                  [0.3, 0.5, 0.7], mode_of, "flight")
