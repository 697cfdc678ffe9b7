"""Constraints on top of a model, and loops that are left cut."""

import copy
import pickle
import threading

import numpy as np
import pytest

import kempe
from algorithms import close

GRAVITY = 9.81


def cart() -> kempe.Model:
    robot = kempe.Mechanism("cart")
    robot.add_body("rail")
    robot.add_body("cart", mass=2.0)
    robot.add_body("bob", mass=0.7, center_of_mass=(0, 0, -0.4), inertia=(0.03, 0.03, 0.0))
    robot.add_prismatic("slide", parent="rail", child="cart", axis=(1, 0, 0))
    robot.add_revolute("swing", parent="cart", child="bob", axis=(0, -1, 0))
    return kempe.Model(robot)


def planar_bodies(gravity: tuple[float, float, float] = (0, 0, 0)) -> kempe.Model:
    robot = kempe.Mechanism("bodies")
    robot.gravity = gravity
    robot.add_body("ground")
    robot.add_body("hand", mass=2.0, inertia=(0.05, 0.05, 0.05))
    robot.add_body("ball", mass=0.5, inertia=(0.01, 0.01, 0.01))
    robot.add_joint("hand_moves", "planar", parent="ground", child="hand")
    robot.add_joint("ball_moves", "planar", parent="ground", child="ball")
    return kempe.Model(robot)


def free_body(mass: float, moments: tuple[float, float, float]) -> kempe.Model:
    robot = kempe.Mechanism("body")
    robot.add_body("ground")
    robot.add_body("body", mass=mass, inertia=moments)
    robot.add_joint("free", "free", parent="ground", child="body")
    return kempe.Model(robot)


def at_rest(model: kempe.Model) -> np.ndarray:
    return np.zeros(model.nv)


# --- kinds ---------------------------------------------------------------------------------------

def test_prescribed_joint_gives_its_force() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    constraints.prescribe("drive", "slide", lambda t: (0.1 * np.sin(5 * t), 0.5 * np.cos(5 * t),
                                                       -2.5 * np.sin(5 * t)))
    t, theta, rate = 0.3, 0.8, -0.5
    q, v = np.array([0.1 * np.sin(1.5), theta]), np.array([0.5 * np.cos(1.5), rate])
    motion = model.constrained_forward_dynamics(q, v, at_rest(model), constraints, time=t)
    m, r = 0.7, 0.4
    pulled = -2.5 * np.sin(1.5)
    swung = -m * r * (pulled * np.cos(theta) + GRAVITY * np.sin(theta)) / (0.03 + m * r * r)
    close(motion.a, np.array([pulled, swung]))
    close(motion.multipliers, np.array([
        2.7 * pulled + m * r * (swung * np.cos(theta) - rate**2 * np.sin(theta))]))
    assert motion.rank == 1
    a, multipliers = motion
    assert a is motion.a and multipliers is motion.multipliers
    assert "ConstrainedMotion" in repr(motion)


def test_function_of_time() -> None:
    robot = kempe.Mechanism("bead")
    robot.add_body("table")
    robot.add_body("slider")
    robot.add_body("bead", mass=0.5)
    robot.add_prismatic("x", parent="table", child="slider", axis=(1, 0, 0))
    robot.add_prismatic("y", parent="slider", child="bead", axis=(0, 1, 0))
    model = kempe.Model(robot)
    constraints = kempe.Constraints(model)
    w = 2.0
    constraints.function("wire", ["x", "y"], 1,
                         lambda r, t: r[1] * np.cos(w * t) - r[0] * np.sin(w * t))
    t, r, out = 0.4, 0.3, 0.7
    along = np.array([np.cos(w * t), np.sin(w * t)])
    across = np.array([-along[1], along[0]])
    q, v = r * along, out * along + w * r * across
    a, multipliers = model.constrained_forward_dynamics(q, v, [0, 0], constraints, t)
    close(a, 2 * w * out * across)  # r̈ = ω² r: only the Coriolis term is left
    close(multipliers, np.array([2 * 0.5 * w * out]))
    close(model.constraint_errors(q, constraints, t), np.zeros(1))
    close(model.constraint_velocity_errors(q, v, constraints, t), np.zeros(1))
    close(model.constraint_rows(q, constraints, t), across[None])
    assert abs(model.constraint_errors(q, constraints, t + 0.1)[0]) > 0.01


def test_locked_joint() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    q = np.array([0.2, 0.5])
    constraints.lock("brake", "swing", q)
    a, multipliers = model.constrained_forward_dynamics(q, [0, 0], [2.7, 0], constraints)
    close(a, np.array([1.0, 0.0]))
    close(multipliers, np.array([0.7 * 0.4 * (np.cos(0.5) + GRAVITY * np.sin(0.5))]))


@pytest.mark.parametrize(("ball", "share"), [(False, 2 / 3), (True, 5 / 7)])
def test_rolling_down_an_incline(ball: bool, share: float) -> None:
    m, r, slope = 1.7, 0.3, 0.4
    moment = (0.4 if ball else 0.5) * m * r * r
    model = free_body(m, (moment if ball else moment / 2, moment, moment if ball else moment / 2))
    constraints = kempe.Constraints(model)
    constraints.roll("wheel", "body", r, ball=ball, plane_rpy=(0, slope, 0))
    down, normal = (np.array([np.cos(slope), 0, -np.sin(slope)]),
                    np.array([np.sin(slope), 0, np.cos(slope)]))
    q = model.neutral()
    q[:3] = r * normal
    a, multipliers = model.constrained_forward_dynamics(
        q, at_rest(model), at_rest(model), constraints)
    pull = m * GRAVITY * np.sin(slope)
    close(a, np.array([*(share * pull / m * down), 0, share * pull / m / r, 0]))
    wrench = model.constraint_wrench(q, multipliers, constraints, "wheel")
    close(wrench[:3], m * GRAVITY * np.cos(slope) * normal - (1 - share) * pull * down)


def test_knife_edge_follows_its_curve() -> None:
    pull, w = 2.0, 1.7
    model = planar_bodies((pull, 0, -9))
    constraints = kempe.Constraints(model)
    constraints.knife_edge("blade", "hand", rpy=(0, 0, np.pi / 2))
    constraints.lock("rest", "ball_moves", model.neutral())
    q, v, dt = model.neutral(), np.array([0, 0, w, 0, 0, 0]), 2e-3
    zero = at_rest(model)

    def rate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return model.constrained_forward_dynamics(q, v, zero, constraints).a

    for _ in range(500):  # by the midpoint rule
        middle = v + dt / 2 * rate(q, v)
        a = rate(q + dt / 2 * v, middle)
        q, v = q + dt * middle, v + dt * a
    assert q[0] == pytest.approx(pull / (2 * w * w) * np.sin(w) ** 2, abs=1e-5)
    assert q[1] == pytest.approx(pull / (2 * w * w) * (w - np.sin(2 * w) / 2), abs=1e-5)


def test_rod_and_coupling() -> None:
    model = planar_bodies()
    constraints = kempe.Constraints(model)
    constraints.rod("thread", successor="hand", successor_point=(0, 0, 0), length=2.0)
    constraints.couple("turn", {("hand_moves", 2): 1.0, ("ball_moves", 2): -3.0}, offset=0.0)
    q, v = model.neutral(), at_rest(model)
    q[0], v[1] = 2.0, 3.0
    a, multipliers = model.constrained_forward_dynamics(q, v, [0, 0, 1, 0, 0, 0], constraints)
    close(a[:2], np.array([-9 / 2.0, 0]))
    # 1 = J₁ α + λ …: α₁ = 3 α₂
    close(a[[2, 5]], np.array([3.0, 1.0]) / (3 * 0.05 + 0.01 / 3))
    close(model.constraint_wrench(q, multipliers, constraints, "thread"),
          np.array([-2.0 * 4.5, 0, 0, 0, 0, 0]))


# --- switching -----------------------------------------------------------------------------------

def test_grasp_and_release() -> None:
    model = planar_bodies()
    constraints = kempe.Constraints(model)
    constraints.connect("grasp", "fixed", predecessor="hand", successor="ball",
                        predecessor_xyz=(0.1, 0.2, 0), successor_xyz=(-0.05, 0, 0))
    q = np.array([0, 0, 0, 0.15, 0.2, 0])
    v = np.array([0.3, -0.1, 0.4, -2.0, 0.5, -3.0])
    caught, impulses = model.project_velocities(q, v, constraints)
    close(model.momentum(q, caught), model.momentum(q, v), 1e-12)
    assert model.energy(q, caught)[0] < model.energy(q, v)[0] - 0.1
    assert caught[2] == pytest.approx(caught[5], abs=1e-12)
    push = model.constraint_wrench(q, impulses, constraints, "grasp")
    close(push[:2], 0.5 * (caught - v)[3:5])
    motion = model.constrained_forward_dynamics(q, caught, at_rest(model), constraints)
    assert constraints.rows == 6
    assert motion.rank == 3
    assert motion.inconsistency < 1e-12
    constraints.disable("grasp")
    assert not constraints.enabled("grasp")
    free = model.constrained_forward_dynamics(q, caught, at_rest(model), constraints)
    close(free.a, at_rest(model))
    close(free.multipliers, np.zeros(6))
    constraints.enable("grasp")
    assert constraints.enabled("grasp")


def test_positions_are_projected() -> None:
    model = planar_bodies()
    constraints = kempe.Constraints(model)
    constraints.couple("apart", {("ball_moves", 0): 1.0, ("hand_moves", 0): -1.0}, offset=0.5)
    q = model.project_positions(model.neutral(), constraints)
    close(q, np.array([-0.1, 0, 0, 0.4, 0, 0]))  # 0.5 kg moves four times as far as 2 kg
    constraints.rod("tie", successor="hand", successor_point=(0, 0, 3), length=1.0)
    with pytest.raises(kempe.AssemblyError, match='constraint "tie" cannot be satisfied') as error:
        model.project_positions(q, constraints)
    assert error.value.loop == "tie"


def test_stabilization() -> None:
    model = planar_bodies()
    constraints = kempe.Constraints(model)
    constraints.prescribe("hold", ("hand_moves", 0), lambda t: (0.0, 0.0, 0.0))
    assert constraints.stabilization == 0.0
    constraints.stabilize(3.0)
    assert constraints.stabilization == 3.0
    q, v = model.neutral(), at_rest(model)
    q[0], v[0] = 0.2, 0.5
    a, _ = model.constrained_forward_dynamics(q, v, at_rest(model), constraints)
    assert a[0] == pytest.approx(-6 * 0.5 - 9 * 0.2)


# --- many states, threads, copies ----------------------------------------------------------------

def test_many_states_are_as_one_by_one() -> None:
    model = kempe.robots.load("tello")
    constraints = kempe.Constraints(model)
    constraints.connect("stand", "spherical", successor=model.body_names[-1])
    first = next(joint.name for joint in model.mechanism.joints if joint.name in model.v_names)
    constraints.prescribe("drive", first, lambda t: (t, 1.0, 0.0))
    random = np.random.default_rng(0)
    q = model.random_configuration(0, 9)
    v, tau = random.uniform(-1, 1, (2, 9, model.nv))
    many = model.constrained_forward_dynamics(
        q, v, tau, constraints, 0.2, external={model.body_names[0]: np.arange(6.0)})
    after, impulses = model.project_velocities(q, v, constraints, 0.2)
    assert many.rank.shape == (9,)
    for i in range(9):
        one = model.constrained_forward_dynamics(
            q[i], v[i], tau[i], constraints, 0.2, external={model.body_names[0]: np.arange(6.0)})
        close(many.a[i], one.a, 1e-12)
        close(many.multipliers[i], one.multipliers, 1e-12)
        assert many.rank[i] == one.rank
        close(model.constraint_velocity_errors(q[i], after[i], constraints, 0.2),
              np.zeros(constraints.rows))
        # λ are forces that can be passed to forward_dynamics as tau.
        K = model.constraint_rows(q[i], constraints, 0.2)
        close(model.forward_dynamics(q[i], v[i], tau[i] + K.T @ one.multipliers,
                                     external={model.body_names[0]: np.arange(6.0)}), one.a, 1e-8)
        close(model.mass_matrix(q[i]) @ (after[i] - v[i]), K.T @ impulses[i], 1e-8)
    single = model.constrained_forward_dynamics(
        *(x.astype(np.float32) for x in (q, v, tau)), constraints, 0.2)
    assert single.a.dtype == np.float32
    assert single.multipliers.dtype == np.float32


def test_all_states_of_a_batch_have_one_time() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    q, v, tau = np.zeros((3, model.nq)), np.zeros((3, model.nv)), np.zeros((3, model.nv))
    for time in (np.zeros(3), [0.0, 1.0, 2.0]):
        for call in (lambda time: model.constrained_forward_dynamics(q, v, tau, constraints, time),
                     lambda time: model.constrained_forward_dynamics_derivatives(
                         q, v, tau, constraints, time),
                     lambda time: model.project_velocities(q, v, constraints, time),
                     lambda time: model.constraint_errors(q, constraints, time)):
            with pytest.raises(ValueError, match="time: one number for all states is needed, got "
                                                 "3 numbers"):
                call(time)
    for one in (1, np.float32(1), np.array(1.0)):
        model.constraint_errors(q, constraints, one)


def test_constraints_that_change_while_others_compute() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    entered, go = threading.Event(), threading.Event()

    def motion(t: float) -> tuple[float, float, float]:
        entered.set()
        go.wait(10)
        return (0.0, 0.0, 1.0)

    constraints.prescribe("drive", "slide", motion)
    found: list[kempe.ConstrainedMotion] = []
    other = threading.Thread(target=lambda: found.append(
        model.constrained_forward_dynamics([0, 0], [0, 0], [0, 0], constraints)))
    other.start()
    assert entered.wait(10)
    constraints.disable("drive")
    constraints.couple("second", {"swing": 1.0})
    go.set()
    other.join()
    assert found[0].a[0] == pytest.approx(1.0)  # as it was when the call began
    assert found[0].multipliers.shape == (1,)
    assert model.constrained_forward_dynamics(
        [0, 0], [0, 0], [0, 0], constraints).multipliers.shape == (2,)


def test_copies_are_separate() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    constraints.couple("first", {"swing": 1.0})
    for other in (copy.copy(constraints), copy.deepcopy(constraints)):
        other.disable("first")
        other.couple("second", {"slide": 1.0})
        assert other.names == ["first", "second"]
        assert repr(other) == "<kempe.Constraints: first (off), second>"
    assert constraints.names == ["first"]
    assert constraints.enabled("first")
    assert constraints.model is model
    assert len(constraints) == 1
    assert "first" in constraints and "second" not in constraints
    assert constraints.rows_of("first") == slice(0, 1)
    assert repr(kempe.Constraints(model)) == "<kempe.Constraints: none>"


# --- refusals ------------------------------------------------------------------------------------

def test_refusals() -> None:
    model = cart()
    constraints = kempe.Constraints(model)
    constraints.couple("gear", {"swing": 1.0})
    refused = [
        (lambda: constraints.connect("a", "welded", successor="bob"), "type of a loop: there"),
        (lambda: constraints.connect("a", "fixed", successor="leg"), 'there is no body "leg"'),
        (lambda: constraints.couple("gear", {"swing": 1.0}), "another one has this name already"),
        (lambda: constraints.couple("a", {"knee": 1.0}), 'there is no moving joint "knee"'),
        (lambda: constraints.rod("a", successor="bob", successor_point=(0, 0), length=1.0),
         "successor_point: expected three numbers"),
        (lambda: constraints.roll("a", "bob", -1.0), "the radius must be positive"),
        (lambda: constraints.knife_edge("a", "rail"), "its body does not move"),
        (lambda: constraints.lock("a", "swing", [0.0]), "q: "),
        (lambda: constraints.lock("a", "swing", np.zeros((2, 2))), "at one configuration"),
        (lambda: constraints.function("a", ["swing"], 1, 3),  # type: ignore[arg-type]
         'constraint "a": phi must be a function, got 3'),
        (lambda: constraints.prescribe("a", "swing", None),  # type: ignore[arg-type]
         'constraint "a": motion must be a function'),
        (lambda: constraints.enable("brake"), 'there is no constraint "brake"; there are "gear"'),
        (lambda: constraints.stabilize(-1.0), "rate: "),
        (lambda: model.constraint_errors([0], constraints), "q: "),
        (lambda: model.constraint_errors([0, 0], constraints, np.nan), "time is not finite"),
        (lambda: model.constraint_errors([0, 0], kempe.Constraints(cart())),
         "constraints were made for another model"),
        (lambda: model.constraint_wrench([0, 0], [0], constraints, "gear"), "acts on coordinates"),
        (lambda: model.constraint_wrench([0, 0], [0, 0], constraints, "gear"), "multipliers: "),
    ]
    for action, text in refused:
        with pytest.raises(ValueError, match=text):
            action()
    assert constraints.names == ["gear"]
    with pytest.raises(TypeError, match="there is no argument 'lenght'"):
        constraints.rod("a", successor="bob", successor_point=(0, 0, 0), length=1, lenght=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="the argument successor is missing"):
        constraints.connect("a", "fixed")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="model: expected a kempe.Model"):
        kempe.Constraints("tello")  # type: ignore[arg-type]


def test_what_functions_do_wrong_is_said() -> None:
    model = cart()

    def solve(constraints: kempe.Constraints) -> kempe.ConstrainedMotion:
        return model.constrained_forward_dynamics([0, 0], [0, 0], [0, 0], constraints)

    wrong = kempe.Constraints(model)
    wrong.prescribe("drive", "slide", lambda t: 0.0)
    with pytest.raises(ValueError, match='motion of constraint "drive" must return 3 numbers'):
        solve(wrong)
    wrong = kempe.Constraints(model)
    wrong.function("curve", ["slide"], 2, lambda q, t: q[0])
    with pytest.raises(ValueError, match='constraint "curve" must return 2 numbers'):
        solve(wrong)
    wrong = kempe.Constraints(model)
    wrong.function("curve", ["slide"], 1, lambda q, t: float(q[0]))
    with pytest.raises(TypeError, match='constraint "curve" cannot be differentiated'):
        solve(wrong)
    wrong = kempe.Constraints(model)
    wrong.function("curve", ["slide"], 1, lambda q, t: np.sqrt(q[0] - 1.0))
    with (np.errstate(invalid="ignore"),
          pytest.raises(kempe.SingularityError, match='constraint "curve" is not defined here')):
        solve(wrong)
    wrong = kempe.Constraints(model)

    def failing(t: float) -> tuple[float, float, float]:
        raise RuntimeError("no signal")

    wrong.prescribe("drive", "slide", failing)
    with pytest.raises(RuntimeError, match="no signal"):
        solve(wrong)


# --- loops left cut ------------------------------------------------------------------------------

def four_bar(cut: bool | None) -> kempe.Mechanism:
    mechanism = kempe.robots.mechanism("four_bar")
    for loop in (*mechanism.loops, *mechanism.rods, *mechanism.couplings, *mechanism.functions):
        loop.cut = cut
    return mechanism


def test_cut_loop_gives_the_same_motion() -> None:
    embedded, cut = kempe.Model(four_bar(False)), kempe.Model(four_bar(True))
    assert embedded.cut_loops == []
    assert len(cut.cut_loops) == 1
    assert cut.nv == embedded.nv_spanning
    assert f"left cut: {cut.cut_loops[0]}" in str(cut)
    q, v = embedded.random_configuration(3), np.array([0.7])
    a = embedded.forward_dynamics(q, v, [0.4])
    positions, rates = embedded.spanning(q, v)
    expected = (embedded.constraint_jacobian(q) @ a + embedded.constraint_bias(q, v))
    order = [embedded.spanning_velocity_names.index(name) for name in cut.v_names]
    tau = np.zeros(cut.nv)
    tau[cut.v_names.index(embedded.v_names[0])] = 0.4
    for method in ("cluster", "cut_joint"):
        close(cut.forward_dynamics(positions[order], rates[order], tau, method=method),
              expected[order], 1e-9)
    with pytest.raises(ValueError, match="is left cut"):
        cut.forward_dynamics(positions[order], rates[order], tau, method="lagrange")


def test_cut_is_kept_by_copies_and_pickles() -> None:
    robot = kempe.Mechanism("robot")
    robot.add_coupling("coupling", {"a": 1.0, "b": 2.0}, cut=True)
    robot.add_gear("gear", "a", 2.0, "b", cut=False)
    robot.add_loop("loop", "revolute", predecessor="x", successor="y", cut=True)
    robot.add_rod("rod", predecessor="x", predecessor_point=(0, 0, 0), successor="y",
                  successor_point=(0, 0, 0), length=1.0, cut=False)
    robot.add_function("function", ["a"], 1, np.sin, cut=True)
    robot.add_loop("open", "revolute", predecessor="x", successor="y")

    def cuts(mechanism: kempe.Mechanism) -> list[bool | None]:
        return [part.cut for part in (*mechanism.couplings, *mechanism.loops, *mechanism.rods,
                                      *mechanism.functions)]

    assert cuts(robot) == [True, False, True, None, False, True]
    for other in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert cuts(other) == cuts(robot)
    robot.functions[0].cut = None
    assert robot.functions[0].cut is None
    with pytest.raises(ValueError, match="cut: expected True or False"):
        robot.loops[0].cut = "yes"


def test_belt_can_be_left_cut() -> None:
    mechanism = kempe.robots.mechanism("belt_chain", 1)
    for coupling in mechanism.couplings:
        coupling.cut = True
    model = kempe.Model(mechanism)
    assert sorted(model.cut_loops) == sorted(c.name for c in mechanism.couplings)


# --- in a simulator -----------------------------------------------------------------------------

def pendulum_on_two_joints() -> kempe.Mechanism:
    """Two collinear bars that hang from the ground, in the plane normal to y."""
    mechanism = kempe.Mechanism("double")
    mechanism.add_body("ground")
    parent = "ground"
    for name in ("upper", "lower"):
        mechanism.add_body(name, mass=1.0, center_of_mass=(0, 0, -0.5),
                           inertia=(1 / 12, 1 / 12, 1e-3))
        mechanism.add_revolute(f"{name}_joint", parent=parent, child=name, axis=(0, 1, 0),
                               xyz=(0, 0, 0 if name == "upper" else -1))
        parent = name
    return mechanism


def test_a_simulated_lock_makes_one_bar_of_two() -> None:
    model = kempe.Model(pendulum_on_two_joints())
    constraints = kempe.Constraints(model)
    constraints.lock("elbow", "lower_joint", model.neutral())
    simulator = kempe.Simulator(model)
    simulator.set_state([0.3, 0.0], [0.0, 0.0])
    simulator.set_constraints(constraints)
    for _ in range(500):
        simulator.step(1e-3)
    assert abs(simulator.q[1]) < 1e-10
    assert abs(simulator.energy[0] + simulator.energy[1]
               - 2 * 9.81 * (-1.0) * np.cos(0.3)) < 1e-6
    assert simulator.multipliers.shape == (1,)

    simulator.enable_constraint("elbow", on=False)
    for _ in range(200):
        simulator.step(1e-3)
    assert abs(simulator.q[1]) > 1e-3  # free again
    with pytest.raises(kempe.AssemblyError, match="cannot be switched on"):
        simulator.enable_constraint("elbow")
    with pytest.raises(ValueError, match="no constraint"):
        simulator.enable_constraint("knee")


@pytest.mark.parametrize(("way", "limit"), [("projection", 1e-10), ("baumgarte", 1e-5)])
def test_cut_loops_stay_closed_in_a_simulator(way: str, limit: float) -> None:
    # Upright it would fall through a change point, where cut loops cannot be held.
    mechanism = kempe.robots.mechanism("four_bar", upright=False)
    for loop in mechanism.loops:
        loop.cut = True
    model = kempe.Model(mechanism)
    simulator = kempe.Simulator(model, stabilization=way)
    simulator.set_state(model.neutral(), np.full(model.nv, 0.5))
    for _ in range(300):
        simulator.step(1e-3)
    assert 0 <= simulator.loop_error < limit
    with pytest.raises(ValueError, match="projection"):
        kempe.Simulator(model, stabilization="glue")


def test_a_simulator_with_a_cut_loop_is_linearised() -> None:
    """At rest the poles of the embedded loop, and those of the stabilisation."""
    def poles(cut: bool, **options: str) -> tuple[np.ndarray, np.ndarray]:
        mechanism = kempe.robots.mechanism("five_bar")
        mechanism.gravity = (0, 0, 0)
        mechanism.loops[0].cut = cut
        simulator = kempe.Simulator(kempe.Model(mechanism), "rk4", **options)
        A, B = simulator.linearize(1e-3)
        assert A.shape == (2 * simulator.model.nv,) * 2
        assert B.shape == (2 * simulator.model.nv, simulator.model.nv)
        return (np.sort(abs(np.linalg.eigvals(A))),
                np.sort(np.linalg.eigvals(simulator.linearize_rates()[0]).real))

    embedded, _ = poles(False)
    projected, _ = poles(True)
    held = projected.size - embedded.size  # positions and velocities that leave the loop
    assert held > 0
    np.testing.assert_allclose(projected[held:], embedded, atol=1e-6)
    np.testing.assert_allclose(projected[:held], 0, atol=1e-6)
    _, damped = poles(True, stabilization="baumgarte")
    np.testing.assert_allclose(damped[:held], -100, rtol=1e-3)
