"""`kempe info`: the tree of a robot."""

import json
from pathlib import Path

from program import kempe_program

import kempe


def test_prints_the_model() -> None:
    result = kempe_program("info", "four_bar")
    assert result.returncode == 0
    assert result.stdout.rstrip() == str(kempe.robots.load("four_bar")).rstrip()


def test_long_lines_stay_whole() -> None:
    assert kempe_program("info", "tello").stdout.rstrip() == str(
        kempe.robots.load("tello")).rstrip()


def test_of_a_file_prints_its_warnings(tmp_path: Path) -> None:
    file = tmp_path / "planar_leg.urdf"
    kempe.write_urdf(kempe.robots.mechanism("planar_leg"), file)
    result = kempe_program("info", file)
    assert result.returncode == 0
    model = kempe.load(file)
    assert result.stdout.rstrip() == str(model).rstrip()
    assert model.warnings
    for warning in model.warnings:
        assert warning in result.stderr


def test_of_a_chain() -> None:
    assert "3 DoFs" in kempe_program("info", "geared_chain", "-n", "3").stdout


def test_keeps_rotors() -> None:
    assert "0 folded rotors" in kempe_program("info", "geared_chain", "--keep-rotors").stdout


def test_holds_a_free_base() -> None:
    assert "18 DoFs" in kempe_program("info", "tello", "--fixed-base").stdout


def test_json_tells_all() -> None:
    report = json.loads(kempe_program("info", "tello", "--json").stdout)
    model = kempe.robots.load("tello")
    assert (report["nq"], report["nv"]) == (model.nq, model.nv)
    assert report["q_names"] == model.q_names
    assert sum(body["mass"] for body in report["bodies"]) == model.total_mass
    assert len(report["joints"]) == len(model.mechanism.joints)
    assert [cluster["loops"] for cluster in report["clusters"]] == [
        cluster.loops for cluster in model.clusters]
    assert set(report["folded_rotors"]) == set(model.folded_rotors)
    assert report["joints"][0]["lower"] is None  # JSON has no infinity


def test_names_loops_left_cut(tmp_path: Path) -> None:
    mechanism = kempe.robots.mechanism("four_bar")
    mechanism.loops[0].cut = True
    file = tmp_path / "cut.urdf"
    kempe.write_urdf(mechanism, file)
    name = mechanism.loops[0].name
    assert kempe_program("info", file).stdout.splitlines()[-1] == f"left cut: {name}"
    assert json.loads(kempe_program("info", file, "--json").stdout)["cut_loops"] == [name]
