"""Draws of places and paths, and of coins that two devices have dealt each other.

A value is a list of places, `[[139.5, 35.6], …]`, except for `polar` (one place), `listing` (a label) and the
joint draws (a label and the dealt coins).
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
    bucket_of,
    read_blocks,
    read_codes,
    read_lottery,
    width_of,
)
from dither_device.text import Fields, hexadecimal, listed, need, real, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Domain, Take

    Place = tuple[float, float]

_SLACK = 1e-12  # of a side: the least room before the border
_TURN = 2 * math.pi


def read_pair(given: object) -> Place:
    """Return a list of two numbers as a pair."""
    first, second = listed(given, "domain", 2)
    return real(first), real(second)


def _clamp(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


# --- areas


class Area:
    """An area: its nearest places, its two coordinates, and how far steps go."""

    kind = "rectangle"

    def __init__(self, x: Place, y: Place) -> None:
        self.x, self.y = x, y

    def clip(self, place: Place) -> Place:
        """Return the nearest place inside, by coordinate or along the radius."""
        return _clamp(place[0], *self.x), _clamp(place[1], *self.y)

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


class DiskArea(Area):
    """The places within a radius of a centre."""

    kind = "disk"

    def __init__(self, radius: float, centre: Place) -> None:
        need(radius > 0, "domain")
        self.radius, self.centre = radius, centre

    def clip(self, place: Place) -> Place:
        x, y = self.centre
        a, b = place[0] - x, place[1] - y
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
    """Longitude and latitude; a longitude is an angle, which `pair` counts from −180°."""

    kind = "sphere"

    def __init__(self) -> None:
        """The radius is of no use to a device."""

    def clip(self, place: Place) -> Place:
        longitude, latitude = place
        inside = longitude if abs(longitude) <= 180 else (longitude + 180) % 360 - 180
        return inside, _clamp(latitude, -90.0, 90.0)

    def axes(self, place: Place) -> Place:
        return place[0] + 180, place[1]


def read_area(device: Fields, *kinds: str) -> Area:
    """Return the area of a device text, of one of some kinds."""
    domain = device["domain"]
    need(isinstance(domain, Fields) and device["outside"] == "clip", "domain")
    kind = domain["kind"]
    need(kind in kinds, "domain")
    if kind == "rectangle":
        sides = []
        for name in ("x", "y"):
            side = domain[name]
            need(isinstance(side, Fields) and side["kind"] == "interval", "domain")
            ends = real(side["low"]), real(side["high"])
            need(ends[1] - ends[0] >= 1e-30, "domain")
            sides.append(ends)
        return Area(*sides)
    if kind == "disk":
        return DiskArea(real(domain["radius"]), read_pair(domain["centre"]))
    if kind == "parallelogram":
        return ParallelogramArea(*(read_pair(domain[name]) for name in ("corner", "first", "second")))
    need(real(domain["radius"]) > 0, "domain")
    return SphereArea()


def _path_of(area: Area) -> Domain:
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


def _as_path(rows: list[list[int]], size: int, *, signed: bool = False) -> bytes:
    """Return the report of a path: for each location whether it is the first, and its numbers."""
    told = (number for at, row in enumerate(rows) for number in (int(at == 0), *row))
    return b"".join(number.to_bytes(size, "little", signed=signed) for number in told)


# --- two numbers for each place


def _read_parts(device: Fields, *kinds: str) -> list[Draw]:
    """Return the draws of the two numbers of a place."""
    parts = []
    for name, kind in zip(("first", "second"), kinds, strict=True):
        part = device[name]
        need(
            isinstance(part, Fields) and part["draw"] in ("sliding", "mixture", "sectors", "lattice"), "draw"
        )
        need(isinstance(part["domain"], Fields) and part["domain"]["kind"] == kind, "domain")
        # A part has no rule for values outside: what comes to it is inside.
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
    area = read_area(device, "rectangle", "parallelogram", "sphere")
    parts = _read_parts(device, "circle" if area.kind == "sphere" else "interval", "interval")

    def draw(path: list[Place], take: Take) -> bytes:
        rows = [_draw_both(parts, *area.axes(place), take) for place in path]
        return _as_path([_numbers(row) for row in rows], max(map(len, rows[0])))

    made = Draw("TraCSC", _of_both(parts), _path_of(area), draw)
    made.paths = True
    return made


def polar(device: Fields) -> Draw:
    area = read_area(device, "disk")
    parts = _read_parts(device, "interval", "circle")
    need(isinstance(area, DiskArea), "domain")
    domain = device["domain"]
    radius, (x, y) = real(domain["radius"]), read_pair(domain["centre"])
    inner = device["first"]["domain"]
    need(inner["low"] == 0 and inner["high"] == radius, "domain")
    need(device["second"]["domain"]["period"] == _TURN, "domain")
    place_of, mark = _path_of(area)

    def draw(path: list[Place], take: Take) -> bytes:
        a, b = path[0][0] - x, path[0][1] - y
        cells = _draw_both(parts, min(math.hypot(a, b), radius), math.atan2(b, a) % _TURN, take)
        size = max(map(len, cells))
        return b"".join(number.to_bytes(size, "little") for number in _numbers(cells))

    made = Draw("Polar", _of_both(parts), (lambda value: place_of([value]), mark), draw)
    made.paths = True
    return made


def _read_codebook(given: Any) -> Callable[[int], float]:
    """Return the number that a cell stands for."""
    need(isinstance(given, Fields), "start")
    if "values" in given:
        values, runs = listed(given["values"], "start"), listed(given["runs"], "start", len(given["values"]))
        need(sum(whole(run, 1, 1 << 20) for run in runs) <= 1 << 20, "start")
        table: list[float] = []
        for value, run in zip(values, runs, strict=True):
            table += [real(value)] * run
        return table.__getitem__
    offset, step = real(given["offset"]), real(given["step"])
    low = real(given["low"]) if "low" in given else -math.inf
    high = real(given["high"]) if "high" in given else math.inf
    return lambda cell: _clamp(offset + step * cell, low, high)


def walk(device: Fields) -> Draw:
    area = read_area(device, "rectangle", "disk", "parallelogram")
    parts = _read_parts(device, "circle", "interval")
    begin = read_pair(device["start"])
    turns, shares = map(_read_codebook, listed(device["codebooks"], "start", 2))
    fixed = "reference" in device
    need(not fixed or device["reference"] == "fixed", "reference")

    def draw(path: list[Place], take: Take) -> bytes:
        at, rows = begin, []
        for x, y in path:
            way = x - at[0], y - at[1]
            angle = math.atan2(way[1], way[0])
            cells = _draw_both(parts, angle + _TURN * (angle < 0), min(area.gauge(at, way), 1.0), take)
            rows.append(cells)
            if not fixed:
                direction, share = _numbers(cells)
                unit = math.cos(turns(direction)), math.sin(turns(direction))
                length = _clamp(shares(share), 0.0, 1.0) / area.gauge(at, unit)
                at = area.clip((at[0] + unit[0] * length, at[1] + unit[1] * length))
        return _as_path([_numbers(row) for row in rows], max(map(len, rows[0])))

    made = Draw("TraCSD Strawman", _of_both(parts), _path_of(area), draw)
    made.paths = True
    return made


# --- the nearest of N points


def _read_near(given: Fields) -> tuple[int, int, Callable[[list[int], Take], int], tuple[int, int]]:
    """Return N, K, a draw of one of K given numbers or of any below N, and the ratio."""
    cells = whole(given["cells"], 2, 1 << 16)
    width = whole(given["width"], 1, cells - 1)
    lottery, step, room = read_lottery(given, width)
    outside = room - width * step

    def draw(near: list[int], take: Take) -> int:
        drawn, ticket, _ = lottery(take, 0)
        uniform = below(take, cells)  # whichever way it falls
        return (uniform, near[ticket * drawn])[drawn]

    return cells, width, draw, (outside + cells * step, outside)


def _unpack(text: object) -> list[int]:
    need(isinstance(text, str) and len(text) <= 1 << 17 and len(text) % 4 == 0, "number")
    assert isinstance(text, str)
    need(set(text) <= set("0123456789abcdef"), "number")
    return [int(text[at : at + 4], 16) for at in range(0, len(text), 4)]


def _short(x: float) -> int:
    return min(max(math.floor(x), 0), 65535)


def nearest(device: Fields) -> Draw:
    cells, width, draw, ratio = _read_near(device)
    area = read_area(device, "rectangle", "disk", "parallelogram", "sphere")
    given = device["selector"]
    need(isinstance(given, Fields), "selector")
    box = given["box"]
    if area.kind == "sphere":
        need(box is None, "selector")
    else:
        box = [read_pair(side) for side in listed(box, "selector", 2)]
        need(all(low >= -1e30 and high <= 1e30 and high - low >= 1e-30 for low, high in box), "selector")
    count = 3 if box is None else 2
    scales = [whole(scale, 1, 511) for scale in listed(given["scales"], "selector", count)]
    grain = whole(given["grain"], 0, 12)
    if given["kind"] == "grid":
        need(box is not None, "selector")
        per = [whole(many, 1, 1 << 16) for many in listed(given["per"], "selector", count)]
        scale = whole(given["scale"], 0, 1 << 16)
        points: list[tuple[int, ...]] = [()]
        for many in per:
            need(len(points) * many <= 1 << 16, "selector")
            side = [_short(32768 + (2 * i + 1 - many) * scale // (2 * many)) for i in range(many)]
            points = [(*point, at) for point in points for at in side]
    else:
        need(given["kind"] == "points", "selector")
        flat = _unpack(given["points"])
        need(len(flat) % count == 0, "selector")
        points = [tuple(flat[at : at + count]) for at in range(0, len(flat), count)]
    need(len(points) == cells, "selector")

    def integers(place: Place) -> list[int]:
        if box is not None:
            return [
                _short((x - low) / (high - low) * 65536) for x, (low, high) in zip(place, box, strict=True)
            ]
        across, up = (x * (math.pi / 180) for x in place)
        level = math.cos(up)
        vector = level * math.cos(across), level * math.sin(across), math.sin(up)
        return [_short(32767 * x + 32768.5) for x in vector]

    def near(place: Place) -> list[int]:
        at = [(x >> grain << grain) + (1 << grain >> 1) for x in integers(place)]
        far = [sum((s * (x - y)) ** 2 for s, x, y in zip(scales, at, point, strict=True)) for point in points]
        return sorted(range(cells), key=far.__getitem__)[:width]  # stable: of equal distances the first

    def tell(path: list[Place], take: Take) -> bytes:
        return _as_path([[draw(near(place), take)] for place in path], width_of(cells))

    made = Draw("Optimal", ratio, _path_of(area), tell)
    made.paths = True
    return made


def listing(device: Fields) -> Draw:
    cells, width, draw, ratio = _read_near(device)
    domain, count, labels = read_codes(device)
    flat = _unpack(device["lists"])
    need(len(flat) == count * width, "lists")
    lists = [flat[at * width : (at + 1) * width] for at in range(count)]
    # A number that stood twice in a list would be likelier than ε allows.
    need(all(len(set(row)) == width and max(row) < cells for row in lists), "lists")
    made = Draw("Optimal", ratio, domain, lambda code, take: as_cell(draw(lists[code], take), cells))
    made.labels = labels
    return made


# --- noise in the plane


def _word(take: Take, bound: int) -> int:
    most = (1 << 64) - (1 << 64) % bound
    while True:
        drawn = bits(take, 64)
        if drawn < most:
            return drawn % bound


def _ticket(take: Take, bound: int) -> int:
    most = (1 << 62) // bound * bound
    while True:
        drawn = bits(take, 62)
        if drawn < most:
            return drawn % bound


def _read_lattice(device: Fields) -> tuple[Area, Place, float, int]:
    area = read_area(device, "rectangle", "disk", "parallelogram")
    spacing, reach = real(device["spacing"]), whole(device["reach"], 1, 1 << 52)
    need(spacing > 0, "cells")
    need(reach >= math.ceil(area.diameter / spacing * (1 + 1e-9) + math.sqrt(2)), "cells")
    return area, read_pair(device["origin"]), spacing, reach


def _near_lattice(
    area: Area, origin: Place, spacing: float, offset: Callable[[Take], tuple[int, int]]
) -> Callable[[list[Place], Take], bytes]:
    most = (1 << 31) - 1

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for place in path:
            steps = [round((x - o) / spacing) for x, o in zip(place, origin, strict=True)]
            rows.append([min(max(a + b, -most), most) for a, b in zip(steps, offset(take), strict=True)])
        return _as_path(rows, 4, signed=True)

    return draw


def planar(device: Fields) -> Draw:
    area, origin, spacing, reach = _read_lattice(device)
    fall, per = whole(device["fall"], 1, 1 << 52), whole(device["per"], 1, 1 << 52)

    def heads(h: int, m: int, take: Take) -> bool:
        k = 1
        while _word(take, m * k) < h:
            k += 1
        return k % 2 == 1

    def geometric(take: Take) -> int:
        low = _word(take, per)
        while not heads(low, per, take):
            low = _word(take, per)
        count = 0
        while heads(1, 1, take):
            count += 1
        return (low + per * count) // fall

    def offset(take: Take) -> tuple[int, int]:
        while True:
            g = geometric(take) + geometric(take) + geometric(take)
            right, up = _ticket(take, 2 * g + 2) - g - 1, _ticket(take, 2 * g + 4) - g - 2
            if right * right + up * up <= g * (g + 2):
                return right, up

    made = Draw("PlanarLaplace", (0, 0), _path_of(area), _near_lattice(area, origin, spacing, offset))
    made.paths = True

    def spent(parameters: dict[str, Any]) -> float:
        """Return ε: the noise's rate over the diameter, an exact fraction, rounded up."""
        top, bottom = real(parameters["epsilon"]).as_integer_ratio()
        need(fall * reach * bottom <= top * per, "privacy", "more than ε is spent")
        near = fall * reach / per
        over, under = near.as_integer_ratio()
        return near if over * per >= fall * reach * under else math.nextafter(near, math.inf)

    made.epsilon_of = spent
    return made


def rings(device: Fields) -> Draw:
    area, origin, spacing, reach = _read_lattice(device)
    width, b = whole(device["width"], 1, 1 << 24), hexadecimal(device["fall"], 16)
    first = whole(device["first"], 1, width)
    need(b, "step")
    c = (1 << 64) - b
    weights = first**2 * c**2, (width**2 + 2 * first * width) * b * c, 2 * width**2 * b**2
    total = sum(weights)
    digits = total.bit_length()
    count = -(-digits // 64)

    def offset(take: Take) -> tuple[int, int]:
        while True:
            while True:
                words = [bits(take, 64) for _ in range(count)]
                number = words[0] >> (64 * count - digits)
                for word in words[1:]:
                    number = number << 64 | word
                if number < total:
                    break
            j = kind = (number >= weights[0]) + (number >= weights[0] + weights[1])
            for _ in range(kind + 1):
                while bits(take, 64) < b:
                    j += 1
            radius = first + j * width
            right, up = _ticket(take, 2 * radius) - radius, _ticket(take, 2 * radius) - radius
            if right * right + up * up < radius * radius:
                return right, up

    def spent(parameters: dict[str, Any]) -> float:
        """Return ∞ where ε is one of a distance: no two places have a bound that an account counts."""
        from dither_device.question import check_ratio, log_above

        distance = parameters.get("distance")
        steps = (
            math.ceil(real(distance) / spacing * (1 + 1e-9) + math.sqrt(2)) if distance is not None else reach
        )
        need(width >= steps, "privacy", "more than ε is spent")
        check_ratio((1 << 64, b), real(parameters["epsilon"]))
        return (
            math.inf
            if distance is not None
            else log_above((1 << 64) ** -(-reach // width), b ** -(-reach // width))
        )

    made = Draw("PlanarStaircase", (0, 0), _path_of(area), _near_lattice(area, origin, spacing, offset))
    made.paths, made.epsilon_of = True, spent
    return made


# --- public points


def _read_grades(given: Any) -> tuple[int, int]:
    need(isinstance(given, Fields), "step")
    high = whole(given["high"], 1, 1 << 40)
    return whole(given["low"], 1, high), high


def _falling(grades: tuple[int, int], distances: list[float], allowed: list[bool] | None = None) -> list[int]:
    """Return weights that fall with the distance, between two bounds; 0 for what is not allowed."""
    low, high = grades
    some = [d for d, fine in zip(distances, allowed or [True] * len(distances), strict=True) if fine]
    near, far = min(some), max(some)
    spread, fall = far - near if far > near else 1.0, math.log(low / high)
    weights = []
    for at, distance in enumerate(distances):
        score = _clamp((distance - near) / spread, 0.0, 1.0)
        weight = min(max(round(high * math.exp(score * fall)), low), high)
        weights.append(weight if allowed is None or allowed[at] else 0)
    return weights


def _choose(take: Take, weights: list[int]) -> int:
    drawn, total = _ticket(take, sum(weights)), 0
    for at, weight in enumerate(weights):
        total += weight
        if total > drawn:
            return at
    raise AssertionError


def _apart(a: Place, b: Place) -> float:
    x, y = a[0] - b[0], a[1] - b[1]
    return math.sqrt(x * x + y * y)


def _read_points(device: Fields) -> list[Place]:
    points = [read_pair(point) for point in listed(device["points"], "selector")]
    need(2 <= len(points) <= 1 << 15, "selector")
    return points


def _largest_ratio(rows: list[list[int]]) -> float:
    """Return the largest ratio of two probabilities of one report, rounded up; ∞ if one is impossible."""
    most, least = [0.0] * len(rows[0]), [math.inf] * len(rows[0])
    for row in rows:
        total = sum(row)
        for at, weight in enumerate(row):
            most[at], least[at] = max(most[at], weight / total), min(least[at], weight / total)
    if any(low == 0 < high for low, high in zip(least, most, strict=True)):
        return math.inf
    return max(high / low for low, high in zip(least, most, strict=True) if high) * (1 + 1e-14)


_MOST_CHECKED = 1 << 10  # points whose pairs are all compared


def _spent_by(weigh: Callable[[int], list[int]], count: int) -> Callable[[dict[str, Any]], float]:
    def spent(parameters: dict[str, Any]) -> float:
        from dither_device.question import check_ratio, log_above

        need(count <= _MOST_CHECKED, "selector", "too many points for this client")
        largest = _largest_ratio([weigh(own) for own in range(count)])
        contrast = parameters.get("contrast")
        if largest == math.inf:
            return math.inf
        ratio = largest.as_integer_ratio()
        if not isinstance(contrast, dict) or contrast.get("name") == "KEPT":
            check_ratio(ratio, real(parameters["epsilon"]))
        return log_above(*ratio)

    return spent


def points(device: Fields) -> Draw:
    area = read_area(device, "rectangle", "disk", "parallelogram")
    listed_points, rule = _read_points(device), device["weights"]
    need(isinstance(rule, Fields), "step")
    if rule["kind"] == "rings":
        levels = [whole(level, 1, 1 << 40) for level in listed(rule["levels"], "step", 3)]
        radii = read_pair(rule["radii"])
        need(0 < radii[0] < radii[1], "step")
    else:
        need(rule["kind"] == "falling", "step")
        grades, reach = _read_grades(rule), rule["reach"]
        reach = None if reach is None else real(reach)

    def weigh(own: int) -> list[int]:
        gaps = [_apart(listed_points[own], point) for point in listed_points]
        if rule["kind"] == "rings":
            return [levels[(gap > radii[0]) + (gap > radii[1])] for gap in gaps]
        return _falling(grades, gaps, None if reach is None else [gap <= reach for gap in gaps])

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for place in path:
            own = min(range(len(listed_points)), key=lambda at: _apart(place, listed_points[at]))
            rows.append([_choose(take, weigh(own))])
        return _as_path(rows, width_of(len(listed_points)))

    made = Draw("NGram LSRR", (0, 0), _path_of(area), draw)
    made.paths, made.epsilon_of = True, _spent_by(weigh, len(listed_points))
    return made


def grid(device: Fields) -> Draw:
    area = read_area(device, "rectangle")
    side, grades = whole(device["side"], 2, 128), _read_grades(device)
    cell = [(high - low) / side for low, high in (area.x, area.y)]
    centres = [((a + 0.5) * cell[0], (b + 0.5) * cell[1]) for a in range(side) for b in range(side)]

    def weigh(own: int) -> list[int]:
        return _falling(grades, [_apart(centres[own], centre) for centre in centres])

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for place in path:
            at = [
                int((x - low) / one) for x, (low, _), one in zip(place, (area.x, area.y), cell, strict=True)
            ]
            own = [min(max(step, 0), side - 1) for step in at]
            drawn = _choose(take, weigh(own[0] * side + own[1]))
            a, b = _word(take, 256), _word(take, 256)
            rows.append([256 * (drawn // side) + a, 256 * (drawn % side) + b])
        return _as_path(rows, 2)

    made = Draw("Gridding", (0, 0), _path_of(area), draw)
    made.paths, made.epsilon_of = True, _spent_by(weigh, side * side)
    return made


def two_copies(device: Fields) -> Draw:
    area = read_area(device, "rectangle", "disk", "parallelogram")
    spots, sector = _read_points(device), device["sector"]
    need(isinstance(sector, Fields), "draw")
    anchor, choice = _read_grades(device["anchor"]), _read_grades(device["choice"])
    cells = whole(sector["cells"], 2, 1 << 16)
    respond, ratio = read_blocks(sector, cells)
    need(device["odds"] is None, "privacy", "nothing is promised")

    def where(begin: int, end: int) -> int:
        (a, b), (x, y) = spots[begin], spots[end]
        angle = math.atan2(y - b, x - a) % _TURN
        return min(int(angle / (_TURN / cells)), cells - 1)

    def gaps(own: int) -> list[float]:
        return [_apart(spots[own], spot) for spot in spots]

    def copy(truth: list[int], parity: int, take: Take) -> list[int]:
        last = len(truth) - 1
        between = [at for at in range(len(truth)) if at % 2 != parity and 0 < at < last]
        made = [0] * len(truth)
        for at, own in enumerate(truth):
            if at not in between:
                made[at] = _choose(take, _falling(anchor, gaps(own)))
        size = max(1, (1 << 18) // len(spots))
        for begin in range(0, len(between), size):
            some = between[begin : begin + size]
            told = [[respond(where(made[at + to], truth[at]), take) for at in some] for to in (-1, 1)]
            for place, at in enumerate(some):
                sides = [(made[at + to], told[number][place]) for number, to in enumerate((-1, 1))]
                seen = [all(where(side, spot) == mark for side, mark in sides) for spot in range(len(spots))]
                weights = _falling(choice, gaps(truth[at]), seen if any(seen) else None)
                made[at] = _choose(take, weights)
        return made

    def draw(path: list[Place], take: Take) -> bytes:
        truth = [min(range(len(spots)), key=lambda at: _apart(place, spots[at])) for place in path]
        rows = []
        for a, b in zip(copy(truth, 1, take), copy(truth, 0, take), strict=True):
            sums = [_apart(spots[a], spot) + _apart(spots[b], spot) for spot in spots]
            rows.append([sums.index(min(sums))])
        return _as_path(rows, width_of(len(spots)))

    first = anchor[1] ** 2, anchor[0] ** 2
    second = ratio[0] ** 2 * choice[1] ** 2, ratio[1] ** 2 * choice[0] ** 2
    top, bottom = first if first[0] * second[1] > second[0] * first[1] else second
    made = Draw("ATP", (top**2, bottom**2), _path_of(area), draw)
    made.paths = True
    return made


# --- coins that two devices have dealt each other


def _joint(device: Fields) -> Draw:
    kind = device["draw"]
    (place, mark), count, labels = read_codes(device)
    for name in ("both", "one", "neither"):
        hexadecimal(device[name], 1024)
    whole(device["people"], 2, 1 << 52)
    size = whole(device["size"], 2, 1 << 24)
    if kind == "joint hashed":
        need(device["hash"] == "affine 1" and size <= 1 << 16, "draw")
    else:
        need(size == count, "cells")
    each = size if kind == "joint bits" else 1

    def inside(value: Any) -> tuple[int, list[bool]]:
        try:
            label, coins = value
            if len(coins) != each or not all(isinstance(coin, bool) for coin in coins):
                raise Outside("a label and the dealt coins were expected")
        except (TypeError, ValueError):
            raise Outside("a label and the dealt coins were expected") from None
        return place(label), list(coins)

    def tell(own: int, coin: bool, take: Take) -> int:
        return own if coin else (own + 1 + _word(take, size - 1)) % size

    def draw(given: tuple[int, list[bool]], take: Take) -> bytes:
        own, coins = given
        if kind == "joint bits":
            row = sum(((at == own) == coins[at]) << at for at in range(size))
            return row.to_bytes((size + 7) >> 3, "little")
        if kind == "joint response":
            return as_cell(tell(own, coins[0], take), size)
        seed = bits(take, 64) >> 17
        return (seed << 16 | tell(bucket_of(seed, own, size), coins[0], take)).to_bytes(8, "little")

    names = {"joint response": "JRR", "joint bits": "JointSUE", "joint hashed": "JointOLH"}
    made = Draw(names[kind], (0, 0), (inside, lambda given: mark(given[0])), draw)
    made.joint, made.labels = True, labels
    made.epsilon_of = lambda parameters: math.inf  # it follows from the coins, and no account counts it
    return made


READERS = {
    "pair": pair,
    "polar": polar,
    "walk": walk,
    "nearest": nearest,
    "listing": listing,
    "planar": planar,
    "rings": rings,
    "points": points,
    "grid": grid,
    "two copies": two_copies,
    "joint response": _joint,
    "joint bits": _joint,
    "joint hashed": _joint,
}
