"""Every example runs, in C++ and in Python, with the same output."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build" / "release" / "examples"
NAMES = sorted({path.stem for path in (ROOT / "examples").iterdir()
                if path.suffix in {".cpp", ".py"}})


def printed(command: list[str]) -> str:
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    # Residuals are rounding errors; the rest must agree to the last letter.
    return re.sub(r"\d\.\de[-+]\d\d", "RESIDUAL", result.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_twins_agree(name: str) -> None:
    from_cpp = printed([str(PROGRAMS / name)])
    from_python = printed([sys.executable, str(ROOT / "examples" / f"{name}.py")])
    assert "RESIDUAL" in from_cpp
    assert from_cpp == from_python


def test_there_are_examples() -> None:
    assert NAMES
