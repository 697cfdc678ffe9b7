"""A pendulum that bends, simulated by Kempe and by Exudyn from the same finite elements and modes.

A beam of solid elements hangs on a hinge at one end and is released when level. Both programs get
the mass and stiffness matrices, and the modes to which Kempe reduces them. Exudyn computes with
them as its ObjectFFRFreducedOrder, a floating frame with a constraint for the hinge. Errors are
distances of the tip from a much finer run of the same program; the two fine runs are compared too.

    python -m kempe_studies.floating_beam

needs Exudyn (`pip install exudyn scipy`) and prints a table.
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kempe

LENGTH, SIDE = 1.0, 0.02
CELLS = (20, 2, 2)
YOUNG, POISSON, DENSITY = 2e9, 0.3, 1200.0
MODES = 8
DURATION = 1.0
GRAVITY = 9.81


@dataclass
class Mesh:
    nodes: np.ndarray  # (n, 3)
    mass: np.ndarray  # (3 n, 3 n)
    stiffness: np.ndarray
    root: list[int]  # nodes of the two end faces
    tip: list[int]


def solid_beam() -> Mesh:
    """Hexahedra with eight nodes; two Gauss points in each direction."""
    counts = [cells + 1 for cells in CELLS]
    number = np.arange(np.prod(counts)).reshape(counts)
    grids = np.meshgrid(*(np.linspace(low, low + size, count) for low, size, count in zip(
        (0.0, -SIDE / 2, -SIDE / 2), (LENGTH, SIDE, SIDE), counts, strict=True)), indexing="ij")
    nodes = np.stack([grid.ravel() for grid in grids], axis=1)
    corners = np.array(list(itertools.product((-1, 1), repeat=3)))
    lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    shear = YOUNG / (2 * (1 + POISSON))
    elastic = np.diag([2 * shear] * 3 + [shear] * 3)
    elastic[:3, :3] += lame
    size = np.array([LENGTH, SIDE, SIDE]) / CELLS
    mass, stiffness = np.zeros((24, 24)), np.zeros((24, 24))
    for point in corners / np.sqrt(3.0):
        factors = (1 + corners * point) / 2
        slopes = np.stack([corners[:, a] / size[a] * np.prod(np.delete(factors, a, 1), axis=1)
                           for a in range(3)], axis=1)
        strain = np.zeros((6, 24))  # xx, yy, zz, yz, xz, xy
        for a in range(3):
            strain[a, a::3] = slopes[:, a]
            first, second = (a + 1) % 3, (a + 2) % 3
            strain[3 + a, first::3] = slopes[:, second]
            strain[3 + a, second::3] = slopes[:, first]
        volume = np.prod(size) / 8
        shape = np.kron(np.prod(factors, axis=1), np.eye(3))
        stiffness += volume * strain.T @ elastic @ strain
        mass += volume * DENSITY * shape.T @ shape
    result = Mesh(nodes, np.zeros((nodes.size, nodes.size)), np.zeros((nodes.size, nodes.size)),
                  number[0].ravel().tolist(), number[-1].ravel().tolist())
    for cell in itertools.product(*(range(cells) for cells in CELLS)):
        at = [number[tuple(np.add(cell, (corner + 1) // 2))] for corner in corners]
        rows = (3 * np.array(at)[:, None] + np.arange(3)).ravel()
        result.mass[np.ix_(rows, rows)] += mass
        result.stiffness[np.ix_(rows, rows)] += stiffness
    return result


def kempe_model(mesh: Mesh) -> kempe.Model:
    pendulum = kempe.Mechanism("pendulum")
    pendulum.add_body("world")
    pendulum.add_flexible_body("beam", nodes=mesh.nodes, mass=mesh.mass, stiffness=mesh.stiffness,
                               interface={"root": mesh.root, "tip": mesh.tip}, modes=MODES)
    pendulum.add_revolute("hinge", parent="world", child="beam", axis=(0, 1, 0))
    return kempe.Model(pendulum)


def shapes_of(model: kempe.Model, mesh: Mesh) -> np.ndarray:
    """Displacements of all nodes by a unit of each mode, (3 n, modes)."""
    shapes = np.empty((mesh.nodes.size, MODES))
    for mode in range(MODES):
        q = model.neutral()
        q[1 + mode] = 1.0
        for node, at in enumerate(mesh.nodes):
            _, place = model.frame_placement(q, f"beam/{node}")
            shapes[3 * node:3 * node + 3, mode] = place - at
    return shapes


def run_kempe(model: kempe.Model, tolerance: float) -> tuple[np.ndarray, float]:
    """The tip at the end and the CPU time."""
    start = time.process_time()
    run = kempe.simulate(model, duration=DURATION, dt=DURATION, relative_tolerance=tolerance,
                         absolute_tolerance=0.1 * tolerance)
    elapsed = time.process_time() - start
    return model.frame_placement(run.q[-1], "beam/tip")[1], elapsed


class ExudynPendulum:
    def __init__(self, mesh: Mesh, shapes: np.ndarray) -> None:
        self.exudyn: Any = importlib.import_module("exudyn")
        items: Any = importlib.import_module("exudyn.itemInterface")
        fem: Any = importlib.import_module("exudyn.FEM")
        sparse: Any = importlib.import_module("scipy.sparse")
        self.system = self.exudyn.SystemContainer()
        self.mbs = self.system.AddSystem()
        source = fem.FEMinterface()
        source.nodes = {"Position": mesh.nodes}
        source.massMatrix = sparse.csr_matrix(mesh.mass)
        source.stiffnessMatrix = sparse.csr_matrix(mesh.stiffness)
        source.modeBasis = {"matrix": shapes, "type": "HCBmodes"}
        body = fem.ObjectFFRFreducedOrderInterface(source).AddObjectFFRFreducedOrder(
            self.mbs, gravity=[0.0, 0.0, -GRAVITY])
        self.beam = body["oFFRFreducedOrder"]
        weights = np.full(len(mesh.root), 1 / len(mesh.root))
        ground = self.mbs.AddObject(items.ObjectGround())
        ends = [self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground)),
                self.mbs.AddMarker(items.MarkerSuperElementRigid(
                    bodyNumber=self.beam, meshNodeNumbers=np.array(mesh.root),
                    weightingFactors=weights))]
        self.mbs.AddObject(items.GenericJoint(markerNumbers=ends,
                                              constrainedAxes=[1, 1, 1, 1, 0, 1]))
        self.mbs.Assemble()
        self.tip = mesh.tip

    def run(self, steps: int) -> tuple[np.ndarray, float]:
        """The same of the generalised-alpha method."""
        settings = self.exudyn.SimulationSettings()
        settings.timeIntegration.endTime = DURATION
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.newton.relativeTolerance = 1e-10
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.solution.file.write = False
        self.mbs.Assemble()
        start = time.process_time()
        self.mbs.SolveDynamic(settings)
        elapsed = time.process_time() - start
        output = self.exudyn.OutputVariableType.Position
        return np.mean([self.mbs.GetObjectOutputSuperElement(self.beam, output, node)
                        for node in self.tip], axis=0), elapsed


def measured(name: str, run: Callable[[Any], tuple[np.ndarray, float]], settings: list[Any],
             finest: Any) -> np.ndarray:
    """Prints a row for each setting: error of the tip and CPU time, the best of three runs."""
    reference, _ = run(finest)
    for setting in settings:
        runs = [run(setting) for _ in range(3)]
        error = np.linalg.norm(runs[0][0] - reference)
        print(f"| {name} | {setting:g} | {1e3 * error:.2g} | {min(t for _, t in runs):.2g} |")
    return reference


def main() -> None:
    mesh = solid_beam()
    model = kempe_model(mesh)
    exudyn = ExudynPendulum(mesh, shapes_of(model, mesh))
    print(f"tip of the straight pendulum would be {LENGTH} m from the hinge")
    print("| program | tolerance or steps | error of the tip, mm | s per simulated s |")
    print("|---|---:|---:|---:|")
    ours = measured("Kempe", lambda tolerance: run_kempe(model, tolerance),
                    [1e-4, 1e-5, 1e-6, 1e-8], 1e-11)
    theirs = measured("Exudyn", exudyn.run, [250, 500, 1000, 2000, 4000], 64000)
    print(f"tips of the two finest runs: {ours} and {theirs}, "
          f"{1e3 * np.linalg.norm(ours - theirs):.2g} mm apart")


if __name__ == "__main__":
    main()
