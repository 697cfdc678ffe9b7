"""Pinocchio, for comparison with Kempe.

The best case is a library compiled for this machine (`make paper` does so): it has Pinocchio's
fastest methods, each checked against Kempe's results. Without one, the package `pinocchio` is
called from Python, if installed, and the overhead of such a call is subtracted.
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kempe.timing import Timed, calls_of
from kempe_studies.paper.robots import approximate_tree, in_link_coordinates, load

Cases = dict[tuple[str, str], Timed]  # by algorithm and method


@dataclasses.dataclass(frozen=True)
class Peer:
    """A library to compare with, and a note on it."""

    note: str
    version: str = ""
    cases: Callable[[str, int | None, str], Cases] = lambda robot, links, foot: {}
    at_its_best: bool = False  # compiled for this machine, and called from C++


def installed_pinocchio() -> Peer:
    """Pinocchio from its Python package."""
    try:
        from kempe_studies import pinocchio_tree
        version = pinocchio_tree.pinocchio.__version__
    except ModuleNotFoundError as error:
        if error.name != "pinocchio":
            return Peer(f"Pinocchio is installed, but cannot be used: {error}")
        return Peer("Pinocchio is not installed; pip install pin includes it in the comparison.")
    except Exception as error:  # noqa: BLE001: whatever a broken package does when it is imported
        return Peer(f"Pinocchio is installed, but cannot be used: {error}")
    return Peer(
        "Pinocchio is called through its Python package, on the approximate tree without rotors "
        "and loops; the overhead of a call, as measured on a robot with a single joint, is "
        "subtracted. The package is compiled for any processor of its kind; compiled for this one, "
        "as make paper does in Kempe's repository, Pinocchio is faster. Its operational-space "
        "inertia is measured only there.", f"{version}, its Python package", python_cases)


def python_cases(robot: str, links: int | None, foot: str) -> Cases:
    from kempe_studies.pinocchio_tree import OpenTree, open_tree, pinocchio

    opened = open_tree(approximate_tree(in_link_coordinates(load(robot, links))))
    single = one_joint(pinocchio)

    def case(function: Any) -> Timed:
        whole, alone = (calls_of(call_on(function, tree)) for tree in (opened, single))
        return Timed(lambda calls: whole(calls) - alone(calls), block=whole)

    def call_on(function: Any, tree: OpenTree) -> Callable[[], object]:
        data, random = tree.model.createData(), np.random.default_rng(0)
        states = itertools.cycle([
            (pinocchio.integrate(tree.model, pinocchio.neutral(tree.model), step), v, x)
            for step, v, x in random.uniform(-1, 1, (64, 3, tree.model.nv))])
        return lambda: function(tree.model, data, *next(states))
    return {("forward_dynamics", "pinocchio"): case(pinocchio.aba),
            ("inverse_dynamics", "pinocchio"): case(pinocchio.rnea)}


def one_joint(pinocchio: Any) -> Any:
    from kempe_studies.pinocchio_tree import OpenTree

    tree = pinocchio.Model()
    tree.addJoint(0, pinocchio.JointModelRZ(), pinocchio.SE3.Identity(), "joint")
    tree.appendBodyToJoint(1, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    return OpenTree(tree, [0], [0])


# --- compiled ------------------------------------------------------------------------------------

def compiled_pinocchio(path: str) -> Peer:
    """Pinocchio in the library compiled from benchmarks/peer_library.cpp. Raises OSError if it
    cannot be loaded, AttributeError if it is another library."""
    library = ctypes.CDLL(path)
    library.kempe_peer_open.restype = ctypes.c_void_p
    library.kempe_peer_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p]
    library.kempe_peer_ways.argtypes = [ctypes.c_void_p]
    library.kempe_peer_states.argtypes = [ctypes.c_void_p]
    library.kempe_peer_name.restype = ctypes.c_char_p
    library.kempe_peer_name.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.kempe_peer_seconds.restype = ctypes.c_double
    library.kempe_peer_seconds.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    library.kempe_peer_version.restype = ctypes.c_char_p

    def cases(robot: str, links: int | None, foot: str) -> Cases:
        opened = library.kempe_peer_open(robot.encode(), links or 0, foot.encode())
        found = {}
        for way in range(library.kempe_peer_ways(opened)):
            algorithm, method = library.kempe_peer_name(opened, way).decode().split("/")
            found[algorithm, method] = Timed(partial(library.kempe_peer_seconds, opened, way),
                                             unit=library.kempe_peer_states(opened))
        return found
    return Peer(
        "Pinocchio is compiled for this processor and called from C++, each algorithm by its "
        "fastest method (chains: without methods that are cubic because of dense matrices; none "
        "above 200 joints). “No rotors” is its recursion on the approximate tree, with armature; "
        "“exact” includes all rotors, by joints that mimic others or by projecting the mass "
        "matrix. Results are checked against Kempe's before timing. Pinocchio has no method of its "
        "own for Tello's loops.",
        library.kempe_peer_version().decode().strip(), cases, at_its_best=True)
