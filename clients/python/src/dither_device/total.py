"""The total of a campaign: the most that one person reveals, over all questions and all days.

Every text that states it uses `total_of`: `campaign check`, `explain`, the officer's sheet, the card, the
page, the audit, and the question for consent.
"""

from __future__ import annotations

import math

from dither_device.campaign import day_of
from dither_device.question import repeat_bound
from dither_device.rules import SECRET, UNCHANGED
from dither_device.state import epoch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SHOWN = 6  # significant digits of ε


class Total:
    """What one person reveals in a campaign: `epsilon` and `delta`, or None where nothing limits it.

    `each` is the ε of one answer to every question, `times` how often they are answered at most, or None.
    `assumes` are the lines under which it holds. `capped` says that the budget of an account is the limit.
    """

    __slots__ = ("assumes", "capped", "delta", "each", "epsilon", "times")

    def __init__(
        self,
        each: float,
        delta: float,
        times: int | None,
        assumes: tuple[str, ...] = (),
        *,
        epsilon: float | None = None,
        capped: bool = False,
    ) -> None:
        self.each, self.times, self.assumes, self.capped = each, times, assumes, capped
        self.epsilon = repeat_bound(each, times) if epsilon is None and times is not None else epsilon
        self.delta = min(1.0, delta if times is None else repeat_bound(delta, times))

    def within(self, budget: float, epochs: int) -> Total:
        """Return the smaller of this and what an account spends whose budget is new in each epoch.

        Its limit admits 2^−52 of the budget more, and one unit of 2^−64.
        """
        most = repeat_bound(budget * (1.0 + 2.0**-51), epochs)
        if UNCHANGED in self.assumes:  # it is charged once, so that a budget does not limit changes
            return self
        if self.epsilon is not None and self.epsilon <= most:
            return self
        return Total(self.each, self.delta, None, (), epsilon=most, capped=True)

    def words(self) -> str:
        """Return the total in one clause."""
        if self.epsilon is None:
            return (
                f"ε = {show(self.each)} for each answer; no limit over the campaign except the person's own "
                "account"
            )
        text = f"ε = {show(self.epsilon)}"
        if self.delta:
            text += f" and δ = {show(self.delta)}"
        if self.times is not None and self.times > 1:
            text += f" ({self.times} answers of ε = {show(self.each)})"
        if UNCHANGED in self.assumes:
            text += f" if no value changes; ε = {show(self.each)} more for each further value"
        return text


def total_of(terms: Mapping[str, Any], epsilon: float, delta: float = 0.0) -> Total:
    """Return the total of a campaign's terms; `epsilon` and `delta` are of one answer to every question."""
    repeat = terms["repeat"]
    if repeat == "fresh":
        return Total(epsilon, delta, terms.get("answers"))
    if repeat == "per value":
        return Total(epsilon, delta, 1, (UNCHANGED, SECRET))
    if repeat in ("once", "kept change"):
        return Total(epsilon, delta, periods_of(terms))
    return Total(epsilon, delta, 1)  # "same", and the label of "present", which is drawn once


def periods_of(terms: Mapping[str, Any]) -> int:
    """Return how many periods a campaign begins; the last one counts as a complete one."""
    first, last = day_of(terms["begins"]), day_of(terms["ends"])
    every = terms.get("every")
    if every is None:
        return -(-(last - first + 1) // int(terms["days"]))
    if every == "month":
        (year, month), (end, final) = ((int(terms[name][:4]), int(terms[name][5:7])) for name in _ENDS)
        return 12 * (end - year) + final - month + 1
    return int(epoch_of(every, last * 86_400) - epoch_of(every, first * 86_400) + 1)


_ENDS = ("begins", "ends")


def years_of(terms: Mapping[str, Any]) -> int:
    """Return how many calendar years a campaign touches."""
    return int(terms["ends"][:4]) - int(terms["begins"][:4]) + 1


def show(number: float) -> str:
    """Return a number with at most six digits that is not below the given one, without rounding dust."""
    text = f"{number:.{_SHOWN}g}"
    if float(text) < number * (1.0 - 1e-9):
        step = 10.0 ** (math.floor(math.log10(number)) - _SHOWN + 1)
        text = f"{math.ceil(number / step) * step:.{_SHOWN}g}"
    return text


def percent(epsilon: float) -> str:
    """Return how sure the best guess between two equally likely values is at most, rounded up.

    More decimals are shown where fewer would say 100 %.
    """
    share = math.nextafter(1.0 / (1.0 + math.exp(-epsilon)), 1.0)
    for digits in (0, 1, 2):
        shown = math.ceil(10**digits * 100.0 * share) / 10**digits
        if shown < 100.0:
            return f"{shown:.{digits}f} %"
    return "100 %"
