"""Results that the paper reports, for comparison with measurements.

Percentages are those of its Tables II to IV. Times are not printed in the paper, but drawn in its
Figures 9 to 13; the authors published the numbers behind the drawings with their program
(generalized_rbda, folders Benchmarking/data and Benchmarking/Legacy/data: TimingID_Robots.csv,
TimingFD_Robots.csv, TimingFD_RevoluteChain.csv, …). They were measured on a MacBook Pro with an M1
Pro by code that Clang 14 compiled.
"""

from __future__ import annotations

from typing import NamedTuple

TITLE = "Recursive Rigid-Body Dynamics Algorithms for Systems with Kinematic Loops"
AUTHORS = "M. Chignoli, N. Adrian, S. Kim, P. M. Wensing"
MACHINE = "MacBook Pro, M1 Pro, Clang 14"

# In the paper's order.
ROBOTS = {
    "geared_chain": "12-link geared chain",
    "belt_chain": "12-link belt chain",
    "mini_cheetah": "Mini Cheetah",
    "mit_humanoid": "MIT Humanoid",
    "tello": "Tello",
    "jvrc1": "JVRC-1",
}


class Comparison(NamedTuple):
    """A table of the paper, and the figure that shows the same times."""

    algorithm: str
    title: str
    recursion: str  # the paper's name of the exact recursion, which the others are compared with
    table: str
    figure: str
    percent: dict[str, tuple[float, ...]]  # method → more (+) or less (−) time than the recursion
    microseconds: dict[str, tuple[float, ...]]


INVERSE_DYNAMICS = Comparison(
    "inverse_dynamics", "Inverse dynamics", "C-RNEA", "Table II", "Fig. 9",
    percent={
        "approximate": (-40.3, -36.2, -41.0, -42.0, -59.6, -37.7),
        "projection": (+38.0, +37.8, +36.7, +35.9, +22.4, +36.6),
    },
    microseconds={
        "cluster": (12.898, 12.295, 14.083, 20.277, 29.130, 35.842),
        "approximate": (7.692, 7.850, 8.304, 11.761, 11.770, 22.314),
        "projection": (17.795, 16.946, 19.254, 27.562, 35.646, 48.964),
    })

FORWARD_DYNAMICS = Comparison(
    "forward_dynamics", "Forward dynamics", "C-ABA", "Table III", "Fig. 10",
    percent={
        "approximate": (-34.1, -34.6, -35.3, -38.6, -49.4, -38.4),
        "projection": (+86.8, +73.5, +21.0, +32.5, +22.2, +87.3),
        "lagrange": (+133.1, +119.8, +76.3, +106.2, +82.7, +212.8),
    },
    microseconds={
        "cluster": (29.692, 31.415, 34.317, 51.365, 60.781, 86.077),
        "approximate": (19.561, 20.541, 22.186, 31.513, 30.772, 53.026),
        "projection": (55.452, 54.491, 41.512, 68.080, 74.290, 161.240),
        "lagrange": (69.223, 69.050, 60.489, 105.926, 111.075, 269.221),
    })

OPERATIONAL_INERTIA = Comparison(
    "inverse_operational_inertia", "Inverse operational-space inertia", "C-EFPA", "Table IV",
    "Fig. 12",
    percent={
        "approximate": (-35.7, -52.1, -28.6, -37.4, -51.4, -22.54),
        "projection": (+51.8, +6.3, +19.0, +23.2, +7.80, +107.4),
    },
    microseconds={
        "cluster": (32.789, 44.994, 30.064, 48.198, 63.004, 73.260),
        "approximate": (21.087, 21.536, 21.456, 30.161, 30.630, 56.744),
        "projection": (49.790, 47.836, 35.778, 59.382, 67.923, 151.962),
    })

COMPARISONS = (INVERSE_DYNAMICS, FORWARD_DYNAMICS, OPERATIONAL_INERTIA)


class Scaling(NamedTuple):
    """Times over the number of links of a chain, as a figure of the paper shows them."""

    algorithm: str
    robot: str
    figure: str
    microseconds: dict[str, tuple[float, ...]]


LINKS = (2, 4, 6, 8, 12, 16, 20, 24)
SCALINGS = (
    Scaling("forward_dynamics", "geared_chain", "Fig. 11, left", {
        "cluster": (5.524, 10.079, 15.646, 20.785, 29.841, 39.318, 49.622, 58.648),
        "approximate": (3.682, 6.803, 10.520, 13.542, 19.545, 25.879, 33.300, 38.676),
        "projection": (5.959, 12.020, 20.639, 30.137, 55.257, 86.031, 129.629, 170.703),
        "lagrange": (9.070, 16.400, 26.735, 37.988, 68.862, 108.432, 164.803, 220.220),
    }),
    Scaling("forward_dynamics", "belt_chain", "Fig. 11, right", {
        "cluster": (3.897, 9.480, 14.853, 21.849, 31.162, 41.971, 51.827, 61.576),
        "approximate": (3.287, 6.626, 10.166, 14.114, 20.104, 26.722, 33.071, 38.622),
        "projection": (4.612, 10.931, 18.217, 29.662, 53.667, 85.846, 125.403, 173.297),
        "lagrange": (7.306, 15.221, 24.348, 38.883, 68.412, 109.526, 159.879, 224.258),
    }),
    Scaling("inverse_operational_inertia", "geared_chain", "not in the paper", {
        "cluster": (6.206, 10.421, 15.959, 21.431, 31.746, 42.437, 55.035, 68.438),
        "approximate": (4.274, 6.968, 10.640, 13.970, 20.782, 27.669, 35.212, 42.994),
        "projection": (5.102, 9.604, 17.055, 25.718, 48.549, 79.526, 120.514, 170.914),
    }),
    Scaling("inverse_operational_inertia", "belt_chain", "Fig. 13", {
        "cluster": (5.370, 13.470, 21.295, 28.517, 46.335, 60.330, 75.069, 91.619),
        "approximate": (3.622, 7.362, 10.913, 14.072, 21.912, 28.039, 34.501, 41.423),
        "projection": (3.626, 9.020, 15.943, 24.001, 48.577, 76.804, 114.397, 157.569),
    }),
)


class TorqueError(NamedTuple):
    """Section IX-B: torque errors of a leg's joint by methods other than the exact one."""

    rms: float  # N·m
    share: float  # of the largest torque


TORQUE_ERRORS = {"approximate": TorqueError(1.04, 0.095), "unconstrained": TorqueError(4.31, 0.392)}
LARGEST_TORQUE = 11.0  # N·m: the reference of both shares
