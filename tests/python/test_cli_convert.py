"""`kempe convert`."""

import json
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program

import kempe


@pytest.mark.parametrize("robot", ["four_bar", "tello"])
def test_bundled_robots(robot: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    result = kempe_program("convert", robot, file)
    assert result.returncode == 0, result.stderr
    assert f"written to {file}" in result.stdout
    model, same = kempe.robots.load(robot), kempe.load(file, merge_gimbals=False)
    q = model.random_configuration(1)
    np.testing.assert_allclose(same.mass_matrix(q), model.mass_matrix(q), atol=1e-9)


def test_json(tmp_path: Path) -> None:
    result = kempe_program("convert", ROOT / "examples" / "geared_four_bar_leg.urdf",
                           tmp_path / "out.urdf", "--json")
    report = json.loads(result.stdout)
    assert report["file"] == str(tmp_path / "out.urdf") and report["not_held"] == {}
    assert report["loops"] > 0


def test_errors(tmp_path: Path) -> None:
    def error(*arguments: str | Path) -> str:
        result = kempe_program("convert", *arguments)
        assert result.returncode == 2 and "Traceback" not in result.stderr
        return result.stderr

    assert "neither a file nor a bundled robot" in error("no_robot", tmp_path / "out.urdf")
    assert "must end in .urdf" in error("four_bar", tmp_path / "out.xml")
    assert "there is no folder" in error("four_bar", tmp_path / "none" / "out.urdf")
    file = tmp_path / "same.urdf"
    kempe.write_urdf(kempe.robots.mechanism("four_bar"), file)
    assert "that is the file to read" in error(file, file)
    assert kempe.load(file).nv == 1
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot>")
    assert "broken.urdf" in error(broken, tmp_path / "out.urdf")
