"""Policies: the largest privacy loss, the assumptions, the mechanisms and the effort a device accepts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from dither.errors import InvalidParameter, found
from dither.privacy.guarantee import PAC, Approximate, Guarantee, Pure


@final
@dataclass(frozen=True)
class Policy:
    """What a device requires of a question before it answers; `dt.from_json(text, policy=…)` enforces it.

    A question is refused in these cases: its guarantee has a larger ε or δ; its guarantee is per distance, or
    it has none; it assumes something that `assumptions` does not list; `mechanisms` is given and does not
    list its mechanism; its text has more than `bytes` bytes; building it took longer than `seconds`. The time
    is checked after building, and building is not interrupted; the size limits of specifications bound it.

    >>> Policy(epsilon=2).accepts(Guarantee(Pure(1.5)))
    True
    """

    epsilon: float = 1.0
    delta: float = 0.0
    mechanisms: Iterable[str | type] | None = None
    assumptions: Iterable[str] = ()
    bytes: int = 1 << 20
    seconds: float = 10.0

    def __post_init__(self) -> None:
        for name, most in (("epsilon", math.inf), ("delta", 1.0), ("seconds", math.inf)):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0.0 <= number <= most:
                raise InvalidParameter(
                    f"{name} of a policy must be a number from 0 to {most:g}, not {found(number)}"
                )
        if isinstance(self.bytes, bool) or not isinstance(self.bytes, int) or self.bytes < 1:
            raise InvalidParameter(
                f"bytes of a policy must be a whole number from 1 upwards, not {found(self.bytes)}"
            )
        if self.mechanisms is not None:
            names = _listed("mechanisms", self.mechanisms)
            object.__setattr__(self, "mechanisms", tuple(map(_name, names)))
        object.__setattr__(self, "assumptions", tuple(_listed("assumptions", self.assumptions)))
        if not all(isinstance(line, str) for line in self.assumptions):
            raise InvalidParameter("assumptions of a policy must be texts, as in guarantee.assumes")

    def accepts(self, guarantee: Guarantee) -> bool:
        """Return whether a guarantee satisfies ε, δ and the list of assumptions."""
        return self.objection(guarantee) is None

    def objection(self, guarantee: Guarantee) -> str | None:
        """Return the reason why a guarantee is not accepted, or None if it is accepted."""
        if not isinstance(guarantee.bound, Pure | Approximate | PAC):
            return (
                f"the policy asks for ε ≤ {self.epsilon:g} for any two values; the question has: {guarantee}"
            )
        if not (guarantee.epsilon <= self.epsilon and guarantee.delta <= self.delta):
            return (
                f"the policy allows ε ≤ {self.epsilon:g} and δ ≤ {self.delta:g}; the question has "
                f"ε = {guarantee.epsilon:.6g} and δ = {guarantee.delta:.6g}"
            )
        others = [line for line in guarantee.assumes if line not in tuple(self.assumptions)]
        if others:
            return f"the policy does not list what the guarantee assumes: {'; '.join(others)}"
        return None

    def lists(self, mechanism: str) -> bool:
        """Return whether a mechanism of this name is allowed; all are if `mechanisms` is None."""
        return self.mechanisms is None or mechanism in tuple(self.mechanisms)


def _listed(what: str, given: object) -> list[object]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(f"{what} of a policy must be a list, not {found(given)}")
    return list(given)


def _name(mechanism: object) -> str:
    if isinstance(mechanism, type):
        return mechanism.__name__
    if isinstance(mechanism, str):
        return mechanism
    raise InvalidParameter(
        f"mechanisms of a policy are classes such as dt.PM, or their names, not {found(mechanism)}"
    )
