"""One case for every public mechanism and combinator: what its devices are told, pinned for ever.

A new mechanism is one line here. `python -m tools.golden devices` writes the lines that the file lacks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dither as dt
from dither import mechanisms
from dither.extensions.classifiers.indicator import Indicator, RawRelease
from dither.mechanisms.places.base import grid

FILE = Path(__file__).with_name("device-2.json")

UNIT, WIDE, TURN = dt.Interval(0, 1), dt.Interval(-3, 7.5), dt.Circle(360)
FOUR = dt.Categories(["firefox", "chrome", "safari", "other"])
CITY = dt.Rectangle(dt.Interval(139.47, 139.9), dt.Interval(35.51, 35.86))
SQUARE = dt.Rectangle(UNIT, UNIT)
POINTS = grid(SQUARE, 3)
AREAS = {
    "rectangle": CITY,
    "disk": dt.Disk(2.5, (1.0, -1.0)),
    "parallelogram": dt.maps.Parallelogram((0.0, 0.0), (2.0, 1.0), (0.0, 1.0)),
}
LINES = [[(139.5, 35.52 + a / 40), (139.8, 35.52 + b / 40)] for a in range(4) for b in range(4)]
ALONG = [[abs(i - j) for j in range(9)] for i in range(9)]
KEY = bytes(range(32))

CASES: dict[str, Callable[[], Any]] = {
    "ATP": lambda: dt.rivals.ATP(SQUARE, POINTS, epsilon=2),
    "ATP, as published": lambda: dt.rivals.ATP.as_published(SQUARE, POINTS, epsilon=2),
    "BLH": lambda: dt.rivals.BLH(FOUR, epsilon=1),
    "BoundedLaplace": lambda: dt.BoundedLaplace(WIDE, epsilon=1, cells=64),
    "BoundedLaplace, near values": lambda: dt.BoundedLaplace(WIDE, epsilon=1, sensitivity=2.5, cells=64),
    "Cumulative": lambda: dt.optimal.Cumulative(WIDE, epsilon=1, cells=8),
    "Cumulative, scale": lambda: dt.optimal.Cumulative(FOUR, epsilon=2),
    "Duchi": lambda: dt.Duchi(WIDE, epsilon=1),
    "Each": lambda: dt.Each(age=dt.Podium(dt.Interval(18, 100), epsilon=1), browser=dt.KRR(FOUR, epsilon=1)),
    "Exponential": lambda: dt.Exponential(WIDE, [-3, 0, 2.5, 7.5], epsilon=1),
    "Exponential, places": lambda: dt.Exponential(SQUARE, POINTS, epsilon=2),
    "Exponential, circle": lambda: dt.Exponential(TURN, [10, 100, 350], epsilon=1),
    "Focused": lambda: dt.optimal.Focused(WIDE, epsilon=1, focus=2.5),
    "Gaussian": lambda: dt.Gaussian(WIDE, epsilon=1, delta=1e-6, cells=256),
    "Gridding": lambda: dt.rivals.Gridding(CITY, epsilon=2, side=5),
    "HadamardResponse": lambda: dt.HadamardResponse(FOUR, epsilon=1),
    "Hybrid": lambda: dt.Hybrid(WIDE, epsilon=2),
    "Indicator": lambda: _indicator(0.01),
    "JRR": lambda: dt.JRR(FOUR, p=0.75, rho=-0.2, n=1000),
    "JointOLH": lambda: dt.JRR.over(dt.OLH(FOUR, epsilon=1), rho=-0.2, n=1000),
    "JointSUE": lambda: dt.JRR.over(dt.rivals.SUE(FOUR, epsilon=1), rho=-0.2, n=1000),
    "JointMoments": lambda: dt.optimal.JointMoments(dt.Box({"x": UNIT, "y": WIDE}), epsilon=1),
    "JointMoments, one number": lambda: dt.optimal.JointMoments(WIDE, epsilon=2),
    "KRR": lambda: dt.KRR(FOUR, epsilon=1),
    "KRR, numbered": lambda: dt.KRR(dt.Categories(1000), epsilon=1),
    "KRR, optional": lambda: dt.KRR(dt.Nullable(FOUR), epsilon=1),
    "KRR, labels of every kind": lambda: dt.KRR(
        dt.Categories(["é", 1, 2.5, True + 1, None, -(1 << 60), "\n"]), epsilon=1
    ),
    "LSRR": lambda: dt.rivals.LSRR(SQUARE, POINTS, epsilon=2),
    "Laplace": lambda: dt.Laplace(WIDE, epsilon=1),
    "Marginals": lambda: dt.Marginals({"age": dt.Categories(3), "browser": FOUR}, epsilon=1),
    "Marginals, functionals": lambda: dt.Marginals(
        {"age": dt.Categories(4), "browser": FOUR, "tea": dt.Categories(4)}, epsilon=1
    ),
    "Matrix": lambda: dt.Matrix(FOUR, [[3, 1, 1], [1, 3, 1], [1, 1, 3], [2, 2, 1]]),
    "Matrix, points": lambda: dt.Matrix(WIDE, [[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]], epsilon=1.5),
    "Memoised": lambda: dt.Memoised(dt.Podium(WIDE, epsilon=1), KEY, name="age"),
    "NGram": lambda: dt.rivals.NGram(SQUARE, POINTS, epsilon=2),
    "NGram, as published": lambda: dt.rivals.NGram.as_published(SQUARE, POINTS, epsilon=2),
    "OGPM": lambda: dt.OGPM(WIDE, epsilon=1),
    "OGPM, circle": lambda: dt.OGPM(TURN, epsilon=1),
    "OGPM, optional circle": lambda: dt.OGPM(dt.Nullable(TURN), epsilon=1, cells=256),
    "OGPM, squared": lambda: dt.OGPM(WIDE, epsilon=1, loss="squared"),
    "OGPM, ε = 50": lambda: dt.OGPM(WIDE, epsilon=50),
    "OGPMU": lambda: dt.rivals.OGPMU(WIDE, epsilon=1),
    "OLH": lambda: dt.OLH(FOUR, epsilon=2),
    "OUE": lambda: dt.OUE(FOUR, epsilon=1),
    "Optimal": lambda: dt.Optimal(WIDE, epsilon=1),
    "Optimal, vectors": lambda: dt.Optimal(dt.Vectors(384, exact=True), epsilon=2),
    "Optimal, box": lambda: dt.Optimal(dt.Box({"age": WIDE, "share": dt.Interval(0, 1)}), epsilon=2),
    "Optimal, circle": lambda: dt.Optimal(TURN, epsilon=1),
    "Optimal, disk": lambda: dt.Optimal(AREAS["disk"], epsilon=2, purpose="map"),
    "Optimal, list of places": lambda: dt.Optimal(dt.Places(9, distances=ALONG), epsilon=4),
    "Optimal, places": lambda: dt.Optimal(CITY, epsilon=2),
    "Optimal, routes": lambda: dt.Optimal(
        dt.Routes(CITY, points=4), epsilon=4, prior=(LINES, "lines of the network")
    ),
    "Optimal, sphere": lambda: dt.Optimal(dt.Sphere(), epsilon=2),
    "Optimal, unbiased": lambda: dt.Optimal(WIDE, epsilon=1, unbiased=True),
    "PEM": lambda: dt.PEM(dt.Text(6), epsilon=1),
    "PEM, alphabet": lambda: dt.PEM(dt.Text(6, alphabet="abcé"), epsilon=1),
    "PM": lambda: dt.PM(WIDE, epsilon=1),
    "PM, 2^20 cells": lambda: dt.PM(WIDE, epsilon=1, cells=1 << 20),
    "PlanarLaplace": lambda: dt.PlanarLaplace(CITY, epsilon=2),
    "PlanarStaircase": lambda: dt.PlanarStaircase(CITY, epsilon=2, distance=0.05),
    "PlanarStaircase, pure": lambda: dt.PlanarStaircase(AREAS["disk"], epsilon=2),
    "Podium, optional": lambda: dt.Podium(dt.Nullable(WIDE), epsilon=1),
    "Podium": lambda: dt.Podium(WIDE, epsilon=1),
    "Polar": lambda: dt.Polar(dt.Disk(2.5, (1.0, -1.0)), epsilon=2),
    "ProjectiveResponse": lambda: dt.ProjectiveResponse(FOUR, epsilon=1),
    "ProjectiveResponse, q = 4, t = 4": lambda: dt.ProjectiveResponse(dt.Categories(64), epsilon=1),
    "ProjectiveResponse, ε = 50": lambda: dt.ProjectiveResponse(dt.Categories(1000), epsilon=50),
    "Purkayastha": lambda: dt.rivals.Purkayastha(TURN, epsilon=1),
    "RR": lambda: mechanisms.RR(dt.Categories(["no", "yes"]), epsilon=1),
    "SUE": lambda: dt.rivals.SUE(FOUR, epsilon=1),
    "SW": lambda: dt.SW(WIDE, epsilon=1),
    "SW, redesigned": lambda: dt.SW(WIDE, epsilon=1).redesigned(),
    "Sampled": lambda: dt.Sampled(age=dt.Podium(UNIT, epsilon=1), browser=dt.KRR(FOUR, epsilon=1)),
    "Sectors": lambda: dt.rivals.Sectors(TURN, epsilon=1),
    "SetResponse": lambda: dt.SetResponse(dt.Several(["mail", "maps", "music", "news"], most=2), epsilon=1),
    "SetResponse, 1 000 items": lambda: dt.SetResponse(dt.Several(1000, most=20), epsilon=1),
    "SetResponse, polynomial": lambda: dt.SetResponse(dt.Several(10_000, most=5), epsilon=1),
    "SetResponse, polynomial, pairs": lambda: dt.SetResponse(
        dt.Several(["mail", "maps", "music", "news"], most=2), epsilon=1, report="polynomial", pairs=True
    ),
    "Staircase": lambda: dt.Staircase(WIDE, epsilon=1),
    "Strawman": lambda: dt.rivals.Strawman(CITY, epsilon=2),
    "SubsetIndices": lambda: dt.SubsetSelection(dt.Categories(12), epsilon=1, report="indices"),
    "SubsetSelection": lambda: dt.SubsetSelection(FOUR, epsilon=1),
    "TraCSC": lambda: dt.TraCSC(CITY, epsilon=2),
    "TraCSC, sphere": lambda: dt.TraCSC(dt.Sphere(), epsilon=2),
    "TraCSC, square waves": lambda: dt.TraCSC(CITY, epsilon=2, inner=partial(dt.SW, redesign=True)),
    "TraCSC, trajectory": lambda: dt.TraCSC(CITY, epsilon=20, unit="trajectory"),
    **{f"TraCSD, {name}": partial(dt.TraCSD, area, epsilon=2) for name, area in AREAS.items()},
    "TraCSD, fixed": lambda: dt.TraCSD(CITY, epsilon=2, reference="fixed"),
    "TraCSD, trajectory": lambda: dt.TraCSD(CITY, epsilon=20, unit="trajectory"),
    "TwoPoint": lambda: dt.optimal.TwoPoint(WIDE, epsilon=1),
    "Workload": lambda: dt.optimal.Workload.of([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], 1),
}


def _indicator(delta: float) -> Indicator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawRelease)
        return Indicator(dt.Podium(WIDE, epsilon=1), delta=delta, allow_raw_release=True)
