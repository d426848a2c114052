"""The privacy indicator of chapter 7: now and then the raw record is sent. Only for those who insist."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.result import Utility
from dither.classifiers.subject import Randomiser, check_mechanism, draw, parts_of
from dither.domains import finite
from dither.errors import InvalidParameter
from dither.privacy import Approximate, Guarantee, Pure
from dither.randomness import SYSTEM, Source

_TOTAL: Final = 1 << 62


class RawRelease(UserWarning):
    """Raw values leave the device, on purpose: with probability δ nothing at all is hidden."""


@final
@dataclass(frozen=True)
class Indicator:
    """The mechanism with probability 1 − δ, and with probability δ the raw record.

    Promise:   (ε, δ). [Thesis, Thm 17] claims more: a loss of at most ε with probability 1 − δ. That is false
               for discrete mechanisms, as all of ours are: a report equal to the value is too likely. One
               coin for a whole record costs one δ; a coin for each of d features costs 1 − (1 − δ)^d.
    Use when:  the dissertation's figures are reproduced. Of every n people δ·n send their record as it is.
    Reference: [Thesis, Sec. 7.4.2].
    """

    mechanism: Randomiser
    _: KW_ONLY
    delta: float
    allow_raw_release: bool = False

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism)
        if not 0.0 < finite("δ", self.delta) < 1.0:
            raise InvalidParameter("δ is the probability to send the raw record: between 0 and 1")
        if self.allow_raw_release is not True:
            raise InvalidParameter(
                "an indicator sends raw records; if that is what you want, say allow_raw_release=True"
            )
        if not isinstance(self.mechanism.guarantee.bound, Pure):
            raise InvalidParameter("an indicator is put on a mechanism with a pure promise")
        warnings.warn(
            f"of every {round(1.0 / self.delta)} people one sends the raw record; with a continuous domain "
            "anybody recognises it by its digits",
            RawRelease,
            stacklevel=3,
        )

    @cached_property
    def _heads(self) -> int:
        return max(1, round(self.delta * _TOTAL))

    @cached_property
    def guarantee(self) -> Guarantee:
        """P(S | x) ≤ (1 − δ)·e^ε·M(S | x′) + δ: so (ε, δ), for one record sent once."""
        inner = self.mechanism.guarantee
        delta = np.nextafter(self._heads / _TOTAL, 1.0)
        return replace(inner, bound=Approximate(inner.epsilon, float(delta)))

    def at(self, epsilon: float) -> Indicator:
        """Give the same with another budget; it was warned about already."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RawRelease)
            return replace(self, mechanism=self.mechanism.at(epsilon))

    def perturb(self, values: Any, *, source: Source | None = None) -> Floats:
        """Give what people send, one row each: a randomised record, or the raw one."""
        stream = SYSTEM if source is None else source
        rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
        sent = draw(parts_of(self.mechanism, rows.shape[1]), rows, stream)
        raw = stream.coins(self._heads, _TOTAL, len(rows))
        return np.where(raw[:, None], rows, sent)

    def lifted(self, inner: Utility) -> Utility:
        """Give the utility with the indicator from that without it: δ + (1 − δ)·utility."""
        delta = self._heads / _TOTAL
        lower, upper, estimate = (
            delta + (1.0 - delta) * part for part in (inner.lower, inner.upper, inner.estimate)
        )
        record = inner.guarantee or self.mechanism.guarantee
        promise = replace(record, bound=Approximate(record.epsilon, self.guarantee.delta))
        return replace(inner, lower=lower, upper=upper, estimate=estimate, guarantee=promise)
