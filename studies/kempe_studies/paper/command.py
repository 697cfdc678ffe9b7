"""`kempe paper`: reproduces the results of the paper that Kempe builds on."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kempe.cli.common import (
    EXIT_CODES,
    BadInput,
    Failed,
    add_json_argument,
    console,
    escaped,
    print_json,
    progress_bar,
)
from kempe.cli.files import optional_packages

if TYPE_CHECKING:
    from kempe_studies.paper.peers import Peer

DESCRIPTION = """\
Reproduces the results of M. Chignoli, N. Adrian, S. Kim and P. M. Wensing, "Recursive Rigid-Body
Dynamics Algorithms for Systems with Kinematic Loops" (2023), and compares them with the paper's:
times of all methods on six robots (Tables II to IV, Figs. 9, 10, 12) and on chains of up to 200
links (Figs. 11, 13), torque errors of approximations (Fig. 14), and their effect on a controller.
Writes a page, index.html, with its figures as PNG and all numbers in results.json. Takes about four
minutes on an otherwise idle machine; --quick takes about 15 seconds and only shows that everything
works. If the package `pinocchio` is installed (pip install pin), it is included in the comparison.
Needs pip install "kempe[plot]"."""
EXAMPLES = """examples:
  kempe paper --quick
  kempe paper --out report
  kempe paper --quick --json
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kempe paper", description=DESCRIPTION, epilog=EXAMPLES + "\n" + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="FOLDER", default="paper",
                        help="folder for the page; created if it does not exist (paper)")
    parser.add_argument("--quick", action="store_true",
                        help="fewer repetitions and shorter chains")
    parser.add_argument("--pinocchio", metavar="LIBRARY",
                        help="Pinocchio compiled for this machine, as built by `make paper`")
    add_json_argument(parser)
    return parser


def chosen_peer(library: str | None) -> Peer:
    from kempe_studies.paper import peers

    if library is None:
        return peers.installed_pinocchio()
    try:
        return peers.compiled_pinocchio(str(Path(library).resolve()))
    except (OSError, AttributeError) as error:
        raise BadInput(f"--pinocchio {library}: not a library that `make paper` compiled: {error}"
                       ) from error


def own_folder(path: str) -> Path:
    """Checks before the measurements that the folder can be written to and does not contain
    another page."""
    if not path:
        raise BadInput("--out: the name of a folder is needed")
    folder = Path(path)
    pages = [folder / name for name in ("index.html", "index.md")]
    if any(page.exists() for page in pages) and not (folder / "results.json").is_file():
        raise BadInput(f"--out {path}: there is another page in it already. Name a new folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "results.json", "ab") as probe:
            new = probe.tell() == 0
        if new:
            (folder / "results.json").unlink()
    except OSError as error:
        raise BadInput(f"--out {path}: cannot be written: {error.strerror}") from error
    return folder


def require_matplotlib() -> None:
    with optional_packages("plot"):
        try:
            importlib.import_module("matplotlib.figure")
        except ImportError:
            raise
        except Exception as error:
            raise BadInput(f"matplotlib does not start: {error}") from error


def main(argv: Sequence[str]) -> None:
    arguments = parser().parse_args(argv)
    require_matplotlib()
    from kempe_studies.paper import study
    from kempe_studies.paper.page import Page

    peer = chosen_peer(arguments.pinocchio)
    folder = own_folder(arguments.out)
    extent = study.QUICK if arguments.quick else study.FULL
    whole = extent.robot_seconds + extent.chain_seconds
    shares = {"robots": (0.0, extent.robot_seconds / whole),
              "chains": (extent.robot_seconds / whole, extent.chain_seconds / whole)}
    with progress_bar("measuring") as done:
        results = study.run(extent, peer, lambda part, fraction: done(
            shares[part][0] + fraction * shares[part][1] if part in shares else 1.0))
    page = Page(results, folder)
    page.write_numbers()
    try:
        path = page.write()
    except OSError:
        raise
    except Exception as error:  # of matplotlib; the measurements are not lost
        raise Failed(f"the page could not be drawn: {error}. "
                     f"The numbers are in {folder / 'results.json'}") from error
    if arguments.json:
        print_json({"page": str(path), **results.report()})
    else:
        console().print(f"The page: {escaped(str(path))}", soft_wrap=True)
