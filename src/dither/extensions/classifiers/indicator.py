"""The privacy indicator of [Thesis, Sec. 7.4.2]: with probability δ the raw record is sent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from dither.core.combinator import Combinator
from dither.core.domains import Line, finite
from dither.core.memoised import Memoised
from dither.core.question import Answering, as_answering, can_answer, plain_of
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Array
from dither.foundation.canonical import hexadecimal
from dither.foundation.randomness import SYSTEM, Source
from dither.mechanisms.combined import Attributes
from dither.privacy import Approximate, Guarantee, Pure

_TOTAL: Final = 1 << 62


class RawRelease(UserWarning):
    """The warning that with probability δ a raw value leaves the device."""


@dataclass(frozen=True)
class Indicator(Answering, Combinator):
    """The mechanism with probability 1 − δ, and with probability δ the raw record.

    Promise:   (ε, δ). [Thesis, Thm 17] claims more: a loss of at most ε with probability 1 − δ. That is false
               for discrete mechanisms, as all of ours are: a report equal to the value is too likely. One
               coin for a complete record costs one δ; a coin for each of d features costs 1 − (1 − δ)^d.
    Reports:   a row of numbers for each person, randomised or raw.
    Use when:  the dissertation's figures are reproduced. Of n people about δ·n send their raw record.
    Reference: [Thesis, Sec. 7.4.2].
    """

    mechanism: Any  # a mechanism, or Each of several
    _: KW_ONLY
    delta: float
    allow_raw_release: bool = False

    def __post_init__(self) -> None:
        _check(self.mechanism)
        if not 0.0 < finite("δ", self.delta) < 1.0:
            raise InvalidParameter(
                f"expected δ, the probability of a raw record, between 0 and 1, got {found(self.delta)}"
            )
        if self.allow_raw_release is not True:
            raise InvalidParameter(
                "expected allow_raw_release=True, because an Indicator sends raw records; pass it if this "
                "is intended"
            )
        if not isinstance(self.mechanism.guarantee.bound, Pure):
            raise InvalidParameter(
                "expected a mechanism with a pure guarantee for an Indicator, got "
                f"{self.mechanism.guarantee.bound}; choose another one"
            )
        warnings.warn(
            f"one of every {round(1.0 / self.delta)} people sends the raw record, and on a continuous "
            "domain its digits may identify it; reduce δ, or use the mechanism alone",
            RawRelease,
            stacklevel=3,
        )

    @cached_property
    def _heads(self) -> int:
        return max(1, round(self.delta * _TOTAL))

    @property
    def raw_share(self) -> float:
        """The probability that the raw record is sent: δ as sampled, a multiple of 2^−62."""
        return self._heads / _TOTAL

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who sends one record once."""
        return self.promise([self.mechanism.guarantee])

    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return (ε, δ) from a pure ε, since P(S | x) ≤ (1 − δ)·e^ε·M(S | x′) + δ."""
        (own,) = inner
        return replace(own, bound=Approximate(own.epsilon, float(np.nextafter(self.raw_share, 1.0))))

    def device(self) -> dict[str, Any]:
        question = as_answering(self.mechanism)
        return {"draw": "indicator", "heads": hexadecimal(self._heads), "one": question.device()}

    def describe(self) -> str:
        """Return a description in words: the mechanism, δ and the guarantee."""
        share = f"With probability {self.delta:g} the raw record is sent."
        return f"{self.mechanism.describe()} {share} Promise: {self.guarantee}."

    def at(self, epsilon: float) -> Indicator:
        """Return the same combinator with another budget, without a second warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RawRelease)
            return replace(self, mechanism=self.mechanism.at(epsilon))

    def perturb(self, values: Any, *, source: Source | None = None) -> Array:
        """Return one row for each person: a randomised record or, with probability δ, the raw one."""
        stream = SYSTEM if source is None else source
        rows = np.atleast_2d(np.asarray(values))
        sent = self._randomise(rows, stream)
        raw = stream.coins(self._heads, _TOTAL, len(rows))
        return np.where(raw[:, None], rows, sent)

    def _randomise(self, rows: Array, source: Source) -> Array:
        if isinstance(self.mechanism, Attributes):
            records = self.mechanism.perturb(rows, source=source)
            return np.stack([records[name].values for name in self.mechanism.parts], axis=-1)
        drawn = self.mechanism.perturb(rows.reshape(-1), source=source).values
        return np.asarray(drawn).reshape(rows.shape)


def _check(mechanism: object) -> None:
    """Raise InvalidParameter unless reports and raw values are single numbers and can replace each other."""
    if isinstance(mechanism, Attributes) and mechanism.whole_records:
        parts = tuple(mechanism.parts.values())
    elif can_answer(mechanism) and not isinstance(mechanism, Attributes):
        parts = (mechanism,)
    else:
        raise InvalidParameter(
            "expected a mechanism, or dt.Each of several, for an Indicator, got "
            f"{type(mechanism).__name__}; pass one"
        )
    for part in parts:
        if isinstance(part, Memoised):
            raise InvalidParameter(
                "expected a mechanism without dt.Memoised, because repeated answers would eventually send "
                "the raw record; apply the Indicator to the mechanism itself"
            )
        plain = plain_of(part)
        if not isinstance(getattr(plain, "domain", None), Line) and not getattr(plain, "one_category", False):
            raise InvalidParameter(
                "expected mechanisms of one number, or randomized response, for an Indicator, got "
                f"{type(plain).__name__}; choose another one"
            )
