"""The mean of one value per person, as a trusted curator releases it."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Final

from dither.central.answer import PUBLIC_COUNT, Answer, Shares, Symmetric
from dither.central.bounds import LearnedBounds
from dither.central.data import expect, gather, record_guarantee
from dither.central.discrete import budget
from dither.central.methods import TRANSFORMED, MeanMethod
from dither.central.noise import Hourglass, PairNoise
from dither.central.staircase import DiscreteStaircase
from dither.domains import Interval
from dither.errors import InvalidParameter
from dither.randomness import SYSTEM, Source


class Convention(Enum):
    """What the mean is if the released count is zero or negative, which happens at small n."""

    MIDPOINT = "the middle of the domain"
    LITERAL = "the clipped quotient, as the paper's algorithms have it"

    def __repr__(self) -> str:
        return self.name


MIDPOINT: Final = Convention.MIDPOINT
LITERAL: Final = Convention.LITERAL
_HOURGLASS: Final = Hourglass()


def mean(
    data: object,
    domain: Interval | LearnedBounds | None = None,
    *,
    epsilon: float,
    method: MeanMethod = TRANSFORMED,
    noise: PairNoise = _HOURGLASS,
    convention: Convention = MIDPOINT,
    source: Source | None = None,
) -> Answer:
    """Release the mean of one value per person, with ε-DP for adding or removing a person.

    Promise:   pure ε for one record added or removed; 2ε for one record changed.
    Data:      values with a domain, or a tally. The number of records is protected too.
    Use when:  a trusted curator holds the values; otherwise each person perturbs their own.
    Reference: [AddRemove23], Algorithm 3 with hourglass noise on an integer grid.
    """
    expect(method, MeanMethod, "method", "INDEPENDENT, SHIFTED or TRANSFORMED")
    expect(noise, PairNoise, "noise", "LaplacePair(), StaircasePair() or Hourglass()")
    expect(convention, Convention, "convention", "MIDPOINT or LITERAL")
    whole = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, left = gather(data, domain, whole, source)
    grid = secret.grid
    law = noise.law(method, grid, left)
    exact, error = method.query(*secret.secret(), grid), law.draw(source)
    first, second = exact[0] + error[0], exact[1] + error[1]
    # Everything below is computed from these two released integers and from public numbers.
    share, count = quotient(*method.solve(first, second, grid), convention)
    worst = float(max(share, 1 - share))
    deviation = law.deviation(method.weights(float(share), grid))
    uncertain = min(deviation / float(count), worst) if count > 0 else worst
    ends = Shares(float(share), uncertain, first, second, method, law, grid)
    spread, promise = uncertain * grid.domain.length, record_guarantee(whole)
    return Answer(grid.at(share), spread, round(count), promise, grid.domain, confidence=ends)


def swap_mean(
    data: object, domain: Interval | None = None, *, epsilon: float, source: Source | None = None
) -> Answer:
    """Release the mean where the number of records is public, with ε-DP for changing one person's value.

    Promise:   pure ε for one record changed. The number of records is not protected: `n` is exact.
    Use when:  everybody knows the count; `mean` costs no more and hides it, but promises 2ε for a change.
    Reference: [GV14], staircase noise on the sum; the lower bound of [AddRemove23] is this variance.
    """
    if isinstance(domain, LearnedBounds):
        raise InvalidParameter("swap_mean needs a public domain; mean can learn its bounds")
    whole = budget(epsilon)
    source = SYSTEM if source is None else source
    secret, _ = gather(data, domain, whole, source)
    grid = secret.grid
    law = DiscreteStaircase.best(grid.cells, whole)  # a changed record moves the sum by at most all cells
    total, count = secret.secret()
    records = max(count, 1)
    if not count:  # the count is public here; an empty data set counts as one record in the middle
        total = grid.cells // 2
    share = _clip(Fraction(total + law.draw(source), grid.cells * records))
    value, unit = grid.at(share), grid.cell / records
    uncertain = min(law.variance**0.5 / records, float(max(share, 1 - share))) * grid.domain.length
    ends = Symmetric(value, unit, law, grid.domain)
    promise = record_guarantee(whole, PUBLIC_COUNT)
    return Answer(value, uncertain, count, promise, grid.domain, confidence=ends)


def quotient(numerator: Fraction, count: Fraction, convention: Convention) -> tuple[Fraction, Fraction]:
    """Return the mean's share of the domain and the count; it uses released numbers only and never raises."""
    if convention is MIDPOINT and count <= 0:
        return Fraction(1, 2), count
    if count == 0:  # the paper's quotient is then ±∞, or 0/0
        return Fraction((numerator > 0) - (numerator < 0) + 1, 2), count
    return _clip(numerator / count), count


def _clip(share: Fraction) -> Fraction:
    return min(max(share, Fraction(0)), Fraction(1))
