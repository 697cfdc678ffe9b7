"""Studies of Kempe's repository that the program runs there; they are not part of the package."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from kempe.cli.common import BadInput

PACKAGE = "kempe_studies"
PAPER = "paper"
PAPER_SUMMARY = "reproduce the results of the paper that Kempe builds on (in Kempe's repository)"


def checkout() -> Path | None:
    """Kempe's repository, if the current folder is in it."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents)
                 if (folder / "studies" / PACKAGE / "__init__.py").is_file()), None)


def study(name: str) -> ModuleType:
    """A module of the studies. Raises ModuleNotFoundError outside the repository."""
    repository = checkout()
    if repository is not None and str(repository / "studies") not in sys.path:
        sys.path.append(str(repository / "studies"))
    return importlib.import_module(f"{PACKAGE}.{name}")


def add_paper(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `kempe paper`, whose arguments the study itself reads."""
    command = commands.add_parser(PAPER, help=PAPER_SUMMARY, add_help=False, prefix_chars="\0")
    command.add_argument("rest", nargs=argparse.REMAINDER)
    command.set_defaults(run=run_paper, smaller="Use --quick.")


def run_paper(arguments: argparse.Namespace) -> None:
    try:
        command = study("paper.command")
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        raise BadInput("paper: this study is part of Kempe's repository, not of the installed "
                       "package. Run `kempe paper` in a clone of the repository.") from error
    command.main(arguments.rest)
