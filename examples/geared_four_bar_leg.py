"""A leg whose knee motor sits at the hip and bends the knee through a gear and a four-bar linkage.

Loads it from the file beside this one and walks it through one stride with the motors.
"""

from pathlib import Path

import numpy as np

import kempe

GEAR = 8.0  # turns of a motor for one of the hip or the crank

model = kempe.load(Path(__file__).with_suffix(".urdf"))
print(model)

hip, knee = model.joint_position_index("hip"), model.joint_position_index("knee")
hip_motor, knee_motor = model.v_names.index("hip_motor"), model.v_names.index("knee_motor")
knee_velocity = model.joint_velocity_index("knee")

v = np.zeros(model.nv)
v[hip_motor] = -GEAR * 0.4  # the stride begins with the foot in front
q = model.integrate(model.neutral(), v, 1.0)
widest = 0.0

print(f"One stride. The gear alone would give {GEAR:.0f} motor turns per knee turn.\n")
print("  time s  hip deg  knee deg  motor turns per knee turn")
steps, period = 400, 0.8
dt, rate = period / steps, 2 * np.pi / period
for step in range(steps + 1):
    widest = max(widest, np.abs(model.loop_residual(q)).max())
    if step % (steps // 10) == 0:
        positions = model.spanning_positions(q)
        ratio = 1 / model.constraint_jacobian(q)[knee_velocity, knee_motor]
        print(f"{step * dt:8.2f} {np.degrees(positions[hip]):8.1f} "
              f"{np.degrees(positions[knee]):9.1f} {ratio:14.2f}")
    # The hip swings by 0.4 rad to both sides; the crank bends the knee and stretches it again.
    time = (step + 0.5) * dt
    v[hip_motor] = GEAR * 0.4 * rate * np.sin(rate * time)
    v[knee_motor] = GEAR * 0.3 * rate * np.sin(rate * time)
    q = model.integrate(q, v, dt)

print(f"\nThe loops were never open by more than {widest:.1e}.")
assert widest < 1e-12
