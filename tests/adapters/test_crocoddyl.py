"""State, residuals and action models against differences in the tangent."""

import crocoddyl
import numpy as np
import pytest
from differences import assert_close, each, jacobian

import kempe
import kempe.crocoddyl


def described() -> kempe.Mechanism:
    """Joints of every kind of tangent on one body after the other."""
    robot = kempe.Mechanism("joints")
    robot.add_body("world")
    above = "world"
    for name in ("free", "spherical", "universal", "planar", "cylindrical"):
        robot.add_body(name, mass=1.0, center_of_mass=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15))
        robot.add_joint(f"{name}_joint", name, parent=above, child=name, xyz=(0.1, 0, 0.2))
        above = name
    return robot


@pytest.fixture(params=["four_bar", "mini_cheetah", "tello", "joints"])
def model(request) -> kempe.Model:
    if request.param == "joints":
        return kempe.Model(described())
    return kempe.robots.load(request.param)


def points(model: kempe.Model):
    rng = np.random.default_rng(3)
    state = kempe.crocoddyl.State(model)
    x = np.concatenate([model.random_configuration(seed=5), rng.normal(size=model.nv)])
    return state, x, 0.3 * rng.normal(size=2 * model.nv), rng


def test_difference_undoes_integrate(model):
    state, x, dx, _ = points(model)
    assert (state.nx, state.ndx, state.nq, state.nv) == (
        model.nq + model.nv,
        2 * model.nv,
        model.nq,
        model.nv,
    )
    np.testing.assert_allclose(state.diff(x, state.integrate(x, dx)), dx, atol=1e-9)
    assert abs(model.loop_residual(state.integrate(x, dx)[: model.nq])).max(initial=0) < 1e-9
    assert state.zero().shape == state.rand().shape == (state.nx,)


def test_jacobians_of_the_state(model):
    state, x, dx, _ = points(model)
    end = state.integrate(x, dx)
    zero = np.zeros(2 * model.nv)

    def moved(point, step):
        return state.integrate(point, step)

    both = crocoddyl.Jcomponent.both
    by_x, by_dx = state.Jintegrate(x, dx, both)
    after_x = each(lambda e: state.diff(end, moved(moved(x, e), dx)))
    assert_close(by_x, jacobian(after_x, zero), 1e-7)
    assert_close(by_dx, jacobian(each(lambda e: state.diff(end, moved(x, dx + e))), zero), 1e-7)
    by_x0, by_x1 = state.Jdiff(x, end, both)
    assert_close(by_x0, jacobian(each(lambda e: state.diff(moved(x, e), end)), zero), 1e-7)
    assert_close(by_x1, jacobian(each(lambda e: state.diff(x, moved(end, e))), zero), 1e-7)


def problem(model: kempe.Model, state: kempe.crocoddyl.State, nu: int, rng):
    """Costs of every kind of residual, not at their minimum."""
    costs = crocoddyl.CostModelSum(state, nu)
    frame = model.frame_names[-1]
    for name, residual in {
        "frame": kempe.crocoddyl.FramePosition(state, frame, (0.1, 0.2, 0.3), nu),
        "center": kempe.crocoddyl.CenterOfMass(state, (0.0, 0.1, 0.2), nu),
        "state": kempe.crocoddyl.StateDifference(state, nu=nu),
        "control": crocoddyl.ResidualModelControl(state, rng.normal(size=nu)),
    }.items():
        costs.addCost(name, crocoddyl.CostModelResidual(state, residual), 0.7)
    return costs


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_action_models(model, integrator):
    state, x, _, rng = points(model)
    nu = max(1, model.nv - 1)
    B = rng.normal(size=(model.nv, nu))
    action = kempe.crocoddyl.DifferentialActionModel(state, problem(model, state, nu, rng), B)
    step = (
        crocoddyl.IntegratedActionModelEuler(action, 0.01)
        if integrator == "euler"
        else kempe.crocoddyl.IntegratedActionModelRK4(action, 0.01)
    )
    data, u = step.createData(), rng.normal(size=nu)
    step.calc(data, x, u)
    step.calcDiff(data, x, u)
    end, other = data.xnext.copy(), step.createData()

    def after(point, control):
        step.calc(other, point, control)
        return np.append(state.diff(end, other.xnext), other.cost)

    by_x = jacobian(each(lambda e: after(state.integrate(x, e), u)), np.zeros(state.ndx))
    by_u = jacobian(each(lambda e: after(x, u + e)), np.zeros(nu))
    assert_close(data.Fx.reshape(state.ndx, -1), by_x[:-1], 1e-7)
    assert_close(data.Fu.reshape(state.ndx, nu), by_u[:-1], 1e-7)
    assert_close(np.reshape(data.Lx, -1), by_x[-1])
    assert_close(np.reshape(data.Lu, -1), by_u[-1])


@pytest.fixture(params=["mini_cheetah", "mit_humanoid_leg", "tello"])
def held(request):
    """A model, and its last frame held at a point."""
    model = kempe.robots.load(request.param)
    q = model.random_configuration(seed=5)
    constraints = kempe.Constraints(model)
    frame = next(name for name in model.frame_names if name.endswith("foot"))
    constraints.connect("ground", "spherical", successor=frame,
                        predecessor_xyz=model.frame_placement(q, frame)[1])
    return model, constraints


def test_actions_under_constraints(held):
    model, constraints = held
    state, x, _, rng = points(model)
    nu = model.nv - 1
    B = rng.normal(size=(model.nv, nu))
    costs = problem(model, state, nu, rng)
    A = rng.normal(size=(5, constraints.rows))
    force = kempe.crocoddyl.ConstraintForces(state, constraints, A, B)
    costs.addCost("force", crocoddyl.CostModelResidual(state, force), 1e-3)
    action = kempe.crocoddyl.ConstrainedActionModel(state, costs, constraints, B)
    step = kempe.crocoddyl.IntegratedActionModelRK4(action, 0.01)
    data, u = step.createData(), rng.normal(size=nu)
    step.calc(data, x, u)
    step.calcDiff(data, x, u)
    end, other = data.xnext.copy(), step.createData()

    def after(point, control):
        step.calc(other, point, control)
        return np.append(state.diff(end, other.xnext), other.cost)

    by_x = jacobian(each(lambda e: after(state.integrate(x, e), u)), np.zeros(state.ndx))
    by_u = jacobian(each(lambda e: after(x, u + e)), np.zeros(nu))
    assert_close(data.Fx, by_x[:-1], 1e-7)
    assert_close(data.Fu, by_u[:-1], 1e-7)
    assert_close(data.Lx, by_x[-1])
    assert_close(data.Lu, by_u[-1])


def test_matrices_of_forces_are_checked(held):
    model, constraints = held
    state = kempe.crocoddyl.State(model)
    with pytest.raises(ValueError, match="constraints.rows"):
        kempe.crocoddyl.ConstraintForces(state, constraints, np.eye(constraints.rows + 1))


def test_euler_step_is_kempes(model):
    state, x, _, rng = points(model)
    action = kempe.crocoddyl.DifferentialActionModel(state, problem(model, state, model.nv, rng))
    step, h, tau = crocoddyl.IntegratedActionModelEuler(action, 0.01), 0.01, np.ones(model.nv)
    data = step.createData()
    step.calc(data, x, tau)
    q, v = state.split(x)
    after = v + h * model.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(data.xnext[model.nq :], after, rtol=1e-12)
    np.testing.assert_allclose(data.xnext[: model.nq], model.integrate(q, after, h), atol=1e-12)


def test_steps_that_cannot_be_taken_are_nan(model):
    """So that solvers shorten them; an exception would end the program."""
    state, x, dx, rng = points(model)
    action = kempe.crocoddyl.DifferentialActionModel(state, problem(model, state, model.nv, rng))
    for step in (
        crocoddyl.IntegratedActionModelEuler(action, 0.01),
        kempe.crocoddyl.IntegratedActionModelRK4(action, 0.01),
    ):
        data = step.createData()
        step.calc(data, np.full(state.nx, np.nan), np.ones(model.nv))
        assert np.isnan(data.cost) and np.isnan(data.xnext).any()
        step.calcDiff(data, np.full(state.nx, np.nan), np.ones(model.nv))
        step.calc(data, x, np.full(model.nv, np.inf))
        assert np.isnan(data.xnext).any()
        step.calc(data, x, np.ones(model.nv))
        assert np.isfinite(data.xnext).all()


def test_loops_that_cannot_close_are_nan():
    """The crank of a four-bar that cannot turn all the way round."""
    robot = kempe.Mechanism("rocker")
    for name in ("ground", "crank", "coupler", "follower"):
        robot.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    axis = (0, 1, 0)
    robot.add_joint("a", "continuous", parent="ground", child="crank", axis=axis, independent=True)
    robot.add_joint("b", "continuous", parent="crank", child="coupler", axis=axis, xyz=(0, 0, 0.5))
    robot.add_joint("c", "continuous", parent="ground", child="follower", axis=axis, xyz=(1, 0, 0))
    robot.add_loop("d", "revolute", predecessor="coupler", predecessor_xyz=(1, 0, 0),
                   successor="follower", successor_xyz=(0, 0, 0.3), axis=axis)
    model = kempe.Model(robot)
    state = kempe.crocoddyl.State(model)
    x = state.zero()
    with pytest.raises(kempe.AssemblyError):
        model.integrate(x[: model.nq], [np.pi], 1.0)
    moved = state.integrate(x, np.array([np.pi, 0.0]))
    assert np.isnan(moved[: model.nq]).all() and moved[-1] == 0


def test_wrong_sizes_are_named(model):
    state = kempe.crocoddyl.State(model)
    costs = crocoddyl.CostModelSum(state, model.nv + 1)
    with pytest.raises(ValueError, match="nu="):
        kempe.crocoddyl.DifferentialActionModel(state, costs)
    with pytest.raises(ValueError, match="model.nv"):
        kempe.crocoddyl.DifferentialActionModel(state, costs, np.eye(model.nv + 1))
    with pytest.raises(ValueError, match="reference"):
        kempe.crocoddyl.FramePosition(state, model.frame_names[-1], (0.0, 1.0))
