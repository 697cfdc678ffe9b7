"""Bodies from finite-element matrices and beams, against matrices assembled in beam_elements.py."""

import copy
import pickle

import numpy as np
import pytest
from beam_elements import (
    AREA,
    BEAM,
    DENSITY,
    IY,
    IZ,
    LENGTH,
    SHEAR,
    TORSION,
    YOUNG,
    beam,
    natural_frequencies,
    rigid_motions,
    solid,
)

import kempe

ELEMENTS = 8


def with_body(kind: str, joint: str, **options) -> tuple[kempe.Mechanism, kempe.FlexibleBody]:
    """A beam on a joint, by add_beam or from the matrices of its elements."""
    mechanism = kempe.Mechanism("one")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    if kind == "beam":
        last = options.pop("last", False)
        interface = ["end"] if last else []
        rod = mechanism.add_beam("rod", **BEAM, elements=ELEMENTS, stiffening=False,
                                 interface=interface, **options)
    else:
        nodes, M, K = beam(ELEMENTS)
        interface = [] if options.pop("fixed", "start") == "none" else [0]
        interface += [ELEMENTS] if options.pop("last", False) else []
        rod = mechanism.add_flexible_body("rod", nodes=nodes, mass=M, stiffness=K,
                                          interface=interface, **options)
    mechanism.add_joint("base", joint, parent="world", child="rod")
    return mechanism, rod


both = pytest.mark.parametrize("kind", ["beam", "elements"])


@both
@pytest.mark.parametrize("fixed", ["start", "none"])
def test_frequencies_are_those_of_the_assembled_matrices(kind: str, fixed: str) -> None:
    _, rod = with_body(kind, "fixed", fixed=fixed, modes=20)
    _, M, K = beam(ELEMENTS)
    if fixed == "start":
        expected = natural_frequencies(M[6:, 6:], K[6:, 6:])
    else:
        expected = natural_frequencies(M, K)[6:]
    assert rod.frequencies == pytest.approx(expected[:20], rel=1e-6)


@both
def test_mass_matrix_of_the_floating_body_is_the_projected_one(kind: str) -> None:
    mechanism, rod = with_body(kind, "free", modes=9, last=True)
    nodes, M, K = beam(ELEMENTS)
    model = kempe.Model(mechanism)
    shapes = rod.shapes.reshape(9, -1).T  # rows as in the matrices
    basis = np.hstack([rigid_motions(nodes), shapes])
    H = model.mass_matrix(model.neutral())
    assert np.abs(H - basis.T @ M @ basis).max() < 1e-8
    squares = (2 * np.pi * rod.frequencies)**2
    assert np.abs(shapes.T @ K @ shapes - np.diag(squares)).max() < 1e-6 * squares.max()
    assert rod.positions == pytest.approx(nodes)


@both
def test_static_deflection_is_that_of_all_elements(kind: str) -> None:
    mechanism, _ = with_body(kind, "fixed", modes=8, last=True)
    model = kempe.Model(mechanism)
    _, _, K = beam(ELEMENTS)
    load = np.array([300.0, 2.0, -3.0, 0.4, 0.5, 0.6])  # [force; moment] at the end
    loads = np.zeros(6 * ELEMENTS)
    loads[-6:] = 1e-3 * load
    expected = np.linalg.solve(K[6:, 6:], loads)[-6:]
    q = model.static_deflection(model.neutral(), external={"rod/end" if kind == "beam" else
                                                           f"rod/{ELEMENTS}": 1e-3 * load})
    R, p = model.frame_placement(q, f"rod/{'end' if kind == 'beam' else ELEMENTS}")
    assert p - [LENGTH, 0, 0] == pytest.approx(expected[:3], rel=1e-5)
    turned = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    assert turned == pytest.approx(expected[3:], rel=1e-4)


def test_frequencies_converge_with_the_fourth_power_of_the_element_length() -> None:
    root = 1.8751040687
    exact = root**2 * np.sqrt(YOUNG * IY / (DENSITY * AREA)) / (2 * np.pi)
    errors = []
    for elements in (2, 4, 8):
        nodes, M, K = beam(elements, rotary=0.0)
        rod = kempe.Mechanism().add_flexible_body("rod", nodes=nodes, mass=M, stiffness=K, modes=1,
                                                  interface=[0])
        errors.append(rod.frequencies[0] / exact - 1)
    assert np.log2(errors[0] / errors[1]) > 3.8 and np.log2(errors[1] / errors[2]) > 3.6
    assert 0 < errors[2] < 1e-5


def test_pinned_beams_have_the_frequencies_of_sines() -> None:
    mechanism = kempe.Mechanism("pinned")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    slender = {**BEAM, "area": AREA * 1e-2, "Iy": IY * 1e-4, "Iz": IZ * 1e-4, "J": TORSION * 1e-4}
    mechanism.add_beam("rod", **slender, elements=20, modes=24, interface=["end"])
    mechanism.add_joint("pin", "universal", parent="world", child="rod", axis=(0, 1, 0),
                        axis2=(0, 0, 1))
    mechanism.add_body("slider", mass=1e-6, inertia=(1e-9, 1e-9, 1e-9))
    mechanism.add_prismatic("slide", parent="world", child="slider", xyz=(LENGTH, 0, 0),
                            axis=(1, 0, 0))
    mechanism.add_loop("end", "universal", predecessor="rod", predecessor_node="end",
                       successor="slider", axis=(0, 1, 0), axis2=(0, 0, 1), cut=False)
    model = kempe.Model(mechanism)
    q = model.neutral()
    found = natural_frequencies(model.mass_matrix(q), model.gravity_forces_derivatives(q))
    for second in (slender["Iy"], slender["Iz"]):
        for n in (1, 2, 3):
            speed = np.sqrt(YOUNG * second / (DENSITY * slender["area"]))
            expected = (n * np.pi / LENGTH)**2 * speed / (2 * np.pi)
            assert np.abs(found / expected - 1).min() < 1e-3, (second, n)


def segments(count: int, joint: str = "fixed") -> kempe.Model:
    """The beam as rigid segments with springs between them, each for the length around it."""
    mechanism = kempe.Mechanism("segments")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    h = LENGTH / count
    mass = DENSITY * AREA * h
    springs = (("x", (1, 0, 0), SHEAR * TORSION), ("y", (0, 1, 0), YOUNG * IY),
               ("z", (0, 0, 1), YOUNG * IZ))
    inertia = DENSITY * h * np.array([IY + IZ, IY, IZ]) + mass * h**2 / 12 * np.array([0, 1, 1])
    parent, clamped = "world", joint == "fixed"
    for i in range(count):
        length = h / 2 if i == 0 else h
        for name, axis, stiffness in springs if i > 0 or clamped else ():
            body = f"s{i}" if name == "z" else f"s{i}{name}"
            mechanism.add_body(body)
            mechanism.add_revolute(f"j{i}{name}", parent=parent, child=body, axis=axis,
                                   xyz=(h if i and name == "x" else 0, 0, 0),
                                   stiffness=stiffness / length)
            parent = body
        if i == 0 and not clamped:
            mechanism.add_body("s0")
            mechanism.add_joint("base", joint, parent="world", child="s0")
            parent = "s0"
        segment = mechanism.bodies[-1]
        segment.mass, segment.center_of_mass, segment.inertia = mass, (h / 2, 0, 0), inertia
    return kempe.Model(mechanism)


def test_chains_of_rigid_segments_converge_to_the_beam() -> None:
    _, rod = with_body("beam", "fixed", modes=2)
    errors = []
    for count in (5, 10, 20):
        chain = segments(count)
        q = chain.neutral()
        found = natural_frequencies(chain.mass_matrix(q), chain.gravity_forces_derivatives(q))
        errors.append(np.abs(found[:2] / rod.frequencies - 1).max())
    assert errors[2] < 2e-3
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(orders > 1.8), orders


@both
def test_a_whirling_beam_moves_as_a_chain_of_segments_in_space(kind: str) -> None:
    mechanism, rod = with_body(kind, "spherical", modes=8)
    rod_model, chain = kempe.Model(mechanism), segments(10, "spherical")
    ends = []
    for model, frame, x in ((rod_model, f"rod/{ELEMENTS}" if kind == "elements" else "rod/end", 0),
                            (chain, "s9", LENGTH / 10)):
        v = np.zeros(model.nv)
        v[:3] = (1.0, 2.0, 3.0)
        run = kempe.simulate(model, model.neutral(), v, duration=0.1, dt=0.02)
        R, p = model.frame_placement(run.q, frame)
        ends.append(p + x * R[:, :, 0])
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-12
    bent = np.linalg.norm(ends[0][-1] - ends[0][0])
    assert bent > 0.3
    assert np.abs(ends[0] - ends[1]).max() < 1e-3


@both
def test_a_floating_beam_keeps_energy_and_momentum(kind: str) -> None:
    mechanism, _ = with_body(kind, "free", modes=6, fixed="none")
    model = kempe.Model(mechanism)
    q, v = model.neutral(), np.zeros(model.nv)
    v[:6] = (0.3, -0.2, 0.1, 4.0, 3.0, -2.0)
    v[6:9] = (0.02, -0.01, 0.03)
    run = kempe.simulate(model, q, v, duration=0.1, dt=0.01)
    before, after = model.momentum(run.q[0], run.v[0]), model.momentum(run.q[-1], run.v[-1])
    assert after == pytest.approx(before, rel=1e-5, abs=1e-5)
    assert run.energy_drift < 1e-5
    assert np.abs(run.q[-1][7:]).max() > 1e-6


def test_a_stiff_body_of_elements_is_a_rigid_one() -> None:
    accelerations = []
    for stiff in (True, False):
        mechanism = kempe.Mechanism("floating")
        mechanism.add_body("world")
        nodes, M, K = beam(ELEMENTS)
        if stiff:
            mechanism.add_flexible_body("rod", nodes=nodes, mass=M, stiffness=1e6 * K,
                                        interface=[0])
        else:
            R = rigid_motions(nodes)
            inertia = (R.T @ M @ R)[3:, 3:] - DENSITY * AREA * 0.25 * np.diag([0, 1, 1])
            mechanism.add_body("rod", mass=DENSITY * AREA, center_of_mass=(0.5, 0, 0),
                               inertia=np.diag(inertia))
        mechanism.add_joint("ball", "spherical", parent="world", child="rod")
        model = kempe.Model(mechanism)
        q, v, tau = model.neutral(), np.zeros(model.nv), np.zeros(model.nv)
        v[:3], tau[:3] = (1.0, 2.0, -3.0), (0, 0.6, 0.7)
        for _ in range(5 if stiff else 0):  # modes follow without vibrating
            a = model.forward_dynamics(q, v, tau)
            slope = model.forward_dynamics_derivatives(q, v, tau)[0][3:, 3:]
            q[4:] -= np.linalg.solve(slope, a[3:])
        accelerations.append(model.forward_dynamics(q, v, tau)[:3])
    assert accelerations[0] == pytest.approx(accelerations[1], rel=1e-6, abs=1e-6)


class Sparse:
    """What add_flexible_body uses of scipy.sparse."""

    def __init__(self, matrix: np.ndarray) -> None:
        columns, self.indices = np.nonzero(matrix.T)
        self.data = matrix.T[columns, self.indices]
        self.indptr = np.searchsorted(columns, np.arange(matrix.shape[1] + 1)).astype(np.int32)
        self.shape = matrix.shape

    def tocsc(self) -> "Sparse":
        return self


def test_sparse_and_other_arrays_give_the_same_body() -> None:
    nodes, M, K = beam(4)
    bodies = [kempe.Mechanism().add_flexible_body("rod", nodes=x, mass=m, stiffness=k, modes=5)
              for x, m, k in ((nodes, M, K), (nodes.tolist(), Sparse(M), Sparse(K)),
                              (np.asfortranarray(nodes), M.tolist(), np.asfortranarray(K)))]
    for body in bodies[1:]:
        assert np.array_equal(body.frequencies, bodies[0].frequencies)
        assert np.array_equal(body.shapes, bodies[0].shapes)


def test_nodes_have_names_and_those_kept_become_frames() -> None:
    nodes, M, K = beam(4)

    def made(**options) -> tuple[kempe.FlexibleBody, kempe.Model]:
        mechanism = kempe.Mechanism("named")
        mechanism.add_body("world")
        rod = mechanism.add_flexible_body("rod", nodes=nodes, mass=M, stiffness=K, **options)
        mechanism.add_fixed("clamp", parent="world", child="rod")
        model = kempe.Model(mechanism)
        assert {f"rod/{node}" for node in rod.nodes} <= set(model.frame_names)
        return rod, pickle.loads(pickle.dumps(copy.deepcopy(model)))

    names = ["hub", "a", "b", "c", "tip"]
    assert made(node_names=names, interface=["hub", "tip"])[0].nodes == tuple(names)
    assert made(interface={"hub": 0}, keep=[4])[0].nodes == ("hub", "4")
    assert made(interface=[0], keep={"tip": np.int64(4), "2": 2})[0].nodes == ("0", "tip", "2")
    _, model = made(interface=[0], keep=[])
    assert [name for name in model.frame_names if "/" in name and "mode" not in name] == ["rod/0"]


def block() -> tuple[np.ndarray, dict, dict]:
    """A block of solid elements, and the beam that it is."""
    width, height = 0.03, 0.04
    nodes, M, K = solid((8, 1, 1), (LENGTH, width, height))
    matrices = dict(nodes=nodes, mass=M, stiffness=K)
    same = dict(length=LENGTH, E=YOUNG, density=DENSITY, area=width * height,
                Iy=width * height**3 / 12, Iz=height * width**3 / 12)
    return nodes, matrices, same


def test_solid_elements_bend_as_the_beam_does() -> None:
    nodes, matrices, same = block()
    root, tip = np.flatnonzero(nodes[:, 0] == 0), np.flatnonzero(nodes[:, 0] == LENGTH)
    mechanism = kempe.Mechanism("both")
    mechanism.gravity = (0, 0, 0)
    mechanism.add_body("world")
    mechanism.add_flexible_body("solid", **matrices, interface={"root": root, "tip": tip}, modes=12,
                                keep=[])
    mechanism.add_beam("beam", **same, interface=["end"], modes=12, stiffening=False)
    mechanism.add_fixed("one", parent="world", child="solid")
    mechanism.add_fixed("two", parent="world", child="beam")
    for name, node in (("solid", "tip"), ("beam", "end")):
        mechanism.add_body(f"{name}_load", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
        mechanism.add_fixed(f"{name}_weld", parent=name, parent_node=node, child=f"{name}_load")
    solid_body, beam_body = mechanism.flexible_bodies
    assert solid_body.nodes == ("root", "tip")
    assert solid_body.mass == pytest.approx(beam_body.mass, rel=1e-9)
    assert solid_body.frequencies[:4] == pytest.approx(beam_body.frequencies[:4], rel=0.02)
    model = kempe.Model(mechanism)
    for load in ([0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]):
        q = model.static_deflection(model.neutral(),
                                    external={"solid_load": load, "beam_load": load})
        moves = []
        for body in ("solid_load", "beam_load"):
            R, p = model.frame_placement(q, body)
            moves.append(np.concatenate([p - [LENGTH, 0, 0], R[:, 0] - [1, 0, 0]]))
        assert np.abs(moves[0] - moves[1]).max() < 0.01 * np.abs(moves[1]).max()


def test_sets_of_nodes_are_held_in_the_mean() -> None:
    nodes, matrices, _ = block()
    M, K = matrices["mass"], matrices["stiffness"]
    root = np.flatnonzero(nodes[:, 0] == 0)
    body = kempe.Mechanism().add_flexible_body("solid", **matrices, interface={"root": root},
                                               modes=4, keep=range(len(nodes)))
    # Displacements without mean translation and rotation of the root: a null space.
    centre = nodes[root].mean(axis=0)
    conditions = np.zeros((6, len(K)))
    motions = rigid_motions(nodes[root] - centre, 3)
    conditions[:, (3 * root[:, None] + np.arange(3)).ravel()] = motions.T
    free = np.linalg.svd(conditions)[2][6:].T
    expected = natural_frequencies(free.T @ M @ free, free.T @ K @ free)[:4]
    assert body.frequencies == pytest.approx(expected, rel=1e-7)
    shapes = body.shapes[:, [body.nodes.index(str(i)) for i in range(len(nodes))], :3]
    flat = shapes.reshape(4, -1).T
    assert flat.T @ M @ flat == pytest.approx(np.eye(4), abs=1e-8)
    assert np.abs(conditions @ flat).max() < 1e-9 * np.abs(flat).max()


@pytest.mark.parametrize("changes, reason", [
    ({"modes": 25}, "modes is 25, but 5 nodes have 24"),
    ({"modes": 0}, "modes is 0"),
    ({"interface": [5]}, "node 5, which does not exist"),
    ({"interface": [-1]}, "does not exist"),
    ({"interface": ["tip"]}, "'tip', which is not in node_names"),
    ({"interface": "tip"}, "must be a sequence"),
    ({"interface": [0.5]}, "numbers or names of nodes, not 0.5"),
    ({"interface": {"line": [0, 1, 2]}}, "lie on a line"),
    ({"damping": -1.0}, "damping is -1"),
    ({"mass": np.eye(30) + np.eye(30, k=1)}, "not symmetric"),
    ({"mass": -np.eye(30)}, "mass of node 0 along x is -1"),
    ({"mass": np.zeros((30, 30))}, "must not move without mass"),
    ({"mass": np.eye(29)}, "29 × 29"),
    ({"mass": np.eye(30) * 1j}, "real numbers"),
    ({"mass": [["a"]]}, "real numbers"),
    ({"mass": np.zeros(30)}, "2 dimensions"),
    ({"stiffness": np.full((30, 30), np.nan)}, "holds nan"),
    ({"stiffness": np.eye(30)}, "resists the rigid motion"),
    ({"nodes": np.zeros((5, 2))}, "5 × 2"),
    ({"nodes": np.full((5, 3), np.inf)}, "not finite"),
    ({"node_names": ["a"]}, "1 names for 5 nodes"),
    ({"node_names": ["a", "a", "b", "c", "d"]}, 'two nodes are named "a"'),
])
def test_matrices_of_no_body_are_refused(changes: dict, reason: str) -> None:
    nodes, M, K = beam(4)
    mechanism = kempe.Mechanism()
    arguments = dict(nodes=nodes, mass=M, stiffness=K)
    with pytest.raises((kempe.ModelError, ValueError), match=reason):
        mechanism.add_flexible_body("rod", **{**arguments, **changes})
    assert not mechanism.bodies and not mechanism.flexible_bodies


def test_sparse_matrices_with_wild_indices_are_refused() -> None:
    nodes, M, K = beam(4)
    for part, values in (("indices", 10**6), ("indices", -1), ("indptr", 7), ("shape", (30, 29))):
        wild = Sparse(K)
        setattr(wild, part, np.full_like(getattr(wild, part), values)
                if np.isscalar(values) else values)
        with pytest.raises(ValueError, match="indices outside of its shape"):
            kempe.Mechanism().add_flexible_body("rod", nodes=nodes, mass=M, stiffness=wild)


def written(folder, nodes: np.ndarray, M: np.ndarray, K: np.ndarray) -> dict:
    """Files as scipy writes them: Matrix Market, save_npz of both formats, and plain arrays."""
    rows, columns = np.nonzero(np.tril(M))
    lines = [f"{i + 1} {j + 1} {float(M[i, j])!r}" for i, j in zip(rows, columns, strict=True)]
    (folder / "M.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n%\n"
                                  f"{len(M)} {len(M)} {len(lines)}\n" + "\n".join(lines) + "\n")
    sparse = Sparse(K)
    parts = dict(data=sparse.data, indices=sparse.indices, indptr=sparse.indptr, shape=K.shape)
    np.savez_compressed(folder / "csc.npz", format=b"csc", **parts)
    np.savez(folder / "csr.npz", format="csr", **parts)  # of the transpose, which is the same
    np.savez(folder / "one.npz", K)
    np.save(folder / "K.npy", K)
    np.savez(folder / "coo.npz", format="coo", data=sparse.data, row=[0], col=[0], shape=K.shape)
    np.savez(folder / "two.npz", a=K, b=K)
    (folder / "broken.npz").write_bytes((folder / "csc.npz").read_bytes()[:200])
    (folder / "nodes.csv").write_text("\n".join(",".join(map(repr, map(float, r))) for r in nodes))
    return dict(nodes=folder / "nodes.csv", mass=folder / "M.mtx", stiffness=folder / "csc.npz",
                modes=5, interface=[0])


def test_files_hold_matrices(tmp_path) -> None:
    nodes, M, K = beam(4)
    files = written(tmp_path, nodes, M, K)
    expected = kempe.Mechanism().add_flexible_body("rod", nodes=nodes, mass=M, stiffness=K, modes=5,
                                                   interface=[0])
    for name in ("csc.npz", "csr.npz", "one.npz", "K.npy"):
        body = kempe.Mechanism().add_flexible_body(
            "rod", **{**files, "stiffness": str(tmp_path / name)})
        assert np.array_equal(body.frequencies, expected.frequencies), name
        assert np.array_equal(body.shapes, expected.shapes), name


@pytest.mark.parametrize("file, reason", [
    ("none.mtx", "cannot be read: "), ("none.npz", "cannot be read: "), ("coo.npz", "format coo"),
    ("two.npz", "must be one array"), ("broken.npz", "cannot be read: "),
    ("nodes.csv", "no Matrix Market file"),
])
def test_files_that_hold_no_matrix_are_refused(tmp_path, file: str, reason: str) -> None:
    files = written(tmp_path, *beam(2))
    with pytest.raises((kempe.ModelError, ValueError), match=reason):
        kempe.Mechanism().add_flexible_body("rod", **{**files, "stiffness": tmp_path / file})


def test_a_robot_names_files_of_matrices(tmp_path) -> None:
    nodes, M, K = beam(2)
    files = written(tmp_path, nodes, M, K)
    (tmp_path / "K.mtx").write_text("%%MatrixMarket matrix array real general\n18 18\n"
                                    + "\n".join(repr(float(k)) for k in K.ravel()))
    (tmp_path / "robot.urdf").write_text("""<robot name="r">
<link name="world"/>
<link name="rod">
  <flexible mass="M.mtx" stiffness="K.mtx" nodes="nodes.csv" modes="5" interface="0" keep="2"/>
</link>
<joint name="hinge" type="continuous"><parent link="world"/><child link="rod"/></joint>
</robot>""")
    model = kempe.load(tmp_path / "robot.urdf")
    rod = model.mechanism.flexible_bodies[0]
    expected = kempe.Mechanism().add_flexible_body("rod", **files | {"stiffness": K})
    assert rod.frequencies == pytest.approx(expected.frequencies, rel=1e-9)
    assert rod.nodes == ("0", "2") and model.nv == 6
    with pytest.raises(kempe.ModelError, match="holds beams only"):
        kempe.write_urdf_text(model.mechanism)
