"""How a device turns one value into one report: random numbers, domains, start rules, windows and sets.

The rules are docs/wire.md; a report takes the bytes in the order of that page. `take(n)` always returns n
random bytes.
"""

from __future__ import annotations

import math
from struct import pack

from dither_device.text import (
    MOST_SAFE,
    Fields,
    hexadecimal,
    integer,
    is_digits,
    listed,
    need,
    real,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Take = Callable[[int], bytes]
    Inside = Callable[[Any], Any]
    Domain = tuple[Inside, Callable[[Any], bytes]]


class Outside(ValueError):
    """A value is not in the domain of its question. The error does not contain the value."""


class Draw:
    """A question's randomiser: its values, its loss, and its draw.

    `ratio` are the numerator and denominator of the largest ratio of two probabilities of one report. `place`
    turns a value into an input, or raises Outside. `mark` distinguishes inputs, as bytes. `draw(input, take)`
    returns the report. `names` are the mechanisms that draw so.
    """

    paths = False  # True if a value is a list of locations
    joint = False  # True if a report needs coins that two devices have dealt each other
    labels: tuple[Any, ...] | None = None
    epsilon_of: Callable[[dict[str, Any]], float] | None = None  # ε where it is not ln(ratio)
    delta_of: Callable[[int, Any], float] | None = (
        None  # δ at a bound of e^ε·2^320; raises if it is too large
    )

    def __init__(
        self, names: str, ratio: tuple[int, int], domain: Domain, draw: Callable[[Any, Take], bytes]
    ):
        self.names, self.ratio, self.draw = names.split(), ratio, draw
        self.place, self.mark = domain


# --- random numbers


def bits(take: Take, size: int) -> int:
    """Return a uniform number below 2^size: the highest bits of ⌈size/8⌉ bytes."""
    length = (size + 7) >> 3
    return int.from_bytes(take(length), "little") >> (8 * length - size)


def below(take: Take, bound: int) -> int:
    """Return a uniform number below a bound, by rejection."""
    size = (bound - 1).bit_length()
    while True:
        drawn = bits(take, size)
        if drawn < bound:
            return drawn


def read_coin(text: object) -> tuple[Callable[[Take], bool], int, int]:
    """Return a coin with probability heads/2^128, its heads and its tails."""
    heads = hexadecimal(text, 32)
    high, low = heads >> 64, heads & (1 << 64) - 1

    def toss(take: Take) -> bool:
        first = bits(take, 64)
        return bits(take, 64) < low if first == high else first < high

    return toss, heads, (1 << 128) - heads


_LIFT = 1 << 75  # decides the number of digits of Python's integers, so that the time reveals nothing


def read_lottery(
    given: Fields, tickets: int
) -> tuple[Callable[[Take, int], tuple[bool, int, int]], int, int]:
    """Return a draw of an index below `tickets`, each with probability step/2^bits, or none.

    The draw returns whether it has an index, the index, and additional uniform bits. Python is slower the
    more digits an integer has, so words are lifted: (v + 2^75·d) // d = v // d + 2^75 for every v.
    """
    size = integer(given["bits"], 64, 96)
    step = hexadecimal(given["step"], 24)
    long, room = step >> 32, 1 << (size - 32)
    need(size in (64, 96) and (step if size == 96 else long), "step")
    need(tickets * (long + 1) <= room, "step")
    first, early = max(long, 1), (size >> 3) - 4
    lifted = first * _LIFT
    lift, bound, late = lifted - room, tickets * long + lifted, room - tickets + lifted

    def draw(take: Take, extra: int) -> tuple[bool, int, int]:
        more = (extra + 7) >> 3
        taken, end = take(early + more), early
        word = int.from_bytes(taken[:early] + b"\x01", "little") + lift
        drawn, ticket = word < bound, word // first - _LIFT
        if word >= late:  # the late word decides, with probability below 2^−16
            ticket, taken, end = word - late, taken[early:] + take(4), 4
            drawn = int.from_bytes(taken[:4], "little") < step & 0xFFFFFFFF
        return drawn, ticket, int.from_bytes(taken[end:], "little") >> (8 * more - extra)

    return draw, step, 1 << size


def as_cell(value: int, cells: int) -> bytes:
    """Return a report below `cells` as 1, 2, 4 or 8 bytes."""
    return value.to_bytes(width_of(cells), "little")


def width_of(cells: int) -> int:
    """Return how many bytes hold a number below `cells`: 1, 2, 4 or 8."""
    return 1 if cells <= 1 << 8 else 2 if cells <= 1 << 16 else 4 if cells <= 1 << 32 else 8


# --- domains


def _mark_number(value: float) -> bytes:
    return pack("<d", value + 0.0)  # so that −0 is 0


def mark_code(code: int) -> bytes:
    return pack("<q", code)


def read_ends(domain: Fields) -> tuple[bool, float, float]:
    """Return whether a domain is a circle, and its two ends."""
    turns = domain["kind"] == "circle"
    need(turns or domain["kind"] == "interval", "domain")
    low = 0.0 if turns else real(domain["low"])
    high = real(domain["period" if turns else "high"])
    need(low >= -1e30 and high <= 1e30 and high - low >= 1e-30, "domain")
    return turns, low, high


def read_line(device: Fields, domain: Any = None) -> tuple[Domain, float, float]:
    """Return the interval or circle of a device text, or the one that is given, and its two ends."""
    turns, low, high = read_ends(device["domain"] if domain is None else domain)
    need(device["outside"] == ("wrap" if turns else "clip"), "domain")

    def place(value: Any) -> float:
        try:
            if isinstance(value, bool | str | bytes):
                raise Outside("a number was expected")
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise Outside("a number was expected") from None
        if turns and number - number == 0:
            turned = number % high
            return turned if turned < high else 0.0
        if turns or math.isnan(number):
            raise Outside("a number was expected")
        return min(max(number, low), high)

    return (place, _mark_number), low, high


def read_labels(domain: Fields) -> tuple[Callable[[Any], int], int, tuple[Any, ...] | None]:
    """Return a function from an answer to its code, the number of codes, and the labels or None."""
    if "count" in domain:
        count = integer(domain["count"], 2, 1 << 32)

        def number(value: Any) -> int:
            try:
                code = int(value)
                if isinstance(value, bool | str | bytes) or code != value or not 0 <= code < count:
                    raise Outside("no such category")
            except (TypeError, ValueError, OverflowError):
                raise Outside("no such category") from None
            return code

        return number, count, None
    labels = tuple(map(_label, listed(domain["labels"], "domain")))
    known = {_key(label): code for code, label in enumerate(labels)}
    # True and 1 are one label to some languages, and two to others.
    need(len(known) > 1 and len(set(labels)) == len(labels), "domain", "two labels or more, each once")

    def find(value: Any) -> int:
        try:
            return known[_key(value)]
        except (KeyError, TypeError):
            raise Outside("no such category") from None

    return find, len(labels), labels


def _label(label: Any) -> Any:
    if isinstance(label, Fields):
        if "integer" in label:
            text = label["integer"]
            need(isinstance(text, str), "domain")
            number = hexadecimal(text.removeprefix("-"), 1024)
            need(number > MOST_SAFE, "domain")
            return -number if text.startswith("-") else number
        return real(label["number"])
    need(not isinstance(label, list | float), "domain")
    return label


def _key(label: Any) -> Any:
    """Return the key of a label: True is not 1, 1 is 1.0, a member of an enumeration is its text."""
    if isinstance(label, str):
        return str, str.__str__(label)
    return (type(label), label) if label is None or isinstance(label, bool) else label


def read_codes(device: Fields) -> tuple[Domain, int, tuple[Any, ...] | None]:
    """Return the categories of a device text, and how many there are."""
    domain = device["domain"]
    need(domain["kind"] == "categories" and device["outside"] == "refuse", "domain")
    position, count, labels = read_labels(domain)
    return (position, mark_code), count, labels


# --- start rules


def read_start(rule: Any, cells: int, low: float, high: float) -> Callable[[float, Take], int]:
    """Return the start of a value's window; random rounding takes bytes first."""
    need(isinstance(rule, Fields), "start")
    kind, origin, scale = rule["kind"], real(rule["origin"]), real(rule["scale"])
    most = 1 << (52 if cells > 1 << 16 else 31)
    need(scale > 0, "start")
    far = max(abs((end - origin) * scale) for end in (low, high))
    need(far * (1 + 2.0**-19) < most, "start", "beyond all integers")
    if kind == "line":
        fraction = integer(rule["fraction"], 0, 30)
        last = rule["last"]
        last = None if last is None else integer(last, 0, most)
        need((far if last is None else last) <= most - (1 << fraction), "start", "beyond all integers")
        base = _LIFT >> fraction

        def line(value: float, take: Take) -> int:
            aimed = (value - origin) * scale
            start = int(aimed if last is None else min(max(aimed, 0.0), last))
            # Lifted, so that the sum has the same number of digits for every value.
            return ((_LIFT + start + bits(take, fraction)) >> fraction) - base if fraction else start

        return line
    if kind == "steps":
        starts, counts = listed(rule["starts"], "start"), listed(rule["counts"], "start")
        need(counts and len(starts) == len(counts), "start")
        need(sum(integer(count, 1, 1 << 16) for count in counts) <= 1 << 16, "start", "too long a table")
        steps: list[int] = []
        for start, count in zip(starts, counts, strict=True):
            steps += [integer(start, 0, cells - 1)] * count
        end = len(steps) - 1
        return lambda value, take: steps[min(max(int((value - origin) * scale), 0), end)]
    need(kind == "knots" and cells <= 1 << 16, "start")
    table = _read_knots(rule, cells)
    final = ((len(table) - 1) << 16) - 1

    def knots(value: float, take: Take) -> int:
        at = min(max(int((value - origin) * scale), 0), final)
        entry = table[(at + bits(take, 16)) >> 16]
        return (entry + bits(take, 16)) >> 16

    return knots


def _read_knots(rule: Fields, cells: int) -> list[int]:
    text = rule["bits"]
    need(isinstance(text, str) and is_digits(text, len(text)) and len(text) % 2 == 0, "start")
    more, most = bytes.fromhex(text), cells << 16
    entry = integer(rule["first"], 0, most - 1)
    table = [entry]
    for piece in listed(rule["pieces"], "start"):
        count, base = listed(piece, "start", 2)
        integer(base, -most, most)
        for _ in range(integer(count, 1, (1 << 15) - len(table))):
            at = len(table) - 1
            need(at >> 3 < len(more), "start", "a bit is missing")
            entry += base + (more[at >> 3] >> (at & 7) & 1)
            table.append(integer(entry, 0, most - 1))
    size = len(table) - 1
    need(size and len(more) == (size + 7) >> 3 and not more[-1] >> (((size - 1) & 7) + 1), "start")
    return table


# --- windows


def _read_window(
    given: Any, low: float, high: float
) -> tuple[int, Callable[[float, Take], int], tuple[int, int]]:
    """Return the cells of a sliding window, a draw of one cell, and the ratio."""
    need(isinstance(given, Fields) and given["draw"] == "sliding", "draw")
    cells = integer(given["cells"], 2, 1 << 32)
    need(cells & (cells - 1) == 0, "cells")
    width = integer(given["width"], 1, cells - 1)
    lottery, step, room = read_lottery(given, width)
    start = read_start(given["start"], cells, low, high)
    size, outside = cells.bit_length() - 1, room - width * step

    def cell(value: float, take: Take) -> int:
        begin = start(value, take)
        drawn, ticket, uniform = lottery(take, size)
        return (uniform, begin + ticket)[drawn] & (cells - 1)  # no branch on the value or the outcome

    return cells, cell, (outside + cells * step, outside)


def sliding(device: Fields) -> Draw:
    domain, low, high = read_line(device)
    cells, cell, ratio = _read_window(device, low, high)
    names = "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused"
    return Draw(names, ratio, domain, lambda value, take: as_cell(cell(value, take), cells))


def optional(device: Fields) -> Draw:
    """Read a number that may be missing: None has a window of its own, apart from those of values."""
    domain, rule = device["domain"], device["start"]
    need(domain["kind"] == "optional" and isinstance(domain["of"], Fields), "domain")
    (position, mark), low, high = read_line(device, domain["of"])
    cells = integer(device["cells"], 2, 1 << 16)
    need(cells & (cells - 1) == 0, "cells")
    width = integer(device["width"], 1, cells // 2)  # a wider window would meet itself
    lottery, step, total = read_lottery(device, width)
    start = read_start(rule, cells, low, high)
    need(rule["kind"] == "line", "start")
    size, outside, room = cells.bit_length() - 1, total - width * step, cells - width

    def draw(value: float | None, take: Take) -> bytes:
        # Who does not answer draws the start of the lowest value: the same bytes are taken.
        missing = value is None
        begin = start(low if value is None else value, take)
        drawn, ticket, uniform = lottery(take, size)
        return as_cell((uniform, ((begin + ticket) % room, room + ticket)[missing])[drawn], cells)

    return Draw(
        "Podium PM SW OGPM OGPMU Focused",
        (outside + cells * step, outside),
        (
            lambda value: None if value is None else position(value),
            lambda placed: mark(math.nan if placed is None else placed),
        ),
        draw,
    )


def mixture(device: Fields) -> Draw:
    domain, low, high = read_line(device)
    cells, cell, ratio = _read_window(device["first"], low, high)
    others, other, more = _read_window(device["second"], low, high)
    heads = integer(device["heads"], 0, (1 << 32) - 1)

    def draw(value: float, take: Take) -> bytes:
        reported = cell(value, take) if bits(take, 32) < heads else cells + other(value, take)
        return as_cell(reported, cells + others)

    return Draw("Hybrid", ratio if ratio[0] * more[1] > more[0] * ratio[1] else more, domain, draw)


def read_blocks(
    given: Fields, count: int, size: int = 0
) -> tuple[Callable[[int, Take], int], tuple[int, int]]:
    """Return a draw of a block, each with probability d/2^w, otherwise the own one; and the ratio."""
    lottery, step, room = read_lottery(given, count)

    def cell(own: int, take: Take) -> int:
        drawn, block, inner = lottery(take, size)
        return ((own, block)[drawn] << size) + inner

    return cell, (room - (count - 1) * step, step)


def sectors(device: Fields) -> Draw:
    domain, low, high = read_line(device)
    cells = integer(device["cells"], 2, 1 << 32)
    width = integer(device["width"], 1, cells // 2)
    need(width & (width - 1) == 0 and cells % width == 0, "cells")
    cell, ratio = read_blocks(device, cells // width, width.bit_length() - 1)
    rule = device["start"]
    start = read_start(rule, cells, low, high)
    need(rule["kind"] == "line" and rule["fraction"] == 0, "start")
    return Draw(
        "Sectors",
        ratio,
        domain,
        lambda value, take: as_cell(cell(start(value, take) % cells // width, take), cells),
    )


def response(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    made = Draw("KRR RR", *read_response(device, count, domain))
    made.labels = labels
    return made


def read_response(
    given: Fields, count: int | None, domain: Domain
) -> tuple[tuple[int, int], Domain, Callable[[int, Take], bytes]]:
    integer(given["width"], 1, 1)
    cells = integer(given["cells"], 2 if count is None else count, 1 << 32 if count is None else count)
    cell, ratio = read_blocks(given, cells)
    return ratio, domain, lambda code, take: as_cell(cell(code, take), cells)


# --- sets of categories


def read_size(given: Fields, count: int | None, most: int = 1 << 24) -> int:
    """Return the number of elements: the categories, up to a limit."""
    return integer(given["size"], 2 if count is None else count, most if count is None else min(count, most))


def unary(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    size = read_size(device, count)
    own, yes, no = read_coin(device["own"])
    other, heads, tails = read_coin(device["other"])
    need(0 < heads < yes, "step")

    def draw(code: int, take: Take) -> bytes:
        row = bytearray((size + 7) >> 3)
        for bit in range(size):
            row[bit >> 3] |= (own if bit == code else other)(take) << (bit & 7)
        return bytes(row)

    made = Draw("OUE SUE", (yes * tails, no * heads), domain, draw)
    made.labels = labels
    return made


def subset(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    last = read_size(device, count, 1 << 16) - 1
    chosen = integer(device["chosen"], 1, last)
    toss, heads, tails = read_coin(device["heads"])

    def draw(code: int, take: Take) -> bytes:
        held = toss(take)
        row, wanted = bytearray(count), chosen - held
        for at in range(last):
            row[at] = below(take, last - at) < wanted
            wanted -= row[at]
        row[last], row[code] = row[code], held  # the others were drawn as 0 … k − 2
        reported = bytearray((count + 7) >> 3)
        for at, bit in enumerate(row):
            reported[at >> 3] |= bit << (at & 7)
        return bytes(reported)

    made = Draw("SubsetSelection", (heads * (count - chosen), tails * chosen), domain, draw)
    made.labels = labels
    return made


def hadamard(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    order = integer(device["order"], count + 1, 1 << 32)
    toss, heads, tails = read_coin(device["heads"])
    need(order & (order - 1) == 0 and order <= 2 * count, "cells")
    size = order.bit_length() - 1

    def draw(code: int, take: Take) -> bytes:
        row, column = code + 1, bits(take, size)
        odd = (row & column).bit_count() & 1
        return as_cell(column ^ (row & -row) * (odd == toss(take)), order)

    made = Draw("HadamardResponse", (heads, tails), domain, draw)
    made.labels = labels
    return made


_WORD = (1 << 64) - 1


def mix(seed: int) -> int:
    """Return SplitMix64's finaliser of (s + 1)·0x9E3779B97F4A7C15."""
    m = (seed + 1) * 0x9E3779B97F4A7C15 & _WORD
    m = (m ^ m >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    m = (m ^ m >> 27) * 0x94D049BB133111EB & _WORD
    return m ^ m >> 31


def bucket_of(seed: int, item: int, buckets: int) -> int:
    """Return the bucket of an item under a seed: the hash family "affine 1"."""
    m = mix(seed)
    return ((m >> 32) * item + m & 0xFFFFFFFF) * buckets >> 32


def read_hash(device: Fields) -> tuple[int, Callable[[int, Take], int], tuple[int, int]]:
    need(device["hash"] == "affine 1", "draw")
    buckets = integer(device["buckets"], 2, 1 << 16)
    return buckets, *read_blocks(device, buckets)


def hashed(device: Fields) -> Draw:
    domain, _, labels = read_codes(device)
    buckets, cell, ratio = read_hash(device)

    def draw(code: int, take: Take) -> bytes:
        seed = bits(take, 47)
        return (seed << 16 | cell(bucket_of(seed, code, buckets), take)).to_bytes(8, "little")

    made = Draw("OLH BLH", ratio, domain, draw)
    made.labels = labels
    return made


READERS = {
    "sliding": sliding,
    "optional": optional,
    "mixture": mixture,
    "sectors": sectors,
    "response": response,
    "bits": unary,
    "subset": subset,
    "hadamard": hadamard,
    "hashed": hashed,
}
# Separate modules, imported when such a question is read.
ELSEWHERE = {
    "sets": ("indices", "several", "polynomial", "projective", "prefix", "questions"),
    "noise": ("lattice", "channel", "table"),
    "places": ("pair", "polar", "walk", "nearest", "listing", "box", "splines"),
    "vectors": ("directions",),
    "routes": ("routes",),
    "plane": (
        *("planar", "rings", "points", "grid", "two copies"),
        *("joint response", "joint bits", "joint hashed"),
    ),
}
