"""Numbers and sentences of the page. Narrow no-break spaces group digits, so that no number breaks."""

from __future__ import annotations

import math
import re
from typing import Final

from dither.account.asking import Repeat
from dither.domains import Categories, Circle, Interval
from dither.estimation.estimate import show_interval
from dither.privacy import Pure
from dither.question import Question
from dither.service.answers.rows import PlainRow
from dither.service.contract import Contract

THIN: Final = "\u202f"

_REPEATED: Final = {
    Repeat.FRESH: "Every further answer to a question is a new report and counts again.",
    Repeat.SAME: "A device sends one report, once, however often it is asked.",
    Repeat.PER_VALUE: "A device sends one report for each value, once; another value is a new report.",
    Repeat.ONCE: "A device answers once in every period, on a day that it draws beforehand.",
}


def whole(number: int) -> str:
    """Return a whole number in groups of three digits: 40 000."""
    return f"{number:,}".replace(",", THIN)


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 report, 40 000 reports."""
    return f"{whole(number)}{THIN}{noun}{'' if number == 1 else 's'}"


def narrow(text: str) -> str:
    """Return a text in which no number is parted from its per cent sign, or from its other digits."""
    return re.sub(r"(?<=\d) (?=[%\d])", THIN, text)


def plain(number: float) -> str:
    """Return a number of an axis with a minus sign and grouped digits."""
    text = f"{number:,.6g}" if abs(number) < 1e6 else f"{number:.3g}"
    return text.replace(",", THIN).replace("-", "−")


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{plain(round(100.0 * share, 1))}{THIN}%"


def with_interval(row: PlainRow) -> str:
    """Return the value of a row with its interval, in the unit of the question, or in per cent."""
    value, low, high = (row[name] for name in ("value", "low", "high"))
    if low is None or high is None:
        return "unknown: the interval has no end"
    factor, unit = (100.0, "%") if _is_share(row) else (1.0, row["unit"] or "")
    text = show_interval(factor * value, factor * low, factor * high).replace("-", "−").replace(" ", THIN)
    return f"{text}{THIN}{unit}" if unit else text


def bounds(row: PlainRow) -> str:
    """Return the ends of an interval: 47 to 56 minutes."""
    low, high = row["low"], row["high"]
    if low is None or high is None:
        return "anything"
    if _is_share(row):
        return f"{percent(max(low, 0.0))} to {percent(min(high, 1.0))}"
    digits = 1 - math.floor(math.log10(max(high - low, 1e-12)))
    ends = f"{plain(round(low, digits))} to {plain(round(high, digits))}"
    return f"{ends}{THIN}{row['unit']}" if row["unit"] else ends


def _is_share(row: PlainRow) -> bool:
    return row["quantity"] in ("frequency", "share of a bin")


def asked(mechanism: Question) -> str:
    """Return what a question asks, and how devices answer it."""
    domain = mechanism.domain
    if isinstance(domain, Interval):
        unit = f"{THIN}{domain.unit}" if domain.unit else ""
        what = f"a number from {plain(domain.low)} to {plain(domain.high)}{unit}"
    elif isinstance(domain, Circle):
        what = f"a direction on a circle of {plain(domain.length)}"
    elif isinstance(domain, Categories):
        what = f"one of {whole(len(domain))} answers"
    else:
        what = str(domain)
    return f"{what}; devices run {mechanism.name}"


def promise(contract: Contract) -> list[str]:
    """Return what a person who answers all questions once is promised, in sentences."""
    whole_promise = contract.guarantee
    if not isinstance(whole_promise.bound, Pure):
        return [f"All answers of a person together: {whole_promise.bound}.", _REPEATED[contract.repeat]]
    epsilon = whole_promise.epsilon
    many = "the answers" if len(contract.questions) > 1 else "the answer"
    return [
        f"ε = {epsilon:.4g} for {many} of one person. Whatever a device sends, it is at most "
        f"{math.exp(epsilon):.3g} times (e^ε) as likely with one truth as with any other.",
        _REPEATED[contract.repeat],
    ]
