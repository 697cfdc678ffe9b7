#!/usr/bin/env python3
"""Copies the page that `make paper` wrote to build/paper/ into the documentation, docs/paper/."""

import json
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
COLOURS = 64  # enough for lines and bars, and small files


def main() -> None:
    source, target = ROOT / "build" / "paper", ROOT / "docs" / "paper"
    results = source / "results.json"
    if not results.is_file():
        raise SystemExit("build/paper/ has no results; run `make paper` first")
    if json.loads(results.read_text(encoding="utf-8"))["quick"]:
        raise SystemExit("build/paper/ is from a quick run; a full run is needed")
    target.mkdir(exist_ok=True)
    for path in target.glob("*.png"):
        path.unlink()
    (target / "index.md").write_bytes((source / "index.md").read_bytes())
    for path in source.glob("*.png"):
        with Image.open(path) as drawing:
            drawing.convert("RGB").quantize(COLOURS).save(target / path.name, optimize=True)


if __name__ == "__main__":
    main()
