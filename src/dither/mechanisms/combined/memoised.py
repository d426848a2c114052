"""Memoised: one permanent answer for each value, so that being asked again tells nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.domains import Domain
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

    The report is drawn with random bytes that a keyed function (HMAC-SHA-256) makes of the key, the name of
    the question, the device text and the value, so nothing about values is kept, and after a restart the
    answer is the same again. `name` is the name of the question, public and different for each question that
    a device answers: two questions of one name and one device text would have the same noise. A whole path
    is one value.

    Promise:   that of the mechanism, once for all answers of a person whose value never changes. A value that
               changes is another matter: a report that changes shows that the value did. A promise for one
               location stays one for each location of the path.
    Reports:   those of the mechanism; the collector needs no key.
    Use when:  one question is asked again and again.

    >>> from dither import Interval, Podium
    >>> steps = Memoised(Podium(Interval(0, 100), epsilon=1), Memoised.new_key(), name="steps")
    >>> steps.perturb([40]) == steps.perturb([40])
    True
    """

    mechanism: Mechanism[Any]
    key: bytes = field(repr=False)
    _: KW_ONLY
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidParameter("a mechanism is memoised; build Each or Sampled of memoised ones")
        if not self.mechanism.alone:
            raise InvalidParameter("coins that two people share are dealt once; they cannot be memoised")
        if not isinstance(self.key, bytes) or len(self.key) < _KEY:
            raise InvalidParameter(f"a key is {_KEY} secret bytes, as Memoised.new_key() makes them")
        if not isinstance(self.name, str) or not self.name:
            raise InvalidParameter("a memoised question has a name, such as name='steps'")

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
        """Return the mechanism's promise for all answers, if the value never changes and the key is kept.

        A path has several locations, and each of them spends a budget that is for one location.
        """
        (once,) = inner
        unit = Unit.LOCATION if once.unit is Unit.LOCATION else Unit.PERSON
        return Guarantee(once.bound, unit, tuple(dict.fromkeys((*once.assumes, UNCHANGED, SECRET))))

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return this device's permanent report for each value. The key is all the randomness there is."""
        if source is not None or threads != 1:
            raise InvalidParameter(
                "a permanent answer is drawn by the device's key; leave `source` and `threads` out"
            )
        apart = self.mechanism.separate(values)
        drawn = {
            mark: self.mechanism.perturb(value, source=self._source(mark)).cells
            for mark, value in dict(zip(apart.marks, apart.values, strict=True)).items()
        }
        if not drawn:
            return self.mechanism.perturb(values)
        together = np.concatenate([drawn[mark] for mark in apart.marks])
        return Reports(self.mechanism, together.reshape(apart.shape + together.shape[1:]))

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
        # Each part has its length before it, so that no two questions and values have one context.
        parts = (self.fingerprint.encode(), self.name.encode(), mark)
        sized = (len(part).to_bytes(8, "little") + part for part in parts)
        return Keyed(self.key, b"memoised 2\0" + b"".join(sized))
