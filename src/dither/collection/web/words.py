"""Numbers and sentences of the collector's page, with one format for a value and its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

from dither.advice.explain import caution
from dither.collection.campaign import Campaign
from dither.collection.web.formats import PlainRow
from dither.core.domains.calendar import Calendar
from dither.core.question import Question
from dither.estimation.rounding import AT_LEAST
from dither.foundation.digits import THIN, plain, whole
from dither.foundation.tables import decimals
from dither.privacy import Pure
from dither_device.total import show

_REPEATED: Final = {
    "fresh": "Every further answer to a question is a new report and counts again.",
    "same": "A device sends one report, once, however often it is asked.",
    "per value": "A device sends one report for each value, once; another value is a new report.",
    "once": "A device answers once in every period, on a day that it draws beforehand.",
    "kept change": "A device reports on the changes of a period, at most as many as the campaign states.",
    "present": "The label is drawn once for life; erasing or reinstalling draws another.",
}
_SEEN: Final = (
    "That a device is in use in a period is seen: noise does not hide it. Anyone who links its messages sees "
    "the first one, the installation. Anyone who knows the use of all others can compute its use from the "
    "count."
)


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun: 1 report, 40 000 reports."""
    return f"{whole(number)}{THIN}{noun}{'' if number == 1 else 's'}"


def narrow(text: str) -> str:
    """Return a text with no-break spaces inside numbers and before per cent signs."""
    return re.sub(r"(?<=\d) (?=[%\d])", THIN, text)


def power_of_ten(number: float) -> str:
    """Return a small number such as 10⁻⁹ in superscript digits, others with two digits."""
    power = round(math.log10(number)) if number > 0.0 else 0
    if power > -4 or not math.isclose(number, 10.0**power, rel_tol=1e-6):
        return plain(float(f"{number:.2g}"))
    return f"10{str(power).translate(_RAISED)}"


_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{plain(round(100.0 * share, 1))}{THIN}%"


def is_share(row: PlainRow) -> bool:
    """Return whether a row is a share of the people (written in per cent)."""
    quantity = str(row["quantity"])
    of_answer = row.get("answer") is not None and quantity.startswith(("difference", "change"))
    return (
        of_answer or quantity in ("frequency", "sizes", "answered") or quantity.startswith("share of a bin")
    )


def is_bound(row: PlainRow) -> bool:
    """Return whether a row is one of the two quantiles that enclose most people's values."""
    return bool(row["quantity"] == "bound")


def outside_words(row: PlainRow) -> str:
    """Return the share of people outside, whose values were clipped, its interval first."""
    low, share, high = (percent(row[name]) for name in ("outside low", "outside", "outside high"))
    return f"{low} to {high} of the people are outside (estimate {share})."


def value_text(unit: str | None) -> Callable[[float], str]:
    """Return the format of a value without its unit: a number, a date or a time."""
    calendar = Calendar.of(unit)
    return plain if calendar is None else calendar.text


LOWER: Final = "a lower bound: "  # how the reason of a row begins whose value is one


def is_lower(row: PlainRow) -> bool:
    """Return whether the value of a row is a lower bound, as for an item of thinned sets."""
    return str(row.get("reason") or "").startswith(LOWER)


def row_text(rows: Sequence[PlainRow]) -> Callable[[PlainRow], str]:
    """Return the format of some rows' values with their intervals, all rounded to the same digit.

    The widest interval determines the digit, as in 42 ± 2 % and 10 ± 2 %. If the sides differ by more than a
    tenth, both ends are written. Numbers are in the unit of the question, shares in per cent. Two quantiles
    may have very different sizes, so each has its own digits.
    """
    halves: dict[str | None, list[float]] = {}
    for row in rows:
        own = halves.setdefault(_own_digits(row), [])
        if row.get("low") is not None and row.get("high") is not None and row["high"] > row["low"]:
            half = row["value"] - row["low"] if is_lower(row) else (row["high"] - row["low"]) / 2.0
            own.append((100.0 if is_share(row) else 1.0) * half)
    digits = {name: decimals(max(found)) if found else 2 for name, found in halves.items()}
    if any(map(is_share, rows)):
        digits = {name: max(number, 0) for name, number in digits.items()}

    def text(row: PlainRow) -> str:
        value, low, high = (row[name] for name in ("value", "low", "high"))
        if low is None or high is None:
            return "unknown: the interval has no end"
        positions = digits[_own_digits(row)]
        factor, unit = (100.0, "%") if is_share(row) else (1.0, row["unit"] or "")
        calendar = Calendar.of(unit)
        if calendar is not None:
            return calendar.show(value, low, high)
        if is_bound(row):  # on a scale, the ends have different sizes
            shown, least, most = (plain(float(f"{end:.2g}")) for end in (value, low, high))
            return f"{shown} ({least} to {most}){THIN}{unit}".rstrip(THIN)
        if is_lower(row):
            return f"{AT_LEAST}{THIN}{_decimal(factor * max(low, 0.0), positions)}{THIN}{unit}"
        below, above = value - low, high - value
        if abs(below - above) <= _EVEN * max(abs(below), abs(above)):
            half = _decimal(factor * (high - low) / 2.0, positions)
            shown = f"{_decimal(factor * value, positions)}{THIN}±{THIN}{half}"
        else:
            low, high = (max(low, 0.0), min(high, 1.0)) if is_share(row) else (low, high)
            ends = (_decimal(factor * end, positions) for end in (low, high))
            shown = f"{_decimal(factor * value, positions)} ({' to '.join(ends)})"
        return f"{shown}{THIN}{unit}" if unit else shown

    return text


def _own_digits(row: PlainRow) -> str | None:
    """Return the name of the rows that have the same digits as this one."""
    return str(row["answer"]) if is_bound(row) else None


_EVEN: Final = 0.1  # largest relative difference of two sides that are written as ±


def _decimal(number: float, places: int) -> str:
    """Return a number with its decimals, a minus sign and groups of digits."""
    text = f"{round(number, places) + 0.0:,.{max(places, 0)}f}"
    return text.replace(",", THIN).replace("-", "−")


def bounds(row: PlainRow) -> str:
    """Return the ends of an interval: 47 to 56 minutes."""
    low, high = row["low"], row["high"]
    if low is None or high is None:
        return "anything"
    if Calendar.of(row["unit"]) is not None:
        return " to ".join(map(value_text(row["unit"]), (low, high)))
    factor, unit = (100.0, "%") if is_share(row) else (1.0, row["unit"])
    if is_share(row):
        low, high = max(low, 0.0), min(high, 1.0)
    digits = 1 - math.floor(math.log10(max(factor * (high - low), 1e-12)))
    ends = " to ".join(_decimal(factor * end, digits) for end in (low, high))
    return f"{ends}{THIN}{unit}" if unit else ends


_CLEAR: Final = 0.2  # the half-width, as a share of the domain, of an interval without information
_WANTED: Final = 0.05  # the half-width that is proposed instead


def clear_text(
    rows: Sequence[PlainRow], length: float, *, thinned: bool = False
) -> Callable[[PlainRow], str]:
    """Return the format of some rows' values, like `row_text`, unless the intervals are too wide."""
    text = row_text(rows)

    def clear(row: PlainRow) -> str:
        half = _half(row, thinned)
        return UNCLEAR if half is None or half > _CLEAR * length else text(row)

    return clear


UNCLEAR: Final = "not clear yet"


def _half(row: PlainRow, thinned: bool) -> float | None:
    """Return half the width of the interval, for thinned sets its lower part; None if an end is missing.

    More reports do not lower the upper end of an item that devices may have left out.
    """
    if row["low"] is None or row["high"] is None:
        return None
    return float(row["value"] - row["low"] if thinned else (row["high"] - row["low"]) / 2.0)


def more_reports(row: PlainRow, length: float, *, thinned: bool = False) -> str | None:
    """Return the number of further reports needed if an interval is uninformative, else None.

    `length` is the length of the domain, 1 for shares. Half-widths shrink with the root of the number of
    reports.
    """
    half = _half(row, thinned)
    if half is None:
        return "The reports do not say anything yet."
    if half <= _CLEAR * length:
        return None
    missing = row["n"] * ((half / (_WANTED * length)) ** 2 - 1.0)
    digits = 1 - math.floor(math.log10(missing))  # two significant digits
    calendar = Calendar.of(row["unit"])
    unit = row["unit"] or "" if calendar is None else calendar.span
    wanted = percent(_WANTED) if is_share(row) else f"{plain(_WANTED * length)} {unit}".strip()
    count = whole(int(round(missing, digits)))
    return f"Too few reports to say: {bounds(row)}. About {count} more for ± {wanted}."


_BUDGET: Final = re.compile(r"\(ε, δ\) ≤ \(([0-9.e+-]+), ([0-9.e+-]+)\)")


def short_budget(text: str) -> str:
    """Return a text with three digits of each (ε, δ), rounded up: the promise stays true."""

    def shorter(found: re.Match[str]) -> str:
        epsilon, delta = (_above(float(number)) if float(number) else "0" for number in found.groups())
        return f"(ε, δ) ≤ ({epsilon}, {delta})"

    return _BUDGET.sub(shorter, text)


def question_words(question: Question) -> str:
    """Return the text of a question, and the way devices answer it."""
    return f"{question.domain.words()}; randomized on the device by {question.name}"


def promise(contract: Campaign) -> list[str]:
    """Return the promise to a person over the complete campaign, after a warning if one is needed."""
    promised = contract.whole_guarantee
    warning = caution(promised)
    begin = [] if warning is None else [warning]
    present = contract.repeat == "present"
    if present and not contract.questions:
        return ["No question is asked.", _SEEN]
    if not isinstance(promised.bound, Pure):
        return [*begin, f"All answers of a person: {contract.total.words()}.", _REPEATED[contract.repeat]]
    several = len(contract.questions) > 1 or (contract.total.times or 1) > 1
    many = "the label" if present else "all answers" if several else "the answer"
    sends = "sends about it" if present else "sends"
    return [
        *begin,
        f"ε = {show(promised.epsilon)} for {many} of one person. Whatever a device {sends}, it is at most "
        f"{_above(math.exp(min(promised.epsilon, 50.0)))} times (e^ε) as likely with one truth as with any "
        "other.",
        *(f"This assumes that {line}." for line in promised.assumes),
        *([_SEEN] if present else []),
        _REPEATED[contract.repeat],
    ]


def _above(number: float) -> str:
    """Return a number with three digits that is not below the given one: 20.1 of 20.08."""
    if number < 1e-3:
        power = math.floor(math.log10(number) + 1e-9)
        digits = math.ceil(number / 10.0**power * 10.0 - 1e-6) / 10.0
        return power_of_ten(10.0**power) if digits == 1.0 else f"{digits:g}·{power_of_ten(10.0**power)}"
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    rounded = float(f"{math.ceil(number / step * (1.0 - 1e-12)) * step:.3g}")
    return plain(rounded) if rounded < 1000 else whole(int(rounded))
