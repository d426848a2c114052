"""Pages whose text cannot become markup, with pictures inside."""

from __future__ import annotations

from base64 import b64decode

import pytest

from dither.foundation.markup import Markup, element, escape, figure, join_markup, page
from tests.support.hypertext import HOSTILE, Reader


def test_a_page_with_hostile_text_everywhere() -> None:
    source = page(HOSTILE, HOSTILE, element("p", HOSTILE, class_=HOSTILE), figure(b"\x89PNG", HOSTILE))
    read = Reader(source)
    tags = ["html", "head", "meta", "meta", "title", "style", "body", "main", "h1", "p", "img"]
    assert read.tags == tags
    assert [value for _, value in read.attributes].count(HOSTILE) == 2  # the class and the description
    assert "".join(read.text).count(HOSTILE) == 4  # the title twice, a part, a paragraph
    assert "<script" not in source
    assert source.startswith("<!doctype html>\n<html lang")


def test_markup_is_not_escaped_twice_and_text_always_once() -> None:
    assert escape(escape("<")) == "&lt;"
    assert element("p", element("b", "<")) == "<p><b>&lt;</b></p>"
    assert join_markup(["<", element("i", "x")], ", ") == "&lt;, <i>x</i>"
    assert element("p", Markup("<b>") + "<script>") == "<p>&lt;b&gt;&lt;script&gt;</p>"  # a sum is text again
    assert element("a", "x", href=None, class_="y") == '<a class="y">x</a>'


@pytest.mark.parametrize(
    ("picture", "kind", "data"),
    [(b"\x89PNG\r\n", "png", b"\x89PNG\r\n"), ("<svg>é</svg>", "svg+xml", "<svg>é</svg>".encode())],
)
def test_a_picture_stands_inside_the_page(picture: bytes | str, kind: str, data: bytes) -> None:
    read = Reader(figure(picture, "a curve"))
    address = dict(read.attributes)["src"] or ""
    assert read.tags == ["img"]
    assert dict(read.attributes)["alt"] == "a curve"
    assert address.startswith(f"data:image/{kind};base64,")
    assert b64decode(address.partition(",")[2]) == data
