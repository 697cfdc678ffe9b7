"""An arm catches a ball in flight and throws it. Constraints are switched during the run: brakes
that hold the arm, and a hand that grasps and releases, with the impulse of the catch."""

import numpy as np

import kempe

GRAVITY = 9.81
UPPER, FORE = 0.4, 0.35  # metres
STEP = 0.001  # seconds
FLIGHT, SWING = 300, 200  # steps


def describe_catch() -> kempe.Mechanism:
    """Everything moves in a plane: x forward, y up. At zero the arm hangs straight down."""
    robot = kempe.Mechanism("catch")
    robot.gravity = (0, -GRAVITY, 0)
    robot.add_body("base")
    robot.add_body("upper_arm", mass=1.2, center_of_mass=(0, -0.2, 0), inertia=(0.02, 0.001, 0.02))
    robot.add_body("forearm", mass=0.7, center_of_mass=(0, -0.15, 0), inertia=(0.01, 0.001, 0.01))
    robot.add_body("ball", mass=0.3, inertia=(3e-4, 3e-4, 3e-4))
    robot.add_revolute("shoulder", parent="base", child="upper_arm")
    robot.add_revolute("elbow", parent="upper_arm", child="forearm", xyz=(0, -UPPER, 0))
    robot.add_joint("flight", "planar", parent="base", child="ball")
    return robot


model = kempe.Model(describe_catch())
shoulder, elbow, ball = (model.joint_position_index(name)
                         for name in ("shoulder", "elbow", "flight"))

# The arm waits with a bent elbow; the ball is thrown to meet the hand after FLIGHT steps.
q, v = np.zeros(model.nq), np.zeros(model.nv)
q[shoulder], q[elbow] = 0.3, 0.9
turned = q[shoulder] + q[elbow]
hand = (np.array([UPPER * np.sin(0.3), -UPPER * np.cos(0.3)])
        + FORE * np.array([np.sin(turned), -np.cos(turned)]))
time = STEP * FLIGHT
v[ball:ball + 2] = -2.5, 0.8
q[ball:ball + 2] = hand - time * v[ball:ball + 2] + [0, 0.5 * GRAVITY * time**2]
q[ball + 2] = turned

constraints = kempe.Constraints(model)
constraints.lock("shoulder_brake", "shoulder", q)
constraints.lock("elbow_brake", "elbow", q)
constraints.connect("grasp", "fixed", predecessor="forearm", predecessor_xyz=(0, -FORE, 0),
                    successor="ball")
constraints.disable("grasp")


def move(q: np.ndarray, v: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Integrates with the midpoint rule."""
    still = np.zeros(model.nv)
    for _ in range(steps):
        a, _ = model.constrained_forward_dynamics(q, v, still, constraints)
        between = v + 0.5 * STEP * a
        a, _ = model.constrained_forward_dynamics(
            model.integrate(q, v, 0.5 * STEP), between, still, constraints)
        q, v = model.integrate(q, between, STEP), v + STEP * a
    return q, v


def tell(when: str) -> None:
    x, y = q[ball:ball + 2]
    print(f"{when:8} ball at ({x:6.3f}, {y:6.3f}) m with ({v[ball]:6.3f}, {v[ball + 1]:6.3f}) m/s")


held = model.constrained_forward_dynamics(q, v, np.zeros(model.nv), constraints)
print(f"The brakes hold the arm with {held.multipliers[0]:.3f} and {held.multipliers[1]:.3f} N m.")
tell("thrown:")
q, v = move(q, v, FLIGHT)
tell("arrives:")

constraints.disable("shoulder_brake")
constraints.disable("elbow_brake")
constraints.enable("grasp")
missed = np.abs(model.constraint_errors(q, constraints)).max()
before = sum(model.energy(q, v))
v, impulses = model.project_velocities(q, v, constraints)
push = model.constraint_wrench(q, impulses, constraints, "grasp")
print(f"The catch takes an impulse of ({push[0]:.3f}, {push[1]:.3f}) N s "
      f"and {before - sum(model.energy(q, v)):.3f} J.")
tell("caught:")
grip = model.constrained_forward_dynamics(q, v, np.zeros(model.nv), constraints)
print(f"The grasp has {constraints.rows - 2} rows, "
      f"of which {grip.rank} are independent in a plane.")

before = sum(model.energy(q, v))
q, v = move(q, v, SWING)
drift = np.abs(model.constraint_errors(q, constraints)).max()
gained = abs(sum(model.energy(q, v)) - before)
tell("release:")

constraints.disable("grasp")
start, speed = q[ball:ball + 2], v[ball:ball + 2]
q, v = move(q, v, FLIGHT)
tell("later:")
parabola = start + time * speed - [0, 0.5 * GRAVITY * time**2]
off = np.abs(q[ball:ball + 2] - parabola).max()
print(f"Missed by {missed:.1e} m, slipped by {drift:.1e} m, energy error {gained:.1e} J, "
      f"parabola error {off:.1e} m.")
assert missed < 1e-12 and drift < 1e-4 and gained < 1e-4 and off < 1e-12
