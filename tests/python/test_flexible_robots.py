"""Flexible robots as others build them: tapered, in series, in loops, geared, tiny, huge, free."""

import pickle

import numpy as np
import pytest

import kempe

ALUMINIUM = dict(E=70e9, density=2700.0)
TUBE = dict(**ALUMINIUM, area=1.343e-4, Iy=1.367e-8, Iz=1.367e-8)


def mechanism_on_ground(name: str) -> kempe.Mechanism:
    mechanism = kempe.Mechanism(name)
    mechanism.add_body("world")
    return mechanism


def add_load(mechanism: kempe.Mechanism, name: str, mass: float, size: float = 0.03) -> None:
    mechanism.add_body(name, mass=mass, inertia=np.full(3, mass * size**2))


def tapered_arm() -> kempe.Mechanism:
    m = mechanism_on_ground("tapered_arm")
    sections = [dict(area=area, Iy=second, Iz=1.5 * second)
                for area, second in ((3e-4, 3e-8), (2e-4, 1e-8), (1e-4, 5e-9))]
    m.add_beam("arm", length=0.8, **ALUMINIUM, sections=sections, damping=0.01, interface=["end"])
    m.add_revolute("shoulder", parent="world", child="arm", axis=(0, 1, 0), lower=-1.5, upper=1.5)
    add_load(m, "load", 0.5)
    m.add_fixed("grip", parent="arm", parent_node="end", child="load")
    return m


def beams_in_series() -> kempe.Mechanism:
    m = mechanism_on_ground("beams_in_series")
    m.add_beam("a", length=0.5, **TUBE, axis=(0, 0, 1), interface=["end"], modes=8, damping=0.01)
    m.add_beam("b", length=0.4, **TUBE, axis=(0, 1, 0), interface=["end"], modes=8, damping=0.01)
    m.add_beam("c", length=0.3, **TUBE, axis=(1, -1, 0), modes=4, damping=0.01)
    m.add_fixed("foot", parent="world", child="a")
    m.add_fixed("corner", parent="a", parent_node="end", child="b")
    m.add_revolute("hinge", parent="b", parent_node="end", child="c", axis=(0, 0, 1))
    add_load(m, "hand", 0.2)
    m.add_fixed("grip", parent="c", parent_node="end", child="hand")
    return m


def bending_coupler() -> kempe.Mechanism:
    """A four-bar whose coupler, a strip pinned at both ends, bends in its plane."""
    m = mechanism_on_ground("bending_coupler")
    m.add_body("crank", mass=0.3, center_of_mass=(0.05, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    m.add_revolute("A", parent="world", child="crank")
    m.add_beam("coupler", length=0.4, **ALUMINIUM, area=4e-5, Iy=3e-10, Iz=1e-11, J=4e-11,
               interface=["end"], modes=10, damping=0.005)
    m.add_revolute("B", parent="crank", child="coupler", xyz=(0.1, 0, 0))
    m.add_body("rocker", mass=0.4, center_of_mass=(0.1, 0, 0), inertia=(1e-4, 2e-3, 2e-3))
    m.add_revolute("D", parent="world", child="rocker", xyz=(0.35, 0, 0))
    m.add_loop("C", "revolute", predecessor="coupler", predecessor_node="end", successor="rocker",
               successor_xyz=(0.3, 0, 0))
    return m


def stage_on_leaf_springs() -> kempe.Mechanism:
    m = mechanism_on_ground("stage_on_leaf_springs")
    width, thickness = 2e-2, 3e-4
    for name, x in (("left", -0.05), ("right", 0.05)):
        m.add_beam(name, length=0.1, E=2e11, density=7850, area=width * thickness,
                   Iy=width * thickness**3 / 12, Iz=thickness * width**3 / 12,
                   J=width * thickness**3 / 3, axis=(0, 0, 1), interface=["end"], modes=8,
                   damping=0.01)
        m.add_fixed(f"{name}_foot", parent="world", child=name, xyz=(x, 0, 0))
    m.add_body("stage", mass=0.3, center_of_mass=(0.05, 0, 0.01), inertia=(1e-4, 2e-4, 2e-4))
    m.add_fixed("left_top", parent="left", parent_node="end", child="stage")
    m.add_loop("right_top", "fixed", predecessor="right", predecessor_node="end", successor="stage",
               successor_xyz=(0.1, 0, 0))
    return m


def geared_elbow() -> kempe.Mechanism:
    """A motor on the end of a link that bends drives the next one."""
    m = mechanism_on_ground("geared_elbow")
    m.add_beam("upper", length=0.5, **TUBE, interface=["end"], modes=8, damping=0.01)
    m.add_revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0))
    add_load(m, "housing", 0.4)
    m.add_fixed("seat", parent="upper", parent_node="end", child="housing")
    m.add_body("rotor", mass=0.1, inertia=(1e-5, 1e-5, 2e-5))
    m.add_revolute("motor", parent="upper", parent_node="end", child="rotor", xyz=(0, 0.05, 0),
                   axis=(0, 1, 0), independent=False)
    m.add_beam("fore", length=0.4, **TUBE, modes=6, damping=0.01)
    m.add_revolute("elbow", parent="housing", child="fore", axis=(0, 1, 0), independent=True)
    m.add_gear("gear", "motor", -50, "elbow")
    return m


def micro_cantilever() -> kempe.Mechanism:
    m = mechanism_on_ground("micro_cantilever")
    width, thickness = 2e-5, 2e-6
    m.add_beam("strip", length=1e-4, E=160e9, density=2330, area=width * thickness,
               Iy=width * thickness**3 / 12, Iz=thickness * width**3 / 12,
               J=width * thickness**3 / 3, interface=["end"], modes=8, damping=0.01)
    m.add_fixed("anchor", parent="world", child="strip")
    add_load(m, "proof", 1e-11, 3e-6)
    m.add_fixed("seat", parent="strip", parent_node="end", child="proof")
    return m


def wind_turbine() -> kempe.Mechanism:
    m = mechanism_on_ground("wind_turbine")
    m.add_beam("tower", length=100, E=2.1e11, density=7850, area=0.3, Iy=0.4, Iz=0.4,
               axis=(0, 0, 1), interface=["end"], modes=8, damping=0.01)
    m.add_fixed("foundation", parent="world", child="tower")
    add_load(m, "nacelle", 1e5, 3)
    m.add_revolute("yaw", parent="tower", parent_node="end", child="nacelle")
    add_load(m, "hub", 2e4, 2)
    m.add_revolute("spin", parent="nacelle", child="hub", xyz=(5, 0, 0), axis=(1, 0, 0))
    sections = [dict(area=0.3, Iy=0.3, Iz=0.2), dict(area=0.02, Iy=2e-4, Iz=3e-4)]
    for i in range(3):
        angle = 2 * np.pi * i / 3
        m.add_beam(f"blade{i}", length=60, E=4e10, density=1800, sections=sections,
                   axis=(0, np.sin(angle), np.cos(angle)), modes=5, damping=0.01)
        m.add_fixed(f"root{i}", parent="hub", child=f"blade{i}")
    return m


def massless_parts() -> kempe.Mechanism:
    """Links without mass between beams, and frames on nodes."""
    m = mechanism_on_ground("massless_parts")
    m.add_beam("a", length=0.5, **TUBE, interface=["end"], modes=8, damping=0.01)
    m.add_revolute("shoulder", parent="world", child="a", axis=(0, 1, 0))
    m.add_body("cross")
    m.add_revolute("wrist1", parent="a", parent_node="end", child="cross", axis=(0, 1, 0))
    m.add_body("fork")
    m.add_revolute("wrist2", parent="cross", child="fork", axis=(1, 0, 0))
    m.add_beam("b", length=0.3, **TUBE, modes=4, damping=0.01)
    m.add_revolute("wrist3", parent="fork", child="b")
    m.add_body("tool")
    m.add_fixed("flange", parent="b", parent_node="end", child="tool", xyz=(0.05, 0, 0))
    m.add_body("camera")
    m.add_fixed("mount", parent="a", parent_node="4", child="camera", xyz=(0, 0, 0.05))
    return m


def free_beam() -> kempe.Mechanism:
    m = mechanism_on_ground("free_beam")
    m.add_beam("beam", length=2, **TUBE, fixed="none", modes=8)
    m.add_joint("free", "free", parent="world", child="beam")
    return m


def free_beam_with_load() -> kempe.Mechanism:
    m = mechanism_on_ground("free_beam_with_load")
    m.add_beam("beam", length=2, **TUBE, modes=8)
    m.add_joint("free", "free", parent="world", child="beam")
    add_load(m, "load", 1.0, 0.1)
    m.add_revolute("hinge", parent="beam", parent_node="5", child="load")
    return m


def bridge() -> kempe.Mechanism:
    """Clamped at both ends, with a pendulum in the middle."""
    m = mechanism_on_ground("bridge")
    m.add_beam("deck", length=1, **TUBE, interface=["5", "end"], modes=20, damping=0.01)
    m.add_fixed("abutment", parent="world", child="deck")
    m.add_loop("far_abutment", "fixed", predecessor="deck", predecessor_node="end",
               successor="world", successor_xyz=(1, 0, 0))
    m.add_body("bob", mass=1, center_of_mass=(0, 0, -0.2), inertia=(0.01, 0.01, 0.01))
    m.add_joint("hook", "universal", parent="deck", parent_node="5", child="bob", axis=(1, 0, 0),
                axis2=(0, 1, 0))
    return m


def derrick() -> kempe.Mechanism:
    """Two beams, one on the other, with a rope between their ends."""
    m = mechanism_on_ground("derrick")
    m.add_beam("mast", length=2, **TUBE, axis=(0, 0, 1), interface=["end"], modes=10, damping=0.02)
    m.add_revolute("base", parent="world", child="mast", axis=(0, 1, 0), stiffness=1e5)
    m.add_beam("boom", length=1.5, **TUBE, interface=["end"], modes=10, damping=0.02)
    m.add_revolute("gooseneck", parent="mast", parent_node="2", child="boom", axis=(0, 1, 0))
    m.add_rod("rope", predecessor="mast", predecessor_node="end", predecessor_point=(0, 0, 0),
              successor="boom", successor_node="end", successor_point=(0, 0, 0),
              length=np.hypot(1.6, 1.5))
    return m


def root_that_bends() -> kempe.Mechanism:
    """No world: the first body is a beam."""
    m = kempe.Mechanism("root_that_bends")
    m.add_beam("beam", length=1, **TUBE, modes=8, interface=["end"], damping=0.01)
    add_load(m, "load", 1.0, 0.1)
    m.add_revolute("hinge", parent="beam", parent_node="end", child="load", axis=(0, 1, 0))
    return m


def slider_and_nut() -> kempe.Mechanism:
    m = mechanism_on_ground("slider_and_nut")
    m.add_beam("beam", length=1, **TUBE, modes=8, interface=["5"], damping=0.01)
    m.add_joint("ball", "spherical", parent="world", child="beam")
    add_load(m, "slider", 0.3)
    m.add_prismatic("slide", parent="beam", parent_node="5", child="slider", stiffness=200,
                    damping=0.1)
    add_load(m, "nut", 0.1)
    m.add_joint("screw", "helical", parent="beam", parent_node="end", child="nut", axis=(1, 0, 0),
                pitch=0.01)
    return m


ROBOTS = [tapered_arm, beams_in_series, bending_coupler, stage_on_leaf_springs, geared_elbow,
          micro_cantilever, wind_turbine, massless_parts, free_beam, free_beam_with_load, bridge,
          derrick, slider_and_nut]
every = pytest.mark.parametrize("make", ROBOTS, ids=lambda make: make.__name__)


def modal(model: kempe.Model) -> np.ndarray:
    return np.array(["/mode" in name for name in model.v_names])


@every
def test_straight_bodies_are_the_neutral_configuration(make) -> None:
    model = kempe.Model(make())
    q = model.neutral()
    bent = [abs(x) for x, name in zip(q, model.q_names, strict=True) if "/mode" in name]
    assert max(bent) < 1e-12
    assert not any("start pose" in text for text in model.warnings), model.warnings


@every
def test_dynamics_batches_and_derivatives_agree(make) -> None:
    model = kempe.Model(make())
    n, random = model.nv, np.random.default_rng(1)
    scales = np.sqrt(np.diag(model.mass_matrix(model.neutral())))  # of velocities with like energy
    q = np.stack([model.random_configuration(seed) for seed in range(3)])
    v, a = random.normal(size=(3, n)) / scales, random.normal(size=(3, n)) / scales
    tau = model.inverse_dynamics(q, v, a)
    found = model.forward_dynamics(q, v, tau)
    for i in range(3):
        H = model.mass_matrix(q[i])
        scaled = H / np.outer(scales, scales)
        assert np.abs(scaled - scaled.T).max() < 1e-12 * np.abs(scaled).max()
        assert np.linalg.eigvalsh(scaled)[0] > 0
        one = model.inverse_dynamics(q[i], v[i], a[i])
        size = np.abs(one / scales).max()  # of elastic forces, beside which a is small
        assert found[i] * scales == pytest.approx(a[i] * scales, abs=1e-9 + 1e-11 * size)
        assert one / scales == pytest.approx(tau[i] / scales, abs=1e-11 * size)
    spread = np.abs(model.difference(model.neutral(), q[0]))
    way = 1e-3 * random.normal(size=n) * spread
    byQ = model.inverse_dynamics_derivatives(q[0], v[0], a[0])[0]

    def force(h: float) -> np.ndarray:
        return model.inverse_dynamics(model.integrate(q[0], way, h), v[0], a[0])

    slope = (8 * (force(0.5) - force(-0.5)) - (force(1.0) - force(-1.0))) / 6
    expected = byQ @ way
    assert slope / scales == pytest.approx(expected / scales,
                                           abs=1e-5 * np.abs(expected / scales).max() + 1e-9 * size)


@every
def test_bodies_sag_to_where_forces_along_modes_vanish(make) -> None:
    model = kempe.Model(make())
    q = model.static_deflection(model.neutral())
    free = modal(model)
    forces = model.gravity_forces(q)[free]
    weight = np.abs(model.gravity_forces(model.neutral())).max()
    assert np.abs(forces).max() < 1e-6 * weight + 1e-15
    slope = model.gravity_forces_derivatives(q)[np.ix_(free, free)]
    assert np.linalg.eigvalsh((slope + slope.T) / 2)[0] > 0


@every
def test_energy_balances_and_files_give_the_same_robot(make) -> None:
    mechanism = make()
    model = kempe.Model(mechanism)
    q, v = model.static_deflection(model.neutral()), np.zeros(model.nv)
    v[~modal(model)] = 0.1
    seconds, tolerances = 0.05, {}
    if make is micro_cantilever:  # so small that only a knock moves it visibly
        v[0], seconds = 1e-6, 1e-5
        tolerances = {"relative_tolerance": 1e-13, "absolute_tolerance": 1e-15}
    simulator = kempe.Simulator(model, **tolerances)
    simulator.set_state(q, v)
    run = simulator.run(seconds, seconds / 10)
    assert run.energy_drift < 1e-4
    again = kempe.Model(kempe.read_urdf_text(kempe.write_urdf_text(mechanism)))
    assert again.v_names == model.v_names
    H = model.mass_matrix(q)
    assert again.mass_matrix(q) == pytest.approx(H, rel=1e-9, abs=1e-12 * np.abs(H).max())
    assert np.array_equal(pickle.loads(pickle.dumps(model)).mass_matrix(q), H)


def scaled_arm(length: float, mass: float, time: float) -> kempe.Model:
    """The same robot in other units, or of another size."""
    m = mechanism_on_ground("scaled_arm")
    m.gravity = (0, 0, -9.81 * length / time**2)
    stress, density = mass / (length * time**2), mass / length**3
    beam = dict(E=70e9 * stress, density=2700 * density, area=1e-4 * length**2,
                Iy=1e-9 * length**4, Iz=2e-9 * length**4, modes=6, damping=0.02)
    m.add_beam("a", length=0.5 * length, **beam, interface=["end"])
    m.add_revolute("shoulder", parent="world", child="a", axis=(0, 1, 0))
    m.add_beam("b", length=0.4 * length, **beam, axis=(0, 1, 0))
    m.add_revolute("elbow", parent="a", parent_node="end", child="b", axis=(0, 1, 1))
    m.add_body("load", mass=0.3 * mass, inertia=np.full(3, 1e-3 * mass * length**2))
    m.add_fixed("grip", parent="b", parent_node="7", child="load", xyz=(0, 0, 0.05 * length))
    return kempe.Model(m)


@pytest.mark.parametrize("length, mass, time", [(1e-4, 1e-9, 1e-3), (100.0, 1e6, 30.0)])
def test_size_and_units_change_nothing(length: float, mass: float, time: float) -> None:
    """A hundred metres and a tenth of a millimetre: accelerations scale as their dimensions."""
    model, other = scaled_arm(1, 1, 1), scaled_arm(length, mass, time)
    # Modal coordinates are in m √kg.
    unit = np.where(modal(model), length * np.sqrt(mass), 1.0)
    random = np.random.default_rng(2)
    q, v = model.random_configuration(1), random.normal(size=model.nv)
    tau = random.normal(size=model.nv)
    a = model.forward_dynamics(q, v, tau)
    energy = mass * length**2 / time**2
    found = other.forward_dynamics(q * unit, v * unit / time, tau * energy / unit)
    assert found * time**2 / unit == pytest.approx(a, rel=1e-7, abs=1e-9 * np.abs(a).max())
    assert other.random_configuration(1) / unit == pytest.approx(q, rel=1e-9, abs=1e-12)
    sag, others = (m.static_deflection(m.neutral()) for m in (model, other))
    assert others / unit == pytest.approx(sag, rel=1e-6, abs=1e-9 * np.abs(sag).max())
    ratio = other.mechanism.flexible_bodies[0].frequencies * time
    assert ratio == pytest.approx(model.mechanism.flexible_bodies[0].frequencies, rel=1e-7)


def test_random_configurations_bend_a_little() -> None:
    """Also along short waves and torsion, whose modal coordinates move no node far."""
    m = mechanism_on_ground("rod")
    m.add_beam("rod", length=1, **TUBE, J=1e-10, modes=12)  # half of them twist it
    m.add_joint("free", "free", parent="world", child="rod")
    model = kempe.Model(m)
    for seed in range(5):
        q = model.random_configuration(seed)
        assert np.linalg.eigvalsh(model.mass_matrix(q))[0] > 0
        R0, p0 = model.frame_placement(q, "rod/start")
        R, p = model.frame_placement(q, "rod/end")
        assert np.linalg.norm(R0.T @ (p - p0) - [1, 0, 0]) < 0.1
        assert np.trace(R0.T @ R) > 1 + 2 * np.cos(0.2)


def test_bodies_that_bend_too_far_are_named() -> None:
    model = kempe.Model(free_beam())
    q = model.neutral()
    q[-8:] = 0.5
    with pytest.raises(kempe.SingularityError, match="holds for small deformations"):
        model.forward_dynamics(q, np.zeros(model.nv), np.zeros(model.nv))


def test_a_beam_as_the_first_body_is_held_at_its_start() -> None:
    model = kempe.Model(root_that_bends())
    same = mechanism_on_ground("same")
    same.add_beam("beam", length=1, **TUBE, modes=8, interface=["end"], damping=0.01)
    same.add_fixed("clamp", parent="world", child="beam")
    add_load(same, "load", 1.0, 0.1)
    same.add_revolute("hinge", parent="beam", parent_node="end", child="load", axis=(0, 1, 0))
    clamped = kempe.Model(same)
    assert model.v_names == clamped.v_names
    q = clamped.random_configuration(1)
    assert np.array_equal(model.mass_matrix(q), clamped.mass_matrix(q))
