"""Finite elements for tests, assembled here from textbook matrices: shares no code with Kempe."""

import numpy as np

LENGTH, YOUNG, SHEAR, DENSITY = 1.0, 70e9, 27e9, 2700.0
AREA, IY, IZ, TORSION = 4e-4, 1.3e-8, 2.1e-8, 1.9e-8

BEAM = dict(length=LENGTH, E=YOUNG, G=SHEAR, density=DENSITY, area=AREA, Iy=IY, Iz=IZ, J=TORSION)


def bending(length: float, stiffness: float, mass: float, rotary: float) -> tuple:
    """Stiffness and mass matrix of (w, slope) at two nodes (Przemieniecki 1968, §5.6, §11.3)."""
    h = length
    K = stiffness / h**3 * np.array([[12, 6*h, -12, 6*h], [6*h, 4*h*h, -6*h, 2*h*h],
                                     [-12, -6*h, 12, -6*h], [6*h, 2*h*h, -6*h, 4*h*h]])
    M = mass * h / 420 * np.array([[156, 22*h, 54, -13*h], [22*h, 4*h*h, 13*h, -3*h*h],
                                   [54, 13*h, 156, -22*h], [-13*h, -3*h*h, -22*h, 4*h*h]])
    turning = rotary / (30 * h) * np.array([[36, 3*h, -36, 3*h], [3*h, 4*h*h, -3*h, -h*h],
                                            [-36, -3*h, 36, -3*h], [3*h, -h*h, -3*h, 4*h*h]])
    return K, M + turning


def beam(elements: int, *, length: float = LENGTH, E: float = YOUNG, G: float = SHEAR,
         density: float = DENSITY, area: float = AREA, Iy: float = IY, Iz: float = IZ,
         J: float = TORSION, rotary: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, M and K of a uniform Euler–Bernoulli beam along x, free at both ends. `rotary` scales
    the rotary inertia in bending."""
    h, line = length / elements, density * area
    rows = 6 * (elements + 1)
    M, K = np.zeros((rows, rows)), np.zeros((rows, rows))
    line_K, line_M = np.array([[1, -1], [-1, 1]]) / h, h / 6 * np.array([[2, 1], [1, 2]])
    turning = rotary * density
    parts = [
        ([0, 6], [1, 1], E * area * line_K, line * line_M),
        ([3, 9], [1, 1], G * J * line_K, density * (Iy + Iz) * line_M),
        ([1, 5, 7, 11], [1, 1, 1, 1], *bending(h, E * Iz, line, turning * Iz)),
        # A positive turn about y lowers what lies ahead.
        ([2, 4, 8, 10], [1, -1, 1, -1], *bending(h, E * Iy, line, turning * Iy)),
    ]
    for e in range(elements):
        for places, signs, k, m in parts:
            at = np.ix_(6 * e + np.array(places), 6 * e + np.array(places))
            K[at] += np.outer(signs, signs) * k
            M[at] += np.outer(signs, signs) * m
    nodes = np.zeros((elements + 1, 3))
    nodes[:, 0] = h * np.arange(elements + 1)
    return nodes, M, K


def rigid_motions(nodes: np.ndarray, rows_per_node: int = 6) -> np.ndarray:
    """Columns: moving along x, y, z and turning about x, y, z at the origin."""
    blocks = []
    for r in nodes:
        turning = np.cross(np.eye(3), r).T
        block = np.block([[np.eye(3), turning], [np.zeros((3, 3)), np.eye(3)]])
        blocks.append(block[:rows_per_node])
    return np.vstack(blocks)


def natural_frequencies(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Hz, ascending."""
    root = np.linalg.inv(np.linalg.cholesky(M))
    squares = np.linalg.eigvalsh(root @ K @ root.T)
    return np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)


def solid(cells: tuple[int, int, int], size: tuple[float, float, float], poisson: float = 0.3
          ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes, M and K of a block of 27-node hexahedra from x = 0, centred on the x axis; three rows
    for each node."""
    # Quadratic shape functions on [−1, 1] and their derivatives at three Gauss points.
    points, weights = np.sqrt(0.6) * np.array([-1, 0, 1]), np.array([5, 8, 5]) / 9
    N = np.array([[x * (x - 1) / 2, 1 - x * x, x * (x + 1) / 2] for x in points])
    D = np.array([[x - 0.5, -2 * x, x + 0.5] for x in points])
    h = np.array(size) / np.array(cells)
    lame, mu = YOUNG * poisson / ((1 + poisson) * (1 - 2 * poisson)), YOUNG / (2 * (1 + poisson))
    k, m = np.zeros((81, 81)), np.zeros((27, 27))
    for i in range(3):
        for j in range(3):
            for n in range(3):
                volume = weights[i] * weights[j] * weights[n] * np.prod(h) / 8
                shape = np.einsum("a,b,c->abc", N[i], N[j], N[n]).ravel()
                slope = np.stack([np.einsum("a,b,c->abc", D[i], N[j], N[n]).ravel() * 2 / h[0],
                                  np.einsum("a,b,c->abc", N[i], D[j], N[n]).ravel() * 2 / h[1],
                                  np.einsum("a,b,c->abc", N[i], N[j], D[n]).ravel() * 2 / h[2]])
                m += DENSITY * volume * np.outer(shape, shape)
                # σ : ε = λ (∂_a u_a)(∂_b v_b) + μ (∂_b u_a ∂_b v_a + ∂_b u_a ∂_a v_b)
                k += volume * (lame * np.einsum("ai,bj->iajb", slope, slope)
                               + mu * np.einsum("ci,cj,ab->iajb", slope, slope, np.eye(3))
                               + mu * np.einsum("bi,aj->iajb", slope, slope)).reshape(81, 81)
    counts = [2 * c + 1 for c in cells]
    numbers = np.arange(np.prod(counts)).reshape(counts)
    axes = [np.linspace(0, size[0], counts[0])]
    axes += [np.linspace(-s / 2, s / 2, c) for s, c in zip(size[1:], counts[1:], strict=True)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    M, K = np.zeros((3 * len(nodes),) * 2), np.zeros((3 * len(nodes),) * 2)
    for a in range(cells[0]):
        for b in range(cells[1]):
            for c in range(cells[2]):
                element = numbers[2*a:2*a+3, 2*b:2*b+3, 2*c:2*c+3].ravel()
                rows = (3 * element[:, None] + np.arange(3)).ravel()
                K[np.ix_(rows, rows)] += k
                for axis in range(3):
                    M[np.ix_(rows[axis::3], rows[axis::3])] += m
    return nodes, M, K
