"""Four-bars whose links bend, against the beams of nonlinear_beams.py, which know no floating
frame; docs/flexible.md lists the figures."""

import numpy as np
import pytest
from nonlinear_beams import Bar, PlanarFrame, SpatialLinkage

import kempe

Z = np.array([0.0, 0.0, 1.0])

# Bauchau, Bottasso and Trainelli (2003); Bauchau et al. (2016), "four-bar mechanism": a
# parallelogram of steel bars of square section, with one hinge that is turned by 5° out of line.
SIDE, BASE, SKEW = 0.12, 0.24, np.radians(5)
THICK = dict(EA=52.99e6, GA=16.88e6, GJ=733.5, EI=1131.0, line=1.997)
THIN = dict(EA=13.25e6, GA=4.22e6, GJ=45.84, EI=70.66, line=0.4992)
CROOKED = np.array([np.sin(SKEW), 0, np.cos(SKEW)])


def bar(length: float, section: dict, elements: int) -> Bar:
    stiffness = [section[k] for k in ("EA", "GA", "GA", "GJ", "EI", "EI")]
    return Bar(length, elements, np.array(stiffness))


def crooked_oracle(elements: int) -> SpatialLinkage:
    up = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    return SpatialLinkage(
        [bar(SIDE, THICK, elements), bar(BASE, THICK, 2 * elements), bar(SIDE, THIN, elements)],
        [Z, CROOKED, Z], np.array([[0, 0, 0], [0, SIDE, 0], [BASE, SIDE, 0]]),
        [up, np.eye(3), up.T])


def crooked_four_bar() -> kempe.Model:
    mechanism = kempe.Mechanism("crooked_four_bar")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    E = 207e9

    def add_bar(name: str, length: float, section: dict, axis: tuple) -> None:
        area = section["EA"] / E
        second, G = section["EI"] / E, E / 2.6
        shear = section["GA"] / (G * area)
        mechanism.add_beam(name, length=length, E=E, density=section["line"] / area, area=area,
                           Iy=second, Iz=second, G=G, J=section["GJ"] / G, ky=shear, kz=shear,
                           axis=axis, interface=["end"], modes=8)

    add_bar("crank", SIDE, THICK, (0, 1, 0))
    add_bar("coupler", BASE, THICK, (1, 0, 0))
    add_bar("rocker", SIDE, THIN, (0, 1, 0))
    mechanism.add_revolute("A", parent="world", child="crank", axis=Z, independent=True)
    mechanism.add_revolute("B", parent="crank", parent_node="end", child="coupler", axis=Z,
                           independent=False)
    mechanism.add_revolute("D", parent="world", child="rocker", xyz=(BASE, 0, 0), axis=Z,
                           independent=False)
    mechanism.add_loop("C", "revolute", predecessor="coupler", predecessor_node="end",
                       successor="rocker", successor_node="end", axis=CROOKED, cut=False)
    return kempe.Model(mechanism)


def test_a_crooked_four_bar_bends_as_exact_beams_do() -> None:
    """Equilibria on the way of the crank, in which only the bending of the bars lets it turn."""
    model = crooked_four_bar()
    oracle = crooked_oracle(2)
    end = oracle.X[2][-1].copy()
    q, step = model.neutral(), -np.radians(15)
    crank, motor = model.q_names.index("A"), model.v_names.index("A")
    assert not {"B", "D"} & set(model.v_names)  # static_deflection holds independent joints
    for _ in range(4):
        for i in (0, 2):
            oracle.turn(i, Z, step)
        oracle.X[2][-1] = end
        wrench = oracle.equilibrium()
        q[crank] += step
        q = model.static_deflection(model.project(q))
        C = model.frame_placement(q, "coupler/end")[1]
        still = np.zeros(model.nv)
        tau = model.inverse_dynamics(q, still, still)
        root = model.joint_forces(q, still, tau, reference="local")["crank/mode1"]
        expected = oracle.X[1][-1]
        assert np.abs(C - expected).max() < 0.01 * abs(expected[2])
        assert C[2] == pytest.approx(expected[2], rel=1e-3)
        assert tau[motor] == pytest.approx(wrench[5], rel=2e-3)
        # The crank lies along y of its frame, and along x of the oracle's.
        assert root[3:5] == pytest.approx([-wrench[4], wrench[3]],
                                          abs=2e-3 * np.linalg.norm(wrench[3:5]))
    # Out of the plane by 3 % of the length of the crank.
    assert C[2] == pytest.approx(-3.45e-3, abs=1e-5)
    assert tau[motor] == pytest.approx(-5.356, abs=2e-3)


def test_exact_beams_converge() -> None:
    depths = []
    for elements in (1, 2, 4):
        oracle = crooked_oracle(elements)
        end = oracle.X[2][-1].copy()
        for i in (0, 2):
            oracle.turn(i, Z, -0.5)
        oracle.X[2][-1] = end
        oracle.equilibrium()
        depths.append(oracle.X[1][-1])
    errors = [np.linalg.norm(depth - depths[-1]) for depth in depths[:-1]]
    # Second order: the last of three differs from the limit by a third of its step.
    assert np.log2(errors[0] / errors[1]) > 1.7 and errors[1] < 1e-5


# --- a fast four-bar in the plane ----------------------------------------------------------------

GROUND, LENGTHS, HEIGHTS = 0.254, (0.108, 0.2794, 0.2705), (4.24e-3, 1.6e-3, 1.6e-3)
WIDTH, YOUNG, DENSITY, PIN = 25.4e-3, 7.1e10, 2710.0, 0.04233  # aluminium; a mass on both pins
SPEED, RAMP, DURATION = 150 * 2 * np.pi / 60, 0.15, 0.41  # after a smooth start
DRIVE = 1e6  # kg·m²: so heavy that the linkage does not change its motion


def crank_angle(t: float) -> float:
    if t > RAMP:
        return SPEED * (t - RAMP / 2)
    return SPEED * (t / 2 - RAMP / (2 * np.pi) * np.sin(np.pi * t / RAMP))


def corners() -> list[np.ndarray]:
    """A, B, C, D with the crank upright."""
    B, D = np.array([0, LENGTHS[0]]), np.array([GROUND, 0])
    way = D - B
    r = np.linalg.norm(way)
    along = (LENGTHS[1]**2 - LENGTHS[2]**2 + r**2) / (2 * r)
    across = np.sqrt(LENGTHS[1]**2 - along**2)
    C = B + (along * way + across * np.array([-way[1], way[0]])) / r
    return [np.zeros(2), B, C, D]


def deflections(start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Of the middle of a link from its chord, over time."""
    chord, arm = end - start, middle - start
    return (chord[:, 0] * arm[:, 1] - chord[:, 1] * arm[:, 0]) / np.linalg.norm(chord, axis=1)


def fast_oracle(elements: int, steps: int) -> tuple[np.ndarray, ...]:
    """Deflections of coupler and rocker, after each step."""
    points = corners()
    x, places, links = [points[0]], [], []
    ends = [0]
    for i in range(3):
        own = [ends[-1]]
        for k in range(1, elements + 1):
            own.append(len(x))
            x.append(points[i] + (points[i + 1] - points[i]) * k / elements)
        links += [(len(places) + k, len(places) + k + 1) for k in range(elements)]
        places += own
        ends.append(own[-1])
    areas = np.repeat(WIDTH * np.array(HEIGHTS), elements)
    seconds = np.repeat(WIDTH * np.array(HEIGHTS)**3 / 12, elements)
    masses = np.zeros(len(x))
    masses[ends[1:3]] = PIN
    frame = PlanarFrame(np.array(places), np.array(links), np.array(x), YOUNG * areas,
                        YOUNG * seconds, DENSITY * areas, DENSITY * seconds, masses)
    D = 2 * ends[3]
    held = {0: lambda t: 0.0, 1: lambda t: 0.0, 2 * len(x): crank_angle,
            D: lambda t: GROUND, D + 1: lambda t: 0.0}
    path = frame.motion(held, DURATION / steps, steps)

    def place(i: int) -> np.ndarray:
        return path[:, 2 * i:2 * i + 2]

    return tuple(deflections(place(ends[i]), place(ends[i] + elements // 2), place(ends[i + 1]))
                 for i in (1, 2))


def fast_four_bar() -> kempe.Model:
    points = corners()
    mechanism = kempe.Mechanism("fast_four_bar")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_body("hub", mass=1.0, inertia=(DRIVE, DRIVE, DRIVE))
    mechanism.add_revolute("A", parent="world", child="hub", independent=True)
    for i, name in enumerate(("crank", "coupler", "rocker")):
        way = points[i + 1] - points[i] if i < 2 else points[2] - points[3]
        height = HEIGHTS[i]
        mechanism.add_beam(name, length=LENGTHS[i], E=YOUNG, density=DENSITY, area=WIDTH * height,
                           Iy=height * WIDTH**3 / 12, Iz=WIDTH * height**3 / 12,
                           J=WIDTH * height**3 / 3, axis=(*way, 0), interface=["end"], modes=12)
    mechanism.add_fixed("clamp", parent="hub", child="crank")
    mechanism.add_revolute("B", parent="crank", parent_node="end", child="coupler",
                           independent=False)
    mechanism.add_revolute("D", parent="world", child="rocker", xyz=(GROUND, 0, 0),
                           independent=False)
    for name, parent in (("pin_B", "crank"), ("pin_C", "coupler")):
        mechanism.add_body(name, mass=PIN, inertia=(1e-9, 1e-9, 1e-9))
        mechanism.add_fixed(f"{name}_seat", parent=parent, parent_node="end", child=name)
    mechanism.add_loop("C", "revolute", predecessor="coupler", predecessor_node="end",
                       successor="rocker", successor_node="end", cut=False)
    return kempe.Model(mechanism)


def test_a_fast_four_bar_vibrates_as_corotational_elements_do() -> None:
    model = fast_four_bar()
    motor = model.v_names.index("A")

    def drive(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = np.zeros(model.nv)
        if t < RAMP:
            tau[motor] = DRIVE * SPEED * np.pi / (2 * RAMP) * np.sin(np.pi * t / RAMP)
        return tau

    samples = 82
    run = kempe.simulate(model, duration=DURATION, dt=DURATION / samples, controller=drive,
                         relative_tolerance=1e-6, absolute_tolerance=1e-8)
    assert run.q[-1, model.q_names.index("A")] == pytest.approx(crank_angle(DURATION), abs=1e-5)
    nodes = {(name, node): model.frame_placement(run.q, f"{name}/{node}")[1][:, :2]
             for name in ("coupler", "rocker") for node in ("start", "5", "end")}
    found = np.stack([deflections(*(nodes[name, node] for node in order)) for name, order in (
        ("coupler", ("start", "5", "end")), ("rocker", ("end", "5", "start")))])
    largest = np.abs(found).max()
    assert 5e-4 < largest < 5.5e-4
    # Masses at the nodes leave an error of the second power of the element length.
    steps = 32
    four, eight = (np.stack(fast_oracle(elements, steps * samples))[:, ::steps]
                   for elements in (4, 8))
    errors = [np.abs(oracle - found).max() / largest for oracle in (four, eight)]
    assert np.log2(errors[0] / errors[1]) > 1.7, errors
    limit = eight + (eight - four) / 3
    assert np.abs(limit - found).max() < 0.01 * largest
