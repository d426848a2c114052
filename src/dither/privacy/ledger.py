"""Ledgers and policies: the budget that a person has spent, and the guarantees that a device accepts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Protocol, get_args

from dither.errors import BudgetExceeded, InvalidParameter, Mismatch, found
from dither.foundation.randomness import SYSTEM
from dither.privacy.exact import rest
from dither.privacy.guarantee import PAC, Approximate, Bound, Guarantee, Metric, Nothing, Pure, Unit

_KINDS: dict[str, type[Bound]] = {kind.__name__: kind for kind in (Pure, Approximate, PAC, Metric, Nothing)}


class Promising(Protocol):
    """An object with a guarantee: reports, or a mechanism that is used once."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once."""


@dataclass(frozen=True)
class Entry:
    """One answer that was sent: the name of the question and its guarantee. The answer itself is not kept."""

    name: str
    guarantee: Guarantee
    identity: int


@dataclass(frozen=True)
class Ledger:
    """The privacy loss that one person has spent so far, and their budget.

    A ledger does not change: `give` returns a new one, or raises `BudgetExceeded`. It is kept on the person's
    devices. Two devices of one person can merge their ledgers in any order, any number of times. An answer in
    both ledgers counts once.

    >>> ledger = Ledger(epsilon=2).give(Guarantee(Pure(1.5)), "age")
    >>> ledger.remaining
    0.5
    >>> ledger.give(Guarantee(Pure(1.0)), "income")
    Traceback (most recent call last):
    dither.errors.BudgetExceeded: this answer (ε ≤ 1 for one value) exceeds the remaining ε = 0.5 of ...
    """

    epsilon: float
    delta: float = 0.0
    entries: frozenset[Entry] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InvalidParameter(f"{name} of a ledger must be a number, not {found(number)}")
            object.__setattr__(self, name, float(number))
        _ = self.budget
        object.__setattr__(self, "entries", frozenset(self.entries))

    @cached_property
    def budget(self) -> Bound:
        """The largest privacy loss that the person accepts."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)

    @cached_property
    def spent(self) -> Guarantee:
        """The composition of all entries."""
        given = [entry.guarantee for entry in sorted(self.entries, key=lambda entry: entry.identity)]
        return replace(Guarantee(Pure(0.0)).compose(*given), unit="person")

    @property
    def remaining(self) -> float:
        """The remaining ε, rounded down; 0 if the ledger exceeds the budget."""
        if self.spent.epsilon >= self.epsilon:
            return 0.0
        left = rest(self.epsilon, self.spent.epsilon)
        short = float(f"{left:.12g}")  # 0.6, not 0.6000000000000001
        return short if short <= left else left

    def allows(
        self, promise: Guarantee | Promising, *, times: int | None = None, assume: Iterable[str] = ()
    ) -> bool:
        """Return whether `give` with the same arguments would succeed."""
        charged = _charge_for(promise, times)
        return not charged.unaccepted(assume) and self._affords(charged)

    def give(
        self,
        promise: Guarantee | Promising,
        name: str = "",
        *,
        times: int | None = None,
        assume: Iterable[str] = (),
    ) -> Ledger:
        """Return the ledger after one more answer; raise `BudgetExceeded` if the answer exceeds the budget.

        A mechanism is charged once, or `times` times. Reports are charged for every value in them. A
        guarantee for one location needs `times`, the number of locations, or the reports. A guarantee with
        assumptions is refused unless `assume` lists them.
        """
        charged = _charge_for(promise, times)
        unaccepted = charged.unaccepted(assume)
        if unaccepted:
            raise InvalidParameter(
                f"expected assume= to accept what this guarantee assumes: {'; '.join(unaccepted)}. "
                "To accept it, pass assume=mechanism.guarantee.assumes"
            )
        if not self._affords(charged):
            raise BudgetExceeded(
                f"this answer ({charged}) exceeds the remaining ε = {self.remaining:g} of "
                f"{self.budget}; do not answer, or answer with a smaller ε"
            )
        entry = Entry(name, charged, SYSTEM.bits(128))
        return replace(self, entries=self.entries | {entry})

    def _affords(self, charged: Guarantee) -> bool:
        after = self.spent.compose(charged)  # the assumptions of entries have been accepted
        return Guarantee(after.bound).implies(Guarantee(self.budget))

    def merge(self, *others: Ledger) -> Ledger:
        """Return the union of the ledgers, even if it exceeds the budget."""
        different = [other.budget for other in others if other.budget != self.budget]
        if different:
            raise Mismatch(
                f"expected ledgers with the same budget, got {self.budget} and {different[0]}; keep "
                "these ledgers apart"
            )
        return replace(self, entries=self.entries.union(*(other.entries for other in others)))

    def wire(self) -> dict[str, Any]:
        """Return the ledger as JSON-compatible data, to be stored on the device."""
        entries = [
            {
                "name": entry.name,
                "identity": f"{entry.identity:032x}",
                "bound": {"kind": type(entry.guarantee.bound).__name__, **vars(entry.guarantee.bound)},
                "unit": entry.guarantee.unit.upper(),
                "assumes": list(entry.guarantee.assumes),
            }
            for entry in sorted(self.entries, key=lambda entry: entry.identity)
        ]
        return {"version": 1, "epsilon": self.epsilon, "delta": self.delta, "entries": entries}

    @staticmethod
    def from_wire(data: dict[str, Any]) -> Ledger:
        """Return the ledger that `wire` wrote; raise InvalidParameter if the data are not a ledger."""
        try:
            if data["version"] != 1:
                raise InvalidParameter(
                    f"expected a ledger of version 1, got version {found(data['version'])}; read it "
                    "with the version of dither that wrote it"
                )
            entries = [_entry(**entry) for entry in data["entries"]]
            return Ledger(data["epsilon"], data["delta"], entries=frozenset(entries))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, InvalidParameter):
                raise
            raise InvalidParameter(
                "expected the data that Ledger.wire() returned, got other data; pass them without changes"
            ) from None

    def __iter__(self) -> Iterator[Entry]:
        return iter(sorted(self.entries, key=lambda entry: (entry.name, entry.identity)))

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Ledger({self.spent.bound} of {self.budget}, {len(self.entries)} answers)"


def _charge_for(promise: Guarantee | Promising, times: int | None) -> Guarantee:
    """Return the guarantee that is added to the ledger for an answer."""
    guarantee = _guarantee(promise)
    if times is None and guarantee.unit == "location":
        raise InvalidParameter(
            "expected times= or reports, because this guarantee is for one location; pass times=…, "
            "the number of locations, or the reports"
        )
    return guarantee.repeated(1 if times is None else times)


def _guarantee(promise: Guarantee | Promising) -> Guarantee:
    guarantee = promise if isinstance(promise, Guarantee) else getattr(promise, "guarantee", None)
    if not isinstance(guarantee, Guarantee):
        raise InvalidParameter(f"expected a guarantee, a mechanism or reports, got {type(promise).__name__}")
    return guarantee


_UNITS: Final[dict[str, Unit]] = {name.upper(): name for name in get_args(Unit)}


def _entry(name: str, identity: str, bound: dict[str, Any], unit: str, assumes: list[str]) -> Entry:
    rest = {key: value for key, value in bound.items() if key != "kind"}
    return Entry(
        name, Guarantee(_KINDS[bound["kind"]](**rest), _UNITS[unit], tuple(assumes)), int(identity, 16)
    )


@dataclass(frozen=True)
class Policy:
    """What a device requires of a question before it answers; `dt.from_json(text, policy=…)` enforces it.

    A question is refused in these cases: its guarantee has a larger ε or δ; its guarantee is per distance or
    missing; it assumes something that `assumptions` does not list; `mechanisms` is given and does not list
    its mechanism; its text has more than `bytes` bytes; building it took longer than `seconds`. The time is
    checked after building, and building is not interrupted; the size limits of specifications bound it.

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
                f"bytes of a policy must be an integer from 1 upwards, not {found(self.bytes)}"
            )
        if self.mechanisms is not None:
            names = _as_list("mechanisms", self.mechanisms)
            object.__setattr__(self, "mechanisms", tuple(map(_name, names)))
        object.__setattr__(self, "assumptions", tuple(_as_list("assumptions", self.assumptions)))
        if not all(isinstance(line, str) for line in self.assumptions):
            raise InvalidParameter(
                "expected assumptions of a policy to be texts; copy them from guarantee.assumes"
            )

    def accepts(self, guarantee: Guarantee) -> bool:
        """Return whether a guarantee satisfies ε, δ and the list of assumptions."""
        return self.objection(guarantee) is None

    def objection(self, guarantee: Guarantee) -> str | None:
        """Return the reason why a guarantee is not accepted, or None if it is accepted."""
        if not isinstance(guarantee.bound, Pure | Approximate | PAC):
            return (
                f"the policy requires ε ≤ {self.epsilon:g} for any two values; the question has: {guarantee}"
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
        """Return whether a mechanism of this name is allowed; if `mechanisms` is None, every name is."""
        return self.mechanisms is None or mechanism in tuple(self.mechanisms)


def _as_list(what: str, given: object) -> list[object]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(f"{what} of a policy must be a list, not {found(given)}")
    return list(given)


def _name(mechanism: object) -> str:
    if isinstance(mechanism, type):
        return mechanism.__name__
    if isinstance(mechanism, str):
        return mechanism
    raise InvalidParameter(
        f"expected mechanisms of a policy to be classes such as dt.PM, or their names, got {found(mechanism)}"
    )
