"""Calls of a randomiser by an audit: a Python function, or a command of the operating system."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from dither.advice.audits.neighbours import Neighbours
from dither.core.reports import Reports
from dither.errors import InvalidParameter
from dither.foundation.arrays import Array, Integers

_MOST_ERROR: Final = 200  # largest length of a command's error message, in letters


@dataclass(frozen=True)
class Command:
    """A callable that starts a command for every call. It writes a JSON value and reads a report per line.

    Output lines are parsed as JSON if possible, otherwise they are texts. The audit chose the values itself.
    """

    words: tuple[str, ...]
    seconds: float = 600.0  # time limit of one call

    def __str__(self) -> str:
        return " ".join(self.words)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        lines = [json.dumps(_plain(value), allow_nan=False) for value in values]
        try:
            done = subprocess.run(
                self.words,
                input="\n".join(lines) + "\n",
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                timeout=self.seconds,
                check=False,
            )
        except FileNotFoundError:
            raise CommandFailed(
                f"expected a program named {self.words[0]}, got none; check the name and the PATH"
            ) from None
        except OSError as error:
            raise CommandFailed(
                f"expected a command that can be run, but {self.words[0]} cannot: {error.strerror}"
            ) from None
        except subprocess.TimeoutExpired:
            raise CommandFailed(
                f"expected the command {self.words[0]} to take at most {self.seconds:g} s for {len(values)} "
                "values, but it took longer; allow more seconds, or fewer values"
            ) from None
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise CommandFailed(
                f"the command {self.words[0]} ended with exit code {done.returncode}: "
                f"{said[0][:_MOST_ERROR]}; it must write a line for every value"
            )
        return [_read(line) for line in done.stdout.splitlines()]


class CommandFailed(InvalidParameter):
    """The command cannot be run, or fails."""


def _plain(value: object) -> object:
    """Return a value as JSON has it; a set becomes a sorted list."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _read(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line


_BATCH: Final = 1 << 16  # values of one call

Outputs = Array | list[Any]


@dataclass(frozen=True)
class Failed:
    """The report of a value at which the randomiser raised an error: the error's type and messages."""

    error: str
    message: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failed:
        """Return the report of an error, with the errors that caused it, as a traceback shows them."""
        chain: list[BaseException] = []
        cause: BaseException | None = error
        while cause is not None and cause not in chain:
            chain.append(cause)
            cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        messages = (f"{type(link).__name__}: {link} {link.args!r}" for link in chain)
        return cls(type(error).__name__, "; from ".join(messages))


@dataclass(eq=False)
class Calls:
    """A randomiser and the tried inputs, with counts of reports and seconds."""

    randomiser: Callable[[Any], Any]
    neighbours: Neighbours
    each: bool = False  # True if the randomiser takes one value, not an array
    reports: int = 0
    tried: set[int] = field(default_factory=set, repr=False)  # indices of the inputs that were drawn
    seconds: float = 0.0
    message: str = field(default="", repr=False)  # message of the last error

    def draw(self, which: Integers) -> Outputs:
        """Return one report for each of the inputs, given by their indices."""
        begin = time.monotonic()
        parts = [self._some(which[at : at + _BATCH]) for at in range(0, len(which), _BATCH)]
        self.seconds += time.monotonic() - begin
        self.reports += len(which)
        self.tried.update(np.unique(which).tolist())
        return parts[0] if len(parts) == 1 else join(parts)

    def call(self, values: Any) -> Outputs:
        """Return the randomiser's reports for some values, one report per value."""
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
                return [Failed.of(error)]
        # Find the failing input: one call for each input, and one for each value of inputs that fail.
        answers: list[Any] = [None] * len(which)
        for position in np.unique(which):
            here = np.flatnonzero(which == position)
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
    """Return reports as an array or a list; raise WrongCount if their number is not `count`."""
    if isinstance(returned, Reports):
        returned = returned.cells
    elif hasattr(returned, "to_numpy"):  # a series of pandas or Polars
        returned = returned.to_numpy()
    if not isinstance(returned, np.ndarray):
        try:
            returned = list(returned)
        except TypeError:
            raise WrongCount(
                f"expected one report for each value from the randomiser, got one "
                f"{type(returned).__name__}. If it takes one value at a time, give each=True"
            ) from None
    if returned.shape[:1] != (count,) if isinstance(returned, np.ndarray) else len(returned) != count:
        raise WrongCount(
            f"expected one report for each value from the randomiser, got "
            f"{len(returned) if np.ndim(returned) or isinstance(returned, list) else 1} for {count}. "
            "If it takes one value at a time, give each=True"
        )
    kept: Outputs = returned
    return _with_mask(kept) if isinstance(kept, np.ma.MaskedArray) else kept


def _with_mask(array: Array) -> Array:
    """Return a masked array as records of the data, also behind the mask, and of the mask."""
    shape = array.shape[1:]
    records = np.zeros(len(array), dtype=[("data", array.dtype, shape), ("mask", np.bool_, shape)])
    records["data"], records["mask"] = np.ma.getdata(array), np.ma.getmaskarray(array)
    return records


def join(parts: list[Outputs]) -> Outputs:
    """Return reports of several calls one after the other."""
    first = parts[0]
    if isinstance(first, np.ndarray) and all(
        isinstance(part, np.ndarray) and part.dtype == first.dtype and part.shape[1:] == first.shape[1:]
        for part in parts
    ):
        return np.concatenate(parts)
    return [item for part in parts for item in part]


def pick(outputs: Outputs, mask: Array) -> Outputs:
    """Return the reports that a mask marks."""
    if isinstance(outputs, np.ndarray):
        return outputs[mask]
    return [outputs[at] for at in np.flatnonzero(mask)]
