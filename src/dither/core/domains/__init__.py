"""Domains, the sets of possible values: intervals, circles, categories, sets of items, texts and areas."""

from dither.core.domains.categories import Categories, CodedLabels, Places, Text
from dither.core.domains.domain import (
    BLOCK,
    Circle,
    Domain,
    Interval,
    Line,
    check_domain,
    finite,
    first_misfit,
    numbers,
    read_domain,
)
from dither.core.domains.nullable import Nullable
from dither.core.domains.paths import Paths
from dither.core.domains.plane import Disk, Parallelogram, Plane, Rectangle, Region, Sphere
from dither.core.domains.records import Box, Profile
from dither.core.domains.routes import Routes
from dither.core.domains.sets import LabelLists, Several
from dither.core.domains.vectors import Vectors

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
    "Nullable",
    "Parallelogram",
    "Paths",
    "Places",
    "Plane",
    "Profile",
    "Rectangle",
    "Region",
    "Routes",
    "Several",
    "Sphere",
    "Text",
    "Vectors",
    "check_domain",
    "finite",
    "first_misfit",
    "numbers",
    "read_domain",
]
