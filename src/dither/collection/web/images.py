"""Pictures of the page as PNG: the SVG of `charts`, with its own style, drawn by matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from dither.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    Draw = Callable[[Axes, ElementTree.Element, dict[str, str]], Artist]

_DOTS: Final = 100.0  # units of the picture in an inch,
_SCALE: Final = 2.5  # and pixels for each of them
_MARGIN: Final = 12.0  # units around the picture, for letters beyond its edge
_PAPER: Final = "paper"  # the property of the background


def as_png(svg: str) -> bytes:
    """Return a picture as PNG, in the light colours of its style; raise MissingExtra without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("pictures as PNG", "plot") from None
    picture = ElementTree.fromstring(svg)  # our own text, without entities
    _, _, width, height = (float(number) for number in picture.attrib["viewBox"].split())
    style = _Style(picture.findtext("{*}style") or "")
    size = ((width + 2 * _MARGIN) / _DOTS, (height + 2 * _MARGIN) / _DOTS)
    figure = Figure(figsize=size, dpi=_DOTS * _SCALE, facecolor=style.properties[_PAPER])
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(-_MARGIN, width + _MARGIN)
    axes.set_ylim(height + _MARGIN, -_MARGIN)
    for order, artist in enumerate(_artists(axes, picture, style)):
        artist.set_zorder(order + 1)  # as in SVG, later elements cover earlier ones
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


class _Style:
    """The rules of a style sheet for elements and classes, and its properties, those of the light theme."""

    def __init__(self, text: str) -> None:
        self.properties: dict[str, str] = {}
        for name, value in re.findall(r"--(\w+):(#[0-9a-f]+)", text):
            self.properties.setdefault(name, value)  # the dark theme comes later
        self._rules = [
            (frozenset(re.findall(r"[\w-]+", selector)), dict(re.findall(r"([\w-]+):([^;]+)", body)))
            for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", text)
            for selector in selectors.split(",")
            if ":" not in selector and " " not in selector.strip()
        ]

    def of(self, element: ElementTree.Element) -> dict[str, str]:
        """Return the declarations for an element, with the values of properties."""
        names = {element.tag.rpartition("}")[2], *element.get("class", "").split()}
        found: dict[str, str] = {}
        for selector, said in sorted(self._rules, key=lambda rule: len(rule[0])):
            if selector <= names:
                found |= said
        return {name: re.sub(r"var\(--(\w+)\)", self._property, value) for name, value in found.items()}

    def _property(self, found: re.Match[str]) -> str:
        return self.properties[found[1]]


def _artists(axes: Axes, picture: ElementTree.Element, style: _Style, down: float = 0.0) -> Iterator[Artist]:
    """Yield the drawn objects of each visible element; groups may be moved down."""
    from matplotlib.transforms import Affine2D

    for element in picture:
        moved = re.fullmatch(r"translate\(0 ([\d.]+)\)", element.get("transform", ""))
        offset = down + (float(moved[1]) if moved else 0.0)
        draw = _DRAWN.get(element.tag.rpartition("}")[2])
        said = style.of(element) if draw else {}
        if draw is not None and said.get("display") != "none" and said.get("fill") != "transparent":
            made = draw(axes, element, said)
            made.set_transform(Affine2D().translate(0.0, offset) + axes.transData)
            yield made
        yield from _artists(axes, element, style, offset)


def _numbers(element: ElementTree.Element, *names: str) -> list[float]:
    return [float(element.attrib[name]) for name in names]


def _points(element: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in element.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def _inches(units: str | float) -> float:
    """Return a length of the style in points of print."""
    return float(str(units).removesuffix("px")) * 72.0 / _DOTS


def _line(axes: Axes, element: ElementTree.Element, said: dict[str, str]) -> Artist:
    if element.tag.endswith("polyline"):
        points = _points(element)
    else:
        x1, y1, x2, y2 = _numbers(element, "x1", "y1", "x2", "y2")
        points = [(x1, y1), (x2, y2)]
    across, down = zip(*points, strict=True)
    (made,) = axes.plot(across, down, color=said["stroke"], solid_capstyle="butt")
    made.set_alpha(float(said.get("opacity", 1.0)))
    made.set_linewidth(_inches(said.get("stroke-width", 1.0)))
    return made


def _patch(axes: Axes, element: ElementTree.Element, said: dict[str, str]) -> Artist:
    from matplotlib.patches import Circle, Patch, Polygon, Rectangle

    made: Patch
    kind = element.tag.rpartition("}")[2]
    if kind == "rect":
        x, y, width, height = _numbers(element, "x", "y", "width", "height")
        made = Rectangle((x, y), width, height)
    elif kind == "circle":
        x, y, radius = _numbers(element, "cx", "cy", "r")
        made = Circle((x, y), radius)
    else:
        made = Polygon(_points(element))
    made.set(facecolor=said["fill"], edgecolor="none")
    axes.add_patch(made)
    return made


def _text(axes: Axes, element: ElementTree.Element, said: dict[str, str]) -> Artist:
    x, y = _numbers(element, "x", "y")
    aligned = {"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left")
    size = _inches(said["font-size"])
    words = (element.text or "").replace("$", r"\$")  # so that it does not begin a formula
    made = axes.text(x, y, words, color=said["fill"], fontsize=size, ha=aligned, va="baseline")
    made.set_clip_on(False)
    return made


_DRAWN: Final[dict[str, Draw]] = {
    "line": _line,
    "polyline": _line,
    "rect": _patch,
    "circle": _patch,
    "polygon": _patch,
    "text": _text,
}
