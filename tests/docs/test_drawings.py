"""The drawings of the pages can be drawn again; what they show is checked on the way."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import draw_concepts  # noqa: E402


@pytest.mark.parametrize("draw", draw_concepts.ALL, ids=lambda draw: draw.__name__)
def test_drawings(draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_concepts, "DRAWINGS", tmp_path)
    draw()
    (drawing,) = tmp_path.iterdir()
    assert ET.parse(drawing).getroot().tag.endswith("svg")
    assert (ROOT / "docs" / "drawings" / drawing.name).exists()
