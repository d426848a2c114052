"""How a record is randomised: the mechanism that the caller gave, as one law for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, final

from dither.classifiers.feature_law import FeatureLaw, feature_law
from dither.errors import InvalidParameter
from dither.mechanisms.combined.attributes import Attributes
from dither.privacy import Approximate, Guarantee, Unit


class Randomiser(Protocol):
    """What randomises a record: a mechanism, `Memoised`, `Each` of several, or an `Indicator` on them."""

    @property
    def guarantee(self) -> Guarantee:
        """What a person who answers once is promised."""

    def at(self, epsilon: float) -> Self:
        """Return the same with another budget."""


def parts_by_name(mechanism: object) -> Mapping[str, object] | None:
    """Return the mechanism of each attribute, or None for one mechanism; raise if not all are reported."""
    if not isinstance(mechanism, Attributes):
        return None
    if not mechanism.whole_records:
        raise InvalidParameter(
            f"{type(mechanism).__name__} reports one attribute of a record, not all of them; use dt.Each"
        )
    return mechanism.parts


@final
@dataclass(frozen=True, eq=False)
class Randomisation:
    """A mechanism for every feature, or one for each named feature; with an `Indicator` on it or without.

    `mechanism` is the one inside the indicator, `raw_share` the probability that the raw record is sent.
    """

    given: Randomiser
    mechanism: Randomiser
    parts: Mapping[str, object] | None
    raw_share: float

    @staticmethod
    def of(given: Randomiser) -> Randomisation:
        """Return what the caller gave as a randomisation; raise `InvalidParameter` if it is not one."""
        if not hasattr(type(given), "guarantee"):  # of the class: to compute it may take long
            raise InvalidParameter(
                f"a mechanism, or dt.Each of several, was expected; not {type(given).__name__}"
            )
        untyped: Any = given
        raw_share: float = getattr(given, "raw_share", 0.0)
        mechanism: Randomiser = untyped.mechanism if raw_share else given
        found = Randomisation(given, mechanism, parts_by_name(mechanism), raw_share)
        found.laws(1)  # so that an unsuitable mechanism is refused here
        return found

    @staticmethod
    def without_indicator(given: Randomiser) -> Randomisation:
        """Return the same as `of`; raise `InvalidParameter` for an `Indicator`."""
        found = Randomisation.of(given)
        if found.raw_share:
            raise InvalidParameter("an Indicator is not supported here; pass the mechanism inside it")
        return found

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the randomised features; None if all features are randomised."""
        return None if self.parts is None else tuple(self.parts)

    def laws(self, features: int) -> tuple[FeatureLaw, ...]:
        """Return the law of each randomised feature, in the order of `names` or of the record."""
        if self.parts is None:
            return (feature_law(self.mechanism),) * features
        return tuple(map(feature_law, self.parts.values()))

    def at(self, epsilon: float) -> Randomisation:
        """Return the same with another budget: of every feature, or of all named features together."""
        return Randomisation.of(self.given.at(epsilon))

    def guarantee(self, features: int) -> Guarantee:
        """Return what a person is promised who sends the whole record once."""
        found = self.mechanism.guarantee
        if self.parts is None and features > 1:
            found = Guarantee(found.repeated(features).bound, Unit.RECORD, found.assumes)
        if self.raw_share:
            found = replace(found, bound=Approximate(found.epsilon, self.given.guarantee.delta))
        return found
