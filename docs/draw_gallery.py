"""Draw the pictures of gallery.md by the lines that it shows: `python docs/draw_gallery.py`, seeded."""

from __future__ import annotations

import os
import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import dither.core.question.base
from dither.foundation.randomness import Seeded

PAGE = Path(__file__).with_name("gallery.md")
FOLDER = PAGE.parent / "pictures" / "gallery"


def blocks() -> list[str]:
    """Return the lines of each picture."""
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run every block of the page in the folder of its pictures."""
    FOLDER.mkdir(exist_ok=True)
    os.chdir(FOLDER)
    dither.core.question.base.SYSTEM = Seeded(2025)  # the pictures are the same every time
    for block in blocks():
        exec(compile(block, PAGE.name, "exec"), {})


if __name__ == "__main__":
    main()
