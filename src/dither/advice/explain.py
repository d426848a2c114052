"""A campaign explained to the people who are asked, with what mixing in batches adds.

The card of a campaign, and the playground page.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from dither.advice.goals.numbers import Frequencies, Mean
from dither.domains import Categories, Circle, Domain, Interval
from dither.errors import DitherError, InvalidParameter, found
from dither.mechanisms.shuffled import can_be_shuffled, shuffled, shuffled_records
from dither.privacy import Guarantee, Pure
from dither.question import Question
from dither.wire.codec import Campaign, specification

DELTA: Final = 1e-6


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
        f"guesses between two answers of yours from a batch is right at most {_percent_of_batch(guarantee)} "
        "of the time.",
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
    return shuffled_records(campaign.questions, campaign.guarantee, n=people, delta=delta)


def _percent_of_batch(guarantee: Guarantee) -> str:
    share = math.ceil(1000.0 * guessed_right(guarantee)) / 10.0  # outward
    return f"{share:g} %"


PRIORS: Final = (0.01, 0.1, 0.5, 0.9)
PEOPLE: Final = (1_000, 10_000)
_LISTED: Final = 6  # questions that the text for the person names


def odds(epsilon: float, prior: float) -> float:
    """Return the largest probability that a guess of probability `prior` can have after a report.

    With a pure ε the odds of any two values change by at most e^ε, so the bound is p·e^ε/(p·e^ε + 1 − p).
    """
    if prior >= 1.0:
        return 1.0
    return 1.0 / (1.0 + math.exp(-epsilon) * (1.0 - prior) / prior)


@dataclass(frozen=True)
class Explanation:
    """What a campaign promises: `person` is for whoever is asked, `officer` for whoever answers for it."""

    person: str
    officer: str

    def __str__(self) -> str:
        return f"For the person asked\n\n{self.person}\n\nFor the officer\n\n{self.officer}"

    __repr__ = __str__


def explain(
    questions: Mapping[str, Any] | Campaign,
    *,
    spent: Guarantee | None = None,
    minimum_batch: int | None = None,
    delta: float = DELTA,
) -> Explanation:
    """Explain questions in plain words: what is told, the odds, what was spent before, the assumptions.

    `spent` is what a person has given before, such as `account.ledger.spent`. If reports are mixed and read
    only in batches of at least `minimum_batch` people, the texts add the (ε, δ) of such a batch.

    >>> import dither as dt
    >>> told = explain({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)})
    >>> "50 % can be at most 73 % sure" in told.person
    True
    """
    campaign = Campaign.of(questions)
    batch = (
        None if minimum_batch is None else batch_promise(campaign, minimum_batch=minimum_batch, delta=delta)
    )
    return Explanation(_person(campaign, spent, batch), _officer(campaign, spent, batch))


def _person(campaign: Campaign, spent: Guarantee | None, batch: BatchPromise | None) -> str:
    names = list(campaign.questions)
    listed = ", ".join(names[:_LISTED]) + (
        f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    )
    whole = campaign.guarantee
    sentences = [
        f"You are asked about: {listed}.",
        "Your device changes your answers at random before they leave it, so nobody receives your true "
        "answers, and you can deny every answer that was sent.",
        _sure(whole, "" if len(names) == 1 else " all"),
    ]
    if spent is not None:
        sentences.append(_together(whole, spent))
    if batch is not None and batch.person:
        sentences.append(batch.person)
    if whole.assumes:
        sentences.append(f"This assumes that {'; '.join(whole.assumes[:2])}.")
    sentences.append("Averages over many people are still accurate; nothing certain follows about you.")
    return " ".join(sentences)


def _sure(whole: Guarantee, every: str) -> str:
    if not isinstance(whole.bound, Pure):
        return f"The promise is: {whole.bound}."
    return (
        f"Whoever guessed something about you with 50 % can be at most "
        f"{_percent(odds(whole.epsilon, 0.5))} sure after reading{every} your answer{'s' if every else ''}."
    )


def _together(whole: Guarantee, spent: Guarantee) -> str:
    both = spent.compose(whole)
    if not isinstance(both.bound, Pure):
        return f"Together with what you gave before: {both.bound}."
    return f"Together with everything that you gave before it is at most {_percent(odds(both.epsilon, 0.5))}."


def _percent(share: float) -> str:
    """Return a probability in per cent, rounded to the nearest whole one, but 100 only if it is 1."""
    return (
        f"{round(100.0 * share)} %"
        if share < 0.995 or share == 1.0
        else f"{math.floor(1e4 * share) / 100:g} %"
    )


def _officer(campaign: Campaign, spent: Guarantee | None, batch: BatchPromise | None) -> str:
    whole = campaign.guarantee
    lines = [f"{name}: {_question(mechanism)}" for name, mechanism in campaign.questions.items()]
    lines.append(f"All answers of a person: {whole}.")
    if isinstance(whole.bound, Pure):
        bounds = ", ".join(f"{_percent(prior)} → {_percent(odds(whole.epsilon, prior))}" for prior in PRIORS)
        lines.append(f"A guess before and at most after the answers, whatever else is known: {bounds}.")
    if spent is not None:
        lines.append(f"Spent before: {spent}. Together: {spent.compose(whole)}.")
    lines += [f"Assumption: {line}." for line in whole.assumes] or [
        "There are no assumptions about the adversary."
    ]
    if batch is not None:
        lines.append(batch.officer)
    lines.append(
        "A second answer to the same question spends its ε again. The number of answers is not protected."
    )
    return "\n".join(lines)


def _question(mechanism: Question) -> str:
    text = f"{_answer_words(mechanism.domain)}, {mechanism.name}, {mechanism.guarantee}"
    errors = _errors(mechanism)
    return f"{text}; {errors}." if errors else f"{text}."


def _answer_words(domain: Domain) -> str:
    if isinstance(domain, Interval):
        return f"a number in {domain}"
    if isinstance(domain, Circle):
        return f"an angle on {domain}"
    return f"one of {domain}" if isinstance(domain, Categories) else str(domain)


def _errors(mechanism: Question) -> str:
    """Return the errors that are predicted for some numbers of people; an empty text if none are known."""
    goal = Frequencies if isinstance(mechanism.domain, Categories) else Mean
    found = []
    for people in PEOPLE:
        try:
            error = goal(n=people).error(mechanism.design())
        except (DitherError, TypeError, AttributeError):  # a mechanism without such formulas
            return ""
        if error is None:
            return ""
        found.append(f"{error:.2g} for {people:,} people".replace(",", " "))
    what = "a frequency" if goal is Frequencies else "the mean"
    return f"privacy adds to {what} a standard error of {' and '.join(found)}"


VERSION: Final = 1


def schema() -> dict[str, Any]:
    """Return the JSON schema of a card."""
    text = resources.files("dither.advice").joinpath("card.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def card(
    questions: Mapping[str, Any] | Campaign,
    *,
    asker: str,
    contact: str,
    purpose: str = "",
    people: int | None = None,
    begins: str | None = None,
    ends: str | None = None,
) -> dict[str, Any]:
    """Return the card of a deployment: who asks, what, with which ε, unit, mechanism and assumptions.

    `begins` and `ends` are days such as "2026-05-01"; `people` is how many will be asked. Every number of the
    promise is computed from the mechanisms; the rest is as stated.

    >>> import dither as dt
    >>> made = card({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}, asker="A", contact="a@b.c")
    >>> round(made["promise"]["epsilon"], 9)
    1.0
    """
    campaign = Campaign.of(questions)
    for name, text in (("asker", asker), ("contact", contact)):
        if not isinstance(text, str) or not text.strip():
            raise InvalidParameter(f"a card names its {name}: a text, not {found(text)}")
    if people is not None and (isinstance(people, bool) or not isinstance(people, int) or people < 1):
        raise InvalidParameter(f"people is a whole number of at least 1, not {found(people)}")
    days = {name: _day(name, day) for name, day in (("begins", begins), ("ends", ends))}
    if days["begins"] and days["ends"] and days["ends"] < days["begins"]:
        raise InvalidParameter(f"the campaign ends on {days['ends']}, before it begins on {days['begins']}")
    return {
        "dither-card": VERSION,
        "asker": asker,
        "contact": contact,
        "purpose": purpose,
        "people": people,
        **days,
        "promise": _promise(campaign.guarantee),
        "questions": [_question_data(name, one) for name, one in campaign.questions.items()],
        "for the person": explain(campaign).person,
    }


def _day(name: str, day: object) -> str | None:
    if day is None:
        return None
    try:
        return date.fromisoformat(str(day)).isoformat()
    except ValueError:
        raise InvalidParameter(f"{name} is a day such as 2026-05-01, not {found(day)}") from None


def _promise(guarantee: Guarantee) -> dict[str, Any]:
    pure = isinstance(guarantee.bound, Pure)
    return {
        "words": str(guarantee),
        "epsilon": getattr(guarantee.bound, "epsilon", None),
        "delta": getattr(guarantee.bound, "delta", 0.0 if pure else None),
        "kind": type(guarantee.bound).__name__.lower(),
        "unit": f"one {guarantee.unit}",
        "assumptions": list(guarantee.assumes),
        "odds": [{"before": one, "at most after": odds(guarantee.epsilon, one)} for one in PRIORS]
        if pure
        else [],
    }


def _question_data(name: str, mechanism: Question) -> dict[str, Any]:
    given = specification(mechanism)
    return {
        "name": name,
        "domain": mechanism.domain.device(),
        "mechanism": mechanism.name,
        "fingerprint": given["fingerprint"],
        "bytes": int(mechanism.layout.itemsize),
        "promise": _promise(mechanism.guarantee),
    }


_NAME: Final = "playground/index.html"
_POLICY: Final = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


@cache
def playground_page() -> bytes:
    """Return the page, of the package or of the repository."""
    for root in (Path(str(files("dither"))), Path(__file__).parents[3] / "docs"):
        if (root / _NAME).is_file():
            return (root / _NAME).read_bytes()
    raise DitherError("this installation has no playground; install dither from its wheel")


def playground_headers() -> dict[str, str]:
    """Return the headers of the page: its own content policy, and that no other page may frame it."""
    found = _POLICY.search(playground_page().decode())
    if found is None:
        raise DitherError("the playground has no content policy; build it again")
    return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"{found[1]}; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
