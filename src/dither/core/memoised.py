"""Memoised: one permanent answer for each value, so that repeated questions reveal nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from dither.core.combinator import Combinator
from dither.core.question import Question, as_question
from dither.core.repetition import AskedAgain
from dither.core.reports import Reports
from dither.errors import InvalidParameter
from dither.foundation.randomness import SYSTEM, Keyed, Source
from dither.privacy import Guarantee, Unit
from dither.privacy.guarantee import UNCHANGED

if TYPE_CHECKING:
    from dither.core.question.base import Asks

_KEY: Final = 32  # bytes
_LISTED: Final = 1 << 17  # reports
SECRET: Final = "the device's key stays on the device"


def check_key(key: object) -> None:
    """Raise InvalidParameter unless a key has 32 bytes. HMAC pads shorter keys with zeros."""
    if not isinstance(key, bytes) or len(key) != _KEY:
        raise InvalidParameter(f"a key must be {_KEY} secret bytes, as dt.Memoised.new_key() returns")


@dataclass(frozen=True)
class Memoised(AskedAgain):
    """The same report whenever the same value is reported again: derived from a device's key, not stored.

    The randomness of the report is an HMAC-SHA-256 of the key, the name of the question, the device text and
    the value. So nothing about values is stored, and the answer is the same after a restart. `name` is the
    public name of the question. It must be different for each question that a device answers, because two
    questions with the same name and device text would have the same noise. A complete path is one value.

    Promise:   the mechanism's, once for all answers of a person whose value never changes. If the value
               changes, nothing is promised: `guarantee.if_changing` says why, and `change_proved` how often a
               changed report proves it. A guarantee for one location remains one for each location of a path.
    Reports:   the mechanism's; the collector needs no key.
    Use when:  one question is repeated, and its value never changes. Otherwise use `dt.Once`.

    >>> from dither import Interval, Podium
    >>> steps = Memoised(Podium(Interval(0, 100), epsilon=1), Memoised.new_key(), name="steps")
    >>> steps.perturb([40]) == steps.perturb([40])
    True
    """

    question: Question
    key: bytes = field(repr=False)
    _: KW_ONLY
    name: str

    if TYPE_CHECKING:  # a mechanism is as good as its question

        def __init__(self, question: Question | Asks, key: bytes, *, name: str) -> None: ...

    def __post_init__(self) -> None:
        given: object = self.question
        if isinstance(given, Combinator):
            raise InvalidParameter(
                f"expected a mechanism for Memoised, got {type(given).__name__}; memoise the parts "
                "of Each and Sampled instead"
            )
        object.__setattr__(self, "question", as_question(given))
        if not self.question.alone:
            raise InvalidParameter(
                f"expected a mechanism with independent coins, but {self.question.name} correlates "
                "the coins of two people; memoise another mechanism"
            )
        check_key(self.key)
        if not isinstance(self.name, str) or not self.name:
            raise InvalidParameter("expected a name for a memoised question; pass one, such as name='steps'")

    @staticmethod
    def new_key() -> bytes:
        """Return a new random key. Make one for each device, keep it there and never send it."""
        return SYSTEM.take(_KEY)

    @property
    def plain(self) -> Question:
        """The mechanism; it has the distribution of one memoised answer."""
        return self.question

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person for all of their answers together."""
        return self.promise([self.question.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the mechanism's guarantee for all answers, assuming a constant value and a secret key.

        A guarantee for one location remains one: each location of a path spends it.
        """
        (once,) = inner
        unit: Unit = "location" if once.unit == "location" else "person"
        return Guarantee(once.bound, unit, tuple(dict.fromkeys((*once.assumes, UNCHANGED, SECRET))))

    def change_proved(self, before: object, after: object) -> float:
        """Return the probability that the reports of two values differ; a difference proves the change.

        Permanent answers of different values are independent: 1 − Σ P(report | before)·P(report | after).

        >>> from dither import KRR, Categories
        >>> smokes = Memoised(KRR(Categories(["yes", "no"]), epsilon=1), Memoised.new_key(), name="smokes")
        >>> round(smokes.change_proved("no", "yes"), 3)
        0.607
        """
        apart = self.question.separate([before, after])
        if apart.marks[0] == apart.marks[1]:
            return 0.0
        kernel = self.question.kernel
        inputs = self.question.domain.check([before, after])
        laws = [kernel.probabilities(value) for value in inputs] if kernel.outcomes <= _LISTED else []
        if not laws or len(laws[0]) != kernel.outcomes:  # a public seed: the probabilities are for one
            raise InvalidParameter(
                "expected a mechanism with at most 2^17 different reports; choose fewer categories"
            )
        return float(1 - sum(p * other for p, other in zip(*laws, strict=True)))

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return this device's permanent report for each value. All randomness comes from the key."""
        if source is not None or threads != 1:
            raise InvalidParameter(
                "expected no `source` and no `threads`, because permanent answers are drawn only "
                "from the key; leave them out"
            )
        apart = self.question.separate(values)
        drawn = {
            mark: self.question.perturb(value, source=self._source(mark)).cells
            for mark, value in dict(zip(apart.marks, apart.values, strict=True)).items()
        }
        if not drawn:
            return self.question.perturb(values)
        together = np.concatenate([drawn[mark] for mark in apart.marks])
        return self.question.reports(together.reshape(apart.shape + together.shape[1:]))

    def mark(self, value: object) -> str:
        """Return 16 bytes as hexadecimal text that identify a value. Computing them needs the key."""
        (mark,) = self.question.separate(value).marks
        return self._source(mark, b"told 1\0").take(16).hex()

    def reports(self, raw: object) -> Reports:
        """Return raw integers as reports, as the mechanism does."""
        return self.question.reports(raw)

    def at(self, epsilon: float) -> Memoised:
        """Return the same combinator with another budget; its answers are independent of the present ones."""
        return replace(self, question=self.question.at(epsilon))

    def describe(self) -> str:
        """Return a description in words: the mechanism and the guarantee."""
        return f"{self.question.describe()} Asked again, a device repeats its report: {self.guarantee}."

    def _source(self, mark: bytes, purpose: bytes = b"memoised 2\0") -> Keyed:
        # Each part is preceded by its length, so that different questions or values have different contexts.
        parts = (self.fingerprint.encode(), self.name.encode(), mark)
        sized = (len(part).to_bytes(8, "little") + part for part in parts)
        return Keyed(self.key, purpose + b"".join(sized))
