"""Published motions of flexible mechanisms; docs/flexible.md lists the figures."""

import numpy as np
import pytest

import kempe

DRIVE = 1e9  # kg·m²: so heavy that what hangs on it does not change its motion


def spin_up(stiffening: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the tip's displacement along and across the undeformed beam, of the beam that
    Simo and Vu-Quoc (1986) spin up to 6 rad/s within 15 s."""
    EA, EI, line, length, speed, ramp, area = 2.8e7, 1.4e4, 1.2, 10.0, 6.0, 15.0, 0.01
    mechanism = kempe.Mechanism("spin_up")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_body("hub", mass=1.0, inertia=(DRIVE, DRIVE, DRIVE))
    mechanism.add_revolute("hub", parent="world", child="hub", axis=(0, 0, 1))
    mechanism.add_beam("rod", length=length, E=EA / area, density=line / area, area=area,
                       Iy=100 * EI * area / EA, Iz=EI * area / EA, modes=10, elements=10,
                       interface=["end"], stiffening=stiffening)
    mechanism.add_fixed("clamp", parent="hub", child="rod")
    model = kempe.Model(mechanism)

    def drive(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = np.zeros(model.nv)
        tau[0] = DRIVE * speed / ramp * (1 - np.cos(2 * np.pi * t / ramp)) if t < ramp else 0.0
        return tau

    run = kempe.simulate(model, duration=20.0 if stiffening else 12.0, dt=0.04, controller=drive)
    tip = model.frame_placement(run.q, "rod/end")[1]
    cosine, sine = np.cos(run.q[:, 0]), np.sin(run.q[:, 0])
    along = cosine * tip[:, 0] + sine * tip[:, 1] - length
    return run.t, np.stack([along, cosine * tip[:, 1] - sine * tip[:, 0]], axis=1)


def test_a_beam_that_is_spun_up_straightens_again() -> None:
    t, tip = spin_up(stiffening=True)
    assert tip[:, 1].min() == pytest.approx(-0.574, abs=1e-3)
    assert t[tip[:, 1].argmin()] == pytest.approx(6.76, abs=0.05)
    assert np.abs(tip[t > 15, 1]).max() < 4e-3
    # The published steady extension is 5.14e-4 m.
    assert tip[t > 15, 0].mean() == pytest.approx(5.14e-4, rel=2e-3)


def test_without_stiffening_it_bends_without_bound() -> None:
    _, tip = spin_up(stiffening=False)
    assert tip[-1, 1] < -10.0


def slider_crank() -> np.ndarray:
    """Angle of the rod, position of the slider and deflection of the rod's middle after 0.1 s of
    the slider-crank of Simeon (1996), whose crank turns with 150 rad/s."""
    crank, length, side, speed = 0.15, 0.30, 0.008, 150.0
    second = side**4 / 12
    mechanism = kempe.Mechanism("slider_crank")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_body("crank", mass=0.36, inertia=(DRIVE, DRIVE, DRIVE))
    mechanism.add_revolute("crank", parent="world", child="crank", axis=(0, 0, 1),
                           independent=True)
    rod = mechanism.add_beam("rod", length=length, E=2e11, density=7870, area=side**2,
                             Iy=second, Iz=second, elements=8, modes=18,
                             interface=["end"], stiffening=False)
    mechanism.add_revolute("pin", parent="crank", child="rod", xyz=(crank, 0, 0), axis=(0, 0, 1))
    mechanism.add_body("slider", mass=0.075552, inertia=(1e-6, 1e-6, 1e-6))
    mechanism.add_prismatic("slide", parent="world", child="slider", axis=(1, 0, 0),
                            xyz=(crank + length, 0, 0))
    mechanism.add_loop("wrist", "spherical", predecessor="rod", predecessor_node="end",
                       successor="slider", cut=False)
    model = kempe.Model(mechanism)

    # Half sines q1, q2 along the chord of the rod, and an axial parabola; here the frame of the rod
    # is tangent to its start.
    x = np.linspace(0, length, 9)

    def modal(along: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, float]:
        slope = np.pi / length * (across[0] + 2 * across[1])
        target = np.zeros((9, 3))
        s = x / length
        target[:, 0] = along[0] * 4 * s * (1 - s) + along[1] * s * (2 * s - 1)
        target[:, 1] = across @ [np.sin(np.pi * s), np.sin(2 * np.pi * s)] - slope * x
        shapes = rod.shapes[:, :, :3].reshape(len(rod.shapes), -1)
        return np.linalg.lstsq(shapes.T, target.ravel(), rcond=1e-12)[0], slope

    eta, _ = modal(np.array([1.03339863e-5, 1.69327969e-5]), np.zeros(2))
    rates, _ = modal(np.array([-1.78591076e-6, -2.68938672e-6]),
                     np.array([0.444896112558159, 4.63433931923867e-3]))
    q, v = model.neutral(), np.zeros(model.nv)
    v[model.v_names.index("crank")] = speed
    for i in range(len(eta)):
        q[model.q_names.index(f"rod/mode{i + 1}")] = eta[i]
        if f"rod/mode{i + 1}" in model.v_names:
            v[model.v_names.index(f"rod/mode{i + 1}")] = rates[i]
    run = kempe.simulate(model, model.project(q), v, duration=0.1, dt=0.01,
                         relative_tolerance=1e-5, absolute_tolerance=1e-7)
    start, middle, end = (model.frame_placement(run.q[-1], f"rod/{node}")[1]
                          for node in ("start", "4", "end"))
    chord = (end - start) / np.linalg.norm(end - start)
    across = np.array([-chord[1], chord[0], 0])
    return np.array([np.arctan2(chord[1], chord[0]), end[0], across @ (middle - start)])


def test_a_flexible_slider_crank_is_where_the_test_set_says() -> None:
    # Test Set for IVP Solvers (Mazzia and Magherini 2008), problem "slider crank", linear elastic.
    angle, slider, deflection = -0.3311734988256260, 0.1697373328427860, 0.1893192899613509e-3
    found = slider_crank()
    assert found[:2] == pytest.approx([angle, slider], abs=2e-6), found
    assert found[2] == pytest.approx(deflection, rel=0.06)
