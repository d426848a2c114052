"""What a question admits: intervals, circles, categories and places."""

from dither.domains.categories import Categories
from dither.domains.domain import BLOCK, Domain, Line, finite, numbers
from dither.domains.line import Circle, Interval
from dither.domains.plane import Disk, Plane, Rectangle, Sphere

__all__ = [
    "BLOCK",
    "Categories",
    "Circle",
    "Disk",
    "Domain",
    "Interval",
    "Line",
    "Plane",
    "Rectangle",
    "Sphere",
    "finite",
    "numbers",
]
