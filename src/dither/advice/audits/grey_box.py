"""The grey box: a randomiser that takes its random bytes from an argument `source`.

Neighbouring inputs are run on the same bytes, including the exact audit's scripts. How many bytes are drawn
and which lines run may depend on the value: both are noted, and neither is part of ε. If a draw needs at most
about two bytes, all of them are tried, and the probabilities are exact.
"""

from __future__ import annotations

import gc
import inspect
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np

import dither
from dither.advice.audits.black_box.calls import as_outputs
from dither.advice.audits.finding import show_input
from dither.advice.audits.neighbours import Neighbours
from dither.advice.audits.sampler import SCRIPTS, BoundaryWords, ScriptEnded
from dither.foundation.randomness import Seeded

_MOST_RUNS: Final = 1 << 17  # runs of one input
_MOST_BYTES: Final = 2  # bytes by which one request may exceed the enumerated length
_RANDOM: Final = 24  # scripts of random bytes
_PAIRS: Final = 4

_OWN: Final = tuple(
    str(Path(dither.__file__).parent / room) for room in ("advice/audits", "foundation/randomness")
)

Lines = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Enumerated:
    """The exact distribution of one report for a few inputs, and the largest loss between them."""

    loss: float
    first: Any
    second: Any
    report: str
    chances: tuple[Fraction, Fraction]
    inputs: int

    def __str__(self) -> str:
        return (
            f"input {show_input(self.first)} against {show_input(self.second)}: the report {self.report} has "
            f"probability {self.chances[0]} against {self.chances[1]}, exactly"
        )


def takes_source(randomiser: Callable[..., Any]) -> bool:
    """Return whether a randomiser has a parameter called `source`."""
    try:
        return "source" in inspect.signature(randomiser).parameters
    except (TypeError, ValueError):
        return False


def has_plain_call(randomiser: Callable[..., Any]) -> bool:
    """Return whether a randomiser with a parameter `source` can be called without it."""
    return inspect.signature(randomiser).parameters["source"].default is not inspect.Parameter.empty


def differences(randomiser: Callable[..., Any], neighbours: Neighbours) -> tuple[str, ...]:
    """Return differences between neighbouring inputs on the same random bytes: bytes drawn, lines run."""
    scripts = [*SCRIPTS, *(Seeded(5).take(64 * (at + 1))[-64:] for at in range(_RANDOM))]
    notes: dict[str, None] = {}
    for a, b in neighbours.places[: 2 * _PAIRS : 2].tolist():
        for position in (a, b):  # run once before, so that cached computations do not look like branches
            with suppress(Exception):
                randomiser(neighbours.pack(np.array([position])), source=BoundaryWords(b""))
        inputs = neighbours.inputs[a], neighbours.inputs[b]
        for script in scripts:
            try:
                (first, second) = (_watch(randomiser, neighbours, position, script) for position in (a, b))
            except Exception:
                return (*notes, "the scripted source could not be used: the randomiser raised an error")
            if first[0] != second[0] and not any(note.startswith("bytes") for note in notes):
                notes[
                    f"bytes: {first[0]} are drawn for {show_input(inputs[0])} and {second[0]} for "
                    f"{show_input(inputs[1])} on the script {script[:8].hex()}…"
                ] = None
            if first[1] != second[1] and not any(note.startswith("branch") for note in notes):
                file, line = sorted(first[1] ^ second[1])[0]
                notes[
                    f"branch: {Path(file).name}, line {line}, runs for one of {show_input(inputs[0])} and "
                    f"{show_input(inputs[1])} only, on the script {script[:8].hex()}…"
                ] = None
    return tuple(notes)


def _watch(
    randomiser: Callable[..., Any], neighbours: Neighbours, index: int, script: bytes
) -> tuple[int, Lines]:
    """Run one value on a script; return how many bytes it drew, and the lines of Python that ran."""
    source = BoundaryWords(script)
    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line" and not frame.f_code.co_filename.startswith(
            _OWN
        ):  # the lines of the source are not recorded
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    values = neighbours.pack(np.array([index]))
    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # code that runs in a garbage collection is not the randomiser's
    sys.settrace(trace)
    try:
        randomiser(values, source=source)
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return source.taken, frozenset(lines)


def enumerate_draws(randomiser: Callable[..., Any], neighbours: Neighbours) -> Enumerated | None:
    """Return the exact loss over the inputs that `_MOST_RUNS` runs reach, at least two of them.

    Return None if a draw needs too many bytes.
    """
    laws: dict[int, dict[str, Fraction]] = {}
    runs = 0
    for index in range(len(neighbours.inputs)):
        if len(laws) > 1 and runs >= _MOST_RUNS:
            break
        found = _law(randomiser, neighbours, index)
        if found is None:
            return None
        laws[index] = found[0]
        runs += found[1]
    worst: Enumerated | None = None
    for a, b in neighbours.places.tolist():
        if a not in laws or b not in laws:
            continue
        for report, chance in laws[a].items():
            other = laws[b].get(report, Fraction(0))
            loss = math.log(chance / other) if other else math.inf
            if worst is None or loss > worst.loss:
                inputs = neighbours.inputs
                worst = Enumerated(loss, inputs[a], inputs[b], report, (chance, other), len(laws))
    return worst


def _law(
    randomiser: Callable[..., Any], neighbours: Neighbours, index: int
) -> tuple[dict[str, Fraction], int] | None:
    """Return the probability of every report, and the number of runs: all bytes of a draw are tried."""
    values = neighbours.pack(np.array([index]))
    law: dict[str, Fraction] = defaultdict(Fraction)
    waiting, runs = [b""], 0
    while waiting:
        script = waiting.pop()
        runs += 1
        try:
            returned = as_outputs(randomiser(values, source=BoundaryWords(script, strict=True)), 1)[0]
        except ScriptEnded as ended:
            if ended.missing > _MOST_BYTES or runs + len(waiting) + 256**ended.missing > _MOST_RUNS:
                return None
            waiting += [script + more.to_bytes(ended.missing, "big") for more in range(256**ended.missing)]
            continue
        except Exception as error:
            returned = f"error {type(error).__name__}"
        report = repr(returned.tolist() if isinstance(returned, np.ndarray | np.generic) else returned)
        law[report] += Fraction(1, 256 ** len(script))
    return dict(law), runs
