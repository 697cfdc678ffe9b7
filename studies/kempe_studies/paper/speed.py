"""Times of the methods: Tables II to IV and Figures 9 to 13."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import kempe
from kempe.runs import Vector
from kempe.timing import Spread, Timed, measure
from kempe_studies.paper import published
from kempe_studies.paper.peers import Cases, Peer
from kempe_studies.paper.robots import approximate_tree, foot_of, in_link_coordinates, load

EXACT_METHODS = ("cluster", "projection", "lagrange")

STATES, CHAIN_STATES = 64, 8
MORE_LINKS = (36, 50, 75, 100, 150, 200)
QUICK_LINKS = (2, 6, 12, 24)


class Key(NamedTuple):
    algorithm: str
    robot: str
    method: str


class Times:
    """Measured times, and ratios of times of the same round."""

    def __init__(self, cases: dict[Key, Timed]) -> None:
        self._times = {key: np.array(case.times) for key, case in cases.items()}

    def __contains__(self, key: Key) -> bool:
        return key in self._times

    def time(self, key: Key) -> Spread:
        """Seconds per call."""
        return Spread.of(self._times[key])

    def ratio(self, key: Key, to: str = "cluster") -> Spread:
        """Ratio to the time of the exact recursion, or of another method, in the same round."""
        return Spread.of(self._times[key] / self._times[key._replace(method=to)])

    @property
    def repetitions(self) -> int:
        return min(len(times) for times in self._times.values())

    def report(self) -> list[dict[str, Any]]:
        """Everything as plain numbers."""
        return [{**key._asdict(), **self.time(key)._asdict(),
                 "ratio": self.ratio(key)._asdict()} for key in self._times]


class States(NamedTuple):
    """States of a model: configurations, velocities, and forces or accelerations."""

    model: kempe.Model
    q: Vector
    v: Vector
    x: Vector

    @classmethod
    def random(cls, model: kempe.Model, count: int) -> States:
        q = model.random_configuration(0, size=count)
        v, x = np.random.default_rng(0).uniform(-1, 1, (2, count, model.nv))
        return cls(model, q, v, x)

    def case(self, algorithm: str, method: str, frame: str) -> Timed:
        if algorithm == "inverse_operational_inertia":
            call = partial(self.model.seconds_per_call, algorithm, self.q, frames=[frame],
                           method=method)
        else:
            call = partial(self.model.seconds_per_call, algorithm, self.q, self.v, self.x,
                           method=method)
        return Timed(lambda calls: call(calls=calls), unit=len(self.q))


class Robot:
    """A robot with its loops and rotors, and the tree that approximates it."""

    def __init__(self, name: str, links: int | None, states: int) -> None:
        model = load(name, links)
        linked = in_link_coordinates(model)
        self.has_motor_coordinates = linked is not model
        self.foot = foot_of(linked)
        self.exact = States.random(model, states)
        self.bodies = States.random(load(name, links, fold_rotors=False), states)
        self.tree = States.random(approximate_tree(linked), states)

    def cases(self, algorithm: str) -> dict[str, Timed]:
        """Cases by method."""
        cases = {method: self.exact.case(algorithm, method, self.foot)
                 for method in EXACT_METHODS}
        cases["cluster_bodies"] = self.bodies.case(algorithm, "cluster", self.foot)
        cases["approximate"] = self.tree.case(algorithm, "cluster", self.foot)
        if self.has_motor_coordinates:
            cases["approximate_motors"] = self.exact.case(algorithm, "approximate", self.foot)
        return cases


def measure_robots(seconds: float, done: Callable[[float], None], peer: Peer) -> Times:
    """Measures all methods on the paper's robots."""
    algorithms = [comparison.algorithm for comparison in published.COMPARISONS]
    cases: dict[Key, Timed] = {}
    for name in published.ROBOTS:
        robot = Robot(name, None, STATES)
        add_cases(cases, name, robot, algorithms, peer.cases(name, None, robot.foot))
    return measured(cases, seconds, done)


def measure_chains(links: Sequence[int], seconds: float, done: Callable[[float], None],
                   peer: Peer) -> Times:
    """Measures forward dynamics and operational inertia of chains with these numbers of links."""
    cases: dict[Key, Timed] = {}
    for robot in dict.fromkeys(scaling.robot for scaling in published.SCALINGS):
        algorithms = [scaling.algorithm for scaling in published.SCALINGS
                      if scaling.robot == robot]
        for count in links:
            chain = Robot(robot, count, CHAIN_STATES)
            add_cases(cases, chain_name(robot, count), chain, algorithms,
                      peer.cases(robot, count, chain.foot))
    return measured(cases, seconds, done)


def add_cases(cases: dict[Key, Timed], name: str, robot: Robot, algorithms: Sequence[str],
              of_peer: Cases) -> None:
    for algorithm in algorithms:
        for method, case in robot.cases(algorithm).items():
            cases[Key(algorithm, name, method)] = case
    for (algorithm, method), case in of_peer.items():
        if algorithm in algorithms:
            cases[Key(algorithm, name, method)] = case


def measured(cases: dict[Key, Timed], seconds: float, done: Callable[[float], None]) -> Times:
    """Measures all cases; methods for the same algorithm and robot form a group."""
    groups: dict[Key, list[Timed]] = {}
    for key, case in cases.items():
        groups.setdefault(key._replace(method=""), []).append(case)
    measure(list(groups.values()), seconds, done)
    return Times(cases)


def chain_name(robot: str, links: int) -> str:
    return f"{robot}_{links}"


def exponent(links: Sequence[int], seconds: Vector) -> float:
    """p of time ∝ links^p, by least squares of logarithms."""
    return float(np.polyfit(np.log(links), np.log(seconds), 1)[0])
