"""Loads every bundled robot and prints the largest loop closure error of a hundred random
configurations."""

import numpy as np

import kempe


def row(*cells: object) -> str:
    return "{:<16} {:>8} {:>6} {:>8} {:>7}  {}".format(*cells)


print(row("robot", "DoF", "bodies", "loops in", "folded", "largest"))
print(row("", "", "", "clusters", "rotors", "residual"))
for name in kempe.robots.names():
    model = kempe.robots.load(name)
    widest = max(np.abs(model.loop_residual(model.random_configuration(seed))).max()
                 for seed in range(100))
    clusters = sum(bool(cluster.loops) for cluster in model.clusters)
    print(row(name, model.nv, len(model.body_names), clusters, len(model.folded_rotors),
              f"{widest:.1e}"))
    assert widest < 1e-12
