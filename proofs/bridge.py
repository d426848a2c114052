"""Answer `dither conformance` with the draws of the extracted program.

    dither conformance --only draws -- python proofs/bridge.py proofs/build/draws

The bridge is outside the proof. It reads a specification, brings a value to the integers that the theorems
speak of (a code, an aim, K numbers) by the same code as the library, and passes these and the random bytes to
the program. The program checks every condition of its theorem and draws.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

import dither as dt
from dither.core.domains import Box, Line, Nullable
from dither.core.domains.plane import Plane
from dither.core.kernels.alias import TOTAL_BITS
from dither.core.kernels.channel import BetweenPoints, ChannelKernel, CodeChannelKernel
from dither.core.kernels.places.nearest import BoxKernel, ListingKernel, NearestKernel
from dither.core.kernels.window.integers import LATE, Lottery
from dither.core.kernels.window.kernel import ResponseKernel, SectorKernel, SlidingKernel
from dither.core.kernels.window.start import LineStart, StartRule
from dither.core.kernels.window.start_table import COIN, KnotStart, StepStart
from dither.errors import OutsideDomain

DRAWS: Final = ("response", "sectors", "sliding", "optional", "nearest", "box", "listing", "channel", "table")


class Unknown(Exception):
    """This draw is not one of the extracted program's."""


class Program:
    """The extracted program, which answers one line at a time."""

    def __init__(self, path: str) -> None:
        self._process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words: object) -> list[str]:
        """Return the words of the answer to a line of words."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().split()


def draw(program: Program, specification: str, value: Any, random: str) -> dict[str, Any]:
    """Return the message of a value and the number of bytes that are left, both by the program."""
    if json.loads(json.loads(specification)["device"])["draw"] not in DRAWS:
        raise Unknown
    mechanism = mechanism_of(specification)
    kernel: Any = mechanism.kernel
    if isinstance(kernel, NearestKernel):  # a path: each location is a draw, after a number that begins it
        return _path(program, kernel, [_inside(mechanism.domain, place) for place in value], random)
    if isinstance(kernel, BoxKernel):
        window = _near(kernel, np.array(_inside(mechanism.domain, value), dtype=np.float64))
        return _answer(program, "nearest", *_numbers(kernel, kernel.outcomes), window, random or "-")
    checked = mechanism.domain.check([_inside(mechanism.domain, value)])[0].item()
    if isinstance(kernel, ListingKernel):
        return _answer(
            program, "nearest", *_numbers(kernel, kernel.outcomes), _near(kernel, checked), random or "-"
        )
    if isinstance(kernel, ChannelKernel | CodeChannelKernel):
        row = checked
        if isinstance(kernel, ChannelKernel):
            below, parts = (int(part) for part in kernel.start.split(np.asarray(checked)))
            row = below
            if isinstance(kernel.start, BetweenPoints):  # the first four bytes choose one of two rows
                coin, random = bytes.fromhex(random[:8]), random[8:]
                row += int.from_bytes(coin, "little") < parts
        weights = ",".join(map(str, kernel.channel.rows[row]))
        return _answer(program, "alias", TOTAL_BITS, np.dtype(kernel.layout).itemsize, weights, random or "-")
    if isinstance(kernel, ResponseKernel):
        return _answer(program, "blocks", *_numbers(kernel, 0), checked, random or "-")
    bits = kernel.outcomes.bit_length() - 1
    if isinstance(kernel, SectorKernel):
        inner = kernel.window.width.bit_length() - 1
        block = kernel.start.aim_one(checked) % kernel.window.cells // kernel.window.width
        return _answer(program, "blocks", *_numbers(kernel, inner), block, random or "-")
    if isinstance(kernel, SlidingKernel):
        start = _start(kernel.start, checked, kernel.outcomes)
        return _answer(program, "sliding", *_numbers(kernel, bits), *start, random or "-")
    missing = math.isnan(checked)
    start = _start(kernel.start, kernel.line.low if missing else checked, kernel.room)
    answered = "false" if missing else "true"
    return _answer(program, "optional", *_numbers(kernel, bits), answered, *start, random or "-")


@lru_cache(maxsize=64)
def mechanism_of(specification: str) -> Any:
    """Return the mechanism of a specification."""
    return dt.from_json(specification)


def _inside(domain: Any, value: Any) -> Any:
    """Return a value as a device moves it into its domain."""
    if isinstance(domain, Nullable):
        return value if value is None else _inside(domain.of, value)
    if not isinstance(domain, Line | Plane | Box):
        return value
    try:
        domain.check([value])
    except OutsideDomain:
        return domain.clip([value])[0].tolist()
    return value


def _numbers(kernel: Any, size: int) -> tuple[int, int, int, int, str, int]:
    """Return the bytes of both words, the size, the tickets, the step and the bytes of a report."""
    lottery: Lottery = kernel.window.lottery
    width = np.dtype(kernel.layout).itemsize
    return (lottery.bits - LATE) // 8, LATE // 8, size, lottery.tickets, hex(lottery.step), width


def _start(rule: StartRule, value: float, cells: int) -> tuple[object, ...]:
    """Return the words of a start: what floats decide is decided here."""
    if isinstance(rule, KnotStart):
        position = min(max(int((value - rule.origin) * rule.scale), 0), rule.last)
        knot = position >> COIN
        low, high = (int(rule.entries[index]) for index in (knot, knot + 1))
        return "knots", position & ((1 << COIN) - 1), low, high
    if isinstance(rule, StepStart):
        return "line", 0, int(rule.aim(np.asarray(value)))
    if isinstance(rule, LineStart):
        return "line", rule.fraction, rule.aim_one(value) % (cells << rule.fraction)
    raise Unknown


def _near(kernel: Any, value: Any) -> str:
    windows, rows = kernel.numbers(np.asarray([value]))
    return ",".join(map(str, windows[rows[0]].tolist()))


def _path(program: Program, kernel: NearestKernel, places: list[Any], random: str) -> dict[str, Any]:
    report, left = "", random
    numbers = _numbers(kernel, kernel.outcomes)
    width = numbers[-1]
    for index, place in enumerate(places):
        answer = _answer(
            program, "nearest", *numbers, _near(kernel, np.array(place, dtype=float)), left or "-"
        )
        if "error" in answer:
            return answer
        report += (index == 0).to_bytes(width, "little").hex() + answer["report"]
        left = left[len(left) - 2 * answer["left"] :]
    return {"report": report, "left": len(left) // 2}


def _answer(program: Program, *words: object) -> dict[str, Any]:
    answer = program.ask(*words)
    if len(answer) != 2:
        return {"error": " ".join(answer)}
    return {"report": answer[0], "left": int(answer[1])}


def bound(program: Program, epsilon: float) -> dict[str, Any]:
    """Return the lower bound of e^ε as an integer over 2^320, by the program."""
    exact = Fraction(epsilon)
    return {"below": program.ask("bound", exact.numerator, exact.denominator)[0]}


def main(path: str) -> None:
    """Answer requests until the input ends."""
    program = Program(path)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "draw":
                answer = draw(program, request["specification"], request["value"], request["bytes"])
            elif request["do"] == "bound":
                answer = bound(program, request["epsilon"])
            else:
                raise Unknown
        except Unknown:
            answer = {"unknown": True}
        print(json.dumps({"id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
