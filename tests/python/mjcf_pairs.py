"""The same robot in MuJoCo and in Kempe, with the map between their coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kempe


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Of a quaternion in MuJoCo's order."""
    import mujoco

    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion)
    return R.reshape(3, 3)


class Pair:
    """MuJoCo's model `m` with contacts and joint limits switched off, and Kempe's `model`."""

    def __init__(self, file: Path) -> None:
        import mujoco

        self.mujoco = mujoco
        self.model = kempe.load(file)
        self.m: Any = mujoco.MjModel.from_xml_path(str(file))
        flags = mujoco.mjtDisableBit
        self.m.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_LIMIT)
        self.m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.d: Any = mujoco.MjData(self.m)

    def joints(self) -> list[tuple[str, int, int, int]]:
        """Kempe's name, MuJoCo's type and its addresses in qpos and qvel."""
        m = self.m
        bodies = [self.mujoco.mj_id2name(m, self.mujoco.mjtObj.mjOBJ_BODY, b) or f"body{b}"
                  for b in range(m.nbody)]
        words = ("free", "ball", "slide", "hinge")
        return [(self.mujoco.mj_id2name(m, self.mujoco.mjtObj.mjOBJ_JOINT, j)
                 or f"{bodies[m.jnt_bodyid[j]]}_{words[m.jnt_type[j]]}",
                 int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]))
                for j in range(m.njnt)]

    def to_kempe(self, qpos: np.ndarray) -> np.ndarray:
        """The q of a qpos that closes the loops."""
        spanning = np.full(self.model.nq_spanning, np.nan)
        for name, kind, at, _ in self.joints():
            first = self.model.joint_position_index(name)
            numbers = qpos[at:at + (7, 4, 1, 1)[kind]].copy()
            if kind < 2:
                numbers[-4:] = np.roll(numbers[-4:], -1)
            spanning[first:first + len(numbers)] = numbers
        names = self.model.spanning_position_names
        return spanning[[names.index(name) for name in self.model.q_names]]

    def to_mujoco(self, q: np.ndarray) -> np.ndarray:
        spanning, qpos = self.model.spanning_positions(q), np.empty(self.m.nq)
        for name, kind, at, _ in self.joints():
            first, size = self.model.joint_position_index(name), (7, 4, 1, 1)[kind]
            numbers = spanning[first:first + size].copy()
            if kind < 2:
                numbers[-4:] = np.roll(numbers[-4:], 1)
            qpos[at:at + size] = numbers
        return qpos

    def velocity_map(self, qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T and c of: spanning velocity = T qvel, spanning acceleration = T qacc + c."""
        T, c = np.zeros((self.model.nv_spanning, self.m.nv)), np.zeros(self.model.nv_spanning)
        for name, kind, at, dof in self.joints():
            first, size = self.model.joint_velocity_index(name), (6, 3, 1, 1)[kind]
            T[first:first + size, dof:dof + size] = np.eye(size)
            if kind == 0:
                turn = rotation(qpos[at + 3:at + 7]).T
                T[first:first + 3, dof:dof + 3] = turn
                c[first:first + 3] = -np.cross(qvel[dof + 3:dof + 6], turn @ qvel[dof:dof + 3])
        return T, c

    def evaluate(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        self.d.qpos[:], self.d.qvel[:] = qpos, qvel
        self.mujoco.mj_forward(self.m, self.d)

    def mass_matrix(self) -> np.ndarray:
        H = np.zeros((self.m.nv, self.m.nv))
        try:
            self.mujoco.mj_fullM(self.m, self.d, H)
        except TypeError:  # before 4.0
            self.mujoco.mj_fullM(self.m, H, self.d.qM)
        return H

    def equality_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The constraint Jacobian and the violation."""
        d = self.d
        rows = d.efc_type == self.mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = d.efc_J.reshape(d.nefc, self.m.nv) if d.nefc else np.zeros((0, self.m.nv))
        return J[rows].copy(), d.efc_pos[rows].copy()


def null_space(J: np.ndarray) -> np.ndarray:
    _, values, V = np.linalg.svd(J)
    rank = int((values > 1e-7 * max(1.0, values.max(initial=0))).sum())
    return V[rank:].T


def compare_tree(pair: Pair, rng: np.random.Generator, tolerance: float = 1e-9) -> None:
    """Mass matrix, bias forces and accelerations in a random state of a robot without loops."""
    m, model = pair.m, pair.model
    qpos = pair.mujoco.MjData(m).qpos.copy()
    qvel = rng.normal(size=m.nv)
    pair.mujoco.mj_integratePos(m, qpos, rng.normal(size=m.nv), 1.0)
    pair.evaluate(qpos, qvel)
    assert pair.d.nefc == 0
    H, h = pair.mass_matrix(), pair.d.qfrc_bias - pair.d.qfrc_passive
    T, c = pair.velocity_map(qpos, qvel)
    assert model.nv == m.nv
    order = [model.spanning_velocity_names.index(name) for name in model.v_names]
    T, c = T[order], c[order]
    q, v = pair.to_kempe(qpos), T @ qvel
    scale = np.abs(H).max()
    np.testing.assert_allclose(T.T @ model.mass_matrix(q) @ T, H, atol=tolerance * scale, rtol=0)
    bias = T.T @ (model.mass_matrix(q) @ c + model.bias_forces(q, v))
    np.testing.assert_allclose(bias, h, atol=tolerance * max(scale, np.abs(h).max()), rtol=0)
    tau = rng.normal(size=m.nv)
    pair.d.qfrc_applied[:] = tau
    pair.evaluate(qpos, qvel)
    a = model.forward_dynamics(q, v, np.linalg.solve(T.T, tau))
    expected = T @ np.linalg.solve(H, tau - h) + c
    np.testing.assert_allclose(a, expected, atol=tolerance * max(1, np.abs(expected).max()),
                               rtol=0)
    np.testing.assert_allclose(pair.d.qacc, np.linalg.solve(H, tau - h), rtol=1e-6, atol=1e-6)


def compare_loops(pair: Pair, seed: int, tolerance: float = 1e-8) -> None:
    """Forward dynamics in a random state that closes the loops, with MuJoCo's mass matrix and bias
    forces on the null space of MuJoCo's constraint Jacobian."""
    m, model = pair.m, pair.model
    rng = np.random.default_rng(seed)
    q = model.random_configuration(seed)
    qpos = pair.to_mujoco(q)
    pair.evaluate(qpos, np.zeros(m.nv))
    J, violation = pair.equality_rows()
    assert len(J) > 0
    np.testing.assert_allclose(violation, 0, atol=tolerance)
    N = null_space(J)
    if not model.cut_loops:
        assert N.shape[1] == model.nv
    qvel = N @ rng.normal(size=N.shape[1])
    pair.evaluate(qpos, qvel)
    T, c = pair.velocity_map(qpos, qvel)
    spanning_velocity = T @ qvel
    names = model.spanning_velocity_names
    v = spanning_velocity[[names.index(name) for name in model.v_names]]
    np.testing.assert_allclose(model.spanning(q, v)[1], spanning_velocity,
                               atol=tolerance * max(1, np.abs(spanning_velocity).max()))
    H, h = pair.mass_matrix(), pair.d.qfrc_bias - pair.d.qfrc_passive
    joint_forces = rng.normal(size=model.nv_spanning)
    G = model.constraint_jacobian(q)
    a = model.forward_dynamics(q, v, G.T @ joint_forces)
    spanning_acceleration = G @ a + model.constraint_bias(q, v)
    qacc = np.linalg.solve(T, spanning_acceleration - c)
    unbalanced = N.T @ (H @ qacc + h - T.T @ joint_forces)
    scale = max(1.0, np.abs(H @ qacc).max(), np.abs(h).max())
    np.testing.assert_allclose(unbalanced, 0, atol=tolerance * scale)
    # J qacc + J̇ qvel = 0, with J̇ qvel by differences.
    rates, step = [], 1e-5
    for sign in (1, -1):
        moved = qpos.copy()
        pair.mujoco.mj_integratePos(m, moved, qvel, sign * step)
        pair.evaluate(moved, qvel)
        rates.append(pair.equality_rows()[0] @ qvel)
    drift = (rates[0] - rates[1]) / (2 * step)
    np.testing.assert_allclose(J @ qacc + drift, 0,
                               atol=1e-6 * max(1, np.abs(drift).max(), np.abs(qacc).max()))
