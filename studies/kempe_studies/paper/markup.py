"""A page as a list of blocks, and its conversion to HTML and Markdown."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

# --- blocks --------------------------------------------------------------------------------------
# Line breaks within words do not matter.

class Heading(NamedTuple):
    words: str
    level: int = 2


class Paragraph(NamedTuple):
    words: str


class Points(NamedTuple):
    points: Sequence[str]


class Picture(NamedTuple):
    path: Path
    caption: str


class Cell(NamedTuple):
    """A cell of a table. The kind is "ours" or "paper" for numbers, "words" for text."""

    content: str
    kind: str = ""


class Table(NamedTuple):
    """Columns whose last cell contains words are left-aligned."""

    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]

    def cells(self) -> list[list[Cell]]:
        return [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row]
                for row in self.rows]

    def head_cells(self) -> list[Cell]:
        kinds = ("words" if cell.kind == "words" else "" for cell in self.cells()[-1])
        return [Cell(name, kind) for name, kind in zip(self.head, kinds, strict=True)]


Block = Heading | Paragraph | Points | Picture | Table


def words(content: str) -> Cell:
    return Cell(content, "words")


def flowing(text: str) -> str:
    return " ".join(text.split())


# --- HTML ----------------------------------------------------------------------------------------

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #24292f; max-width: 66rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.7rem; text-align: right; border-bottom: 1px solid #d8dee4;
         font-variant-numeric: tabular-nums; }
td { white-space: nowrap; }
th.words, td.words { text-align: left; white-space: normal; }
td.paper { color: #6e7781; } td.ours { font-weight: 600; }
ul { background: #f6f8fa; padding: 0.8rem 1.2rem 0.8rem 2.5rem; border-left: 4px solid #2e75b6; }
figure { margin: 1.5rem 0; } figcaption { font-size: 0.9rem; color: #57606a; }
img { max-width: 100%; }
"""


def html_page(title: str, blocks: Iterable[Block]) -> str:
    """A single self-contained file with embedded pictures."""
    return "\n".join([
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
        *map(html_of, blocks), "</body></html>\n"])


def html_of(block: Block) -> str:
    match block:
        case Heading(text, level):
            return element(f"h{level}", text)
        case Paragraph(text):
            return element("p", text)
        case Points(points):
            return "<ul>" + "".join(element("li", point) for point in points) + "</ul>"
        case Picture(path, caption):
            data = base64.b64encode(path.read_bytes()).decode()
            return (f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
                    + element("figcaption", f"{caption} ({path.name})") + "</figure>")
        case Table():
            lines = [("th", block.head_cells()), *(("td", cells) for cells in block.cells())]
            return "\n".join(["<table>", *(
                "<tr>" + "".join(element(tag, cell.content, cell.kind) for cell in cells) + "</tr>"
                for tag, cells in lines), "</table>"])


def element(tag: str, text: str, kind: str = "") -> str:
    opening = f'{tag} class="{kind}"' if kind else tag
    return f"<{opening}>{html.escape(flowing(text), quote=False)}</{tag}>"


# --- Markdown ------------------------------------------------------------------------------------

def markdown_page(blocks: Iterable[Block]) -> str:
    """Markdown; pictures are separate files in the same folder."""
    return "\n\n".join(map(markdown_of, blocks)) + "\n"


def markdown_of(block: Block) -> str:
    match block:
        case Heading(text, level):
            return "#" * level + " " + flowing(text)
        case Paragraph(text):
            return flowing(text)
        case Points(points):
            return "\n".join(f"- {flowing(point)}" for point in points)
        case Picture(path, caption):
            return f"![{flowing(caption)}]({path.name})"
        case Table():
            head = block.head_cells()
            lines = [[cell.content for cell in head],
                     ["---" if cell.kind == "words" else "---:" for cell in head],
                     *([cell.content for cell in cells] for cells in block.cells())]
            return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# --- numbers -------------------------------------------------------------------------------------

def signed(number: float) -> str:
    return f"{number:+.0f}".replace("-", "−")


def between(values: Sequence[float], form: str = ".0f") -> str:
    low, high = (format(value, form).replace("-", "−") for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def percent(part: float) -> str:
    """A fraction as a percentage with two significant digits."""
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"
