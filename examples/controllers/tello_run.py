"""Tello runs in place on a test stand, with its arms swinging opposite to its legs.

    kempe simulate tello --fixed-base --controller examples/controllers/tello_run.py

Two motors at each hip move the thigh through cranks and rods, two at each thigh move knee and foot
through a differential. The motion is given in motor angles, and followed by computed torque.
"""

import numpy as np

GEAR = 6.0  # motor turns per joint turn
STRIDES = 1.25  # per second
START = 0.6  # seconds until the motion has its full amplitude
STIFFNESS, DAMPING = 400.0, 40.0  # 1/s², 1/s: acceleration per unit error


def pose(t):
    """Desired positions relative to neutral, by coordinate name."""
    part = np.clip(t / START, 0.0, 1.0)
    size = part**3 * (10 - 15 * part + 6 * part**2)  # from 0 to 1, smoothly
    wanted = {}
    for side, shift in (("left", 0.0), ("right", np.pi)):
        phase = 2 * np.pi * STRIDES * t + shift
        thigh = -0.35 - 0.35 * np.sin(phase)
        knee = 0.8 + 0.55 * np.sin(phase - 0.9)
        arm = 0.1 + 0.5 * np.sin(phase)
        for motor in "12":
            wanted[f"{side}-hip-clamp-to-hip-rotor-{motor}"] = GEAR * thigh * size
            wanted[f"{side}-thigh-to-knee-ankle-rotor-{motor}"] = GEAR * knee * size
        wanted[f"torso-to-{side}-shoulder-ry"] = arm * size
        wanted[f"{side}-shoulder-rz-to-elbow"] = -1.2 * size
    return wanted


def setup(model):
    """Called once, before the simulation."""
    global robot, columns, rest
    missing = set(model.v_names) - set(model.q_names)
    if model.name != "tello" or missing:
        raise ValueError("this controller is for tello with --fixed-base")
    robot = model
    columns = [model.q_names.index(name) for name in model.v_names]
    rest = model.neutral()[columns]


def control(t, q, v):
    """Motor torques, from time, positions and velocities."""
    h = 1e-4
    before, now, after = (positions_at(t + shift) for shift in (-h, 0.0, h))
    velocity, acceleration = (after - before) / (2 * h), (after - 2 * now + before) / h**2
    a = acceleration + STIFFNESS * (now - q[columns]) + DAMPING * (velocity - v)
    return robot.inverse_dynamics(q, v, a)


def positions_at(t):
    wanted = pose(t)
    return rest + np.array([wanted.get(name, 0.0) for name in robot.v_names])
