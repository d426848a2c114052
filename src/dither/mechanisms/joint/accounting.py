"""Privacy accounting of joint randomized response: a guarantee for each mode of the adversary's knowledge."""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, final

import numpy as np

from dither.domains import finite
from dither.errors import InvalidParameter, found
from dither.kernels.correlated_coins import PairedCoins
from dither.kernels.joint import DEALER, GIVEN_AWAY
from dither.mechanisms.joint import adversaries
from dither.privacy import Approximate, Guarantee, Nothing, Pure

UNPAIRED: Final = "nobody learns who is paired with whom"
UNKNOWN: Final = "nothing is known about other people's answers"


@final
class Mode(Enum):
    """The adversary's knowledge besides a person's report."""

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
    """Return the guarantee of one of n people in a mode."""
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
    """Raise InvalidParameter unless the mode, the number of colluders and δ are compatible."""
    if not isinstance(mode, Mode):
        raise InvalidParameter(
            f"mode must be dt.jrr.PARTNER_REVEALED, INFORMED, HIDDEN or THEOREM_3, not {found(mode)}"
        )
    check_people(n)
    check_colluders(colluders, n)
    if delta is not None and not 0.0 < finite("delta", delta) < 1.0:
        raise InvalidParameter(
            f"delta must be between 0 and 1, not {found(delta)}; omit it for a pure guarantee"
        )
    if mode in (Mode.HIDDEN, Mode.THEOREM_3) and delta is not None:
        raise InvalidParameter(f"{mode.name} has a pure bound; omit delta={found(delta)}")
    if mode is Mode.INFORMED and colluders:
        raise InvalidParameter(
            "INFORMED assumes that all other answers, hence coins, are known, but not the pairs, which "
            "colluders know; use PARTNER_REVEALED with colluders"
        )


def check_people(n: object) -> int:
    """Return the number of people; raise InvalidParameter unless it is a whole number from 2 upwards."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 2:
        raise InvalidParameter(
            f"n, the number of people, must be a whole number from 2 upwards, not {found(n)}"
        )
    return int(n)


def check_colluders(colluders: object, n: int) -> None:
    """Raise InvalidParameter unless the number of colluders is from 0 to n − 1."""
    if isinstance(colluders, bool) or not isinstance(colluders, int) or not 0 <= colluders < n:
        raise InvalidParameter(f"colluders must be a whole number from 0 to {n - 1}, not {found(colluders)}")


def _promise(epsilon: float, delta: float | None, *assumes: str) -> Guarantee:
    if epsilon == math.inf:
        return Guarantee(Nothing(GIVEN_AWAY))
    return Guarantee(Pure(epsilon) if delta is None else Approximate(epsilon, delta), assumes=assumes)


def _claim(pairs: PairedCoins, lies: int, n: int, colluders: int) -> str:
    if lies != 1:
        raise InvalidParameter(f"Theorem 3 is for two categories, not {lies + 1}")
    stated = adversaries.theorem_3(pairs, n, colluders)
    return f"Theorem 3 states ε = {stated:.4g}, which does not hold for any adversary; use another mode"
