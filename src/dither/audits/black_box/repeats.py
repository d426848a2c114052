"""Tests that arrays of many values do not make: dependence between reports, and values one by one.

Two people's reports must be independent. If one noise serves two calls, or two values of one call, then the
reports of (a, a) are equal more often than those of (a, b), by more than e^ε although one value changed. A
seed from the clock, noise that is drawn once for an array, and repeatable noise are found so.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any, Final

import numpy as np

from dither.audits.black_box.calls import Calls, joined
from dither.audits.black_box.columns import Context, columns
from dither.audits.black_box.rounds import Claim, test
from dither.audits.black_box.search import search
from dither.audits.evidence import Evidence
from dither.audits.neighbours import alike

REPEATS, SINGLES = 0.1, 0.1  # shares of α
_FIRST: Final = 8  # trials that decide whether more are made
_MOST: Final = 4000
_LEARN: Final = 60  # single values of each input from which an event is learned
_PATIENCE: Final = 8.0  # the time limit, in seconds


def repeats(calls: Calls, claim: Claim) -> Evidence | None:
    """Return evidence that two reports share their noise: in one call, or in two calls."""
    a, b = (int(place) for place in calls.neighbours.places[0])
    level = REPEATS * claim.alpha / 2.0
    found: list[Evidence] = []
    if 3 * _FIRST * _pace(calls) > _PATIENCE:
        return None
    for together in (True, False):
        first = [_equal(calls, a, a, together) for _ in range(_FIRST)]
        if not all(first):
            continue
        trials = _trials(calls, claim, level)
        if trials == 0:
            continue
        same, other = _counted(calls, a, b, together, trials)
        inputs = calls.neighbours.inputs
        where = "of one call" if together else "of two calls"
        found.append(
            Evidence(
                (inputs[a], inputs[a]),
                (inputs[a], inputs[b]),
                f"both reports {where} are equal",
                (same, other),
                (trials, trials),
                level / 2.0,
                claim.delta,
                claim.confidence,
                again=partial(_counted, calls, a, b, together),
                shares=tuple(np.array([trials - hits, hits]) / trials for hits in (same, other)),  # type: ignore[arg-type]
                chosen=np.array([False, True]),
                bins=("different", "equal"),
            )
        )
    return max(found, key=lambda evidence: evidence.epsilon, default=None)


def singles(calls: Calls, claim: Claim, context: Context) -> Evidence | None:
    """Return the best evidence from values that are given one by one, each in a call of its own."""
    a, b = (int(place) for place in calls.neighbours.places[0])
    level = SINGLES * claim.alpha
    count = _trials(calls, claim, level)
    if count == 0:
        return None
    pairs = np.array([(a, b), (b, a)])
    learn, fresh = (np.resize(np.array([a, b]), 2 * size) for size in (_LEARN, count))
    drawn = joined([calls.draw(learn[at : at + 1]) for at in range(len(learn))])
    found = search(columns(drawn, context), learn, pairs, delta=claim.delta, errors=2.0)[:2]
    if not found:
        return None
    outputs = joined([calls.draw(fresh[at : at + 1]) for at in range(len(fresh))])
    known = columns(outputs, context)
    tested = [test(one, known, fresh, calls, context, claim, level / len(found)) for one in found]
    return max(tested, key=lambda evidence: evidence.epsilon)


def _equal(calls: Calls, one: int, two: int, together: bool) -> bool:
    """Return whether the reports of two inputs are equal, drawn by one call or by two."""
    if together:
        drawn: Any = calls.draw(np.array([one, two]))
        return alike(_plain(drawn[0]), _plain(drawn[1]))
    # Several values a call: reports with few possible values are rarely all equal by chance. One of them is
    # changed, so that the two pairs of calls are neighbours.
    first, second = calls.draw(np.full(4, one)), calls.draw(np.array([two, one, one, one]))
    return all(alike(_plain(x), _plain(y)) for x, y in zip(first, second, strict=True))


def _counted(calls: Calls, a: int, b: int, together: bool, trials: int) -> tuple[int, int]:
    """Return how often two reports are equal, of (a, a) and of (a, b)."""
    same, other = (sum(_equal(calls, a, two, together) for _ in range(trials)) for two in (a, b))
    return same, other


def _plain(report: Any) -> Any:
    return report.item() if isinstance(report, np.generic) and report.dtype.names is None else report


def _trials(calls: Calls, claim: Claim, level: float) -> int:
    """Return how many trials can refute the claim if the event always or never happens; 0 if too many."""
    wanted = math.ceil(1.5 * math.log(4.0 / level) * (1.0 + math.exp(min(claim.epsilon, 20.0))))
    wanted = max(40, wanted)
    return 0 if wanted > _MOST or wanted * 4 * _pace(calls) > _PATIENCE else wanted


def _pace(calls: Calls) -> float:
    """Return how many seconds a call of one value takes."""
    begin = time.monotonic()
    calls.draw(calls.neighbours.places[0][:1])
    return time.monotonic() - begin
