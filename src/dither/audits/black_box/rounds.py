"""The black box audit: rounds of fresh samples that test what earlier samples suggested.

Why the confidence holds, whenever the audit stops. Write α = 1 − confidence. Before a round is drawn, its
events, pairs of inputs and level are fixed by earlier samples alone. Given those, the round's reports are
independent trials, and each of the two Clopper–Pearson bounds of each of its K events fails with probability
at most level/(2K), so that any bound of the round fails with probability at most level, whatever the earlier
samples were. The levels of all rounds and of the two other experiments (`repeats`) are fixed beforehand and
sum to α. By the union bound all bounds that could ever be computed hold together with probability at least
1 − α. Which of them are computed, and when the audit stops, may depend on the data: the union bound covers
the rounds that are never drawn as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from dither.arrays import Integers
from dither.audits.black_box.calls import Calls, Failed, Outputs, joined
from dither.audits.black_box.columns import Columns, Context, columns
from dither.audits.black_box.search import CandidateEvent, search, tally
from dither.audits.evidence import Evidence
from dither.errors import InvalidParameter

_EXPLORE: Final = 200  # reports of each input in the first round, if there are enough samples
_LEAST: Final = 64  # of the first round of all, as a share of the samples: 1/64
_GROWTH: Final = 4  # of the rounds
_INPUTS: Final = 24  # inputs at most
_EVENTS, _EVENTS_AT_LAST = 6, 4
_INPUTS_LATER: Final = 4
_MAIN, _LAST = 0.8, 0.6  # shares of α: of all rounds, of the last one
_LEARNED: Final = 1 << 18  # reports that are searched, the last ones
_ERRORS: Final = 2.5  # standard errors that the ranking of candidates subtracts


@final
@dataclass(frozen=True)
class Claim:
    """What is claimed, and the confidence that a refutation must have."""

    epsilon: float
    delta: float
    confidence: float

    @property
    def alpha(self) -> float:
        """An upper bound on the probability of a false alarm."""
        return 1.0 - self.confidence


@final
@dataclass(frozen=True)
class Plan:
    """How many reports each round draws, and the level of each round that tests."""

    sizes: tuple[int, ...]
    levels: tuple[float, ...]


def plan(samples: int, inputs: int, alpha: float) -> Plan:
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
        return Plan(tuple(sizes), (_MAIN * alpha,))
    early = (_MAIN - _LAST) * alpha / (tests - 1)
    return Plan(tuple(sizes), (*[early] * (tests - 1), _LAST * alpha))


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
        known = columns(joined(drawn)[-_LEARNED:], context)
        found = search(known, np.concatenate(seen)[-_LEARNED:], pairs, delta=claim.delta, errors=_ERRORS)
        chosen = _chosen(found, last)
        size = _affordable(planned, calls, deadline)
        if not chosen or size < 2:
            return
        which = _places(size, np.unique([(one.first, one.second) for one in chosen]), rng)
        outputs = calls.draw(which)
        fresh = columns(outputs, context)
        tested = [test(one, fresh, which, calls, context, claim, level / len(chosen)) for one in chosen]
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
            int(contains(calls.draw(np.full(samples, place))).sum())
            for place in (candidate.first, candidate.second)
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


def _chosen(found: list[CandidateEvent], last: bool) -> list[CandidateEvent]:
    """Return the events to test: about few inputs, so that each has many reports; at last about two."""
    kept: list[CandidateEvent] = []
    inputs: set[int] = set()
    most, events = (2, _EVENTS_AT_LAST) if last else (_INPUTS_LATER, _EVENTS)
    for one in found:
        together = inputs | {one.first, one.second}
        if len(together) <= most:
            kept.append(one)
            inputs = together
        if len(kept) == events:
            break
    return kept


def _places(size: int, inputs: Integers, rng: np.random.Generator) -> Integers:
    """Return places of inputs, each about equally often, in random order."""
    return rng.permutation(np.resize(inputs, size))


def _affordable(size: int, calls: Calls, deadline: float) -> int:
    """Return how many reports can be drawn until the deadline, at most `size`."""
    left = deadline - time.monotonic()
    pace = calls.seconds / max(calls.reports, 1)
    return size if pace * size <= left else max(0, int(left / pace))


def _check(outputs: Outputs, calls: Calls) -> None:
    if isinstance(outputs, list) and outputs and all(isinstance(one, Failed) for one in outputs):
        raise InvalidParameter(f"the randomiser raises an error at every value: {calls.message}")
