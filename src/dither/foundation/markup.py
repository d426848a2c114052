"""HTML: elements whose text is escaped, pictures, pages, and pages of Markdown to print."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape as escaped
from typing import Final

_VOID: Final = frozenset({"img", "meta", "br", "hr"})  # elements without an end tag
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22303c; overflow-wrap: anywhere }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body.wide { max-width: 92rem }
h2 { margin-top: 2rem; border-top: 1px solid #ddd; padding-top: 1rem } img { max-width: 100%; height: auto }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .25rem .8rem; text-align: left }
tr + tr { border-top: 1px solid #ddd }
.warn { background: #fff3cd; padding: .6rem 1rem } .skip { color: #777 }
li.met { color: #2c6e49 } li.missed { color: #b3261e; font-weight: bold }
.beside { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); gap: 2rem }
aside { font-size: 13px; background: #f5f7f9; padding: 0 1.2rem 1rem; align-self: start }
@media (max-width: 60rem) { .beside { display: block } }
td, th { min-width: 5rem }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark }
body { background: #12181f; color: #e6edf3 } h2, tr + tr { border-color: #303b46 }
aside { background: #1a222b } .warn { background: #4a3a10 } .skip { color: #a3b1bf }
li.met { color: #7fc99a } li.missed { color: #ff9a92 } }
"""


class Markup(str):
    """Text that is HTML and is not escaped again."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Return text with <, >, & and quotes escaped; Markup is returned unchanged."""
    return text if isinstance(text, Markup) else Markup(escaped(str(text)))


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; children that are not Markup and all attributes are escaped.

    If an attribute's name is a Python keyword, append an underscore to the argument: `class_="warn"`.
    Attributes that are None are omitted.

    >>> element("p", "a < b", element("b", "!"), class_="warn")
    '<p class="warn">a &lt; b<b>!</b></p>'
    """
    shown = "".join(
        f' {key.rstrip("_")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{shown}>")
    return Markup(f"<{name}{shown}>{''.join(map(escape, children))}</{name}>")


def join_markup(parts: Iterable[object], between: str = "\n") -> Markup:
    """Return the concatenation of parts; those that are not Markup are escaped."""
    return Markup(between.join(map(escape, parts)))


def figure(picture: bytes | str, description: str) -> Markup:
    """Return an `img` element with an embedded picture: bytes are a PNG, a text is an SVG.

    A picture in an `img` element cannot run scripts or load files.
    """
    kind, data = ("png", picture) if isinstance(picture, bytes) else ("svg+xml", picture.encode())
    return element("img", src=f"data:image/{kind};base64,{b64encode(data).decode()}", alt=description)


def printable(text: str, keep: str = "") -> str:
    """Return a text in which a mark replaces characters that move the cursor, hide or reverse letters.

    Use it for labels, names and texts from others. The characters in `keep`, such as line ends, stay.

    >>> printable("a\\x1b[2Jb")
    'a�[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else "�" for letter in text)


def page_of_markdown(text: str, language: str = "en") -> str:
    """Return a page of Markdown as HTML to print; it knows headings, paragraphs, lists and tables only.

    >>> "<li>a &lt; b</li>" in page_of_markdown("# T\\n\\n- a < b")
    True
    """
    title, *blocks = re.split(r"\n{2,}", text.strip())
    parts: list[Markup] = []
    for block in blocks:
        for lines in _split_lists(block.split("\n")):
            first = lines[0]
            if first.startswith("#"):
                parts.append(element(f"h{len(first) - len(first.lstrip('#'))}", _inline(first.lstrip("# "))))
            elif first.startswith("|"):
                rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
                head = element("tr", *(element("th", _inline(cell)) for cell in rows[0]))
                body = [element("tr", *(element("td", _inline(cell)) for cell in row)) for row in rows[2:]]
                parts.append(element("table", head, *body))
            elif mark := _ITEM.match(first):
                items = re.split(r"\n(?=(?:-|\d+\.) )", "\n".join(lines))
                listed = [element("li", _inline(_ITEM.sub("", item, count=1))) for item in items]
                parts.append(element("ul" if mark[0].startswith("-") else "ol", *listed))
            else:
                parts.append(element("p", _inline(" ".join(lines))))
    return page(title.lstrip("# "), element("style", Markup(_PRINT)), *parts, language=language)


_ITEM: Final = re.compile(r"(?:-|\d+\.) +")
_PRINT: Final = """
@page { size: A4; margin: 10mm 12mm }
@media print { body { font: 9pt/1.15 Arial, "Liberation Sans", Helvetica, sans-serif; margin: 0 }
body { max-width: none; padding: 0 }
h1 { font-size: 13pt; margin: 0 } h2 { margin: 4pt 0 1pt; padding: 2pt 0 0; font-size: 10pt }
p, ul, ol, table { margin: 2pt 0 } td, th { padding: 1pt 6pt } }
"""


def _split_lists(lines: list[str]) -> Iterator[list[str]]:
    """Yield a heading and the text after it as separate blocks."""
    while lines and lines[0].startswith("#"):
        yield lines[:1]
        lines = lines[1:]
    if lines:
        yield lines


def _inline(text: str) -> Markup:
    """Return a line with **bold**, *emphasis*, `code` and [links](page) as HTML; all else is escaped."""
    shown = escaped(" ".join(text.split()))
    for mark, name in ((r"\*\*(.+?)\*\*", "b"), (r"\*(.+?)\*", "i"), (r"`(.+?)`", "code")):
        shown = re.sub(mark, rf"<{name}>\1</{name}>", shown)
    return Markup(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", shown))


def page(title: str, *parts: object, wide: bool = False, language: str = "en") -> str:
    """Return a complete page: the title as its first heading, then the parts, each on its own line."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_STYLE)),
    ]
    body = element("main", join_markup([element("h1", title), *parts]))
    document = element(
        "html",
        element("head", *head),
        "\n",
        element("body", body, class_="wide" if wide else None),
        lang=language,
    )
    return f"<!doctype html>\n{document}\n"
