"""Domains, the sets of possible values: intervals, circles, categories, texts and areas."""

from dither.domains.categories import Categories, CodedLabels
from dither.domains.domain import BLOCK, Domain, Line, finite, first_misfit, numbers, read_domain
from dither.domains.line import Circle, Interval
from dither.domains.parallelogram import Parallelogram
from dither.domains.paths import Paths
from dither.domains.plane import Disk, Plane, Rectangle, Region, Sphere
from dither.domains.profile import Profile
from dither.domains.text import Text

__all__ = [
    "BLOCK",
    "Categories",
    "Circle",
    "CodedLabels",
    "Disk",
    "Domain",
    "Interval",
    "Line",
    "Parallelogram",
    "Paths",
    "Plane",
    "Profile",
    "Rectangle",
    "Region",
    "Sphere",
    "Text",
    "finite",
    "first_misfit",
    "numbers",
    "read_domain",
]
