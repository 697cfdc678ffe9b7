"""Fenced code blocks of the documentation pages.

Every fence names its language; what is done with each:

  cpp      compiled against the installed library and run. A block without `main` becomes the body
           of one; with `cpp declarations` it stands outside of functions and is only compiled.
  python   run
  sh       run from the root of the repository; `make x` is only checked to be a target
  console  as sh for the lines after `$ `; the other lines are the output that must follow
  xml      a whole `<robot>` is loaded; a fragment must be well formed
  yaml     must be well formed
  cmake    configured and built as a project that finds the installed library
  text     not looked at
  {name}   a directive of the site's generator, which checks it; not looked at

A comment line `<!-- ... -->` above the fence says more:

  continues  the block goes on where the last one of its language stopped. An xml fragment is added
             to the robot before it; yaml closures are loaded with the robot before them.
  output     a text block: what the block before it prints. A line `...` stands for any lines.

A fence marked `no-run` is left alone, and the comment above it must give the reason.
"""

import dataclasses
import re
from pathlib import Path

LANGUAGES = {"cpp", "python", "sh", "console", "xml", "yaml", "cmake", "text"}
FLAGS = {"no-run", "declarations"}
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})\s*(?P<info>.*?)\s*$")
COMMENT = re.compile(r"^\s*<!--\s*(.*?)\s*-->\s*$")


class PageError(Exception):
    """A page that breaks the rules above."""


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of the first line of code
    language: str
    flags: set[str]
    comment: str
    code: str
    # Blocks of the same language that this one continues, in order.
    before: list["Block"] = dataclasses.field(default_factory=list)
    robot: list["Block"] = dataclasses.field(default_factory=list)  # yaml: the robot it is about
    output: str | None = None

    @property
    def runs(self) -> bool:
        return "no-run" not in self.flags and self.language != "text" and not self.directive

    @property
    def directive(self) -> bool:
        return self.language.startswith("{")

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.language}"


def blocks_of(text: str, page: str) -> list[Block]:
    """All blocks of a page, checked and joined to the ones that they continue."""
    blocks: list[Block] = []
    comment = ""
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opening = FENCE.match(line)
        if not opening:
            note = COMMENT.match(line)
            if note:
                comment = note.group(1)
            elif line.strip():
                comment = ""
            continue
        code = []
        for _, inner in lines:
            closing = FENCE.match(inner)
            if closing and not closing["info"] and closing["fence"].startswith(opening["fence"]):
                break
            indent = len(opening["indent"])
            code.append(inner[indent:] if not inner[:indent].strip() else inner)
        else:
            raise PageError(f"{page}:{number}: this fence is not closed")
        language, *flags = opening["info"].split() or [""]
        block = Block(page, number + 1, language, set(flags), comment, "\n".join(code) + "\n")
        check(block)
        join(block, blocks)
        blocks.append(block)
        comment = ""
    return blocks


def check(block: Block) -> None:
    place = f"{block.page}:{block.line - 1}"
    if block.directive:
        return
    if block.language not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise PageError(f'{place}: unknown fence language "{block.language}" (known: {known})')
    if unknown := block.flags - FLAGS:
        raise PageError(f"{place}: unknown word after the language: {', '.join(sorted(unknown))}")
    if "no-run" in block.flags and block.comment in {"", "continues", "output"}:
        raise PageError(f"{place}: no-run needs a comment above the fence that gives the reason")
    if "declarations" in block.flags and block.language != "cpp":
        raise PageError(f"{place}: only cpp blocks can be declarations")


def join(block: Block, earlier: list[Block]) -> None:
    place = f"{block.page}:{block.line - 1}"

    def last(language: str) -> Block:
        for other in reversed(earlier):
            if other.language == language and other.runs:
                return other
        raise PageError(f"{place}: {block.comment}, but no {language} block comes before it")

    if block.comment == "continues":
        previous = last("xml" if block.language == "yaml" else block.language)
        if block.language == "yaml":
            block.robot = [*previous.before, previous]
        else:
            block.before = [*previous.before, previous]
    if block.comment == "output":
        if block.language != "text" or not earlier or not earlier[-1].runs:
            raise PageError(f"{place}: output must be a text block right after one that runs")
        earlier[-1].output = block.code


def pages(root: Path) -> list[Path]:
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def matches(expected: str, actual: str) -> bool:
    """Whether output is as a page shows it, ignoring trailing spaces."""
    pattern = ""
    for line in expected.rstrip().splitlines():
        pattern += r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + "\n"
    shown = "".join(line.rstrip() + "\n" for line in actual.rstrip().splitlines())
    return re.fullmatch(pattern, shown) is not None
