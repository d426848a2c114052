"""Draw the layers of the package from its contract: `python docs/draw_layers.py` writes a picture."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "layers.svg"

# What a band is for, its lowest layer in the contract of `pyproject.toml`, and its colour.
BANDS = (
    ("what people use", "extensions", "#f6d9c6"),
    ("collecting, files", "data", "#f3e7c4"),
    ("from reports to answers", "estimation", "#d8ead3"),
    ("the papers", "mechanisms", "#f1cfd2"),
    ("what devices draw", "core", "#cfe3f1"),
    ("promises, numbers", "foundation", "#e3e6ea"),
)
INK, NOTE = "#22303c", "#5b6b79"
BOX, STEP, LETTER = 28.0, 38.0, 7.6


def layers() -> list[list[str]]:
    """Return the rooms of each layer, the highest first, as `lint-imports` checks them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    stated = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [layer.split(" | ") for layer in stated]


def bands() -> list[tuple[str, str, list[str]]]:
    """Return the words, the colour and the rooms of each band, the highest first."""
    rest, found = layers(), []
    for words, lowest, colour in BANDS:
        end = rest.index(lowest.split(" | ")) + 1
        found.append((words, colour, [room for layer in rest[:end] for room in layer]))
        rest = rest[end:]
    if rest:
        raise ValueError(f"no band has {rest}")
    return found


def picture(*, narrow: bool = False) -> str:
    """Return the picture as SVG: a band above another may import it. A narrow one has its words above."""
    left, across, above = (6.0, 350.0, 22.0) if narrow else (190.0, 760.0, 0.0)
    parts: list[str] = []

    def text(x: float, y: float, words: str, *, anchor: str = "middle", more: str = f'fill="{INK}"') -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}</text>')

    y = 16.0
    for words, colour, rooms in bands():
        rows: list[list[str]] = [[]]
        for room in rooms:
            if sum(len(name) * LETTER + 32.0 for name in [*rows[-1], room]) > across:
                rows.append([])
            rows[-1].append(room)
        height = STEP * len(rows) + 10.0 + above
        start = left if narrow else 16.0
        size = f'x="{start:g}" y="{y}" width="{left + across - start}" height="{height}"'
        parts.append(f'<rect {size} rx="6" fill="{colour}"/>')
        text(start + 14.0, y + (20.0 if narrow else height / 2 + 4), words, anchor="start")
        for number, row in enumerate(rows):
            x, top = left + 10.0, y + 10.0 + above + STEP * number
            for room in row:
                width = len(room) * LETTER + 20.0
                parts.append(
                    f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{BOX}" rx="4" fill="white" '
                    f'stroke="{NOTE}"/>'
                )
                text(x + width / 2, top + 18.5, room, more=f'fill="{INK}" font-family="monospace"')
                x += width + 12.0
        y += height + 8.0
    right = left + across + (12.0 if narrow else 24.0)
    parts.append(
        f'<path d="M {right} 20 V {y - 24} m -6 -10 l 6 10 l 6 -10" fill="none" stroke="{INK}" '
        'stroke-width="1.6"/>'
    )
    text(0, 0, "imports", more=f'fill="{NOTE}" transform="translate({right + 18} {y / 2}) rotate(90)"')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 32:.0f} {y + 8:.0f}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PICTURE.with_stem("layers-portrait").write_text(picture(narrow=True), encoding="utf-8")
