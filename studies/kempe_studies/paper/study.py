"""Measures and computes all results of the page."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
from collections.abc import Callable
from typing import Any

import numpy as np

import kempe
from kempe import _kempe
from kempe.timing import processor
from kempe_studies.paper import jump, published, speed, torque
from kempe_studies.paper.peers import Peer

Progress = Callable[[str, float], None]  # name of a part, and the fraction done


@dataclasses.dataclass(frozen=True)
class Extent:
    """The extent of the measurements."""

    robot_seconds: float
    chain_seconds: float
    links: tuple[int, ...]
    random_states: int
    quick: bool


FULL = Extent(60.0, 150.0, (*published.LINKS, *speed.MORE_LINKS), 2000, quick=False)
QUICK = Extent(2.0, 2.0, speed.QUICK_LINKS, 100, quick=True)


@dataclasses.dataclass(frozen=True)
class Results:
    quick: bool
    machine: dict[str, str]
    peer: str  # a note on Pinocchio
    peer_at_its_best: bool
    robots: speed.Times
    chains: speed.Times
    links: tuple[int, ...]
    torques: torque.Study
    errors: dict[str, dict[str, torque.RobotError]]
    jumps: list[jump.Jump]

    def report(self) -> dict[str, Any]:
        """Everything as plain numbers; times in s."""
        return {
            "quick": self.quick, "machine": self.machine, "peer": self.peer,
            "robots": self.robots.report(), "chains": self.chains.report(),
            "torques": self.torques.report(),
            "errors": {robot: {method: dataclasses.asdict(error)
                               for method, error in methods.items()}
                       for robot, methods in self.errors.items()},
            "jumps": [one.report() for one in self.jumps],
        }


def machine() -> dict[str, str]:
    facts = {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "Kempe": f"{kempe.__version__}, compiled by {_kempe.compiler()}; instruction set chosen "
                 f"when it is loaded: {kempe.instruction_set()}",
        "Python": f"{platform.python_version()}, numpy {np.__version__}",
        "date": datetime.date.today().isoformat(),
    }
    if hasattr(os, "getloadavg"):
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        facts["other work"] = f"load average at the start {load}"
    return facts


def run(extent: Extent, peer: Peer, progress: Progress) -> Results:
    facts = machine()
    if peer.version:
        facts["Pinocchio"] = peer.version
    robots = speed.measure_robots(
        extent.robot_seconds, lambda done: progress("robots", done), peer)
    chains = speed.measure_chains(
        extent.links, extent.chain_seconds, lambda done: progress("chains", done), peer)
    progress("torques", 0.0)
    torques = torque.study()
    errors = torque.robot_errors(extent.random_states)
    progress("jumps", 0.0)
    return Results(extent.quick, facts, peer.note, peer.at_its_best, robots, chains, extent.links,
                   torques, errors, list(jump.jumps()))
