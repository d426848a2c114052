"""The index of the site's search: for each page its title, headings, counted words, and words of readers.

The words of readers are in search_words.toml: what people search for who do not know the words of the page.
`_static/search.js` ranks; it also brings words to their stems, so that there is one rule for both sides.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import listings
import name_page
import site_parts

from dither.core.registry import names

DOCS = Path(__file__).parent
WORDS = tomllib.loads((DOCS / "search_words.toml").read_text(encoding="utf-8"))
CARDS = tomllib.loads((DOCS / "cards.toml").read_text(encoding="utf-8"))
WORD = re.compile(r"[a-z0-9]+")
HEADING = re.compile(r"^#{1,4} (.*)$", re.MULTILINE)


def build() -> list[dict[str, Any]]:
    """Return one entry for each page: guides in full, names and measurements by title and summary."""
    pages = [_guide(file) for file in sorted(DOCS.glob("*.md")) if file.stem not in site_parts.GENERATED]
    notebooks = site_parts.ROOT / "examples" / "notebooks"
    pages += [_notebook(file) for file in sorted(notebooks.glob("*.ipynb"))]
    pages.append(_short("project/cite", site_parts.cite()))
    pages += [_listed("catalogue", "The mechanisms"), _listed("api", "API")]
    pages += [
        _listed("api/javascript", "The JavaScript client"),
        _listed("api/collector", "The collector over HTTP"),
    ]
    pages += [_verb(name, command.help or "") for name, command in listings.commands(listings.main, "dither")]
    things = {name_page.document(path): (path, thing) for path, thing in name_page.public().items()}
    things |= {f"mechanisms/{name}": (name, kind) for name, kind in names().items()}
    pages += [_name(page, path, thing) for page, (path, thing) in sorted(things.items())]
    for source, target in site_parts.PAGES.items():
        if target.startswith(("benchmarks/", "project/")):
            pages.append(_short(target.removesuffix(".md"), source.read_text(encoding="utf-8")))
    return pages


def write(file: Path) -> None:
    """Write the index as a script, because a page that is opened as a file cannot load JSON."""
    text = json.dumps(build(), ensure_ascii=False, separators=(",", ":"))
    file.write_text(f"window.ditherSearch = {text};\n", encoding="utf-8")


def _entry(page: str, title: str, **more: Any) -> dict[str, Any]:
    kind = page.partition("/")[0] if "/" in page else "guide"
    known = [*WORDS.get(page, []), *CARDS.get(page.removeprefix("mechanisms/"), [""])[0].split(", ")]
    known = [phrase for phrase in known if phrase]
    return {"page": page, "title": title, "kind": kind, **({"words": known} if known else {}), **more}


def _guide(file: Path) -> dict[str, Any]:
    text = site_parts.TREE.sub("", file.read_text(encoding="utf-8"))
    parts = HEADING.split(re.sub(r"^```.*?^```$", _code, text, flags=re.MULTILINE | re.DOTALL))
    title, sections = _plain(parts[1]), []
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        sections.append([anchor(_plain(heading)), _plain(heading), counted(f"{heading} {body}")])
    sections[0][0] = ""
    page = file.stem
    part = next((word for word, first in site_parts.navigation() if page in site_parts.listed(first)), "")
    return _entry(page, title, part=part, about=_first(parts[2]), sections=sections)


def _code(block: re.Match[str]) -> str:
    """Return a block of code without its lines that look like headings."""
    return block[0].replace("\n#", "\n")


def _notebook(file: Path) -> dict[str, Any]:
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    title = _plain(HEADING.findall(text)[0])
    return _entry(f"notebooks/{file.stem}", title, about="A notebook.", sections=[["", title, counted(text)]])


def _short(page: str, text: str) -> dict[str, Any]:
    title = _plain(HEADING.findall(text)[0])
    return _entry(page, title, sections=[["", title, counted(text[:1500])]])


def _listed(page: str, title: str) -> dict[str, Any]:
    return _entry(page, title, about="A list of all.", sections=[["", title, counted(title)]])


def _verb(name: str, help_text: str) -> dict[str, Any]:
    summary = help_text.strip().partition("\n")[0]
    verb = _entry("cli", name, about=summary, anchor=anchor(name))
    return {**verb, "kind": "verb", "name": name, "sections": [[verb["anchor"], name, counted(help_text)]]}


def _name(page: str, path: str, thing: Any) -> dict[str, Any]:
    mechanism = page.startswith("mechanisms/")
    title = path.rpartition(".")[2] if mechanism else name_page.called(path)
    summary = name_page.prose.summary(thing)
    section = ["", title, counted(f"{title} {summary}")]
    return _entry(page, title, name=path, about=summary, sections=[section])


def anchor(heading: str) -> str:
    """Return the id that docutils gives to a heading."""
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))


def counted(text: str) -> str:
    """Return the words of a text with their counts, "mean error*3"; numbers are left out."""
    plain = _plain(text).lower().replace("ε", " epsilon ").replace("δ", " delta ")
    counts = Counter(word for word in WORD.findall(plain) if len(word) > 1 and not word.isdigit())
    return " ".join(f"{word}*{count}" if count > 1 else word for word, count in counts.items())


def _plain(text: str) -> str:
    """Return Markdown without links, marks of code and comments."""
    text = re.sub(r"<!--.*?-->|</?\w+[^>]*>", " ", text)
    return re.sub(r"[`*]|\[(?=[^\]]*\]\()|\]\([^)]*\)", "", text).strip()


def _first(text: str) -> str:
    """Return the first sentence of a page."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    paragraph = next((part for part in paragraphs if part and part[0] not in "!`<:|["), "")
    return re.split(r"(?<=[.:])\s", _plain(paragraph.replace("\n", " ")))[0]
