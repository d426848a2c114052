"""Calls of a randomiser. An error that it raises counts as a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Integers
from dither.audits.black_box.command import CommandFailed
from dither.audits.neighbours import Neighbours
from dither.errors import InvalidParameter
from dither.reports import Reports

_BATCH: Final = 1 << 16  # values of one call

Outputs = Array | list[Any]


@final
@dataclass(frozen=True)
class Failed:
    """The report of a value at which the randomiser raised an error."""

    error: str


@final
@dataclass(eq=False)
class Calls:
    """A randomiser with the inputs it is tried on. Counts the reports and the seconds they took."""

    randomiser: Callable[[Any], Any]
    neighbours: Neighbours
    each: bool = False  # whether the randomiser takes one value, not an array of them
    reports: int = 0
    seconds: float = 0.0
    message: str = field(default="", repr=False)  # of the last error

    def draw(self, which: Integers) -> Outputs:
        """Return one report for each of the inputs, given by their places."""
        begin = time.monotonic()
        parts = [self._some(which[at : at + _BATCH]) for at in range(0, len(which), _BATCH)]
        self.seconds += time.monotonic() - begin
        self.reports += len(which)
        return parts[0] if len(parts) == 1 else joined(parts)

    def call(self, values: Any) -> Outputs:
        """Return what the randomiser returns for some values, as many reports as values."""
        if self.each:
            return [self.randomiser(value) for value in values]
        returned = self.randomiser(values)
        return as_outputs(returned, len(values))

    def _some(self, which: Integers) -> Outputs:
        try:
            return self.call(self.neighbours.pack(which))
        except (WrongCount, CommandFailed):
            raise
        except Exception as error:
            self.message = f"{type(error).__name__}: {error}"
        if len(which) == 1:
            return [Failed(self.message.partition(":")[0])]
        # Which input was it? One call for each input, and one for each value of those that fail.
        answers: list[Any] = [None] * len(which)
        for place in np.unique(which):
            here = np.flatnonzero(which == place)
            if len(here) == len(which):
                found = [self._some(which[:1])[0] for _ in here]
            else:
                found = list(self._some(which[here]))
            for at, answer in zip(here.tolist(), found, strict=True):
                answers[at] = answer
        return answers


class WrongCount(InvalidParameter):
    """The randomiser returned more or fewer reports than it was given values."""


def as_outputs(returned: Any, count: int) -> Outputs:
    """Return reports as an array or a list of so many; raise WrongCount if there are more or fewer."""
    if isinstance(returned, Reports):
        returned = returned.cells
    elif hasattr(returned, "to_numpy"):  # a series of pandas or Polars
        returned = returned.to_numpy()
    if not isinstance(returned, np.ndarray):
        try:
            returned = list(returned)
        except TypeError:
            raise WrongCount(
                f"a randomiser returns as many reports as it is given values; it returned one "
                f"{type(returned).__name__}. If it takes one value at a time, give each=True"
            ) from None
    if returned.shape[:1] != (count,) if isinstance(returned, np.ndarray) else len(returned) != count:
        raise WrongCount(
            f"a randomiser returns as many reports as it is given values; it returned "
            f"{len(returned) if np.ndim(returned) or isinstance(returned, list) else 1} for {count}. "
            "If it takes one value at a time, give each=True"
        )
    kept: Outputs = returned
    return kept


def joined(parts: list[Outputs]) -> Outputs:
    """Return reports of several calls one after the other."""
    first = parts[0]
    if isinstance(first, np.ndarray) and all(
        isinstance(part, np.ndarray) and part.dtype == first.dtype and part.shape[1:] == first.shape[1:]
        for part in parts
    ):
        return np.concatenate(parts)
    return [one for part in parts for one in part]


def picked(outputs: Outputs, mask: Array) -> Outputs:
    """Return the reports that a mask marks."""
    if isinstance(outputs, np.ndarray):
        return outputs[mask]
    return [outputs[at] for at in np.flatnonzero(mask)]
