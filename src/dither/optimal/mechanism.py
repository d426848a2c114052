"""Optimal: the mechanism with the smallest error that ε allows, solved and certified."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Domain, Interval
from dither.errors import InvalidParameter, MalformedReport
from dither.kernels.law import BlendedLaw, WindowLaw
from dither.kernels.window.codebook import Runs
from dither.kernels.window.decoder import Table, from_wire
from dither.kernels.window.integers import Sliding, certified
from dither.kernels.window.start_table import COIN, Balanced, Chart, Nearest
from dither.losses import Criterion, Power, absolute, squared, worst
from dither.mechanisms.analysis import Realised
from dither.mechanisms.number import Reading
from dither.mechanisms.window import Decoding, Shape, WindowMechanism
from dither.optimal import store
from dither.optimal.design import Design, relative_gap
from dither.optimal.problem import Elsewhere, Given, Loss, Problem
from dither.optimal.solver import circle
from dither.privacy.exact import exp_below
from dither.table import percent


@final
@dataclass(frozen=True)
class Certificate:
    """An upper bound on a mechanism's error and a lower bound on every mechanism's, in the user's units."""

    error: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the error is above the bound, relative to it."""
        return relative_gap(self.error, self.bound)

    def __str__(self) -> str:
        return f"error {self.error:.6g}, at most {percent(self.gap)} above the best possible"


@final
@dataclass(frozen=True)
class Optimal(WindowMechanism):
    """A report whose error no mechanism with the same ε undercuts by more than a stated gap.

    Promise:   pure ε.
    Reports:   cells of a solved codebook: a few to a few hundred numbers, some far likelier than others.
    Use when:  single values matter (by `loss`, in the worst case or on `average`), or, with `unbiased=True`,
               a mean: then E[report] is the value and the variance is the smallest there is.
    Reference: derived in docs/optimal.md; ε from 0.05 to 8. `.gap` is certified, not estimated.

    >>> best = Optimal(Interval(0, 1), epsilon=1)
    >>> round(best.certificate.error, 4), best.gap < 0.005
    (0.3163, True)
    """

    _: KW_ONLY
    loss: Loss | Callable[[Floats], Any] | None = None
    criterion: Criterion = worst
    unbiased: bool = False
    fresh: bool = False
    cells: int = field(default=1 << 16, init=False)

    takes = (Interval, Circle)

    def _build(self) -> None:
        if self.decoding is not Decoding.OWN:
            raise InvalidParameter(
                "a solved mechanism is neither compressed nor truncated: leave `decoding` out"
            )
        for name in ("unbiased", "fresh"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(f"{name} is True or False")
        if self.unbiased and isinstance(self.domain, Circle):
            raise InvalidParameter("on a circle the mean direction is unbiased already; leave `unbiased` out")
        loss = self.loss
        if loss is None:
            loss = squared if self.unbiased else absolute
        elif not isinstance(loss, Loss):
            loss = Given(loss, self.line.length)
        object.__setattr__(self, "loss", loss)
        _ = self.problem
        if isinstance(self.domain, Interval):
            object.__setattr__(self, "cells", self.book.cells)
        super()._build()

    @cached_property
    def problem(self) -> Problem:
        """The optimisation problem, in units in which the domain has length 1."""
        if not isinstance(self.loss, Loss):  # `_build` has made a loss of what was given
            raise InvalidParameter("a loss is dt.absolute, dt.squared, dt.power(k) or a function of y − x")
        return Problem(self.epsilon, self.loss, self.criterion, self.unbiased)

    @cached_property
    def design(self) -> Design:
        """The solved codebook and its dual variables; there is none on a circle."""
        if isinstance(self.domain, Circle):
            raise InvalidParameter("on a circle the best mechanism is known; there is no design")
        return store.find(self.problem, fresh=self.fresh)

    @cached_property
    def book(self) -> Runs:
        """The number of each run of cells, in units in which the domain is [0, 1]."""
        book = self.design.book
        return Runs(book.values + 0.5, book.counts)

    @cached_property
    def _width(self) -> int:
        return self.design.width

    def shape(self) -> Shape:
        if isinstance(self.domain, Circle):
            return Shape.centred(self.line, circle.best_width(self.problem))
        book = self.book
        placement = Balanced(book, self.epsilon) if self.unbiased else Nearest(book)
        return Shape(self._width / book.cells, placement, lambda share, contrast: book)

    @cached_property
    def certificate(self) -> Certificate:
        """The error of the mechanism as it is sampled, and a lower bound on the error of every mechanism."""
        if isinstance(self.domain, Circle):
            error, bound = circle.error(self.problem, self.kernel), circle.bound(self.problem)
        else:
            error, bound = self.design.error, self.design.bound
        scale = self.line.length**self.loss.exponent if isinstance(self.loss, Power) else 1.0
        return Certificate(error * scale, bound * scale)

    @property
    def gap(self) -> float:
        """A bound on how far the error is above the smallest of all ε-LDP mechanisms, relative to it."""
        return self.certificate.gap

    @cached_property
    def sampled(self) -> Realised:
        """The law of the integers that are sampled, with the same methods."""
        chart = self.track
        if not isinstance(chart, Chart):
            return super().sampled
        if not chart.blended:
            return Realised(
                self.line, self._window(lambda x: chart.aim(self.line.from_unit(x)).astype(float))
            )

        def knot(which: int, x: Floats) -> Floats:
            return chart.beside(self.line.from_unit(x))[which]

        blended = BlendedLaw(
            self._window(lambda x: knot(0, x) / (1 << COIN)),
            self._window(lambda x: knot(1, x) / (1 << COIN)),
            lambda x: knot(2, x),
        )
        return Realised(self.line, blended)

    def _window(self, start: Callable[[Floats], Floats]) -> WindowLaw:
        kernel = self.kernel
        return WindowLaw(
            share=kernel.share,
            contrast=kernel.contrast,
            rest=kernel.rest,
            start=lambda x: start(x) / kernel.cells,
            codebook=self.book,
        )

    def straight(self) -> Reading | None:
        """Return the numbers of the cells whose mean is the value; None unless the mechanism is unbiased."""
        return Reading(self.decode(np.arange(self.cells))) if self.unbiased else None

    def wire(self) -> dict[str, Any]:
        """Return the integers, the codebook and its hash; the codebook also says where windows start."""
        codebook = self.decoder.wire()
        if isinstance(self.domain, Circle):
            return super().wire()
        return {**super().wire(), "numbers": _digest(codebook)}

    @classmethod
    def rebuilt(cls, domain: Domain, parameters: Mapping[str, Any], wire: dict[str, Any]) -> Self:
        """Return the mechanism with the integers and the codebook of a specification: nothing is solved."""
        if isinstance(domain, Circle):
            loss = parameters.get("loss")
            if isinstance(loss, Elsewhere):
                window = float(parameters["epsilon"]), wire["kernel"]["width"] / wire["kernel"]["cells"]
                parameters = {**parameters, "loss": Elsewhere(loss.digest, window)}
            return super().rebuilt(domain, parameters, wire)
        mechanism = object.__new__(cls)
        if isinstance(domain, Interval):
            mechanism.__dict__.update(_read(domain, float(parameters["epsilon"]), wire))
        cls.__init__(mechanism, domain, **parameters)
        return mechanism

    def restored(self, wire: dict[str, Any]) -> Self:
        """Return this mechanism with the integers and the codebook of a specification."""
        if isinstance(self.domain, Circle):
            return super().restored(wire)
        parameters = self.parameters()
        return self.rebuilt(parameters.pop("domain"), parameters, wire)


def _digest(codebook: dict[str, Any]) -> str:
    text = repr([codebook["runs"], codebook["values"]])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(domain: Interval, epsilon: float, wire: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that a specification, as `wire` wrote it, determines."""
    try:
        kernel, table = Sliding(**wire["kernel"]), from_wire(wire["codebook"])
        if not isinstance(table, Table) or table.values.size != kernel.cells:
            raise ValueError
        if _digest(wire["codebook"]) != wire["numbers"]:
            raise ValueError
        counts = np.asarray(wire["codebook"]["runs"], dtype=np.int64)
        book = Runs(domain.to_unit(np.asarray(wire["codebook"]["values"], dtype=np.float64)), counts)
    except (TypeError, KeyError, ValueError):
        raise MalformedReport(
            "a solved mechanism is a kernel, its codebook and the codebook's digest"
        ) from None
    certified(kernel, exp_below(Fraction(epsilon)))
    return {"kernel": kernel, "decoder": table, "book": book, "_width": kernel.width}
