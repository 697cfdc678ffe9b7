"""Pieces of a page: HTML, and how numbers are written."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

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
figure { margin: 1.5rem 0; } figcaption { font-size: 0.9rem; color: #57606a; }
img { max-width: 100%; } code { background: #f6f8fa; padding: 0.1rem 0.3rem; }
.short { background: #f6f8fa; padding: 0.5rem 1.5rem; border-left: 4px solid #2e75b6; }
"""


def flowing(words: str) -> str:
    """Text whose line breaks do not matter."""
    return html.escape(" ".join(words.split()), quote=False)


def paragraph(words: str) -> str:
    return f"<p>{flowing(words)}</p>"


class Cell(NamedTuple):
    """Of a table: "ours" or "paper" says whose figure it is, "words" that it is none."""

    content: str
    kind: str = ""


def words(content: str) -> Cell:
    return Cell(content, "words")


def table(head: Sequence[str], rows: Iterable[Sequence[str | Cell]]) -> str:
    """Columns that hold words in their last row stand on the left."""
    lines = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    kinds = ["words" if cell.kind == "words" else "" for cell in lines[-1]]

    def line(tag: str, cells: Iterable[Cell]) -> str:
        return "<tr>" + "".join(f'<{tag} class="{cell.kind}">{flowing(cell.content)}</{tag}>'
                                for cell in cells) + "</tr>"
    return "\n".join(["<table>", line("th", map(Cell, head, kinds)),
                      *(line("td", cells) for cells in lines), "</table>"])


def picture(path: Path, caption: str) -> str:
    """Within the page, so that it can be sent alone."""
    data = base64.b64encode(path.read_bytes()).decode()
    return (f'<figure><img alt="{html.escape(caption)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{flowing(caption)} ({path.name})</figcaption></figure>")


def document(title: str, parts: Iterable[str]) -> str:
    return ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{flowing(title)}</title><style>{STYLE}</style></head><body>\n"
            + "\n".join(parts) + "\n</body></html>\n")


# --- numbers -------------------------------------------------------------------------------------

def minus(number: str) -> str:
    return number.replace("-", "−")


def signed(number: float, form: str = "+.0f") -> str:
    return minus(format(number, form))


def between(values: Sequence[float], form: str = ".0f") -> str:
    low, high = (minus(format(value, form)) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def percent(part: float) -> str:
    """Of a part, with two digits that count."""
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"
