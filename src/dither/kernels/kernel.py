"""The interface of every kernel: what a device runs to turn one input into one report.

Mechanisms, estimators, maps, audits and the wire ask a kernel these questions and never which class it is.
An input is what `Domain.check` returns: a number of a line, a code of a list of categories, two numbers for
a place. A report is an unsigned integer or a short row of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Indices
from dither.domains import Domain
from dither.errors import InvalidParameter, MalformedReport, NotIdentifiable
from dither.kernels.transition import Dense, Operator
from dither.privacy.exact import log_above
from dither.randomness import Source

MOST_LISTED: Final = 1 << 16  # reports whose exact probabilities are listed

_KINDS: Final[dict[str, type[Kernel]]] = {}


class Kernel(ABC):
    """Integers that a device samples by, and the rule that brings an input to them."""

    kind: ClassVar[str]  # the name of the draw in a device text

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def layout(self) -> np.dtype[Any]:
        """One report as numpy lays it out: an unsigned integer, or a row of integers."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """The number of different reports."""

    @abstractmethod
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw a report for each input: an array of the inputs' shape, followed by that of the layout.

        Only the distribution of the reports is promised, not which random bytes make which report.
        """

    @abstractmethod
    def draw_one(self, value: Any, source: Source) -> Any:
        """Draw the report of one input in plain integers: the same distribution as `draw`."""

    @abstractmethod
    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report for one input."""

    @abstractmethod
    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | input) in floats, element by element after broadcasting."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs, from the integers."""

    @property
    @abstractmethod
    def evidence(self) -> str:
        """How the ratio follows from the integers, with the integers."""

    @abstractmethod
    def check(self, raw: Array) -> Array:
        """Return raw whole numbers as reports; raise MalformedReport if a device cannot have sent them."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to draw, as plain data; the mechanism adds the domain."""

    @classmethod
    @abstractmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        """Return the kernel that `device` describes, on a domain."""

    @final
    @property
    def epsilon(self) -> float:
        """The privacy loss of one report, ln(ratio), rounded up."""
        return log_above(self.ratio)

    def chances(self, value: Any) -> Floats:
        """Return the probability of every report for one input, in floats."""
        return np.array([float(chance) for chance in self.probabilities(value)])

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        """Return P(report | input) as an operator: inputs are columns, reports about `rows` rows.

        Where there are more reports than rows, neighbouring ones are grouped so that rows have about equal
        probability: fine where reports fall, coarse elsewhere.
        """
        if self.outcomes > MOST_LISTED:
            raise NotIdentifiable("there are too many different reports to list their probabilities")
        groups = self._groups(rows)
        columns = [self.chances(one) for one in inputs]
        if groups.size < self.outcomes:
            columns = [np.add.reduceat(column, groups) for column in columns]
        return Dense(np.stack(columns, axis=1), groups)

    def _groups(self, rows: int) -> Indices:
        """Return the first report of each of about `rows` groups."""
        if rows >= self.outcomes:
            return np.arange(self.outcomes)
        typical = [self.chances(one) for one in self._typical()]
        below = np.cumsum(sum(typical)) / len(typical)
        return np.unique(np.searchsorted(below, np.arange(rows) / rows, side="right"))

    def _typical(self) -> list[Any]:
        """Return a few inputs, from one end of the domain to the other."""
        raise NotIdentifiable("the reports of this kernel have no order in which to group them")


class CellKernel(Kernel):
    """A kernel whose reports are the whole numbers below `outcomes`."""

    @final
    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype(np.min_scalar_type(self.outcomes - 1))

    @final
    def check(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.layout)


def within(raw: Array, cells: int, dtype: np.dtype[Any]) -> Array:
    """Return raw whole numbers as cells; raise MalformedReport if one is not below `cells`."""
    if raw.size and not (int(raw.min()) >= 0 and int(raw.max()) < cells):
        raise MalformedReport(f"a report is a whole number from 0 to {cells - 1}; one is not")
    return raw.astype(dtype, copy=False)


def read_kernel(device: Mapping[str, Any], domain: Domain) -> Kernel:
    """Return the kernel of a device text's data; raise MalformedReport if it describes none.

    Only kernels whose module was imported are known; a mechanism's module imports its own.
    """
    try:
        kind = _KINDS[device["draw"]]
        return kind.from_device(device, domain)
    except MalformedReport:
        raise
    except InvalidParameter as error:
        raise MalformedReport(f"the device text describes no kernel: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise MalformedReport("the device text describes no kernel of this mechanism") from None
