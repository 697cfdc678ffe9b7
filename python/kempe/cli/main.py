"""The program `kempe`: its commands, and the handling of errors."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

import kempe
from kempe.cli import bench, check, convert, info, linearize, modes, simulate, studies, view
from kempe.cli.common import (
    BAD_INPUT,
    EXIT_CODES,
    FAILED,
    FINE,
    INTERRUPTED,
    BadInput,
    Failed,
    complain,
    open_standard_streams,
    warnings_in_words,
)

CANNOT_PRINT = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

DESCRIPTION = "Exact dynamics of robots whose bodies form loops."

EXAMPLES = """examples:
  kempe info tello
  kempe check examples/geared_four_bar_leg.urdf
  kempe simulate six_bar --speed 1 --out run.recording

For the options of a command, run `kempe COMMAND --help`.

"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="kempe", description=DESCRIPTION, epilog=EXAMPLES + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"kempe {kempe.__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (info, check, simulate, linearize, modes, view, convert, bench):
        command = commands.add_parser(
            module.NAME, help=module.SUMMARY, description=module.DESCRIPTION,
            epilog=module.EXAMPLES + "\n" + EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(command)
        command.set_defaults(run=module.run, smaller=module.SMALLER)
    studies.add_paper(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    open_standard_streams()
    arguments = parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # trees are drawn with characters beyond ASCII
    code = outcome(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError) and code == FINE:
            complain(f"standard output: {error.strerror}")
            return FAILED
    return code


def outcome(arguments: argparse.Namespace) -> int:
    """Runs a command and returns the exit code."""
    try:
        with warnings_in_words():
            arguments.run(arguments)
    except BrokenPipeError:
        return FINE  # the reader of the output has closed the pipe
    except (BadInput, OSError) as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in CANNOT_PRINT:
            complain(f"standard output: {error.strerror}")
            return FAILED
        complain(str(error))
        return BAD_INPUT
    except MemoryError:
        complain(f"there is not enough memory. {arguments.smaller}")
        return BAD_INPUT
    except Failed as error:
        for text in error.args:
            complain(text)
        return FAILED
    except (kempe.AssemblyError, kempe.SingularityError) as error:
        complain(str(error))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return FINE
