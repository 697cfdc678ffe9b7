"""An arm with two geared motors, the second mounted on the upper arm: joint and motor torques of a
fast swing, and the errors of models without exact rotors."""

import numpy as np

import kempe

GEAR = 30.0  # gear ratio: motor turns per joint turn
AXIS = (0, 1, 0)


def describe_arm() -> kempe.Mechanism:
    """x points forward and z up; at zero the arm hangs straight down."""
    arm = kempe.Mechanism("geared_arm")
    arm.add_body("base")
    arm.add_body("upper_arm", mass=1.5, center_of_mass=(0, 0, -0.15), inertia=(0.012, 0.012, 0.002))
    arm.add_body("forearm", mass=0.8, center_of_mass=(0, 0, -0.12), inertia=(0.005, 0.005, 0.0005))
    arm.add_body("shoulder_rotor", mass=0.25, inertia=(6e-5, 1e-4, 6e-5))
    arm.add_body("elbow_rotor", mass=0.25, inertia=(6e-5, 1e-4, 6e-5))

    arm.add_joint("shoulder", "continuous", parent="base", child="upper_arm", axis=AXIS,
                  independent=True)
    arm.add_joint("shoulder_motor", "continuous", parent="base", child="shoulder_rotor", axis=AXIS)
    arm.add_gear("shoulder_gear", "shoulder_motor", GEAR, "shoulder")

    arm.add_joint("elbow", "continuous", parent="upper_arm", child="forearm", xyz=(0, 0, -0.3),
                  axis=AXIS, independent=True)
    arm.add_joint("elbow_motor", "continuous", parent="upper_arm", child="elbow_rotor",
                  xyz=(0, 0, -0.05), axis=AXIS)
    arm.add_gear("elbow_gear", "elbow_motor", GEAR, "elbow")
    return arm


model = kempe.Model(describe_arm())
print(model)

print("A swing of half a second. Torques in N m.\n")
print("  time s  shoulder    elbow   shoulder motor  elbow motor")
steps, period = 50, 0.5
rate = 2 * np.pi / period
phase = rate * period * np.arange(steps + 1) / steps
# One row per instant: every function takes all of them at once.
q = np.stack([0.6 * np.sin(phase), 0.5 * np.sin(2 * phase)], axis=1)
v = np.stack([0.6 * rate * np.cos(phase), rate * np.cos(2 * phase)], axis=1)
a = np.stack([-0.6 * rate * rate * np.sin(phase), -2 * rate * rate * np.sin(2 * phase)], axis=1)
tau = model.inverse_dynamics(q, v, a)

# Motor torques, through the gears, give the joint torques.
joints = np.zeros((steps + 1, model.nv_spanning))
motors = [model.joint_velocity_index(name) for name in ("shoulder_motor", "elbow_motor")]
joints[:, motors] = tau / GEAR
residual = np.abs(model.generalized_forces(q, joints) - tau).max()

for k in range(2, steps + 1, 5):
    print(f"{period * k / steps:8.2f} {tau[k, 0]:9.2f} {tau[k, 1]:8.2f} "
          f"{joints[k, motors[0]]:16.3f} {joints[k, motors[1]]:12.3f}")
print(f"\nLargest torque: {np.abs(tau).max():.2f} N m. Largest errors of other models:")
for method, words in (("approximate", "with reflected inertias on the diagonal"),
                      ("unconstrained", "without rotors")):
    error = model.inverse_dynamics(q, v, a, method=method) - tau
    print(f"{np.abs(error).max():8.2f} N m {words}")
print(f"Motor torques reproduce the joint torques to {residual:.1e} N m.")
assert residual < 1e-12
