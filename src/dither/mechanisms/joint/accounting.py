"""What a person is promised, told mode by mode: each names what an adversary is assumed to know."""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, final

import numpy as np

from dither.domains import finite
from dither.errors import InvalidParameter
from dither.kernels.correlated_coins import PairedCoins
from dither.mechanisms.joint import adversaries
from dither.privacy import Approximate, Guarantee, Nothing, Pure

DEALER: Final = "whoever deals the coins keeps them from the collector"
UNPAIRED: Final = "nobody learns who is paired with whom"
UNKNOWN: Final = "nothing is known about other people's answers"


@final
class Mode(Enum):
    """What an adversary knows besides a person's report."""

    PARTNER_REVEALED = "the partner's coin, and then whatever else"
    INFORMED = "everybody else's answer, but not who is paired with whom"
    HIDDEN = "the colluders' coins, but not who is paired with whom, and nobody's answer"
    THEOREM_3 = "what the dissertation's Theorem 3 looks at; not a guarantee"


PARTNER_REVEALED: Final = Mode.PARTNER_REVEALED
INFORMED: Final = Mode.INFORMED
HIDDEN: Final = Mode.HIDDEN
THEOREM_3: Final = Mode.THEOREM_3


def account(
    pairs: PairedCoins, lies: int, n: int, *, mode: Mode, colluders: int, delta: float | None
) -> Guarantee:
    """Return what a person among n is promised in a mode."""
    check_mode(n, mode, colluders, delta)
    crowd = f"at most {colluders} people collude with the collector"
    pure = adversaries.revealed(pairs, lies)
    if mode is Mode.THEOREM_3:
        return Guarantee(Nothing(_claim(pairs, lies, n, colluders)))
    if mode is Mode.HIDDEN:
        return _promise(adversaries.hidden(pairs, lies, n, colluders), None, DEALER, UNPAIRED, UNKNOWN, crowd)
    if mode is Mode.INFORMED:
        if delta is None:
            return _promise(pure, None, DEALER)
        failure = adversaries.informed_failure(pairs, lies, n)
        return _promise(adversaries.least_epsilon(failure, delta, pure), delta, DEALER, UNPAIRED)
    if delta is None:
        return _promise(pure, None, DEALER)
    failure = adversaries.revealed_failure(pairs, lies, n, colluders)
    spent = adversaries.least_epsilon(failure, delta, pure)
    return _promise(spent, delta, DEALER, "pairs are drawn at random", UNKNOWN, crowd)


def check_mode(n: int, mode: Mode, colluders: int, delta: float | None) -> None:
    """Raise unless the mode, the number of colluders and δ go together."""
    if not isinstance(mode, Mode):
        raise InvalidParameter("a mode is dt.jrr.PARTNER_REVEALED, INFORMED, HIDDEN or THEOREM_3")
    check_people(n)
    check_colluders(colluders, n)
    if delta is not None and not 0.0 < finite("delta", delta) < 1.0:
        raise InvalidParameter("delta is a probability between 0 and 1, or left out for a pure bound")
    if mode in (Mode.HIDDEN, Mode.THEOREM_3) and delta is not None:
        raise InvalidParameter(f"{mode.name} is about a pure bound; leave delta out")
    if mode is Mode.INFORMED and colluders:
        raise InvalidParameter(
            "whoever knows everybody's answer knows everybody's coin, so colluders add only whom they are "
            "paired with, which INFORMED hides; use PARTNER_REVEALED"
        )


def check_people(n: object) -> int:
    """Return a number of people; raise InvalidParameter if it is none."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise InvalidParameter("n is the number of people, a whole number from 2 upwards")
    return int(n)


def check_colluders(colluders: object, n: int) -> None:
    """Raise unless so many of n people can collude against another."""
    if isinstance(colluders, bool) or not isinstance(colluders, int) or not 0 <= colluders < n:
        raise InvalidParameter(f"colluders are a whole number from 0 to {n - 1}")


def _promise(epsilon: float, delta: float | None, *assumes: str) -> Guarantee:
    if epsilon == math.inf:
        return Guarantee(Nothing("other people's coins can give this one away, and with it the answer"))
    return Guarantee(Pure(epsilon) if delta is None else Approximate(epsilon, delta), assumes=assumes)


def _claim(pairs: PairedCoins, lies: int, n: int, colluders: int) -> str:
    if lies != 1:
        raise InvalidParameter("Theorem 3 is about two categories")
    stated = adversaries.theorem_3(pairs, n, colluders)
    return f"Theorem 3 states ε = {stated:.4g}, which no adversary is held to; ask for another mode"
