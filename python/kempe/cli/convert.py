"""`kempe convert`: writes a robot to a file of another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import kempe
from kempe.cli.common import (
    BadInput,
    Failed,
    add_json_argument,
    add_mechanism_arguments,
    console,
    ended_at_once_by_ctrl_c,
    escaped,
    print_json,
    print_warning,
    read_robot,
)
from kempe.cli.files import require_writable

NAME = "convert"
SUMMARY = "write a robot to a URDF file, from MJCF, YAML closures or URDF"
DESCRIPTION = """\
Reads a robot and writes it as URDF with the tags of URDF+ and of Kempe, which the C++ library reads
too. Loops, couplings, rods, functions, springs, armatures and frames are kept; relative names of
meshes and textures are those seen from the new file. Lists what the format cannot hold: actuators
and keyframes of MJCF."""
EXAMPLES = """examples:
  kempe convert robot.xml robot.urdf
  kempe convert four_bar four_bar.urdf
  kempe convert mini_cheetah stand.urdf --fixed-base
"""
SMALLER = "Use a robot with fewer bodies."  # if memory is short

MOST_NAMES = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_mechanism_arguments(parser)
    parser.add_argument("output", metavar="OUT.urdf", help="the file to write")
    add_json_argument(parser)


def listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def not_held(mechanism: kempe.Mechanism) -> dict[str, list[str]]:
    """Names of elements that URDF cannot hold, by kind."""
    if not isinstance(mechanism, kempe.mjcf.MjcfMechanism):
        return {}
    found = {"actuators": [actuator.name for actuator in mechanism.actuators],
             "keyframes": list(mechanism.keyframes)}
    return {kind: names for kind, names in found.items() if names}


def run(arguments: argparse.Namespace) -> None:
    output = Path(arguments.output)
    require_writable(arguments.output, "OUT", (".urdf",))
    if output.exists() and Path(arguments.robot).exists() and output.samefile(arguments.robot):
        raise BadInput(f"{output}: that is the file to read. Name another one.")
    with ended_at_once_by_ctrl_c():
        mechanism = read_robot(arguments)
    try:
        text = kempe.write_urdf_text(mechanism, output)
        again = kempe.read_urdf_text(text, str(output))
        again.validate()
    except kempe.ModelError as error:
        raise BadInput(str(error)) from error
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failed(f"{output}: not written: {error.strerror or error}") from error
    lost = not_held(mechanism)
    report: dict[str, Any] = {
        "robot": mechanism.name, "file": str(output), "bodies": len(mechanism.bodies),
        "joints": len(mechanism.joints),
        "loops": sum(len(loops) for loops in (mechanism.loops, mechanism.couplings, mechanism.rods,
                                              mechanism.functions)),
        "not_held": lost, "warnings": [*mechanism.warnings, *again.warnings],
    }
    if arguments.json:
        print_json(report)
        return
    console().print(f"[bold]{escaped(mechanism.name)}[/]: {report['bodies']} bodies, "
                    f"{report['joints']} joints, {report['loops']} loops, written to "
                    f"{escaped(str(output))}", soft_wrap=True)
    for warning in report["warnings"]:
        print_warning(warning)
    for kind, names in lost.items():
        print_warning(f"URDF cannot hold {kind}, which are left out: {listed(names)}")
