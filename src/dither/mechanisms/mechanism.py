"""The base class of designs: a paper's formula on a domain with a budget, its analysis, and its question.

The base classes of designs of numbers: a window with a codebook, and noise on a lattice.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, Self, TypeVar, get_args

import numpy as np

from dither.core import registry
from dither.core.domains import Categories, Circle, Domain, Interval, Line, Optional
from dither.core.kernels.counting import Counting
from dither.core.kernels.kernel import Kernel, UnbiasedReading
from dither.core.kernels.lattice.integers import Lattice, check_lattice
from dither.core.kernels.lattice.kernel import LatticeKernel
from dither.core.kernels.transition import Operator
from dither.core.kernels.window.codebook import (
    IDENTITY,
    AffineDecoder,
    Codebook,
    Decoder,
    Ramps,
    Steps,
    decoder,
)
from dither.core.kernels.window.integers import Sliding, check_cells
from dither.core.kernels.window.kernel import OptionalKernel, SlidingKernel
from dither.core.kernels.window.start import CENTRED, WRAPPED, Placement, Room
from dither.core.question import Question, ask, check_epsilon
from dither.core.registry import writable
from dither.core.reports import Reports
from dither.errors import InvalidParameter, unknown_name
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.losses import Loss, as_power
from dither.foundation.numerics.quadrature import integrate
from dither.foundation.numerics.roots import global_maximum
from dither.foundation.plotting import draw_law
from dither.foundation.randomness import Source
from dither.mechanisms.analysis.law import BIAS, COSINE, Law, TableLaw, loss_moment
from dither.mechanisms.analysis.noise import AddedLaw, CutLaw, NoiseDensity
from dither.mechanisms.analysis.window import WindowLaw
from dither.privacy import Guarantee, Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The metadata of a parameter that was added later: specifications do not list it while it has its default, so
# that those of older mechanisms stay as they are.
ADDED: Final = {"added": True}
Number = float | Floats
Prior = Callable[[Floats], Floats]


def uniform(x: Floats) -> Floats:
    """Return the density 1 for every value: the uniform prior, the default of `average_error`."""
    return np.ones_like(x)


class Analysis(ABC):
    """The distribution of a report, given the input. Arguments are in the user's units and broadcast."""

    @property
    @abstractmethod
    def law(self) -> Law:
        """The distribution of a report given the input, in units in which the domain is [0, 1]."""

    @property
    @abstractmethod
    def line(self) -> Line:
        """The domain of the inputs."""

    def _unit(self, x: object) -> Floats:
        return self.line.to_unit(self.line.check(x).astype(np.float64))

    def pdf(self, y: object, x: object) -> Number:
        """Return the density of the report y for the input x, without atoms; see `atoms`."""
        place = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.density(place, self._unit(x)) / self.line.length)

    def cdf(self, y: object, x: object) -> Number:
        """Return P(report ≤ y) for the input x."""
        place = self.line.to_unit(np.asarray(y, dtype=np.float64))
        return _plain(self.law.cumulative(place, self._unit(x)))

    def atoms(self, x: object) -> tuple[Floats, Floats]:
        """Return the reports of positive probability and their probabilities, along the last axis."""
        places, masses = self.law.atoms(self._unit(x))
        return self.line.from_unit(places), masses

    def mean(self, x: object) -> Number:
        """Return E[report] for the input x; on a circle the mean direction, which is x."""
        return _plain(np.asarray(self.line.check(x), dtype=np.float64) + self.bias(x))

    def bias(self, x: object) -> Number:
        """Return the bias E[report] − x; on a circle the mean direction has no bias."""
        unit = self._unit(x)
        if isinstance(self.line, Circle):
            return _plain(np.zeros_like(unit))
        return _plain(self.line.length * self.law.expect(unit, BIAS))

    def variance(self, x: object) -> Number:
        """Return the variance of the report for the input x; on a circle the circular variance 1 − ρ."""
        if isinstance(self.line, Circle):
            return _plain(1.0 - np.asarray(self.resultant(x)))
        return _plain(np.asarray(self.error("squared", x)) - np.asarray(self.bias(x)) ** 2)

    def resultant(self, x: object) -> Number:
        """Return the mean resultant length ρ = E[cos(Y − x)] on a circle."""
        if not isinstance(self.line, Circle):
            raise InvalidParameter(f"the resultant length exists on a circle only, not on {self.line}")
        return _plain(self.law.expect(self._unit(x), COSINE))

    def error(self, loss: Loss, x: object) -> Number:
        """Return the expected loss of the report for the input x; on a circle distances are the short way."""
        return _plain(self._scale(loss) * self._error(loss)(self._unit(x)))

    def worst_error(self, loss: Loss) -> float:
        """Return the largest expected loss over all inputs."""
        return self._scale(loss) * global_maximum(self._error(loss), 0.0, 1.0, self.law.kinks)

    def average_error(self, loss: Loss, prior: Prior = uniform) -> float:
        """Return the expected loss over inputs from a prior, given as a density up to a factor."""
        error = self._error(loss)

        def weight(unit: Floats) -> Floats:
            return np.asarray(prior(self.line.from_unit(unit)), dtype=np.float64)

        kinks = (0.5, *self.law.kinks)
        mass = integrate(weight, 0.0, 1.0, kinks)
        if not mass > 0.0:
            raise InvalidParameter(f"the integral of a prior over the domain must be positive, not {mass:g}")
        return self._scale(loss) / mass * integrate(lambda unit: weight(unit) * error(unit), 0.0, 1.0, kinks)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest report."""
        low, high = self.line.from_unit(np.asarray(self.law.support))
        return float(low), float(high)

    def plot(self, x: object, *, ax: Axes | None = None) -> Axes:
        """Draw the distribution of the reports for one or several inputs on `ax`, and return the axes.

        `plot(0.3).figure.savefig("law.png")` writes a file; needs the extra `plot`.
        """
        return draw_law(self, self.line.check(x), ax=ax)

    def _scale(self, loss: Loss) -> float:
        return float(self.line.length ** as_power(loss).exponent)

    def _error(self, loss: Loss) -> Callable[[Floats], Floats]:
        moment = loss_moment(as_power(loss), self.law.circular)
        return lambda unit: self.law.expect(unit, moment)


@dataclass(frozen=True)
class Realised(Analysis):
    """The same quantities for the integers that are sampled, instead of the continuous mechanism."""

    _line: Line
    _law: Law

    @property
    def law(self) -> Law:
        return self._law

    @property
    def line(self) -> Line:
        return self._line


def _plain(answer: Any) -> Number:
    array = np.asarray(answer, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


Admits = TypeVar("Admits", bound=Domain)


@dataclass(frozen=True)
class Mechanism(ABC, Generic[Admits]):
    """A design on a domain with a budget ε. It has a question, which draws, counts, decodes and promises.

    Devices call `perturb`; the collector decodes the reports. Both are the question's, and so are the
    guarantee and the fingerprint. A subclass defines the kernel by its paper's formula, and the codebook.
    """

    domain: Admits
    _: KW_ONLY
    epsilon: float

    takes: ClassVar[tuple[type[Domain], ...]]
    _draws: ClassVar[tuple[str, ...]]  # of its questions; `registry` reads the line in a mechanism's own file
    called: ClassVar[str] = ""  # the name in texts, where it is not that of the class
    certified: ClassVar[bool] = False  # whether the formula is in floats, so that its integers are checked

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        registry.register(cls)
        takes = getattr(cls, "takes", None)
        if takes:  # so that a signature shows which domains a design takes
            cls.__annotations__ = {"domain": reduce(or_, takes), **vars(cls).get("__annotations__", {})}

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", self._budget())
        if not self.admits(self.domain):
            wanted = " or ".join(kind.__name__ for kind in self.takes)
            hint = (
                "; Podium, PM, SW and OGPM have a window for it" if isinstance(self.domain, Optional) else ""
            )
            raise InvalidParameter(
                f"{type(self).__name__} needs a domain of type {wanted}, not "
                f"{type(self.domain).__name__}{hint}"
            )
        for kind in reversed(type(self).__mro__):  # each class checks its own parameters, bases first
            check = vars(kind).get("_check")
            if check is not None:
                check(self)
        if self.certified:
            self.question.certify()
        _ = self.question  # everything that can fail, so that every design that exists is valid

    @classmethod
    def admits(cls, domain: object) -> bool:
        """Return whether the design is one for this domain; a window with cells to choose may be optional."""
        free = hasattr(cls, "shape") and cls.__dataclass_fields__["cells"].init
        return isinstance(domain.of if free and isinstance(domain, Optional) else domain, cls.takes)

    def _budget(self) -> float:
        return check_epsilon(self.epsilon)

    @abstractmethod
    def _kernel(self) -> Kernel:
        """Return what devices run: the paper's integers, with the largest ratio that ε allows."""

    @abstractmethod
    def _codebook(self, kernel: Any) -> Any:
        """Return how reports are decoded, as the kernel's `read_codebook` returns it."""

    @cached_property
    def question(self) -> Question:
        """The integers, the codebook and the budget: what travels, draws, counts, decodes and promises."""
        return self._ask(self)

    def _ask(self, source: Mechanism[Any], *, divided: bool = False) -> Question:
        """Return the question with the integers of a design, which is this one or a part of it."""
        kernel = source._kernel()
        written = writable(type(self), self.parameters())
        written.pop("domain")
        return ask(
            self.domain,
            kernel,
            source._codebook(kernel),
            divided=divided,
            epsilon=self.epsilon,
            name=self.called or type(self).__name__,
            parameters=written,
            made_by=self,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the constructor, by name; without those that are `ADDED` and not used."""
        return {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.init and not (item.metadata == ADDED and getattr(self, item.name) is item.default)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.parameters())  # derived attributes are computed again

    def at(self, epsilon: float) -> Self:
        """Return the same design with another ε."""
        return replace(self, epsilon=epsilon)

    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""
        return self.question.describe()

    # --- the question's

    @property
    def kernel(self) -> Any:
        """What devices run: integers, and the rule that maps a value to them."""
        return self.question.kernel

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return self.question.guarantee

    @property
    def unit(self) -> Unit:
        """The unit that the guarantee protects."""
        return self.question.unit

    @property
    def plain(self) -> Question:
        """The question that draws one answer."""
        return self.question

    @property
    def alone(self) -> bool:
        """Whether the reports of different people are independent."""
        return self.question.alone

    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to answer, as JSON-compatible data: see docs/wire.md."""
        return self.question.device()

    @property
    def device_text(self) -> str:
        """What a device needs in order to answer, as canonical JSON."""
        return self.question.device_text

    @property
    def fingerprint(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the device text."""
        return self.question.fingerprint

    def codebook(self) -> Any:
        """Return the codebook as JSON-compatible data; None if there is none, as for labels."""
        return self.question.codebook()

    @property
    def outcomes(self) -> int:
        """The number of different reports."""
        return self.question.outcomes

    @property
    def layout(self) -> np.dtype[Any]:
        """The dtype of one report: an integer, or a row of integers."""
        return self.question.layout

    @property
    def report_bytes(self) -> int:
        """The size of one report, in bytes."""
        return self.question.report_bytes

    @property
    def counting(self) -> Counting:
        """How reports are counted into a summary."""
        return self.question.counting

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return the randomised reports of values, as a device does. The values are not kept.

        Values outside the domain raise `OutsideDomain`. `source` is for tests; `threads` speeds up large
        arrays.
        """
        return self.question.perturb(values, source=source, threads=threads)

    def reports(self, raw: object) -> Reports:
        """Return raw integers as reports; raise MalformedReport if no device could have sent them."""
        return self.question.reports(raw)

    def decode(self, cells: Array) -> Array:
        """Return the decoded reports, as an array of numbers, labels or places."""
        return self.question.decode(cells)

    def probabilities(self, x: Any, **given: Any) -> Any:
        """Return the exact probability of every report for the value x, from the sampled integers."""
        return self.question.probabilities(x, **given)


def _remade(kind: type[Mechanism[Any]], parameters: dict[str, Any]) -> Any:
    return kind(**parameters)


@dataclass(frozen=True)
class NumberMechanism(Mechanism[Line], Analysis):
    """A design for one number, on an interval or a circle, with the law of its reports."""

    @property
    def line(self) -> Line:
        domain: Line | Optional = self.domain
        return domain.of if isinstance(domain, Optional) else domain

    @property
    def decoder(self) -> Decoder:
        """The map from reports to numbers."""
        book: Decoder = self.question.book
        return book

    def chances(self, x: float) -> Floats:
        """Return the probability of every report for the input x, in floats."""
        chances: Floats = self.kernel.chances(x)
        return chances

    def likelihood(self, inputs: Floats, rows: int) -> Operator:
        """Return P(report | input) as an operator, with reports grouped into about `rows` rows."""
        operator: Operator = self.kernel.likelihood(inputs, rows)
        return operator

    def unbiased_reading(self) -> UnbiasedReading | None:
        """Return numbers for the reports whose mean is the value; None if there are none."""
        question: Any = self.question  # of numbers
        reading: UnbiasedReading | None = question.unbiased_reading()
        return reading

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities (pdf, mean, error, …) for the integers that are sampled."""
        values = self.line.to_unit(self.decoder(np.arange(self.outcomes)))

        def chances(unit: float) -> Floats:
            return self.chances(float(self.line.from_unit(np.asarray(unit))))

        return Realised(self.line, TableLaw(chances, values, circular=isinstance(self.line, Circle)))


@dataclass(frozen=True)
class CategoryMechanism(Mechanism[Categories]):
    """A pure protocol: a report supports categories, with the same p and q for every pair of categories."""

    takes: ClassVar[tuple[type[Domain], ...]] = (Categories,)

    def _codebook(self, kernel: Any) -> None:
        """Return None: the kernel says which categories a report supports."""

    @property
    def categories(self) -> Categories:
        """The public list of answers."""
        return self.domain

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """The exact probabilities p and q that a report supports its own category, and a given other one."""
        rates: tuple[Fraction, Fraction] = self.kernel.rates
        return rates

    @cached_property
    def p(self) -> Any:
        """The probability that a report supports its own category."""
        return float(self.rates[0])

    @property
    def q(self) -> float:
        """The probability that a report supports a given other category."""
        return float(self.rates[1])

    @property
    def gap(self) -> float:
        """The difference p − q, by which estimates are divided, computed without cancellation."""
        return float(self.rates[0] - self.rates[1])

    def variance(self, frequency: float = 0.0) -> float:
        """Return n times the variance that privacy adds to the estimate of a category of this frequency."""
        question: Any = self.question
        return float(question.variance(frequency))

    def supports(self, counts: Integers) -> Integers:
        """Return the number of reports that support each category, from the counts of a summary."""
        supports: Integers = self.kernel.supports(counts, len(self.categories))
        return supports

    def code(self, x: Hashable) -> int:
        """Return the code of a category."""
        return int(self.categories.check([x])[0])


@dataclass(frozen=True)
class QueryMechanism(Mechanism[Any]):
    """A design whose reports answer several linear queries about the shares of its inputs."""

    @cached_property
    def average_variance(self) -> float:
        """The variance that one report adds to all answers together, averaged over the inputs."""
        return float(self.question.book.variances.mean())

    @cached_property
    def worst_variance(self) -> float:
        """The variance that one report adds to all answers together, for the worst input."""
        return float(self.question.book.variances.max())


Rule = Callable[[float, float], Codebook]  # from the window's share and contrast to the codebook


# How the collector decodes reports. The choice does not change what devices send.
Decoding = Literal["own", "compressed", "truncated"]


@dataclass(frozen=True)
class Shape:
    """A paper's window: its width as a share of the report space, its start, and the codebook."""

    width: float
    placement: Placement
    codebook: Rule

    @staticmethod
    def centred(domain: Line, width: float) -> Shape:
        """Return a window centred on the value, with the identity as codebook."""
        placement = WRAPPED if isinstance(domain, Circle) else CENTRED
        return Shape(width, placement, lambda share, contrast: IDENTITY)

    @staticmethod
    def unbiased(width: float, placement: Placement) -> Shape:
        """Return a window with an affine start, and the codebook for which E[report] equals the value."""
        return Shape(width, placement, partial(unbiased_line, placement))


def unbiased_line(placement: Placement, share: float, contrast: float) -> Ramps:
    """Return the affine codebook for which E[report] equals the value."""
    # The mean position of a report is (1−κ)/2 + κ·(start + s/2). Map it to 0 for x = 0 and to 1 for x = 1.
    starts = placement.start(np.array([0.0, 1.0]), share)
    first, last = (1.0 - contrast) / 2.0 + contrast * (starts + share / 2.0)
    return Ramps.affine(-first / (last - first), (1.0 - first) / (last - first))


FEW_CELLS: Final = 1 << 12  # up to this many, errors are those of the cells


@dataclass(frozen=True)
class WindowMechanism(NumberMechanism):
    """A window on `cells` cells and a codebook. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    cells: int = 1 << 16
    decoding: Decoding = "own"

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)

    @abstractmethod
    def shape(self) -> Shape:
        """Return the width, the placement and the codebook of the paper's window."""

    @cached_property
    def _shape(self) -> Shape:
        return self.shape()

    def _check(self) -> None:
        check_cells(self.cells)

    @property
    def chooses_cells(self) -> bool:
        """Whether the number of cells is a parameter, and not part of the design."""
        return bool(type(self).__dataclass_fields__["cells"].init)

    def _kernel(self) -> SlidingKernel | OptionalKernel:
        share = self._shape.width
        if self.domain.optional:  # the window has its share of the cells beside those for "no answer"
            width = min(max(round(share / (1.0 + share) * self.cells), 1), self.cells // 2)
            window = Sliding.largest(self.epsilon, self.cells, width)
            room: Any = Room(self.cells - width, width)
            rule: Any = self._shape.placement.rule(self.line, room)
            return OptionalKernel(self.line, window, rule)
        width = min(max(round(share * self.cells), 1), self.cells - 1)
        window = Sliding.largest(self.epsilon, self.cells, width)
        return SlidingKernel(self.line, window, self._shape.placement.rule(self.line, window))

    def _codebook(self, kernel: SlidingKernel | OptionalKernel) -> Decoder:
        window = kernel.window
        if isinstance(kernel, OptionalKernel):  # of the reports that stand for numbers
            share, kept = window.width / kernel.room, window.contrast
            contrast = kept / (kept + (1.0 - kept) * kernel.room / window.cells)
            return decoder(self._book(share, contrast), kernel.room, self.line)
        return decoder(self._book(window.share, window.contrast), self.cells, self.line)

    def _book(self, share: float, contrast: float) -> Codebook:
        if self.decoding == "compressed":
            return IDENTITY
        book = self._shape.codebook(share, contrast)
        if self.decoding == "truncated":
            return book.clip()
        if self.decoding == "own":
            return book
        raise unknown_name("decoding", self.decoding, get_args(Decoding))

    @cached_property
    def law(self) -> Law:
        """The distribution of the continuous mechanism that the cells approximate, in closed form.

        Few cells do not approximate it well: then it is the distribution of the cells themselves. A design
        that fixes its cells has a closed form for them.
        """
        self._insist_on_a_number()
        if self.cells <= FEW_CELLS and self.chooses_cells:
            return self.sampled.law
        shape = self._shape
        lift = math.expm1(self.epsilon) * shape.width
        contrast = lift / (1.0 + lift)
        return WindowLaw(
            share=shape.width,
            contrast=contrast,
            rest=1.0 / (1.0 + lift),
            start=partial(shape.placement.start, width=shape.width),
            codebook=self._book(shape.width, contrast),
            circular=isinstance(self.line, Circle),
            kinks=shape.placement.kinks(shape.width),
        )

    @cached_property
    def sampled(self) -> Realised:
        """The same quantities for the integers that are sampled, for up to 2^20 cells."""
        self._insist_on_a_number()
        if self.cells > 1 << 20:
            raise InvalidParameter(f"`sampled` is available for up to 2^20 cells, not {self.cells}")
        window = self.kernel.window
        law = WindowLaw(
            share=window.share,
            contrast=window.contrast,
            rest=window.rest,
            start=self._sampled_start,
            codebook=Steps(self.line.to_unit(self.decoder(np.arange(self.cells)))),
            circular=isinstance(self.line, Circle),
            kinks=self._shape.placement.kinks(window.share),
        )
        return Realised(self.line, law)

    def _insist_on_a_number(self) -> None:
        if self.domain.optional:
            raise InvalidParameter(
                f"a report of {type(self).__name__} on {self.domain} may be no number, so that it has no "
                "density and no error; those of the design on the numbers alone say what a number costs"
            )

    def _sampled_start(self, x: Floats) -> Floats:
        # Rounding at random between two starts has the same distribution as the window between them.
        start = self.kernel.start
        aim = start.aim(self.line.from_unit(x)) / (self.cells << start.fraction)
        return np.asarray(np.mod(aim, 1.0) if isinstance(self.line, Circle) else aim, dtype=np.float64)

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")

    def compressed(self) -> Self:
        """Return the same design with the report space decoded as the domain itself, which is biased."""
        return replace(self, decoding="compressed")


END_MASS: Final = 1e-10  # about the probability of a report at an end of the clamped range


@dataclass(frozen=True)
class LatticeMechanism(NumberMechanism):
    """A step on a lattice plus noise with integer weights. The noise has up to `cells` different values."""

    _: KW_ONLY
    cells: int = 1 << 16

    takes: ClassVar[tuple[type[Domain], ...]] = (Interval,)
    certified: ClassVar[bool] = True

    @abstractmethod
    def lattice(self) -> Lattice:
        """Return the lattice with the paper's noise, in integers."""

    def _check(self) -> None:
        check_lattice(self.cells)

    def _kernel(self) -> LatticeKernel[Any]:
        return LatticeKernel.on(self.line, self.lattice())


@dataclass(frozen=True)
class AddedNoise(ABC):
    """Noise added to a value of an interval. `decoding` selects how reports are decoded."""

    _: KW_ONLY
    decoding: Decoding = "own"

    @abstractmethod
    def density(self) -> NoiseDensity:
        """Return the continuous noise that the integers approximate, in units of the domain's length."""

    def _codebook(self, kernel: LatticeKernel[Any]) -> AffineDecoder:
        if self.decoding == "truncated":
            return kernel.steps.cut(kernel.line.low, kernel.line.high)
        if self.decoding == "own":
            return kernel.steps
        raise unknown_name("decoding", self.decoding, ("own", "truncated"))

    @cached_property
    def law(self) -> AddedLaw | CutLaw:
        """The continuous mechanism. Its formulas ignore that reports are clamped to `support`."""
        if self.decoding == "truncated":
            return CutLaw(self.density())
        design: Any = self
        low, high = design.line.to_unit(design.decoder(np.array([0, design.outcomes - 1])))
        return AddedLaw(self.density(), (float(low), float(high)))

    def truncated(self) -> Self:
        """Return the same design with decoded reports clipped to the domain."""
        return replace(self, decoding="truncated")


def exponential_margin(epsilon: float) -> float:
    """Return the margin, in lengths of the domain, beyond which Laplace noise has the tail `END_MASS`."""
    return math.log(0.5 / END_MASS) / epsilon
