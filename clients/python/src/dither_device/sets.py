"""Draws of sets, texts and rows, of the kinds in READERS. See docs/wire.md."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from struct import pack

from dither_device.draws import (
    Draw,
    Outside,
    as_cell,
    below,
    bits,
    bucket_of,
    mark_code,
    mix,
    read_codes,
    read_coin,
    read_hash,
    read_labels,
    read_response,
    read_size,
    width_of,
)
from dither_device.text import Fields, digest, hexadecimal, integer, listed, need

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Domain, Take


def _mark_codes(codes: list[int]) -> bytes:
    return b"".join(map(mark_code, codes))


def draw_different(take: Take, count: int, bound: int) -> list[int]:
    """Return `count` different numbers below a bound, in random order."""
    taken: list[int] = []
    for made in range(count):
        number = below(take, bound - made)
        for other in sorted(taken):
            number += number >= other
        taken.append(number)
    return taken


def indices(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    made = Draw("SubsetIndices", *_read_indices(device, count, domain))
    made.labels = labels
    return made


def _read_indices(
    given: Fields, count: int | None, domain: Domain
) -> tuple[tuple[int, int], Domain, Callable[[int, Take], bytes]]:
    size = read_size(given, count, 1 << 16)
    chosen = integer(given["chosen"], 2, min(8, size - 1))
    toss, heads, tails = read_coin(given["heads"])

    def draw(code: int, take: Take) -> bytes:
        held = toss(take)
        taken = draw_different(take, chosen, size - 1)
        row = [number + (number >= code) for number in (taken[:-1] if held else taken)]
        return b"".join(as_cell(number, size) for number in sorted([*row, code] if held else row))

    return (heads * (size - chosen), tails * chosen), domain, draw


def _code_or_other(code: Callable[[Any], int], item: Any) -> int | None:
    """Return the code of an item, of "other" if it is not in the list, or None if that is not in it either.

    A person who is not counted would bias all shares, and the gap would reveal the answer.
    """
    for one in (item, "other"):
        try:
            return code(one)
        except Outside:
            continue
    return None


def _read_items(device: Fields) -> tuple[int, int, Any, Domain, Callable[[list[int], Take], list[int]]]:
    """Return the number of items, the number per person, labels, the domain, and a person's elements.

    The elements are drawn from a person's items: thinned at random, or completed by dummies.
    """
    domain = device["domain"]
    need(domain["kind"] == "several" and device["outside"] == "refuse", "domain")
    code, items, labels = read_labels(domain)
    most = integer(domain["most"], 1, items)
    need(items <= 1 << 20, "cells")

    def place(value: Any) -> list[int]:
        if isinstance(value, str | bytes | dict):
            raise Outside("a list of items was expected")
        try:
            found = [_code_or_other(code, item) for item in value]
            return sorted({number for number in found if number is not None})
        except TypeError:
            raise Outside("a list of items was expected") from None

    def elements(codes: list[int], take: Take) -> list[int]:
        own = list(codes)
        if len(own) > most:
            for at in range(most):
                other = at + below(take, len(own) - at)
                own[at], own[other] = own[other], own[at]
        own = sorted(own[:most])
        return [*own, *range(items, items + most - len(own))]

    return items, most, labels, (place, _mark_codes), elements


def _passed(at: int, parts: list[int]) -> int:
    """Return how many parts, one after the other, end at a place or before it; all are looked at."""
    count = 0
    for part in parts:
        at -= part
        count += at >= 0
    return count


def several(device: Fields) -> Draw:
    items, most, labels, domain, elements = _read_items(device)
    chosen = integer(device["chosen"], 1, min(items, 512))
    least = integer(device["least"], 1, min(most, chosen))
    toss, heads, tails = read_coin(device["heads"])
    width = (items + most - 1).bit_length()
    need(chosen * width <= 512, "cells")
    ways = [comb(most, j) * comb(items, chosen - j) for j in range(min(most, chosen) + 1)]
    missed, met = ways[:least], ways[least:]

    def draw(codes: list[int], take: Take) -> bytes:
        own = elements(codes, take)
        # Whatever the items are and whether they are met, the same numbers are drawn.
        held = toss(take)
        hit, miss = below(take, sum(met)), below(take, sum(missed))
        count = (_passed(miss, missed), _passed(hit, met) + least)[held]
        others = draw_different(take, chosen, items)
        members = draw_different(take, min(most, chosen), most)
        entries = []
        for at, number in enumerate(others):
            element = number
            for mine in own:
                element += element >= mine
            entries.append(own[members[at]] if at < count else element)
        packed = sum(element << width * at for at, element in enumerate(sorted(entries)))
        return packed.to_bytes((chosen * width + 7) >> 3, "little")

    made = Draw("SetResponse", (heads * sum(missed), tails * sum(met)), domain, draw)
    made.labels = labels
    return made


def polynomial(device: Fields) -> Draw:
    items, most, labels, domain, elements = _read_items(device)
    prime = integer(device["prime"], items + most, (1 << 21) - 1)
    need(all(prime % trial for trial in range(2, int(prime**0.5) + 1)), "cells")
    bound, terms = integer(device["below"], 1, prime - 1), integer(device["terms"], most + 1, most + 2)
    need(terms <= 2048, "cells")
    length = ((prime**terms - 1).bit_length() + 7) >> 3
    need(length <= 256, "cells")
    toss, heads, tails = read_coin(device["heads"])
    high = prime - bound
    firsts = [high**at * bound * prime ** (most - 1 - at) for at in range(most)]
    hits, misses = sum(firsts), high**most

    def draw(codes: list[int], take: Take) -> bytes:
        own = elements(codes, take)
        # Whatever the items are and whether they are met, the same numbers are drawn.
        held = toss(take)
        hit, miss, rest = below(take, hits), below(take, misses), below(take, prime ** (terms - most))
        first = _passed(hit, firsts)
        drawn, first = ((miss, most), (hit - sum(firsts[:first]), first))[held]
        values = []
        for at in range(most):
            drawn, number = divmod(drawn, high if at < first else bound if at == first else prime)
            values.append(number + bound * (at < first))
        for step in range(1, most):  # divided differences
            for at in range(most - 1, step - 1, -1):
                gap = pow(own[at] - own[at - step], -1, prime)
                values[at] = (values[at] - values[at - 1]) * gap % prime
        row = [rest % prime, rest // prime][: terms - most]
        for point, value in zip(reversed(own), reversed(values), strict=True):
            row = [(up - point * mine) % prime for up, mine in zip([value, *row], [*row, 0], strict=True)]
        packed = 0
        for coefficient in reversed(row):
            packed = packed * prime + coefficient
        return packed.to_bytes(length, "little")

    made = Draw("SetResponse", (heads * misses, tails * hits), domain, draw)
    made.labels = labels
    return made


def projective(device: Fields) -> Draw:
    domain, count, labels = read_codes(device)
    made = Draw("ProjectiveResponse", *_read_projective(device, count, domain)[1:])
    made.labels = labels
    return made


def _read_projective(
    device: Fields, count: int, domain: Domain
) -> tuple[int, tuple[int, int], Domain, Callable[[int, Take], bytes]]:
    """Return the number of points, the ratio, the domain and the draw."""
    order, dimension = integer(device["order"], 2, 1 << 21), integer(device["dimension"], 2, 21)
    prime = next(n for n in range(2, order + 1) if order % n == 0 or n * n > order)
    prime = prime if order % prime == 0 else order
    degree = 0
    while prime**degree < order:
        degree += 1
    need(prime**degree == order and order**dimension <= 1 << 43, "cells")
    points, block = ((order**n - 1) // (order - 1) for n in (dimension, dimension - 1))
    need(count <= points <= 1 << 21, "cells")
    polynomial = [
        integer(part, 0, prime - 1) for part in listed(device["polynomial"], "cells", degree * dimension)
    ]
    own, other = hexadecimal(device["own"], 32), hexadecimal(device["other"], 32)
    size = integer(device["bits"], 64, 128)
    hits = block * own
    total = hits + (points - block) * other
    need(size in (64, 128) and 0 < other < own and 1 << (size - 1) <= total <= 1 << size, "step")
    # Another one has another set: its reports would support other categories.
    need(polynomial == _first_primitive(prime, degree * dimension), "cells", "not the first primitive one")
    members = _difference_set(prime, degree, polynomial, points)
    inside = b"".join(pack("<I", at) for at in members[:block])
    need(digest(inside) == device["set"], "fingerprint")

    def draw(code: int, take: Take) -> bytes:
        while True:
            drawn = bits(take, size)
            if drawn < total:
                break
        at = drawn // own if drawn < hits else block + (drawn - hits) // other
        return as_cell((members[at] - code) % points, points)

    return points, (own, other), domain, draw


def _first_primitive(prime: int, degree: int) -> list[int]:
    """Return c_0 … c_(n−1) of the first polynomial x^n + Σ c_j·x^j modulo which x has the order p^n − 1."""
    order = prime**degree - 1
    factors, rest, trial = [], order, 2
    while rest > 1:
        if rest % trial == 0:
            factors.append(trial)
        while rest % trial == 0:
            rest //= trial
        trial = rest if trial * trial > rest else trial + 1
    unit = [1] + [0] * (degree - 1)
    number = prime
    while True:
        number += 1
        given = [number // prime**at % prime for at in range(degree)]
        orders = [order // factor for factor in factors]
        if _is_one(order, given, prime, unit) and not any(_is_one(n, given, prime, unit) for n in orders):
            return given


def _is_one(exponent: int, modulus: list[int], prime: int, unit: list[int]) -> bool:
    """Return whether x^exponent is 1 modulo x^n + Σ c_j·x^j."""
    power = unit
    for bit in f"{exponent:b}":
        total = [0] * len(unit)
        for digit in reversed(power):  # the square, digit by digit
            total = [
                (a + digit * b) % prime for a, b in zip(_by_x(total, modulus, prime), power, strict=True)
            ]
        power = _by_x(total, modulus, prime) if bit == "1" else total
    return power == unit


def _by_x(given: list[int], modulus: list[int], prime: int) -> list[int]:
    lead = given[-1]
    return [(a - lead * c) % prime for a, c in zip([0, *given[:-1]], modulus, strict=True)]


def _difference_set(prime: int, degree: int, polynomial: list[int], points: int) -> list[int]:
    """Return the elements of the difference set in ascending order, then all others."""
    length, total = len(polynomial), degree * points
    values = [0] * (length - 1) + [1]
    for at in range(total - length):
        values.append(-sum(c * values[at + j] for j, c in enumerate(polynomial)) % prime)
    inside: list[int] = []
    outside: list[int] = []
    for at in range(points):
        (outside if any(values[at + j * points] for j in range(degree)) else inside).append(at)
    return inside + outside


def prefix(device: Fields) -> Draw:
    domain = device["domain"]
    need(domain["kind"] == "text" and device["outside"] in ("clip", "refuse"), "domain")
    length, alphabet = integer(domain["length"], 1, 256), domain["alphabet"]
    need(alphabet is None or (isinstance(alphabet, str) and 1 <= len(alphabet) <= 255), "domain")
    need(alphabet is None or len(set(alphabet)) == len(alphabet), "domain")
    buckets, cell, ratio = read_hash(device)
    ends = [integer(end, 1, length) for end in listed(device["ends"])]
    need(ends and ends[-1] == length and all(a < b for a, b in pairwise(ends)), "number")
    shares = [1] * len(ends)
    if "shares" in device:
        shares = [integer(share, 1, 1 << 16) for share in listed(device["shares"], "number", len(ends))]

    def place(value: Any) -> bytes:
        try:
            row = (
                value.encode() if alphabet is None else bytes(1 + alphabet.index(letter) for letter in value)
            )
        except (AttributeError, TypeError, ValueError):
            raise Outside("no text of the alphabet") from None
        if len(row) > length or (alphabet is None and 0 in row):
            raise Outside("too long a text, or one with a zero byte")
        return bytes(row) + bytes(length - len(row))

    def draw(symbols: bytes, take: Take) -> bytes:
        seed, key, request = bits(take, 47), 0, 0
        end = ends[_passed(seed % sum(shares), shares)]
        for at, symbol in enumerate(symbols):  # all of them: the time does not reveal the length
            key = mix(key ^ symbol)
            request = key if at < end else request
        return (seed << 16 | cell(bucket_of(seed, request >> 32, buckets), take)).to_bytes(8, "little")

    return Draw("PEM", ratio, (place, bytes), draw)


def questions(device: Fields) -> Draw:  # noqa: PLR0915  (read in the order of the text)
    """Read a draw of one of several questions about a row of attributes."""
    domain = device["domain"]
    need(domain["kind"] == "profile", "domain")
    need(device["outside"] == "refuse", "domain")
    parts = []
    for pair in listed(domain["attributes"], "domain"):
        name, categories = listed(pair, "domain", 2)
        need(isinstance(name, str) and isinstance(categories, Fields), "domain")
        need(categories["kind"] == "categories", "domain")
        parts.append((name, *read_labels(categories)[:2]))
    need(2 <= len(parts) <= 64 and len({name for name, *_ in parts}) == len(parts), "domain")
    draws = []
    for inner in listed(device["draws"], "draw"):
        need(isinstance(inner, Fields) and inner["draw"] in ("response", "indices", "projective"), "draw")
        nothing: Domain = (int, mark_code)
        if inner["draw"] == "response":
            ratio, _, draw = read_response(inner, None, nothing)
            draws.append((inner["cells"], 1, inner["cells"], ratio, draw))
        elif inner["draw"] == "projective":
            points, ratio, _, draw = _read_projective(inner, 2, nothing)
            draws.append((points, 1, points, ratio, draw))
        else:
            ratio, _, draw = _read_indices(inner, None, nothing)
            draws.append((inner["size"], inner["chosen"], inner["size"], ratio, draw))
    functions, ends, total = [], [], 0
    for function in listed(device["questions"], "draw"):
        attributes, values, weight, number = listed(function, "draw", 4)
        positions = [integer(index, 0, len(parts) - 1) for index in listed(attributes, "draw")]
        number = integer(number, 0, len(draws) - 1)
        count = 1
        for index in positions:
            count *= parts[index][2]
        need(positions and len(set(positions)) == len(positions) and count <= 1 << 21, "draw")
        for value in listed(values, "draw", count):
            integer(value, 0, draws[number][0] - 1)
        total += integer(weight, 1, 1 << 32)
        ends.append(total)
        functions.append((positions, values, number))
    need(total == 1 << 32 and 1 <= len(functions) <= 1 << 14, "draw")
    need(sum(len(values) for _, values, _ in functions) <= 1 << 21, "draw")
    used = [draws[number] for _, _, number in functions]
    most = used[0][3]
    for _, _, _, ratio, _ in used:
        most = ratio if ratio[0] * most[1] > most[0] * ratio[1] else most
    columns = max(chosen for _, chosen, *_ in draws)
    width = width_of(max(len(functions), *(largest for _, _, largest, *_ in draws)))

    def place_row(value: Any) -> list[int]:
        try:
            codes = [code(value[name]) for name, code, _ in parts]
            if len(value) != len(parts):
                raise Outside("an attribute too many")
        except (KeyError, TypeError):
            raise Outside("an attribute is missing") from None
        return codes

    def tell(codes: list[int], take: Take) -> bytes:
        word = int.from_bytes(take(4), "little")
        request = sum(word >= end for end in ends)
        positions, values, number = functions[request]
        at = 0
        for index in positions:
            at = at * parts[index][2] + codes[index]
        _, chosen, largest, _, draw = draws[number]
        reported, size = draw(values[at], take), width_of(largest)
        numbers = [int.from_bytes(reported[n * size : (n + 1) * size], "little") for n in range(chosen)]
        row = [request, *numbers, *[0] * (columns - chosen)]
        return b"".join(number.to_bytes(width, "little") for number in row)

    return Draw("Marginals", most, (place_row, _mark_codes), tell)


READERS = {
    "indices": indices,
    "several": several,
    "polynomial": polynomial,
    "projective": projective,
    "prefix": prefix,
    "questions": questions,
}
