"""The site that `make docs` builds: every link leads somewhere, nothing comes from elsewhere."""

import functools
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import kempe

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
PAGES = sorted(SITE.rglob("*.html"))
# Resources that a browser loads to show a page; `a` is followed only by users.
FETCHED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """Links, resources and anchors of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.places: set[str] = set()
        self.tags: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.tags.add(tag)
        self.places.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if FETCHED.get(tag) in values:
            self.fetched.append(values[FETCHED[tag]] or "")


@functools.cache
def parsed(path: Path) -> Page:
    return Page(path)


def problem(page: Path, link: str) -> str | None:
    """Why a link within the site is broken."""
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return f"{link}: no such file"
    if (parts.fragment and target.suffix == ".html"
            and unquote(parts.fragment) not in parsed(target).places):
        return f"{link}: {target.relative_to(SITE)} has no such place"
    return None


def test_there_is_a_site() -> None:
    assert SITE / "docs" / "index.html" in PAGES, "build the site first: make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(SITE)))
def test_links_lead_somewhere(page: Path) -> None:
    inside = [link for link in parsed(page).links + parsed(page).fetched
              if not urlsplit(link).scheme and not link.startswith("//")]
    problems = [text for link in inside if link != "#" and (text := problem(page, link))]
    assert not problems


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(SITE)))
def test_pages_need_no_network(page: Path) -> None:
    outside = [link for link in parsed(page).fetched
               if urlsplit(link).scheme not in {"", "data"} or link.startswith("//")]
    assert not outside


def test_formulas_are_drawn_by_the_browser() -> None:
    assert "math" in parsed(SITE / "docs" / "maths.html").tags


def test_the_python_reference_has_every_name() -> None:
    places = parsed(SITE / "docs" / "reference" / "python.html").places
    names = {name for name in kempe.__all__ if not name.startswith("__")}
    # Of a module its functions are listed.
    assert not {name for name in names
                if not any(place.endswith(f".{name}") or place.startswith(f"kempe.{name}.")
                           for place in places)}


def test_the_cpp_reference_has_every_header() -> None:
    page = (ROOT / "docs" / "reference" / "cpp.md").read_text()
    headers = {path.name for path in (ROOT / "include" / "kempe").glob("*.hpp")}
    headers -= {"kempe.hpp", "export.hpp"}
    assert not {name for name in headers if f".. header:: {name}\n" not in page}
