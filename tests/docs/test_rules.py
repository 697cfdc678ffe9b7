"""The rules for code blocks hold: a page that breaks one is refused."""

import pytest
from code_blocks import PageError, blocks_of, matches


def page(*lines: str) -> str:
    return "\n".join(lines)


@pytest.mark.parametrize("text, reason", [
    (page("```rust", "fn main() {}", "```"), 'unknown fence language "rust"'),
    (page("```", "plain", "```"), 'unknown fence language ""'),
    (page("```cpp", "int x;"), "not closed"),
    (page("```cpp no-run", "int x;", "```"), "gives the reason"),
    (page("<!-- continues -->", "```cpp no-run", "int x;", "```"), "gives the reason"),
    (page("<!-- far away -->", "words", "```sh no-run", "x", "```"), "gives the reason"),
    (page("```cpp norun", "int x;", "```"), "unknown word"),
    (page("<!-- continues -->", "```python", "x", "```"), "no python block"),
    (page("<!-- output -->", "```text", "x", "```"), "right after one that runs"),
])
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(PageError, match=reason):
        blocks_of(text, "page.md")


def test_blocks_know_their_place() -> None:
    first, second, output = blocks_of(
        page("words", "```cpp", "int x = 1;", "```", "", "<!-- continues -->", "  ```cpp",
             "  x = 2;", "  ```", "<!-- output -->", "```text", "2", "```"), "page.md")
    assert (first.line, first.code, first.before) == (3, "int x = 1;\n", [])
    assert (second.line, second.code, second.before) == (8, "x = 2;\n", [first])
    assert second.output == output.code == "2\n"
    assert not output.runs


def test_no_run_with_a_reason() -> None:
    (block,) = blocks_of(
        page("<!-- needs a network -->", "```sh no-run", "git pull", "```"), "page.md")
    assert not block.runs


def test_directives_of_the_site_are_left_alone() -> None:
    (block,) = blocks_of(page("```{toctree} with arguments", "concepts", "```"), "page.md")
    assert not block.runs


def test_output_may_leave_lines_out() -> None:
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n", "a  \n\n")
    assert not matches("a\n...\nd\n", "a\nb\n")
    assert not matches("a\n", "a\nb\n")
