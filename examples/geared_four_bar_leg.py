"""A leg with its knee motor at the hip, which bends the knee through a gear and a four-bar.

Describes the leg, compiles it, and moves it through one stride. geared_four_bar_leg.urdf is the
same leg as a file.
"""

import numpy as np

import kempe

GEAR = 8.0  # gear ratio: motor turns per turn of hip or crank
AXIS = (0, 1, 0)


def describe_leg() -> kempe.Mechanism:
    """x points forward and z up; at zero the leg hangs straight down."""
    leg = kempe.Mechanism("geared_four_bar_leg")
    leg.add_body("trunk")
    leg.add_body("thigh", mass=1.2, center_of_mass=(0, 0, -0.11), inertia=(0.008, 0.008, 0.001))
    leg.add_body("shank", mass=0.5, center_of_mass=(0, 0, -0.12), inertia=(0.004, 0.004, 0.0002))
    leg.add_body("crank", mass=0.05, center_of_mass=(0.025, 0, 0), inertia=(1e-6, 1e-5, 1e-5))
    leg.add_body("rod", mass=0.08, center_of_mass=(0, 0, -0.125), inertia=(4e-4, 4e-4, 1e-6))
    leg.add_body("hip_rotor", mass=0.1, inertia=(3e-5, 5e-5, 3e-5))
    leg.add_body("knee_rotor", mass=0.1, inertia=(3e-5, 5e-5, 3e-5))

    def turning(name: str, parent: str, child: str, **more: object) -> None:
        leg.add_joint(name, "continuous", parent=parent, child=child, axis=AXIS, **more)

    turning("hip", "trunk", "thigh")
    turning("hip_motor", "trunk", "hip_rotor", independent=True)
    leg.add_gear("hip_gear", "hip_motor", GEAR, "hip")

    turning("knee", "thigh", "shank", xyz=(0, 0, -0.25))
    leg.add_revolute("crank_pivot", parent="thigh", child="crank", axis=AXIS, lower=-0.7, upper=0.7)
    turning("knee_motor", "thigh", "knee_rotor", independent=True)
    leg.add_gear("knee_gear", "knee_motor", GEAR, "crank_pivot")

    turning("rod_top", "crank", "rod", xyz=(0.05, 0, 0))
    leg.add_loop("four_bar", "revolute", predecessor="rod", predecessor_xyz=(0, 0, -0.25),
                 successor="shank", successor_xyz=(0.035, 0, 0), axis=AXIS)
    return leg


model = kempe.Model(describe_leg())
print(model)

hip, knee = model.joint_position_index("hip"), model.joint_position_index("knee")
hip_motor, knee_motor = model.v_names.index("hip_motor"), model.v_names.index("knee_motor")
knee_velocity = model.joint_velocity_index("knee")

v = np.zeros(model.nv)
v[hip_motor] = -GEAR * 0.4  # the stride starts with the foot in front
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
    # The hip swings by 0.4 rad to both sides; the crank bends and straightens the knee.
    time = (step + 0.5) * dt
    v[hip_motor] = GEAR * 0.4 * rate * np.sin(rate * time)
    v[knee_motor] = GEAR * 0.3 * rate * np.sin(rate * time)
    q = model.integrate(q, v, dt)

print(f"\nLargest loop error: {widest:.1e}.")
assert widest < 1e-12
