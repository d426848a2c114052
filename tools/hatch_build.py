"""The README as a package index shows it. There, a link to a file of the repository leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# An image, or a link, to a file of the repository: to no address and to no heading of the page.
_OWN = re.compile(r"(?P<image>!?)\[(?P<words>[^\]]*)\]\((?!\w+:|#)(?P<file>[^)\s]+)\)")


class PackageReadme(MetadataHookInterface):
    """Gives a package the README whose links are right outside of the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field readme; `Repository` in [project.urls] is the address, if there is one yet."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = metadata.get("urls", {}).get("Repository", "").rstrip("/")
        shown = absolute(text, address, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}


def absolute(text: str, address: str, tag: str) -> str:
    """Return Markdown with addresses of the repository's files as of a tag.

    Without an address, pictures are left out and the words of links stay.
    """

    def written(found: re.Match[str]) -> str:
        words, file, image = found["words"], found["file"], found["image"]
        if not address:
            return "" if image else words
        return f"{image}[{words}]({address}/{'raw' if image else 'blob'}/{tag}/{file})"

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(block if block.startswith("```") else _OWN.sub(written, block) for block in blocks)
