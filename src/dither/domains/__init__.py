"""Domains, the sets of possible values: intervals, circles, categories, texts and areas."""

from dither.domains.categories import Categories, CodedLabels, Places, Profile, Text
from dither.domains.domain import (
    BLOCK,
    Circle,
    Domain,
    Interval,
    Line,
    finite,
    first_misfit,
    numbers,
    read_domain,
)
from dither.domains.plane import Disk, Parallelogram, Paths, Plane, Rectangle, Region, Sphere

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
    "Places",
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
