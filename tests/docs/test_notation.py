"""Every name in the column "in code" of docs/notation.md exists in the headers."""

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = [*sorted((ROOT / "include").rglob("*.hpp")), *sorted((ROOT / "src").rglob("*.hpp"))]


@functools.cache
def code() -> str:
    """All headers, without comments."""
    return "\n".join(re.sub(r"//.*", "", path.read_text()) for path in HEADERS)


def names() -> list[str]:
    page = (ROOT / "docs" / "notation.md").read_text()
    rows = [re.split(r"(?<!\\)\|", line) for line in page.splitlines() if line.startswith("| ")]
    return sorted({name for row in rows for name in re.findall(r"`([\w:]+)`", row[2])})


def members_of(type_name: str) -> str:
    """The body of a struct or class, up to the brace that closes it at the start of a line."""
    head = rf"^(?:struct|class) (?:KEMPE_API )?{type_name}\b[^;{{]*"
    bodies = re.findall(head + r"\{(.*?)^\};", code(), re.MULTILINE | re.DOTALL)
    return "\n".join(bodies)


@pytest.mark.parametrize("name", names())
def test_the_name_exists(name: str) -> None:
    *owner, member = name.split("::")
    place = members_of(owner[0]) if owner else code()
    assert re.search(rf"\b{member}\b", place), f"docs/notation.md: the headers have no {name}"


def test_there_are_names() -> None:
    assert {"WorkView::IA", "constraintJacobian", "Model::nq"} <= set(names())
    assert "IA" in members_of("WorkView")
    assert "nSpanning" not in members_of("WorkView")  # only this struct, not the rest of the code
