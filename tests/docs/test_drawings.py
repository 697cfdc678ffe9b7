"""The drawings of the pages can be reproduced; the tools check them."""

import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import draw_concepts  # noqa: E402
import draw_leg  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("draw", draw_concepts.ALL, ids=lambda draw: draw.__name__)
def test_drawings(draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_concepts, "DRAWINGS", tmp_path)
    draw()
    (drawing,) = tmp_path.iterdir()
    assert ET.parse(drawing).getroot().tag.endswith("svg")
    assert (ROOT / "docs" / "drawings" / drawing.name).exists()


@pytest.mark.parametrize("name", draw_leg.ALL)
def test_drawings_of_the_leg(name: str) -> None:
    drawing = ET.fromstring(draw_leg.ALL[name]())
    assert drawing.tag == f"{SVG}svg"
    kept = ROOT / "docs" / name
    assert kept.stat().st_size < 1_000_000
    shapes = [element.tag for element in ET.parse(kept).getroot().iter()]
    assert [element.tag for element in drawing.iter()] == shapes


def test_the_animation_repeats_without_a_jump() -> None:
    """Every animation ends where it began, and moving parts have the lengths of their bodies."""
    drawing = ET.fromstring(draw_leg.stride())
    lengths = set()
    for line in drawing.iter(f"{SVG}polyline"):
        (animation,) = line.iter(f"{SVG}animate")
        frames = animation.get("values", "").split(";")
        assert frames[0] == frames[-1] == line.get("points")
        assert len(set(frames)) > 20  # moves
        points = [[tuple(map(float, point.split(","))) for point in frame.split()]
                  for frame in frames]
        lengths |= {round(math.dist(frame[-2], frame[-1])) for frame in points}
    # thigh and rod 250 mm, shank 240 mm, crank 50 mm; the rotor's mark 36 mm
    assert {18, 25, 120, 125} == lengths
