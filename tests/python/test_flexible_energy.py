"""Strain energy of flexible bodies element by element, and the modes of whole robots."""

import beam_elements
import numpy as np
import pytest
from beam_elements import AREA, BEAM, DENSITY, IY, IZ, LENGTH

import kempe
from kempe.modes import modal_names, robot_modes

ELEMENTS = 6


def rod(**options) -> kempe.FlexibleBody:
    return kempe.Mechanism("rods").add_beam("rod", **{
        **BEAM, "elements": ELEMENTS, "modes": 9, **options})


def arm() -> kempe.Model:
    """Two beams with joints, and a load."""
    mechanism = kempe.Mechanism("arm")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_body("load", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_beam("upper", **BEAM, interface=["end"])
    mechanism.add_beam("fore", **{**BEAM, "length": 0.7}, axis=(0, 0, 1), modes=4)
    mechanism.add_revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0))
    mechanism.add_revolute("elbow", parent="upper", parent_node="end", child="fore",
                           axis=(0, 1, 0))
    mechanism.add_fixed("grip", parent="fore", parent_node="end", child="load")
    return kempe.Model(mechanism)


@pytest.mark.parametrize("fixed", ["start", "none"])
def test_elements_have_the_stiffness_of_textbooks(fixed: str) -> None:
    body = rod(fixed=fixed)
    _, _, K = beam_elements.beam(1, length=LENGTH / ELEMENTS)
    assert body.element_stiffness.shape == (ELEMENTS, 9, 9)
    for e, k in enumerate(body.element_stiffness):
        ends = body.shapes[:, e:e + 2].reshape(9, 12)
        assert k == pytest.approx(ends @ K @ ends.T, rel=1e-9, abs=1e-9 * body.stiffness.max())


def test_elements_add_up_to_the_body() -> None:
    body = rod(ky=0.85, kz=0.7)
    total = body.element_stiffness.sum(axis=0)
    assert total == pytest.approx(np.diag(body.stiffness), abs=1e-10 * body.stiffness.max())
    assert body.stiffness == pytest.approx((2 * np.pi * body.frequencies) ** 2, rel=1e-12)
    assert body.element_masses == pytest.approx(DENSITY * AREA * LENGTH / ELEMENTS, rel=1e-12)
    assert body.element_masses.sum() == pytest.approx(body.mass, rel=1e-12)


def test_strain_energies_add_up_to_the_elastic_energy_of_the_model() -> None:
    model = arm()
    for seed in range(5):
        q = model.random_configuration(seed)
        energies = 0.0
        for body in model.mechanism.flexible_bodies:
            eta = q[[model.q_names.index(name) for name in modal_names(body)]]
            of_elements = 0.5 * np.einsum("i,eij,j->e", eta, body.element_stiffness, eta)
            assert of_elements.min() >= 0
            energies += of_elements.sum()
        assert energies == pytest.approx(model.energy(q, np.zeros(model.nv))[1], rel=1e-10)


def test_tapered_elements_are_heavier_where_they_are_thicker() -> None:
    sections = [dict(area=3 * AREA, Iy=IY, Iz=IZ), dict(area=AREA, Iy=IY, Iz=IZ)]
    body = rod(area=0, Iy=0, Iz=0, J=None, sections=sections)
    middle = (np.arange(ELEMENTS) + 0.5) / ELEMENTS
    assert body.element_masses == pytest.approx(
        DENSITY * AREA * (3 - 2 * middle) * LENGTH / ELEMENTS, rel=1e-12)
    assert body.sections == pytest.approx(np.array([[3 * AREA, IY, IZ], [AREA, IY, IZ]]))


def test_sections_and_axes_are_those_of_the_options() -> None:
    body = rod(axis=(0, 0, 2))
    assert body.sections == pytest.approx(np.array([[AREA, IY, IZ]] * 2))
    assert body.beam_axes == pytest.approx(np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]]))


def test_bodies_from_matrices_have_no_elements() -> None:
    nodes, M, K = beam_elements.beam(2)
    body = kempe.Mechanism("bodies").add_flexible_body(
        "rod", nodes=nodes, mass=M, stiffness=K, modes=4, interface=[0])
    assert body.element_stiffness.shape == (0, 4, 4)
    assert body.element_masses.shape == (0,)
    assert body.sections.shape == (0, 3) and body.beam_axes is None
    assert body.stiffness == pytest.approx((2 * np.pi * body.frequencies) ** 2, rel=1e-12)


def test_modes_of_the_robot_solve_its_eigenvalue_problem() -> None:
    model = arm()
    q, modes = robot_modes(model)
    assert len(modes) == 10
    mass = model.mass_matrix(q)
    names = {name for body in model.mechanism.flexible_bodies for name in modal_names(body)}
    held = [i for i, name in enumerate(model.v_names) if name not in names]
    assert len(held) == 2
    step = 1e-6
    for mode in modes:
        assert np.all(mode.direction[held] == 0)
        assert mode.direction @ mass @ mode.direction == pytest.approx(1, rel=1e-9)
        # The forces that hold the robot along the mode are λ M times the displacement.
        forces = (model.gravity_forces(model.integrate(q, step * mode.direction, 1.0))
                  - model.gravity_forces(model.integrate(q, -step * mode.direction, 1.0)))
        square = (2 * np.pi * mode.frequency) ** 2
        expected = 2 * step * square * mass @ mode.direction
        expected[held] = forces[held] = 0
        assert forces == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())
    assert [mode.frequency for mode in modes] == sorted(mode.frequency for mode in modes)


def test_modes_of_a_clamped_beam_are_its_own() -> None:
    mechanism = kempe.Mechanism("cantilever")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    body = mechanism.add_beam("rod", **BEAM)
    mechanism.add_fixed("clamp", parent="world", child="rod")
    _, modes = robot_modes(kempe.Model(mechanism))
    assert [mode.frequency for mode in modes] == pytest.approx(body.frequencies, rel=1e-9)
