"""Feed-forward torque control of a humanoid's leg whose knee and ankle are driven by belts: the
ankle motor is mounted on the thigh and turns with the sum of knee and ankle. Compares three models
in the controller; the simulated robot is always the exact one."""

import numpy as np

import kempe

PERIOD, STEP, STIFFNESS, DAMPING = 0.5, 5e-4, 80.0, 4.0
RATE = 2 * np.pi / PERIOD
# Yaw, roll and pitch of the hip, knee, ankle; rad. All joints start at rest.
OFFSET = np.array([0.0, 0.0, -0.4, 0.9, -0.4])
AMPLITUDE = np.array([0.1, 0.1, 0.5, 0.6, -0.4])

model = kempe.robots.load("mit_humanoid_leg")
motors = [model.joint_velocity_index(name) for name in (
    "base_to_hipz_rotor", "hipz_to_hipx_rotor", "hipx_to_hipy_rotor", "hipy_to_knee_rotor",
    "hipy_to_ankle_rotor")]


def swing_at(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The desired motion: positions, velocities, accelerations."""
    phase = RATE * time
    return (OFFSET + AMPLITUDE * np.cos(phase), -AMPLITUDE * RATE * np.sin(phase),
            -AMPLITUDE * RATE * RATE * np.cos(phase))


def swing(method: str) -> tuple[float, np.ndarray, float]:
    """One swing with the feed-forward torques of a method: the largest error of a joint, the
    largest motor torques, and how well these reproduce the desired joint torques."""
    torques, residuals = [], []

    def controller(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        goal, goal_v, goal_a = swing_at(time)
        forward = model.inverse_dynamics(goal, goal_v, goal_a, method=method)
        tau = forward + STIFFNESS * (goal - q) + DAMPING * (goal_v - v)
        # τ = Mᵀ τ_motors, where M has the motors' rows of G.
        at_motors = np.linalg.solve(model.constraint_jacobian(q)[motors].T, tau)
        joints = np.zeros(model.nv_spanning)
        joints[motors] = at_motors
        back = model.generalized_forces(q, joints)  # joint torques of these motor torques
        torques.append(np.abs(at_motors))
        residuals.append(np.abs(back - tau).max())
        return back

    q, v, _ = swing_at(0)
    run = kempe.simulate(model, q, v, duration=PERIOD, dt=STEP, controller=controller,
                         integrator="semi_implicit_euler")
    goals = np.array([swing_at(time)[0] for time in run.t[:-1]])
    return np.abs(goals - run.q[:-1]).max(), np.max(torques, axis=0), max(residuals)


print(f"One swing of {PERIOD:.1f} s, with the same feedback.\n")
print("                        largest error   largest motor torques, N m")
print("feed-forward from       of a joint, deg  yaw   roll  pitch   knee  ankle")
outcomes = {name: swing(method) for name, method in (
    ("the exact model", "cluster"), ("reflected inertias", "approximate"),
    ("no rotors", "unconstrained"))}
for name, (error, torques, _) in outcomes.items():
    print(f"{name:<20} {np.degrees(error):14.2f}   " + "".join(f" {t:6.2f}" for t in torques))
residual = max(residual for _, _, residual in outcomes.values())
print(f"\nMotor torques reproduce the desired joint torques to {residual:.1e} N m.")
assert residual < 1e-12
