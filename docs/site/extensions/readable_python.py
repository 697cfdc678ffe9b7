"""Makes the Python package readable for autodoc, which cannot see into a compiled extension.

The reference is made from a copy of the installed package in which the extension's stub, which has
signatures and an order, stands in for the extension. Docstrings are plain text with `code`.
"""

import importlib.util
import re
import shutil
import sys
from pathlib import Path

import numpy.typing
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

SHAPED = re.compile(r"Annotated\[(NDArray)\[[\w.]+\], dict\(.*?\)\](?=[:,\n]| \|)")
CODE = re.compile(r"(`+)(.+?)\1")
MARKUP = re.compile(r"[*|]|(?<=\w)_(?!\w)")


class NDArray:
    """Shapes are in the docstrings; what NumPy's type says beyond its name only fills lines."""

    def __class_getitem__(cls, item: object) -> type:
        return cls


class ArrayLike:
    """As NDArray."""


def readable_package(folder: Path) -> None:
    package = Path(importlib.util.find_spec("kempe").submodule_search_locations[0])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(package, folder / "kempe",
                    ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    stub = SHAPED.sub(r"\1", (package / "_kempe.pyi").read_text())
    (folder / "kempe" / "_kempe.py").write_text(f"from __future__ import annotations\n{stub}")
    sys.path.insert(0, str(folder))
    numpy.typing.NDArray, numpy.typing.ArrayLike = NDArray, ArrayLike


def plain_text(line: str) -> str:
    """A line of a docstring as reStructuredText: code stays code, and nothing else is markup."""
    result, end = "", 0
    for code in CODE.finditer(line):
        result += MARKUP.sub(r"\\\g<0>", line[end:code.start()]) + f"``{code[2]}``"
        end = code.end()
    return result + MARKUP.sub(r"\\\g<0>", line[end:])


def process_docstring(app: Sphinx, what: str, name: str, obj: object, options: object,
                      lines: list[str]) -> None:
    lines[:] = [plain_text(line) for line in lines]


def setup(app: Sphinx) -> ExtensionMetadata:
    readable_package(Path(app.srcdir) / "build" / "readable_package")
    # Before Napoleon, which adds markup of its own.
    app.connect("autodoc-process-docstring", process_docstring, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
