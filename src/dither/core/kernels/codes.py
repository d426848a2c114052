"""Kernels for categories: inputs are codes, the indices of the categories.

Let p be the probability that a report supports its own category, and q that it supports a given other one. In
every protocol the share of reports that support a category has the mean f·p + (1 − f)·q. So all protocols
have the same estimator: f = (share − q)/(p − q) [Wang17, Thm 2].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sized
from fractions import Fraction
from typing import Any, ClassVar, Final, cast

import numpy as np

from dither.core.domains import Categories, Domain
from dither.core.kernels.blocks import FEW, in_threads
from dither.core.kernels.counting import BitSums, HashMatches
from dither.core.kernels.kernel import (
    Kernel,
    pure_certify,
    pure_promise,
    read_no_codebook,
    write_no_codebook,
)
from dither.core.kernels.packing import row_width, unpack_rows
from dither.core.kernels.sets.hashing import Hashing
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Integers, Mask
from dither.foundation.randomness import Source

MOST_LISTED_BITS: Final = 16


class SupportKernel(Kernel):
    """A pure protocol: a report supports some categories, the input's own with a larger probability."""

    read_codebook, write_codebook = read_no_codebook, write_no_codebook

    one_category: ClassVar[bool] = False  # True if a report is a category
    takes: ClassVar[type[Domain]] = Categories

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""

    @abstractmethod
    def holds(self, categories: int) -> bool:
        """Return whether the kernel accepts this number of categories."""

    @abstractmethod
    def support(self, reports: Array, categories: int) -> Array:
        """Return which categories each report supports, along the last axis."""

    def supports(self, counts: Integers, categories: int) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        return counts[:categories]

    @abstractmethod
    def variance(self, frequency: float) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""

    @abstractmethod
    def shared_variance(self, n: int) -> tuple[float, float, float]:
        """Return a, b, c such that a + b·m + c·m² + m(1 − m) is n times the variance of a share.

        m is the mean of the share. All three are 0 if the reports of different people are independent.
        """

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, self.takes) and self.holds(len(cast(Sized, domain)))

    def decode(self, reports: Array, domain: Any, book: Any) -> Array:
        """Return the reported labels, or which categories each report supports, along the last axis."""
        if self.one_category:
            return np.asarray(domain.decode(reports))
        return self.support(reports, len(domain))


def noise_variance(rates: tuple[Fraction, Fraction], frequency: float) -> float:
    """Return [f·p(1−p) + (1−f)·q(1−q)]/(p−q)² [Wang17, Thm 2]; sampling of the people adds f(1−f)."""
    own, other = rates
    p, q = float(own), float(other)
    noise = frequency * p * (1.0 - p) + (1.0 - frequency) * q * (1.0 - q)
    return noise / float(own - other) ** 2


class CodeKernel(SupportKernel):
    """A pure protocol in which the reports of different people are independent."""

    promise, certify = pure_promise, pure_certify

    @abstractmethod
    def write(self, codes: Array, reports: Array, source: Source) -> None:
        """Draw a report for each code and write it to `reports`."""

    few: int = FEW  # for fewer inputs than this, `draw_one` in Python integers is faster than arrays

    def variance(self, frequency: float) -> float:
        return noise_variance(self.rates, frequency)

    def shared_variance(self, n: int) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        if inputs.size < self.few:
            few = self.draw_singly(inputs.reshape(-1).tolist(), source)
            return few.reshape(inputs.shape + self.layout.shape)
        reports = in_threads(lambda size: self.write, inputs.reshape(-1), self.layout, source, threads)
        return reports.reshape(inputs.shape + self.layout.shape)


class BitReports:
    """Reports of `size` packed bits, one for each category; a report supports the categories with a 1."""

    size: int

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of a row of packed bits."""
        return np.dtype((np.uint8, (row_width(self.size),)))

    def holds(self, categories: int) -> bool:
        """Return whether there is one bit for each category."""
        return self.size == categories

    def counting(self, domain: Domain) -> BitSums:
        """Return how often each bit is set."""
        return BitSums(self.size)

    def support(self, reports: Array, categories: int) -> Mask:
        """Return which categories each report supports, along the last axis."""
        return unpack_rows(reports, categories)


def check_listed(size: int) -> None:
    """Raise InvalidParameter if there are too many rows of bits to list the probability of each."""
    if size > MOST_LISTED_BITS:
        raise InvalidParameter(
            f"expected at most {MOST_LISTED_BITS} categories to list exact probabilities, got "
            f"{size}; choose fewer categories"
        )


class BucketReports:
    """Reports that are a public random hash function and a bucket: seed·2^16 + bucket.

    A report supports every category that its hash function maps to its bucket. The seed is independent of
    the input.
    """

    hashing: Hashing

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of a seed and a bucket in one integer."""
        return np.dtype(np.uint64)

    def holds(self, categories: int) -> bool:
        """Return True: any number of categories is hashed."""
        return True

    def check(self, raw: Array) -> Array:
        """Return raw integers as reports; raise MalformedReport if a bucket does not exist."""
        return self.hashing.check(raw)

    def counting(self, domain: Domain) -> HashMatches:
        """Return how many reports support each category."""
        if not isinstance(domain, Categories):
            raise InvalidParameter(
                "expected a list of categories, because hashed reports can be counted only for listed "
                "ones; pass the list"
            )
        return HashMatches(len(domain), self.hashing)

    def support(self, reports: Array, categories: int) -> Array:
        """Return which categories each report supports, along the last axis."""
        drawn, outputs = self.hashing.unpack(reports)
        codes = np.arange(categories)
        supported = self.hashing.bucket(drawn[:, None], codes[None, :]) == outputs[:, None]
        return np.reshape(supported, (*reports.shape, codes.size))
