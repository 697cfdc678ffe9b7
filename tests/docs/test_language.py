"""Pages use the terms that people search for: degrees of freedom (DoF)."""

import re
from pathlib import Path

import pytest
from code_blocks import pages

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*pages(ROOT), ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]


def prose(text: str) -> str:
    """A page without code, as one line."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1 *$", "", text, flags=re.MULTILINE | re.DOTALL)
    return " ".join(re.sub(r"`[^`\n]*`|\"freedoms\"", "", text).split())


def problems(text: str) -> list[str]:
    words = prose(text)
    other = r".{0,30}(?<!degree of )(?<!degrees of )\bfreedoms?\b"
    found = [match[0] for match in re.finditer(other, words, re.IGNORECASE)]
    first = re.search(r"\bDoFs?\b", words)
    if first and not re.search(r"degrees? of freedom \($", words[:first.start()]):
        found.append(f"{words[max(0, first.start() - 30):first.end()]}: "
                     'first write "degrees of freedom (DoF)"')
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_degrees_of_freedom(page: Path) -> None:
    assert not problems(page.read_text())


@pytest.mark.parametrize("text, right", [
    ("A leg with two degrees of freedom (DoF). One DoF is locked.", True),
    ("A leg with two degrees of\nfreedom (DoF).", True),
    ("```text\n2 freedoms\n```\nA leg.", True),
    ("A leg with two freedoms.", False),
    ("A leg with two DoFs.", False),
])
def test_the_rule(text: str, right: bool) -> None:
    assert (not problems(text)) == right
