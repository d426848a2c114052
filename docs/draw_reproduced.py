"""Draw twelve of the papers' figures, as published or coded, and corrected: `python docs/draw_reproduced.py`.

Each is computed by `dither reproduce --quick`, and drawn a second time, narrow, for phones.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from matplotlib.figure import Figure

from dither.cli import main as dither
from dither_papers import drawing, reproduce

PICTURES = Path(__file__).with_name("pictures") / "reproduced"
FIGURES = {
    "ogpm": ["figure 10", "figure 11"],
    "podium": ["figure 4"],
    "jrr": ["figure 4.1", "figure 4.2", "theorem 3"],
    "tracs": ["Figure 6.6", "Figure D.3"],
    "classifiers": ["figure 7.1"],
    "add_remove": ["figure 2", "figure 3c", "figure 4"],
}


class NarrowPanels(drawing.Panels):
    """All panels in one column, with the legend below."""

    def grid(self, rows: int, columns: int, *, square: bool = False) -> list[list[Any]]:
        count = rows * columns
        self.canvas.set_size_inches(4.0, (2.6 if square else 2.1) * count + 1.0)
        found = self.canvas.subplots(count, 1, squeeze=False)
        self.axes = list(found.reshape(-1))
        return [list(row) for row in found.reshape(rows, columns)]

    def legend(self) -> None:
        self._paper = True
        super().legend()


def main() -> None:
    """Draw all of them."""
    PICTURES.mkdir(exist_ok=True)
    save, wide, panels = Figure.savefig, reproduce.picture, drawing.Panels
    drawn: list[bytes] = []

    def small(figure: Any, target: Any, **options: Any) -> None:
        title = figure.get_suptitle()
        if figure.get_size_inches()[0] < 5:
            figure.suptitle(title.replace(": ", ":\n"), fontsize=9)
        save(figure, target, **{**options, "dpi": 100})

    def both(*terms: Any) -> bytes:
        drawing.Panels = NarrowPanels  # type: ignore[misc]
        drawn.append(wide(*terms))
        drawing.Panels = panels  # type: ignore[misc]
        return wide(*terms)

    Figure.savefig, reproduce.picture = small, both  # type: ignore[assignment,method-assign]
    for paper, items in FIGURES.items():
        for item in items:
            with tempfile.TemporaryDirectory() as folder:
                drawn.clear()
                done = CliRunner().invoke(dither, ["reproduce", paper, item, "--quick", "-o", folder])
                (file,) = Path(folder).glob("*.png")
                (PICTURES / file.name).write_bytes(file.read_bytes())
                (PICTURES / file.name).with_stem(f"{file.stem}-portrait").write_bytes(drawn[0])
                print(file.name, done.output.strip())


if __name__ == "__main__":
    main()
