"""Runs the program `kempe` as users do."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "kempe"
ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "studies"


def kempe_program(*arguments: str | Path, folder: Path = ROOT,
                  without: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it without a terminal, and without a package; the studies are found from any folder."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([str(STUDIES), environment.get("PYTHONPATH", "")])
    if without:
        hidden = folder / "hidden" / f"{without}.py"
        hidden.parent.mkdir(exist_ok=True)
        hidden.write_text(f'raise ModuleNotFoundError("{without} is hidden", name="{without}")')
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(hidden.parent), environment.get("PYTHONPATH", "")])
    return subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=folder, capture_output=True,
                          text=True, timeout=60, check=False, env=environment)
