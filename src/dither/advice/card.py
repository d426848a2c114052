"""`Questionnaire.card`: the card of a campaign, as machine-readable data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from dither.advice.explain import PRIORS, AskedQuestions, person_text, sentences, total_promise
from dither.core.question import Question, as_question
from dither.core.questionnaire import Questionnaire
from dither.errors import InvalidParameter, found
from dither.privacy import Guarantee, Pure
from dither.privacy.guarantee import largest_posterior

if TYPE_CHECKING:
    from dither_device.total import Total

VERSION: Final = 1


def schema() -> dict[str, Any]:
    """Return the JSON schema of a card."""
    text = resources.files("dither.advice").joinpath("card.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def card(
    questions: Mapping[str, Any] | Questionnaire,
    *,
    asker: str,
    contact: str,
    purpose: str = "",
    people: int | None = None,
    begins: str | None = None,
    ends: str | None = None,
    repeat: str | None = None,
    campaign: str | None = None,
    total: Total | None = None,
    every: str | None = None,
    stated: Mapping[str, Mapping[str, Any]] | None = None,
    phase: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the card of a deployment: the collector, the questions, ε, unit, mechanism and assumptions.

    `begins` and `ends` are days such as "2026-05-01"; `people` is the expected number of people, and
    `campaign` the identity of a published campaign. Questions, `repeat`, `total`, `every`, `stated` and
    `phase` are as `explain` takes them, and the stated terms are given with their question. Every number of
    the promise is computed from the mechanisms; the rest is as stated.

    >>> import dither as dt
    >>> made = card({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}, asker="A", contact="a@b.c")
    >>> round(made["promise"]["epsilon"], 9)
    1.0
    """
    question = replace(AskedQuestions.of(questions), every=every, stated=stated or {}, phase=phase)
    if total is not None:
        question = replace(question, whole=total_promise(total))
    for name, text in (("asker", asker), ("contact", contact)):
        if not isinstance(text, str) or not text.strip():
            raise InvalidParameter(f"expected a text that names the {name} on a card, got {found(text)}")
    if people is not None and (isinstance(people, bool) or not isinstance(people, int) or people < 1):
        raise InvalidParameter(f"expected people to be an integer of at least 1, got {found(people)}")
    days = {name: _day(name, day) for name, day in (("begins", begins), ("ends", ends))}
    if days["begins"] and days["ends"] and days["ends"] < days["begins"]:
        raise InvalidParameter(
            f"expected the campaign to end after it begins, got {days['begins']} to {days['ends']}"
        )
    return {
        "dither-card": VERSION,
        "asker": asker,
        "contact": contact,
        "purpose": purpose,
        "people": people,
        **days,
        **({} if campaign is None else {"campaign": campaign}),
        "promise": _promise(question.whole) | ({} if total is None else {"words": total.words()}),
        "questions": [
            _question_data(name, asking) | _terms_of_question(question.stated.get(name, {}))
            for name, asking in question.named.items()
        ],
        "for the person": person_text(question, None, None, "device", {}, repeat, sentences(), total),
    }


def _terms_of_question(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms of a question that change the meaning of its numbers."""
    return {name: terms[name] for name in ("scale", "form", "clipped", "outside") if name in terms}


def _day(name: str, day: object) -> str | None:
    if day is None:
        return None
    try:
        return date.fromisoformat(str(day)).isoformat()
    except ValueError:
        raise InvalidParameter(f"expected {name} to be a day such as 2026-05-01, got {found(day)}") from None


def _promise(guarantee: Guarantee) -> dict[str, Any]:
    pure = isinstance(guarantee.bound, Pure)
    return {
        "words": str(guarantee),
        "epsilon": getattr(guarantee.bound, "epsilon", None),
        "delta": getattr(guarantee.bound, "delta", 0.0 if pure else None),
        "kind": type(guarantee.bound).__name__.lower(),
        "unit": f"one {guarantee.unit}",
        "assumptions": list(guarantee.assumes),
        "odds": [
            {"before": prior, "at most after": largest_posterior(guarantee.epsilon, prior)}
            for prior in PRIORS
        ]
        if pure
        else [],
    }


def _question_data(name: str, target: Any) -> dict[str, Any]:
    mechanism: Question = getattr(target, "question", target)
    given = as_question(mechanism).specification()
    return {
        "name": name,
        "domain": mechanism.domain.device(),
        "mechanism": mechanism.name,
        "fingerprint": given["fingerprint"],
        "bytes": int(mechanism.layout.itemsize),
        "promise": _promise(target.guarantee),
    }
