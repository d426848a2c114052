"""Draw the pictures of the gallery and the recipes by their own lines: `python docs/draw_gallery.py`.

A name draws one page, `python docs/draw_gallery.py recipe_map`. Every picture is drawn twice, the second time
narrow and with the same letters, for phones.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib.figure import Figure
from narrow import make_narrow

import dither.core.question.base
from dither.foundation.randomness import Seeded

DOCS = Path(__file__).parent


def blocks(page: Path) -> list[str]:
    """Return the lines of each picture."""
    found = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in found if "savefig" in block]


@contextmanager
def narrow_figures() -> Iterator[None]:
    """Save figures as narrow as a phone, panels one below the other, with names that say so."""
    save = Figure.savefig

    def saved(figure: Any, name: str, **options: Any) -> None:
        make_narrow(figure)
        save(figure, name.replace(".png", "-portrait.png"), **options)

    Figure.savefig = saved  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        Figure.savefig = save  # type: ignore[method-assign]


def draw(page: Path, folder: Path) -> None:
    """Run every block of a page in an empty folder, and keep its pictures."""
    folder.mkdir(exist_ok=True)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            dither.core.question.base.SYSTEM = Seeded(2025)  # the pictures are the same every time
            for block in blocks(page):
                exec(compile(block, page.name, "exec"), {})
        finally:
            os.chdir(before)
        for picture in Path(empty).glob("*.png"):
            picture.replace(folder / picture.name)


def main(names: list[str]) -> None:
    """Draw the pages with these names, or all."""
    for page in sorted([*DOCS.glob("gallery*.md"), *DOCS.glob("recipe_*.md")]):
        if not names or page.stem in names:
            folder = DOCS / "pictures" / ("gallery" if page.stem.startswith("gallery") else "recipes")
            draw(page, folder)
            with narrow_figures():
                draw(page, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
