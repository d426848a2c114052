"""The draw of a complete path: the K public paths nearest to it are likelier. See docs/wire.md.

A value is a list of places, `[[139.5, 35.6], …]`. It is resampled to the number of places of the public
paths. Everything after the integers of places is exact: all clients select the same public paths.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate, pairwise
from struct import pack

from dither_device.draws import Draw, Outside, as_cell
from dither_device.places import Area, path_of, read_area, read_near, unpack
from dither_device.text import Fields, integer, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from dither_device.draws import Take
    from dither_device.places import Place

    Integers = tuple[int, int]

_MOST = 1 << 20  # locations of a path


def _resample(path: Sequence[Integers], points: int, steps: Sequence[int]) -> list[Integers]:
    """Return places at equal shares of the sum of steps, each between the two locations of its step."""
    so_far = list(accumulate(steps, initial=0))
    parts, last = points - 1, max(len(path) - 2, 0)
    found = []
    for i in range(points):
        target = i * so_far[-1]
        at = min(max(bisect_right(so_far, target // parts) - 1, 0), last)
        after = min(at + 1, len(path) - 1)
        over, size = target - so_far[at] * parts, (so_far[after] - so_far[at]) * parts
        if not size:
            over = size = 1
        (a, b), (c, d) = path[at], path[after]
        found.append(((a * (size - over) + c * over) // size, (b * (size - over) + d * over) // size))
    return found


def _alignment(
    one: Sequence[Integers],
    other: Sequence[Integers],
    apart: Callable[[Integers, Integers], int],
    largest: bool,
) -> int:
    """Return the smallest sum, or the smallest maximum, over all alignments of two paths."""
    above: list[int] = []
    for location in one:
        row: list[int] = []
        for j, point in enumerate(other):
            step = apart(location, point)
            before = [*above[max(j - 1, 0) : j + 1], *row[-1:]]
            if before:
                step = max(step, min(before)) if largest else step + min(before)
            row.append(step)
        above = row
    return above[-1]


def _scales(box: Sequence[Place]) -> Integers:
    sides = [high - low for low, high in box]
    x, y = (max(1, round(256 * side / max(sides))) for side in sides)  # half to even
    return x, y


def routes(device: Fields) -> Draw:
    cells, width, draw, ratio = read_near(device)
    domain = device["domain"]
    need(isinstance(domain, Fields) and domain["kind"] == "routes", "domain")
    area: Area = read_area(domain["area"], device["outside"], "rectangle", "disk", "parallelogram")
    points = integer(domain["points"], 2, 64)
    distance, by = domain["distance"], domain["by"]
    need(distance in ("mean", "warped", "frechet") and by in ("length", "order"), "domain")
    scales = _scales(area.box)
    flat = unpack(device["paths"])
    need(len(flat) == 2 * points * cells, "paths")
    locations = list(zip(flat[::2], flat[1::2], strict=True))
    paths = [locations[at : at + points] for at in range(0, len(locations), points)]

    def apart(one: Integers, other: Integers) -> int:
        x, y = (scale * (a - b) for scale, a, b in zip(scales, one, other, strict=True))
        return math.isqrt(x * x + y * y)

    def far(one: Sequence[Integers], other: Sequence[Integers]) -> int:
        if distance == "mean":
            return sum(map(apart, one, other))
        return _alignment(one, other, apart, distance == "frechet")

    def near(path: Sequence[Integers]) -> list[int]:
        away = [far(path, own) for own in paths]
        return sorted(range(cells), key=away.__getitem__)  # stable: of equal distances the first

    def inside(value: Any) -> list[Integers]:
        path = place_of(value)
        if len(path) > _MOST:
            raise Outside("a shorter path was expected")
        sides = zip(*path, strict=True)
        own = list(
            zip(
                *(
                    [min(max(math.floor((x - low) / (high - low) * 65536), 0), 65535) for x in side]
                    for side, (low, high) in zip(sides, area.box, strict=True)
                ),
                strict=True,
            )
        )
        steps = [1] * (len(own) - 1) if by == "order" else [apart(a, b) for a, b in pairwise(own)]
        return _resample(own, points, steps)

    place_of = path_of(area)[0]

    def tell(path: list[Integers], take: Take) -> bytes:
        return as_cell(draw(near(paths[near(path)[0]])[:width], take), cells)

    def mark(path: list[Integers]) -> bytes:
        return pack(f"<{2 * points}H", *(x for location in path for x in location))

    return Draw("Optimal", ratio, (inside, mark), tell)


READERS = {"routes": routes}
