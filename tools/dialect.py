"""Count our dialect: habits of wording that `docs`, `src` and `clients` should lose.

    python -m tools.dialect                  # the counts beside those of tools/words.txt
    python -m tools.dialect told src         # the lines with one habit in one part
    python -m tools.dialect --write          # keep the present counts where they are smaller

`tools/words.txt` holds the highest count that each part may have. A test compares them, and the counts may
only shrink.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
RECORD: Final = ROOT / "tools" / "words.txt"
GENERATED: Final = {"api.md", "catalogue.md", "cli.md"}  # pages of docs that `make docs` writes from the code
PARTS: Final = ("src", "docs", "clients")

# Habits of prose, by a pattern that finds them. The texts are docstrings, comments, messages and pages.
PROSE: Final = {
    "told": r"\b(?:tell|tells|telling|told)\b",
    "asked": r"\b(?:asked|asks)\b",
    "whole": r"\b(?:whole|wholly)\b(?! path)",
    "so many": r"\b(?:so|as) (?:many|few|long)(?! as)\b|\bsomebody\b",
    "that of": r"\b(?:that|those) of\b",
    "whoever": r"\bwhoever\b|(?:^|[.:] )Who (?!\w+[^.]*\?)",
    "none": r"\b(?:is|are|was|were|has|have|be) none\b",
    "which": r", (?:\w+ )?which\b",
    "what": r"\bwhat (?:is|was|are|were|ha[sd]|have|may|must|it|they|travels|comes|follows|becomes|leaves)\b",
    "stands": r"\b(?:stands?|beside)\b|\balone\b(?=[.,;:)])",
    "for": r", for (?:it|they|he|she|no|nobody|there|what|all|two|(?:an?|the) \w+ (?:is|has|may|are))\b",
    "too": r", (?:too|then)\b(?=[.,;:)])",
    "is no": r"\b(?:is|are|was) no\b(?! (?:longer|more))|\bno word of\b",
    "reading": r"\breadings?\b",
    "semicolon": r"\w; \w",  # counted in the pages only
    "this page": r"\bAfter (?:reading )?this page\b",
}
# Habits of names in code: variables and parameters of exactly these names, each time that they are used.
NAMES: Final = {
    "variable told": r"(?<![.\w])told\b",
    "variable asked": r"(?<![.\w])asked\b",
    "variable place": r"(?<![.\w])places?\b",
    "variable whole": r"(?<![.\w])whole\b",
}
FRAGMENT: Final = re.compile(r"#\s+(?:of|where|that|by|as|whether|whose)\b")  # a comment that is no sentence


class Line(NamedTuple):
    """A piece of text with its file and line number."""

    file: str
    number: int
    text: str


def files(part: str) -> list[Path]:
    """Return the files of a part that people write."""
    patterns = {
        "src": ("src/dither/**/*.py", "papers/dither_papers/**/*.py"),
        "docs": ("docs/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
        "clients": (
            "clients/python/src/**/*.py",
            "clients/javascript/src/**/*.ts",
            "clients/java/src/**/*.java",
            "clients/go/**/*.go",
            "clients/**/README.md",
        ),
    }[part]
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.name not in GENERATED}
    return sorted(path for path in found if "node_modules" not in path.parts)


@cache
def texts(part: str) -> tuple[Line, ...]:
    """Return the prose of a part: docstrings, comments and messages of code, and pages without their code."""
    return tuple(line for path in files(part) for line in _texts_of(path))


def _texts_of(path: Path) -> Iterator[Line]:
    name, content = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _python(name, content)
    elif path.suffix == ".md":
        yield from _markdown(name, content)
    else:
        for number, line in enumerate(content.split("\n"), 1):
            if "//" in line or line.lstrip().startswith(("*", "/*")) or '"' in line or "`" in line:
                yield Line(name, number, line)


# A comment, or a text with its prefix: long, or within a line.
LEXICAL: Final = re.compile(
    r'#[^\n]*|[A-Za-z]{0,2}(?:"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL
)


def _python(name: str, content: str) -> Iterator[Line]:
    """Yield comments and texts; a text of several lines is one piece, so that a habit may cross lines."""
    number = 1
    end = 0
    for found in LEXICAL.finditer(content):
        number += content.count("\n", end, found.start())
        prose = re.sub(r"^\s*>>>.*$", "", found[0], flags=re.MULTILINE)
        yield Line(name, number, re.sub(r"\s+", " ", prose))
        number += found[0].count("\n")
        end = found.end()


def _markdown(name: str, content: str) -> Iterator[Line]:
    """Yield paragraphs without blocks of code and code between backticks."""
    blank = re.sub(
        r"^(```+|~~~+).*?^\1", lambda block: "\n" * block[0].count("\n"), content, flags=re.M | re.S
    )
    blank = re.sub(r"`[^`\n]*`", "`…`", blank)
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", blank):
        if paragraph.strip() and not paragraph.startswith("    "):
            yield Line(name, number, re.sub(r"\s+", " ", paragraph).strip())
        number += paragraph.count("\n")


@cache
def code(part: str) -> tuple[Line, ...]:
    """Return the lines of Python of a part, without comments and texts."""
    found: list[Line] = []
    for path in files(part):
        if path.suffix == ".py":
            blank = LEXICAL.sub(lambda text: "\n" * text[0].count("\n"), path.read_text(encoding="utf-8"))
            name = path.relative_to(ROOT).as_posix()
            found += [Line(name, number, line) for number, line in enumerate(blank.split("\n"), 1)]
    return tuple(found)


def habit(name: str, part: str) -> list[Line]:
    """Return where a part has a habit, one line for each time."""
    if name in NAMES:
        return [line for line in code(part) for _ in re.findall(NAMES[name], line.text)]
    if name == "fragment":
        return [line for line in texts(part) if FRAGMENT.match(line.text)]
    if name == "semicolon" and part != "docs":
        return []
    return [line for line in texts(part) for _ in re.findall(PROSE[name], line.text)]


HABITS: Final = (*PROSE, *NAMES, "fragment")


def counts() -> dict[tuple[str, str], int]:
    """Return the count of each habit in each part."""
    return {(name, part): len(habit(name, part)) for name in HABITS for part in PARTS}


def recorded() -> dict[tuple[str, str], int]:
    """Return the highest counts that are allowed, from tools/words.txt."""
    rows = [line.split("\t") for line in RECORD.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    return {
        (name, part): int(count)
        for name, *numbers in rows
        for part, count in zip(PARTS, numbers, strict=True)
    }


def write(allowed: dict[tuple[str, str], int]) -> None:
    """Write the counts that are allowed."""
    lines = ["# Highest count of each habit (tools/dialect.py): " + ", ".join(PARTS)]
    lines += ["\t".join([name, *(str(allowed[name, part]) for part in PARTS)]) for name in HABITS]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Print the counts, or the lines of one habit."""
    words = sys.argv[1:]
    if words == ["--write"]:
        before, now = recorded() if RECORD.exists() else {}, counts()
        write({key: min(number, before.get(key, number)) for key, number in now.items()})
    elif words:
        for part in words[1:] or PARTS:
            for line in habit(words[0], part):
                print(f"{line.file}:{line.number}: {line.text[:160]}")
    else:
        before, now = recorded() if RECORD.exists() else {}, counts()
        print(f"{'habit':<16}" + "".join(f"{part:>14}" for part in PARTS))
        for name in HABITS:
            cells = (f"{now[name, part]} ≤ {before.get((name, part), '–')}" for part in PARTS)
            print(f"{name:<16}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
