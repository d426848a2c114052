"""Draw the picture of docs/extend.md: the code of the page itself, with the figure saved as a picture."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import dither as dt

HERE = Path(__file__).parent


def main() -> None:
    """Run the recipe of the page, and write the figure beside the other pictures."""
    page = (HERE / "extend.md").read_text(encoding="utf-8")
    recipe = next(
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "savefig" in block
    )
    picture = str(HERE / "pictures" / "extend.png")
    exec(recipe.replace('"error_by_epsilon.pdf"', f"{picture!r}, dpi=150"), {"dt": dt, "np": np})


if __name__ == "__main__":
    main()
