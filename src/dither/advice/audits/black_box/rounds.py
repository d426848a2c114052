"""Rounds of a black-box audit, and the independent repetition of a finding."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from dither.advice.audits.black_box.calls import Calls, Failed, Outputs, join
from dither.advice.audits.black_box.columns import Context, columns
from dither.advice.audits.black_box.parts import Columns
from dither.advice.audits.black_box.search import CandidateEvent, search, tally
from dither.advice.audits.finding import Evidence
from dither.advice.audits.neighbours import alike
from dither.errors import InvalidParameter
from dither.foundation.arrays import Integers

_EXPLORE: Final = 200  # reports of each input in the first round, if there are enough samples
_LEAST: Final = 64  # least first round: 1/64 of the samples
_GROWTH: Final = 4  # growth of the rounds
_INPUTS: Final = 300  # largest number of inputs
_EVENTS, _EVENTS_AT_LAST = 6, 4
_INPUTS_LATER: Final = 4
_MAIN, _LAST = 0.8, 0.6  # shares of α in all rounds and in the last one
_LEARNED: Final = 1 << 18  # number of last reports that are searched
_ERRORS: Final = 2.5  # standard errors that the ranking of candidates subtracts


@dataclass(frozen=True)
class Claim:
    """The claimed ε and δ, and the required confidence of a refutation."""

    epsilon: float
    delta: float
    confidence: float

    @property
    def alpha(self) -> float:
        """An upper bound on the probability of a false alarm."""
        return 1.0 - self.confidence


@dataclass(frozen=True)
class RoundPlan:
    """The number of reports of each round, and the level of each testing round."""

    sizes: tuple[int, ...]
    levels: tuple[float, ...]


def plan(samples: int, inputs: int, alpha: float) -> RoundPlan:
    """Return the rounds: the first explores, later ones are four times as long, the last takes the rest."""
    first = max(samples // _LEAST, min(samples // 4, _EXPLORE * inputs))
    sizes = [first]
    left = samples - first
    while left > (_GROWTH + _GROWTH**2) * sizes[-1] // 2:
        sizes.append(_GROWTH * sizes[-1])
        left -= sizes[-1]
    sizes.append(left)
    tests = len(sizes) - 1
    if tests == 1:
        return RoundPlan(tuple(sizes), (_MAIN * alpha,))
    early = (_MAIN - _LAST) * alpha / (tests - 1)
    return RoundPlan(tuple(sizes), (*[early] * (tests - 1), _LAST * alpha))


def rounds(
    calls: Calls, claim: Claim, context: Context, samples: int, rng: np.random.Generator, deadline: float
) -> Iterator[Evidence]:
    """Yield the best evidence of each round, until it refutes the claim or the samples are used up."""
    pairs = calls.neighbours.places
    most = max(2, min(_INPUTS, samples // (4 * _EXPLORE)))
    pairs = pairs[(pairs < most).all(axis=1)] if (pairs < most).all(axis=1).any() else pairs[:2]
    inputs = np.unique(pairs)
    schedule = plan(samples, len(inputs), claim.alpha)
    seen = [_places(schedule.sizes[0], inputs, rng)]
    drawn: list[Outputs] = [calls.draw(seen[0])]
    _check(drawn[0], calls)
    for at, (planned, level) in enumerate(zip(schedule.sizes[1:], schedule.levels, strict=True)):
        last = at == len(schedule.levels) - 1
        known = columns(join(drawn)[-_LEARNED:], context)
        found = search(known, np.concatenate(seen)[-_LEARNED:], pairs, delta=claim.delta, errors=_ERRORS)
        chosen = _choose_events(found, last)
        size = _affordable(planned, calls, deadline)
        if not chosen or size < 2:
            return
        which = _places(size, np.unique([(event.first, event.second) for event in chosen]), rng)
        outputs = calls.draw(which)
        fresh = columns(outputs, context)
        tested = [test(event, fresh, which, calls, context, claim, level / len(chosen)) for event in chosen]
        best = max(tested, key=lambda evidence: evidence.epsilon)
        yield best
        if best.epsilon > claim.epsilon:
            return
        seen.append(which)
        drawn.append(outputs)


def test(
    candidate: CandidateEvent,
    fresh: Columns,
    which: Integers,
    calls: Calls,
    context: Context,
    claim: Claim,
    level: float,
) -> Evidence:
    """Return the evidence of a candidate event on fresh reports, each of its two bounds at level/2."""
    event, size = candidate.event, candidate.event.binning.size
    order = np.full(int(which.max()) + 2, 2, dtype=np.int64)
    order[candidate.first], order[candidate.second] = 0, 1
    counts = tally(order[which], event.binning.bins(fresh, len(which)), 3, size)[:2]
    trials = counts.sum(axis=1)
    hits = counts[:, event.chosen].sum(axis=1)

    def contains(outputs: Outputs) -> np.typing.NDArray[np.bool_]:
        return event.contains(columns(outputs, context), len(outputs))

    def again(samples: int) -> tuple[int, int]:
        first, second = (
            int(contains(calls.draw(np.full(samples, position))).sum())
            for position in (candidate.first, candidate.second)
        )
        return first, second

    return Evidence(
        calls.neighbours.inputs[candidate.first],
        calls.neighbours.inputs[candidate.second],
        event.words,
        (int(hits[0]), int(hits[1])),
        (int(trials[0]), int(trials[1])),
        level / 2.0,
        claim.delta,
        claim.confidence,
        contains,
        again,
        (counts[0] / max(trials[0], 1.0), counts[1] / max(trials[1], 1.0)),
        event.chosen,
        tuple(event.binning.names()),
    )


def _choose_events(found: list[CandidateEvent], last: bool) -> list[CandidateEvent]:
    """Return the events to test, about few inputs with many reports each; in the last round about two."""
    kept: list[CandidateEvent] = []
    inputs: set[int] = set()
    most, events = (2, _EVENTS_AT_LAST) if last else (_INPUTS_LATER, _EVENTS)
    for event in found:
        together = inputs | {event.first, event.second}
        if len(together) <= most:
            kept.append(event)
            inputs = together
        if len(kept) == events:
            break
    return kept


def _places(size: int, inputs: Integers, rng: np.random.Generator) -> Integers:
    """Return indices of inputs, each about equally often, in random order."""
    return rng.permutation(np.resize(inputs, size))


def _affordable(size: int, calls: Calls, deadline: float) -> int:
    """Return the number of reports that can be drawn until the deadline, at most `size`."""
    left = deadline - time.monotonic()
    pace = calls.seconds / max(calls.reports, 1)
    return size if pace * size <= left else max(0, int(left / pace))


def _check(outputs: Outputs, calls: Calls) -> None:
    if isinstance(outputs, list) and outputs and all(isinstance(output, Failed) for output in outputs):
        raise InvalidParameter(
            f"expected reports from the randomiser, but it raises an error at every value: {calls.message}"
        )


REPEATS, SINGLES = 0.1, 0.1  # shares of α
_FIRST: Final = 8  # first trials, which decide whether more are made
_MOST: Final = 4000
_LEARN: Final = 60  # single values of each input from which an event is learned
_PATIENCE: Final = 8.0  # the time limit, in seconds


def repeats(calls: Calls, claim: Claim) -> Evidence | None:
    """Return evidence that two reports share their noise: in one call, or in two calls."""
    a, b = (int(position) for position in calls.neighbours.places[0])
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
        same, other = _count_equal(calls, a, b, together, trials)
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
                again=partial(_count_equal, calls, a, b, together),
                shares=tuple(np.array([trials - hits, hits]) / trials for hits in (same, other)),  # type: ignore[arg-type]
                chosen=np.array([False, True]),
                bins=("different", "equal"),
            )
        )
    return max(found, key=lambda evidence: evidence.epsilon, default=None)


def singles(calls: Calls, claim: Claim, context: Context) -> Evidence | None:
    """Return the best evidence from values that are passed one by one, each in its own call."""
    a, b = (int(position) for position in calls.neighbours.places[0])
    level = SINGLES * claim.alpha
    count = _trials(calls, claim, level)
    if count == 0:
        return None
    pairs = np.array([(a, b), (b, a)])
    learn, fresh = (np.resize(np.array([a, b]), 2 * size) for size in (_LEARN, count))
    drawn = join([calls.draw(learn[at : at + 1]) for at in range(len(learn))])
    found = search(columns(drawn, context), learn, pairs, delta=claim.delta, errors=2.0)[:2]
    if not found:
        return None
    outputs = join([calls.draw(fresh[at : at + 1]) for at in range(len(fresh))])
    known = columns(outputs, context)
    tested = [test(event, known, fresh, calls, context, claim, level / len(found)) for event in found]
    return max(tested, key=lambda evidence: evidence.epsilon)


def _equal(calls: Calls, index: int, other: int, together: bool) -> bool:
    """Return whether the reports of two inputs are equal, drawn by one call or by two."""
    if together:
        drawn: Any = calls.draw(np.array([index, other]))
        return alike(_plain(drawn[0]), _plain(drawn[1]))
    # Several values a call: reports with few possible values are rarely all equal by chance. One of them is
    # changed, so that the two pairs of calls are neighbours.
    first, second = calls.draw(np.full(4, index)), calls.draw(np.array([other, index, index, index]))
    return all(alike(_plain(x), _plain(y)) for x, y in zip(first, second, strict=True))


def _count_equal(calls: Calls, a: int, b: int, together: bool, trials: int) -> tuple[int, int]:
    """Return the numbers of equal pairs of reports, for inputs (a, a) and (a, b)."""
    same, other = (sum(_equal(calls, a, two, together) for _ in range(trials)) for two in (a, b))
    return same, other


def _plain(report: object) -> object:
    return report.item() if isinstance(report, np.generic) and report.dtype.names is None else report


def _trials(calls: Calls, claim: Claim, level: float) -> int:
    """Return how many trials can refute the claim if the event always or never happens; 0 if too many."""
    wanted = math.ceil(1.5 * math.log(4.0 / level) * (1.0 + math.exp(min(claim.epsilon, 20.0))))
    wanted = max(40, wanted)
    return 0 if wanted > _MOST or wanted * 4 * _pace(calls) > _PATIENCE else wanted


def _pace(calls: Calls) -> float:
    """Return the duration of a call with one value, in seconds."""
    begin = time.monotonic()
    calls.draw(calls.neighbours.places[0][:1])
    return time.monotonic() - begin
