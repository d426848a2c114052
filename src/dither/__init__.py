"""Local differential privacy, exact to the last bit."""

from dither.audits import Finding, audit
from dither.campaigns import from_bytes, from_json, to_bytes, to_json
from dither.domains import Categories, Circle, Disk, Interval, Rectangle, Sphere
from dither.estimation import Estimate, Summary
from dither.losses import absolute, average, power, squared, worst
from dither.mechanisms import OGPM, OGPMU, PM, SW, Duchi, Hybrid, Podium
from dither.privacy import Guarantee, Ledger, Nothing
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
    "Finding",
    "Guarantee",
    "Hybrid",
    "Interval",
    "Ledger",
    "Nothing",
    "Podium",
    "Rectangle",
    "Reports",
    "Seeded",
    "Sphere",
    "Summary",
    "absolute",
    "audit",
    "average",
    "from_bytes",
    "from_json",
    "power",
    "squared",
    "to_bytes",
    "to_json",
    "worst",
]
