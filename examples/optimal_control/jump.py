"""Jump of a belt-driven leg, by optimal control with Crocoddyl.

The leg of the MIT Humanoid, whose ankle motor sits on the thigh and pulls a belt around the knee,
carries a trunk that slides on a vertical guide. It pushes off while the point of its sole stays on
the ground, flies, and comes down again with the sole at the same point. SolverBoxFDDP finds the
motor torques within their limits; belts and rotors are part of the dynamics and of their
derivatives. Kempe's simulator then replays the torques with the feedback that the solver found.
Needs Crocoddyl: pip install crocoddyl. An argument names a folder for pictures.
"""

import sys
from pathlib import Path

import crocoddyl
import numpy as np

import kempe
import kempe.crocoddyl

PUSH, FLIGHT = 0.25, 0.34  # s
STEP = 0.01
MOTORS = {  # and the torques that they can give, N·m
    "base_to_hipz_rotor": 34 / 6, "hipz_to_hipx_rotor": 34 / 6, "hipx_to_hipy_rotor": 72 / 6,
    "hipy_to_knee_rotor": 144 / 12, "hipy_to_ankle_rotor": 68 / 12}
FOOT, FRICTION = "foot", 0.8
LEAST_FORCE = 20.0  # N, of the ground while the leg pushes


def describe() -> kempe.Mechanism:
    """The leg below a trunk on a guide."""
    leg = kempe.robots.mechanism("mit_humanoid_leg")
    bodies = {body.name: body for body in leg.bodies}
    bodies["base"].mass, bodies["base"].inertia = 8.52, np.diag([0.17, 0.11, 0.09])
    leg.add_body("guide_rail")
    leg.add_joint("guide", "prismatic", parent="guide_rail", child="base", axis=(0, 0, 1))
    return leg


model = kempe.Model(describe())
state = kempe.crocoddyl.State(model)
# Motor torques act through the belts: τ = Gᵀ u, with the motors' rows of G, which are constant.
motors = [model.joint_velocity_index(name) for name in MOTORS]
actuation = model.constraint_jacobian(model.neutral())[motors].T
nu = len(MOTORS)


def standing(bend: float) -> np.ndarray:
    """The sole on the ground, hip and ankle bent by half of the knee's angle, at rest."""
    q = model.configuration({"hipx_to_hipy_link": -bend, "hipy_to_knee_link": 2 * bend,
                             "knee_to_ankle": -bend})
    q[model.q_names.index("guide")] -= model.frame_placement(q, FOOT)[1][2]
    return np.concatenate([q, np.zeros(model.nv)])


start = standing(0.5)
spot = model.frame_placement(start[:model.nq], FOOT)[1]
held = kempe.Constraints(model)
held.connect("ground", "spherical", successor=FOOT, predecessor_xyz=spot)

# --- the problem ---------------------------------------------------------------------------------


def costs_of(**terms) -> crocoddyl.CostModelSum:
    """Each term is a weight and a residual, and possibly an activation."""
    costs = crocoddyl.CostModelSum(state, nu)
    for name, (weight, residual, *activation) in terms.items():
        costs.addCost(name, crocoddyl.CostModelResidual(state, *activation, residual), weight)
    return costs


def action(costs, *constraints, dt=STEP) -> kempe.crocoddyl.IntegratedActionModelRK4:
    if constraints:
        one = kempe.crocoddyl.ConstrainedActionModel(state, costs, *constraints, actuation)
    else:
        one = kempe.crocoddyl.DifferentialActionModel(state, costs, actuation)
    one.u_ub = np.array(list(MOTORS.values()))
    one.u_lb = -one.u_ub
    return kempe.crocoddyl.IntegratedActionModelRK4(one, dt)


def above(lowest: np.ndarray) -> crocoddyl.ActivationModelQuadraticBarrier:
    return crocoddyl.ActivationModelQuadraticBarrier(
        crocoddyl.ActivationBounds(lowest, np.full(len(lowest), 1e6)))


posture = crocoddyl.ActivationModelWeightedQuad(
    np.array([0.0, *[1.0] * (model.nv - 1), *[1e-3] * model.nv]))  # the guide is free
near = (2.0, kempe.crocoddyl.StateDifference(state, start, nu), posture)
effort = (1e-2, crocoddyl.ResidualModelControl(state, nu))
# Normal force, and those along the edges of a pyramid in the friction cone.
edges = [[0, 0, 1], *[[x, y, FRICTION] for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]]
cone = (1.0, kempe.crocoddyl.ConstraintForces(state, held, edges, actuation),
        above(np.array([LEAST_FORCE, 0, 0, 0, 0])))
landed = (1e6, kempe.crocoddyl.FramePosition(state, FOOT, spot, nu))

pushes, flights = round(PUSH / STEP), round(FLIGHT / STEP)
push = action(costs_of(near=near, effort=effort, cone=cone), held)
fly = action(costs_of(near=near, effort=effort))
land = action(costs_of(near=near, foot=landed), dt=0)
running = [push] * pushes + [fly] * flights

# The first guess stands still.
q = start[:model.nq]
J = model.frame_jacobian(q, FOOT)[:3]
still = np.linalg.lstsq(np.hstack([actuation, J.T]), model.gravity_forces(q), rcond=None)[0][:nu]
solver = crocoddyl.SolverBoxFDDP(crocoddyl.ShootingProblem(start, running, land))
solver.th_stop = 1e-2
guess = [start] * (len(running) + 1), [still] * pushes + [np.zeros(nu)] * flights
converged = solver.solve(*guess, 200)
torques = np.array(solver.us)
print(f"FDDP: {solver.iter} iterations, cost {solver.cost:.2f}; motors use up to "
      f"{100 * np.max(abs(torques) / list(MOTORS.values())):.0f} % of their torque")

# --- the same torques, with the solver's feedback, in a simulation -------------------------------

simulator = kempe.Simulator(model)
simulator.set_state(start[:model.nq], start[model.nq:])
states, forces = [start], []
for k, torque in enumerate(solver.us):
    x = states[-1]
    u = torque - solver.K[k] @ state.diff(solver.xs[k], x)
    u = np.clip(u, push.u_lb, push.u_ub)
    tau = actuation @ u
    in_contact = k < pushes
    simulator.set_constraints(held if in_contact else kempe.Constraints(model))
    simulator.set_controller(lambda t, q, v, tau=tau: tau)
    if in_contact:
        forces.append(model.constrained_forward_dynamics(*state.split(x), tau, held).multipliers)
    simulator.run(STEP, dt=STEP / 4)
    states.append(np.concatenate([simulator.q, simulator.v]))

soles = np.array([model.frame_placement(x[:model.nq], FOOT)[1] for x in states])
height = np.array([model.center_of_mass(x[:model.nq])[2] for x in states])
forces = np.array(forces)
rise, miss = height.max() - height[pushes], np.linalg.norm(soles[-1] - spot)
print(f"simulated: the ground pushes with {forces[:, 2].min():.0f} to {forces[:, 2].max():.0f} N; "
      f"the centre of mass rises by {1000 * rise:.0f} mm after take-off, the sole by "
      f"{1000 * soles[:, 2].max():.0f} mm; it comes down {1000 * miss:.1f} mm from its spot")

# --- pictures ------------------------------------------------------------------------------------

COLORS = ["#8a8f98", "#b8bcc4", "#1f4e79", "#2e75b6", "#c55a11"]


def draw(folder: Path) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    from kempe.drawing import dress

    matplotlib.rcParams["svg.fonttype"], matplotlib.rcParams["svg.hashsalt"] = "none", "jump"
    figure, (poses, pushing, torque) = plt.subplots(
        3, 1, figsize=(8.2, 7.0), height_ratios=(2.4, 1, 1), layout="constrained")
    times = STEP * np.arange(len(states))
    parts = [("base", "hip_ry_link"), ("hip_ry_link", "knee_link"), ("knee_link", "ankle_link"),
             ("ankle_link", FOOT)]
    for k in [*range(0, pushes - 5, 6), *range(pushes, len(states), 5), len(states) - 1]:
        q = states[k][:model.nq]
        for (one, other), color in zip(parts, COLORS[1:], strict=True):
            ends = np.array([model.frame_placement(q, name)[1] for name in (one, other)])
            poses.plot(2.6 * times[k] + ends[:, 0] - spot[0], ends[:, 2], color=color, linewidth=4,
                       solid_capstyle="round")
    poses.axhline(0, color=COLORS[0], linewidth=2)
    poses.plot(2.6 * times, height, color=COLORS[0], linestyle=":", linewidth=1.5)
    poses.set_aspect("equal")
    dress(poses, "height, m", title="The leg pushes off, flies and comes down; dotted: centre of "
          "mass")
    poses.set_xticks(2.6 * times[::10], [f"{t:.1f} s" for t in times[::10]])
    poses.margins(x=0.05)
    normal = np.concatenate([forces[:, 2], np.zeros(flights)])
    pushing.step(times[:-1], normal, where="post", color=COLORS[3])
    dress(pushing, "N", title="Normal force of the ground")
    for name, column, color in (("hip", 2, COLORS[2]), ("knee", 3, COLORS[3]),
                                ("ankle", 4, COLORS[4])):
        torque.step(times[:-1], torques[:, column], where="post", label=name, color=color)
    dress(torque, "N·m", "time, s", "Motor torques in front of gears and belts")
    torque.legend(frameon=False, fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "jump.svg", metadata={"Date": None})


if len(sys.argv) > 1:
    draw(Path(sys.argv[1]))

problems = {
    "the solver did not converge": not converged,
    "the ground would have to pull": forces[:, 2].min() < 0,
    "the sole would slip": np.any(np.abs(forces[:, :2]).max(axis=1) > FRICTION * forces[:, 2]),
    "the sole goes into the ground": soles[:, 2].min() < -1e-3,
    "the leg did not leave the ground": soles[:, 2].max() < 0.05,
    "the sole did not come down on its spot": miss > 5e-3,
}
for problem, found in problems.items():
    if found:
        raise SystemExit(problem)
