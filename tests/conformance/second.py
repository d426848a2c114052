"""Draws written from docs/wire.md alone: those that JavaScript lacks, and more; no code of the package.

Plain Python integers and doubles. It checks that the page says enough, and that the vectors follow it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np

Take = Callable[[int], bytes]

_WORD: Final = 1 << 64


def bits(take: Take, size: int) -> int:
    """The page's `bits(n)`."""
    length = -(-size // 8)
    return int.from_bytes(take(length), "little") >> (8 * length - size)


def below(take: Take, bound: int) -> int:
    """The page's `below(m)`."""
    while True:
        drawn = bits(take, (bound - 1).bit_length())
        if drawn < bound:
            return drawn


def word(take: Take, bound: int) -> int:
    """The page's `word(m)`."""
    while True:
        drawn = bits(take, 64)
        if drawn < _WORD - _WORD % bound:
            return drawn % bound


def ticket(take: Take, bound: int) -> int:
    """The page's `ticket(m)`."""
    while True:
        drawn = bits(take, 62)
        if drawn < (1 << 62) // bound * bound:
            return drawn % bound


def choice(take: Take, weights: list[int]) -> int:
    """The page's `choice(w)`."""
    drawn, total = ticket(take, sum(weights)), 0
    for place, weight in enumerate(weights):
        total += weight
        if total > drawn:
            return place
    raise AssertionError


def coin(take: Take, heads: int) -> bool:
    """The page's `coin(heads)`."""
    first = bits(take, 64)
    return bits(take, 64) < heads % _WORD if first == heads >> 64 else first < heads >> 64


def response(take: Take, own: int, cells: int, step: int, size: int) -> int:
    """The page's `response`, by its `lottery`."""
    early = size // 8 - 4
    v, first = int.from_bytes(take(early), "little"), step >> 32
    late = v - ((1 << 8 * early) - cells)
    if late >= 0:
        return late if int.from_bytes(take(4), "little") < step % (1 << 32) else own
    return v // first if v < cells * first else own


def in_box(d: dict[str, Any], record: list[float], take: Take) -> int:
    """The page's draw `box`, on a grid."""
    rule, count = d["selector"], d["width"]
    g, scale = rule["grain"], rule["scale"]
    at = [
        min(max(int((x - a) / (b - a) * 65536 // 1), 0), 65535)
        for x, (a, b) in zip(record, rule["box"], strict=True)
    ]
    at = [(x >> g << g) + (1 << g >> 1) for x in at]
    sides = [[min(32768 + (2 * i + 1 - m) * scale // (2 * m), 65535) for i in range(m)] for m in rule["per"]]
    far = [
        (sum((s * (x - y)) ** 2 for s, x, y in zip(rule["scales"], at, point, strict=True)), number)
        for number, point in enumerate(product(*sides))
    ]
    told = response(take, -1, count, int(d["step"], 16), d["bits"])
    other = below(take, d["cells"])
    return other if told < 0 else sorted(far)[told][1]


def alias(take: Take, weights: list[int]) -> int:
    """The page's `alias`."""
    size = max(1, (len(weights) - 1).bit_length())
    capacity = 1 << (128 - size)
    left = weights + [0] * ((1 << size) - len(weights))
    thresholds, others = [0] * len(left), list(range(len(left)))
    small = [i for i, one in enumerate(left) if one < capacity]
    large = [i for i, one in enumerate(left) if one >= capacity]
    while small:
        i, g = small.pop(), large[-1]
        thresholds[i], others[i] = left[i], g
        left[g] -= capacity - left[i]
        if left[g] < capacity:
            small.append(large.pop())
    column = bits(take, size)
    return column if bits(take, 128 - size) < thresholds[column] else others[column]


def mixed(seed: int) -> int:
    """SplitMix64's finaliser of (s + 1)·0x9E3779B97F4A7C15."""
    m = (seed + 1) * 0x9E3779B97F4A7C15 % _WORD
    m = (m ^ m >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    m = (m ^ m >> 27) * 0x94D049BB133111EB % _WORD
    return m ^ m >> 31


def bucket(seed: int, item: int, buckets: int) -> int:
    """The hash family `affine 1`."""
    m = mixed(seed)
    return ((m >> 32) * item + m) % (1 << 32) * buckets >> 32


def weights_of_noise(noise: dict[str, Any], kind: str) -> list[int]:
    """The weights of a lattice's noise, w_0 … w_R."""
    one, b, reach = 1 << 256, int(noise["base"], 16), noise["reach"]
    v = [one]
    if noise["decay"] == "stairs":
        first, run = noise["first"], noise["run"]
        for z in range(1, reach + 1):
            v.append(v[-1] * b // one if z >= first and (z - first) % run == 0 else v[-1])
        tail = ((first - reach) % run or run) * v[-1] + run * (v[-1] * b // (one - b))
    elif noise["decay"] == "geometric":
        for _ in range(reach):
            v.append(v[-1] * b // one)
        tail = v[-1] * one // (one - b)
    else:
        g = b
        for _ in range(reach):
            v.append(v[-1] * g // one)
            g = g * b * b // one**2
        q, s = one, b
        for digit in reversed(f"{2 * reach + 1:b}"):
            q = q * s // one if digit == "1" else q
            s = s * s // one
        tail = v[-1] * one // (one - q)
    if kind == "clamped":
        v[-1] = tail
    copies = 1 if kind == "ring" else 2
    mass = 2 * sum(v[:-1]) - one + copies * v[-1]
    outer = [-(-value * ((1 << 128) - (1 << 40)) // mass) for value in v[1:]]
    if kind == "bounded":
        outer = [max(weight, 1 << 32) for weight in outer]
    return [(1 << 128) - 2 * sum(outer[:-1]) - copies * outer[-1], *outer]


def channel(d: dict[str, Any], row: int, take: Take) -> int:
    """A report of a row of a table of integers."""
    values = [int(d["values"][place], 16) for place in d["rows"][row]]
    weights = [-(-(value << 128) // sum(values)) for value in values]
    weights[values.index(max(values))] -= sum(weights) - (1 << 128)
    return alias(take, weights)


def splines(d: dict[str, Any], record: list[float], take: Take) -> int:
    """The page's draw `splines`."""
    row, p = 0, d["pieces"]
    for x, (a, b) in zip(record, d["ends"], strict=True):
        z = min(max(math.floor((x - a) / (b - a) * (p << 15) + 0.5), 0), p << 15)
        j = min(z >> 15, p - 1)
        t = z - (j << 15)
        low, high = ((1 << 15) - t) ** 2 * (2 if j == 0 else 1), t**2 * (2 if j == p - 1 else 1)
        u = int.from_bytes(take(4), "little") // 2
        i = j if u < low else j + 1 if u < (1 << 31) - high else j + 2
        row = row * (p + 2) + i
    return channel(d, row, take)


def code(domain: dict[str, Any], value: Any) -> int:
    """The code of a label."""
    return int(value) if "count" in domain else domain["labels"].index(value)


def indices(d: dict[str, Any], own: int, take: Take) -> list[int]:
    """A set of categories as ascending codes."""
    held, kept = coin(take, int(d["heads"], 16)), list[int]()
    for i in range(d["chosen"]):
        n = below(take, d["size"] - 1 - i)
        for earlier in sorted(kept):
            n += n >= earlier
        kept.append(n)
    row = [n + (n >= own) for n in (kept[:-1] if held else kept)]
    return sorted([*row, own] if held else row)


def falling(low: int, high: int, distances: list[float]) -> list[int]:
    """The weights of candidates by their distances."""
    nearest, farthest = min(distances), max(distances)
    spread = farthest - nearest if farthest > nearest else 1.0
    made = (high * math.exp((one - nearest) / spread * math.log(low / high)) for one in distances)
    return [min(max(round(one), low), high) for one in made]


def apart(one: Any, two: Any) -> float:
    """The distance of two places."""
    x, y = one[0] - two[0], one[1] - two[1]
    return math.sqrt(x * x + y * y)


def points(d: dict[str, Any], place: Any, take: Take) -> list[int]:
    """The number of a public point."""
    listed, rule = d["points"], d["weights"]
    own = min(listed, key=lambda point: apart(place, point))
    if rule["kind"] == "listed":
        return [choice(take, [rule["values"][i] for i in rule["rows"][listed.index(own)]])]
    gaps = [apart(own, point) for point in listed]
    if rule["kind"] == "rings":
        return [choice(take, [rule["levels"][sum(gap > r for r in rule["radii"])] for gap in gaps])]
    return [choice(take, falling(rule["low"], rule["high"], gaps))]


def of_directions(d: dict[str, Any], vector: Any, take: Take) -> bytes:
    """A seed, and the number of a direction near a vector: the formula sign by sign, without transforms."""
    domain, cells, seed = d["domain"], d["cells"], bits(take, 32)
    middle = domain["centre"] or [0.0] * domain["dimension"]
    own = [(x - c) / domain["length"] for x, c in zip(vector, middle, strict=True)]
    far = math.hypot(*own)
    if abs(far - 1.0) > 0.01 if domain["exact"] else far > 1.00001:
        own = [x / far for x in own]
    if not domain["exact"]:
        own.append(math.sqrt(max(1.0 - sum(x * x for x in own), 0.0)))
    axes = len(own)
    size = cells if axes <= 128 else 1 << (axes - 1).bit_length()

    def signs(first: int, count: int) -> Any:
        words = np.array([mixed(first + i) for i in range(-(-count // 64))], dtype="<u8")
        return 1 - 2 * np.unpackbits(words.view(np.uint8), bitorder="little")[:count].astype(np.float64)

    def entries(rows: Any, columns: Any) -> Any:
        return 1 - 2 * (np.bitwise_count(rows[:, None] & columns) & 1).astype(np.float64)

    columns = 1 + 619 * np.arange(size) % (cells - 1)
    inner = entries(np.arange(axes), np.arange(size)) * signs(seed << 16, size)
    rows = (inner @ entries(np.arange(cells), columns).T) * signs((1 << 48) + (seed % 256 << 16), axes)[
        :, None
    ]
    products = np.array(own) @ rows
    if axes <= 128:
        products = products / np.sqrt(np.maximum((rows**2).sum(axis=0), 1))
    near = sorted(np.argsort(-products, kind="stable")[: d["width"]].tolist())
    told = response(take, -1, d["width"], int(d["step"], 16), d["bits"])
    other = below(take, cells)
    return (seed << 16 | (other if told < 0 else near[told])).to_bytes(8, "little")


def cell_of_grid(d: dict[str, Any], place: Any, take: Take) -> list[int]:
    """A place within a cell of a grid."""
    side, axes = d["side"], (d["domain"]["x"], d["domain"]["y"])
    cell = [(axis["high"] - axis["low"]) / side for axis in axes]
    at = [int((x - axis["low"]) / one) for x, axis, one in zip(place, axes, cell, strict=True)]
    own = [min(max(one, 0), side - 1) for one in at]
    centres = [[(a + 0.5) * cell[0], (b + 0.5) * cell[1]] for a in range(side) for b in range(side)]
    gaps = [apart(centres[own[0] * side + own[1]], one) for one in centres]
    drawn = choice(take, falling(d["low"], d["high"], gaps))
    a, b = word(take, 256), word(take, 256)
    return [256 * (drawn // side) + a, 256 * (drawn % side) + b]


def planar(d: dict[str, Any], take: Take) -> tuple[int, int]:
    """An offset of planar Laplace noise."""

    def heads(h: int, m: int) -> bool:
        k = 1
        while word(take, m * k) < h:
            k += 1
        return k % 2 == 1

    def geometric() -> int:
        low = word(take, d["per"])
        while not heads(low, d["per"]):
            low = word(take, d["per"])
        count = 0
        while heads(1, 1):
            count += 1
        return int((low + d["per"] * count) // d["fall"])

    while True:
        g = geometric() + geometric() + geometric()
        right = ticket(take, 2 * g + 2) - g - 1
        up = ticket(take, 2 * g + 4) - g - 2
        if right**2 + up**2 <= g * (g + 2):
            return right, up


def rings(d: dict[str, Any], take: Take) -> tuple[int, int]:
    """An offset of staircase noise in the plane."""
    first, width, b = d["first"], d["width"], int(d["fall"], 16)
    c = _WORD - b
    weights = [first**2 * c**2, (width**2 + 2 * first * width) * b * c, 2 * width**2 * b**2]
    total = sum(weights)
    digits = total.bit_length()
    count = -(-digits // 64)
    while True:
        while True:
            words = [bits(take, 64) for _ in range(count)]
            number = words[0] >> (64 * count - digits)
            for one in words[1:]:
                number = number << 64 | one
            if number < total:
                break
        j = kind = (number >= weights[0]) + (number >= weights[0] + weights[1])
        for _ in range(kind + 1):
            while bits(take, 64) < b:
                j += 1
        radius = first + j * width
        right, up = ticket(take, 2 * radius) - radius, ticket(take, 2 * radius) - radius
        if right**2 + up**2 < radius**2:
            return right, up


def near(d: dict[str, Any], place: Any, offset: tuple[int, int]) -> list[int]:
    """The lattice point nearest to a place, plus an offset."""
    steps = [round((x - o) / d["spacing"]) for x, o in zip(place, d["origin"], strict=True)]
    most = (1 << 31) - 1
    return [min(max(a + b, -most), most) for a, b in zip(steps, offset, strict=True)]


def two_copies(d: dict[str, Any], path: Any, take: Take) -> list[int]:
    """The points of a whole path."""
    listed, sector = d["points"], d["sector"]
    truth = [min(range(len(listed)), key=lambda i: apart(place, listed[i])) for place in path]

    def weigh(grades: dict[str, Any], own: int, some: list[int]) -> list[int]:
        made = falling(grades["low"], grades["high"], [apart(listed[own], listed[i]) for i in some])
        by = dict(zip(some, made, strict=True))
        return [by.get(i, 0) for i in range(len(listed))]

    def where(begin: int, end: int) -> int:
        (a, b), (x, y) = listed[begin], listed[end]
        angle = math.atan2(y - b, x - a) % (2 * math.pi)
        return min(int(angle / (2 * math.pi / sector["cells"])), sector["cells"] - 1)

    def copy(parity: int) -> list[int]:
        last = len(truth) - 1
        between = [i for i in range(len(truth)) if i % 2 != parity and 0 < i < last]
        made = [0] * len(truth)
        for i in range(len(truth)):
            if i not in between:
                made[i] = choice(take, weigh(d["anchor"], truth[i], list(range(len(listed)))))
        step = int(sector["step"], 16)
        told = [
            [
                response(take, where(made[i + side], truth[i]), sector["cells"], step, sector["bits"])
                for i in between
            ]
            for side in (-1, 1)
        ]
        for at, i in enumerate(between):
            some = [
                j
                for j in range(len(listed))
                if all(where(made[i + side], j) == told[k][at] for k, side in enumerate((-1, 1)))
            ]
            made[i] = choice(take, weigh(d["choice"], truth[i], some or list(range(len(listed)))))
        return made

    pairs = zip(copy(1), copy(0), strict=True)
    return [
        min(range(len(listed)), key=lambda j: apart(listed[a], listed[j]) + apart(listed[b], listed[j]))
        for a, b in pairs
    ]


def projective(d: dict[str, Any], own: int, take: Take) -> int:
    """A point of a finite geometry."""
    q, t, c = d["order"], d["dimension"], d["polynomial"]
    p = next(prime for prime in range(2, q + 1) if q % prime == 0)
    n = len(c)
    m = n // t
    points, block = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    s = [0] * (n - 1) + [1]
    while len(s) < m * points:
        s.append(-sum(one * other for one, other in zip(c, s[-n:], strict=True)) % p)
    inside = [i for i in range(points) if not any(s[i + j * points] for j in range(m))]
    high, low = int(d["own"], 16), int(d["other"], 16)
    while True:
        u = int.from_bytes(take(d["bits"] // 8), "little")
        if u < block * high + (points - block) * low:
            break
    outside = [i for i in range(points) if i not in set(inside)]
    found = inside[u // high] if u < block * high else outside[(u - block * high) // low]
    return (found - own) % points


def prefix(d: dict[str, Any], text: str, take: Take) -> int:
    """A seed, and the bucket of one prefix of a text."""
    alphabet = d["domain"]["alphabet"]
    symbols = list(text.encode()) if alphabet is None else [alphabet.index(letter) + 1 for letter in text]
    symbols += [0] * (d["domain"]["length"] - len(symbols))
    seed, key = bits(take, 47), 0
    shares = d.get("shares", [1] * len(d["ends"]))
    length = [end for end, share in zip(d["ends"], shares, strict=True) for _ in range(share)]
    for symbol in symbols[: length[seed % len(length)]]:
        key = mixed(key ^ symbol)
    own = bucket(seed, key >> 32, d["buckets"])
    return seed << 16 | response(take, own, d["buckets"], int(d["step"], 16), d["bits"])


def question(d: dict[str, Any], value: dict[str, Any], take: Take) -> list[int]:
    """A question of several, and its report."""
    u = int.from_bytes(take(4), "little")
    ends = list(itertools.accumulate(one[2] for one in d["questions"]))
    j = next(j for j, end in enumerate(ends) if u < end)
    attributes, table, _, number = d["questions"][j]
    place = 0
    for attribute in attributes:
        name, domain = d["domain"]["attributes"][attribute]
        place = place * _count(domain) + code(domain, value[name])
    inner = d["draws"][number]
    if inner["draw"] == "indices":
        return [j, *indices(inner, table[place], take)]
    if inner["draw"] == "projective":
        return [j, projective(inner, table[place], take)]
    told = response(take, table[place], inner["cells"], int(inner["step"], 16), inner["bits"])
    return [j, told]


def _count(domain: dict[str, Any]) -> int:
    return int(domain["count"]) if "count" in domain else len(domain["labels"])


def joint(d: dict[str, Any], value: Any, take: Take) -> bytes:
    """A report with dealt coins."""
    label, coins = value
    own, size = code(d["domain"], label), d["size"]

    def told(truth: int) -> int:
        return truth if coins[0] else (truth + 1 + word(take, size - 1)) % size

    if d["draw"] == "joint bits":
        row = sum(((i == own) == coins[i]) << i for i in range(size))
        return row.to_bytes(-(-size // 8), "little")
    if d["draw"] == "joint response":
        return told(own).to_bytes(1, "little")
    seed = int.from_bytes(take(8), "little") >> 17
    return (seed << 16 | told(bucket(seed, own, size))).to_bytes(8, "little")


def _box(area: dict[str, Any]) -> list[tuple[float, float]]:
    """The box around an area."""
    if area["kind"] == "rectangle":
        return [(area[axis]["low"], area[axis]["high"]) for axis in "xy"]
    if area["kind"] == "disk":
        return [(middle - area["radius"], middle + area["radius"]) for middle in area["centre"]]
    sides = []
    for corner, first, second in zip(area["corner"], area["first"], area["second"], strict=True):
        ends = [corner, corner + first, corner + second, corner + first + second]
        sides.append((min(ends), max(ends)))
    return sides


def _into(area: dict[str, Any], place: Any) -> list[float]:
    """A place moved into an area."""
    if area["kind"] == "rectangle":
        return [min(max(x, low), high) for x, (low, high) in zip(place, _box(area), strict=True)]
    if area["kind"] == "disk":
        x, y = (a - b for a, b in zip(place, area["centre"], strict=True))
        far = math.hypot(x, y)
        inside = area["radius"] / far if far > area["radius"] else 1.0
        return [m + inside * a for m, a in zip(area["centre"], (x, y), strict=True)]
    (a, b), (c, e), (o, p) = area["first"], area["second"], area["corner"]
    x, y, size = place[0] - o, place[1] - p, a * e - b * c
    s, t = (min(max(part / size, 0.0), 1.0) for part in (x * e - y * c, y * a - x * b))
    return [o + s * a + t * c, p + s * b + t * e]


def route(d: dict[str, Any], path: Any, take: Take) -> int:
    """The number of a public path."""
    domain, area = d["domain"], d["domain"]["area"]
    moved = [_into(area, place) for place in path]
    sides = _box(area)
    whole = [
        tuple(
            min(max(math.floor((x - low) / (high - low) * 65536), 0), 65535)
            for x, (low, high) in zip(place, sides, strict=True)
        )
        for place in moved
    ]
    longer = max(high - low for low, high in sides)
    scales = [max(1, round(256 * (high - low) / longer)) for low, high in sides]

    def gap(a: Any, b: Any) -> int:
        return math.isqrt(sum((s * (x - y)) ** 2 for s, x, y in zip(scales, a, b, strict=True)))

    count, m = domain["points"], len(whole) - 1
    steps = [1 if domain["by"] == "order" else gap(whole[k], whole[k + 1]) for k in range(m)]
    c = [sum(steps[:k]) for k in range(m + 1)]
    own = []
    for i in range(count):
        target = i * c[m]
        k = max([k for k in range(m) if (count - 1) * c[k] <= target], default=0)
        if not m or c[k + 1] == c[k]:
            own.append(whole[min(k + 1, m)])
            continue
        z, r = (count - 1) * (c[k + 1] - c[k]), target - (count - 1) * c[k]
        own.append(tuple((a * (z - r) + b * r) // z for a, b in zip(whole[k], whole[k + 1], strict=True)))

    def far(one: Any, other: Any) -> int:
        if domain["distance"] == "mean":
            return sum(gap(a, b) for a, b in zip(one, other, strict=True))

        @cache
        def best(i: int, j: int) -> int:
            before = [best(x, y) for x, y in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if x >= 0 and y >= 0]
            here = gap(one[i], other[j])
            if domain["distance"] == "frechet":
                return max(here, min(before, default=0))
            return here + min(before, default=0)

        return best(count - 1, count - 1)

    n = [int(d["paths"][at : at + 4], 16) for at in range(0, len(d["paths"]), 4)]
    places = list(zip(n[::2], n[1::2], strict=True))
    public = [places[at : at + count] for at in range(0, len(places), count)]
    nearest = min(range(len(public)), key=lambda j: (far(own, public[j]), j))
    order = sorted(range(len(public)), key=lambda j: (far(public[nearest], public[j]), j))
    told = response(take, -1, d["width"], int(d["step"], 16), d["bits"])
    other = below(take, d["cells"])
    return other if told < 0 else order[told]


_PLACES: Final = {
    "points": (points, 1),
    "grid": (cell_of_grid, 2),
    "planar": (lambda d, place, take: near(d, place, planar(d, take)), 4),
    "rings": (lambda d, place, take: near(d, place, rings(d, take)), 4),
}
PAGE: Final = (
    *_PLACES,
    *("two copies", "channel", "table", "indices", "questions", "prefix", "box", "directions"),
    *("splines", "routes"),
    *("joint response", "joint bits", "joint hashed"),
)


def report(d: dict[str, Any], value: Any, take: Take) -> bytes:
    """Return the report of a value as bytes, from the data of a device text."""
    kind = d["draw"]
    if kind in _PLACES:
        draw, size = _PLACES[kind]
        rows = [[int(at == 0), *draw(d, place, take)] for at, place in enumerate(value)]
        return b"".join(n.to_bytes(size, "little", signed=size == 4) for row in rows for n in row)
    if kind == "two copies":
        return bytes(n for at, one in enumerate(two_copies(d, value, take)) for n in (int(at == 0), one))
    if kind.startswith("joint"):
        return joint(d, value, take)
    if kind == "routes":
        return route(d, value, take).to_bytes(1 if d["cells"] <= 256 else 2, "little")
    if kind == "prefix":
        return prefix(d, value, take).to_bytes(8, "little")
    if kind == "questions":
        row = question(d, value, take)
        width = 1 + max(one.get("chosen", 1) for one in d["draws"])
        return bytes(row + [0] * (width - len(row)))
    if kind == "directions":
        return of_directions(d, value, take)
    if kind == "splines":
        return bytes([splines(d, value if isinstance(value, list) else [value], take)])
    if kind == "box":
        return bytes([in_box(d, value, take)])
    if kind == "indices":
        return bytes(indices(d, code(d["domain"], value), take))
    if kind == "table":
        return bytes([channel(d, code(d["domain"], value), take)])
    start = d["start"]
    if start["kind"] == "points":
        points = start["points"]
        value = min(max(value, points[0]), points[-1])
        row = max(i for i in range(len(points) - 1) if i == 0 or points[i] <= value)
        way = (value - points[row]) / (points[row + 1] - points[row])
        return bytes([channel(d, row + (bits(take, 32) < math.floor(way * 2**32 + 0.5)), take)])
    return bytes([channel(d, start["labels"][sum(edge <= value for edge in start["edges"])], take)])
