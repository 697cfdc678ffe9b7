"""`kempe info`: the structure of a robot."""

from __future__ import annotations

import argparse
import math
import re
import warnings
from typing import Any

import numpy as np
from rich.text import Text

import kempe
from kempe.cli import laws
from kempe.cli.checks import listed, outside_limits
from kempe.cli.common import (
    add_json_argument,
    add_robot_arguments,
    console,
    load_robot,
    print_json,
    print_warning,
    print_warnings,
)

NAME = "info"
SUMMARY = "show a robot's bodies, joints, loops and degrees of freedom as a tree"
DESCRIPTION = """\
Shows a robot's bodies, joints, loops, clusters, degrees of freedom (DoF), folded rotors and masses
as a tree. Warnings go to standard error; they include joint limits that the neutral or random
configurations violate."""
EXAMPLES = """examples:
  kempe info tello
  kempe info examples/geared_four_bar_leg.urdf
  kempe info geared_chain -n 3 --keep-rotors
  kempe info four_bar --json
"""
SMALLER = "Use a robot with fewer bodies, or a smaller -n."  # if memory is short

DRAWS = 20  # random configurations that are compared with the limits

COLOURS = [  # of parts of the tree, as str(model) writes it
    (re.compile(r"[│├└─]+"), "dim"),
    (re.compile(r"(?<=─ )cluster on .*?:"), "bold cyan"),
    (re.compile(r"\bloops: .*|^left cut: .*"), "magenta"),
    (re.compile(r"\[[^][]*: \w+\]"), "green"),
    (re.compile(r"\bfolded$"), "yellow"),
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_json_argument(parser)


def coloured(model: kempe.Model) -> Text:
    title, *lines = str(model).rstrip().splitlines()
    text = Text(title, style="bold")
    for line in lines:
        part = Text(line, style="not bold")
        for pattern, style in COLOURS:
            for match in pattern.finditer(line):
                part.stylize(style, *match.span())
        text.append("\n").append_text(part)
    return text


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def limits_violated(model: kempe.Model) -> dict[str, Any]:
    """Joint limits that the neutral and some random configurations violate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kempe.LimitsWarning)  # it is printed below
        try:
            q = model.random_configuration(0, DRAWS)
        except kempe.AssemblyError:
            q = np.empty((0, model.nq))
        outside = [len(violations) for violations in laws.beyond_limits(model, q)]
        return outside_limits(model, 0, np.array(outside, int))


def print_limits(model: kempe.Model) -> None:
    found = limits_violated(model)
    if found["neutral"]:
        print_warning(f"the neutral configuration is outside limits: {listed(found['neutral'])}")
    if found["random_outside"]:
        print_warning(
            f"{found['random_outside']} of {DRAWS} random configurations are outside limits, for "
            f"instance seed {found['random_seed']}: {listed(found['random'])}")


def described(model: kempe.Model) -> dict[str, Any]:
    """The content of --json."""
    mechanism = model.mechanism
    return {
        "robot": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "nq_spanning": model.nq_spanning,
        "nv_spanning": model.nv_spanning,
        "total_mass": model.total_mass,
        "gravity": list(map(float, model.gravity)),
        "q_names": list(model.q_names),
        "v_names": list(model.v_names),
        "actuated": list(model.actuated),
        "folded_rotors": list(model.folded_rotors),
        "cut_loops": list(model.cut_loops),
        "bodies": [{"name": body.name, "mass": body.mass,
                    "center_of_mass": list(map(float, body.center_of_mass))}
                   for body in mechanism.bodies],
        "joints": [{"name": joint.name, "type": joint.type, "parent": joint.parent,
                    "child": joint.child, "lower": finite(joint.lower),
                    "upper": finite(joint.upper)} for joint in mechanism.joints],
        "clusters": [{"bodies": cluster.bodies, "joints": cluster.joints, "loops": cluster.loops,
                      "independent": cluster.independent, "output_body": cluster.output_body,
                      "mobility": cluster.mobility, "redundant_rows": cluster.redundant_rows}
                     for cluster in model.clusters],
        "flexible_bodies": [{"name": body.name, "nodes": list(body.nodes),
                             "frequencies": list(map(float, body.frequencies))}
                            for body in mechanism.flexible_bodies],
        "warnings": list(model.warnings),
        "outside_limits": limits_violated(model),
    }


def run(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments)
    if arguments.json:
        print_json(described(model))
    else:
        console().print(coloured(model), soft_wrap=True)
        print_warnings(model)
        print_limits(model)
