"""Noise in the plane, public points, and coins that two devices have dealt each other. See docs/wire.md."""

from __future__ import annotations

import math

from dither_device.draws import Draw, Outside, as_cell, bits, bucket_of, read_blocks, read_codes, width_of
from dither_device.places import TURN, Area, as_path, clamp, path_of, read_area, read_pair
from dither_device.text import Fields, hexadecimal, integer, listed, need, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Take
    from dither_device.places import Place


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
    area = read_area(device["domain"], device["outside"], "rectangle", "disk", "parallelogram")
    spacing, reach = real(device["spacing"]), integer(device["reach"], 1, 1 << 52)
    need(spacing > 0, "cells")
    need(reach >= math.ceil(area.diameter / spacing * (1 + 1e-9) + math.sqrt(2)), "cells")
    return area, read_pair(device["origin"]), spacing, reach


def _near_lattice(
    area: Area, origin: Place, spacing: float, offset: Callable[[Take], tuple[int, int]]
) -> Callable[[list[Place], Take], bytes]:
    most = (1 << 31) - 1

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for location in path:
            steps = [round((x - o) / spacing) for x, o in zip(location, origin, strict=True)]
            rows.append([min(max(a + b, -most), most) for a, b in zip(steps, offset(take), strict=True)])
        return as_path(rows, 4, signed=True)

    return draw


def planar(device: Fields) -> Draw:
    area, origin, spacing, reach = _read_lattice(device)
    fall, per = integer(device["fall"], 1, 1 << 52), integer(device["per"], 1, 1 << 52)

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

    made = Draw("PlanarLaplace", (0, 0), path_of(area), _near_lattice(area, origin, spacing, offset))
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
    width, b = integer(device["width"], 1, 1 << 24), hexadecimal(device["fall"], 16)
    first = integer(device["first"], 1, width)
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

    made = Draw("PlanarStaircase", (0, 0), path_of(area), _near_lattice(area, origin, spacing, offset))
    made.paths, made.epsilon_of = True, spent
    return made


# --- public points


def _read_grades(given: Any) -> tuple[int, int]:
    need(isinstance(given, Fields), "step")
    high = integer(given["high"], 1, 1 << 40)
    return integer(given["low"], 1, high), high


def _falling(grades: tuple[int, int], distances: list[float], allowed: list[bool] | None = None) -> list[int]:
    """Return weights that fall with the distance, between two bounds; 0 for forbidden points."""
    low, high = grades
    some = [d for d, fine in zip(distances, allowed or [True] * len(distances), strict=True) if fine]
    near, far = min(some), max(some)
    spread, fall = far - near if far > near else 1.0, math.log(low / high)
    weights = []
    for at, distance in enumerate(distances):
        score = clamp((distance - near) / spread, 0.0, 1.0)
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
    need(all(abs(x) <= 1e30 for point in points for x in point), "selector", "a point beyond 10^30")
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
    area = read_area(device["domain"], device["outside"], "rectangle", "disk", "parallelogram")
    listed_points, rule = _read_points(device), device["weights"]
    need(isinstance(rule, Fields), "step")
    if rule["kind"] == "rings":
        levels = [integer(level, 1, 1 << 40) for level in listed(rule["levels"], "step", 3)]
        radii = read_pair(rule["radii"])
        need(0 < radii[0] < radii[1], "step")
    elif rule["kind"] == "listed":
        values = [integer(value, 1, 1 << 40) for value in listed(rule["values"], "step")]
        need(len(listed_points) <= 1 << 10, "selector")
        table = [
            [values[integer(at, 0, len(values) - 1)] for at in listed(row, "step", len(listed_points))]
            for row in listed(rule["rows"], "step", len(listed_points))
        ]
    else:
        need(rule["kind"] == "falling", "step")
        grades, reach = _read_grades(rule), rule["reach"]
        reach = None if reach is None else real(reach)

    def weigh(own: int) -> list[int]:
        if rule["kind"] == "listed":
            return table[own]
        gaps = [_apart(listed_points[own], point) for point in listed_points]
        if rule["kind"] == "rings":
            return [levels[(gap > radii[0]) + (gap > radii[1])] for gap in gaps]
        return _falling(grades, gaps, None if reach is None else [gap <= reach for gap in gaps])

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for location in path:
            own = min(range(len(listed_points)), key=lambda at: _apart(location, listed_points[at]))
            rows.append([_choose(take, weigh(own))])
        return as_path(rows, width_of(len(listed_points)))

    made = Draw("NGram LSRR Exponential", (0, 0), path_of(area), draw)
    made.paths, made.epsilon_of = True, _spent_by(weigh, len(listed_points))
    return made


def grid(device: Fields) -> Draw:
    area = read_area(device["domain"], device["outside"], "rectangle")
    side, grades = integer(device["side"], 2, 128), _read_grades(device)
    cell = [(high - low) / side for low, high in (area.x, area.y)]
    centres = [((a + 0.5) * cell[0], (b + 0.5) * cell[1]) for a in range(side) for b in range(side)]

    def weigh(own: int) -> list[int]:
        return _falling(grades, [_apart(centres[own], centre) for centre in centres])

    def draw(path: list[Place], take: Take) -> bytes:
        rows = []
        for location in path:
            at = [
                int((x - low) / one)
                for x, (low, _), one in zip(location, (area.x, area.y), cell, strict=True)
            ]
            own = [min(max(step, 0), side - 1) for step in at]
            drawn = _choose(take, weigh(own[0] * side + own[1]))
            a, b = _word(take, 256), _word(take, 256)
            rows.append([256 * (drawn // side) + a, 256 * (drawn % side) + b])
        return as_path(rows, 2)

    made = Draw("Gridding", (0, 0), path_of(area), draw)
    made.paths, made.epsilon_of = True, _spent_by(weigh, side * side)
    return made


def two_copies(device: Fields) -> Draw:
    area = read_area(device["domain"], device["outside"], "rectangle", "disk", "parallelogram")
    spots, sector = _read_points(device), device["sector"]
    need(isinstance(sector, Fields), "draw")
    anchor, choice = _read_grades(device["anchor"]), _read_grades(device["choice"])
    cells = integer(sector["cells"], 2, 1 << 16)
    respond, ratio = read_blocks(sector, cells)
    need(device["odds"] is None, "privacy", "nothing is promised")

    def where(begin: int, end: int) -> int:
        (a, b), (x, y) = spots[begin], spots[end]
        angle = math.atan2(y - b, x - a) % TURN
        return min(int(angle / (TURN / cells)), cells - 1)

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
            entries = [[respond(where(made[at + to], truth[at]), take) for at in some] for to in (-1, 1)]
            for index, at in enumerate(some):
                sides = [(made[at + to], entries[number][index]) for number, to in enumerate((-1, 1))]
                seen = [all(where(side, spot) == mark for side, mark in sides) for spot in range(len(spots))]
                weights = _falling(choice, gaps(truth[at]), seen if any(seen) else None)
                made[at] = _choose(take, weights)
        return made

    def draw(path: list[Place], take: Take) -> bytes:
        truth = [min(range(len(spots)), key=lambda at: _apart(index, spots[at])) for index in path]
        rows = []
        for a, b in zip(copy(truth, 1, take), copy(truth, 0, take), strict=True):
            sums = [_apart(spots[a], spot) + _apart(spots[b], spot) for spot in spots]
            rows.append([sums.index(min(sums))])
        return as_path(rows, width_of(len(spots)))

    first = anchor[1] ** 2, anchor[0] ** 2
    second = ratio[0] ** 2 * choice[1] ** 2, ratio[1] ** 2 * choice[0] ** 2
    top, bottom = first if first[0] * second[1] > second[0] * first[1] else second
    made = Draw("ATP", (top**2, bottom**2), path_of(area), draw)
    made.paths = True
    return made


# --- coins that two devices have dealt each other


def _joint(device: Fields) -> Draw:
    kind = device["draw"]
    (location, mark), count, labels = read_codes(device)
    for name in ("both", "one", "neither"):
        hexadecimal(device[name], 1024)
    integer(device["people"], 2, 1 << 52)
    size = integer(device["size"], 2, 1 << 24)
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
        return location(label), list(coins)

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
    "planar": planar,
    "rings": rings,
    "points": points,
    "grid": grid,
    "two copies": two_copies,
    "joint response": _joint,
    "joint bits": _joint,
    "joint hashed": _joint,
}
