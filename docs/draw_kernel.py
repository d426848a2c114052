"""Draw the one kernel from a real mechanism: `python docs/draw_kernel.py` writes pictures/kernel.svg."""

from __future__ import annotations

from pathlib import Path

import dither as dt

CELLS, LEFT, BASE, STEP = 32, 60.0, 190.0, 20.0
INK, WINDOW, REST, NOTE = "#22303c", "#e07a3f", "#9fb4c7", "#5b6b79"


def main() -> None:
    """Write the picture."""
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1.5, cells=CELLS)
    window = mechanism.question.kernel.window
    whole = 6 / (CELLS - window.width)  # an input whose window starts at a whole cell
    law = [float(p) for p in mechanism.probabilities(whole)]
    values = mechanism.question.decode(list(range(CELLS)))
    high, low = max(law), min(law)
    right = LEFT + CELLS * STEP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + 120:.0f} 300" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for cell, p in enumerate(law):
        height = 130.0 * p / high
        colour = WINDOW if p > (high + low) / 2 else REST
        parts.append(
            f'<rect x="{LEFT + cell * STEP + 1:.1f}" y="{BASE - height:.1f}" width="{STEP - 2}" '
            f'height="{height:.1f}" fill="{colour}"/>'
        )
    window = [cell for cell, p in enumerate(law) if p > (high + low) / 2]
    middle = LEFT + (window[0] + window[-1] + 1) / 2 * STEP

    def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = INK) -> None:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>')

    text(middle, 45, f"a window of K = {window.width} cells, weight H each")
    text(right + 8, BASE - 130 * low / high + 4, "L each", "start")
    text(LEFT - 8, BASE - 126, "H", "end")
    parts.append(f'<line x1="{LEFT}" y1="{BASE}" x2="{right}" y2="{BASE}" stroke="{INK}"/>')
    text((LEFT + right) / 2, BASE + 22, f"N = {CELLS} cells: what a device sends is the number of one cell")
    parts.append(f'<line x1="{LEFT}" y1="{BASE + 62}" x2="{right}" y2="{BASE + 62}" stroke="{NOTE}"/>')
    for cell in range(0, CELLS, 4):
        x = LEFT + (cell + 0.5) * STEP
        parts.append(f'<line x1="{x}" y1="{BASE + 58}" x2="{x}" y2="{BASE + 66}" stroke="{NOTE}"/>')
        text(x, BASE + 82, f"{values[cell]:.1f}", colour=NOTE)
    text((LEFT + right) / 2, BASE + 50, "the codebook: which number each cell stands for", colour=NOTE)
    parts.append("</svg>\n")
    Path(__file__).with_name("pictures").joinpath("kernel.svg").write_text("\n".join(parts))


if __name__ == "__main__":
    main()
