"""Local differential privacy, exact to the last bit."""

from dither.domains import Categories, Circle, Disk, Interval, Rectangle, Sphere
from dither.estimation import Estimate
from dither.losses import absolute, power, squared
from dither.mechanisms import OGPM, OGPMU, PM, SW, Duchi, Hybrid, Podium
from dither.privacy import Guarantee
from dither.randomness import Seeded
from dither.reports import Reports

__all__ = [
    "OGPM",
    "OGPMU",
    "PM",
    "SW",
    "Categories",
    "Circle",
    "Disk",
    "Duchi",
    "Estimate",
    "Guarantee",
    "Hybrid",
    "Interval",
    "Podium",
    "Rectangle",
    "Reports",
    "Seeded",
    "Sphere",
    "absolute",
    "power",
    "squared",
]
