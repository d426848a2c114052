"""The interface of kernels: what a device runs to turn an input into a report.

Mechanisms, estimators, maps, audits and the wire use only this interface. An input is what `Domain.check`
returns: a number, the code of a category, or two numbers for a place. A report is an integer or a short row
of integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
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
    """The integers from which a device samples, and the rule that maps an input to them."""

    kind: ClassVar[str]  # the name of the draw in a device text

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def layout(self) -> np.dtype[Any]:
        """The dtype of one report: an integer, or a row of integers."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """The number of different reports."""

    @abstractmethod
    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        """Draw a report for each input; the shape is that of the inputs, followed by that of the layout.

        Only the distribution of the reports is specified, not which random bytes lead to which report.
        """

    @abstractmethod
    def draw_one(self, value: Any, source: Source) -> Any:
        """Draw the report of one input, in Python integers; it has the same distribution as `draw`.

        Which random bytes are taken, in which order, is fixed by docs/wire.md for every kernel.
        """

    @final
    def draw_singly(self, inputs: Iterable[Any], source: Source) -> Array:
        """Draw a row of reports by `draw_one`, one input after the other, as devices do."""
        told = [self.draw_one(one, source) for one in inputs]
        reports = np.empty(len(told), dtype=self.layout)
        for index, one in enumerate(told):
            reports[index] = np.frombuffer(one, dtype=np.uint8) if isinstance(one, bytes) else one
        return reports

    @abstractmethod
    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report for one input."""

    @abstractmethod
    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        """Return P(report | input) in floats, element by element after broadcasting."""

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two inputs, exactly."""

    @property
    @abstractmethod
    def evidence(self) -> str:
        """A text that states how the ratio follows from the integers."""

    @abstractmethod
    def check(self, raw: Array) -> Array:
        """Return raw integers as reports; raise MalformedReport if no device could have sent them."""

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to draw, as JSON-compatible data, without the domain."""

    @classmethod
    @abstractmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        """Return the kernel that `device` describes, on a domain."""

    @property
    def blanket(self) -> Fraction | None:
        """The mass of a measure below the probabilities under every input; None where it is not known.

        With this probability a report is drawn from one and the same law, whatever the input.
        """
        return None

    @final
    @property
    def epsilon(self) -> float:
        """The privacy loss of one report, ln(ratio), rounded up."""
        return log_above(self.ratio)

    def chances(self, value: Any) -> Floats:
        """Return the probability of every report for one input, in floats."""
        return np.array([float(chance) for chance in self.probabilities(value)])

    def likelihood(self, inputs: Array, rows: int) -> Operator:
        """Return P(report | input) as an operator: columns are inputs, about `rows` rows are reports.

        If there are more reports than rows, neighbouring reports are grouped into rows of about equal
        probability.
        """
        if self.outcomes > MOST_LISTED:
            raise NotIdentifiable(
                f"the probabilities of {self.outcomes} reports are too many to list; choose fewer cells"
            )
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
        """Return a few inputs that cover the domain."""
        raise NotIdentifiable("the reports of this kernel have no order by which they could be grouped")


class CellKernel(Kernel):
    """A kernel whose reports are the integers below `outcomes`."""

    @final
    @property
    def layout(self) -> np.dtype[Any]:
        return np.dtype(np.min_scalar_type(self.outcomes - 1))

    @final
    def check(self, raw: Array) -> Array:
        return within(raw, self.outcomes, self.layout)


def within(raw: Array, cells: int, dtype: np.dtype[Any]) -> Array:
    """Return raw integers as cells; raise MalformedReport if one is not from 0 to cells − 1."""
    if raw.size and not (int(raw.min()) >= 0 and int(raw.max()) < cells):
        raise MalformedReport(f"a report is a whole number from 0 to {cells - 1}; one is not")
    return raw.astype(dtype, copy=False)


def read_kernel(device: Mapping[str, Any], domain: Domain) -> Kernel:
    """Return the kernel of a device text's data; raise MalformedReport if they describe none.

    A kernel is known once its module was imported. The module of a mechanism imports its kernels.
    """
    try:
        kind = _KINDS[device["draw"]]
        return kind.from_device(device, domain)
    except MalformedReport:
        raise
    except InvalidParameter as error:
        raise MalformedReport(f"the kernel in the device text is not valid: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise MalformedReport("the device text does not describe a kernel of this mechanism") from None
