"""Bodies that bend, against closed forms, chains of rigid segments and published motions."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe
from kempe.cli.modes import modes_of

ARM = Path(__file__).resolve().parents[2] / "examples" / "flexible_arm.urdf"

LENGTH, YOUNG, DENSITY, AREA, SECOND = 1.0, 70e9, 2700.0, 4e-4, 1.3e-8


def clamped(**options) -> kempe.Mechanism:
    """A beam along x, clamped at its start, with a small load that hangs on its end."""
    mechanism = kempe.Mechanism("cantilever")
    mechanism.add_body("world")
    arguments = dict(length=LENGTH, E=YOUNG, density=DENSITY, area=AREA, Iy=SECOND, Iz=SECOND)
    mechanism.add_beam("rod", **{**arguments, **options})
    mechanism.add_fixed("clamp", parent="world", child="rod")
    return mechanism


def test_modal_coordinates_and_nodes_have_names() -> None:
    mechanism = clamped(modes=3, elements=4)
    model = kempe.Model(mechanism)
    assert model.q_names == model.v_names == ["rod/mode1", "rod/mode2", "rod/mode3"]
    assert mechanism.flexible_bodies[0].nodes == ("start", "1", "2", "3", "end")
    assert {"rod/start", "rod/1", "rod/end"} <= set(model.frame_names)
    assert model.total_mass == pytest.approx(DENSITY * AREA * LENGTH, rel=1e-12)


@pytest.mark.parametrize("direction", [(0, 1, 0), (0, 0, 1), (0, 0.6, -0.8)])
def test_deflection_under_a_force_at_the_end(direction: tuple[float, ...]) -> None:
    mechanism = clamped(interface=["end"], stiffening=False)
    mechanism.gravity = (0, 0, 0)
    model = kempe.Model(mechanism)
    force = 20.0 * np.array(direction)
    q = model.static_deflection(model.neutral(), external={"rod/end": [*force, 0, 0, 0]})
    _, tip = model.frame_placement(q, "rod/end")
    expected = force * LENGTH**3 / (3 * YOUNG * SECOND)
    assert np.abs(tip - [LENGTH, 0, 0] - expected).max() < 1e-9


def test_a_compressed_beam_buckles_at_eulers_load() -> None:
    mechanism = clamped(interface=["end"], modes=12)
    mechanism.gravity = (0, 0, 0)
    model = kempe.Model(mechanism)
    critical = np.pi**2 * YOUNG * SECOND / (4 * LENGTH**2)
    side = 1.0

    def bent(load: float) -> float:
        q = model.static_deflection(
            model.neutral(), external={"rod/end": [-load, 0, side, 0, 0, 0]})
        return model.frame_placement(q, "rod/end")[1][2]

    # Below the critical load the deflection grows by 1 / (1 − P / P_crit), to first order.
    for fraction in (0.3, 0.6):
        ratio = bent(fraction * critical) / bent(0.0)
        assert ratio == pytest.approx(1 / (1 - fraction), rel=0.02)


@pytest.mark.parametrize("side", [0.0, 1.0])
def test_static_deflection_refuses_buckled_columns(side: float) -> None:
    mechanism = clamped(interface=["end"], modes=12)
    mechanism.gravity = (0, 0, 0)
    model = kempe.Model(mechanism)
    critical = np.pi**2 * YOUNG * SECOND / (4 * LENGTH**2)
    with pytest.raises(RuntimeError, match="buckles"):
        model.static_deflection(model.neutral(),
                                external={"rod/end": [-1.3 * critical, 0, side, 0, 0, 0]})


def test_natural_frequencies_of_the_model_are_those_of_the_beam() -> None:
    mechanism = clamped(modes=8, elements=20)
    model = kempe.Model(mechanism)
    q = np.zeros(model.nq)
    H = model.mass_matrix(q)
    K = model.gravity_forces_derivatives(q)
    poles = np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(H, K)).real)) / (2 * np.pi)
    roots = np.array([1.875104, 4.694091, 7.854757])
    expected = np.repeat(roots**2 * np.sqrt(YOUNG * SECOND / (DENSITY * AREA)), 2) / (2 * np.pi)
    assert poles[:6] == pytest.approx(expected, rel=2e-3)  # rotary inertia lowers the highest


def segments(count: int) -> kempe.Model:
    """The same beam on a hinge, as rigid segments with springs between them."""
    mechanism = kempe.Mechanism("segments")
    mechanism.add_body("world")
    h, parent = LENGTH / count, "world"
    for i in range(count):
        mass = DENSITY * AREA * h
        mechanism.add_body(f"s{i}", mass=mass, center_of_mass=(h / 2, 0, 0),
                           inertia=(1e-6, mass * h**2 / 12, mass * h**2 / 12))
        stiffness = 0.0 if i == 0 else YOUNG * SECOND / h
        mechanism.add_revolute(f"j{i}", parent=parent, child=f"s{i}", xyz=(h if i else 0, 0, 0),
                               axis=(0, 1, 0), stiffness=stiffness)
        parent = f"s{i}"
    return kempe.Model(mechanism)


def test_a_falling_beam_moves_as_rigid_segments_with_springs() -> None:
    hinged = kempe.Mechanism("hinged")
    hinged.add_body("world")
    hinged.add_beam("rod", length=LENGTH, E=YOUNG, density=DENSITY, area=AREA, Iy=SECOND,
                    Iz=10 * SECOND, modes=4, elements=20)
    hinged.add_revolute("hinge", parent="world", child="rod", axis=(0, 1, 0))
    beam = kempe.Model(hinged)
    chain = segments(40)
    times = np.linspace(0, 0.3, 31)
    rate = 8.0  # fast, so that centrifugal forces matter
    start = np.zeros(beam.nv)
    start[0] = rate
    ends = []
    for model, v, frame, offset in ((beam, start, "rod/end", 0.0),
                                    (chain, rate * np.eye(chain.nv)[0], "s39", LENGTH / 40)):
        run = kempe.simulate(model, np.zeros(model.nq), v, duration=0.3, dt=0.01)
        R, p = model.frame_placement(run.q, frame)
        ends.append(p + offset * R[:, :, 0])
    assert len(ends[0]) == len(times)
    bending = np.abs(ends[0] - ends[1]).max()
    assert bending < 2e-4


def test_a_spinning_beam_gets_stiffer_and_longer() -> None:
    """Simo and Vu-Quoc (1986): a steady spin of 6 rad/s stretches the beam by 5.14e-4."""
    EA, EI, mass, length, speed = 2.8e7, 1.4e4, 1.2, 10.0, 6.0
    mechanism = kempe.Mechanism("spin")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_beam("rod", length=length, E=EA / 0.01, density=mass / 0.01, area=0.01,
                       Iy=100 * EI * 0.01 / EA, Iz=EI * 0.01 / EA, modes=10, elements=20,
                       interface=["end"])
    mechanism.add_revolute("hub", parent="world", child="rod")
    model = kempe.Model(mechanism)
    v = np.zeros(model.nv)
    v[0] = speed
    rod = mechanism.flexible_bodies[0]
    # The steady deformation is where no force along the modes is left.
    q = np.zeros(model.nq)
    for _ in range(20):
        force = model.inverse_dynamics(q, v, 0 * v)[1:]
        slope = model.inverse_dynamics_derivatives(q, v, 0 * v)[0][1:, 1:]
        q[1:] -= np.linalg.solve(slope, force)
    _, tip = model.frame_placement(q, "rod/end")
    assert tip[0] - length == pytest.approx(mass * speed**2 * length**3 / (3 * EA), rel=2e-3)
    slope = model.inverse_dynamics_derivatives(q, v, 0 * v)[0][1:, 1:]
    stiffer = np.sqrt(np.min(np.linalg.eigvalsh(slope)))
    assert stiffer > 2 * np.pi * rod.frequencies[0]


def test_a_stiff_beam_is_a_rigid_one() -> None:
    def arm(stiff: bool) -> kempe.Model:
        mechanism = kempe.Mechanism("arm")
        mechanism.add_body("world")
        if stiff:
            mechanism.add_beam("rod", length=1.0, E=1e6 * YOUNG, density=DENSITY, area=AREA,
                               Iy=SECOND, Iz=SECOND)
        else:
            mass = DENSITY * AREA
            mechanism.add_body("rod", mass=mass, center_of_mass=(0.5, 0, 0), inertia=(
                2 * DENSITY * SECOND, mass / 12 + DENSITY * SECOND, mass / 12 + DENSITY * SECOND))
        mechanism.add_revolute("shoulder", parent="world", child="rod", axis=(0, 1, 0))
        mechanism.add_body("load", mass=2.0, center_of_mass=(0, 0.1, 0), inertia=(0.01, 0.02, 0.03))
        node = {"parent_node": "end"} if stiff else {"xyz": (1, 0, 0)}
        mechanism.add_revolute("elbow", parent="rod", child="load", axis=(1, 0, 0), **node)
        return kempe.Model(mechanism)

    flexible, rigid = arm(True), arm(False)
    places = [flexible.v_names.index(name) for name in rigid.v_names]
    q, v = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    q_all, v_all = np.zeros(flexible.nq), np.zeros(flexible.nv)
    q_all[places], v_all[places] = q, v
    bent = q_all.copy()
    modes = [i for i in range(flexible.nv) if i not in places]
    for _ in range(5):  # where the modes follow without vibrating
        a = flexible.forward_dynamics(bent, v_all, np.zeros(flexible.nv))
        slope = flexible.forward_dynamics_derivatives(bent, v_all, np.zeros(flexible.nv))[0]
        bent[modes] -= np.linalg.solve(slope[np.ix_(modes, modes)], a[modes])
    a = flexible.forward_dynamics(bent, v_all, np.zeros(flexible.nv))
    assert a[places] == pytest.approx(rigid.forward_dynamics(q, v, np.zeros(2)), rel=1e-6, abs=1e-6)


def test_copies_and_pickles_are_equal() -> None:
    model = kempe.Model(clamped(modes=4))
    q = model.random_configuration(1)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.mass_matrix(q), model.mass_matrix(q))


@pytest.mark.parametrize("options, reason", [
    ({"modes": 500}, "modes"), ({"length": 0.0}, "length"), ({"E": -1.0}, "E"),
    ({"area": float("nan")}, "area"), ({"fixed": "middle"}, "fixed"),
    ({"interface": ["tip"]}, "tip"), ({"damping": -0.1}, "damping"), ({"elements": 0}, "elements"),
])
def test_beams_that_are_none_are_refused(options: dict, reason: str) -> None:
    with pytest.raises((kempe.ModelError, ValueError), match=reason):
        clamped(**options)


@pytest.mark.parametrize("axis, kinds", [
    ((1, 0, 0), {"bending along y", "bending along z", "axial", "torsion"}),
    ((0, 0, -2), {"bending along x", "bending along y", "axial", "torsion"}),
    ((0, 0.6, 0.8), {"bending along (-0.6, 0.64, -0.48)", "bending along (0.8, 0.48, -0.36)",
                     "axial", "torsion"}),
])
def test_modes_have_kinds(axis: tuple, kinds: set) -> None:
    mechanism = clamped(axis=axis, modes=30, elements=5)
    described = modes_of(mechanism.flexible_bodies[0])
    assert {mode["kind"] for mode in described} == kinds
    assert all(mode["moves_most"] == "end" for mode in described[:2])
    assert [mode["frequency"] for mode in described] == list(
        mechanism.flexible_bodies[0].frequencies)


@pytest.mark.parametrize("options, reason", [
    ({"sections": [{"area": 1e-4, "Iy": 1e-9}] * 2}, 'section 0 has no "Iz"'),
    ({"sections": [{"area": 1e-4, "Iy": 1e-9, "Iz": 1e-9},
                   {"area": 1e-4, "Iy": 1e-9, "Iz": 1e-9, "Ix": 1e-9}]},
     'section 1 has the unknown key "Ix"'),
    ({"sections": [(1e-4, 1e-9, 1e-9)] * 2}, "section 0 is not a dict"),
    ({"interface": "end"}, "interface is a text"),
])
def test_arguments_of_other_types_are_refused(options: dict, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        clamped(**options)


def test_unknown_arguments_and_nodes_are_refused() -> None:
    with pytest.raises(TypeError, match="lenght"):
        clamped(lenght=2.0)
    mechanism = clamped()
    mechanism.add_body("load", mass=1.0)
    mechanism.add_revolute("hook", parent="rod", parent_node="tip", child="load")
    with pytest.raises(kempe.ModelError, match='no node "tip". Its nodes are start, 1'):
        kempe.Model(mechanism)


def test_methods_that_would_leave_bending_out_are_refused() -> None:
    model = kempe.Model(clamped(modes=3))
    with pytest.raises(ValueError, match='flexible bodies, such as "rod"'):
        model.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), method="projection")


def test_linear_models_have_the_frequencies_of_the_beam() -> None:
    mechanism = clamped(modes=3)
    mechanism.gravity = (0, 0, 0)
    frequencies = mechanism.flexible_bodies[0].frequencies
    A, B = kempe.Simulator(kempe.Model(mechanism)).linearize_rates()
    poles = np.sort(abs(np.linalg.eigvals(A)))
    np.testing.assert_allclose(poles[::2], 2 * np.pi * np.sort(frequencies), rtol=1e-6)
    assert B.shape == (6, 3)


def test_files_hold_beams(tmp_path) -> None:
    mechanism = clamped(modes=13, interface=["end", 3], ky=0.8, axis=(0, 0.6, 0.8), damping=0.01)
    mechanism.add_body("load", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_revolute("hook", parent="rod", parent_node="end", child="load", xyz=(0, 0.1, 0))
    mechanism.add_body("stay", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    mechanism.add_joint("ball", "spherical", parent="world", child="stay", xyz=(0, 0.3, 0))
    mechanism.add_rod("rope", predecessor="rod", predecessor_node="3", predecessor_point=(0, 0, 0),
                      successor="stay", successor_point=(0.1, 0, 0), length=0.4)
    model = kempe.Model(mechanism)
    q = model.random_configuration(3)
    for text in (kempe.write_urdf_text(mechanism), kempe.write_urdf_text(model.mechanism),
                 kempe.write_urdf_text(pickle.loads(pickle.dumps(mechanism)))):
        again = kempe.Model(kempe.read_urdf_text(text))
        assert again.q_names == model.q_names
        assert np.abs(again.mass_matrix(q) - model.mass_matrix(q)).max() < 1e-12


@pytest.mark.parametrize("attributes, reason", [
    ('length="1" density="2700" E="7e10" area="1e-4" Iy="1e-9"', "Iz"),
    ('density="2700" E="7e10" area="1e-4" Iy="1e-9" Iz="1e-9"', "length"),
    ('length="1" density="2700" E="7e10" area="1e-4" Iy="1e-9" Iz="1e-9" modes="0"', "modes"),
    ('length="1" density="2700" E="stiff" area="1e-4" Iy="1e-9" Iz="1e-9"', "stiff"),
])
def test_beams_in_files_that_are_none_are_refused(attributes: str, reason: str) -> None:
    text = f"""<robot name="r">
<link name="world"/>
<link name="rod"><flexible {attributes}/></link>
<joint name="clamp" type="fixed"><parent link="world"/><child link="rod"/></joint>
</robot>"""
    with pytest.raises(kempe.ModelError, match=f"urdf:3.*{reason}") as raised:
        kempe.read_urdf_text(text)
    assert "flexible" in str(raised.value) or "rod" in str(raised.value)


def test_the_command_line_shows_frequencies(tmp_path) -> None:
    model = kempe.load(ARM)
    tree = kempe_program("info", ARM)
    first = model.mechanism.flexible_bodies[0].frequencies[0]
    assert "bends in 6 modes: " in tree.stdout and f"{first:.3g}"[:3] in tree.stdout
    report = json.loads(kempe_program("info", ARM, "--json").stdout)
    assert [body["name"] for body in report["flexible_bodies"]] == ["upper_arm", "forearm"]
    modes = json.loads(kempe_program("modes", ARM, "--json").stdout)
    # What hangs on the links makes them slower.
    assert modes["flexible_bodies"][0]["frequencies"][0] == pytest.approx(first)
    assert 0 < modes["frequencies"][0] < first and len(modes["frequencies"]) == 12
    first = modes["flexible_bodies"][0]["modes"][0]
    assert first["kind"].startswith("bending along ") and first["moves_most"] == "end"
    shown = kempe_program("modes", ARM).stdout
    assert "natural frequencies" in shown and first["kind"] in shown
    column = tmp_path / "column.urdf"
    column.write_text("""<robot name="column"><link name="world"/>
<link name="rod"><flexible length="1" E="7e10" density="2700" area="1e-4" Iy="1e-10" Iz="1e-10"
  axis="0 0 1" interface="end" modes="8"/></link>
<joint name="clamp" type="fixed"><parent link="world"/><child link="rod"/></joint>
<link name="load"><inertial><mass value="3"/>
<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<joint name="seat" type="fixed"><parent link="rod" node="end"/><child link="load"/></joint>
</robot>""")
    buckled = kempe_program("modes", column)
    assert buckled.returncode != 0 and "buckles" in buckled.stderr
    refused = kempe_program("modes", "four_bar")
    assert refused.returncode == 2 and "no flexible bodies" in refused.stderr


def test_check_accepts_a_beam_in_a_loop(tmp_path: Path) -> None:
    """Nodes of a beam are parts of its cluster, but have no coordinates of their own."""
    robot = tmp_path / "coupler.urdf"
    robot.write_text("""<robot name="coupler"><link name="wall"/>
      <link name="crank"><inertial><mass value="1"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="rod"><flexible length="1" E="7e10" density="2700" area="1e-4" Iy="1e-9" Iz="1e-9"
        modes="2"/></link>
      <joint name="turn" type="continuous"><parent link="wall"/><child link="crank"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="pin" type="continuous"><parent link="crank"/><child link="rod"/>
        <origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint>
      <rod name="tie"><predecessor link="rod" node="end"/>
        <successor link="wall" xyz="1.3 -0.5 0"/><length value="0.5"/></rod>
      </robot>""")
    done = kempe_program("check", str(robot))
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1)
