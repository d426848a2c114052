"""Terms of a contract that are more than one number: the repetition, the phase, the wording of a question."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, Self

from dither.collection.account.budget import Data
from dither.collection.words import MOST_CHARACTERS, check_words
from dither.core.domains import Domain
from dither.core.domains.calendar import Calendar
from dither.core.domains.ranges import scale_edges
from dither.core.question import Question
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.privacy import Guarantee
from dither_device.campaign import take_value
from dither_device.text import Malformed, is_tag

# How often a person may answer. `present` is only for campaigns: a message on the first use in a period.
Repeating = Literal["fresh", "same", "per value", "once", "kept change", "present"]
Form = Literal["date", "time", "installed"]
THOUSAND: Final = 1000
MINUTES: Final = 1440
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, as days since 1970
_MOST_LANGUAGES: Final = 40
_MOST_UNIT: Final = 40
_MOST_EDGES: Final = 257
_MOST_NUMBER: Final = 1e30
_NEAR: Final = 1e-9


def promises(guarantee: Guarantee) -> Data:
    """Return what a person is promised, computed from the integers of the questions."""
    epsilon, delta = (getattr(guarantee.bound, name, None) for name in ("epsilon", "delta"))
    return {"epsilon": epsilon, "delta": delta, "assumptions": list(guarantee.assumes)}


def is_promise(stated: object, computed: Data) -> bool:
    """Return whether a stated promise is the computed one; the last digits may be another version's."""
    if not isinstance(stated, dict) or stated.keys() != computed.keys():
        return False
    return all(_is_near(stated[name], own) for name, own in computed.items())


def _is_near(given: object, own: object) -> bool:
    if not isinstance(own, int | float):
        return bool(type(given) is type(own) and given == own)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return math.isclose(given, own, rel_tol=_NEAR)


def read_day(text: object) -> datetime.date:
    """Return the day of a text such as 2026-05-01; raise ValueError for any other form of it."""
    day = datetime.date.fromisoformat(str(text))
    if day.isoformat() != text:
        raise ValueError("a day is written as 2026-05-01")
    return day


def from_digits(text: object) -> bytes:
    """Return the bytes of lower-case hexadecimal digits; raise ValueError for any other text."""
    data = bytes.fromhex(str(text))
    if data.hex() != text:
        raise ValueError("bytes are written as lower-case hexadecimal digits")
    return data


def check_whole(what: str, number: object, least: int, most: int) -> None:
    """Raise InvalidParameter unless a term is an integer from `least` to `most`."""
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise InvalidParameter(
            f"expected {what} to be an integer from {least} to {most}, got {found(number)}"
        )


def thousandths(what: str, share: object) -> int:
    """Return a share as thousandths, 1 to 999: devices toss their coin in integers."""
    if isinstance(share, int | float) and not isinstance(share, bool) and 0 < share < 1:
        near = round(share * THOUSAND)
        if 1 <= near < THOUSAND and math.isclose(near / THOUSAND, share, rel_tol=_NEAR):
            return near
    raise InvalidParameter(
        f"expected {what} to be a share from 0.001 to 0.999 in thousandths, such as 0.1, got {found(share)}"
    )


def check_languages(languages: Sequence[object]) -> None:
    """Raise InvalidParameter unless these are up to 40 different tags such as de, pt-BR or zh-Hant."""
    fine = all(map(is_tag, languages))
    if not fine or len(set(languages)) != len(languages) or len(languages) > _MOST_LANGUAGES:
        raise InvalidParameter(
            f"expected languages to be up to {_MOST_LANGUAGES} different tags such as 'de', 'pt-BR' or "
            f"'zh-Hant', got {found(languages)}"
        )


@dataclass(frozen=True)
class Phase:
    """One of two campaigns between which devices are divided by a coin that each tosses once.

    `share` is the part of the devices that answer the first campaign. The second one has `follows`, the
    identity of the first: devices that answer that one do not answer this one.
    """

    share: float | None = None
    follows: str | None = None

    def __post_init__(self) -> None:
        if (self.share is None) == (self.follows is None):
            raise InvalidParameter(
                "expected a phase to have either share or follows, the identity of the first campaign; "
                "give one of them"
            )
        if self.share is not None:
            thousandths("the share of a phase", self.share)
        elif not isinstance(self.follows, str) or not re.fullmatch(r"[0-9a-f]{64}", self.follows):
            raise InvalidParameter(
                "expected follows to be the identity of a campaign, 64 hexadecimal digits, got "
                f"{found(self.follows)}"
            )

    def data(self) -> Data:
        """Return the phase as a campaign states it."""
        if self.share is not None:
            return {"share": thousandths("the share of a phase", self.share)}
        return {"follows": self.follows}

    @classmethod
    def read(cls, data: Data) -> Self:
        """Return the phase that `data` wrote."""
        if "share" not in data:
            return cls(**data)
        check_whole("the share of a phase", data["share"], 1, THOUSAND - 1)
        return cls(**{**data, "share": data["share"] / THOUSAND})


@dataclass(frozen=True)
class QuestionTerms:
    """How a question is put to people: its words by language, and how a value becomes the question's.

    `text` and `names` (of the answers, in the order of their labels) are by language. `scale` are the edges
    between which a value is interpolated. `form` says that numbers are days or minutes, or that the labels
    are days of installation. `clipped` says that values outside the domain are moved on purpose; `outside` is
    the share of people outside with its interval.
    """

    text: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scale: tuple[float, ...] = ()
    form: Form | None = None
    clipped: bool = False
    outside: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("text", "names"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise InvalidParameter(
                    f"expected {name} by language, such as {{ en = …, de = … }}, got {found(given)}"
                )
        named = {tag: tuple(names) for tag, names in self.names.items() if isinstance(names, list | tuple)}
        object.__setattr__(self, "text", dict(self.text))
        object.__setattr__(self, "names", {**self.names, **named})

    def data(self) -> Data:
        """Return the terms as a campaign states them, without unused ones."""
        stated = {
            name: getattr(self, name) for name in ("text", "names", "scale", "form", "clipped", "outside")
        }
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in stated.items()}
        return {name: value for name, value in plain.items() if value}

    @classmethod
    def read(cls, data: Data) -> Self:
        """Return the terms that `data` wrote; raise MalformedReport or TypeError for other data."""
        for name, kind in (
            ("text", dict),
            ("names", dict),
            ("scale", list),
            ("form", str),
            ("outside", list),
        ):
            if name in data and (not isinstance(data[name], kind) or not data[name]):
                raise InvalidParameter(f"{name} of a question is written only where it is used, and not so")
        if data.get("clipped", True) is not True:
            raise InvalidParameter("clipped of a question is true, or not written")
        lists: Data = {name: tuple(data[name]) for name in ("scale", "outside") if name in data}
        return cls(**(data | lists))

    def check(self, question: Question, languages: Sequence[str], present: bool) -> None:
        """Raise InvalidParameter unless the terms fit the question and the languages of the campaign."""
        domain = question.domain
        if self.text:
            self._check_tags("text", self.text, languages)
            for words in self.text.values():
                check_words("the text of a question", words, characters=MOST_CHARACTERS)
        if self.names:
            self._check_names(domain, languages)
        interval = domain.line is not None and domain.line.kind == "interval"
        if self.scale:
            self._check_scale(domain if interval else None)
        if self.form is not None:
            self._check_form(domain, present)
        if self.clipped and (not interval or self.scale):
            raise InvalidParameter("expected clipped with an interval without a scale; leave clipped out")
        if self.outside:
            self._check_outside()

    @staticmethod
    def _check_tags(what: str, given: Mapping[str, object], languages: Sequence[str]) -> None:
        if set(given) != set(languages):
            raise InvalidParameter(
                f"expected {what} in the languages of the campaign, "
                f"{', '.join(languages) or 'which states none'}, got {', '.join(given)}"
            )

    def _check_names(self, domain: Domain, languages: Sequence[str]) -> None:
        self._check_tags("names", self.names, languages)
        count = (
            None
            if domain.listed is None or domain.kind not in ("categories", "several")
            else len(domain.listed)
        )
        for names in self.names.values():
            if not isinstance(names, tuple) or len(names) != count:
                raise InvalidParameter(
                    "expected names to be lists with one name for each label, in the order of the labels; "
                    "correct them"
                )
            for name in names:
                check_words("the name of an answer", name, characters=MOST_CHARACTERS)
            if len(set(names)) != len(names):
                raise InvalidParameter(
                    "expected different names of the answers, got one twice; rename one of them"
                )

    def _check_scale(self, domain: Domain | None) -> None:
        edges = self.scale
        fine = all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in edges)
        if not fine or not all(abs(edge) <= _MOST_NUMBER for edge in edges):
            raise InvalidParameter(
                f"expected the edges of a scale to be numbers within ±{_MOST_NUMBER:g}; correct them"
            )
        if not 3 <= len(edges) <= _MOST_EDGES or any(b <= a for a, b in pairwise(edges)):
            raise InvalidParameter(
                f"expected a scale of 3 to {_MOST_EDGES} increasing edges, got {len(edges)} edges; "
                "correct "
                "them"
            )
        line = None if domain is None else domain.line
        if line is None or (line.low, line.high) != (0, len(edges) - 1) or line.step is not None:
            raise InvalidParameter(
                "expected a scale with an interval from 0 to the number of its parts, without a step; "
                "correct the interval"
            )
        if self.form is not None:
            raise InvalidParameter("expected no scale with dates and times; leave it out")

    def _check_form(self, domain: Domain, present: bool) -> None:
        line = domain.line
        if self.form == "installed":
            days = [] if domain.listed is None or domain.kind != "categories" else list(domain.listed.labels)
            if not present or len(days) < 2 or not all(map(_is_day, days)) or days != sorted(days, key=str):
                raise InvalidParameter(
                    'expected installed with repeat = "present" and with labels that are days in '
                    "ascending order; correct the labels, or leave installed out"
                )
            return
        if line is None or (line.unit and not isinstance(line.unit, Calendar)):
            raise InvalidParameter(
                f"expected numbers without a unit for the form {self.form}; leave the unit out"
            )
        if self.form == "time" and (line.kind != "circle" or line.length != MINUTES):
            raise InvalidParameter(f"expected times on a circle of {MINUTES} minutes; correct the domain")
        if self.form == "date":
            ends = line.low, line.high
            integral = all(end == math.floor(end) and FIRST_DAY <= end <= LAST_DAY for end in ends)
            if line.kind != "interval" or not integral:
                raise InvalidParameter(
                    "expected dates as an interval of integer days since 1970; correct the domain"
                )
        elif self.form != "time":
            raise InvalidParameter(
                f"expected the form of a question to be date, time or installed, got {found(self.form)}"
            )

    def declarations(self, question: Question, phase: Phase | None) -> dict[str, object]:
        """Return as what numbers are read: on a scale, clipped, as dates or times.

        Dates of a first phase by `SW` are on a scale. A signed text states the form of dates and times.
        """
        line, edges = question.domain.line, self.scale
        unit = "" if line is None else line.unit
        if self.form in ("date", "time") and not unit:
            unit = Calendar.make(dates=self.form == "date")
        if self.form == "date" and line is not None and question.name == "SW" and phase and phase.share:
            edges = scale_edges({"interval": [line.low, line.high], "scale": "linear"})
        clipped = (self.outside or True) if self.clipped else None
        return {"scale": edges, "clipped_from": clipped, "unit": unit}

    def _check_outside(self) -> None:
        numbers = all(isinstance(part, int | float) and not isinstance(part, bool) for part in self.outside)
        if not self.clipped or not numbers or len(self.outside) != 3:
            raise InvalidParameter(
                "expected outside to be three numbers, a share and its interval, with clipped; correct it, "
                "or leave it out"
            )
        share, low, high = self.outside
        if not 0 <= low <= share <= high <= 1:
            raise InvalidParameter(
                "expected outside to be a share with its interval, 0 ≤ low ≤ share ≤ high ≤ 1; correct it"
            )

    def value(self, given: object, question: Question) -> object:
        """Return the value that the question takes for one that a person gives."""
        if isinstance(given, datetime.datetime):
            given = given.date()
        if isinstance(given, datetime.date):
            given = given.isoformat()
        elif isinstance(given, datetime.time):
            given = f"{given:%H:%M}"
        listed = question.domain.listed
        try:
            return take_value(self.data(), given, () if listed is None else listed.labels)
        except Malformed as error:
            raise OutsideDomain(str(error)) from None


def _is_day(label: object) -> bool:
    try:
        return isinstance(label, str) and bool(read_day(label))
    except ValueError:
        return False


def check_labels(domain: Domain) -> None:
    """Raise InvalidParameter unless all names and labels of a domain that are texts are words."""
    for text in _texts(domain.device()):
        check_words("a label", text, characters=MOST_CHARACTERS)


def _texts(device: Data) -> Iterator[str]:
    """Yield the texts of a domain that people are shown: labels, and names of attributes and sides."""
    yield from (label for label in device.get("labels", ()) if isinstance(label, str))
    for name, categories in device.get("attributes", ()):
        yield name
        yield from _texts(categories)
    yield from (side[0] for side in device.get("sides", ()))


def check_unit(unit: str) -> None:
    """Raise InvalidParameter unless a unit is words of at most 40 characters."""
    if unit:
        check_words("the unit of a question", unit, characters=_MOST_UNIT)


def values_of_present(question: Question) -> int | None:
    """Return how many different reports a question has, if its draw is one that presence may use."""
    draws = ("response", "hadamard", "projective")
    return question.outcomes if question.device()["draw"] in draws else None
