"""How curves look: one colour and marker for each mechanism, one kind of line for each version."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final, final

from dither.reproduction.version import CODED, PUBLISHED, RIGHT


@final
@dataclass(frozen=True)
class Style:
    """A colour and a marker. Variants of a mechanism share its colour and have another marker."""

    colour: str
    marker: str


_BLUE, _ORANGE, _RED, _GREEN, _TEAL = "#0072b2", "#e69f00", "#d55e00", "#009e73", "#2aa6a1"
_PURPLE, _PINK, _SKY, _BROWN, _GREY, _BLACK = "#7b4ab5", "#cc79a7", "#56b4e9", "#8c510a", "#777777", "#222222"
_OLIVE, _NAVY, _RUST = "#8a8a00", "#1f3b73", "#a6361c"

STYLES: Final[dict[str, Style]] = {
    # numbers
    "OGPM": Style(_BLUE, "o"),
    "PM (= OGPM)": Style(_BLUE, "o"),  # what chapter 7 of the dissertation calls PM
    "OGPM, best for squares": Style(_BLUE, "*"),
    "PM (= OGPM), in the proven box": Style(_BLUE, "."),
    "OGPM-U": Style(_SKY, "P"),
    "OGPMU": Style(_SKY, "P"),
    "PM": Style(_ORANGE, "s"),
    "PM-C": Style(_ORANGE, "D"),
    "T-PM": Style(_ORANGE, "d"),
    "SW": Style(_GREEN, "^"),
    "SW-C": Style(_GREEN, "v"),
    "T-SW": Style(_GREEN, "<"),
    "SW, redesigned": Style(_GREEN, ">"),
    "SW, redesigned, in the proven box": Style(_GREEN, "."),
    "Podium": Style(_PURPLE, "h"),
    "Podium, s = ε/3": Style(_PURPLE, "H"),
    "Laplace": Style(_GREY, "s"),
    "Laplace, in the proven box": Style(_GREY, "."),
    "T-Laplace": Style(_GREY, "P"),
    "B-Laplace": Style(_GREY, "v"),
    "Staircase": Style(_PINK, "X"),
    "Purkayastha": Style(_BROWN, "P"),
    "Gaussian": Style(_BROWN, "8"),
    "Gaussian, in the proven box": Style(_BROWN, "."),
    "Exponential": Style(_RED, "p"),
    "Exponential, in the proven box": Style(_RED, "."),
    "k-RR": Style(_OLIVE, "h"),
    "k-RR, in the proven box": Style(_OLIVE, "."),
    # answers from a list
    "RR": Style(_NAVY, "s"),
    "RR at what JRR spends": Style(_NAVY, "D"),
    "JRR": Style(_RUST, "o"),
    "JRR, optimal": Style(_RUST, "P"),
    "JRR, heuristic": Style(_RUST, "X"),
    "JRR, best if informed": Style(_RUST, "*"),
    # places
    "TraCS-D": Style(_BLUE, "<"),
    "TraCS-D from the corner": Style(_BLUE, "s"),
    "TraCS-D (R-SW)": Style(_BLUE, "D"),
    "TraCS-C": Style(_TEAL, ">"),
    "strawman": Style(_OLIVE, "p"),
    "planar Laplace": Style(_GREY, "*"),
    "ATP": Style(_RED, "v"),
    "NGram": Style(_PURPLE, "^"),
    "NGram spending ε": Style(_PURPLE, "v"),
    "L-SRR": Style(_BROWN, "D"),
    "L-SRR with c = e^ε": Style(_BROWN, "^"),
    "gridding 10 × 10": Style(_PINK, "s"),
    "gridding 100 × 100": Style(_PINK, "P"),
    "3-RR": Style(_OLIVE, "^"),
    "6-RR": Style(_OLIVE, "v"),
    "12-RR": Style(_OLIVE, "s"),
    # the trusted curator
    "Algorithm 1": Style(_NAVY, "o"),
    "Algorithm 2": Style(_ORANGE, "v"),
    "Algorithm 3, Laplace": Style(_GREY, "X"),
    "Algorithm 3, 2-D staircase": Style(_PINK, "D"),
    "Algorithm 3, hourglass": Style(_RED, "*"),
    "Algorithm 3, hourglass, eq. (10)": Style(_RED, "P"),
    "lower bound": Style(_BLACK, ""),
}
PROVEN: Final = "in the proven box"  # the end of a curve's name that is a lower bound
LINES: Final = {RIGHT: "-", CODED: "--", PUBLISHED: ":"}
_OTHERS: Final = (_BLUE, _ORANGE, _GREEN, _RED, _PURPLE, _BROWN, _PINK, _GREY, _NAVY, _OLIVE)


def styles_of(names: list[str]) -> dict[str, Style]:
    """Return the style of each curve; those that are no mechanisms take colours in order, unmarked."""
    others = cycle(_OTHERS)
    return {name: STYLES[name] if name in STYLES else Style(next(others), "") for name in names}


def drawn(style: Style, points: int, version: str = RIGHT) -> dict[str, Any]:
    """Return the keywords of a curve for matplotlib: at most about nine markers, hollow unless right."""
    return {
        "color": style.colour,
        "marker": style.marker or None,
        "linestyle": LINES.get(version, "-"),
        "markevery": max(1, points // 8),
        "markersize": 5.5,
        "markerfacecolor": style.colour if version == RIGHT else "white",
        "linewidth": 1.5,
    }
