"""What a browser reads in a page, and a text that tries to become markup."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = '<script>alert("1")</script>&amp;\'" onload="x'


class Reader(HTMLParser):
    """Collect the elements, the attributes and the text of a page, as a browser would read it."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)
