"""A piston engine whose independent coordinate is the piston position, which has dead points at
both ends of the stroke: a motor starts it against a spring, and the crank turns through them."""

import math

import numpy as np

import kempe

CRANK, ROD = 0.05, 0.15  # metres


def describe_engine() -> kempe.Mechanism:
    """x points along the cylinder. At zero the crank points along it too."""
    engine = kempe.Mechanism("crank_slider_engine")
    engine.add_body("block")
    engine.add_body("flywheel", mass=2, inertia=(4e-3, 4e-3, 8e-3))
    engine.add_body("rod", mass=0.3, center_of_mass=(ROD / 2, 0, 0), inertia=(1e-5, 6e-4, 6e-4))
    engine.add_body("piston", mass=0.25, inertia=(1e-4, 1e-4, 1e-4))

    engine.add_joint("crank", "continuous", parent="block", child="flywheel", independent=False)
    engine.add_joint("crank_pin", "continuous", parent="flywheel", child="rod",
                     xyz=(CRANK, 0, 0), independent=False)
    engine.add_prismatic("slide", parent="block", child="piston", axis=(1, 0, 0),
                         independent=True)
    engine.add_loop("piston_pin", "revolute", predecessor="rod", predecessor_xyz=(ROD, 0, 0),
                    successor="piston")
    return engine


model = kempe.Model(describe_engine())
simulator = kempe.Simulator(model, "adaptive")

# The gas is modelled as a spring that pushes the piston outward.
simulator.add_spring("slide", 80.0, rest=0.2)
starter = simulator.add_motor("crank", gear=12.0, rotor_inertia=2e-5, stall_torque=0.6,
                              no_load_speed=400.0, viscous_friction=1e-5)
simulator.set_motor_torque(starter, 1.0)  # above its capability: the torque-speed line limits it

# At rest, with the crank turned by a quarter turn.
at = {"slide": math.sqrt(ROD * ROD - CRANK * CRANK), "crank": math.pi / 2,
      "crank_pin": -math.pi / 2 - math.asin(CRANK / ROD)}
simulator.set_state([at[name] for name in model.q_names], np.zeros(model.nv))
start = sum(simulator.energy)

print(f'The model\'s independent coordinate is "{model.v_names[0]}".\n')
print("  time s   turns  crank rad/s  piston m  motor N m  computed in")
widest = 0.0
crank = model.joint_velocity_index("crank")
for i in range(11):
    if i > 0:
        simulator.step_to(0.1 * i)
    widest = max(widest, simulator.loop_error)
    angle, piston = (simulator.q[model.q_names.index(name)] for name in ("crank", "slide"))
    print(f"  {simulator.time:6.1f}  {angle / (2 * math.pi):6.2f}  "
          f"{simulator.spanning_velocities[crank]:11.3f}  {piston:8.4f}  "
          f"{simulator.motor_torque(starter):9.4f}  {simulator.coordinates[0]}")

work = simulator.work
gained = work["motors"] - work["damping"]
balance = sum(simulator.energy) - start - gained
print(f"\nThe motor did {work['motors']:.4f} J of work, "
      f"its friction dissipated {work['damping']:.4f} J.")
print(f"Energy error: {'less' if abs(balance) < 1e-5 else 'more'} than 1e-5 J. "
      f"Largest loop error {widest:.1e}.")
