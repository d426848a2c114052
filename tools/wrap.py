"""Wrap the prose of pages at 110 characters: `python -m tools.wrap README.md docs/*.md`.

Code, tables, formulas, headings, pictures and raw HTML stay as they are. The rendered page is the same.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

WIDTH = 110
_ITEM = re.compile(r"(\s*)([-*+:]|\d+[.)])(\s+)")  # a colon begins the text of a term
_APART = re.compile(r"\s*(#|\||<|!\[|:::|\$\$|>>> |\[[^\]]+\]:|\{|\(\w+\)=|---|===)")


def blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield the lines of a page in groups: whether they are prose, and the lines of one paragraph or item."""
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        mark = re.match(r"\s*(```+|~~~+|\$\$|:::+)", line)
        opens = mark is not None and not fence
        if fence or opens:
            if paragraph:
                yield True, paragraph
                paragraph = []
            yield False, [line]
            if opens and mark is not None:
                whole = mark[1] == "$$" and line.strip().endswith("$$") and len(line.strip()) > 2
                fence = "" if whole else mark[1]
            elif line.strip().startswith(fence):
                fence = ""
            continue
        indented = line.startswith("    ") and not paragraph
        if not line.strip() or _APART.match(line) or indented:
            if paragraph:
                yield True, paragraph
                paragraph = []
            yield False, [line]
        elif _ITEM.match(line):
            if paragraph:
                yield True, paragraph
            paragraph = [line]
        else:
            paragraph.append(line)
    if paragraph:
        yield True, paragraph


def wrap(paragraph: list[str], width: int = WIDTH) -> list[str]:
    """Return the lines of a paragraph or list item, wrapped."""
    item = _ITEM.match(paragraph[0])
    first = item[0] if item else re.match(r"\s*", paragraph[0])[0]  # type: ignore[index]
    rest = " " * len(first)
    if item and len(paragraph) > 1:
        rest = re.match(r"\s*", paragraph[1])[0]  # type: ignore[index]
    words = " ".join([paragraph[0][len(first) :].strip(), *(line.strip() for line in paragraph[1:])])
    hidden = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda found: found[0].replace(" ", "\0"), words)
    # A line must not begin with what Markdown reads as the mark of a list, a quotation or a heading.
    hidden = re.sub(r" (?=([-+*=>#|]+|\d+[.)])( |$))", "\0", hidden)
    made = textwrap.wrap(
        hidden,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in made]


def too_long(text: str, width: int = WIDTH) -> list[int]:
    """Return the numbers of lines of prose that could be wrapped and are longer than the width."""
    number, found = 1, []
    for is_prose, lines in blocks(text.splitlines()):
        if is_prose and any(len(line) > width for line in lines) and wrap(lines, width) != lines:
            found += [number + place for place, line in enumerate(lines) if len(line) > width]
        number += len(lines)
    return found


def wrapped_page(text: str) -> str:
    """Return a page with its prose wrapped; paragraphs whose lines are short enough stay as they are."""
    made: list[str] = []
    for is_prose, lines in blocks(text.splitlines()):
        hard_breaks = any(line.endswith("  ") for line in lines)
        long = any(len(line) > WIDTH for line in lines)
        made += wrap(lines) if is_prose and long and not hard_breaks else lines
    return "\n".join(made) + "\n"


def rendered(text: str) -> str:
    """Return the HTML of a page, with white space folded."""
    return re.sub(r"\s+", " ", MarkdownIt("commonmark").enable("table").render(text))


def main() -> None:
    """Wrap the pages that are named; a page whose rendering would change is left alone, and said."""
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        made = wrapped_page(text)
        if rendered(made) != rendered(text):
            print(f"{name}: not wrapped, because it would be rendered differently")
        elif made != text:
            page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
