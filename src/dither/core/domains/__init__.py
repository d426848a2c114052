"""Domains, the sets of possible values: intervals, circles, categories, sets of items, texts and areas."""

from dither.core.domains.categories import Categories, CodedLabels, LabelLists, Places, Profile, Several, Text
from dither.core.domains.domain import (
    BLOCK,
    Box,
    Circle,
    Domain,
    Interval,
    Line,
    Optional,
    finite,
    first_misfit,
    numbers,
    read_domain,
)
from dither.core.domains.plane import Disk, Parallelogram, Paths, Plane, Rectangle, Region, Sphere

__all__ = [
    "BLOCK",
    "Box",
    "Categories",
    "Circle",
    "CodedLabels",
    "Disk",
    "Domain",
    "Interval",
    "LabelLists",
    "Line",
    "Optional",
    "Parallelogram",
    "Paths",
    "Places",
    "Plane",
    "Profile",
    "Rectangle",
    "Region",
    "Several",
    "Sphere",
    "Text",
    "finite",
    "first_misfit",
    "numbers",
    "read_domain",
]
