"""Optimal: the mechanism with the smallest error that ε allows, solved and certified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from dither.core import registry
from dither.core.domains import Box, Circle, Interval, Places, Plane, Routes, Vectors
from dither.core.kernels.window.codebook import Runs
from dither.core.kernels.window.start import Placement
from dither.core.kernels.window.start_table import COIN, BalancedCells, KnotStart, NearestCells, StepStart
from dither.core.question import NumberQuestion, Question
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.foundation.losses import Criterion, Loss, Power, as_power
from dither.foundation.tables import percent
from dither.mechanisms.analysis.analysis import Realised
from dither.mechanisms.analysis.window import BlendedLaw, WindowLaw
from dither.mechanisms.mechanism import ADDED
from dither.mechanisms.numeric.base import Shape, WindowMechanism
from dither.mechanisms.optimal import store
from dither.mechanisms.optimal.design import Design, relative_gap
from dither.mechanisms.optimal.prior import (
    NearestRun,
    PriorEffect,
    fit_numbers,
    grid,
    public_numbers,
    read_numbers,
    reading_errors,
    shares_of,
)
from dither.mechanisms.optimal.problem import (
    Given,
    Problem,
    best_width_on_circle,
    bound_on_circle,
    error_on_circle,
)


@dataclass(frozen=True)
class Certificate:
    """An upper bound on a mechanism's error and a lower bound on every mechanism's, in the user's units."""

    error: float
    bound: float

    @property
    def gap(self) -> float:
        """The relative excess of the error over the bound."""
        return relative_gap(self.error, self.bound)

    def __str__(self) -> str:
        return f"error {self.error:.6g}, at most {percent(self.gap)} above the best possible"


@dataclass(frozen=True)
class Optimal(WindowMechanism):
    """The solved mechanism, whose error is at most a certified gap above the smallest error that ε allows.

    Promise:   pure ε.
    Reports:   cells of a solved codebook: a few to a few hundred numbers, some much likelier than others.
    Use when:  single values matter (by `loss`, in the worst case or on `average`), or, with `unbiased=True`,
               a mean: then E[report] is the value and the variance is the smallest possible.
    Reference: derived in docs/optimal.md; ε from 0.05 to 8. `.gap` is certified, not estimated.

    >>> best = Optimal(Interval(0, 1), epsilon=1)
    >>> round(best.certificate.error, 4), best.gap < 0.005
    (0.3163, True)
    """

    _draws = ("sliding", "nearest", "listing", "box", "routes", "directions")

    _: KW_ONLY
    loss: Loss | Callable[[Floats], Any] | None = None
    criterion: Criterion = "worst"
    unbiased: bool = False
    fresh: bool = False
    outputs: int | None = None
    prior: tuple[Any, str] | None = field(default=None, metadata=ADDED)
    cells: int = field(default=1 << 16, init=False)

    _takes = (Interval, Circle)

    # The classes of the designs that draw by other kernels, for code that has only the question. A module is
    # imported when one of its designs is created: most uses need only numbers.
    for_kernels: ClassVar[Mapping[str, str]] = {
        "nearest": "dither.mechanisms.optimal.anywhere.Anywhere",
        "listing": "dither.mechanisms.optimal.anywhere.Among",
        "box": "dither.mechanisms.optimal.box.InBox",
        "routes": "dither.mechanisms.optimal.routes.AmongRoutes",
        "directions": "dither.mechanisms.optimal.vectors.InBall",
    }
    _kernels: ClassVar[Mapping[type[Any], str]] = {
        Plane: "nearest",
        Places: "listing",
        Box: "box",
        Routes: "routes",
        Vectors: "directions",
    }

    def __new__(cls, *given: Any, **more: Any) -> Any:
        """Return the design for a domain, which may be an instance of another class."""
        kind = cls.on(given[0] if given else more.get("domain"))
        return super().__new__(cls, *given) if kind is cls else kind(*given, **more)

    @classmethod
    def on(cls, domain: object) -> type[Any]:
        """Return the class for a domain: `Anywhere` for an area, `Among` for a list, or `InBox` for a box."""
        kernels = (kernel for kind, kernel in cls._kernels.items() if isinstance(domain, kind))
        return registry.class_for(cls, next(kernels, ""))

    def _check(self) -> None:
        if self.decoding != "own":
            raise InvalidParameter(
                "expected no `decoding`, because a solved mechanism is neither compressed nor truncated; "
                "leave it out"
            )
        for name in ("unbiased", "fresh"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(
                    f"expected {name} to be True or False, got {found(getattr(self, name))}"
                )
        if self.unbiased and self.domain.circular:
            raise InvalidParameter(
                "expected no `unbiased` on a circle, where the mean direction is always unbiased; leave it "
                "out"
            )
        if self.loss is None:
            object.__setattr__(self, "loss", "squared" if self.unbiased else "absolute")
        elif callable(self.loss) and not isinstance(self.loss, Given | Power):
            object.__setattr__(self, "loss", Given(self.loss, self.line.length))
        if self.prior is not None:
            if self.unbiased or self.fresh:
                raise InvalidParameter(
                    "expected a prior only for single values; leave `unbiased` and `fresh` out"
                )
            object.__setattr__(self, "prior", public_numbers(self.prior, self.line))
            object.__setattr__(self, "criterion", "average")  # the average over the people of the prior
        _ = self.problem
        if self.outputs is not None:
            _check_outputs(self.outputs)
        if isinstance(self.domain, Interval) or self.outputs is not None or self.prior is not None:
            object.__setattr__(self, "cells", self.outputs or self.book.cells)

    @cached_property
    def _people(self) -> Floats:
        """The share of the prior's people in each bin of the domain, or equal shares without a prior."""
        if self.prior is None:
            return np.full(grid().size, 1.0 / grid().size)
        return shares_of(public_numbers(self.prior, self.line), self.line)

    def read_for(self, prior: tuple[Any, str] | None) -> Question:
        """Return the question with each report decoded as the best number for its likely senders.

        The loss of the design determines the best number: a median for absolute errors, a mean for squared
        errors. Devices draw as before. Single values are nearer to the truth on average, but their means are
        biased. `reading_effect(prior)` is the gain on average and the cost in the worst case.
        """
        shares = replace(self, prior=prior)._people if prior is not None else self._people
        book = read_numbers(self.question, shares, self.problem.loss)
        return replace(self.question, book=book, made_by=None)

    def reading_effect(self, prior: tuple[Any, str]) -> PriorEffect:
        """Return the gain of `read_for` on average for a prior's people, and its cost in the worst case.

        >>> from dither.core.domains import Interval
        >>> effect = Optimal(Interval(0, 100), epsilon=1).reading_effect(([9, 10, 11] * 9, "a public survey"))
        >>> effect.average < effect.average_without, effect.worst > effect.worst_without
        (True, True)
        """
        shares = replace(self, prior=prior)._people
        question = cast(NumberQuestion, self.read_for(prior))
        other = self._scale(cast(Loss, self.loss)) * reading_errors(question, self.problem.loss)
        return self._compare(shares, other, self)

    def _compare(self, shares: Floats, errors: Floats, without: Optimal) -> PriorEffect:
        """Return errors at the values of the grid and a design's errors there, for the shares of people."""
        values = self.line.from_unit(grid())
        own = np.asarray(without.sampled.error(cast(Loss, self.loss), values))
        worst = float(errors.max()), float(own.max())
        return PriorEffect(float(shares @ errors), float(shares @ own), *worst)

    @cached_property
    def prior_effect(self) -> PriorEffect:
        """The average gain for the prior's people, and the cost in the worst case.

        Both are compared with the design for people who are spread evenly.
        """
        if self.prior is None:
            raise InvalidParameter(
                "expected a design with a prior; pass prior=(values, 'their public source')"
            )
        values = self.line.from_unit(grid())
        own = np.asarray(self.sampled.error(cast(Loss, self.loss), values))
        return self._compare(self._people, own, replace(self, prior=None))

    @cached_property
    def problem(self) -> Problem:
        """The optimisation problem, in units in which the domain has length 1."""
        loss = self.loss if isinstance(self.loss, Given) else as_power(self.loss)
        return Problem(self.epsilon, loss, self.criterion, self.unbiased)

    @cached_property
    def design(self) -> Design:
        """The solved codebook and its dual variables, for an interval and without a prior."""
        if self.prior is not None:
            raise InvalidParameter(
                "expected a mechanism without a prior, because one with a prior is fitted, not solved, and "
                "has no certificate; use `prior_effect`"
            )
        if self.domain.circular:
            raise InvalidParameter(
                "expected an interval, because the optimum on a circle is known in closed form and has no "
                "solved design; use dt.OGPM"
            )
        best = store.find(self.problem, fresh=self.fresh)
        return best if self.outputs is None else store.restrict(best, self.outputs)

    @cached_property
    def book(self) -> Runs:
        """The number of each run of cells, in units in which the domain is [0, 1]."""
        if self.prior is not None:
            circular = self.domain.circular
            return fit_numbers(
                self._people, self.epsilon, self.problem.loss, circular=circular, most=self.outputs
            )
        book = self.design.book
        return Runs(book.values + 0.5, book.counts)

    def shape(self) -> Shape:
        if self.prior is not None:
            own = self.book
            width = int(own.counts.min()) / own.cells
            return Shape(width, NearestRun(own, self.domain.circular), lambda share, contrast: own)
        if self.domain.circular:
            return Shape.centred(self.line, best_width_on_circle(self.problem))
        book = self.book
        placement = _placement(book, self.epsilon, self.unbiased)
        return Shape(self.design.width / book.cells, placement, lambda share, contrast: book)

    @cached_property
    def certificate(self) -> Certificate:
        """The error of the sampled mechanism, and a lower bound on the error of every mechanism."""
        if self.prior is not None:
            _ = self.design
        if self.domain.circular:
            error, bound = (
                error_on_circle(self.problem, self._window_kernel.window),
                bound_on_circle(self.problem),
            )
        else:
            error, bound = self.design.error, self.design.bound
        loss = self.problem.loss
        scale = self.line.length**loss.exponent if isinstance(loss, Power) else 1.0
        return Certificate(error * scale, bound * scale)

    @property
    def gap(self) -> float:
        """An upper bound on the relative excess of the error over the least error of all ε-LDP mechanisms."""
        return self.certificate.gap

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities for the integers that are sampled."""
        start = self._window_kernel.start
        if isinstance(start, KnotStart):
            return Realised(self.line, self._between_knots(start))
        if isinstance(start, StepStart):
            steps = self._window(lambda x: start.aim(self.line.from_unit(x)).astype(float))
            return Realised(self.line, steps)
        return super().sampled

    def _between_knots(self, start: KnotStart) -> BlendedLaw:
        def knot(which: int, x: Floats) -> Floats:
            return start.beside(self.line.from_unit(x))[which]

        return BlendedLaw(
            self._window(lambda x: knot(0, x) / (1 << COIN)),
            self._window(lambda x: knot(1, x) / (1 << COIN)),
            lambda x: knot(2, x),
        )

    def _window(self, start: Callable[[Floats], Floats]) -> WindowLaw:
        window = self._window_kernel.window
        return WindowLaw(
            share=window.share,
            contrast=window.contrast,
            rest=window.rest,
            start=lambda x: start(x) / window.cells,
            codebook=self.book,
            circular=self.line.circular,
        )


def _check_outputs(outputs: object) -> None:
    if (
        isinstance(outputs, bool)
        or not isinstance(outputs, int)
        or outputs % 2
        or not 2 <= outputs <= 1 << 16
    ):
        raise InvalidParameter(f"expected outputs to be an even number from 2 to 2^16, got {found(outputs)}")


def _placement(book: Runs, epsilon: float, unbiased: bool) -> Placement:
    return BalancedCells(book, epsilon) if unbiased else NearestCells(book)
