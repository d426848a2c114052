"""Draws of places, paths and several numbers: areas, walks, the nearest of N points, splines: docs/wire.md.

A value is a list of places, `[[139.5, 35.6], …]`, except for `polar` (one place), `listing` (a label), and
`box` and `splines` (a record).
"""

from __future__ import annotations

import math
from struct import pack

from dither_device.draws import (
    READERS as LINES,
)
from dither_device.draws import (
    Draw,
    Outside,
    as_cell,
    below,
    bits,
    read_codes,
    read_ends,
    read_line,
    read_lottery,
    width_of,
)
from dither_device.text import Fields, integer, listed, need, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from dither_device.draws import Domain, Take

    Place = tuple[float, float]

_SLACK = 1e-12  # relative to a side: the least room before the border
TURN = 2 * math.pi


def read_pair(given: object) -> Place:
    """Return a list of two numbers as a pair."""
    first, second = listed(given, "domain", 2)
    return real(first), real(second)


def clamp(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


# --- areas


class Area:
    """An area: its nearest places, its two coordinates, and how far steps go."""

    kind = "rectangle"

    def __init__(self, x: Place, y: Place) -> None:
        self.x, self.y = x, y
        self.box = x, y  # the ends of both sides of the box around the area

    def clip(self, place: Place) -> Place:
        """Return the nearest place inside, by coordinate or along the radius."""
        return clamp(place[0], *self.x), clamp(place[1], *self.y)

    def axes(self, place: Place) -> Place:
        """Return the two numbers that `pair` reports."""
        return place

    def gauge(self, at: Place, step: Place) -> float:
        """Return the length of a step over the distance to the border in its direction."""
        return max(_towards(self.x, at[0], step[0]), _towards(self.y, at[1], step[1]))

    @property
    def diameter(self) -> float:
        """The largest distance of two places."""
        return math.hypot(self.x[1] - self.x[0], self.y[1] - self.y[0])


def _towards(side: Place, at: float, step: float) -> float:
    low, high = side
    return abs(step) / max(high - at if step > 0 else at - low, _SLACK * (high - low))


def read_extent(*numbers: float) -> Place:
    """Return the least and the largest number: ends of an interval, or of the box around an area."""
    low, high = min(numbers), max(numbers)
    need(low >= -1e30 and high <= 1e30 and high - low >= 1e-30, "domain")
    return low, high


class DiskArea(Area):
    """The places within a radius of a centre."""

    kind = "disk"

    def __init__(self, radius: float, centre: Place) -> None:
        need(radius > 0, "domain")
        read_extent(0.0, radius)
        x, y = centre
        self.box = read_extent(x - radius, x + radius), read_extent(y - radius, y + radius)
        self.radius, self.centre = radius, centre

    def clip(self, place: Place) -> Place:
        x, y = self.centre
        a, b = place[0] - x, place[1] - y
        # Also inside, where rounding may change the last bit: an input has one mark.
        shrink = min(1.0, self.radius / max(math.hypot(a, b), self.radius))
        return x + a * shrink, y + b * shrink

    def gauge(self, at: Place, step: Place) -> float:
        a, b = at[0] - self.centre[0], at[1] - self.centre[1]
        least = _SLACK * self.radius**2
        room = max(self.radius**2 - (a * a + b * b), least)
        along, square = a * step[0] + b * step[1], step[0] ** 2 + step[1] ** 2
        root = abs(along) + math.sqrt(along * along + square * room)
        return root / room if along > 0 else square / max(root, least * _SLACK)

    @property
    def diameter(self) -> float:
        return 2 * self.radius


class ParallelogramArea(Area):
    """The places corner + s·first + t·second, s and t from 0 to 1."""

    kind = "parallelogram"

    def __init__(self, corner: Place, first: Place, second: Place) -> None:
        (a, b), (c, d) = first, second
        area = a * d - b * c
        need(abs(area) > 1e-9 * math.hypot(a, b) * math.hypot(c, d), "domain")
        for side in (first, second):
            read_extent(0.0, math.hypot(*side))
        across, up = (
            read_extent(x, x + p, x + q, x + (p + q)) for x, p, q in zip(corner, first, second, strict=True)
        )
        self.box = across, up
        self.corner, self.first, self.second = corner, first, second
        self.inverse = (d / area, -b / area), (-c / area, a / area)
        self.unit = Area((0.0, 1.0), (0.0, 1.0))

    def _along(self, step: Place) -> Place:
        (a, b), (c, d) = self.inverse
        return step[0] * a + step[1] * c, step[0] * b + step[1] * d

    def axes(self, place: Place) -> Place:
        return self.unit.clip(self._along((place[0] - self.corner[0], place[1] - self.corner[1])))

    def clip(self, place: Place) -> Place:
        exact = self._along((place[0] - self.corner[0], place[1] - self.corner[1]))
        s, t = self.unit.clip(exact)
        if max(abs(exact[0] - s), abs(exact[1] - t)) <= _SLACK:
            return place
        (x, y), (a, b), (c, d) = self.corner, self.first, self.second
        return x + s * a + t * c, y + s * b + t * d

    def gauge(self, at: Place, step: Place) -> float:
        return self.unit.gauge(self.axes(at), self._along(step))

    @property
    def diameter(self) -> float:
        (a, b), (c, d) = self.first, self.second
        return max(math.hypot(a + c, b + d), math.hypot(a - c, b - d))


class SphereArea(Area):
    """Longitude and latitude; a longitude is an angle; `pair` counts it from −180°."""

    kind = "sphere"

    def __init__(self) -> None:
        """The radius is of no use to a device."""
        self.box = (-180.0, 180.0), (-90.0, 90.0)

    def clip(self, place: Place) -> Place:
        longitude, latitude = place
        inside = longitude if abs(longitude) <= 180 else (longitude + 180) % 360 - 180
        return inside, clamp(latitude, -90.0, 90.0)

    def axes(self, place: Place) -> Place:
        return place[0] + 180, place[1]


def read_area(domain: object, outside: object, *kinds: str) -> Area:
    """Return the area of a device text, of one of some kinds."""
    need(isinstance(domain, Fields) and outside == "clip", "domain")
    assert isinstance(domain, Fields)
    kind = domain["kind"]
    need(kind in kinds, "domain")
    if kind == "rectangle":
        sides = []
        for name in ("x", "y"):
            side = domain[name]
            need(isinstance(side, Fields) and side["kind"] == "interval", "domain")
            ends = real(side["low"]), real(side["high"])
            need(ends[0] < ends[1], "domain")
            sides.append(read_extent(*ends))
        return Area(*sides)
    if kind == "disk":
        return DiskArea(real(domain["radius"]), read_pair(domain["centre"]))
    if kind == "parallelogram":
        return ParallelogramArea(*(read_pair(domain[name]) for name in ("corner", "first", "second")))
    need(real(domain["radius"]) > 0, "domain")
    read_extent(0.0, domain["radius"])
    return SphereArea()


def path_of(area: Area) -> Domain:
    """Return what turns a list of pairs into places of an area."""

    def place(value: Any) -> list[Place]:
        path = []
        try:
            for pair in value:
                x, y = pair
                if isinstance(x, bool | str) or isinstance(y, bool | str):
                    raise Outside("a list of places was expected")
                spot = float(x), float(y)
                if not (math.isfinite(spot[0]) and math.isfinite(spot[1])):
                    raise Outside("a list of places was expected")
                path.append(area.clip(spot))
        except (TypeError, ValueError, OverflowError):
            raise Outside("a list of places was expected") from None
        if not path:
            raise Outside("a list of places was expected")
        return path

    return place, lambda path: b"".join(pack("<2d", x + 0.0, y + 0.0) for x, y in path)


def as_path(rows: list[list[int]], size: int, *, signed: bool = False) -> bytes:
    """Return the report of a path: for each location whether it is the first, and its numbers."""
    reported = (number for at, row in enumerate(rows) for number in (int(at == 0), *row))
    return b"".join(number.to_bytes(size, "little", signed=signed) for number in reported)


# --- two numbers for each place


_ROUND = (0.0, TURN)  # the two ends of a circle begin at 0
_SHARE = (0.0, 1.0)


def _read_parts(device: Fields, *lines: tuple[str, Place]) -> list[Draw]:
    """Return the draws of the two numbers of a place on these lines: the kind, and both ends."""
    parts = []
    for name, (kind, ends) in zip(("first", "second"), lines, strict=True):
        part = device[name]
        need(
            isinstance(part, Fields) and part["draw"] in ("sliding", "mixture", "sectors", "lattice"), "draw"
        )
        need(isinstance(part["domain"], Fields), "domain")
        need(read_ends(part["domain"]) == (kind == "circle", *ends), "domain")
        # A part has no rule for values outside: its inputs are inside.
        need("outside" not in part, "fields")
        part["outside"] = "wrap" if kind == "circle" else "clip"
        if part["draw"] == "lattice":
            from dither_device.noise import lattice

            made = lattice(part)
        else:
            made = LINES[part["draw"]](part)
        need(made.delta_of is None, "draw")
        parts.append(made)
    return parts


def _of_both(parts: list[Draw]) -> tuple[int, int]:
    (a, b), (c, d) = (part.ratio for part in parts)
    return a * c, b * d


def _draw_both(parts: list[Draw], first: float, second: float, take: Take) -> tuple[bytes, bytes]:
    return tuple(part.draw(part.place(x), take) for part, x in zip(parts, (first, second), strict=True))  # type: ignore[return-value]


def _numbers(cells: tuple[bytes, bytes]) -> list[int]:
    return [int.from_bytes(cell, "little") for cell in cells]


def pair(device: Fields) -> Draw:
    area = read_area(device["domain"], device["outside"], "rectangle", "parallelogram", "sphere")
    if area.kind == "sphere":
        parts = _read_parts(device, ("circle", (0.0, 360.0)), ("interval", (-90.0, 90.0)))
    else:
        sides = (area.x, area.y) if area.kind == "rectangle" else (_SHARE, _SHARE)
        parts = _read_parts(device, *(("interval", side) for side in sides))

    def draw(path: list[Place], take: Take) -> bytes:
        rows = [_draw_both(parts, *area.axes(target_path), take) for target_path in path]
        return as_path([_numbers(row) for row in rows], max(map(len, rows[0])))

    made = Draw("TraCSC", _of_both(parts), path_of(area), draw)
    made.paths = True
    return made


def polar(device: Fields) -> Draw:
    area = read_area(device["domain"], device["outside"], "disk")
    domain = device["domain"]
    radius, (x, y) = real(domain["radius"]), read_pair(domain["centre"])
    parts = _read_parts(device, ("interval", (0.0, radius)), ("circle", _ROUND))
    place_of, mark = path_of(area)

    def draw(path: list[Place], take: Take) -> bytes:
        a, b = path[0][0] - x, path[0][1] - y
        cells = _draw_both(parts, min(math.hypot(a, b), radius), math.atan2(b, a) % TURN, take)
        size = max(map(len, cells))
        return b"".join(number.to_bytes(size, "little") for number in _numbers(cells))

    def inside(value: Any) -> list[Place]:
        """Return a path of one place; the value may also be the place itself."""
        return place_of(value if isinstance(value, list | tuple) and len(value) == 1 else [value])  # type: ignore[no-any-return]

    made = Draw("Polar", _of_both(parts), (inside, mark), draw)
    made.paths = True
    return made


def _read_codebook(given: Any, cells: int | None) -> Callable[[int], float]:
    """Return the number of a cell, among `cells`."""
    need(isinstance(given, Fields) and (cells or 0) <= 1 << 20, "start")
    if "values" in given:
        values, runs = listed(given["values"], "start"), listed(given["runs"], "start", len(given["values"]))
        need(sum(integer(run, 1, 1 << 20) for run in runs) <= 1 << 20, "start")
        table: list[float] = []
        for value, run in zip(values, runs, strict=True):
            table += [real(value)] * run
        need(len(table) == (cells or len(table)), "cells")
        return table.__getitem__
    offset, step = real(given["offset"]), real(given["step"])
    low = real(given["low"]) if "low" in given else -math.inf
    high = real(given["high"]) if "high" in given else math.inf
    return lambda cell: clamp(offset + step * cell, low, high)


def walk(device: Fields) -> Draw:
    area = read_area(device["domain"], device["outside"], "rectangle", "disk", "parallelogram")
    parts = _read_parts(device, ("circle", _ROUND), ("interval", _SHARE))
    begin = read_pair(device["start"])
    # On a circle alone rounding may put a place outside.
    slack = _SLACK * area.radius if isinstance(area, DiskArea) else 0.0
    moved = zip(begin, area.clip(begin), strict=True)
    need(all(abs(x - y) <= slack for x, y in moved), "start", "outside of the area")
    books = zip(listed(device["codebooks"], "start", 2), (device["first"], device["second"]), strict=True)
    turns, shares = [_read_codebook(book, part.get("cells")) for book, part in books]
    fixed = "reference" in device
    need(not fixed or device["reference"] == "fixed", "reference")

    def draw(path: list[Place], take: Take) -> bytes:
        at, rows = begin, []
        for x, y in path:
            way = x - at[0], y - at[1]
            angle = math.atan2(way[1], way[0])
            cells = _draw_both(parts, angle + TURN * (angle < 0), min(area.gauge(at, way), 1.0), take)
            rows.append(cells)
            if not fixed:
                direction, share = _numbers(cells)
                unit = math.cos(turns(direction)), math.sin(turns(direction))
                length = clamp(shares(share), 0.0, 1.0) / area.gauge(at, unit)
                at = at[0] + unit[0] * length, at[1] + unit[1] * length
        return as_path([_numbers(row) for row in rows], max(map(len, rows[0])))

    made = Draw("TraCSD Strawman", _of_both(parts), path_of(area), draw)
    made.paths = True
    return made


# --- the nearest of N points


def read_near(given: Fields) -> tuple[int, int, Callable[[list[int], Take], int], tuple[int, int]]:
    """Return N, K, a draw of one of K given numbers or of any below N, and the ratio."""
    cells = integer(given["cells"], 2, 1 << 16)
    width = integer(given["width"], 1, cells - 1)
    lottery, step, room = read_lottery(given, width)
    outside = room - width * step

    def draw(near: list[int], take: Take) -> int:
        drawn, ticket, _ = lottery(take, 0)
        uniform = below(take, cells)  # whichever way it falls
        return (uniform, near[ticket * drawn])[drawn]

    return cells, width, draw, (outside + cells * step, outside)


def unpack(text: object) -> list[int]:
    need(isinstance(text, str) and len(text) <= 1 << 17 and len(text) % 4 == 0, "number")
    assert isinstance(text, str)
    need(set(text) <= set("0123456789abcdef"), "number")
    return [int(text[at : at + 4], 16) for at in range(0, len(text), 4)]


def _short(x: float) -> int:
    return min(max(math.floor(x), 0), 65535)


def _read_selector(
    given: Fields, sides: int, cells: int, width: int
) -> tuple[list[Place] | None, Callable[[Sequence[float]], list[int]]]:
    """Return the box, and the rule from a value to its K nearest; without sides it is a sphere."""
    need(isinstance(given, Fields), "selector")
    box: list[Place] | None = None
    if sides:
        box = [read_pair(side) for side in listed(given["box"], "selector", sides)]
        need(all(low >= -1e30 and high <= 1e30 and high - low >= 1e-30 for low, high in box), "selector")
    else:
        need(given["box"] is None, "selector")
    count = sides or 3
    scales = [integer(scale, 1, 511) for scale in listed(given["scales"], "selector", count)]
    grain = integer(given["grain"], 0, 12)
    if given["kind"] == "grid":
        need(box is not None, "selector")
        per = [integer(many, 1, 1 << 16) for many in listed(given["per"], "selector", count)]
        scale = integer(given["scale"], 0, 1 << 16)
        points: list[tuple[int, ...]] = [()]
        for many in per:
            need(len(points) * many <= 1 << 16, "selector")
            side = [_short(32768 + (2 * i + 1 - many) * scale // (2 * many)) for i in range(many)]
            points = [(*point, at) for point in points for at in side]
    else:
        need(given["kind"] == "points", "selector")
        flat = unpack(given["points"])
        need(len(flat) % count == 0, "selector")
        points = [tuple(flat[at : at + count]) for at in range(0, len(flat), count)]
    need(len(points) == cells, "selector")

    def integers(value: Sequence[float]) -> list[int]:
        if box is not None:
            return [
                _short((x - low) / (high - low) * 65536) for x, (low, high) in zip(value, box, strict=True)
            ]
        across, up = (x * (math.pi / 180) for x in value)
        level = math.cos(up)
        vector = level * math.cos(across), level * math.sin(across), math.sin(up)
        return [_short(32767 * x + 32768.5) for x in vector]

    def near(value: Sequence[float]) -> list[int]:
        at = [(x >> grain << grain) + (1 << grain >> 1) for x in integers(value)]
        far = [sum((s * (x - y)) ** 2 for s, x, y in zip(scales, at, point, strict=True)) for point in points]
        return sorted(range(cells), key=far.__getitem__)[:width]  # stable: of equal distances the first

    return box, near


def nearest(device: Fields) -> Draw:
    cells, width, draw, ratio = read_near(device)
    area = read_area(device["domain"], device["outside"], "rectangle", "disk", "parallelogram", "sphere")
    _, near = _read_selector(device["selector"], 0 if area.kind == "sphere" else 2, cells, width)

    def tell(path: list[Place], take: Take) -> bytes:
        return as_path([[draw(near(target_path), take)] for target_path in path], width_of(cells))

    made = Draw("Optimal", ratio, path_of(area), tell)
    made.paths = True
    return made


def _read_records(device: Fields) -> tuple[Domain, list[Place]]:
    """Return the domain of several numbers, a list or a mapping by their names, and the ends of each."""
    domain = device["domain"]
    need(isinstance(domain, Fields) and domain["kind"] == "box" and device["outside"] == "clip", "domain")
    sides = [listed(side, "domain", 3) for side in listed(domain["sides"], "domain")]
    names = [name for name, _, _ in sides]
    need(2 <= len(sides) <= 8 and all(isinstance(name, str) for name in names), "domain")
    need(len(set(names)) == len(names), "domain")
    ends = [(real(low), real(high)) for _, low, high in sides]

    def place(value: Any) -> tuple[float, ...]:
        try:
            row = [value[name] for name in names] if isinstance(value, dict) else list(value)
            if len(row) != len(ends) or any(isinstance(x, bool | str | bytes) for x in row):
                raise Outside("a number of each side was expected")
            record = [float(x) for x in row]
        except (TypeError, ValueError, KeyError, OverflowError):
            raise Outside("a number of each side was expected") from None
        if not all(math.isfinite(x) for x in record):
            raise Outside("a number of each side was expected")
        return tuple(clamp(x, *side) + 0.0 for x, side in zip(record, ends, strict=True))

    return (place, lambda record: pack(f"<{len(record)}d", *record)), ends


def box(device: Fields) -> Draw:
    cells, width, draw, ratio = read_near(device)
    domain, ends = _read_records(device)
    known, near = _read_selector(device["selector"], len(ends), cells, width)
    need(known == ends, "selector")
    return Draw("Optimal", ratio, domain, lambda record, take: as_cell(draw(near(record), take), cells))


_STEPS = 1 << 15  # places between two knots of an axis


def splines(device: Fields) -> Draw:
    """Several numbers, or one: each selects one of its three B-splines at random, and these the row."""
    from dither_device.noise import read_rows

    rows, cells, ratio = read_rows(device)
    pieces = integer(device["pieces"], 1, 16)
    stated = [read_pair(side) for side in listed(device["ends"], "domain")]
    alone = isinstance(device["domain"], Fields) and device["domain"]["kind"] == "interval"
    if alone:
        (inside, mark), *ends = read_line(device)
        domain: Domain = (lambda value: (inside(value),)), lambda record: mark(record[0])
        need(stated == [tuple(ends)], "domain")
    else:
        domain, sides = _read_records(device)
        need(stated == sides, "domain")
    need(all(low >= -1e30 and high <= 1e30 and high - low >= 1e-30 for low, high in stated), "domain")
    need(len(rows) == (pieces + 2) ** len(stated), "step")

    def spline(x: float, low: float, high: float, take: Take) -> int:
        most = pieces * _STEPS
        position = min(max(math.floor((x - low) / (high - low) * most + 0.5), 0), most)
        part = min(position // _STEPS, pieces - 1)
        way = position - part * _STEPS
        left = (_STEPS - way) ** 2 << (part == 0)
        right = way**2 << (part == pieces - 1)
        drawn = bits(take, 32) >> 1
        return part + (drawn >= left) + (drawn >= 2 * _STEPS**2 - right)

    def draw(record: tuple[float, ...], take: Take) -> bytes:
        row = 0
        for x, (low, high) in zip(record, stated, strict=True):
            row = row * (pieces + 2) + spline(x, low, high, take)
        return as_cell(rows[row](take), cells)

    return Draw("JointMoments", ratio, domain, draw)


def listing(device: Fields) -> Draw:
    cells, width, draw, ratio = read_near(device)
    domain, count, labels = read_codes(device)
    flat = unpack(device["lists"])
    need(len(flat) == count * width, "lists")
    lists = [flat[at * width : (at + 1) * width] for at in range(count)]
    # A number that stood twice in a list would be likelier than ε allows.
    need(all(len(set(row)) == width and max(row) < cells for row in lists), "lists")
    made = Draw("Optimal", ratio, domain, lambda code, take: as_cell(draw(lists[code], take), cells))
    made.labels = labels
    return made


READERS = {
    "pair": pair,
    "polar": polar,
    "walk": walk,
    "nearest": nearest,
    "listing": listing,
    "box": box,
    "splines": splines,
}
