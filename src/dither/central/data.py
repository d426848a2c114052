"""Read the arguments of a release: the data as a tally, the guarantee, and the checked choices."""

from __future__ import annotations

from fractions import Fraction

from dither.central.bounds import LearnedBounds
from dither.central.records import records
from dither.central.tally import Tally, tally
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Pure, Unit
from dither.randomness import Source


def gather(
    data: object, domain: Interval | LearnedBounds | None, epsilon: Fraction, source: Source
) -> tuple[Tally, Fraction]:
    """Return the tally of the data, and the budget that is left after learning its bounds."""
    if isinstance(data, Tally):
        if domain is not None and domain != data.grid.domain:
            raise InvalidParameter("a tally has its own domain: leave the domain out")
        return data, epsilon
    if isinstance(domain, LearnedBounds):
        values = records(data)
        spent = epsilon * Fraction(domain.share)
        return tally(values, domain.learn(values, spent, source)), epsilon - spent
    if domain is None:
        raise InvalidParameter("values need a public domain, such as Interval(0, 100), or LearnedBounds()")
    return tally(data, domain), epsilon


def record_guarantee(epsilon: Fraction, *assumes: str) -> Guarantee:
    """Return the guarantee for one record; ε is the exact rational number that was spent in all."""
    return Guarantee(Pure(float(epsilon)), Unit.RECORD, assumes)


def expect(given: object, kind: type, name: str, choices: str) -> None:
    """Raise InvalidParameter if an argument is not of the expected kind."""
    if not isinstance(given, kind):
        raise InvalidParameter(f"{name} must be {choices} of dither.central, not {type(given).__name__}")
