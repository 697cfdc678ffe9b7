"""Simulations of flexible bodies whose stiff modes do not matter; docs/flexible.md lists the
figures."""

import numpy as np
import pytest

import kempe

TUBE = dict(E=70e9, density=2700.0, area=4e-4, Iy=1.3e-8, Iz=1.3e-8)


def arm(stiffer: float, damping: float) -> kempe.Model:
    """A flexible arm of 1 m on a shoulder, with a load of 0.5 kg at its end."""
    mechanism = kempe.Mechanism("arm")
    mechanism.add_body("world")
    mechanism.add_beam("rod", **{**TUBE, "E": stiffer * TUBE["E"]}, length=1.0, interface=["end"],
                       modes=8, damping=damping)
    mechanism.add_revolute("shoulder", parent="world", child="rod", axis=(0, 1, 0))
    mechanism.add_body("load", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_revolute("wrist", parent="rod", parent_node="end", child="load", axis=(0, 1, 0))
    return kempe.Model(mechanism)


def rigid_arm() -> kempe.Model:
    mechanism = kempe.Mechanism("rigid_arm")
    mechanism.add_body("world")
    mass, turning = TUBE["density"] * TUBE["area"], TUBE["density"] * TUBE["Iy"]
    mechanism.add_body("rod", mass=mass, center_of_mass=(0.5, 0, 0),
                       inertia=(2 * turning, mass / 12 + turning, mass / 12 + turning))
    mechanism.add_revolute("shoulder", parent="world", child="rod", axis=(0, 1, 0))
    mechanism.add_body("load", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_revolute("wrist", parent="rod", xyz=(1, 0, 0), child="load", axis=(0, 1, 0))
    return kempe.Model(mechanism)


@pytest.mark.parametrize("sagging", [True, False])
def test_stiffer_bodies_take_no_more_evaluations(sagging: bool) -> None:
    evaluations, ends = [], []
    for stiffer in (1.0, 1e2, 1e4):
        model = arm(stiffer, damping=0.01)
        q = model.neutral()
        simulator = kempe.Simulator(model)
        simulator.set_state(model.static_deflection(q) if sagging else q, np.zeros(model.nv))
        run = simulator.run(0.3, 0.01)
        assert run.energy_drift < 1e-7
        efforts = simulator.statistics
        evaluations.append(sum(effort["evaluations"] for effort in efforts.values()))
        ends.append(run.q[-1][[model.q_names.index(name) for name in ("shoulder", "wrist")]])
    assert "radau" in efforts
    assert max(evaluations[1:]) < 1.5 * evaluations[0], evaluations
    rigid = rigid_arm()
    run = kempe.simulate(rigid, rigid.neutral(), np.zeros(2), duration=0.3, dt=0.01)
    distances = [np.abs(end - run.q[-1]).max() for end in ends]
    assert distances[1] < 0.05 * distances[0] and distances[2] < 0.05 * distances[1], distances


@pytest.mark.filterwarnings("ignore::kempe.SimulationWarning")  # of long steps and tolerances
def test_radau_damps_vibrations_that_its_steps_do_not_resolve() -> None:
    model = arm(1e6, damping=0.0)
    rod = model.mechanism.flexible_bodies[0]
    assert rod.frequencies[0] > 16e3
    bends = int(np.flatnonzero(np.abs(rod.shapes[:, -1, 2]) > 1e-3)[0])
    mode = model.v_names.index(f"rod/mode{bends + 1}")
    v = np.zeros(model.nv)
    v[mode] = 1e-3  # a knock
    shoulder, left, efforts = {}, {}, {}
    for integrator in ("implicit_midpoint", "radau", "auto"):
        tolerances = {} if integrator == "implicit_midpoint" else dict(relative_tolerance=1e-4,
                                                                       absolute_tolerance=1e-4)
        simulator = kempe.Simulator(model, integrator=integrator, **tolerances)
        simulator.set_state(model.neutral(), v)
        run = simulator.run(0.1, 1e-3 if integrator == "implicit_midpoint" else 1e-2)
        shoulder[integrator] = run.q[-1, model.q_names.index("shoulder")]
        left[integrator] = np.abs(run.v[len(run.v) // 2:, mode]).max()
        efforts[integrator] = sum(e["evaluations"] for e in simulator.statistics.values())
    assert left["implicit_midpoint"] > 3e-4
    assert max(left["radau"], left["auto"]) < 1e-9
    assert max(efforts["radau"], efforts["auto"]) < 2000
    assert shoulder["auto"] == pytest.approx(shoulder["radau"], abs=1e-8)
    assert shoulder["implicit_midpoint"] == pytest.approx(shoulder["radau"], abs=1e-6)


def test_a_run_whose_steps_are_short_because_bodies_vibrate_names_the_remedy() -> None:
    model = arm(1e4, damping=0.0)
    simulator = kempe.Simulator(model, integrator="adaptive")
    simulator.set_state(model.neutral(), np.full(model.nv, 1e-3))
    with pytest.warns(kempe.SimulationWarning, match="steps are very short"):
        run = simulator.run(0.02, 0.002)
    assert any("radau" in text for text in run.warnings)
