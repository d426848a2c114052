"""Noise on a lattice, and tables of integers: Laplace, Staircase, Gaussian, Exponential, Cumulative …"""

from __future__ import annotations

from itertools import pairwise
from math import nextafter

from dither_device.draws import Draw, as_cell, bits, read_codes, read_line, read_start
from dither_device.text import Fields, digest, hexadecimal, integer, listed, need, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Take

_ONE = 1 << 256
_TOTAL = 1 << 128


def read_alias(row: list[int]) -> Callable[[Take], int]:
    """Return a draw of an outcome by its weight, of total 2^128: Vose's method in integers."""
    size = max(1, (len(row) - 1).bit_length())
    capacity = 1 << (128 - size)
    left = row + [0] * ((1 << size) - len(row))
    thresholds, others = [0] * len(left), list(range(len(left)))
    small = [at for at, weight in enumerate(left) if weight < capacity]
    large = [at for at, weight in enumerate(left) if weight >= capacity]
    while small:
        column, giver = small.pop(), large[-1]
        thresholds[column], others[column] = left[column], giver
        left[giver] -= capacity - left[column]
        if left[giver] < capacity:
            small.append(large.pop())

    def draw(take: Take) -> int:
        column = bits(take, size)
        return (others[column], column)[bits(take, 128 - size) < thresholds[column]]

    return draw


def largest(tops: list[int], bottoms: list[int]) -> tuple[int, int]:
    """Return the largest of several quotients, compared in integers."""
    most = (0, 1)
    for top, bottom in zip(tops, bottoms, strict=True):
        if top * most[1] > most[0] * bottom:
            most = (top, bottom)
    return most


def _decay(noise: Fields, base: int, reach: int) -> tuple[list[int], int]:
    """Return base^e(z) by distance in fixed point, and a bound of the sum from the last distance on."""
    kind, values = noise["decay"], []
    if kind == "normal":
        value, factor = _ONE, base
        for _ in range(reach + 1):
            values.append(value)
            value = value * factor >> 256
            factor = factor * base * base >> 512
        # Quotients of successive terms decrease: a geometric series with the first one is an upper bound.
        quotient, square, exponent = _ONE, base, 2 * reach + 1
        while exponent:
            if exponent & 1:
                quotient = quotient * square >> 256
            square = square * square >> 256
            exponent >>= 1
        return values, values[reach] * _ONE // (_ONE - quotient)
    need(kind in ("stairs", "geometric"), "draw")
    run = (
        integer(noise["run"], 1, 1 << 52) if kind == "stairs" else 1
    )  # geometric weights: stairs of one step
    first = integer(noise["first"], 1, run) if kind == "stairs" else 1
    value = _ONE
    for z in range(reach + 1):
        if z >= first and (z - first) % run == 0:
            value = value * base >> 256
        values.append(value)
    rest = (first - reach) % run or run
    return values, rest * value + run * (value * base // (_ONE - base))


def _weigh(noise: Fields, kind: str) -> list[int]:
    """Return the weights by distance, of total 2^128 over both sides; all but the centre's are rounded up."""
    base, reach = hexadecimal(noise["base"], 64), integer(noise["reach"], 1, 1 << 15)
    need(base, "step")
    values, beyond = _decay(noise, base, reach)
    last = values.pop()
    if kind == "clamped":
        last = beyond
    copies = 1 if kind == "ring" else 2
    mass = 2 * sum(values) - _ONE + copies * last
    outer = [-(-value * (_TOTAL - (1 << 40)) // mass) for value in [*values[1:], last]]
    if kind == "bounded":
        outer = [max(weight, 1 << 32) for weight in outer]
    weights = [_TOTAL - 2 * sum(outer[:-1]) - copies * outer[-1], *outer]
    need(weights[0] > 0, "step")
    falling = weights[:-1] if kind == "clamped" else weights
    need(all(a >= b for a, b in pairwise(falling)), "step")
    reported = b"".join(weight.to_bytes(17, "little") for weight in weights)
    need(digest(reported, 16) == noise["digest"], "fingerprint")
    return weights


def lattice(device: Fields) -> Draw:
    domain, low, high = read_line(device)
    shape, rule = device["lattice"], device["start"]
    need(isinstance(shape, Fields) and isinstance(rule, Fields), "draw")
    kind, noise = shape["kind"], shape["noise"]
    need(isinstance(noise, Fields), "draw")
    normal = noise["decay"] == "normal"
    need(kind == "clamped" or (kind in ("ring", "bounded") and not normal), "draw")
    weights = _weigh(noise, kind)
    reach, outer = len(weights) - 1, weights[1:]
    start = read_start(rule, 2 * reach, low, high)
    need(rule["kind"] == "line", "start")
    if kind == "ring":
        need(rule["fraction"] == 0, "start")
        turn = read_alias(weights + outer[-2::-1])
        cells = 2 * reach
        return Draw(
            "Purkayastha",
            (weights[0], outer[-1]),
            domain,
            lambda value, take: as_cell((start(value, take) + turn(take)) % cells, cells),
        )
    alias = read_alias(outer[::-1] + weights)
    if kind == "bounded":
        need(rule["scale"] <= reach / (high - low), "start")  # a larger one puts values further apart
        return _bounded(shape, rule, weights, domain, start, alias)
    fraction = integer(shape["fraction"], 1, 30)
    step = 1 << fraction
    last = integer(shape["last"], 1, (1 << 31) - step)
    steps = -(-last >> fraction)
    need(rule["last"] == last and rule["fraction"] == fraction, "start")
    need(steps < reach and (last < step or last % step == 0), "cells")
    # The largest ratio is between the two ends of the domain: of two weights, or of two outermost sums.
    pile = sum(weights[reach - steps :])
    top, bottom = largest([pile, *weights[: reach - steps]], [weights[reach], *weights[steps:reach]])
    share = min(last, step)

    def clamp(value: float, take: Take) -> bytes:
        at = start(value, take) + alias(take)
        return as_cell(min(max(at, steps), 2 * reach) - steps, 2 * reach - steps + 1)

    names = "Gaussian" if normal else "Laplace Staircase"
    made = Draw(names, ((step - share) * bottom + share * top, step * bottom), domain, clamp)
    if normal:
        made.delta_of = lambda bound, stated: _delta(bound, stated, weights, steps, share, step, pile)
    return made


def _bounded(
    shape: Fields, rule: Fields, weights: list[int], domain: Any, start: Any, alias: Callable[[Take], int]
) -> Draw:
    reach = len(weights) - 1
    need(rule["fraction"] == 0 and rule["last"] == reach, "start")
    integer(shape["shift"], reach, reach)  # a smaller one assumes that two values are near
    # The total weight inside the domain, by step: between inputs k steps apart the ratio is at most the
    # product of the ratio of two weights and the ratio of two totals, and it grows with k if these two
    # products are at most 1.
    sums, total = [], -weights[0]
    for weight in weights:
        total += weight
        sums.append(total)
    totals = [part + sums[reach - z] + weights[0] for z, part in enumerate(sums)]
    falls, grows = largest(weights[1:], weights[:-1]), largest(totals[:-1], totals[1:])
    need(weights[reach] > 1 << 32 and falls[0] * grows[0] <= falls[1] * grows[1], "step")

    def draw(value: float, take: Take) -> bytes:
        step = start(value, take) - reach
        while True:
            at = step + alias(take)
            if 0 <= at <= reach:
                return as_cell(at, reach + 1)

    return Draw("BoundedLaplace", (weights[0], weights[reach]), domain, draw)


def _delta(
    bound: int, stated: Any, weights: list[int], steps: int, share: int, step: int, pile: int
) -> float:
    """Return the largest P(S | x) − e^ε·P(S | x′), rounded up; raise Malformed if it exceeds the stated δ.

    It is between the two ends of the domain; outermost sums count completely.
    """
    delta = real(stated)
    need(0 < delta < 1, "privacy")
    factor, scale, reach = bound >> 224, 1 << 96, len(weights) - 1  # e^ε in units of 2^−96, rounded down
    first = second = 0
    if share == step:
        for z in range(steps - reach + 1, steps // 2 + 1):
            first += max(0, scale * weights[abs(z)] - factor * weights[steps - z])
        spent, total = first + scale * pile, scale << 128
    else:
        for z in range(2 - reach, reach):
            ours = weights[abs(z)]
            mixed = (step - share) * ours + share * weights[abs(z - 1)]
            first += max(0, scale * step * ours - factor * mixed)
            second += max(0, scale * mixed - factor * step * ours)
        spent, total = max(first, second) + scale * step * pile, scale * step << 128
    top, bottom = delta.as_integer_ratio()
    need(spent * bottom <= top * total, "privacy", "more than δ is spent")
    near = spent / total
    over, under = near.as_integer_ratio()
    return near if over * total >= spent * under else nextafter(near, 1.0)


# --- tables of integers


def read_rows(device: Fields) -> tuple[list[Callable[[Take], int]], int, tuple[int, int]]:
    """Return the draw of each row, the number of reports, and the largest ratio over all pairs of rows."""
    values = [hexadecimal(text, 1024) for text in listed(device["values"], "step")]
    need(values and values[-1] > 0 and all(a > b for a, b in pairwise(values)), "step")
    rows, used = [], set()
    for positions in listed(device["rows"], "step"):
        row = [values[integer(index, 0, len(values) - 1)] for index in listed(positions, "step")]
        need(1 <= len(row) <= 1 << 16, "step")
        used.update(positions)
        total = sum(row)
        weights = [-(-(value << 128) // total) for value in row]
        weights[row.index(max(row))] -= sum(weights) - _TOTAL
        need(min(weights) > 0, "step")
        rows.append(weights)
    need(1 <= len(rows) <= 1024 and len({len(row) for row in rows}) == 1, "step")
    need(len(used) == len(values), "step", "a value that is not used")
    columns = list(zip(*rows, strict=True))
    ratio = largest([max(column) for column in columns], [min(column) for column in columns])
    draws: dict[int, Callable[[Take], int]] = {}

    def drawer(number: int) -> Callable[[Take], int]:
        def draw(take: Take) -> int:
            if number not in draws:
                draws[number] = read_alias(rows[number])
            return draws[number](take)

        return draw

    return [drawer(number) for number in range(len(rows))], len(columns), ratio


def channel(device: Fields) -> Draw:
    domain, low, high = read_line(device)
    rows, cells, ratio = read_rows(device)
    rule = device["start"]
    need(isinstance(rule, Fields) and rule["kind"] in ("edges", "points"), "start")
    if rule["kind"] == "points":
        need(device["domain"]["kind"] == "interval", "start")
        return Draw("Exponential Cumulative Matrix", ratio, domain, _between(rule, rows, cells, low, high))
    edges = [real(edge) for edge in listed(rule["edges"], "start")]
    labels = [integer(label, 0, len(rows) - 1) for label in listed(rule["labels"], "start", len(edges) + 1)]
    need(edges == sorted(edges), "start")

    def draw(value: float, take: Take) -> bytes:
        return as_cell(rows[labels[sum(edge <= value for edge in edges)]](take), cells)

    return Draw("Exponential Cumulative Matrix", ratio, domain, draw)


def _between(
    rule: Fields, rows: list[Callable[[Take], int]], cells: int, low: float, high: float
) -> Callable[[float, Take], bytes]:
    """Return a draw from the row of one of the two points around a value, by its share of the way."""
    points = [real(point) for point in listed(rule["points"], "start", len(rows))]
    need(len(points) > 1 and all(a < b for a, b in pairwise(points)), "start")
    need((points[0], points[-1]) == (low, high), "start")
    inner = points[1:-1]

    def draw(value: float, take: Take) -> bytes:
        at = sum(point <= value for point in inner)
        parts = int((value - points[at]) / (points[at + 1] - points[at]) * 4294967296.0 + 0.5)
        return as_cell(rows[at + (bits(take, 32) < parts)](take), cells)

    return draw


def table(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    rows, cells, ratio = read_rows(device)
    need(len(rows) == count, "step")
    made = Draw(
        "Cumulative Workload Matrix", ratio, domain, lambda code, take: as_cell(rows[code](take), cells)
    )
    made.labels = labels
    return made


READERS = {"lattice": lattice, "channel": channel, "table": table}
