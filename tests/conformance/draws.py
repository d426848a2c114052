"""Vectors of draws: what a device sends for a value, given the random bytes that it takes.

`python -m tests.conformance.draws` writes clients/conformance/2/draws.json anew.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import numpy as np

import dither as dt
from dither import mechanisms
from dither.collection.conformance import draw_of
from dither.core.kernels.alias import Alias
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.places.nearest import BoxKernel, Grid, ListingKernel, NearestKernel, Points
from dither.core.kernels.places.place import PlaceKernel
from dither.core.kernels.places.routes import RouteKernel
from dither.core.kernels.splines import SplineKernel
from dither.core.question import Question, as_question, ask
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.places.base import PathMechanism, grid
from tests.conformance.values import outside, report, values
from tests.support.sources import ChosenBytes

FILE: Final = Path(__file__).parents[2] / "clients" / "conformance" / "2" / "draws.json"
DRAWS: Final = 60  # of each question
LONG: Final = 25  # locations of a path where there are many draws
# The draws that clients/javascript does not know; clients/conformance/README.md names them.
PYTHON_ONLY: Final = (
    *("prefix", "planar", "rings", "points", "grid"),
    *("two copies", "joint response", "joint bits", "joint hashed"),
)

# Draws for comparisons and research: no campaign asks for them by its tables, and a port may leave them out.
RESEARCH: Final = (
    *("sectors", "walk", "rings", "points", "grid", "two copies"),
    *("joint response", "joint bits", "joint hashed"),
)

LINE, CIRCLE = dt.Interval(-3, 7.5), dt.Circle(360)
WORDS = dt.Categories(["firefox", "chrome", "safari", "other"])
CITY = dt.Rectangle(dt.Interval(139.47, 139.9), dt.Interval(35.51, 35.86))
DISK, SLANTED = dt.Disk(2.5, (1.0, -1.0)), dt.maps.Parallelogram((0.0, 0.0), (2.0, 1.0), (0.0, 1.0))
POINTS = grid(CITY, 4)
INTEGERS = dt.Rectangle(dt.Interval(0, 65536), dt.Interval(0, 65536))  # a place is its own integers


def even_levels(epsilon: float) -> Question:
    """Return a question about prefixes whose device text states no shares of the levels."""
    made = dt.PEM(dt.Text(6), epsilon=epsilon).question
    kernel = replace(made.kernel, shares=())
    return ask(made.domain, kernel, epsilon=epsilon, name="PEM", parameters={"epsilon": epsilon})


def nearest() -> dict[str, Any]:
    """Return questions of the K nearest of given points: their integers do not come from a fit."""
    some = np.array([[1000, 1000], [65535, 0], [1000, 1000], [30000, 40000], [0, 65535], [40000, 30000]])
    box = ((0.0, 65536.0), (0.0, 65536.0))
    disk = tuple((side.low, side.high) for side in (DISK.box.x, DISK.box.y))
    poles = np.array([[0.0, 0.0], [90.0, 0.0], [180.0, 0.0], [-90.0, 30.0], [0.0, 90.0], [0.0, -90.0]])
    kernels = {
        "equal points": (INTEGERS, Points(box, (3, 511), 0, some.astype(">u2").tobytes()), 2, 1.0),
        "grid, 96 bits": (INTEGERS, Grid(box, (1, 1), 8, (16, 17), 60_000), 1, 40.0),
        "disk": (DISK, Grid(disk, (1, 1), 4, (5, 5), 1 << 16), 7, 1.0),
        "sphere": (dt.Sphere(), Points.of(poles, None, (1, 1, 1), 0), 2, 2.0),
    }
    made: dict[str, Any] = {}
    for name, (domain, selector, width, epsilon) in kernels.items():
        kernel = NearestKernel.largest(epsilon, selector, width)
        stated = {"epsilon": epsilon}
        book = np.round(selector.places(), 6)
        made[name] = ask(domain, kernel, book, epsilon=epsilon, name="Optimal", parameters=stated)
    lists = ListingKernel.largest(1.0, 4, np.array([[0, 1], [1, 3], [3, 2], [2, 0]]))
    told = {"epsilon": 1.0, "name": "Optimal", "parameters": {"epsilon": 1.0}}
    sides = dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60), "sleep": dt.Interval(0, 24)})
    box3 = Grid(sides.ends, (1, 1, 3), 4, (3, 2, 4), 50_000)
    made["box"] = ask(sides, BoxKernel.largest(1.0, box3, 5), np.round(box3.places(), 6), **told)
    made["listing"] = ask(WORDS, lists, np.arange(4), **told)
    return made


def routes() -> dict[str, Question]:
    """Return questions of complete paths: every distance, both ways of resampling, every kind of area."""
    wide = dt.Rectangle(dt.Interval(0, 65536), dt.Interval(0, 16411.5))  # scales that are rounded to even
    kinds = {
        "routes": (dt.Routes(INTEGERS, points=3), 1, 2.0),
        "routes, wide, by order": (dt.Routes(wide, points=5, by="order"), 2, 1.0),
        "routes, warped": (dt.Routes(CITY, points=4, distance="warped"), 3, 1.0),
        "routes, frechet": (dt.Routes(SLANTED, points=4, distance="frechet", by="order"), 1, 40.0),
        "routes, disk": (dt.Routes(DISK, points=2), 2, 1.0),
    }
    made: dict[str, Question] = {}
    for name, (domain, width, epsilon) in kinds.items():
        picked = np.random.default_rng(len(name))
        public = picked.integers(0, 1 << 16, (7, domain.points, 2))
        public[3] = public[1]  # of equal distances the first number counts
        kernel = RouteKernel.largest(epsilon, domain, public, width)
        stated = {"epsilon": epsilon}
        made[name] = ask(domain, kernel, epsilon=epsilon, name="Optimal", parameters=stated)
    return made


def one_sided(place: tuple[float, float], point: tuple[float, float]) -> float:
    """Return a score that is no distance: points above the place are half as far."""
    across, up = point[0] - place[0], point[1] - place[1]
    return -abs(across) - (up / 2 if up > 0 else -up)


@cache
def recorded() -> dict[str, Question]:
    """Return the questions of the file as it is, by name."""
    written = json.loads(FILE.read_text(encoding="utf-8"))["questions"]
    return {entry["name"]: dt.from_json(entry["specification"]) for entry in written}


@cache
def questions() -> dict[str, Any]:
    """Return the questions of the vectors, by name: mechanisms, and the solved ones as they are in the file.

    A solver works with floats, whose last bits depend on the processor, and so do the integers of its result.
    """
    return {
        "Podium": dt.Podium(LINE, epsilon=1),
        "PM, 2^20 cells": dt.PM(LINE, epsilon=1, cells=1 << 20),
        "SW": dt.SW(LINE, epsilon=0.5),
        "OGPM": dt.OGPM(LINE, epsilon=2),
        "OGPM, 16 cells": dt.OGPM(LINE, epsilon=2, cells=16),
        "OGPM, circle": dt.OGPM(CIRCLE, epsilon=1),
        "OGPM, ε = 50": dt.OGPM(LINE, epsilon=50),
        "OGPMU": dt.rivals.OGPMU(LINE, epsilon=1),
        "Duchi": dt.Duchi(LINE, epsilon=1),
        "Hybrid": dt.Hybrid(LINE, epsilon=1),
        "TwoPoint": dt.optimal.TwoPoint(LINE, epsilon=1),
        "Sectors": dt.rivals.Sectors(CIRCLE, epsilon=1),
        "Optimal": dt.Optimal(LINE, epsilon=1),
        "Optimal, unbiased": dt.Optimal(LINE, epsilon=1, unbiased=True),
        "Podium, optional": dt.Podium(dt.Nullable(LINE), epsilon=1),
        "OGPM, optional, 64 cells": dt.OGPM(dt.Nullable(LINE), epsilon=2, cells=64),
        "OGPM, optional circle": dt.OGPM(dt.Nullable(CIRCLE), epsilon=1, cells=32),
        "OGPM, optional, ε = 50": dt.OGPM(dt.Nullable(CIRCLE), epsilon=50),
        "KRR, optional": dt.KRR(dt.Nullable(WORDS), epsilon=1),
        "OLH, optional": dt.OLH(dt.Nullable(dt.Categories(300)), epsilon=1),
        "RR": mechanisms.RR(dt.Categories(["no", "yes"]), epsilon=1),
        "KRR": dt.KRR(WORDS, epsilon=1),
        "KRR, ε = 50": dt.KRR(dt.Categories(1000), epsilon=50),
        "SUE": dt.rivals.SUE(WORDS, epsilon=1),
        "OUE": dt.OUE(dt.Categories(37), epsilon=2),
        "OLH": dt.OLH(dt.Categories(5000), epsilon=2),
        "BLH": dt.rivals.BLH(WORDS, epsilon=1),
        "HadamardResponse": dt.HadamardResponse(dt.Categories(100), epsilon=1),
        "SubsetSelection": dt.SubsetSelection(dt.Categories(20), epsilon=1),
        "ProjectiveResponse": dt.ProjectiveResponse(dt.Categories(64), epsilon=1),
        "ProjectiveResponse, ε = 50": dt.ProjectiveResponse(dt.Categories(1000), epsilon=50),
        "Laplace": dt.Laplace(LINE, epsilon=1),
        "Laplace, ε = 0.0001": dt.Laplace(LINE, epsilon=0.0001, cells=256),
        "Purkayastha": dt.rivals.Purkayastha(CIRCLE, epsilon=1),
        "Staircase": dt.Staircase(LINE, epsilon=2),
        "BoundedLaplace": dt.BoundedLaplace(LINE, epsilon=1, cells=1024),
        "Gaussian": dt.Gaussian(LINE, epsilon=1, delta=1e-6, cells=1024),
        "Gaussian, ε = 0.001": dt.Gaussian(LINE, epsilon=0.001, delta=1e-6, cells=1024),
        "TraCSC": dt.TraCSC(CITY, epsilon=2),
        "TraCSC, sphere": dt.TraCSC(dt.Sphere(), epsilon=2),
        "TraCSC, parallelogram": dt.TraCSC(SLANTED, epsilon=2, inner=partial(dt.SW, redesign=True)),
        "TraCSD": dt.TraCSD(CITY, epsilon=2),
        "TraCSD, disk": dt.TraCSD(DISK, epsilon=2, start=(1.0, 1.5)),
        "TraCSD, fixed": dt.TraCSD(CITY, epsilon=2, reference="fixed"),
        "TraCSD, parallelogram": dt.TraCSD(SLANTED, epsilon=2),
        "Strawman": dt.rivals.Strawman(CITY, epsilon=2),
        "Polar": dt.Polar(DISK, epsilon=2),
        "PlanarLaplace": dt.PlanarLaplace(CITY, epsilon=2),
        "PlanarStaircase": dt.PlanarStaircase(CITY, epsilon=2, distance=0.05),
        "LSRR": dt.rivals.LSRR(CITY, POINTS, epsilon=2),
        "NGram": dt.rivals.NGram(CITY, POINTS, epsilon=2),
        "Gridding": dt.rivals.Gridding(CITY, epsilon=2, side=5),
        "ATP": dt.rivals.ATP(CITY, POINTS, epsilon=2),
        "Exponential": dt.Exponential(LINE, [-3, 0, 2.5, 7.5], epsilon=1),
        "Exponential, places": dt.Exponential(CITY, POINTS, epsilon=2, score=one_sided),
        "Cumulative": recorded()["Cumulative"],  # dt.optimal.Cumulative(LINE, epsilon=1, cells=8)
        "Cumulative, scale": dt.optimal.Cumulative(WORDS, epsilon=2),
        "Matrix": dt.Matrix(WORDS, [[6, 2, 1, 1, 3], [2, 6, 1, 3, 1], [1, 1, 6, 2, 3], [3, 3, 3, 6, 1]]),
        "Matrix, points": dt.Matrix(
            LINE, [[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.15, 0.35, 0.5]], points=[-3, 0.5, 7.5], epsilon=2
        ),
        "Workload": recorded()["Workload"],  # dt.optimal.Workload.of(np.tril(np.ones((4, 4))), 1)
        "JointMoments": dt.optimal.JointMoments(LINE, epsilon=1),
        "JointMoments, box": dt.optimal.JointMoments(
            dt.Box({"age": dt.Interval(18, 100), "bmi": dt.Interval(10, 60)}), epsilon=1
        ),
        "JointMoments, three numbers": dt.optimal.JointMoments(
            dt.Box({name: dt.Interval(-1, 2) for name in "xyz"}), epsilon=2
        ),
        "Marginals": dt.Marginals({"age": dt.Categories(3), "browser": WORDS}, epsilon=1),
        "Marginals, projective": dt.Marginals(
            {"age": dt.Categories(5), "day": dt.Categories(7)}, epsilon=0.5
        ),
        "SubsetIndices": dt.SubsetSelection(dt.Categories(12), epsilon=1, report="indices"),
        "SetResponse": dt.SetResponse(
            dt.Several(["mail", "maps", "music", "news", "notes"], most=2), epsilon=1
        ),
        "SetResponse, other": dt.SetResponse(
            dt.Several(["mail", "maps", "music", "other", "news"], most=2), epsilon=1
        ),
        "SetResponse, 1 000 items": dt.SetResponse(dt.Several(1000, most=20), epsilon=1),
        "SetResponse, polynomial": dt.SetResponse(
            dt.Several(["mail", "maps", "music", "news", "notes"], most=2), epsilon=1, report="polynomial"
        ),
        "SetResponse, polynomial, 10 000 items": dt.SetResponse(dt.Several(10_000, most=5), epsilon=1),
        "SetResponse, polynomial, pairs": dt.SetResponse(dt.Several(1 << 20, most=12), epsilon=2, pairs=True),
        "PEM": dt.PEM(dt.Text(6), epsilon=1),
        "PEM, levels alike": even_levels(1.0),
        "PEM, alphabet": dt.PEM(dt.Text(6, alphabet="abcé"), epsilon=1),
        "Optimal, places": dt.Optimal(INTEGERS, epsilon=2),
        **{f"Optimal, {name}": question for name, question in nearest().items()},
        "Optimal, vectors": dt.Optimal(
            dt.Vectors(5, length=2.5, centre=[1.0, 0.0, 0.0, -1.0, 0.5]), epsilon=1
        ),
        "Optimal, vectors, exact": dt.Optimal(dt.Vectors(130, exact=True), epsilon=6),
        **{f"Optimal, {name}": question for name, question in routes().items()},
        "JRR": dt.JRR(WORDS, p=0.75, rho=-0.2, n=1000),
        "JointOLH": dt.JRR.over(dt.OLH(WORDS, epsilon=1), rho=-0.2, n=1000),
        "JointSUE": dt.JRR.over(dt.rivals.SUE(WORDS, epsilon=1), rho=-0.2, n=1000),
    }


class EdgeBytes(ChosenBytes):
    """Bytes that often lie on the edges of a draw: just below, at and above the integers that decide it.

    Each edge is a text of bytes that begins with a draw and may go on into the next one.
    """

    def __init__(self, edges: list[bytes], seed: str, beyond: int = 8) -> None:
        self._edges, self._random, self._beyond = edges, random.Random(seed), beyond
        self._next = self.taken = b""

    def take(self, size: int) -> bytes:
        made, self._next = self._next[:size], self._next[size:]
        if not made and size and self._random.random() < 0.5:
            fitting = [edge for edge in self._edges if len(edge) <= size + self._beyond]
            edge = self._random.choice(fitting) if fitting else b""
            made, self._next = edge[:size], edge[size:]
        made += self._random.randbytes(size - len(made))
        self.taken += made
        return made


def near(number: int, size: int) -> list[bytes]:
    """Return a number and its neighbours as bytes."""
    return [((number + away) % (1 << 8 * size)).to_bytes(size, "little") for away in (-1, 0, 1)]


def edges(device: dict[str, Any]) -> list[bytes]:
    """Return the bytes on which a draw of this device text turns."""
    found = [bytes(4), b"\xff" * 4, bytes(8), b"\xff" * 8, bytes(2), b"\xff" * 2]
    inner = [device[name] for name in ("first", "second", "sector") if isinstance(device.get(name), dict)]
    for part in (device, *inner, *device.get("draws", ())):
        if "step" in part:
            step, early = int(part["step"], 16), (part["bits"] - 32) // 8
            tickets = part.get("buckets") or (
                part["width"]
                if part.get("draw") in ("sliding", "optional", "nearest", "listing", "box", "routes")
                else part["cells"] // part.get("width", 1)
            )
            first, late = step >> 32, near(step, 4)
            hanging = [
                (1 << 8 * early) - tickets,
                (1 << 8 * early) - 1,
                (1 << 8 * early) - (tickets + 1) // 2,
            ]
            found += [*near(tickets * first, early), *near(first, early), *near(hanging[0], early)]
            # The late word, and the bytes that it is compared with, which come next.
            found += [word.to_bytes(early, "little") + rest for word in hanging for rest in late] * 2
        for name in ("heads", "own", "other"):
            if isinstance(part.get(name), int):
                found += near(part[name], 4)
            elif name in part and "set" in part:
                found += near(int(part[name], 16), part["bits"] // 8)
            elif name in part:
                number = int(part[name], 16)
                tie = (number >> 64).to_bytes(8, "little")
                found += [*near(number >> 64, 8), *(tie + end for end in near(number & ((1 << 64) - 1), 8))]
    if "set" in device:
        own, other, size = int(device["own"], 16), int(device["other"], 16), device["bits"] // 8
        q, t = device["order"], device["dimension"]
        block, points = (q ** (t - 1) - 1) // (q - 1), (q**t - 1) // (q - 1)
        found += [*near(block * own, size), *near(block * own + (points - block) * other, size)]
    if "per" in device:
        found += near((1 << 64) - (1 << 64) % device["per"], 8)
    return found


def alias_edges(table: Alias) -> list[bytes]:
    """Return bytes of columns of an alias table, and of coins at and beside their thresholds."""
    last, made = (1 << table.bits) - 1, []
    for column in (0, last // 2, last, *random.Random("columns").choices(range(last), k=20)):
        for away in (-1, 0, 1):
            coin = (table.thresholds[column] + away) % (1 << (128 - table.bits))
            made.append(_kept(column, table.bits) + _kept(coin, 128 - table.bits))
    return made


def spline_edges(kernel: SplineKernel, value: Any) -> list[bytes]:
    """Return the words at and beside which another spline of an axis is selected."""
    _, three = kernel.splines(kernel.places(np.asarray(value).reshape(-1)))
    turns = [2 * int(sum(row[:upto])) for row in three.tolist() for upto in (1, 2)]
    return [edge for turn in turns for edge in near(turn, 4)]


def _kept(number: int, bits: int) -> bytes:
    """Return bytes whose highest bits are a number."""
    size = (bits + 7) // 8
    return (number << (8 * size - bits)).to_bytes(size, "little")


def drawn(name: str, mechanism: Mechanism[Any], count: int, seed: str = "") -> Iterator[dict[str, Any]]:
    """Yield draws of a question: the value, the bytes that were taken and the report."""
    picked = random.Random(f"{name} {seed}")
    given = values(mechanism, picked)
    turning, beyond = edges(json.loads(as_question(mechanism).device_text)), 8
    if count > DRAWS and isinstance(mechanism, PathMechanism):
        # Many draws: long paths take less time a location.
        count, given = count // LONG, values(mechanism, picked, LONG)
    channel = getattr(as_question(mechanism).kernel, "channel", None)
    if isinstance(as_question(mechanism).kernel, LatticeKernel) or channel is not None:
        noise = as_question(mechanism).kernel.lattice.noise if channel is None else channel
        turning, beyond = alias_edges(noise.table), 15
    moved = outside(mechanism.domain) if not seed and known_to_javascript(mechanism.to_json()) else []
    if isinstance(mechanism.domain, dt.Disk) and not isinstance(as_question(mechanism).kernel, PlaceKernel):
        moved = [place for path in moved for place in path]  # one place, not a path
    for number, value in enumerate(chain(islice(given, count), moved)):
        own = turning
        if isinstance(kernel := as_question(mechanism).kernel, SplineKernel):
            own = turning[:: len(turning) // 20] + spline_edges(kernel, value)
        source = EdgeBytes(own, f"{name} {number} {seed}", beyond)
        told = report(mechanism, value, source)
        yield {"value": value, "bytes": source.taken.hex(), "report": told.hex()}


def known_to_javascript(specification: str) -> bool:
    """Return whether clients/javascript knows the draw of a specification."""
    return draw_of(specification) not in PYTHON_ONLY


def vectors(
    count: int = DRAWS, seed: str = "", *, second: bool = False, only: str | None = None
) -> list[dict[str, Any]]:
    """Return the draws of every question, or `only` of one; with `second`, of those JavaScript draws."""
    return [
        {
            "name": name,
            "specification": mechanism.to_json(),
            **({"research": True} if draw_of(mechanism.to_json()) in RESEARCH else {}),
            "draws": list(drawn(name, mechanism, count, seed)),
        }
        for name, mechanism in questions().items()
        if only in (None, name)
        if not second or known_to_javascript(mechanism.to_json())
    ]


def text(made: list[dict[str, Any]]) -> str:
    """Return vectors as the text of the file: one draw a line."""
    parts = []
    for one in made:
        rows = ",\n".join(json.dumps(draw, ensure_ascii=False) for draw in one["draws"])
        head = json.dumps({name: one[name] for name in one if name != "draws"}, ensure_ascii=False)
        parts.append(f'{head[:-1]}, "draws": [\n{rows}\n]}}')
    return '{"dither": 2, "questions": [\n' + ",\n".join(parts) + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(text(vectors()), encoding="utf-8")
    print(FILE, hashlib.sha256(FILE.read_bytes()).hexdigest()[:16], np.__version__)
