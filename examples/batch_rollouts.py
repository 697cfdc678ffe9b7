"""Finds the fastest kick of a leg by simulating 1,024 kicks at once. The leg winds up and then
kicks with full motor torque; the times at which hip and knee reverse are varied. Kicks that
overextend the knee do not count."""

import numpy as np

import kempe

PER_JOINT, STEPS, COMPARED = 32, 350, 777
STEP, HIP_TORQUE, KNEE_TORQUE = 1e-3, 12.0, 4.0
KICKS = PER_JOINT**2

model = kempe.robots.load("mit_humanoid_leg")
HIP, KNEE = 2, 3  # indices in model.v_names

turns = 0.05 + 0.2 * np.arange(PER_JOINT) / (PER_JOINT - 1)  # seconds
hip_turns, knee_turns = np.repeat(turns, PER_JOINT), np.tile(turns, PER_JOINT)

q, v, tau = np.zeros((KICKS, model.nq)), np.zeros((KICKS, model.nv)), np.zeros((KICKS, model.nv))
q[:, KNEE] = 0.3  # standing with a slightly bent knee
fastest, fair = np.zeros(KICKS), np.ones(KICKS, dtype=bool)
one_q, one_v = q[COMPARED], v[COMPARED]

_, place = model.frame_placement(q, "ankle_link")
for step in range(STEPS):
    time = step * STEP
    tau[:, HIP] = np.where(time < hip_turns, HIP_TORQUE, -HIP_TORQUE)
    tau[:, KNEE] = np.where(time < knee_turns, KNEE_TORQUE, -KNEE_TORQUE)
    v = v + STEP * model.forward_dynamics(q, v, tau)
    q = model.integrate(q, v, STEP)
    before = place
    _, place = model.frame_placement(q, "ankle_link")
    speed = (place[:, 0] - before[:, 0]) / STEP  # forward
    fair &= q[:, KNEE] > 0
    fastest = np.where(fair, np.maximum(speed, fastest), fastest)

    # One state computed alone, for comparison.
    one_v = one_v + STEP * model.forward_dynamics(one_q, one_v, tau[COMPARED])
    one_q = model.integrate(one_q, one_v, STEP)

best = fastest.argmax()
print(f"{KICKS} kicks of {STEPS * STEP:.2f} s, {STEPS} steps each.")
print(f"The knee overextends in {(~fair).sum()} of them.")
print(f"Fastest: {fastest[best]:.2f} m/s. The hip reverses after {hip_turns[best]:.3f} s, "
      f"the knee after {knee_turns[best]:.3f} s.")
print(f"Hip and knee at the same time: {fastest[hip_turns == knee_turns].max():.2f} m/s at best.")
residual = np.abs(q[COMPARED] - one_q).max()
print(f"Kick {COMPARED} computed alone ends in the same position to {residual:.1e} rad.")
assert residual < 1e-9
