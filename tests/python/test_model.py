"""Properties of a model, and configurations that close the loops."""

import threading

import numpy as np
import pytest

import kempe

ROBOTS = ["four_bar", "six_bar", "five_bar", "planar_leg", "mini_cheetah", "tello"]


@pytest.fixture(params=ROBOTS, scope="module")
def model(request: pytest.FixtureRequest) -> kempe.Model:
    return kempe.robots.load(request.param)


def velocity(model: kempe.Model, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.3, 0.3, model.nv)


def test_sizes_and_names_agree(model: kempe.Model) -> None:
    assert len(model.q_names) == model.nq
    assert len(model.v_names) == model.nv
    assert len(model.spanning_position_names) == model.nq_spanning
    assert len(model.spanning_velocity_names) == model.nv_spanning
    assert len(set(model.q_names)) == model.nq
    assert len(model.body_names) == len(model.joint_names)
    assert sum(cluster.mobility for cluster in model.clusters) == model.nv
    assert sum((cluster.independent for cluster in model.clusters), []) == model.v_names
    assert sorted(sum((c.bodies for c in model.clusters), [])) == sorted(model.body_names)


def test_joint_indices(model: kempe.Model) -> None:
    starts = [model.joint_velocity_index(name) for name in model.joint_names]
    assert len(set(starts)) == len(starts)
    assert all(0 <= start < model.nv_spanning for start in starts)
    assert all(0 <= model.joint_position_index(n) < model.nq_spanning for n in model.joint_names)
    with pytest.raises(ValueError, match="no_such_joint"):
        model.joint_position_index("no_such_joint")


def test_loops_are_closed(model: kempe.Model) -> None:
    for q in (model.neutral(), model.random_configuration(), model.random_configuration(seed=3)):
        assert q.shape == (model.nq,)
        assert np.abs(model.loop_residual(q)).max(initial=0) < 1e-12
    np.testing.assert_array_equal(model.random_configuration(3), model.random_configuration(3))
    assert np.any(model.random_configuration(3) != model.random_configuration(4))


def test_project_closes_loops_and_keeps_what_is_closed(model: kempe.Model) -> None:
    q = model.random_configuration(1)
    np.testing.assert_allclose(model.project(q), q, atol=1e-10)
    open_by = 0.01 * np.random.default_rng(0).standard_normal(model.nq)
    closed = model.project(q + open_by)
    assert np.abs(model.loop_residual(closed)).max(initial=0) < 1e-12


def test_integrate_and_difference_undo_each_other(model: kempe.Model) -> None:
    q0, v = model.random_configuration(1), velocity(model)
    q1 = model.integrate(q0, v, 0.05)
    assert np.abs(model.loop_residual(q1)).max(initial=0) < 1e-12
    np.testing.assert_allclose(model.integrate(q0, model.difference(q0, q1), 1.0), q1, atol=1e-9)


def test_spanning_velocity_is_jacobian_times_velocity(model: kempe.Model) -> None:
    q, v = model.random_configuration(2), velocity(model)
    positions, velocities = model.spanning(q, v)
    jacobian = model.constraint_jacobian(q)
    assert jacobian.shape == (model.nv_spanning, model.nv)
    np.testing.assert_allclose(velocities, jacobian @ v, atol=1e-12)
    np.testing.assert_array_equal(positions, model.spanning_positions(q))
    assert positions.shape == (model.nq_spanning,)


def test_bias_is_the_derivative_of_the_jacobian(model: kempe.Model) -> None:
    q, v, h = model.random_configuration(2), velocity(model), 1e-5
    ahead = model.constraint_jacobian(model.integrate(q, v, h)) @ v
    behind = model.constraint_jacobian(model.integrate(q, v, -h)) @ v
    np.testing.assert_allclose(model.constraint_bias(q, v), (ahead - behind) / (2 * h), atol=1e-5)


def test_lists_and_integers_are_vectors(four_bar: kempe.Model) -> None:
    q = four_bar.random_configuration(1)
    np.testing.assert_array_equal(four_bar.project(list(q)), four_bar.project(q))
    strided = np.repeat(q, 2)[::2]
    np.testing.assert_array_equal(four_bar.project(strided), four_bar.project(q))
    np.testing.assert_array_equal(
        four_bar.integrate(q, [1], 0.01), four_bar.integrate(q, np.array([1.0]), 0.01))


def test_input_is_left_alone(tello: kempe.Model) -> None:
    q = tello.random_configuration(1) + 0.001
    before = q.copy()
    tello.project(q)
    np.testing.assert_array_equal(q, before)


@pytest.mark.parametrize("wrong", [
    [], [[[0.0]]], ["a"], [1j], None, [0.0] * 99, [[0.0] * 99], 3.0, {"a": 1},
])
def test_wrong_arguments_are_named(four_bar: kempe.Model, wrong: object) -> None:
    q = four_bar.neutral()
    with pytest.raises(ValueError, match=r"\bv\b"):
        four_bar.integrate(q, wrong, 0.1)
    with pytest.raises(ValueError, match=r"\bq\b"):
        four_bar.project(wrong)
    with pytest.raises(ValueError, match=r"\bstart\b"):
        four_bar.difference(start=wrong, end=q)
    with pytest.raises(ValueError, match=r"\bend\b"):
        four_bar.difference(start=q, end=wrong)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_named(four_bar: kempe.Model, wrong: float) -> None:
    q = four_bar.neutral()
    bad = q.copy()
    bad[-1] = wrong
    with pytest.raises(ValueError, match=r"\bq\b"):
        four_bar.loop_residual(bad)
    with pytest.raises(ValueError, match=r"\bdt\b"):
        four_bar.integrate(q, [0.0], wrong)


def test_singular_position_is_reported(four_bar: kempe.Model) -> None:
    # At zero all links lie on one line.
    zero = np.zeros(four_bar.nq)
    assert np.abs(four_bar.loop_residual(zero)).max() < 1e-12
    with pytest.raises(kempe.SingularityError) as caught:
        four_bar.constraint_jacobian(zero)
    assert caught.value.loop in four_bar.loop_row_names
    assert caught.value.condition > 1e6
    assert caught.value.loop in str(caught.value)


def test_model_prints_itself(tello: kempe.Model) -> None:
    text = str(tello)
    assert len(text.splitlines()) > 10
    for body in tello.body_names:
        assert body in text
    assert "tello" in repr(tello)
    assert "nv 24" in repr(tello)
    assert tello.clusters[-1].bodies[0] in repr(tello.clusters[-1])


def test_threads_share_a_model(tello: kempe.Model) -> None:
    starts = [tello.random_configuration(seed) for seed in range(8)]
    expected = [tello.project(q + 0.001) for q in starts]
    found: list[list[np.ndarray]] = [[] for _ in starts]

    def work(index: int) -> None:
        for _ in range(20):
            found[index].append(tello.project(starts[index] + 0.001))

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(starts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results, one in zip(found, expected, strict=True):
        assert len(results) == 20
        for result in results:
            np.testing.assert_array_equal(result, one)
