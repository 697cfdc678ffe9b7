"""Robots whose dimensions are rounded: their runs are right, or end with the true cause."""

from __future__ import annotations

import time

import numpy as np
import pytest

import kempe


def rounded(numbers: np.ndarray) -> list[float]:
    """To six digits, as files have them."""
    return [float(f"{x:.6g}") for x in numbers]


def delta_robot(size: float) -> kempe.Model:
    """A delta robot with a universal and a spherical joint per rod; it falls under gravity.

    At t = 0.2909 s · √size the rods are parallel and the plate could turn about the vertical.
    """
    mass = size**3
    inertia = mass * size**2

    def add_link(name: str, reach: np.ndarray) -> None:
        moment = inertia * max(float(reach @ reach), 0.01) / 12
        mechanism.add_body(name, mass=mass, center_of_mass=rounded(size * reach / 2),
                           inertia=(moment, moment, moment))

    mechanism = kempe.Mechanism("delta")
    mechanism.add_body("ground")
    plate = np.zeros(3)
    for i in range(3):
        turn = 2 * np.pi * i / 3
        outwards = np.array([np.cos(turn), np.sin(turn), 0])
        aside = np.array([-np.sin(turn), np.cos(turn), 0])
        shoulder = 0.2 * outwards
        arm = 0.25 * outwards - [0, 0, 0.1]
        tip = 0.06 * outwards - [0, 0, 0.6]
        rod = tip - shoulder - arm
        add_link(f"arm{i}", arm)
        mechanism.add_joint(f"shoulder{i}", "continuous", parent="ground", child=f"arm{i}",
                            xyz=rounded(size * shoulder), axis=rounded(aside), independent=True)
        for k, offset in enumerate((-0.05 * aside, 0.05 * aside)):
            add_link(f"rod{i}{k}", rod)
            mechanism.add_joint(f"elbow{i}{k}", "universal", parent=f"arm{i}", child=f"rod{i}{k}",
                                xyz=rounded(size * (arm + offset)), axis=rounded(aside),
                                axis2=rounded(np.cross(aside, rod / np.linalg.norm(rod))))
            if i == k == 0:
                plate = tip + offset
                add_link("plate", np.array([0, 0, -0.6]) - plate)
                mechanism.add_joint("wrist", "spherical", parent="rod00", child="plate",
                                    xyz=rounded(size * rod))
            else:
                mechanism.add_loop(f"ball{i}{k}", "spherical", predecessor=f"rod{i}{k}",
                                   successor="plate", predecessor_xyz=rounded(size * rod),
                                   successor_xyz=rounded(size * (tip + offset - plate)))
    return kempe.Model(mechanism)


@pytest.mark.parametrize("size", [1.0, 1e-3])
@pytest.mark.parametrize("integrator", ["auto", "adaptive", "radau"])
def test_singular_position_of_several_loops_is_named(integrator: str, size: float) -> None:
    """Not a loop that cannot be closed, which has other remedies."""
    duration = 0.32 * np.sqrt(size)
    try:
        run = kempe.simulate(delta_robot(size), duration=duration, dt=duration / 32,
                             integrator=integrator)
    except kempe.SimulationError as stop:
        assert "singular position" in str(stop)
        assert stop.time == pytest.approx(0.29 * np.sqrt(size), rel=0.05)
        run = stop.run
        assert run.energy_drift < 1e-6
    assert run.energy_drift < 0.01


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_implicit_steps_beside_a_singular_position_blame_no_controller(dt: float) -> None:
    try:
        kempe.simulate(delta_robot(1.0), duration=0.32, dt=dt, integrator="implicit_midpoint")
    except kempe.SimulationError as stop:
        assert "controllers" not in str(stop)
        assert "singular position" in str(stop) or "too long" in str(stop)


def test_velocities_by_name_start_at_neutral() -> None:
    """Rotations of eight digits leave redundant rows of loops open by their rounding."""
    mechanism = kempe.Mechanism("four_bar")
    mechanism.add_body("ground")
    for name, reach in (("crank_link", 0.15), ("coupler", 0.4), ("rocker", 0.35)):
        mechanism.add_body(name, mass=1, center_of_mass=(reach / 2, 0, 0),
                           inertia=(0.01, 0.01, 0.01))
    tilt = 1e-8
    mechanism.add_revolute("crank", parent="ground", child="crank_link", independent=True)
    mechanism.add_revolute("knee", parent="crank_link", child="coupler", xyz=(0.15, 0, 0),
                           rpy=(tilt, -tilt, 0))
    mechanism.add_revolute("pivot", parent="ground", child="rocker", xyz=(0.5, 0, 0))
    mechanism.add_loop("pin", "revolute", predecessor="coupler", predecessor_xyz=(0.4, 0, 0),
                       successor="rocker", successor_xyz=(0.35, 0, 0))
    model = kempe.Model(mechanism)
    run = kempe.simulate(model, v={"crank": 2.0}, duration=0.1, dt=0.01)
    by_number = kempe.simulate(model, v=[2.0], duration=0.1, dt=0.01)
    assert run.q == pytest.approx(by_number.q, abs=1e-12)


def test_all_integrators_turn_the_same_way_at_a_singular_position() -> None:
    """The delta robot misses its singular position by 3e-13 of its size, and its plate turns."""
    ends = []
    for integrator, dt in (("auto", 1e-2), ("radau", 1e-2), ("rk4", 1e-3), ("rk4", 1e-4),
                           ("implicit_midpoint", 1e-3)):
        run = kempe.simulate(delta_robot(1.0), duration=0.32, dt=dt, integrator=integrator)
        assert run.energy_drift < 1e-4
        assert not run.warnings
        ends.append(run.q[-1])
    for end in ends[1:]:
        assert end == pytest.approx(ends[0], abs=1e-4)


def peaucellier(digits: int) -> kempe.Model:
    """Peaucellier and Lipkin's linkage, drawn in one position with rounded coordinates.

    Where the points B and D of its rhombus meet, its links lie on each other in pairs.
    """
    def coordinates(point: np.ndarray) -> list[float]:
        return [float(f"{x:.{digits}g}") for x in point]

    crank, arm, side, angle = 0.2, 0.5, 0.25, 0.6
    points = {"O": np.zeros(3), "Q": np.array([crank, 0, 0])}
    points["A"] = points["Q"] + crank * np.array([np.cos(angle), np.sin(angle), 0])
    reach = float(np.linalg.norm(points["A"]))
    along = points["A"] / reach
    inverse = (arm**2 - side**2) / reach
    points["C"] = inverse * along
    middle = (reach + inverse) / 2
    height = np.sqrt(arm**2 - middle**2) * np.array([-along[1], along[0], 0])
    points["B"] = middle * along + height
    points["D"] = middle * along - height

    mechanism = kempe.Mechanism("peaucellier")
    mechanism.gravity = (0, -9.81, 0)
    mechanism.add_body("ground")
    for link in ("QA", "OB", "OD", "AB", "AD", "BC", "DC"):
        reach_of = points[link[1]] - points[link[0]]
        length = float(np.linalg.norm(reach_of))
        mechanism.add_body(link, mass=length, center_of_mass=coordinates(reach_of / 2),
                           inertia=(length**3 / 12,) * 3)
    for parent, link in (("ground", "QA"), ("ground", "OB"), ("ground", "OD"), ("QA", "AB"),
                         ("QA", "AD"), ("OB", "BC"), ("OD", "DC")):
        start = points["O" if parent == "ground" else parent[0]]
        mechanism.add_joint(f"to_{link}", "continuous", parent=parent, child=link,
                            xyz=coordinates(points[link[0]] - start), axis=(0, 0, 1),
                            independent=link == "QA")
    for one, other in (("AB", "OB"), ("AD", "OD"), ("BC", "DC")):
        mechanism.add_loop(f"at_{one}", "revolute", predecessor=one, successor=other,
                           predecessor_xyz=coordinates(points[one[1]] - points[one[0]]),
                           successor_xyz=coordinates(points[other[1]] - points[other[0]]))
    return kempe.Model(mechanism)


@pytest.mark.parametrize(("integrator", "dt"), [("auto", 1e-2), ("rk4", 1e-3)])
@pytest.mark.parametrize("digits", [6, 8])
def test_motion_along_singular_positions_ends_with_their_name(
        digits: int, integrator: str, dt: float) -> None:
    """Rounded links that lie on each other almost leave C free, from t = 0.367 s on."""
    start = time.process_time()
    with pytest.raises(kempe.SimulationError, match="runs along such positions") as stop:
        kempe.simulate(peaucellier(digits), duration=1.0, dt=dt, integrator=integrator)
    assert time.process_time() - start < 30
    assert '"at_AB" and those connected with it' in str(stop.value)
    assert stop.value.time == pytest.approx(0.37, abs=0.02)
    run = stop.value.run
    assert run.energy_drift < 1e-6
    assert all("is always near" in warning for warning in run.warnings)


def test_exact_links_that_lie_on_each_other_go_on() -> None:
    run = kempe.simulate(peaucellier(17), duration=1.0, dt=1e-2)
    assert run.energy_drift < 1e-6
    assert not run.warnings


def bennett(digits: int) -> kempe.Model:
    """Bennett's linkage: four skew hinges, of whose six rows three are redundant.

    Drawn in one position, with rounded coordinates. Whichever three rows are kept lose rank
    somewhere, though the linkage is singular nowhere.
    """
    def coordinates(vector: np.ndarray) -> list[float]:
        return [float(f"{x:.{digits}g}") for x in vector]

    lengths, twist = (0.3, 0.5), 0.5
    twists = (twist, np.arcsin(lengths[1] / lengths[0] * np.sin(twist)))
    ratio = np.sin((twists[1] + twists[0]) / 2) / np.sin((twists[1] - twists[0]) / 2)
    angles = (1.0, 2 * np.arctan(ratio / np.tan(0.5)))
    rotation, position = np.eye(3), np.zeros(3)
    points, axes = [], []
    for i in range(4):
        points.append(position)
        axes.append(rotation[:, 2])
        c, s = np.cos(angles[i % 2]), np.sin(angles[i % 2]) * (1 if i < 2 else -1)
        rotation = rotation @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        position = position + lengths[i % 2] * rotation[:, 0]
        c, s = np.cos(twists[i % 2]), np.sin(twists[i % 2])
        rotation = rotation @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    assert np.allclose(position, 0)

    mechanism = kempe.Mechanism("bennett")
    mechanism.add_body("link0")
    for i in range(1, 4):
        reach = points[i] - points[i - 1]
        length = float(np.linalg.norm(reach))
        mechanism.add_body(f"link{i}", mass=length, center_of_mass=coordinates(reach / 2),
                           inertia=(length**3 / 12,) * 3)
        mechanism.add_joint(f"hinge{i}", "continuous", parent=f"link{i - 1}", child=f"link{i}",
                            xyz=coordinates(points[i - 1] - points[max(i - 2, 0)]),
                            axis=coordinates(axes[i - 1]), independent=i == 1)
    mechanism.add_loop("last", "revolute", predecessor="link3", successor="link0",
                       predecessor_xyz=coordinates(points[3] - points[2]),
                       successor_xyz=coordinates(points[3]), axis=coordinates(axes[3]))
    return kempe.Model(mechanism)


@pytest.mark.parametrize("integrator", ["auto", "rk4", "radau"])
@pytest.mark.parametrize("digits", [5, 6, 7, 8, 9, 10, 12])
def test_redundant_rows_that_are_kept_lose_rank_without_effect(
        digits: int, integrator: str) -> None:
    exact = kempe.simulate(bennett(17), duration=1.0, dt=1e-3)
    run = kempe.simulate(bennett(digits), duration=1.0, dt=1e-3, integrator=integrator)
    assert not run.warnings
    # Rounding changes the linkage itself, by ten units of its last digit.
    assert run.q[-1] == pytest.approx(exact.q[-1], abs=1e-6 + 10 * 10.0**(2 - digits))


@pytest.mark.parametrize("integrator", ["auto", "rk4"])
def test_redundant_rows_of_few_digits_stop_with_the_cause(integrator: str) -> None:
    with pytest.raises(kempe.SimulationError, match="rounded dimensions decide") as stop:
        kempe.simulate(bennett(4), duration=1.0, dt=1e-3, integrator=integrator)
    assert 'some equations of loop "last" are redundant' in str(stop.value)
    assert "more digits" in str(stop.value)
    assert stop.value.run.energy_drift < 1e-4
