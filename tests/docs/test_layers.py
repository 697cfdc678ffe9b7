"""Files under src/ include one another in one direction, and the tool that checks it can fail."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402


def test_the_source_keeps_the_order() -> None:
    assert check_layers.problems(ROOT / "src") == []


@pytest.mark.parametrize("file, line, reason", [
    ("tables/tables.hpp", '#include "kernels/outward.hpp"', "tables must not include"),
    ("model/compile.cpp", '#  include "simulation/events.hpp"', "model must not include"),
    ("batch/batch.cpp", '#include "simulation/events.hpp"', "batch must not include"),
    ("io/urdf.cpp", '#include "loops/rank.hpp"', "io must not include"),
    ("loops/rank.cpp", '#include "rank.hpp"', "must be given from src/"),
    ("attic/old.cpp", "int x;", "no place in the order"),
    ("kernels/outward.hpp", '#include "kempe/simulator.hpp"', "kernels must not include"),
    ("tables/tables.hpp", '#include "kempe/model.hpp"', "which is implemented in model"),
    ("algorithms/energy.cpp", '#include "kempe/batch.hpp"', "algorithms must not include"),
    ("simulation/run.cpp", '#include "kempe/kempe.hpp"', "simulation must not include"),
    ("model/model.cpp", '#include "kempe/forgotten.hpp"', "no place in the order"),
])
def test_an_include_against_the_order_is_reported(tmp_path: Path, file: str, line: str,
                                                  reason: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(f'#include "kempe/errors.hpp"\n#include "kempe/spatial/select.hpp"\n{line}\n')
    (problem,) = check_layers.problems(tmp_path)
    assert reason in problem and file in problem


def test_every_public_header_has_a_place() -> None:
    headers = {path.relative_to(ROOT / "include" / "kempe").parts[0].removesuffix(".hpp")
               for path in (ROOT / "include" / "kempe").rglob("*.hpp")}
    assert headers == set(check_layers.PUBLIC)


def test_the_drawing_is_that_of_today() -> None:
    """Run tools/check_layers.py --draw after a change."""
    assert (ROOT / "docs" / "drawings" / "layers.svg").read_text() == check_layers.drawing(
        ROOT / "src")
