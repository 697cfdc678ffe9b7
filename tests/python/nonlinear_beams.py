"""Beams that may bend far, for tests: dense finite elements that share no code with Kempe.

`PlanarFrame` has corotational elements in a plane and integrates their motion; `SpatialLinkage` has
geometrically exact ones in space (Simo 1985) in static equilibrium. Both describe large rotations
of the whole by the same elements, without a floating frame, modes or joints' coordinates.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class PlanarFrame:
    """Nodes with masses, and corotational Euler–Bernoulli elements between them.

    A node may share its place with others (a pin): `places` gives for each node the index of its
    place. Coordinates are x, y of all places, then the angles of all nodes.
    """

    places: np.ndarray      # of each node
    elements: np.ndarray    # pairs of nodes
    x: np.ndarray           # undeformed, of places, × 2
    EA: np.ndarray          # of elements
    EI: np.ndarray
    line: np.ndarray        # mass per length
    rotary: np.ndarray      # rotary inertia per length
    point_masses: np.ndarray  # of places

    def __post_init__(self) -> None:
        ends = self.places[self.elements]
        d = self.x[ends[:, 1]] - self.x[ends[:, 0]]
        self.h, self.rest = np.linalg.norm(d, axis=1), np.arctan2(d[:, 1], d[:, 0])
        angles = 2 * len(self.x) + self.elements
        self.rows = np.stack([2 * ends[:, 0], 2 * ends[:, 0] + 1, angles[:, 0],
                              2 * ends[:, 1], 2 * ends[:, 1] + 1, angles[:, 1]], axis=1)
        self.mass = np.concatenate([np.repeat(self.point_masses, 2), np.zeros(len(self.places))])
        half = np.stack([self.line, self.line, self.rotary], axis=1)
        np.add.at(self.mass, self.rows, np.tile(half * self.h[:, None] / 2, 2))
        self.start = np.concatenate([self.x.ravel(), np.zeros(len(self.places))])

    def forces(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Elastic forces, the gradient of the energy, and their slope."""
        e = u[self.rows]
        d = e[:, 3:5] - e[:, 0:2]
        length = np.linalg.norm(d, axis=1)
        c, s = d.T / length
        turned = np.arctan2(d[:, 1], d[:, 0]) - self.rest
        # Local turns of the ends against the chord, without multiples of 2 π.
        t1, t2 = ((e[:, i] - turned + np.pi) % (2 * np.pi) - np.pi for i in (2, 5))
        zero, one = np.zeros_like(c), np.ones_like(c)
        along = np.stack([-c, -s, zero, c, s, zero], axis=1)          # d length / d e
        across = np.stack([s, -c, zero, -s, c, zero], axis=1)         # length · d angle / d e
        turn = across / length[:, None]
        b1 = np.stack([zero, zero, one, zero, zero, zero], axis=1) - turn
        b2 = np.stack([zero, zero, zero, zero, zero, one], axis=1) - turn
        N = self.EA / self.h * (length - self.h)
        stiff = 2 * self.EI / self.h
        M1, M2 = stiff * (2 * t1 + t2), stiff * (t1 + 2 * t2)
        f = N[:, None] * along + M1[:, None] * b1 + M2[:, None] * b2

        def outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return a[:, :, None] * b[:, None, :]

        def each(a: np.ndarray) -> np.ndarray:
            return a[:, None, None]

        K = (each(self.EA / self.h) * outer(along, along)
             + each(stiff) * (2 * outer(b1, b1) + outer(b1, b2) + outer(b2, b1) + 2 * outer(b2, b2))
             + each(N / length) * outer(across, across)
             + each((M1 + M2) / length**2) * (outer(along, across) + outer(across, along)))
        F, slope = np.zeros_like(u), np.zeros((len(u), len(u)))
        np.add.at(F, self.rows, f)
        np.add.at(slope, (self.rows[:, :, None], self.rows[:, None, :]), K)
        return F, slope

    def motion(self, prescribed: dict, step: float, steps: int) -> np.ndarray:
        """Coordinates after each step of the midpoint rule, from rest. `prescribed` gives functions
        of time for coordinates by index, which start at their undeformed value."""
        held = np.array(list(prescribed))
        free = np.setdiff1d(np.arange(len(self.start)), held)
        u, v = self.start.copy(), np.zeros_like(self.start)
        m = self.mass[free]
        path = [u]
        for i in range(steps):
            after = u + step * v
            after[held] = [value((i + 1) * step) for value in prescribed.values()]
            for _ in range(30):
                F, K = self.forces((u + after) / 2)
                residual = (2 / step**2 * m * (after - u - step * v)[free] + F[free])
                change = np.linalg.solve(
                    np.diag(2 / step**2 * m) + K[np.ix_(free, free)] / 2, residual)
                after[free] -= change
                if np.abs(change).max() < 1e-11:
                    break
            else:
                raise RuntimeError(f"no solution at step {i}")
            v = 2 / step * (after - u) - v
            u = after
            path.append(u)
        return np.array(path)


def skew(a: np.ndarray) -> np.ndarray:
    z = np.zeros_like(a[..., 0])
    return np.stack([np.stack([z, -a[..., 2], a[..., 1]], -1),
                     np.stack([a[..., 2], z, -a[..., 0]], -1),
                     np.stack([-a[..., 1], a[..., 0], z], -1)], -2)


def rotation(a: np.ndarray) -> np.ndarray:
    """exp of a rotation vector, by powers of the angle squared: also of complex ones, up to 90°."""
    t, sine, cosine = np.sum(a * a, axis=-1)[..., None, None], 0.0, 0.0
    for k in range(12, -1, -1):
        sine, cosine = (1 - t * sine / ((2*k + 2) * (2*k + 3)),
                        1 - t * cosine / ((2*k + 3) * (2*k + 4)))
    A = skew(a)
    return np.eye(3) + sine * A + cosine / 2 * (A @ A)


def rotation_vector(Q: np.ndarray) -> np.ndarray:
    """Its inverse, for angles up to about 30°."""
    sine = np.stack([Q[..., 2, 1] - Q[..., 1, 2], Q[..., 0, 2] - Q[..., 2, 0],
                     Q[..., 1, 0] - Q[..., 0, 1]], -1) / 2
    t, factor = np.sum(sine * sine, axis=-1)[..., None], 0.0
    for k in range(14, 0, -1):  # arcsin(s) / s
        factor = 1 + (2*k - 1)**2 / ((2*k) * (2*k + 1)) * t * factor
    return factor * sine


@dataclass
class Bar:
    """A straight bar along x of its own axes: `stiffness` is EA, GA, GA, GJ, EI, EI.

    An element with constant strains lacks the bending within it, which loads at its ends make: its
    flexibility h² / 12 EI in shear is added (MacNeal 1978).
    """

    length: float
    elements: int
    stiffness: np.ndarray


class SpatialLinkage:
    """Bars one after the other from a root that is held, hinged to each other and to the ground."""

    def __init__(self, bars: list[Bar], hinges: list[np.ndarray], x: np.ndarray,
                 R: list[np.ndarray]) -> None:
        """`hinges`: axes between bars and at the end, in the axes of the bar before. Undeformed,
        the bars start at x[i] with axes R[i], and all hinges are free of stress."""
        self.bars, self.hinges = bars, hinges
        self.X = [x[i] + np.linspace(0, bar.length, bar.elements + 1)[:, None] * R[i][:, 0]
                  for i, bar in enumerate(bars)]
        self.R = [np.repeat(R[i][None], bar.elements + 1, axis=0) for i, bar in enumerate(bars)]
        # Axes of hinges in the bar after, where there is one, else in the bar itself.
        self.after = [self.R[i + 1][0].T @ self.R[i][-1] @ hinges[i] for i in range(len(bars) - 1)]

    @staticmethod
    def gradient(X1: np.ndarray, R1: np.ndarray, X2: np.ndarray, R2: np.ndarray, h: np.ndarray,
                 C: np.ndarray) -> np.ndarray:
        """Of the energies ½ h ε·C ε of elements with the strains ε = (Γ, κ), with respect to moves
        of their ends in space and turns in the ends' own axes, by a complex step."""
        step = 1e-30
        moves = step * 1j * np.eye(12)
        X1, X2 = (X[:, None] + moves[:, i:i + 3] for X, i in ((X1, 0), (X2, 6)))
        R1, R2 = (R[:, None] @ (np.eye(3) + skew(moves[:, i:i + 3])) for R, i in ((R1, 3), (R2, 9)))
        psi = rotation_vector(np.swapaxes(R1, -1, -2) @ R2)
        middle = R1 @ rotation(psi / 2)
        strain = np.einsum("enji,enj->eni", middle, X2 - X1) / h[:, None, None] - np.eye(3)[0]
        both = np.concatenate([strain, psi / h[:, None, None]], axis=-1)
        return np.einsum("eni,ei,eni->en", both, C, both).imag * (h[:, None] / 2 / step)

    def _elements(self) -> tuple[np.ndarray, ...]:
        parts = []
        for bar, X, R in zip(self.bars, self.X, self.R, strict=True):
            h, C = bar.length / bar.elements, np.array(bar.stiffness, dtype=float)
            C[[1, 2]] = 1 / (1 / C[[1, 2]] + h**2 / (12 * C[[5, 4]]))
            parts.append((X[:-1], R[:-1], X[1:], R[1:], np.full(bar.elements, h),
                          np.repeat(C[None], bar.elements, axis=0)))
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _freedom(self) -> np.ndarray:
        """Rows: moves and turns of all nodes; columns: the unknowns that move them. The first node
        is held, the last one turns about its hinge in place."""
        nodes = sum(bar.elements + 1 for bar in self.bars)
        columns = 6 * (nodes - 1 - len(self.bars)) + len(self.bars)
        B = np.zeros((6 * nodes, columns))
        row, column = 6, 0
        for i, bar in enumerate(self.bars):
            last = i + 1 == len(self.bars)
            for _ in range(bar.elements - (1 if last else 0)):
                B[row:row + 6, column:column + 6] = np.eye(6)
                row, column = row + 6, column + 6
            if last:
                B[row + 3:row + 6, column] = self.hinges[i]
                continue
            B[row:row + 3, column - 6:column - 3] = np.eye(3)
            B[row + 3:row + 6, column - 3:column] = self.R[i + 1][0].T @ self.R[i][-1]
            B[row + 3:row + 6, column] = self.after[i]
            row, column = row + 6, column + 1
        return B

    def equilibrium(self) -> np.ndarray:
        """Moves the nodes until their forces balance, by Newton's method. Returns the force and
        moment on the root, in the axes of the world and of the root."""
        starts = np.cumsum([0] + [bar.elements + 1 for bar in self.bars])
        nodes = np.concatenate([np.arange(a, b - 1)
                                for a, b in zip(starts[:-1], starts[1:], strict=True)])
        rows = (6 * nodes[:, None] + np.arange(12))
        step = 1e-6
        self._move(np.zeros(6 * starts[-1]))
        for _ in range(60):
            X1, R1, X2, R2, h, C = self._elements()
            g = self.gradient(X1, R1, X2, R2, h, C)
            H = np.empty((len(h), 12, 12))
            for j in range(12):
                way = step * np.eye(12)[j]
                ahead, behind = (self.gradient(X1 + s * way[0:3], R1 @ rotation(s * way[3:6]),
                                               X2 + s * way[6:9], R2 @ rotation(s * way[9:]), h, C)
                                 for s in (1, -1))
                H[:, :, j] = (ahead - behind) / (2 * step)
            gradient = np.zeros(6 * starts[-1])
            hessian = np.zeros((len(gradient), len(gradient)))
            np.add.at(gradient, rows, g)
            np.add.at(hessian, (rows[:, :, None], rows[:, None, :]), H)
            B = self._freedom()
            change = -np.linalg.solve(B.T @ hessian @ B, B.T @ gradient)
            change *= 0.3 / max(0.3, np.abs(change).max())
            self._move(B @ change)
            if np.abs(change).max() < 1e-10:
                return gradient[:6]
        raise RuntimeError("no equilibrium")

    def _move(self, moves: np.ndarray) -> None:
        each = moves.reshape(-1, 6)
        start = 0
        for i, bar in enumerate(self.bars):
            part = each[start:start + bar.elements + 1]
            self.X[i] = self.X[i] + part[:, :3]
            self.R[i] = self.R[i] @ rotation(part[:, 3:])
            start += bar.elements + 1
        # Hinges, to rounding: the bar after starts where the one before ends, and both see the same
        # axis.
        for i in range(len(self.bars) - 1):
            self.X[i + 1][0] = self.X[i][-1]
            seen, own = self.R[i][-1] @ self.hinges[i], self.R[i + 1][0] @ self.after[i]
            self.R[i + 1][0] = rotation(np.cross(own, seen)) @ self.R[i + 1][0]

    def turn(self, i: int, about: np.ndarray, angle: float) -> None:
        """Turns a bar as a whole about its first node, to start from there. The nodes after move by
        as much as its end does."""
        Q, pivot, before = rotation(angle * about), self.X[i][0].copy(), self.X[i][-1].copy()
        self.X[i] = pivot + (self.X[i] - pivot) @ Q.T
        self.R[i] = Q @ self.R[i]
        for j in range(i + 1, len(self.bars)):
            self.X[j] = self.X[j] + (self.X[i][-1] - before)
