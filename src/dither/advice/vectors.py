"""Advice on vectors: all numbers in one report, or one number of each person."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, cast

import numpy as np

from dither.advice.catalogue import Candidate, solved_candidates
from dither.core.domains import Interval
from dither.core.domains.vectors import Vectors
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.combined import Sampled
from dither.mechanisms.numeric.pm import Hybrid
from dither.mechanisms.optimal.mechanism import Optimal
from dither.mechanisms.optimal.vectors import InBall

Single = Hybrid | Optimal  # a mechanism for one number

_MOST_NAMED: Final = 4096  # numbers up to which `Sampled` is proposed: each is an attribute with a name
_SHARES: Final = np.arange(1, 101) / 100.0  # compared shares of the corner's squared length


def on_vectors(
    domain: Vectors, epsilon: float, each: float | None = None, *, wait: bool = True
) -> list[Candidate]:
    """Return the mechanism for complete vectors and, for up to 4 096 numbers, one number of each person.

    `each` is the largest distance of a single number from its centre; the length of vectors if it is None.
    """
    made = [Candidate("Optimal", InBall(domain, epsilon=epsilon), domain)]
    if domain.dimension <= _MOST_NAMED:
        name, mechanism = _for_a_number(epsilon, wait=wait)
        most = reach(domain, each)
        lines = {middle: Interval(middle - most, middle + most) for middle in set(domain.middle.tolist())}
        parts = {middle: _on(mechanism, line) for middle, line in lines.items()}
        named = {f"x{index}": parts[middle] for index, middle in enumerate(domain.middle.tolist())}
        made.append(Candidate(f"Sampled({name} of each number)", Sampled(named), domain))
    return made


def _on(mechanism: Single, line: Interval) -> Single:
    """Return a mechanism for numbers on another interval."""
    return replace(mechanism, domain=line)


@lru_cache(maxsize=64)
def _for_a_number(epsilon: float, *, wait: bool = True) -> tuple[str, Single]:
    """Return the unbiased mechanism for a number from −1 to 1."""
    line = Interval(-1.0, 1.0)
    for solved in solved_candidates(line, epsilon, (), ("worst",), unbiased=True, wait=wait):
        return solved.name, solved.mechanism
    return "Hybrid", Hybrid(line, epsilon=epsilon)


def reach(domain: Vectors, each: float | None) -> float:
    """Return the largest distance of a number from its centre: as stated, and never above the length."""
    return domain.length if each is None else min(each, domain.length)


def squared_error(candidate: Candidate) -> float:
    """Return n times the mean squared length of the error that privacy adds, for the worst vectors.

    The worst vectors for `Sampled` are those with numbers of equal size. Each number is known for one person
    in d, so (d − 1) times the squared length is added.
    """
    mechanism, domain = candidate.mechanism, cast(Vectors, candidate.domain)
    if isinstance(mechanism, InBall):
        return float(mechanism.error)
    size, part = len(mechanism.parts), next(iter(mechanism.parts.values()))
    most = part.domain.length / 2.0
    most_share = corner_share(domain, most)
    shares = np.array([1.0]) if domain.exact else np.concatenate([[0.0], _SHARES])
    squares = _error_of_sampled(_on(part, Interval(-1.0, 1.0)), size, most_share * shares)
    return float(most**2 * squares.max())


def corner_share(domain: Vectors, most: float) -> float:
    """Return the squared length of vectors relative to the corner of their numbers' box, at most 1."""
    return min(domain.length**2 / (domain.dimension * most**2), 1.0)


def _error_of_sampled(unit: Single, size: int, shares: Floats) -> Floats:
    """Return the squared error of `Sampled` for vectors with a share of the corner's squared length.

    `unit` is the mechanism of a number from −1 to 1.
    """
    spread = np.asarray(unit.variance(np.sqrt(shares)))
    return np.asarray(size**2 * (spread + shares) - size * shares)


@lru_cache(maxsize=64)
def turning_point(dimension: int, epsilon: float) -> float | None:
    """Return the share of the corner's squared length from which `Sampled` needs fewer people; None if never.

    The corner is a vector whose numbers all have the largest distance from the centre. Vectors are reported
    in a ball whose radius is their own length.
    """
    whole = InBall(Vectors(dimension), epsilon=epsilon).error
    single = _error_of_sampled(_for_a_number(epsilon)[1], dimension, _SHARES)
    better = np.flatnonzero(single < _SHARES * dimension * whole)
    return float(_SHARES[better[0]]) if better.size else None


def sampled_words(domain: Vectors, epsilon: float, each: float | None) -> str:
    """Return one sentence that says when one number of each person is better."""
    if not 2 <= domain.dimension <= _MOST_NAMED:
        return ""
    turn = turning_point(domain.dimension, epsilon)
    if turn is None:
        return "; dt.Sampled does not need fewer people for any vectors at this ε"
    own = 100.0 * corner_share(domain, reach(domain, each))
    return (
        f"; dt.Sampled needs fewer people from a squared length of {100.0 * turn:.3g} % of that of the "
        f"corner of the box of their numbers, and here it is {own:.3g} %"
    )


def check_each(each: object) -> None:
    """Raise InvalidParameter unless `each` is None or a positive number."""
    if each is not None and (isinstance(each, bool) or not isinstance(each, int | float) or not each > 0.0):
        raise InvalidParameter(
            "expected each, the largest distance of a number from its centre, to be a positive number"
        )
