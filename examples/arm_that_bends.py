"""A slender arm with a load: how far it sags, how it rings after a fast move, and how input shaping
(Singer and Seering 1990) removes the ringing."""

import numpy as np

import kempe

TARGET, TIME = np.radians(60), 0.35  # rad, s
STIFFNESS, DAMPING = 15e3, 180.0  # of the servo: N m/rad, N m s/rad
DT, DURATION = 0.002, 1.5  # s


def build() -> kempe.Model:
    """An aluminium tube of 30 mm × 1.5 mm on a vertical shoulder axis, with 1 kg at its end."""
    arm = kempe.Mechanism("arm_that_bends")
    arm.add_body("world")
    arm.add_beam("arm", length=1.0, E=70e9, density=2700, area=1.343e-4, Iy=1.367e-8, Iz=1.367e-8,
                 modes=8, interface=["end"], damping=0.005)
    # The inertia of motor and gearbox counts with the square of the ratio.
    arm.add_revolute("shoulder", parent="world", child="arm", axis=(0, 0, 1), armature=1.0)
    arm.add_body("load", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    arm.add_fixed("grip", parent="arm", parent_node="end", child="load")
    return kempe.Model(arm)


def slowest_oscillation(model: kempe.Model, q: np.ndarray) -> tuple[float, float]:
    """Natural frequency in rad/s and damping ratio of the arm on its servo."""
    n, still = model.nv, np.zeros(model.nv)
    H = model.mass_matrix(q)
    K, D = model.inverse_dynamics_derivatives(q, still, still)[:2]
    K[0, 0] += STIFFNESS
    D[0, 0] += DAMPING
    A = np.block([[np.zeros((n, n)), np.eye(n)],
                  [-np.linalg.solve(H, K), -np.linalg.solve(H, D)]])
    poles = [pole for pole in np.linalg.eigvals(A)
             if pole.imag > 0 and -pole.real < 0.2 * abs(pole)]
    pole = min(poles, key=abs)
    return abs(pole), -pole.real / abs(pole)


def command(t: float) -> np.ndarray:
    """Position, velocity, acceleration: full acceleration, then full deceleration."""
    peak = 4 * TARGET / TIME**2
    if t <= 0:
        return np.zeros(3)
    if t < TIME / 2:
        return np.array([peak * t * t / 2, peak * t, peak])
    if t < TIME:
        left = TIME - t
        return np.array([TARGET - peak * left * left / 2, peak * left, -peak])
    return np.array([TARGET, 0.0, 0.0])


def ringing(model: kempe.Model, start: np.ndarray, impulses: list[tuple[float, float]]) -> tuple:
    """Times and path of the load across the arm's direction at the target, m, when the command
    comes in parts, each (share, delay)."""

    inertia = model.mass_matrix(start)[0, 0]  # of the straight arm about the shoulder

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        goal = sum(share * command(t - delay) for share, delay in impulses)
        tau = np.zeros(model.nv)
        tau[0] = (STIFFNESS * (goal[0] - q[0]) + DAMPING * (goal[1] - v[0])
                  + inertia * goal[2])
        return tau

    run = kempe.simulate(model, start, duration=DURATION, dt=DT, controller=controller)
    place = model.frame_placement(run.q, "load")[1]
    return run.t, place[:, 1] * np.cos(TARGET) - place[:, 0] * np.sin(TARGET)


def commands(omega: float, zeta: float) -> dict[str, list[tuple[float, float]]]:
    """The command as it is, and in two parts of which the second, half a period later, excites the
    opposite of what is left of the first."""
    delay = np.pi / (omega * np.sqrt(1 - zeta**2))
    decay = np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2))
    return {"as it is": [(1.0, 0.0)],
            "shaped": [(1 / (1 + decay), 0.0), (decay / (1 + decay), delay)]}


def main() -> None:
    model = build()
    start = model.static_deflection(model.neutral())
    sag = -model.frame_placement(start, "load")[1][2]
    still = np.zeros(model.nv)
    residual = np.abs(model.inverse_dynamics(start, still, still)[1:]).max()
    omega, zeta = slowest_oscillation(model, start)
    print(f"The load sags by {1e3 * sag:.2f} mm; its weight and bending balance to {residual:.1e}.")
    print(f"On its servo the arm oscillates at {omega / (2 * np.pi):.2f} Hz, "
          f"damping ratio {zeta:.3f}.\n")

    print("command      ends after, s   ringing, mm   after 0.5 s more, mm")
    left = {}
    for name, impulses in commands(omega, zeta).items():
        end = TIME + impulses[-1][1]
        t, path = ringing(model, start, impulses)
        left[name] = np.abs(path[t > end + 0.021]).max()
        later = np.abs(path[t > end + 0.501]).max()
        print(f"{name:<12} {end:13.3f} {1e3 * left[name]:13.2f} {1e3 * later:22.2f}")
    assert residual < 1e-6
    assert left["shaped"] < 0.1 * left["as it is"]


if __name__ == "__main__":
    main()
