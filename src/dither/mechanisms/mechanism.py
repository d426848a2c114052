"""The base class of designs: a paper's formula on a domain with a budget, and its question."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, ClassVar, Final, Generic, Self, TypeVar, cast

from dither.core import registry
from dither.core.domains import Domain
from dither.core.kernels.kernel import Kernel
from dither.core.question import QueryQuestion, Question, ask, check_epsilon
from dither.core.registry import writable
from dither.core.reports import Reports
from dither.errors import InvalidParameter, given_by_position
from dither.foundation.randomness import Source
from dither.privacy import Guarantee

Q_co = TypeVar("Q_co", bound=Question, covariant=True)

# The metadata of a parameter that was added later. Specifications omit it if it has its default, so that
# specifications of older mechanisms do not change.
ADDED: Final = {"added": True}

# By the type of a domain, an example for the error of a mechanism that does not accept the given one.
_EXAMPLES: Final = {
    "Interval": "dt.Interval(18, 100)",
    "Circle": "dt.Circle(360)",
    "Categories": 'dt.Categories(["a", "b"])',
    "Several": 'dt.Several(["a", "b"], most=1)',
    "Vectors": "dt.Vectors(3)",
    "Rectangle": "dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))",
}


class _Signature:
    """The parameters of a mechanism's `__init__`, for `inspect`: `__new__` takes any arguments."""

    def __get__(self, instance: object, kind: type[object]) -> inspect.Signature:
        signature = inspect.signature(kind.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


@dataclass(frozen=True)
class Mechanism(ABC, Generic[Q_co]):
    """A design on a domain with a budget ε. Its question draws, counts, decodes and promises.

    Devices call `perturb`, and the collector decodes the reports. Both use the question, which also has the
    guarantee and the fingerprint. A subclass defines the kernel by its paper's formula, and the codebook.
    """

    domain: Domain
    _: KW_ONLY
    epsilon: float

    _takes: ClassVar[tuple[type[Domain], ...]]
    _draws: ClassVar[
        tuple[str, ...]
    ]  # draws of its questions; `registry` reads the line in a mechanism's own file
    _called: ClassVar[str] = ""  # the name in device texts, if it differs from the class's
    _certified: ClassVar[bool] = False  # True if the formula uses floats, so that its integers are checked

    __signature__: ClassVar = _Signature()

    def __new__(cls, *given: object, **named: object) -> Self:
        """Return an empty mechanism. Raise InvalidParameter if ε or an option is given by position."""
        if len(given) >= cls.__init__.__code__.co_argcount:
            raise given_by_position(cls.__name__, cls.__init__)
        return super().__new__(cls)

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        registry.register(cls)
        takes = getattr(cls, "_takes", None)
        if takes:  # the signature shows which domains a design takes
            stated = {"domain": reduce(or_, takes)}  # the first: parameters after `_` are keywords
            cls.__annotations__ = stated | vars(cls).get("__annotations__", {}) | stated

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", self._budget())
        if not self._admits(self.domain):
            wanted = " or ".join(kind.__name__ for kind in self._takes)
            example = _EXAMPLES.get(self._takes[0].__name__, f"dt.{self._takes[0].__name__}(…)")
            hint = f"pass one such as {example}"
            if isinstance(self.domain, Domain):
                hint = "dt.recommend ranks the mechanisms for it"
                if self.domain.optional:
                    hint = "Podium, PM, SW and OGPM have a window for it"
            raise InvalidParameter(
                f"expected a domain of type {wanted} for {type(self).__name__}, got "
                f"{type(self.domain).__name__}; {hint}"
            )
        for kind in reversed(type(self).__mro__):  # each class checks its own parameters, bases first
            check = vars(kind).get("_check")
            if check is not None:
                check(self)
        if self._certified:
            self.question.certify()
        _ = self.question  # runs everything that can fail, so that every existing design is valid

    @classmethod
    def _admits(cls, domain: object) -> bool:
        """Return whether the mechanism accepts this domain."""
        return isinstance(domain, cls._takes)

    def _budget(self) -> float:
        return check_epsilon(self.epsilon)

    @abstractmethod
    def _kernel(self) -> Kernel:
        """Return the kernel that devices run: the paper's integers, with the largest ratio that ε allows."""

    @abstractmethod
    def _codebook(self, kernel: Any) -> object:
        """Return the codebook that decodes reports, as the kernel's `read_codebook` returns it."""

    @cached_property
    def question(self) -> Q_co:
        """The question: integers, codebook and budget.

        It is sent to devices, draws, counts, decodes and promises.
        """
        return self._ask(self)

    def _ask(self, source: Mechanism[Any], *, divided: bool = False) -> Q_co:
        """Return the question with the integers of a design: this one or a part of it."""
        kernel = source._kernel()
        written = writable(type(self), self._parameters())
        written.pop("domain")
        question = ask(
            self.domain,
            kernel,
            source._codebook(kernel),
            divided=divided,
            epsilon=self.epsilon,
            name=self._called or type(self).__name__,
            parameters=written,
            made_by=self,
        )
        return cast(Q_co, question)  # the kernel of the design determines the class

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the constructor by name, without unused `ADDED` parameters."""
        return {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.init and not (item.metadata == ADDED and getattr(self, item.name) is item.default)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self._parameters())  # derived attributes are computed again

    def at(self, epsilon: float) -> Self:
        """Return the same design with another ε."""
        return replace(self, epsilon=epsilon)

    # --- the common methods of the question; `question` has the rest

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return self.question.guarantee

    @property
    def fingerprint(self) -> str:
        """The first 32 hexadecimal digits of the SHA-256 of the device text."""
        return self.question.fingerprint

    @property
    def report_bytes(self) -> int:
        """The size of one report, in bytes."""
        return self.question.report_bytes

    def to_json(self) -> str:
        """Return the specification of its question as JSON for `dt.from_json`."""
        return self.question.to_json()

    def describe(self) -> str:
        """Return a description in words: the domain, the guarantee, the size of a report."""
        return self.question.describe()

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return the randomised reports of values, as a device does. The values are not kept.

        Values outside the domain raise `OutsideDomain`. `source` is for tests; `threads` speeds up large
        arrays.
        """
        return self.question.perturb(values, source=source, threads=threads)

    def reports(self, raw: object) -> Reports:
        """Return raw integers as reports. Raise MalformedReport if no device could have sent them."""
        return self.question.reports(raw)

    def probabilities(self, x: object, **given: Any) -> Any:
        """Return the exact probability of every report for the value x, from the sampled integers."""
        return self.question.probabilities(x, **given)


def _remade(kind: type[Mechanism[Any]], parameters: dict[str, Any]) -> object:
    return kind(**parameters)


@dataclass(frozen=True)
class QueryMechanism(Mechanism[QueryQuestion]):
    """A design whose reports answer several linear queries about the shares of its inputs."""

    @cached_property
    def average_variance(self) -> float:
        """The variance that one report adds to all answers together, averaged over the inputs."""
        return float(self.question.book.variances.mean())

    @cached_property
    def worst_variance(self) -> float:
        """The variance that one report adds to all answers together, for the worst input."""
        return float(self.question.book.variances.max())
