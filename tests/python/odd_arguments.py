"""Calls every function of a model with odd arguments. A program of its own: a crash must not take
the tests with it. Prints how many calls were answered and refused; ends with an error at the first
one that is neither."""

import array
import datetime
import decimal
import fractions
import sys
import warnings
from collections.abc import Callable

import numpy as np

import kempe

ARRAYS = {"q", "v", "a", "tau", "x", "spanning", "start", "end", "velocities", "multipliers"}

# Functions of Model and their arguments. Those with * have out=.
FUNCTIONS = {
    "inverse_dynamics*": ("q", "v", "a", "external"),
    "forward_dynamics*": ("q", "v", "tau", "external"),
    "inverse_dynamics_derivatives": ("q", "v", "a", "external"),
    "forward_dynamics_derivatives": ("q", "v", "tau", "external"),
    "inverse_dynamics_second_derivatives": ("q", "v", "a", "v"),
    "inverse_dynamics_hessian_product": ("q", "v", "a", "v", "v", "v", "a"),
    "bias_forces*": ("q", "v", "external"),
    "gravity_forces*": ("q",),
    "generalized_forces*": ("q", "spanning"),
    "mass_matrix*": ("q",),
    "inverse_mass_matrix*": ("q",),
    "apply_inverse_mass_matrix*": ("q", "x"),
    "coriolis_matrix*": ("q", "v"),
    "inverse_operational_inertia*": ("q", "frames"),
    "joint_forces": ("q", "v", "tau", "external"),
    "loop_forces": ("q", "v", "tau", "external"),
    "forces": ("q", "v", "tau", "external"),
    "forward_kinematics": ("q", "frames"),
    "frame_placement": ("q", "frame"),
    "frame_velocity*": ("q", "v", "frame"),
    "frame_acceleration*": ("q", "v", "a", "frame"),
    "frame_jacobian*": ("q", "frame"),
    "frame_jacobian_rate*": ("q", "v", "frame"),
    "frame_velocity_derivatives": ("q", "v", "frame"),
    "frame_acceleration_derivatives": ("q", "v", "a", "frame"),
    "frame_jacobian_time_derivative*": ("q", "v", "frame"),
    "center_of_mass*": ("q",),
    "center_of_mass_velocity*": ("q", "v"),
    "center_of_mass_acceleration*": ("q", "v", "a"),
    "center_of_mass_velocity_derivatives": ("q", "v"),
    "center_of_mass_acceleration_derivatives": ("q", "v", "a"),
    "gravity_forces_derivatives*": ("q",),
    "center_of_mass_jacobian*": ("q",),
    "all_terms": ("q", "v"),
    "momentum*": ("q", "v"),
    "momentum_rate*": ("q", "v", "a"),
    "momentum_derivatives": ("q", "v"),
    "momentum_rate_derivatives": ("q", "v", "a"),
    "centroidal_momentum_matrix*": ("q",),
    "energy": ("q", "v"),
    "project*": ("q",),
    "static_deflection*": ("q", "tau", "external"),
    "integrate*": ("q", "v", "dt"),
    "difference*": ("start", "end"),
    "spanning": ("q", "v"),
    "spanning_positions*": ("q",),
    "constraint_jacobian*": ("q",),
    "constraint_bias*": ("q", "v"),
    "constraint_jacobian_rate*": ("q", "v"),
    "loop_residual*": ("q",),
    "constrained_forward_dynamics": ("q", "v", "tau", "constraints"),
    "constrained_forward_dynamics_derivatives": ("q", "v", "tau", "constraints"),
    "project_velocities_derivatives": ("q", "v", "constraints"),
    "constraint_errors": ("q", "constraints"),
    "constraint_velocity_errors": ("q", "v", "constraints"),
    "constraint_rows": ("q", "constraints"),
    "project_positions": ("q", "constraints"),
    "project_velocities": ("q", "v", "constraints"),
    "constraint_wrench": ("q", "multipliers", "constraints", "name"),
    "neutral": (),
    "configuration": ("named",),
    "velocity": ("q", "named"),
    "random_configuration": ("seed", "size"),
    "with_independent": ("coordinates",),
    "frame_index": ("name",),
    "joint_position_index": ("name",),
    "joint_velocity_index": ("name",),
    "seconds_per_call": ("algorithm", "q", "v", "x"),
}

REFUSALS = (TypeError, ValueError, kempe.AssemblyError, kempe.SingularityError, kempe.ModelError)


class Raising:
    """Fails on every access."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("no array \udc80 for you")

    def __repr__(self) -> str:
        raise ValueError("no name \udc80 either")


class Lying:
    """Returns something that is not an array from __array__."""

    def __array__(self, *_: object, **__: object) -> object:
        return "text"


class OnlyDlpack:
    """Provides its numbers by DLPack only."""

    def __init__(self, numbers: np.ndarray) -> None:
        self._numbers = numbers

    def __dlpack__(self, **options: object) -> object:
        return self._numbers.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self._numbers.__dlpack_device__()


class Subclass(np.ndarray):
    pass


def unaligned(x: np.ndarray) -> np.ndarray:
    raw = np.zeros(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def field_of_records(x: np.ndarray) -> np.ndarray:
    """Strides that are not a multiple of the size of a number."""
    records = np.zeros(x.shape, [("tag", np.uint8), ("number", np.float64)])
    records["number"] = x
    return records["number"]


def wide_apart(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((x.size, 4099))
    wide[:, 7] = x.ravel()
    return wide[:, 7].reshape(x.shape) if x.ndim == 1 else wide[:, 7]


def frozen(x: np.ndarray) -> np.ndarray:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


# The same numbers as other types: must be accepted with the right result, or refused.
GUISES: list[Callable[[np.ndarray], object]] = [
    lambda x: x.tolist(), lambda x: tuple(x.tolist()), lambda x: x.astype(np.float32),
    lambda x: x.astype(np.float16), lambda x: x.astype(np.longdouble), lambda x: x.astype(">f8"),
    lambda x: x.astype(">f4"), lambda x: x.astype(complex), lambda x: x.astype(object),
    lambda x: x.astype(str), lambda x: x.astype(bytes), lambda x: x.astype(bool),
    lambda x: x.astype(int), lambda x: x.astype("m8[s]"), lambda x: x.astype("M8[s]"),
    lambda x: x.astype([("f", float)]), lambda x: np.matrix(x), lambda x: x.view(Subclass),
    lambda x: np.ma.masked_array(x), lambda x: memoryview(x), lambda x: memoryview(x.tobytes()),
    lambda x: array.array("d", x.ravel()), lambda x: array.array("f", x.ravel()), unaligned,
    field_of_records, wide_apart, frozen, lambda x: x[::-1], lambda x: x[..., ::-1],
    lambda x: x[..., None], lambda x: x[None], lambda x: x[None, None], lambda x: x[:, None, None],
    lambda x: x[..., :-1], lambda x: np.repeat(x[None], 3, 0), lambda x: np.repeat(x[None], 0, 0),
    lambda x: np.broadcast_to(x, (5, *x.shape)), lambda x: np.asfortranarray(np.stack([x, x])),
    lambda x: x.reshape((1,) * 30 + x.shape), lambda x: np.full_like(x, np.nan),
    lambda x: np.full_like(x, np.inf), lambda x: np.full_like(x, 1e308), lambda x: 0 * x,
    lambda x: x.tobytes(), lambda x: bytearray(x.tobytes()), lambda x: iter(x), lambda x: set(x),
    OnlyDlpack, lambda x: OnlyDlpack(x.astype(np.int32)), lambda x: OnlyDlpack(frozen(x)),
    lambda x: x.__array_interface__, lambda x: x.__dlpack__(), lambda x: dict(enumerate(x)),
    lambda x: [decimal.Decimal(y) for y in x], lambda x: [fractions.Fraction(1, 3)] * len(x),
    lambda x: {"f": x},
]

# Objects that are not valid arrays for a model.
THINGS: list[object] = [
    None, 0, 1, -1, 2**70, 1.5, float("nan"), True, 1j, "", "text", "\udc80", "\0", b"bytes", (),
    [], {}, set(), object(), Ellipsis, NotImplemented, slice(3), range(3), len, Raising(), Lying(),
    np.timedelta64(3), np.datetime64("2020-01-01"), np.timedelta64("NaT"), np.float64(3),
    np.float32(3), np.int8(3), np.bool_(True), np.complex128(1), np.str_("s"), np.bytes_(b"s"),
    np.void(b"1234567\0"), np.longdouble(1), np.array(3.0), np.array(None), np.array([]),
    np.empty((0, 0)), np.empty((0, 5)), np.zeros((2, 2, 2)), np.dtype(float), np.float64, np,
    np.array([object()]), np.array(["a"]), np.rec.array([(1, 2.0)]),
    datetime.date(2020, 1, 1), datetime.timedelta(3), decimal.Decimal(1), memoryview(b""),
    array.array("d"), np.random.default_rng(0), sys, {"torso": np.timedelta64(3)}, {0: None},
    {None: np.zeros(6)}, {0: np.zeros(6, "m8[s]")}, {0: Raising()}, {Raising(): np.zeros(6)},
    [None], ["\udc80"], [Raising()], [0, 0], [10**30],
]


def good_arguments(model: kempe.Model, constraints: kempe.Constraints) -> dict[str, object]:
    random = np.random.default_rng(0)
    q = model.random_configuration(3)
    good: dict[str, object] = {name: random.uniform(-1, 1, model.nv) for name in ARRAYS}
    return good | {
        "q": q, "start": q, "end": model.random_configuration(4), "dt": 0.01,
        "spanning": random.uniform(-1, 1, model.nv_spanning),
        "multipliers": random.uniform(-1, 1, constraints.rows), "constraints": constraints,
        "external": {model.body_names[-1]: np.ones(6)}, "frame": model.body_names[-1],
        "frames": list(model.body_names[:2]), "name": model.body_names[0], "seed": 1, "size": 2,
        "coordinates": list(model.v_names), "algorithm": "mass_matrix",
        "named": {model.v_names[-1]: 0.1}}


def odd(random: np.random.Generator, good: object) -> object:
    while isinstance(good, np.ndarray) and random.random() < 0.6:
        try:
            return GUISES[random.integers(len(GUISES))](good)
        except (TypeError, ValueError, BufferError):  # this conversion is not possible
            continue
    return THINGS[random.integers(len(THINGS))]


def try_calls(model: kempe.Model, calls: int, seed: int) -> tuple[int, int]:
    """Number of calls that were accepted, and that were refused."""
    constraints = kempe.Constraints(model)
    constraints.rod("thread", predecessor_point=(0.3, 0.4, 3.0), successor=model.body_names[-1],
                    successor_point=(0.05, 0.02, 0.01), length=3.0)
    good = good_arguments(model, constraints)
    random = np.random.default_rng(seed)
    answered = refused = 0
    for number in range(calls):
        key = list(FUNCTIONS)[number % len(FUNCTIONS)]
        name, has_out, arguments = key.rstrip("*"), key.endswith("*"), FUNCTIONS[key]
        wrong = random.integers(len(arguments) + has_out) if arguments or has_out else -1
        values = [odd(random, good[argument])
                  if i == wrong or random.random() < 0.1 else good[argument]
                  for i, argument in enumerate(arguments)]
        options = {}
        if has_out and wrong == len(arguments):
            options["out"] = odd(random, good["v"])
        try:
            getattr(model, name)(*values, **options)
            answered += 1
        except REFUSALS as error:
            str(error)
            refused += 1
        except BaseException:
            kinds = [type(value) for value in values]
            print(f"seed {seed}, call {number}: {name} of {kinds}, {options}", file=sys.stderr)
            raise
    return answered, refused


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    totals = np.zeros(2, int)
    for index, robot in enumerate(sys.argv[2:]):
        totals += try_calls(kempe.robots.load(robot), int(sys.argv[1]), index)
    print(*totals)
