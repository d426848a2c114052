"""HTML pages with one style; text is escaped unless it is `Markup`.

    page("Title", element("p", "a < b"), as_html(head, rows), figure(png, "a curve"))

`element` escapes every child that is a plain `str`. It returns `Markup`, which is not escaped again. So text
from a file, a model or the name of a column cannot become a tag.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape as escaped
from typing import Final

_VOID: Final = frozenset({"img", "meta", "br", "hr"})  # elements without an end tag
_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22303c }
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
"""


class Markup(str):
    """Text that is HTML and is not escaped again."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Return text with <, >, & and quotes escaped; Markup is returned unchanged."""
    return text if isinstance(text, Markup) else Markup(escaped(str(text)))


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; children that are not Markup and all attributes are escaped.

    An attribute whose name is a Python keyword is written with an underscore at its end: `class_="warn"`.
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


def joined(parts: Iterable[object], between: str = "\n") -> Markup:
    """Return the concatenation of parts; those that are not Markup are escaped."""
    return Markup(between.join(map(escape, parts)))


def figure(picture: bytes | str, description: str) -> Markup:
    """Return an `img` element with an embedded picture: bytes are a PNG, a text is an SVG.

    A picture in an `img` element cannot run scripts or load files.
    """
    kind, data = ("png", picture) if isinstance(picture, bytes) else ("svg+xml", picture.encode())
    return element("img", src=f"data:image/{kind};base64,{b64encode(data).decode()}", alt=description)


def page(title: str, *parts: object, wide: bool = False) -> str:
    """Return a whole page: the title as its first heading, then the parts, each on its own line."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(_STYLE)),
    ]
    body = joined([element("h1", title), *parts])
    whole = element(
        "html",
        element("head", *head),
        "\n",
        element("body", body, class_="wide" if wide else None),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"
