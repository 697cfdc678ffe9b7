"""Swings a pendulum up that a geared motor drives through a four-bar linkage, by optimal control.

The motor turns the crank of a drag-link linkage, whose follower carries the pendulum. Its torque is
too small to lift the pendulum at once, so that it must swing. CasADi's IPOPT finds the motion by
direct collocation (Hermite–Simpson) on Kempe's dynamics and their exact first and second
derivatives, with rotor and loop included; Kempe's simulator then replays the torques. Needs CasADi:
pip install casadi. An argument names a folder for pictures.
"""

import sys
from pathlib import Path

import casadi
import numpy as np

import kempe
import kempe.casadi

GEAR = 6.0
MOTOR_TORQUE = 0.16  # N·m; lifting the pendulum would take 0.41
DURATION, INTERVALS = 2.4, 48
AXIS = (0, 1, 0)


def describe() -> kempe.Mechanism:
    """The shortest link is the ground, so that crank and follower turn all the way round."""
    linkage = kempe.Mechanism("drag_link_pendulum")
    linkage.add_body("ground")
    linkage.add_body("crank", mass=0.1, center_of_mass=(0, 0, 0.06), inertia=(1e-4, 1e-4, 1e-6))
    linkage.add_body("coupler", mass=0.1, center_of_mass=(0, 0, 0.065), inertia=(1e-4, 1e-4, 1e-6))
    linkage.add_body("pendulum", mass=1.0, center_of_mass=(0, 0, -0.25), inertia=(1e-3, 1e-3, 1e-4))
    linkage.add_body("rotor", mass=0.1, inertia=(3e-5, 5e-5, 3e-5))

    def turning(name: str, parent: str, child: str, **more: object) -> None:
        linkage.add_joint(name, "continuous", parent=parent, child=child, axis=AXIS, **more)

    turning("crank_pivot", "ground", "crank", independent=True)
    turning("motor", "ground", "rotor")
    linkage.add_gear("gear", "motor", GEAR, "crank_pivot")
    turning("pendulum_pivot", "ground", "pendulum", xyz=(0.06, 0, 0))
    turning("coupler_pivot", "crank", "coupler", xyz=(0, 0, 0.12))
    linkage.add_loop("four_bar", "revolute", predecessor="coupler", predecessor_xyz=(0, 0, 0.13),
                     successor="pendulum", successor_xyz=(0, 0, 0.14), axis=AXIS)
    return linkage


model = kempe.Model(describe())

# Crank angles at which the pendulum hangs and stands: extremes of the potential energy.
local = kempe.casadi.LocalCoordinates(model)
angles = np.linspace(0, 2 * np.pi, 721)
heights = np.array([model.energy(local.configuration([angle]), [0.0])[1] for angle in angles])
hanging = local.configuration([angles[heights.argmin()]])
local = kempe.casadi.LocalCoordinates(model, hanging)
goal = angles[heights.argmax()] - angles[heights.argmin()]
goal = (goal + np.pi) % (2 * np.pi) - np.pi

dynamics = kempe.casadi.function(model, "forward_dynamics", reference=hanging,
                                 states=INTERVALS + 1)
middle = kempe.casadi.function(model, "forward_dynamics", reference=hanging, states=INTERVALS)

problem = casadi.Opti()
x, v, tau = (problem.variable(1, INTERVALS + 1) for _ in range(3))
h = DURATION / INTERVALS
a = dynamics(x, v, tau)
x0, x1, v0, v1, a0, a1 = x[:-1], x[1:], v[:-1], v[1:], a[:-1], a[1:]
# Hermite–Simpson: cubic positions and velocities, the dynamics also hold in the middle.
xm = (x0 + x1) / 2 + h / 8 * (v0 - v1)
vm = (v0 + v1) / 2 + h / 8 * (a0 - a1)
am = middle(xm, vm, (tau[:-1] + tau[1:]) / 2)
problem.subject_to(x1 == x0 + h / 6 * (v0 + 4 * vm + v1))
problem.subject_to(v1 == v0 + h / 6 * (a0 + 4 * am + a1))
problem.subject_to([x[0] == 0, v[0] == 0, x[-1] == goal, v[-1] == 0])
problem.subject_to(problem.bounded(-GEAR * MOTOR_TORQUE, tau, GEAR * MOTOR_TORQUE))
problem.minimize(h * casadi.sumsqr(tau))
problem.set_initial(x, np.linspace(0, goal, INTERVALS + 1) +
                    0.5 * np.sin(np.linspace(0, 4 * np.pi, INTERVALS + 1)))
problem.solver("ipopt", {"ipopt.print_level": 0, "print_time": False, "ipopt.max_iter": 500})
solution = problem.solve()
torque = np.array(solution.value(tau)).ravel()
print(f"IPOPT: {solution.stats()['iter_count']} iterations; "
      f"largest motor torque {abs(torque).max() / GEAR:.3f} N·m")

# The same torques in a simulation.
times = np.linspace(0, DURATION, INTERVALS + 1)
simulator = kempe.Simulator(model)
simulator.set_state(hanging, np.zeros(1))
simulator.set_controller(lambda t, q, v: [np.interp(t, times, torque)])
run = simulator.run(DURATION, dt=0.01)
end = local.coordinates(simulator.q)[0]
print(f"simulated: the crank arrives {abs(end - goal):.4f} rad from where the pendulum stands, "
      f"at {abs(simulator.v[0]):.3f} rad/s")


def draw(folder: Path) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    from kempe.drawing import dress

    matplotlib.rcParams["svg.fonttype"], matplotlib.rcParams["svg.hashsalt"] = "none", "swing_up"
    figure, (poses, driving) = plt.subplots(2, 1, figsize=(8.2, 4.6), height_ratios=(1.6, 1),
                                            layout="constrained")
    ends = {"crank": (0, 0, 0.12), "coupler": (0, 0, 0.13), "pendulum": (0, 0, 0.14)}
    colors = {"crank": "#c55a11", "coupler": "#f4a261", "pendulum": "#1f4e79"}
    for time in np.linspace(0, DURATION, 9):
        q, x = run.q[np.abs(run.t - time).argmin()], 1.3 * time
        for body, color in colors.items():
            R, p = model.frame_placement(q, body)
            points = np.array([p, p + R @ ends[body]])
            if body == "pendulum":
                points = np.vstack([p + R @ (0, 0, -0.25), points])
                poses.plot(x + points[0, 0], points[0, 2], "o", color=color, markersize=9)
            poses.plot(x + points[:, 0], points[:, 2], color=color, linewidth=3,
                       solid_capstyle="round")
    poses.set_aspect("equal")
    dress(poses, "height, m", title="Crank, coupler and the follower that carries the pendulum")
    poses.margins(x=0.03, y=0.1)
    shown = np.linspace(0, DURATION, 5)
    poses.set_xticks(1.3 * shown, [f"{time:.1f} s" for time in shown])
    driving.plot(times, torque / GEAR, color="#2e75b6")
    for limit in (-MOTOR_TORQUE, MOTOR_TORQUE):
        driving.axhline(limit, color="#8a8f98", linewidth=1, linestyle=":")
    dress(driving, "N·m", "time, s", "Motor torque and its limits")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "swing_up.svg", metadata={"Date": None})


if len(sys.argv) > 1:
    draw(Path(sys.argv[1]))
if abs(end - goal) > 0.05 or abs(simulator.v[0]) > 0.5:
    raise SystemExit("the simulated pendulum did not arrive")
