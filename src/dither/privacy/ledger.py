"""What one person has given so far, and the most that they will give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, final

from dither.errors import BudgetExceeded, InvalidParameter, Mismatch
from dither.privacy.guarantee import PAC, Approximate, Bound, Guarantee, Metric, Nothing, Pure, Unit
from dither.privacy.split import rest
from dither.randomness import SYSTEM

_KINDS: dict[str, type[Bound]] = {kind.__name__: kind for kind in (Pure, Approximate, PAC, Metric, Nothing)}


class Promising(Protocol):
    """Anything that says what a person is promised: a mechanism that answers once, or reports."""

    @property
    def guarantee(self) -> Guarantee:
        """What a person who answers once is promised."""


@final
@dataclass(frozen=True)
class Entry:
    """One answer that was given: to which question, and what it promised. Never the answer."""

    name: str
    guarantee: Guarantee
    identity: int


@final
@dataclass(frozen=True)
class Ledger:
    """What one person has given so far; giving makes a new ledger, or is refused.

    It is kept on the person's side. Two devices of one person merge theirs in any order and as often as they
    like: an answer that both know of counts once.

    >>> ledger = Ledger(epsilon=2).give(Guarantee(Pure(1.5)), "age")
    >>> ledger.remaining
    0.5
    >>> ledger.give(Guarantee(Pure(1.0)), "income")
    Traceback (most recent call last):
    dither.errors.BudgetExceeded: this answer (ε ≤ 1 for one value) exceeds what is left: ε = 0.5 of ε ≤ 2
    """

    epsilon: float
    delta: float = 0.0
    entries: frozenset[Entry] = field(default=frozenset(), kw_only=True)

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InvalidParameter(f"a ledger's {name} is a number")
            object.__setattr__(self, name, float(number))
        _ = self.budget
        object.__setattr__(self, "entries", frozenset(self.entries))

    @cached_property
    def budget(self) -> Bound:
        """The most that the person will give."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)

    @cached_property
    def spent(self) -> Guarantee:
        """What everything given so far adds up to."""
        given = [entry.guarantee for entry in sorted(self.entries, key=lambda entry: entry.identity)]
        return replace(Guarantee(Pure(0.0)).compose(*given), unit=Unit.PERSON)

    @property
    def remaining(self) -> float:
        """The ε that is left, rounded down; 0 if more was given than allowed."""
        if self.spent.epsilon >= self.epsilon:
            return 0.0
        return rest(self.epsilon, self.spent.epsilon)

    def allows(
        self, promise: Guarantee | Promising, *, times: int | None = None, assume: Iterable[str] = ()
    ) -> bool:
        """Return whether this may be given, `times` times, without exceeding the budget."""
        charged = _charged(promise, times)
        return not charged.unaccepted(assume) and self._affords(charged)

    def give(
        self,
        promise: Guarantee | Promising,
        name: str = "",
        *,
        times: int | None = None,
        assume: Iterable[str] = (),
    ) -> Ledger:
        """Return the ledger after an answer to a question, or raise `BudgetExceeded` and change nothing.

        A mechanism is charged once, or `times` times; reports are charged for every value in them. What
        promises something for one location needs the number of locations, `times`, or the reports. A promise
        that assumes something is refused unless the person accepts that, in `assume`.
        """
        charged = _charged(promise, times)
        unaccepted = charged.unaccepted(assume)
        if unaccepted:
            raise InvalidParameter(
                f"this promise assumes that {'; '.join(unaccepted)}. If that is accepted, "
                "pass assume=mechanism.guarantee.assumes"
            )
        if not self._affords(charged):
            raise BudgetExceeded(
                f"this answer ({charged}) exceeds what is left: ε = {self.remaining:g} of {self.budget}"
            )
        entry = Entry(name, charged, SYSTEM.bits(128))
        return replace(self, entries=self.entries | {entry})

    def _affords(self, charged: Guarantee) -> bool:
        after = self.spent.compose(charged)  # entries carry their assumptions, which the person accepted
        return Guarantee(after.bound).implies(Guarantee(self.budget))

    def merge(self, *others: Ledger) -> Ledger:
        """Return one ledger of all that these devices know of, even where together they gave too much."""
        if any(other.budget != self.budget for other in others):
            raise Mismatch("ledgers with different budgets do not merge; they are not one person's")
        return replace(self, entries=self.entries.union(*(other.entries for other in others)))

    def wire(self) -> dict[str, Any]:
        """Return the ledger as plain data, to be kept on the device."""
        entries = [
            {
                "name": entry.name,
                "identity": f"{entry.identity:032x}",
                "bound": {"kind": type(entry.guarantee.bound).__name__, **vars(entry.guarantee.bound)},
                "unit": entry.guarantee.unit.name,
                "assumes": list(entry.guarantee.assumes),
            }
            for entry in sorted(self.entries, key=lambda entry: entry.identity)
        ]
        return {"version": 1, "epsilon": self.epsilon, "delta": self.delta, "entries": entries}

    @staticmethod
    def from_wire(data: dict[str, Any]) -> Ledger:
        """Read a ledger's plain data back."""
        try:
            if data["version"] != 1:
                raise InvalidParameter("this ledger was written by a newer version of dither")
            entries = [_entry(**entry) for entry in data["entries"]]
            return Ledger(data["epsilon"], data["delta"], entries=frozenset(entries))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, InvalidParameter):
                raise
            raise InvalidParameter("this is not the plain data of a ledger") from None

    def __iter__(self) -> Iterator[Entry]:
        return iter(sorted(self.entries, key=lambda entry: (entry.name, entry.identity)))

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Ledger({self.spent.bound} of {self.budget}, {len(self.entries)} answers)"


def _charged(promise: Guarantee | Promising, times: int | None) -> Guarantee:
    """Return what an answer spends: bound, unit and assumptions."""
    guarantee = _guarantee(promise)
    if times is None and guarantee.unit is Unit.LOCATION:
        raise InvalidParameter(
            "this promise is for one location: say how many are sent, times=…, or give the reports"
        )
    return guarantee.repeated(1 if times is None else times)


def _guarantee(promise: Guarantee | Promising) -> Guarantee:
    guarantee = promise if isinstance(promise, Guarantee) else getattr(promise, "guarantee", None)
    if not isinstance(guarantee, Guarantee):
        raise InvalidParameter("a ledger counts guarantees, or mechanisms, which have one")
    return guarantee


def _entry(name: str, identity: str, bound: dict[str, Any], unit: str, assumes: list[str]) -> Entry:
    rest = {key: value for key, value in bound.items() if key != "kind"}
    return Entry(
        name, Guarantee(_KINDS[bound["kind"]](**rest), Unit[unit], tuple(assumes)), int(identity, 16)
    )
