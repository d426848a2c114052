"""Memoised: one permanent answer for each value, so that being asked again tells nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array
from dither.domains import Categories, Circle, Domain, Plane
from dither.errors import InvalidParameter
from dither.mechanisms.base import Answering, Mechanism
from dither.mechanisms.combined.combinator import Combinator
from dither.privacy import Guarantee, Unit
from dither.randomness import SYSTEM, Keyed, Source
from dither.reports import Reports

_KEY: Final = 32  # bytes
UNCHANGED: Final = "the value never changes"
SECRET: Final = "the device's key stays on the device"


@final
@dataclass(frozen=True)
class Memoised(Answering, Combinator):
    """The same report whenever the same value is asked for again: derived from a device's key, not stored.

    The report is drawn with random bytes that a keyed function (HMAC-SHA-256) makes of the key, the question
    and the value, so nothing about values is kept, and after a restart the answer is the same again.

    Promise:   that of the mechanism, once for all answers of a person whose value never changes. A value that
               changes is another matter: a report that changes shows that the value did.
    Reports:   those of the mechanism; the collector needs no key.
    Use when:  one question is asked again and again.

    >>> from dither import Interval, Podium
    >>> steps = Memoised(Podium(Interval(0, 100), epsilon=1), Memoised.new_key())
    >>> steps.perturb([40]) == steps.perturb([40])
    True
    """

    mechanism: Mechanism[Any]
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidParameter("a mechanism is memoised; build Each or Sampled of memoised ones")
        if not self.mechanism.alone:
            raise InvalidParameter("coins that two people share are dealt once; they cannot be memoised")
        if not isinstance(self.key, bytes) or len(self.key) < _KEY:
            raise InvalidParameter(f"a key is {_KEY} secret bytes, as Memoised.new_key() makes them")

    @staticmethod
    def new_key() -> bytes:
        """Give a new key: made once for each device, kept there, never sent."""
        return SYSTEM.take(_KEY)

    @property
    def domain(self) -> Domain:
        """What the question admits."""
        admits: Domain = self.mechanism.domain
        return admits

    def device(self) -> dict[str, Any]:
        """Return the mechanism's: how often it is asked does not change what one report is."""
        return self.mechanism.device()

    @property
    def plain(self) -> Mechanism[Any]:
        """The mechanism: one memoised answer has its distribution."""
        return self.mechanism

    @cached_property
    def guarantee(self) -> Guarantee:
        """What a person is promised for all their answers together."""
        return self.promise([self.mechanism.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's promise for all answers, if the value never changes and the key is kept."""
        (once,) = inner
        return replace(once, unit=Unit.PERSON, assumes=(*once.assumes, UNCHANGED, SECRET))

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return this device's permanent report for each value. The key is all the randomness there is."""
        if source is not None or threads != 1:
            raise InvalidParameter(
                "a permanent answer is drawn by the device's key; leave `source` and `threads` out"
            )
        marks = _marks(self.domain, values)
        rows = np.asarray(values, dtype=object if _labelled(self.domain) else None)
        shape = marks.shape[:-1]
        rows = rows.reshape(-1, *rows.shape[len(shape) :])
        marks = np.ascontiguousarray(marks).reshape(-1, marks.shape[-1])
        different, first, again = np.unique(marks, axis=0, return_index=True, return_inverse=True)
        cells = [
            self.mechanism.perturb(rows[place : place + 1], source=self._source(mark.tobytes())).cells
            for place, mark in zip(first, different, strict=True)
        ]
        if not cells:
            return self.mechanism.perturb(values)
        together = np.concatenate(cells)[again.reshape(-1)]
        return Reports(self.mechanism, together.reshape(shape + together.shape[1:]))

    def reports(self, raw: object) -> Reports:
        """Read reports that come from outside, as the mechanism does."""
        return self.mechanism.reports(raw)

    def at(self, epsilon: float) -> Memoised:
        """Give the same with another budget: another question, whose answers are independent of these."""
        return replace(self, mechanism=self.mechanism.at(epsilon))

    def describe(self) -> str:
        """Give a paragraph for people."""
        return f"{self.mechanism.describe()} Asked again, a device repeats itself: {self.guarantee}."

    def _source(self, mark: bytes) -> Keyed:
        return Keyed(self.key, b"memoised\0" + self.fingerprint.encode() + b"\0" + mark)


def _marks(domain: Domain, values: object) -> Array:
    """Give a row of numbers for each value, equal where and only where the values are."""
    checked = domain.check(values)
    if isinstance(domain, Categories):
        return np.asarray(checked, dtype="<i8")[..., None]
    if isinstance(domain, Circle):
        checked = domain.wrap(checked)  # a whole turn is no turn
    rows = np.asarray(checked, dtype="<f8") + 0.0  # so that −0 is 0
    return rows if isinstance(domain, Plane) else rows[..., None]


def _labelled(domain: Domain) -> bool:
    return isinstance(domain, Categories) and not isinstance(domain.labels, range)
