"""One of several public questions about a row of codes, drawn before the row is looked at, and its answer.

The draw of the question does not see the row, so the loss is that of the answer alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from dither.arrays import Array, Floats, Integers
from dither.device_text import whole
from dither.domains import Categories, Domain
from dither.domains.profile import Profile
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.blocks import FEW, split_rows
from dither.kernels.codes import CodeKernel
from dither.kernels.kernel import MOST_LISTED, Kernel, read_kernel
from dither.randomness import Source

TOTAL: Final = 1 << 32  # of the weights of the questions
MOST_QUESTIONS: Final = 1 << 14
MOST_VALUES: Final = 1 << 21  # entries of all tables together


@final
@dataclass(frozen=True)
class TableQuestion:
    """A function of some attributes: `values` lists it for their codes, the last attribute fastest."""

    attributes: tuple[int, ...]
    values: tuple[int, ...]
    weight: int  # of 2^32: how often the question is drawn
    draw: int  # which of the kernel's draws answers it


@final
@dataclass(frozen=True)
class QuestionsKernel(Kernel):
    """A report is the number of a question and a report of its draw, padded with zeros."""

    sizes: tuple[int, ...]
    questions: tuple[TableQuestion, ...]
    draws: tuple[CodeKernel, ...]

    kind: ClassVar[str] = "questions"

    def __post_init__(self) -> None:
        if not 1 <= len(self.questions) <= MOST_QUESTIONS or not self.draws:
            raise InvalidParameter(f"there are 1 to {MOST_QUESTIONS} questions, and a draw for each")
        if sum(question.weight for question in self.questions) != TOTAL:
            raise InvalidParameter("the weights of the questions sum to 2^32")
        if sum(len(question.values) for question in self.questions) > MOST_VALUES:
            raise InvalidParameter("the tables of the questions are too large")
        for question in self.questions:
            places = question.attributes
            known = bool(places) and all(0 <= place < len(self.sizes) for place in places)
            if not known or len(set(places)) != len(places) or question.weight < 1:
                raise InvalidParameter("a question is about different attributes, and is drawn sometimes")
            if len(question.values) != int(np.prod([self.sizes[place] for place in places])):
                raise InvalidParameter("a question has a value for every combination of its attributes")
            if not 0 <= question.draw < len(self.draws):
                raise InvalidParameter("a question has a draw")
            if min(question.values) < 0 or max(question.values) >= self._inputs(question.draw):
                raise InvalidParameter("the values of a question are inputs of its draw")

    def _inputs(self, draw: int) -> int:
        kernel: Any = self.draws[draw]
        window = getattr(kernel, "window", None)
        return int(window.cells if window is not None else getattr(kernel, "size", kernel.outcomes))

    @cached_property
    def _columns(self) -> int:
        return max(draw.layout.shape[0] if draw.layout.shape else 1 for draw in self.draws)

    @property
    def layout(self) -> np.dtype[Any]:
        largest = max(len(self.questions), *(self._largest(draw) for draw in self.draws)) - 1
        return np.dtype((np.min_scalar_type(largest), (1 + self._columns,)))

    @staticmethod
    def _largest(draw: CodeKernel) -> int:
        return int(getattr(draw, "size", 0)) or draw.outcomes

    @property
    def outcomes(self) -> int:
        return sum(self.draws[question.draw].outcomes for question in self.questions)

    @cached_property
    def ends(self) -> Integers:
        """The ends of the questions' shares of 2^32."""
        return np.array(list(accumulate(question.weight for question in self.questions)), dtype=np.int64)

    @cached_property
    def _tables(self) -> list[Integers]:
        return [np.array(question.values, dtype=np.int64) for question in self.questions]

    def answer(self, place: int, rows: Array) -> Integers:
        """Return the values of a question for rows of codes."""
        question = self.questions[place]
        flat = np.zeros(rows.shape[:-1], dtype=np.int64)
        for attribute in question.attributes:
            flat = flat * self.sizes[attribute] + rows[..., attribute]
        return np.asarray(self._tables[place][flat])

    def draw(self, inputs: Array, source: Source, *, threads: int = 1) -> Array:
        rows = inputs.reshape(-1, len(self.sizes))
        few = len(rows) < FEW
        drawn = self.draw_singly(rows, source) if few else split_rows(self._rows, rows, source, threads)
        return drawn.reshape(*inputs.shape[:-1], 1 + self._columns)

    def _rows(self, rows: Array, source: Source) -> Array:
        words = np.empty(len(rows), dtype="<u4")
        if words.size:
            source.fill(words.data)
        asked = np.searchsorted(self.ends, words.astype(np.int64), side="right")
        out = np.zeros((len(rows), 1 + self._columns), dtype=self.layout.base)
        out[:, 0] = asked
        order = np.argsort(asked, kind="stable")
        cuts = np.searchsorted(asked[order], np.arange(len(self.questions) + 1))
        for place, question in enumerate(self.questions):
            people = order[cuts[place] : cuts[place + 1]]
            if people.size:
                told = self.draws[question.draw].draw(self.answer(place, rows[people]), source)
                told = told.reshape(people.size, -1)
                out[people, 1 : 1 + told.shape[1]] = told
        return out

    def draw_one(self, value: Any, source: Source) -> tuple[int, ...]:
        word = int.from_bytes(source.take(4), "little")
        place = int(np.searchsorted(self.ends, word, side="right"))
        code = int(self.answer(place, np.asarray(value)))
        told = self.draws[self.questions[place].draw].draw_one(code, source)
        row = [place, *(told if isinstance(told, tuple) else (told,))]
        return tuple(row + [0] * (1 + self._columns - len(row)))

    def probabilities(self, value: Any) -> list[Fraction]:
        """Return the exact probability of every report: those of the first question first."""
        if self.outcomes > MOST_LISTED:
            raise InvalidParameter("exact probabilities are listed for up to 2^16 reports")
        found: list[Fraction] = []
        for place, question in enumerate(self.questions):
            code = int(self.answer(place, np.asarray(value)))
            chance = Fraction(question.weight, TOTAL)
            found += [chance * one for one in self.draws[question.draw].probabilities(code)]
        return found

    def likelihoods(self, reports: Array, inputs: Array) -> Floats:
        out = np.empty(np.broadcast_shapes(reports.shape[:-1], np.shape(inputs)[:-1]))
        flat_reports = np.broadcast_to(reports, (*out.shape, reports.shape[-1])).reshape(
            -1, reports.shape[-1]
        )
        flat_inputs = np.broadcast_to(inputs, (*out.shape, len(self.sizes))).reshape(-1, len(self.sizes))
        flat = out.reshape(-1)
        for at, (report, row) in enumerate(zip(flat_reports, flat_inputs, strict=True)):
            question = self.questions[int(report[0])]
            draw = self.draws[question.draw]
            inner = report[1 : 1 + draw.layout.shape[0]] if draw.layout.shape else report[1]
            code = self.answer(int(report[0]), row)
            flat[at] = question.weight / TOTAL * float(draw.likelihoods(np.asarray(inner), np.asarray(code)))
        return flat.reshape(out.shape)

    @property
    def ratio(self) -> Fraction:
        return max(self.draws[question.draw].ratio for question in self.questions)

    @property
    def evidence(self) -> str:
        return (
            f"{len(self.questions)} questions, drawn without the row; the largest: {self.draws[0].evidence}"
        )

    def check(self, raw: Array) -> Array:
        if raw.size == 0:
            return raw.reshape(0, 1 + self._columns).astype(self.layout.base)
        if raw.ndim < 1 or raw.shape[-1] != 1 + self._columns:
            raise MalformedReport(f"a report is a row of {1 + self._columns} numbers")
        rows = raw.reshape(-1, 1 + self._columns)
        if not (int(rows[:, 0].min()) >= 0 and int(rows[:, 0].max()) < len(self.questions)):
            raise MalformedReport(f"a report begins with a question below {len(self.questions)}")
        for place in np.unique(rows[:, 0]).tolist():
            inner = rows[rows[:, 0] == place, 1:]
            draw = self.draws[self.questions[place].draw]
            width = draw.layout.shape[0] if draw.layout.shape else 1
            if inner[:, width:].any():
                raise MalformedReport("numbers after the answer are 0")
            draw.check(inner[:, :width] if draw.layout.shape else inner[:, 0])
        return raw.astype(self.layout.base, copy=False)

    def device(self) -> dict[str, Any]:
        return {
            "draw": self.kind,
            "questions": [
                [list(one.attributes), list(one.values), one.weight, one.draw] for one in self.questions
            ],
            "draws": [draw.device() for draw in self.draws],
        }

    @classmethod
    def from_device(cls, device: Mapping[str, Any], domain: Domain) -> Self:
        if not isinstance(domain, Profile):
            raise MalformedReport("questions are about several attributes")
        draws = []
        for one in device["draws"]:
            draw = read_kernel(one, Categories(2))
            if not isinstance(draw, CodeKernel):
                raise MalformedReport("the answer of a question is drawn from categories")
            draws.append(draw)
        questions = tuple(
            TableQuestion(
                tuple(whole(place) for place in attributes),
                tuple(whole(value) for value in values),
                whole(weight),
                whole(draw),
            )
            for attributes, values, weight, draw in device["questions"]
        )
        return cls(domain.sizes, questions, tuple(draws))
