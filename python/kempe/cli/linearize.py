"""`kempe linearize`: the linear equations of small motions around a state, and their poles."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import kempe
from kempe.cli.common import (
    BadInput,
    Failed,
    add_json_argument,
    add_robot_arguments,
    console,
    counted,
    escaped,
    free_velocities,
    load_robot,
    print_json,
    print_table,
    print_warning,
    print_warnings,
)
from kempe.cli.files import require_writable
from kempe.cli.simulate import starting_state
from kempe.simulation import INTEGRATORS

NAME = "linearize"
SUMMARY = "linearise a robot's motion around a state: matrices A and B, and their poles"
DESCRIPTION = """\
Linearises one step of the simulation around a state: x⁺ = A x + B u, where x = [δq; δv] is a small
deviation from the motion, δq along the tangent (nv numbers, also where q has more), and u = δtau
are forces along the coordinates, constant over the step. With --continuous: dx/dt = A x + B u.

Dry friction that holds a joint has no derivative: --slip-speed makes it smooth, --no-friction
leaves it out.

By default the robot is at rest in its neutral position, and the forces tau balance gravity and
springs there, so that this is an equilibrium. A free base has no motor: unless it is held
(--fixed-base), the robot falls, and its poles are those of small deviations from the fall.

Poles are the eigenvalues of A. Of each are printed: its frequency |s| / 2π in Hz and its damping
ratio −Re s / |s|, with s the continuous pole, of a step s = ln z / dt.

at: neutral; random or random:SEED; positions of joints, JOINT=X,JOINT=X,..., the others neutral and
the loops closed; a file of nq numbers (.txt, .npy); or a recorded run (.recording, .npz), at its
end."""
EXAMPLES = """examples:
  kempe linearize four_bar --continuous
  kempe linearize planar_leg --at random:1 --dt 0.002 --integrator rk4
  kempe linearize tello --fixed-base --output tello.npz
  kempe linearize mini_cheetah --torque none --json
  kempe linearize planar_leg --no-friction --continuous
"""
SMALLER = "Use a robot with fewer bodies, or a smaller -n."  # if memory is short

BALANCED = 1e-8  # accelerations below this, relative to those of the fall, are an equilibrium

DT, INTEGRATOR = 1e-3, "rk4"

ROUNDINGS = 10  # of eigenvalues, in units of n eps
WORST_CONDITION = np.finfo(float).eps ** -0.5  # of an eigenvalue: that of a double one

Array = NDArray[Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.set_defaults(start_option="--at")
    parser.add_argument("--at", default="neutral", metavar="WHERE", dest="start",
                        help="neutral (default), random[:SEED], JOINT=X,..., or a file, see above")
    parser.add_argument("--speed", type=float, default=0.0, metavar="V",
                        help="random velocities of the independent coordinates, up to V rad/s or "
                        "m/s (0)")
    parser.add_argument("--velocity", metavar="JOINT=X,...",
                        help="velocities of joints, in rad/s or m/s, the others at rest as far as "
                        "the loops allow")
    parser.add_argument("--torque", choices=["hold", "none"], default="hold",
                        help="hold (default): forces that keep the joints from accelerating; a "
                        "free base has none; none: no forces")
    parser.add_argument("--dt", type=float, metavar="S",
                        help=f"length of the step in seconds ({DT:g})")
    parser.add_argument("--integrator", choices=list(INTEGRATORS),
                        help=f"of the step ({INTEGRATOR})")
    parser.add_argument("--continuous", action="store_true",
                        help="linearise the equations of motion instead of a step")
    friction = parser.add_mutually_exclusive_group()
    friction.add_argument("--slip-speed", type=float, metavar="V",
                          help="make the dry friction F of the robot's joints smooth: "
                          "F tanh(v / V), with V in rad/s or m/s")
    friction.add_argument("--no-friction", action="store_true",
                          help="leave out the dry friction of the robot's joints")
    parser.add_argument("--output", metavar="FILE.npz",
                        help="write A, B, poles, q, v, tau and the names of the coordinates")
    add_json_argument(parser)


def continuous_poles(poles: Array, dt: float) -> Array:
    """s with z = exp(s dt); of z = 0, which a step damps at once, minus infinity."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(poles.astype(complex)) / dt)


def rounding(A: Array) -> tuple[Array, Array]:
    """The eigenvalues of A, and by how much rounding of A moves each: ε |A| |y| |x| / |yᴴx|, with
    its left and right eigenvectors y and x. Two eigenvalues that coincide have parallel
    eigenvectors, and move by about √ε."""
    poles, right = np.linalg.eig(A)
    U, sizes, Vh = np.linalg.svd(right)
    eps = np.finfo(float).eps
    left = (Vh.conj().T / np.maximum(sizes, eps * sizes.max(initial=0))) @ U.conj().T
    conditions = np.linalg.norm(right, axis=0) * np.linalg.norm(left, axis=1)
    return poles, ROUNDINGS * len(A) * eps * np.linalg.norm(A, 2) * np.minimum(
        conditions, WORST_CONDITION)


def without_rounding(poles: Array, least: Array, *, discrete: bool) -> Array:
    """Parts of poles that are below their rounding are 0; of steps, poles that near 1 are 1."""
    real, imaginary = np.real(poles), np.imag(poles)
    imaginary = np.where(np.abs(imaginary) < least, 0.0, imaginary)
    real = np.where(np.abs(real) < least, 0.0, real)
    if discrete:
        real = np.where((imaginary == 0) & (np.abs(real - 1) < least), 1.0, real)
    return np.asarray(real + 1j * imaginary)


def pole_rows(poles: Array, dt: float | None) -> list[dict[str, float | None]]:
    """One entry for each pole, or for each pair of complex ones; slowest first."""
    rows = []
    continuous = poles.astype(complex) if dt is None else continuous_poles(poles, dt)
    pairs = zip(poles.astype(complex), continuous, strict=True)
    for pole, s in sorted(pairs, key=lambda pair: (abs(pair[1]), pair[0].real, -pair[0].imag)):
        size = float(abs(s))
        row: dict[str, float | None] = {
            "real": float(pole.real), "imaginary": float(pole.imag),
            "frequency": size / (2 * np.pi),
            "damping_ratio": float(-s.real / size) if 0 < size < np.inf else None}
        if dt is not None:
            row |= {"modulus": float(abs(pole)), "continuous_real": float(s.real),
                    "continuous_imaginary": float(s.imag)}
        rows.append(row)
    return rows


def holding_forces(model: kempe.Model, q: Array, v: Array) -> Array:
    """Forces that leave the joints without accelerations; none act on a free base, which falls."""
    free = free_velocities(model)
    driven = np.setdiff1d(np.arange(model.nv), free)
    H, h = model.mass_matrix(q), model.bias_forces(q, v)
    a = np.zeros(model.nv)
    if free:
        a[free] = np.linalg.solve(H[np.ix_(free, free)], -h[free])
    tau = np.zeros(model.nv)
    tau[driven] = (H @ a + h)[driven]
    return tau


def state_of(simulator: kempe.Simulator, model: kempe.Model,
             arguments: argparse.Namespace) -> tuple[Array, Array]:
    q, v, _ = starting_state(model, arguments)
    try:
        simulator.set_state(q, v)
    except (ValueError, kempe.AssemblyError, kempe.SingularityError) as error:
        raise BadInput(f"--at {arguments.start}: {error}") from error
    return np.asarray(simulator.q), np.asarray(simulator.v)


def is_balanced(model: kempe.Model, simulator: kempe.Simulator) -> bool:
    """Whether neither velocities nor accelerations change the state."""
    rest = np.zeros(model.nv)
    fall = np.abs(model.forward_dynamics(simulator.q, rest, rest)).max(initial=0)
    least = BALANCED * max(1.0, float(fall))
    return not simulator.v.any() and float(np.abs(simulator.a).max(initial=0)) <= least


def print_report(report: dict[str, Any]) -> None:
    out = console()
    what = ("the equations of motion" if report["dt"] is None else
            f"a step of {report['dt']:g} s of {report['integrator']}")
    out.print(f"[bold]{escaped(report['robot'])}[/]: {what}, "
              f"{counted(2 * report['nv'], 'state')}, {counted(report['nv'], 'force')}",
              soft_wrap=True)
    if not report["equilibrium"]:
        out.print("  no equilibrium: the state moves on "
                  f"(|v| up to {report['speed']:.3g}, |a| up to {report['acceleration']:.3g})")
    discrete = report["dt"] is not None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in (["pole", "modulus", "continuous pole"] if discrete else ["pole"]) + [
            "frequency, Hz", "damping ratio"]:
        table.add_column(name, justify="right")

    def number(real: float, imaginary: float) -> str:
        real += 0.0  # not −0
        return f"{real:.6g}" if imaginary == 0 else f"{real:.6g} ± {abs(imaginary):.6g}i"

    for row in report["poles"]:
        if row["imaginary"] < 0:
            continue  # the other of a pair
        ratio = "" if row["damping_ratio"] is None else f"{round(row['damping_ratio'], 4) + 0:.4f}"
        cells = [number(row["real"], row["imaginary"])]
        if discrete:
            cells += [f"{row['modulus']:.8g}",
                      number(row["continuous_real"], row["continuous_imaginary"])]
        table.add_row(*cells, f"{row['frequency']:.4f}", ratio)
    print_table(table)
    if report["output"]:
        out.print(f"  [bold]wrote[/] {escaped(report['output'])}", soft_wrap=True)


def run(arguments: argparse.Namespace) -> None:
    if arguments.output is not None:
        require_writable(arguments.output, "--output", (".npz",))
    for option in ("dt", "integrator"):
        if arguments.continuous and getattr(arguments, option) is not None:
            raise BadInput(f"--{option} is for steps; with --continuous there are none")
    length = DT if arguments.dt is None else arguments.dt
    if not (np.isfinite(length) and length > 0):
        raise BadInput(f"--dt: a positive, finite number of seconds is needed, got {length}")
    slip = np.inf if arguments.no_friction else arguments.slip_speed
    if slip is not None and not (slip > 0 and (np.isfinite(slip) or arguments.no_friction)):
        raise BadInput(f"--slip-speed: a number greater than zero is needed, got {slip:g}")
    model = load_robot(arguments)
    print_warnings(model)
    simulator = kempe.Simulator(model, arguments.integrator or INTEGRATOR,
                                friction_slip_speed=0.0 if slip is None else slip)
    q, v = state_of(simulator, model, arguments)
    tau = np.zeros(model.nv)
    if arguments.torque == "hold":
        tau = holding_forces(model, q, v)
    simulator.set_forces(tau)
    try:
        A, B = (simulator.linearize_rates() if arguments.continuous
                else simulator.linearize(length))
        acceleration = float(np.abs(simulator.a).max(initial=0))
        balanced = is_balanced(model, simulator)
    except (ValueError, kempe.AssemblyError, kempe.SingularityError, RuntimeError) as error:
        raise Failed(str(error)) from error
    dt = None if arguments.continuous else length
    poles, least = rounding(A)
    report = {
        "robot": model.name, "at": arguments.start, "nv": model.nv, "dt": dt,
        "integrator": None if dt is None else simulator.integrator_in_use,
        "v_names": model.v_names, "q": q.tolist(), "v": v.tolist(), "tau": tau.tolist(),
        "equilibrium": balanced, "speed": float(np.abs(v).max(initial=0)),
        "acceleration": acceleration, "A": A.tolist(), "B": B.tolist(),
        "poles": pole_rows(without_rounding(poles, least, discrete=dt is not None), dt),
        "output": arguments.output,
    }
    if arguments.output is not None:
        try:
            np.savez(arguments.output, A=A, B=B, poles=poles, q=q, v=v, tau=tau,
                     v_names=np.array(model.v_names), dt=np.nan if dt is None else dt)
        except OSError as error:
            raise Failed(f"--output {arguments.output}: not written: "
                         f"{error.strerror or error}") from error
    if arguments.json:
        print_json(report)
        return
    print_report(report)
    if not balanced and arguments.torque == "hold" and not v.any():
        print_warning("the forces do not balance the robot: it has a free base, which no motor "
                      "holds. Give --fixed-base to hold it.")
