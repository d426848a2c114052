"""Draw the one kernel from a real mechanism: `python docs/draw_kernel.py` writes kernel.svg, twice."""

from __future__ import annotations

from pathlib import Path

import dither as dt

CELLS, BASE = 32, 190.0
INK, WINDOW, REST, NOTE = "#22303c", "#e07a3f", "#9fb4c7", "#5b6b79"


def picture(step: float, left: float, after: float) -> str:
    """Return the picture, with cells of a width between two margins."""
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1.5, cells=CELLS)
    window = mechanism.question.kernel.window
    whole = 6 / (CELLS - window.width)  # an input whose window starts at a whole cell
    law = [float(p) for p in mechanism.probabilities(whole)]
    values = mechanism.question.decode(list(range(CELLS)))
    high, low = max(law), min(law)
    right = left + CELLS * step
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + after:.0f} 300" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for cell, p in enumerate(law):
        height = 130.0 * p / high
        colour = WINDOW if p > (high + low) / 2 else REST
        parts.append(
            f'<rect x="{left + cell * step + 1:.1f}" y="{BASE - height:.1f}" width="{step - 2}" '
            f'height="{height:.1f}" fill="{colour}"/>'
        )
    likelier = [cell for cell, p in enumerate(law) if p > (high + low) / 2]
    middle = left + (likelier[0] + likelier[-1] + 1) / 2 * step

    def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = INK) -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>')

    text(middle, 45, f"a window of K = {window.width} cells, weight H each")
    text(right + 8, BASE - 130 * low / high + 4, "L each", "start")
    text(left - 8, BASE - 126, "H", "end")
    parts.append(f'<line x1="{left}" y1="{BASE}" x2="{right}" y2="{BASE}" stroke="{INK}"/>')
    text((left + right) / 2, BASE + 22, f"N = {CELLS} cells: what a device sends is the number of one cell")
    parts.append(f'<line x1="{left}" y1="{BASE + 62}" x2="{right}" y2="{BASE + 62}" stroke="{NOTE}"/>')
    for cell in range(0, CELLS, 4 if step > 10 else 8):
        x = left + (cell + 0.5) * step
        parts.append(f'<line x1="{x}" y1="{BASE + 58}" x2="{x}" y2="{BASE + 66}" stroke="{NOTE}"/>')
        text(x, BASE + 82, f"{values[cell]:.1f}", colour=NOTE)
    text((left + right) / 2, BASE + 50, "the codebook: which number each cell stands for", colour=NOTE)
    parts.append("</svg>\n")
    return "\n".join(parts)


def main() -> None:
    """Write the picture, and a narrow one for phones."""
    pictures = Path(__file__).with_name("pictures")
    pictures.joinpath("kernel.svg").write_text(picture(20.0, 60.0, 120.0))
    pictures.joinpath("kernel-portrait.svg").write_text(picture(10.0, 40.0, 50.0))


if __name__ == "__main__":
    main()
