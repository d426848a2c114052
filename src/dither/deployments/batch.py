"""What a person is promised whose answers are read only in mixed batches: for `explain` and for pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, final

from dither.errors import InvalidParameter
from dither.mechanisms.shuffled import can_be_shuffled, shuffled
from dither.privacy import Guarantee
from dither.wire.campaign import Campaign

DELTA: Final = 1e-6


@final
@dataclass(frozen=True)
class BatchPromise:
    """The promise of a mixed batch: `guarantee` is None if mixing is not credited (`officer` says why)."""

    guarantee: Guarantee | None
    person: str
    officer: str


def batch_promise(
    questions: Mapping[str, Any] | Campaign, *, minimum_batch: int, delta: float = DELTA
) -> BatchPromise:
    """Return the promise, and its sentences, if answers are read only in batches of so many people, mixed.

    `minimum_batch` is the smallest number of people in a batch; a larger batch promises more. With several
    questions, the answers of a person are mixed as one record. The bound of windows takes a few seconds the
    first time, so keep the result.

    >>> import dither as dt
    >>> promise = batch_promise({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}, minimum_batch=1000)
    >>> round(promise.guarantee.epsilon, 3)
    0.143
    """
    campaign = Campaign.of(questions)
    people = f"{minimum_batch:,}".replace(",", " ") if isinstance(minimum_batch, int) else ""
    try:
        shuffled(1.0, n=minimum_batch, delta=delta)
    except InvalidParameter as error:
        raise InvalidParameter(f"the minimum batch: {error}") from None
    refused = [name for name, one in campaign.questions.items() if not can_be_shuffled(one)]
    if refused:
        return BatchPromise(
            None,
            "",
            f"Mixing batches adds nothing to the promise: shuffling has no bound for {', '.join(refused)}.",
        )
    guarantee = _guarantee(campaign, minimum_batch, delta)
    return BatchPromise(
        guarantee,
        f"If your answers are mixed with those of others in batches of at least {people} people, whoever "
        f"guesses between two answers of yours from a batch is right at most {_percent(guarantee)} of the "
        "time.",
        f"Read only in mixed batches of at least {people} people: {guarantee}. Smaller batches have to wait. "
        "If an assumption fails, the promise on the device is what is left.",
    )


def guessed_right(guarantee: Guarantee) -> float:
    """Return how often the best guess between two equally likely values is right, at most.

    If the guess says the first value on a set S, then P₀(S) ≤ e^ε·P₁(S) + δ, and the same for the complement
    with the two exchanged. Added up, P₀(S) + P₁(not S) ≤ 2·(e^ε + δ)/(e^ε + 1); the guess is right with half
    of that.
    """
    bound = guarantee.bound
    epsilon, delta = float(getattr(bound, "epsilon", math.inf)), float(getattr(bound, "delta", 0.0))
    away = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * away) / (1.0 + away))


def _guarantee(campaign: Campaign, people: int, delta: float) -> Guarantee:
    if len(campaign.questions) == 1:
        (only,) = campaign.questions.values()
        return shuffled(only, n=people, delta=delta)
    whole = campaign.guarantee
    mixed = shuffled(whole.epsilon, n=people, delta=delta)  # a record is a report with the summed ε
    return replace(mixed, assumes=tuple(dict.fromkeys([*whole.assumes, *mixed.assumes])))


def _percent(guarantee: Guarantee) -> str:
    share = math.ceil(1000.0 * guessed_right(guarantee)) / 10.0  # outward
    return f"{share:g} %"
