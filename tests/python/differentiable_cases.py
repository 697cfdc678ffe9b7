"""Every algorithm of kempe.differentiable with its options, for the tests of all adapters."""

import numpy as np

import kempe
from algorithms import constraints_of
from kempe.differentiable import Differentiable, algorithm_names, chosen
from kempe.differentiable_parts import ALGORITHMS

ROBOTS = ["four_bar", "mini_cheetah", "tello", "belt_chain"]

# Algorithms and options; external=n stands for the last n frames.
CASES: list[tuple[str, dict[str, object]]] = [(name, {}) for name in algorithm_names()] + [
    *((name, {"frame_reference": axes})
      for name, entry in ALGORITHMS.items() if "frame_reference" in entry.takes
      for axes in ("local", "world")),
    *((name, {"external": count, "external_reference": axes})
      for name, entry in ALGORITHMS.items() if "external" in entry.takes
      for count, axes in ((1, "local_world_aligned"), (1, "local"), (2, "world"))),
]


def case_name(case: tuple[str, dict[str, object]]) -> str:
    return " ".join([case[0], *(str(one) for one in case[1].values())])


def options_of(model: kempe.Model, case: tuple[str, dict[str, object]]) -> dict[str, object]:
    """The options of a case for a model, with its frames and constraints."""
    name, options = case
    found = dict(options)
    if "frame" in ALGORITHMS[name].needs:
        found["frame"] = model.frame_names[-1]
    if "constraints" in ALGORITHMS[name].needs:
        found["constraints"] = constraints_of(model)
        found["constraints"].stabilize(10.0)
    if "external" in found:
        names = model.frame_names[-found["external"]:]
        found["external"] = names[0] if len(names) == 1 else names
    return found


def state_of(model: kempe.Model) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """A reference, and inputs by name."""
    x, v, tau = np.random.default_rng(4).normal(size=(3, model.nv))
    external = np.random.default_rng(5).normal(size=12)
    inputs = {"x": 0.1 * x, "v": v, "tau": tau, "a": tau, "external": external}
    return model.random_configuration(seed=2), inputs


def prepared(
    model: kempe.Model, case: tuple[str, dict[str, object]]
) -> tuple[Differentiable, dict[str, object], list[np.ndarray]]:
    """The algorithm of a case, all options (with the reference), and its inputs."""
    reference, inputs = state_of(model)
    options = options_of(model, case) | {"reference": reference}
    one = chosen(model, case[0], **options)
    sizes = zip(one.inputs, one.sizes, strict=True)
    return one, options, [inputs[name][:size] for name, size in sizes]
