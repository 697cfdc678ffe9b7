"""Flexible bodies: drawn where their nodes are, in colours of their strain energy, in modes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, changed_pixels, wait_until

import kempe
from kempe.modes import robot_modes
from kempe.viewer import Session, colours, flexible, sections, shapes, write_html
from kempe.viewer.flexible import ElasticBodies, Vibration, vibrations
from kempe.viewer.posture import MODAL, Posture

ARM = Path(__file__).resolve().parents[2] / "examples" / "flexible_arm.urdf"
LENGTH, WIDTH, HEIGHT = 1.0, 0.02, 0.01  # along x, y, z
STEEL = dict(length=LENGTH, E=2.1e11, density=7850.0, area=WIDTH * HEIGHT,
             Iy=WIDTH * HEIGHT**3 / 12, Iz=HEIGHT * WIDTH**3 / 12)


def cantilever(**options) -> kempe.Model:
    """A beam that is clamped at its start, with a plate at its end."""
    mechanism = kempe.Mechanism("cantilever")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_beam("rod", **{**STEEL, "interface": ["end"], "stiffening": False, **options})
    mechanism.add_fixed("clamp", parent="world", child="rod")
    mechanism.add_body("plate", mass=0.01, inertia=(1e-6, 1e-6, 1e-6))
    mechanism.add_fixed("weld", parent="rod", parent_node="end", child="plate")
    return kempe.Model(mechanism)


def bent(model: kempe.Model, force: float = 50.0) -> np.ndarray:
    """The configuration under a force at the end, along z."""
    return model.static_deflection(
        model.neutral(), external={"rod/end": [0, 0, force, 0, 0, 0]})


def slider_crank() -> kempe.Model:
    """A crank, a flexible rod and a slider in a loop."""
    mechanism = kempe.Mechanism("slider_crank")
    mechanism.gravity = (0, 0, 0)
    for name in ("world", "crank", "slider"):
        mechanism.add_body(name, mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    axis = (0, 0, 1)
    mechanism.add_revolute("crank", parent="world", child="crank", axis=axis, independent=True)
    mechanism.add_beam("rod", **{**STEEL, "length": 0.5}, modes=2)
    mechanism.add_revolute("pin", parent="crank", child="rod", xyz=(0.2, 0, 0), axis=axis)
    mechanism.add_prismatic("rail", parent="world", child="slider", axis=(1, 0, 0))
    mechanism.add_loop("wrist", "spherical", predecessor="rod", predecessor_node="end",
                       successor="slider", successor_xyz=(0.7, 0, 0))
    return kempe.Model(mechanism)


def frame_mesh() -> kempe.Model:
    """Three masses on a massless rod, from its matrices."""
    h, EI = 0.5, 900.0
    mass = np.diag(np.tile([0.4, 0.4, 0.4, 1e-4, 1e-4, 1e-4], 3))
    stiffness = np.zeros((18, 18))
    bend = EI / h**3 * np.array([[12, 6*h, -12, 6*h], [6*h, 4*h**2, -6*h, 2*h**2],
                                 [-12, -6*h, 12, -6*h], [6*h, 2*h**2, -6*h, 4*h**2]])
    spring = np.array([[1, -1], [-1, 1]]) / h
    for first in (0, 6):
        for rows, signs, k in (([0, 6], [1, 1], 2.8e7 * spring), ([3, 9], [1, 1], 700 * spring),
                               ([1, 5, 7, 11], [1, 1, 1, 1], bend),
                               ([2, 4, 8, 10], [1, -1, 1, -1], bend)):
            at = first + np.array(rows)
            stiffness[np.ix_(at, at)] += np.outer(signs, signs) * k
    mechanism = kempe.Mechanism("crane")
    mechanism.add_body("world")
    mechanism.add_flexible_body("boom", nodes=[[0, 0, 0], [h, 0, 0], [2 * h, 0, 0]], mass=mass,
                                stiffness=stiffness, modes=8, interface={"pivot": 0, "tip": 2})
    mechanism.add_revolute("luff", parent="world", child="boom", axis=(0, 1, 0))
    return kempe.Model(mechanism)


@pytest.fixture
def started() -> Iterator[Callable[..., Session]]:
    """Sessions without a browser, until the end of the test."""
    sessions: list[Session] = []

    def start(model: kempe.Model, run: kempe.Run | None = None, **options) -> Session:
        sessions.append(Session(model, run, port=0, **options))
        return sessions[-1]

    yield start
    for session in sessions:
        session.stop()


# --- sections and surfaces -----------------------------------------------------------------------

def extent(section: tuple[float, float, float]) -> np.ndarray:
    """Along y and z."""
    return np.ptp(sections.outlines(np.array([section]), 0.0)[0], axis=0)


def test_sections_are_drawn_in_their_size() -> None:
    w, h = 0.03, 0.002
    assert extent((w * h, w * h**3 / 12, h * w**3 / 12)) == pytest.approx([w, h])
    r, R = 0.008, 0.01
    assert extent((np.pi * R**2, *[np.pi / 4 * R**4] * 2)) == pytest.approx([2 * R, 2 * R])
    assert extent((np.pi * (R**2 - r**2), *[np.pi / 4 * (R**4 - r**4)] * 2)) == pytest.approx(
        [2 * R, 2 * R])
    square = sections.outlines(np.array([[w * w, w**4 / 12, w**4 / 12]]), 0.0)[0]
    assert extent((w * w, w**4 / 12, w**4 / 12)) == pytest.approx([w, w])
    assert len(np.unique(square.round(9), axis=0)) == 4
    # An I-beam: the rectangle with its radii of gyration.
    assert extent((2e-3, 2.4e-6, 6e-7)) == pytest.approx(
        [np.sqrt(12 * 6e-7 / 2e-3), np.sqrt(12 * 2.4e-6 / 2e-3)])


def test_thin_sections_stay_visible() -> None:
    assert np.ptp(sections.outlines(np.array([[1e-9, 1e-20, 1e-20]]), 0.01)[0],
                  axis=0).min() == pytest.approx(0.01)


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("elements", [1, 2, 10])
def test_surfaces_are_closed_and_have_the_volume_of_the_beam(elements: int) -> None:
    sweep = sections.Sweep(np.eye(3), LENGTH, elements, np.array(
        [[STEEL["area"], STEEL["Iy"], STEEL["Iz"]]] * 2), 0.0)
    points = np.linspace([0, 0, 0], [LENGTH, 0, 0], elements + 1)
    parts = sweep.vertices(np.tile(np.eye(3), (elements + 1, 1, 1)), points)
    assert len(parts) == len(sweep.faces) == elements
    total = sum(volume(*part) for part in zip(parts, sweep.faces, strict=True))
    assert total == pytest.approx(STEEL["area"] * LENGTH, rel=1e-9)
    everything = np.concatenate(parts)
    assert np.ptp(everything, axis=0) == pytest.approx([LENGTH, WIDTH, HEIGHT])


def test_one_element_bends_as_a_cubic() -> None:
    model = cantilever(elements=1)
    q = bent(model)
    R, p = model.forward_kinematics(q, frames=["rod/start", "rod/end"])
    sweep = sections.Sweep(np.eye(3), LENGTH, 1, np.array(
        [[STEEL["area"], STEEL["Iy"], STEEL["Iz"]]] * 2), 0.0)
    (vertices,) = sweep.vertices(R, p)
    rings = vertices[:-16].reshape(-1, 8, 3).mean(axis=1)
    x = np.linspace(0, LENGTH, len(rings))
    deflection = 50.0 * x**2 * (3 * LENGTH - x) / (6 * STEEL["E"] * STEEL["Iy"])
    assert rings[:, 2] == pytest.approx(deflection, rel=2e-3, abs=1e-9)


def test_neighbours_are_the_edges_of_a_grid() -> None:
    grid = np.array([[x, y, z] for x in range(3) for y in range(2) for z in range(2)], float)
    pairs = sections.neighbours(grid)
    assert np.linalg.norm(grid[pairs[:, 0]] - grid[pairs[:, 1]], axis=1) == pytest.approx(1)
    assert len(pairs) == 8 + 6 + 6
    assert sections.neighbours(np.zeros((1, 3))).shape == (0, 2)


# --- configurations and energy -------------------------------------------------------------------

def test_deformations_are_scaled_and_joints_are_not() -> None:
    model = cantilever()
    elastic_bodies = ElasticBodies(model)
    q = bent(model)
    tips = [model.frame_placement(elastic_bodies.scaled(q, scale), "rod/end")[1][2]
            for scale in (1.0, 20.0, 0.0)]
    assert tips[0] == pytest.approx(50.0 * LENGTH**3 / (3 * STEEL["E"] * STEEL["Iy"]), rel=1e-9)
    assert tips[1:] == pytest.approx([20 * tips[0], 0.0])
    arm = kempe.load(ARM)
    q = arm.random_configuration(seed=1)
    drawn = ElasticBodies(arm).scaled(np.array([q, q]), 3.0)
    joints = [arm.q_names.index(name) for name in ("shoulder", "elbow")]
    assert np.array_equal(drawn[:, joints], np.array([q, q])[:, joints])
    assert np.delete(drawn[0], joints) == pytest.approx(3 * np.delete(q, joints))


@pytest.mark.parametrize("scale", [-1.0, np.nan, np.inf])
def test_wrong_scales_are_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="deformation_scale: must be zero or more"):
        flexible.checked_scale(scale)


def test_energy_densities_are_those_of_the_bending_moment() -> None:
    model = cantilever(elements=5)
    (densities,) = ElasticBodies(model).energy_densities(bent(model))
    edges = np.linspace(0, LENGTH, 6)
    energy = -(50.0**2) * (LENGTH - edges) ** 3 / (6 * STEEL["E"] * STEEL["Iy"])
    mass = STEEL["density"] * STEEL["area"] * LENGTH / 5
    assert densities == pytest.approx(np.diff(energy) / mass, rel=1e-9)
    assert ElasticBodies(model).largest_density(np.array([model.neutral(), bent(model)])) == (
        pytest.approx(densities[0]))


def test_bodies_from_matrices_are_one_element() -> None:
    model = frame_mesh()
    q = model.random_configuration(seed=2)
    ((density,),) = ElasticBodies(model).energy_densities(q)
    mechanism = model.mechanism
    mechanism.gravity = (0, 0, 0)
    elastic = kempe.Model(mechanism).energy(q, np.zeros(model.nv))[1]
    assert density == pytest.approx(elastic / 1.2, rel=1e-9)


def test_colours_run_along_the_scale() -> None:
    assert colours.of_fraction(-1) == colours.of_fraction(0) == colours.SCALE[0]
    assert colours.of_fraction(1) == colours.of_fraction(2) == colours.SCALE[-1]
    assert colours.of_fraction(1 / 16) == (70, 22, 103)
    brightness = [np.dot(colours.of_fraction(x), (0.3, 0.6, 0.1)) for x in np.linspace(0, 1, 40)]
    assert np.diff(brightness).min() > 0


# --- modes ---------------------------------------------------------------------------------------

def named(model: kempe.Model, name: str) -> Vibration:
    return flexible.find_vibration(vibrations(model)[0], name)


def displacements(model: kempe.Model, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    body = model.mechanism.flexible_bodies[0]
    frames = [f"{body.name}/{node}" for node in body.nodes]
    return np.linalg.norm(model.forward_kinematics(after, frames=frames)[1]
                          - model.forward_kinematics(before, frames=frames)[1], axis=1)


def test_modes_move_by_a_tenth_of_the_length() -> None:
    model = cantilever()
    for name in ("rod/mode1", "1"):
        mode = named(model, name)
        base = mode.base(model.neutral())
        moved = displacements(model, base, mode.at(base, 1.0))
        assert moved.max() == pytest.approx(0.1 * LENGTH, rel=1e-6)
        assert moved.argmax() == len(moved) - 1
        assert displacements(model, base, mode.at(base, -0.5)).max() == pytest.approx(0.05)
    body = model.mechanism.flexible_bodies[0]
    assert named(model, "rod/mode1").frequency == body.frequencies[0]
    assert named(model, "rod/mode1").label == (
        f"rod/mode1: {body.frequencies[0]:.4g} Hz, bending along z")


def test_torsion_turns_by_a_visible_angle() -> None:
    model = cantilever(elements=2, modes=12)
    twist = next(mode for mode in vibrations(model)[0] if "torsion" in mode.label)
    R, _ = model.frame_placement(twist.at(model.neutral(), 1.0), "rod/end")
    assert np.arccos((np.trace(R) - 1) / 2) == pytest.approx(1.0, rel=1e-6)


def test_modes_of_the_robot_are_about_its_equilibrium() -> None:
    model = kempe.load(ARM)
    q, expected = robot_modes(model)
    found, problem = vibrations(model)
    assert problem == ""
    of_robot = [mode for mode in found if "/" not in mode.name]
    assert [mode.frequency for mode in of_robot] == [mode.frequency for mode in expected]
    assert all(np.array_equal(mode.base(model.neutral()), q) for mode in of_robot)
    assert len(found) == 12 + 12
    assert found[0].label.startswith("robot, mode 1: ")


def test_loops_stay_closed_in_modes_of_the_robot() -> None:
    model = slider_crank()
    found, problem = vibrations(model)
    assert problem == ""
    # The loop leaves the rod one deflection, and holds the other.
    assert [mode.name for mode in found] == ["1", "rod/mode1", "rod/mode2"]
    mode = found[0]
    base = mode.base(model.neutral())
    for phase in (-1.0, 0.3, 1.0):
        moved = mode.at(base, phase)
        assert np.abs(model.loop_residual(moved)).max() < 1e-8
        assert moved[model.q_names.index("crank")] == base[model.q_names.index("crank")]
        assert displacements(model, base, moved).max() > 5e-3 * abs(phase)


def test_unknown_modes_are_named() -> None:
    with pytest.raises(ValueError, match=r'mode "rod/mode9" does not exist; .*1, 2, .*rod/mode6'):
        named(cantilever(), "rod/mode9")
    with pytest.raises(ValueError, match="the robot has no flexible bodies"):
        flexible.find_vibration([], "1")


def test_unstable_robots_have_modes_of_bodies_only() -> None:
    mechanism = cantilever(density=7850.0 * 400, stiffening=True, axis=(0, 0, 1)).mechanism
    mechanism.gravity = (0, 0, -9.81)
    found, problem = vibrations(kempe.Model(mechanism))
    assert found and all("/" in mode.name for mode in found)
    assert problem != ""


# --- the pose ------------------------------------------------------------------------------------

def test_modal_coordinates_have_sliders() -> None:
    model = cantilever()
    posture = Posture(model, 1.0)
    assert [control.label for control in posture.controls] == model.q_names
    first = posture.controls[0]
    assert first.unit == MODAL and first.lower == -first.upper
    assert posture.move(first, first.upper) is None
    assert displacements(model, model.neutral(), posture.q).max() == pytest.approx(0.1 * LENGTH)


@pytest.mark.parametrize("make", [lambda: kempe.load(ARM), slider_crank, frame_mesh])
def test_sizes_include_flexible_bodies(make: Callable[[], kempe.Model]) -> None:
    model = make()
    drawing = shapes.draw(model)
    R, p = model.forward_kinematics(
        model.neutral(), frames=[body.name for body in model.mechanism.bodies])
    corners = drawing.corners(R, p)
    assert 0.5 * drawing.size < np.linalg.norm(np.ptp(corners, axis=0)) < 2 * drawing.size
    assert set(drawing.parts) == {body.name for body in model.mechanism.bodies}


# --- the scene -----------------------------------------------------------------------------------

def elements_of(session: Session, body: str) -> list:
    return [session.server.scene.get_handle_by_name(f"/world/bodies/{body}/element{i}")
            for i in range(10)]


def test_elements_are_drawn_through_the_nodes_of_the_model(
        started: Callable[..., Session]) -> None:
    model = cantilever()
    session = started(model, deformation_scale=5.0)
    elements = elements_of(session, "rod")
    assert {tuple(element.color) for element in elements} == {colours.SCALE[0]}
    straight = [np.array(element.vertices) for element in elements]
    assert max(np.abs(vertices[:, 2]).max() for vertices in straight) < HEIGHT
    q = bent(model)
    session.show(q)
    tip = 5 * model.frame_placement(q, "rod/end")[1][2]
    assert elements[-1].vertices[:, 2].max() == pytest.approx(tip + HEIGHT / 2, rel=1e-2)
    plate = session.server.scene.get_handle_by_name("/world/bodies/plate")
    assert plate.position[2] == pytest.approx(tip, rel=1e-9)
    # The bending moment is largest at the clamp.
    assert tuple(elements[0].color) == colours.SCALE[-1]
    brightness = [sum(element.color) for element in elements]
    assert brightness == sorted(brightness, reverse=True)
    session.deformation_scale = 1.0
    assert session.flexible_panel is not None and session.flexible_panel._scale.value == 1.0
    assert elements[-1].vertices[:, 2].max() < 0.25 * tip + HEIGHT
    session.scene.colour_by_energy(False)
    assert {tuple(element.color) for element in elements} == {session.scene.palette.bodies["rod"]}


def test_bodies_from_matrices_are_points_and_lines(started: Callable[..., Session]) -> None:
    model = frame_mesh()
    session = started(model)
    points = session.server.scene.get_handle_by_name("/world/bodies/boom/nodes")
    lines = session.server.scene.get_handle_by_name("/world/bodies/boom/edges")
    assert np.asarray(lines.points).shape == (2, 2, 3)
    q = model.random_configuration(seed=1)
    session.show(q)
    frames = ["boom", "boom/pivot", "boom/1", "boom/tip"]
    R, p = model.forward_kinematics(q, frames=frames)
    assert np.asarray(points.points) == pytest.approx((p[1:] - p[0]) @ R[0], abs=1e-5)
    assert np.asarray(points.colors).reshape(-1, 3)[0] == pytest.approx(colours.SCALE[-1])


def test_bodies_of_which_one_node_is_kept_are_points(started: Callable[..., Session]) -> None:
    mass, stiffness = np.diag([1.0] * 6 + [2.0] * 6), np.zeros((12, 12))
    spring = np.kron([[1, -1], [-1, 1]], np.diag([1e6] * 3))
    rows = [0, 1, 2, 6, 7, 8]
    stiffness[np.ix_(rows, rows)] = spring  # two nodes at one place
    turn = [3, 4, 5, 9, 10, 11]
    stiffness[np.ix_(turn, turn)] = spring
    mechanism = kempe.Mechanism("knot")
    mechanism.add_body("world")
    mechanism.add_flexible_body("knot", nodes=np.zeros((2, 3)), mass=mass, stiffness=stiffness,
                                modes=2, interface=[0], keep=[])
    mechanism.add_revolute("pin", parent="world", child="knot", axis=(0, 1, 0))
    session = started(kempe.Model(mechanism))
    session.animate("knot/mode1")
    points = session.server.scene.get_handle_by_name("/world/bodies/knot/nodes")
    wait_until(lambda: abs(session.shown[1]) > 0.1, "a vibration")
    assert np.asarray(points.points) == pytest.approx(np.zeros((1, 3)))


def test_runs_play_deformed_on_one_scale_of_colours(started: Callable[..., Session]) -> None:
    model = cantilever()
    run = kempe.simulate(model, bent(model), np.zeros(model.nv), duration=0.02, dt=1e-3)
    session = started(model, run)
    top = ElasticBodies(model).largest_density(run.q)
    assert session.flexible_panel is not None
    assert f"{top:.3g}" in session.flexible_panel._legend.content
    elements = elements_of(session, "rod")
    seen = []
    for q in run.q:
        session.show(q)
        seen.append(np.array(elements[-1].vertices))
        assert f"{top:.3g}" in session.flexible_panel._legend.content
    assert np.ptp([vertices[:, 2].mean() for vertices in seen]) > 1e-3


def test_an_animation_starts_and_ends(started: Callable[..., Session]) -> None:
    model = kempe.load(ARM)
    session = started(model)
    q = session.posture.q
    session.animate("forearm/mode2")
    panel = session.flexible_panel
    assert panel is not None and panel.animating
    moved = [i for i, name in enumerate(model.q_names) if name == "forearm/mode2"]
    wait_until(lambda: abs(session.shown[moved[0]]) > 1e-3, "a deflection")
    assert np.array_equal(np.delete(session.shown, moved), np.delete(q, moved))
    assert "forearm/mode2: " in panel._message.content
    panel.stop()
    assert not panel.animating and np.array_equal(session.shown, q)
    session.animate("1")
    session.pose_panel._jump(q)
    assert not panel.animating, "setting a pose ends the animation"
    with pytest.raises(ValueError, match="does not exist"):
        session.animate("rod/mode1")


def test_rigid_robots_have_no_such_controls(started: Callable[..., Session]) -> None:
    session = started(kempe.robots.load("four_bar"))
    assert session.flexible_panel is None
    with pytest.raises(ValueError, match="no flexible bodies"):
        session.animate("1")


def test_pages_have_a_legend_and_scale_deformations(tmp_path: Path) -> None:
    model = cantilever()
    run = kempe.simulate(model, bent(model), np.zeros(model.nv), duration=0.1, dt=5e-3)
    text = write_html(model, run, tmp_path / "rod.html", deformation_scale=20).read_text()
    assert "Strain energy, J/kg" in text and "Deformations × 20" in text
    assert f"{ElasticBodies(model).largest_density(run.q):.3g}</span>" in text
    with pytest.raises(ValueError, match="deformation_scale"):
        write_html(model, run, tmp_path / "no.html", deformation_scale=-1)
    assert not (tmp_path / "no.html").exists()
    four_bar = kempe.robots.load("four_bar")
    plain = write_html(four_bar, kempe.simulate(four_bar, duration=0.01), tmp_path / "4.html")
    assert "Strain energy" not in plain.read_text()


# --- the browser ---------------------------------------------------------------------------------

def pixels_like(picture: np.ndarray, colour: colours.Colour) -> int:
    """Pixels with the hue of a colour of the scale, in any light."""
    wanted = np.array(colour) / np.linalg.norm(colour)
    rows = picture.reshape(-1, 3)
    norms = np.linalg.norm(rows, axis=1)
    vivid = rows[(np.ptp(rows, axis=1) > 60) & (norms > 0)]
    cosines = vivid @ wanted / np.linalg.norm(vivid, axis=1)
    return int((cosines > 0.985).sum())


def test_a_mode_in_the_browser(
        browser: Browser, show: Callable[..., Session], pictures: Path) -> None:
    model = cantilever(area=4e-3, Iy=2e-6, Iz=1e-6)  # thick enough for pixels
    session = show(model)
    browser.tab("Flexible bodies").click()
    assert "Strain energy, J/kg" in browser.text()
    assert re.search(r"robot, mode 1: [\d.]+ Hz", browser.driver.page_source)
    still = browser.settled_canvas()
    assert pixels_like(still, colours.SCALE[-1]) == 0, "a straight beam has no strain energy"
    browser.button("Animate").click()
    wait_until(lambda: changed_pixels(still, browser.canvas()) > 300, "a beam that moves")
    wait_until(lambda: pixels_like(browser.canvas(), colours.SCALE[-1]) > 20, "a strained clamp")
    browser.keep(pictures / "flexible_mode.png")
    browser.button("Stop").click()
    wait_until(lambda: np.array_equal(session.shown, session.posture.q), "the pose")
    assert browser.errors() == []


def test_the_slider_of_the_scale_in_the_browser(
        browser: Browser, show: Callable[..., Session], pictures: Path) -> None:
    model = cantilever(area=4e-3, Iy=2e-6, Iz=1e-6)
    session = show(model)
    session.show(bent(model, 2e4))
    small = browser.settled_canvas()
    browser.tab("Flexible bodies").click()
    thumb = browser.slider("Deformation scale")
    for _ in range(20):
        thumb.send_keys("\ue014")  # right
    wait_until(lambda: session.deformation_scale == 11, "a scale that is set")
    wait_until(lambda: changed_pixels(small, browser.canvas()) > 300, "a larger deformation")
    browser.settled_canvas()
    browser.keep(pictures / "flexible_scaled.png")
    assert browser.errors() == []
