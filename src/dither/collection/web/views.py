"""The period that a reader of the page chooses, and the steps of answers over time."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.kept_changes import counts_changes
from dither.collection.presence import counts_presence
from dither.collection.published import Published
from dither.collection.web.answers import versions_of
from dither.collection.web.query import By
from dither.foundation.markup import Markup, element, join_markup

_MOST_DAYS: Final = 31  # largest number of dates in a picture
_MOST_STARTS: Final = 6  # largest number of offered first days
PERIODS: Final = (None, 7, 30, 90)  # days that a reader chooses from; None is all
STEPS: Final = {By.DAY: 1, By.WEEK: 7, By.MONTH: 31}  # days between two dates


@dataclass(frozen=True)
class View:
    """The choices of a reader: the last days or a first day, and the step of answers over time.

    By default the smallest step whose dates fit a picture: days, weeks or months.
    """

    last: int | None = None
    by: By | None = None
    first: datetime.date | None = None

    @classmethod
    def of(cls, terms: Mapping[str, str], starts: Iterable[datetime.date] = ()) -> View:
        """Return the view of a URL's parameters; other parameters are ignored.

        `starts` are the offered first days.
        """
        periods = {str(period): period for period in PERIODS if period}
        steps = {step.value: step for step in STEPS}
        days = {day.isoformat(): day for day in starts}
        last, first = periods.get(terms.get("last", "")), days.get(terms.get("since", ""))
        return cls(last, steps.get(terms.get("by", "")), first if last is None else None)

    @property
    def period(self) -> dict[str, str]:
        """The parameters of a URL that choose the days."""
        if self.last is not None:
            return {"last": str(self.last)}
        return {} if self.first is None else {"since": self.first.isoformat()}

    @property
    def terms(self) -> dict[str, str]:
        """The parameters of this view's URL."""
        return self.period if self.by is None else {**self.period, "by": self.by.value}

    def since(self, today: datetime.date) -> datetime.date | None:
        """Return the first shown day; None for all days."""
        return self.first if self.last is None else today - datetime.timedelta(self.last - 1)

    def step(self, days: int) -> By:
        """Return the period of answers over a number of days."""
        if self.by is not None:
            return self.by
        return next((by for by, step in STEPS.items() if days <= _MOST_DAYS * step), By.MONTH)

    @property
    def query(self) -> str:
        """The parameters as the end of an address."""
        return f"?{urlencode(self.terms)}" if self.terms else ""


USUAL: Final = View()


def has_sections(contract: Campaign) -> bool:
    """Return whether each question has a section with answers over the days of arrival."""
    return not counts_presence(contract) and not counts_changes(contract)


def question_names(published: Published) -> list[str]:
    """Return the names of the questions that have sections."""
    return list(published.contract.questions) if has_sections(published.contract) else []


def step_of(collector: Collector, published: Published, view: View) -> By:
    """Return the period of the page's answers over time: the chosen one, or one that fits."""
    days = {day for name in published.contract.questions for day in collector.live.days(published.id, name)}
    since = view.since(collector.day()) or datetime.date.min
    return view.step(sum(day >= since for day in days))


def starts_of(collector: Collector, published: Published) -> dict[datetime.date, str]:
    """Return the first days that readers may choose, with their names: of versions and of labels.

    A day is offered if reports were shown before it. Labels are often versions of an app.
    """
    live, names = collector.live, question_names(published)
    days = {day for name in names for day in live.days(published.id, name, shown=True)}
    begin = min(days, default=datetime.date.max)
    firsts = {
        each.contract.begins: f"version {each.contract.version}"
        for each in versions_of(published, collector.campaigns.values())
    }
    for label in published.contract.labels:
        own = {day for name in names for day in live.days(published.id, name, label, shown=True)}
        if own:
            firsts.setdefault(min(own), label)
    offered = [(day, words) for day, words in sorted(firsts.items()) if begin < day <= collector.day()]
    return dict(offered[-_MOST_STARTS:])


def picker(published: Published, view: View, by: By, starts: Mapping[datetime.date, str]) -> Markup:
    """Return links to the other periods, and to days, weeks and months."""

    def link(words: str, other: View, chosen: bool) -> Markup:
        address = f"/campaigns/{published.id}{other.query}"
        return element("a", words, href=address, **{"aria-current": "true" if chosen else None})

    periods = [
        link("all days" if last is None else f"last {last} days", chosen, chosen == view)
        for last in PERIODS
        for chosen in [replace(view, last=last, first=None)]
    ]
    periods += [
        link(f"since {words} ({day})", chosen, chosen == view)
        for day, words in starts.items()
        for chosen in [replace(view, last=None, first=day)]
    ]
    steps = [link(f"by {step.value}", replace(view, by=step), step is by) for step in STEPS]
    links = join_markup([join_markup(periods, " · "), join_markup(steps, " · ")], " | ")
    return element("nav", element("p", links, class_="soft"), **{"aria-label": "Period"})
