"""The card of a campaign, and the playground page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib import resources
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from dither.advice.explain import PRIORS, explain, odds
from dither.errors import DitherError, InvalidParameter, found
from dither.privacy import Guarantee, Pure
from dither.question import Question
from dither.wire.campaign import Campaign
from dither.wire.codec import specification

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
        "questions": [_question(name, one) for name, one in campaign.questions.items()],
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


def _question(name: str, mechanism: Question) -> dict[str, Any]:
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
