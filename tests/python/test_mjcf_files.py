"""MJCF files that are refused before MuJoCo sees them, and without MuJoCo."""

import os
import sys
import time
from pathlib import Path

import pytest
from program import kempe_program

import kempe

ROBOT = """<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>"""


def message(file: Path, text: str) -> str:
    file.write_text(text)
    started = time.monotonic()
    with pytest.raises(kempe.ModelError) as caught:
        kempe.load(file)
    assert time.monotonic() - started < 5
    return str(caught.value)


def test_without_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    file = tmp_path / "robot.xml"
    text = message(file, ROBOT)
    assert text.startswith(f"{file}: ") and 'pip install "kempe[mjcf]"' in text


def test_without_mujoco_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT)
    result = kempe_program("info", file, folder=tmp_path, without="mujoco")
    assert result.returncode == 2 and 'pip install "kempe[mjcf]"' in result.stderr


@pytest.mark.parametrize("text, reason", [
    ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>', "robot.xml:1: has a DOCTYPE"),
    ("<mujoco><worldbody></mujoco>", "robot.xml:1: is not well-formed XML"),
    ("", "is not well-formed XML"),
    ('<robot name="r"><link name="a"/></robot>', "root element is <robot>"),
    ('<mujoco><worldbody><replicate count="1000000000"><geom size="1"/></replicate></worldbody>'
     "</mujoco>", "<replicate>: more than 1000000 elements"),
    ("<mujoco><worldbody>" + '<replicate count="2000">' * 2 + '<geom size="1"/>'
     + "</replicate>" * 2 + "</worldbody></mujoco>", "more than 1000000 elements"),
    ('<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'
     "</mujoco>", 'robot.xml:1: <hfield> "h": more than'),
    ('<mujoco><worldbody><flexcomp count="9999 9999 9999"/></worldbody></mujoco>',
     "<flexcomp>: count"),
    ('<mujoco><size nkey="2000000000"/></mujoco>', '<size>: nkey="2000000000" is more than'),
])
def test_refused_at_once(text: str, reason: str, tmp_path: Path) -> None:
    assert reason in message(tmp_path / "robot.xml", text)


def test_replication_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        '<mujoco><replicate count="1000000000"><geom size="1"/></replicate></mujoco>')
    text = message(tmp_path / "robot.xml",
                   '<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>')
    assert "part.xml:1: <replicate>" in text


@pytest.mark.parametrize("text", [
    '<asset><mesh file="/dev/zero"/></asset>',
    '<compiler meshdir="/dev"/><asset><mesh file="zero"/></asset>',
    '<include file="/dev/zero"/>',
    '<asset><texture type="2d" file="pipe"/></asset>',
    '<include file="pipe"/>',
])
def test_endless_files(text: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in message(
        tmp_path / "robot.xml", f"<mujoco>{text}</mujoco>")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def error(path: Path) -> str:
        with pytest.raises(kempe.ModelError) as caught:
            kempe.load(path)
        return str(caught.value)

    assert "none.xml: cannot be read: No such file" in error(tmp_path / "none.xml")
    (tmp_path / "folder.xml").mkdir()
    assert "is a folder" in error(tmp_path / "folder.xml")
    os.mkfifo(tmp_path / "pipe.xml")
    assert "is not a regular file" in error(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "pipe.urdf")
    assert "is not a regular file" in error(tmp_path / "pipe.urdf")
    (tmp_path / "loop.xml").symlink_to(tmp_path / "loop.xml")
    assert "loop.xml: cannot be read" in error(tmp_path / "loop.xml")
    assert "cannot be read" in error(tmp_path / f"{'x' * 5000}.xml")
    assert "is not a regular file" not in message(
        tmp_path / "long.xml", f"<mujoco><asset><mesh file='{'x' * 5000}.obj'/></asset></mujoco>")
    with (tmp_path / "large.xml").open("wb") as file:
        file.truncate(65 * 2**20)
    assert "at most 67108864 are read" in error(tmp_path / "large.xml")
