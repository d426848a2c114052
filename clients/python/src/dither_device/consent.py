"""Consent: the terms that a person is shown before they agree, and the record of their agreement.

Consent holds for the shown campaign. A record keeps digests of asker, key, purpose, address and of each
question with its words, and the days. A campaign beyond the record needs another yes.
"""

from __future__ import annotations

import json
import os
import sys

from dither_device.text import canonical, digest
from dither_device.total import Total, percent, show, total_of, years_of
from dither_device.words import own_languages, pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.campaign import Campaign
    from dither_device.question import Question

# What a person reads about a campaign, without its version, its days and its questions.
_TERMS = (
    *("asker", "contact", "purpose", "purposes", "repeat", "days", "every", "changes"),
    *("answers", "labels", "people"),
)
_WIDTH = 79
_LINES = 24  # lines of a terminal of unknown size


def general_of(campaign: Campaign, address: str | None, relay: str | None) -> str:
    """Return the digest of the asker, key, purpose, repetition and address."""
    stated = {name: campaign.terms.get(name) for name in _TERMS}
    return digest(canonical([stated, campaign.key, address, relay]), 64)


def record_of(campaign: Campaign) -> dict[str, Any]:
    """Return the part of a yes after the general terms: each question with its words, and the days."""
    stated = campaign.terms["questions"]
    marks = [digest(canonical(one), 64) for one in stated]
    return {"questions": marks, "begins": campaign.terms["begins"], "ends": campaign.terms["ends"]}


def covers(record: dict[str, Any] | None, campaign: Campaign) -> bool:
    """Return whether a record covers a campaign: no further question, and no earlier or later day."""
    if not record or "questions" not in record:
        return False
    now = record_of(campaign)
    return (
        set(now["questions"]) <= set(record["questions"])
        and str(record["begins"]) <= now["begins"]
        and now["ends"] <= str(record["ends"])
    )


def total_on_device(campaign: Campaign, budget: float) -> Total:
    """Return the total of a campaign on a device whose account has a budget of ε for each year."""
    promise = campaign.terms["promise"]
    total = total_of(campaign.terms, promise["epsilon"], promise["delta"] or 0.0)
    return total.within(budget, years_of(campaign.terms))


def words_of(campaign: Campaign, budget: float) -> str:
    """Return the questions, the asker, the purpose and the promise: the total first, then one report."""
    terms = campaign.terms
    lines = [f"{terms['asker']} asks: {terms['purpose']} ({terms['contact']})"]
    for name in filter(campaign.can_answer, campaign.questions):
        question, stated = campaign.question(name), campaign.stated[name]
        text = in_language(stated.get("text"), terms) or f"{name}:"
        names = in_language(stated.get("names"), terms)
        lines.append(f"  {text} {describe(question, stated, names)} (ε = {show(question.epsilon)})")
    often = {
        "once": f"once in {_period(terms)}, on a day that this computer draws",
        "same": "once, and the same report ever after",
        "per value": "once for each value",
        "fresh": f"whenever it is asked{_most(terms)}, until the budget is spent",
        "kept change": f"in periods of {_period(terms)}, each with at most {_changes(terms)}",
    }.get(terms["repeat"])
    lines.append(
        presence_of(campaign, budget)
        if often is None
        else f"Each is answered {often}, from {terms['begins']} to {terms['ends']}. An answer is randomised "
        f"on this computer before it is kept or sent. {promise_of(campaign, budget)} Results are shown for "
        f"{terms['people']} reports or more."
    )
    from textwrap import fill

    shown = [printable(line) for line in lines]
    return "\n".join(fill(line, _WIDTH, subsequent_indent="    " * line.startswith("  ")) for line in shown)


def presence_of(campaign: Campaign, budget: float) -> str:
    """Return the contents of a message of presence, and the facts that its noise does not hide."""
    terms = campaign.terms
    text = (
        f"One message is sent on the first use in {_period(terms)}, from {terms['begins']} to "
        f"{terms['ends']}, with no name and no identifier. That you use it is seen in each period: it is "
        "counted exactly. "
    )
    if campaign.stated:
        (name,) = campaign.stated
        total = total_on_device(campaign, budget)
        epsilon = total.each if total.epsilon is None else total.epsilon
        text += (
            "A coin that this computer tosses once for life decides what its messages carry: public labels "
            f"such as the version, or a label about {name}, randomised once and the same ever after; never "
            f"both. In total, over the whole campaign: ε = {show(epsilon)}, once for life. By the label, "
            f"anyone who holds two values equally likely is at most {percent(epsilon)} sure of either. "
            "Erasing, or installing again, draws another label: a second ε. "
        )
    return text + (
        "Noise does not hide the messages: anyone who links yours, as by network address, sees when "
        "you used it, and the first one is the installation; anyone who knows all others' use reads yours "
        f"off the count. Numbers are shown for {terms['people']} devices or more, when the {terms['every']} "
        "is over."
    )


def promise_of(campaign: Campaign, budget: float) -> str:
    """Return the total over the campaign and the odds after it, and the odds after one report."""
    total = total_on_device(campaign, budget)
    epsilon = total.each if total.epsilon is None else total.epsilon
    answered = filter(campaign.can_answer, campaign.questions)
    one = max((campaign.question(name).epsilon for name in answered), default=0.0)
    words = total.words()
    if total.capped:
        words = f"ε = {show(epsilon)}, the budget of this computer"
    return (
        f"In total, over the whole campaign: {words}. Anyone who holds two answers equally likely, and "
        f"sees all that is sent, is at most {percent(epsilon)} sure of either; with one report, at most "
        f"{percent(one)}."
    )


def short_of(campaign: Campaign, budget: float) -> str:
    """Return one line that says the same again, for a question that scrolled out of view."""
    total = total_on_device(campaign, budget)
    epsilon = total.each if total.epsilon is None else total.epsilon
    count = len(campaign.questions)
    many = "1 question" if count == 1 else f"{count} questions"
    return printable(
        f"In short: {campaign.asker} asks {many} until {campaign.terms['ends']}; in total at most "
        f"{percent(epsilon)} sure (ε = {show(epsilon)}). Scroll up for all of it."
    )


def _most(terms: dict[str, Any]) -> str:
    return f", at most {terms['answers']} times" if terms.get("answers") else ""


def _changes(terms: dict[str, Any]) -> str:
    return "1 change" if terms.get("changes") == 1 else f"{terms.get('changes')} changes"


def _period(terms: dict[str, Any]) -> str:
    every = terms.get("every")
    return f"{terms.get('days')} days" if every is None else f"each {every}"


def printable(text: str) -> str:
    """Return a text without characters that move the cursor, hide letters or turn their direction."""
    return "".join(letter if letter.isprintable() else "�" for letter in text.replace("\n", " "))


def in_language(given: Any, terms: dict[str, Any]) -> Any:
    """Return a campaign's words in the language of this computer, else in its first one; None without any."""
    if not given:
        return None
    return given.get(pick(terms.get("languages", ()) or list(given), own_languages()))


def describe(question: Question, stated: dict[str, Any], names: Any = None) -> str:
    """Return the possible answers in words: by the terms of the campaign, with the names for people."""
    domain = json.loads(question.device)["domain"]
    kind, labels = domain["kind"], names or question.labels
    own = question.labels or ()
    if kind == "categories":
        listed = [str(name) for name, label in zip(labels or (), own, strict=False) if label is not None]
        none = ", or no answer" if None in own else ""
        return f"one of {', '.join(listed) or _numbered(domain)}{none}"
    if kind == "several":
        listed = [str(name) for name in labels or ()]
        return f"any of {', '.join(listed) or _numbered(domain)}, of which {domain['most']} are reported"
    if kind == "optional":
        return f"{_number(domain['of'], stated)}, or no answer"
    if kind in ("interval", "circle"):
        return _number(domain, stated)
    if kind == "box":
        sides = [f"{name} from {low:g} to {high:g}" for name, low, high in domain["sides"]]
        return f"together {', '.join(sides)}"
    if kind == "profile":
        return f"together {', '.join(str(name) for name, _ in domain['attributes'])}"
    return "a place"


def _numbered(domain: dict[str, Any]) -> str:
    return f"0 … {domain['count'] - 1}"


def _number(domain: dict[str, Any], stated: dict[str, Any]) -> str:
    form, unit = stated.get("form"), stated.get("unit")
    if form == "time":
        return "a time of the day"
    if domain["kind"] == "circle":
        return f"an angle, of {domain['period']:g}{f' {unit}' if unit else ''}"
    low, high = (
        (stated["scale"][at] for at in (0, -1)) if "scale" in stated else (domain["low"], domain["high"])
    )
    if form == "date":
        return f"a day from {_day(low)} to {_day(high)}"
    return f"a number from {low:g} to {high:g}{f' {unit}' if unit else ''}"


def _day(number: float) -> str:
    from datetime import date, timedelta

    return str(date(1970, 1, 1) + timedelta(days=int(number)))


def scrolls(text: str) -> bool:
    """Return whether a text has more lines than the terminal that it is printed to."""
    try:
        lines = os.get_terminal_size(sys.stderr.fileno()).lines or _LINES
    except (AttributeError, OSError, ValueError):
        lines = _LINES
    return text.count("\n") + 2 > lines


def forget_input() -> Callable[[], str]:
    """Drop earlier input, because it is not an answer; return a function that reads the next line."""
    try:
        number = sys.stdin.fileno()
        from termios import TCIFLUSH, tcflush

        tcflush(number, TCIFLUSH)
    except ImportError:
        _flush_console()
        return sys.stdin.readline
    except (AttributeError, OSError, ValueError):  # no terminal of the system
        return sys.stdin.readline

    def read() -> str:  # a new stream: the old one may hold earlier input
        with open(os.dup(number), encoding="utf-8", errors="replace") as stream:
            return stream.readline()

    return read


def _flush_console() -> None:
    """Forget earlier input, on Windows."""
    try:
        from msvcrt import getwch, kbhit  # type: ignore[attr-defined]

        while kbhit():
            getwch()
    except (ImportError, OSError):
        pass
