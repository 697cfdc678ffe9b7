"""Four-bars in the plane, and a delta robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from integration import Array, Event, Mode, scipy_advance
from reference import GRAVITY, Parameters, Reference, described, hybrid, smooth


class FourBar:
    """A crank a at the origin, a coupler b, a rocker c on the ground at (d, 0): a e(θ) + b e(α) =
    (d, 0) + c e(β). With θ as the only coordinate,
        ½ M(θ) θ̇² + V(θ) = E,   M θ̈ + ½ M' θ̇² + V' = Q.
    `math` is numpy or mpmath. Derivatives by θ come from that of the loop, a e⊥(θ) + b α' e⊥(α) =
    c β' e⊥(β): times e(β) and e(α), α' = a sin(θ − β) / (b sin(β − α)), β' = a sin(θ − α) /
    (c sin(β − α)).
    """

    def __init__(self, a: float, b: float, c: float, d: float, masses: Sequence[float],
                 sign: int, math: object = np) -> None:
        self.a, self.b, self.c, self.d, self.sign, self.math = a, b, c, d, sign, math
        self.m = masses

    def angles(self, theta: float) -> tuple[float, float]:
        """α and β: the coupler's end is where circles around its ends meet, on one side."""
        m = self.math
        x, y = self.a * m.cos(theta), self.a * m.sin(theta)
        rx, ry = self.d - x, -y
        square = rx * rx + ry * ry
        along = (square + self.b**2 - self.c**2) / (2 * square)
        aside = self.sign * m.sqrt(self.b**2 / square - along**2)
        bx, by = along * rx - aside * ry, along * ry + aside * rx
        atan2 = m.arctan2 if m is np else m.atan2
        return atan2(by, bx), atan2(y + by, x + bx - self.d)

    def slopes(self, theta: float, alpha: float, beta: float) -> tuple[float, float]:
        s = self.math.sin
        return (self.a * s(theta - beta) / (self.b * s(beta - alpha)),
                self.a * s(theta - alpha) / (self.c * s(beta - alpha)))

    def curvatures(self, theta: float, alpha: float, beta: float, da: float, db: float
                   ) -> tuple[float, float]:
        """α'' and β'', from the quotients above."""
        s, c = self.math.sin, self.math.cos
        sine, turn = s(beta - alpha), c(beta - alpha) * (db - da)
        return ((self.a * c(theta - beta) * (1 - db) / self.b - da * turn) / sine,
                (self.a * c(theta - alpha) * (1 - da) / self.c - db * turn) / sine)

    def inertia(self, theta: float, alpha: float, da: float, db: float) -> float:
        a, b, c = self.a, self.b, self.c
        return (self.m[0] * a**2 / 3
                + self.m[1] * (a**2 + b**2 / 3 * da**2 + a * b * da * self.math.cos(theta - alpha))
                + self.m[2] * c**2 / 3 * db**2)

    def inertia_slope(self, theta: float, alpha: float, da: float, db: float, dda: float,
                      ddb: float) -> float:
        a, b, c = self.a, self.b, self.c
        cosine, sine = self.math.cos(theta - alpha), self.math.sin(theta - alpha)
        return (self.m[1] * (b**2 / 1.5 * da * dda + a * b * (dda * cosine - da * sine * (1 - da)))
                + self.m[2] * c**2 / 1.5 * db * ddb)

    def potential(self, theta: float, alpha: float, beta: float) -> float:
        s = self.math.sin
        return GRAVITY * (self.m[0] * self.a / 2 * s(theta)
                          + self.m[1] * (self.a * s(theta) + self.b / 2 * s(alpha))
                          + self.m[2] * self.c / 2 * s(beta))

    def potential_slope(self, theta: float, alpha: float, beta: float, da: float, db: float
                        ) -> float:
        c = self.math.cos
        return GRAVITY * (self.m[0] * self.a / 2 * c(theta)
                          + self.m[1] * (self.a * c(theta) + self.b / 2 * c(alpha) * da)
                          + self.m[2] * self.c / 2 * c(beta) * db)

    def rates(self, x: Array, resistance: Callable[[float, float], float] | None = None) -> Array:
        """x = (θ, θ̇); `resistance(α', β')` is the generalised force Q."""
        theta, rate = x
        alpha, beta = self.angles(theta)
        da, db = self.slopes(theta, alpha, beta)
        dda, ddb = self.curvatures(theta, alpha, beta, da, db)
        force = 0 if resistance is None else resistance(da, db)
        return np.array([rate, (
            force - 0.5 * self.inertia_slope(theta, alpha, da, db, dda, ddb) * rate**2
            - self.potential_slope(theta, alpha, beta, da, db)
        ) / self.inertia(theta, alpha, da, db)])

    def shown(self, x: Array) -> Array:
        """Joints: crank θ, knee α − θ, pivot β."""
        theta, rate = x
        alpha, beta = self.angles(theta)
        da, db = self.slopes(theta, alpha, beta)
        return np.array([theta, alpha - theta, beta, rate, (da - 1) * rate, db * rate])

    def parameters(self) -> Parameters:
        return {"ground": self.d, "crank": self.a, "coupler": self.b, "rocker": self.c,
                "crank_mass": self.m[0], "coupler_mass": self.m[1], "rocker_mass": self.m[2]}


FOUR_BAR_JOINTS = ["crank", "knee", "pivot"]
FOUR_BAR_MASSES = (0.5, 0.4, 0.6)


def crank_rocker() -> Reference:
    bars = FourBar(0.1, 0.35, 0.3, 0.4, FOUR_BAR_MASSES, 1)
    return smooth(FOUR_BAR_JOINTS, bars.parameters(), [1.0, 12.0], [0.25, 0.5, 1.0, 2.0],
                  bars.rates, bars.shown)


def friction_four_bar() -> Reference:
    """A crank-rocker with friction F in three joints, whose rates are r θ̇ with r = 1, α' − 1, β':
    Q = −sign(θ̇) Σ F |r|. It has a kink where a joint reverses, r = 0, which is an event. Where the
    crank comes to rest, it stays if |V'| ≤ Σ F |r|."""
    bars = FourBar(0.1, 0.35, 0.3, 0.4, FOUR_BAR_MASSES, 1)
    friction = (0.05, 0.03, 0.04)

    def ratios(x: Array) -> tuple[float, float, float, float]:
        """r of the three joints, and V'."""
        alpha, beta = bars.angles(x[0])
        da, db = bars.slopes(x[0], alpha, beta)
        return 1.0, da - 1, db, bars.potential_slope(x[0], alpha, beta, da, db)

    def mode_of(key: object) -> Mode:
        if key == "rest":
            return Mode(lambda x: 0 * x, [])
        sign, knee, pivot = key  # type: ignore[misc]

        def rates(x: Array) -> Array:
            return bars.rates(x, lambda da, db: -sign * (
                friction[0] + friction[1] * knee * (da - 1) + friction[2] * pivot * db))

        return Mode(rates, [
            Event(lambda x: sign * x[1], stopped),
            Event(lambda x: knee * ratios(x)[1], lambda x: ((sign, -knee, pivot), x)),
            Event(lambda x: pivot * ratios(x)[2], lambda x: ((sign, knee, -pivot), x))])

    def stopped(x: Array) -> tuple[object, Array]:
        _, knee, pivot, slope = ratios(x)
        most = friction[0] + friction[1] * abs(knee) + friction[2] * abs(pivot)
        x = np.array([x[0], 0 * x[1]])
        if abs(slope) <= most:
            return "rest", x
        return (-int(np.sign(slope)), int(np.sign(knee)), int(np.sign(pivot))), x

    start = np.array([1.0, 12.0])
    first = (1, int(np.sign(ratios(start)[1])), int(np.sign(ratios(start)[2])))
    return hybrid(FOUR_BAR_JOINTS, {**bars.parameters(), "friction_1": friction[0],
                                    "friction_2": friction[1], "friction_3": friction[2]},
                  start, [0.25, 0.5, 1.0, 3.0], mode_of, first, bars.shown)


def parallelogram() -> Reference:
    """Opposite bars are equal: α = 0, β = θ, so that M = m1 a²/3 + m2 a² + m3 a²/3 and
    V = g (m1/2 + m2 + m3/2) a sin θ + constant, through the flat positions θ = 0, π too."""
    a, d, (m1, m2, m3) = 0.5, 1.0, FOUR_BAR_MASSES
    ratio = GRAVITY * (m1 / 2 + m2 + m3 / 2) / (a * (m1 / 3 + m2 + m3 / 3))
    parameters = {"ground": d, "crank": a, "coupler": d, "rocker": a, "crank_mass": m1,
                  "coupler_mass": m2, "rocker_mass": m3}
    return smooth(FOUR_BAR_JOINTS, parameters, [1.0, 7.0], [0.25, 0.5, 1.0, 2.0],
                  lambda x: np.array([x[1], -ratio * np.cos(x[0])]),
                  lambda x: np.array([x[0], -x[0], x[0], x[1], -x[1], x[1]]))


def ladder() -> Reference:
    """N + 1 upright bars of 1 m and 1 kg on hinges 1 m apart, joined by N bars of 1 m and 1 kg that
    stay level: M = (N + 1)/3 + N, V = g ((N + 1)/2 + N) sin θ. Released upright at 1 rad/s,
    clockwise, it passes its flat position θ = 0, and on the way back again."""
    n = 4
    ratio = GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    joints = ["rocker_0"] + [f"{kind}_{i}" for i in range(1, n + 1) for kind in ("bar", "rocker")]
    signs = np.array([1.0] + [sign for _ in range(n) for sign in (-1.0, 1.0)])
    return smooth(joints, {"loops": n}, [np.pi / 2, -1.0], [0.5, 1.0, 1.5, 2.0],
                  lambda x: np.array([x[1], -ratio * np.cos(x[0])]),
                  lambda x: np.concatenate([signs * x[0], signs * x[1]]))


def near_parallelogram(miss: float) -> Reference:
    """A parallelogram whose rocker is longer by `miss`, so that the crank turns fully and the two
    ways of assembly do not meet: near the flat positions θ = k π the linkage turns from nearly
    parallel to nearly antiparallel, within |θ − k π| ~ √miss. By energy,
        t(θ) = ∫ √(M / (2 (E − V))) dθ
    with 50 digits, on intervals that grow in powers of 4 from the flat positions. SciPy on the
    scalar equation checks a miss of 1e-4; rounding in it grows with 1 / miss."""
    scalar_miss = 1e-4
    with mpmath.workdps(50):
        one = mpmath.mpf
        rocker = 0.5 + miss
        bars = FourBar(one(0.5), one(1), one(rocker), one(1), [one(m) for m in FOUR_BAR_MASSES], 1,
                       mpmath)
        start, rate = one(1), one(9)
        if abs(bars.angles(start)[0]) > 0.1:
            bars.sign = -1

        def at(theta: object) -> tuple[object, ...]:
            alpha, beta = bars.angles(theta)
            da, db = bars.slopes(theta, alpha, beta)
            return (alpha, beta, da, db, bars.inertia(theta, alpha, da, db),
                    bars.potential(theta, alpha, beta))

        *_, inertia, potential = at(start)
        energy = inertia * rate**2 / 2 + potential

        def slowness(theta: object) -> object:
            *_, m, v = at(theta)
            return mpmath.sqrt(m / (2 * (energy - v)))

        def duration(end: object, degree: int) -> object:
            width = mpmath.sqrt(one(miss))
            points = {start, end}
            for turn in (mpmath.pi, 2 * mpmath.pi):
                for k in range(-4, 60):
                    for sign in (-1, 1):
                        points.add(turn + sign * width * one(4) ** k)
                points.add(turn)
            inside = sorted(p for p in points if start <= p <= end)
            return mpmath.quad(slowness, inside, method="gauss-legendre", maxdegree=degree)

        ends = [one(2), one(3.5), one(5.0), one(6.8)]
        times = [duration(end, 4) for end in ends]
        coarser = [duration(end, 3) for end in ends]
        states = []
        for end in [start, *ends]:
            alpha, beta, da, db, *_ = at(end)
            v = 1 / slowness(end)
            states.append([float(x) for x in
                           (end, alpha - end, beta, v, (da - 1) * v, db * v)])
        difference = max(abs(float(x - y)) for x, y in zip(times, coarser, strict=True))
        scalar = FourBar(0.5, 1.0, 0.5 + scalar_miss, 1.0, FOUR_BAR_MASSES, bars.sign)

        def by_scipy(*start: float) -> Array:
            return np.array([scalar.shown(scipy_advance(scalar.rates, np.array(start), float(t)))
                             for t in times])

        found = by_scipy(1.0, 9.0)
        differs = np.abs(found - np.array(states[1:])).max()
        amplification = max(1.0, *(np.abs(moved - found).max() / 1e-7 for moved in (
            by_scipy(1.0 + 1e-7, 9.0), by_scipy(1.0, 9.0 + 1e-7))))
        return described(FOUR_BAR_JOINTS, {
            "ground": 1.0, "crank": 0.5, "coupler": 1.0, "rocker": rocker, "miss": miss,
            "crank_mass": FOUR_BAR_MASSES[0], "coupler_mass": FOUR_BAR_MASSES[1],
            "rocker_mass": FOUR_BAR_MASSES[2]}, [float(t) for t in times], states, difference,
            differs if miss == scalar_miss else None, amplification)


# --- delta robot --------------------------------------------------------------------------------

def delta_robot() -> Reference:
    """Three arms on a base, each joined to the platform by a parallelogram of two massless rods,
    so that the platform does not turn. Arm i has the direction u = cos θ e_i − sin θ e_z, and with
    the platform at x the rods are d = x + (r − R) e_i − l u, |d| = L. From d·ḋ = 0, where
    u' = du/dθ,
      θ̇ = d·ẋ / (l d·u'),
      θ̈ = (d·ẍ + |ḋ|² + l θ̇² d·u) / (l d·u').
    θ is the solution of p·u = (|p|² + l² − L²) / (2 l), p = x + (r − R) e_i, with the elbow
    outside. D'Alembert's principle with ∇θ = d / (l d·u') and arms of inertia I = m_a l²/3,
    springs k (θ − θ_0) and weight:
      m (ẍ + g e_z) + Σ ∇θ (I θ̈ + k (θ − θ_0) − m_a g l/2 cos θ) = 0.
    """
    base, platform, arm, rod = 0.2, 0.05, 0.2, 0.45
    mass, arm_mass, stiffness, rest = 0.5, 0.1, 6.0, 0.1
    inertia = arm_mass * arm**2 / 3
    directions = [np.array([np.cos(phi), np.sin(phi), 0.0])
                  for phi in (0.0, 2 * np.pi / 3, 4 * np.pi / 3)]
    up = np.array([0.0, 0.0, 1.0])

    def arms(x: Array, v: Array) -> list[tuple[Array, ...]]:
        """θ, θ̇, ∇θ and the part of θ̈ without ẍ, for each arm."""
        found = []
        for e in directions:
            p = x + (platform - base) * e
            outwards, height = p @ e, p[2]
            k = (p @ p + arm**2 - rod**2) / (2 * arm)
            # outwards cos θ − height sin θ = k
            theta = np.arctan2(-height, outwards) - np.arccos(k / np.hypot(outwards, height))
            u = np.cos(theta) * e - np.sin(theta) * up
            du = -np.sin(theta) * e - np.cos(theta) * up
            d = p - arm * u
            lever = arm * (d @ du)
            rate = (d @ v) / lever
            moved = v - arm * rate * du
            bias = (moved @ moved + arm * rate**2 * (d @ u)) / lever
            found.append((theta, rate, d / lever, bias))
        return found

    def rates(state: Array) -> Array:
        x, v = state[:3], state[3:]
        matrix = mass * np.eye(3, dtype=state.dtype)
        force = -mass * GRAVITY * up + 0 * x
        for theta, _, gradient, bias in arms(x, v):
            matrix = matrix + inertia * np.outer(gradient, gradient)
            force = force - gradient * (inertia * bias + stiffness * (theta - rest)
                                        - arm_mass * GRAVITY * arm / 2 * np.cos(theta))
        # Cramer's rule, which works with 80-bit numbers too.
        columns = matrix.T
        determinant = columns[0] @ np.cross(columns[1], columns[2])
        a = np.array([force @ np.cross(columns[1], columns[2]),
                      columns[0] @ np.cross(force, columns[2]),
                      columns[0] @ np.cross(columns[1], force)]) / determinant
        return np.concatenate([v, a])

    def shown(state: Array) -> Array:
        found = arms(state[:3], state[3:])
        return np.concatenate([np.array([one[0] for one in found]), state[:3],
                               np.array([one[1] for one in found]), state[3:]])

    return smooth(["arm_0", "arm_1", "arm_2", "platform.x", "platform.y", "platform.z"],
                  {"base": base, "platform": platform, "arm": arm, "rod": rod, "mass": mass,
                   "arm_mass": arm_mass, "stiffness": stiffness, "rest": rest},
                  [0.03, -0.02, -0.42, 0.3, 0.2, 0.1], [0.25, 0.5, 1.0], rates, shown)
