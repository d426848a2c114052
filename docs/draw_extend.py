"""Draw the picture of docs/extend.md: the code of the page itself, with the figure saved wide and narrow."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from draw_gallery import narrow_figures

import dither as dt
import dither.core.question.base
from dither.foundation.randomness import Seeded

HERE = Path(__file__).parent


def main() -> None:
    """Run the recipe of the page, and write the figure beside the other pictures."""
    page = (HERE / "extend.md").read_text(encoding="utf-8")
    recipe = next(
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "savefig" in block
    )
    picture = str(HERE / "pictures" / "extend.png")
    recipe = recipe.replace("range(2)", "range(60)")
    lines = recipe.replace('"error_by_epsilon.pdf"', f"{picture!r}, dpi=150")
    draw(lines)
    with narrow_figures():
        draw(lines)


def draw(lines: str) -> None:
    """Run the recipe with the same draws every time."""
    dither.core.question.base.SYSTEM = Seeded(2025)
    exec(lines, {"dt": dt, "np": np})


if __name__ == "__main__":
    main()
