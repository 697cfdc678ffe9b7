"""The program `kempe` as people start it."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "kempe"
ROOT = Path(__file__).resolve().parents[2]


def kempe_program(*arguments: str | Path, folder: Path = ROOT,
                  timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs it without a terminal."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=folder, capture_output=True,
                          text=True, timeout=timeout, check=False)
